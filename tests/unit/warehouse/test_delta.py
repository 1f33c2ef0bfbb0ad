"""A Delta table as a source: the rows of its last version, whatever else lies in its folder."""

from __future__ import annotations

import base64
import json
import struct
import sys
from contextlib import closing
from datetime import date
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable, write_deltalake

from policy_engine.errors import FileError, WarehouseError
from policy_engine.policy.loading import load_policy
from policy_engine.policy.resolve import Source
from policy_engine.releasing.release import release
from policy_engine.warehouse.delta import _FEATURES
from policy_engine.warehouse.duckdb import DuckDBWarehouse

PEOPLE = 4000
POLICY = """\
version: 1
name: towns
source: {file: visits}
privacy_unit: {column: person_id, rows: any}
recode: {age: {bins: [18, 40]}, day: keep, town: keep}
sample: {rate: 0.25}
k: 5
guarantee: {epsilon: 2, delta: 0.01}
release: {file: out/towns.parquet}
"""


def rows(count: int = PEOPLE, start: int = 0) -> pa.Table:
    numbers = range(start, start + count)
    return pa.table(
        {
            "person_id": list(numbers),
            "town": [None if n % 5 == 0 else "Saint-Ouen l'Aumône/50 %" for n in numbers],
            "age": [n * 7 % 90 for n in numbers],
            "day": [date(2020, 1, 1 + n % 2) for n in numbers],
        }
    )


@pytest.fixture(params=[[], ["day"], ["town", "day"]], ids=["plain", "one", "two"])
def folder(request, tmp_path) -> Path:
    made = tmp_path / "visits"
    write_deltalake(made, rows(), partition_by=request.param or None)
    DeltaTable(made).delete("age < 10")
    return made


@pytest.fixture
def plain(tmp_path) -> Path:
    write_deltalake(tmp_path / "visits", rows(100))
    return tmp_path / "visits"


def seen(folder: Path) -> list[tuple[object, ...]]:
    with closing(DuckDBWarehouse()) as warehouse:
        table = warehouse.table(Source(folder.name, None), folder.parent)
        assert [c.name for c in table.columns] == ["person_id", "town", "age", "day"]
        assert [c.type for c in table.columns] == ["BIGINT", "VARCHAR", "BIGINT", "DATE"]
        assert table.is_folder
        return warehouse.session.execute(f'FROM temp.main."{table.path}"').fetchall()


def edited(folder: Path, edit) -> None:
    """Change the actions of the first entry of the log."""
    [first, *_] = sorted((folder / "_delta_log").glob("*.json"))
    actions = [json.loads(line) for line in first.read_text().splitlines()]
    for action in actions:
        edit(action)
    first.write_text("".join(json.dumps(action) + "\n" for action in actions))


def statement_of(envelope: str):
    return json.loads(base64.b64decode(json.loads(envelope)["payload"]))


def refused(folder: Path) -> str:
    with pytest.raises(FileError) as caught:
        seen(folder)
    return str(caught.value)


def test_the_rows_are_those_of_the_last_version(folder):
    wanted = DeltaTable(folder).to_pyarrow_table().select(["person_id", "town", "age", "day"])
    assert 0 < wanted.num_rows < PEOPLE
    found = sorted(seen(folder), key=lambda row: row[0])
    assert found == sorted((tuple(row.values()) for row in wanted.to_pylist()), key=lambda r: r[0])
    on_disk = sum(pq.read_metadata(each).num_rows for each in folder.rglob("*.parquet"))
    assert on_disk > wanted.num_rows  # what was deleted is still there


def test_a_checkpoint_is_no_file_of_the_table(folder):
    before = seen(folder)
    DeltaTable(folder).create_checkpoint()
    assert sorted(seen(folder), key=repr) == sorted(before, key=repr)


def test_a_release_is_paid_once_for_each_version(folder, monkeypatch):
    monkeypatch.chdir(folder.parent)
    policy = folder.parent / "policy.yaml"
    policy.write_text(POLICY)

    def released():
        return release(load_policy(policy), replace=True)

    first = released()
    stated = statement_of(first.certificate.read_text())["predicate"]["assumptions"]
    assert {"code": "texts_utf8", "source": "visits"} in stated
    assert released().repeated
    counts = pq.read_table(folder.parent / "out/towns.parquet").column("n").to_pylist()
    assert counts and 0.2 < sum(counts) / DeltaTable(folder).to_pyarrow_table().num_rows < 0.3
    write_deltalake(folder, rows(10, PEOPLE), mode="append")
    later = released()
    assert later.repeated and later.entry == first.entry  # whatever the source holds


def test_a_later_version_stops_no_release_and_a_changed_file_does(folder):
    (folder.parent / "policy.yaml").write_text(POLICY)
    policy = load_policy(folder.parent / "policy.yaml")
    with closing(DuckDBWarehouse()) as warehouse:
        table = warehouse.table(policy.source, policy.directory)
        warehouse.hold(policy, table)
        with warehouse.sampled(policy, table, bytes(16)) as unchanged:
            write_deltalake(folder, rows(10, PEOPLE), mode="append")
            unchanged()
            warehouse.hold(policy, table)
            [(snapshot, _)] = warehouse._watched.values()
            file = snapshot.paths[-1]
            file.write_bytes(file.read_bytes() + b" ")
            with pytest.raises(WarehouseError, match="was written while it was read"):
                unchanged()


def test_rows_that_a_deletion_vector_hides_are_refused(plain):
    """An inline vector of the first 3 rows, as the protocol describes it."""
    roaring = struct.pack("<IIHHI3H", 12346, 1, 0, 2, 16, 0, 1, 2)
    data = struct.pack("<IqI", 1681511377, 1, 0) + roaring
    data += bytes(-len(data) % 4)
    vector = {
        "storageType": "i",
        "pathOrInlineDv": _z85(data),
        "sizeInBytes": len(data),
        "cardinality": 3,
    }

    def hide(action):
        if "add" in action:
            action["add"]["deletionVector"] = vector
        if "protocol" in action:
            features = ["deletionVectors"]
            action["protocol"] = {
                "minReaderVersion": 3,
                "minWriterVersion": 7,
                "readerFeatures": features,
                "writerFeatures": features,
            }

    edited(plain, hide)
    assert "(deletion vectors): purge them, with REORG TABLE … APPLY (PURGE)" in refused(plain)


def _z85(data: bytes) -> str:
    signs = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
    found = []
    for (number,) in struct.iter_unpack(">I", data):
        found += [signs[number // 85**power % 85] for power in (4, 3, 2, 1, 0)]
    return "".join(found)


def _protocol(**parts: object):
    def edit(action):
        if "protocol" in action:
            action["protocol"] = {"minWriterVersion": 7, "writerFeatures": [], **parts}

    return edit


def _configured(action) -> None:
    if "metaData" in action:
        action["metaData"]["configuration"] = {"delta.columnMapping.mode": "name"}


def _elsewhere(action) -> None:
    if "add" in action:
        action["add"]["path"] = "file:///data/people.parquet"


def _above(action) -> None:
    if "add" in action:
        action["add"]["path"] = "../" + action["add"]["path"]


def _long(action) -> None:
    if "add" in action:
        action["add"]["path"] = "Alice/" + "a" * 5000


def _many(action) -> None:
    if "add" in action:
        action["add"]["path"] = "part-*.parquet"


@pytest.mark.parametrize(
    ("edit", "told"),
    [
        (_configured, "whose files name its columns otherwise (delta.columnMapping.mode)"),
        (_elsewhere, "with files elsewhere, as a shallow clone has: make a deep one"),
        (_above, "with files elsewhere"),
        (_long, "has lost a file that its log names: aaa"),
        (_many, "has a file in whose path is *, ? or [: part-*.parquet"),
        (_protocol(minReaderVersion=9), "whose log cannot be read"),
    ],
)
def test_what_the_files_do_not_show_is_refused(plain, edit, told):
    edited(plain, edit)
    assert told in refused(plain)


def test_a_feature_that_is_not_known_is_refused(plain, monkeypatch):
    edited(
        plain, _protocol(minReaderVersion=3, readerFeatures=["timestampNtz"],
                         writerFeatures=["timestampNtz"])
    )  # fmt: skip
    seen(plain)
    monkeypatch.setattr("policy_engine.warehouse.delta._FEATURES", _FEATURES - {"timestampNtz"})
    assert "is a Delta table with timestampNtz, which is not read" in refused(plain)
    monkeypatch.undo()
    monkeypatch.setattr("policy_engine.warehouse.delta._READER", 2)
    assert "is a Delta table with reader version 3, which is not read" in refused(plain)


@pytest.mark.parametrize("name", ["a%20b", "a\\b"])
def test_a_folder_whose_name_is_read_as_another_is_refused(tmp_path, name):
    """Of the table a%20b the library lists the log, and reads that of the table beside it."""
    write_deltalake(tmp_path / "a b", rows(4))
    (tmp_path / "a b").rename(tmp_path / name)
    assert "with % or \\ in its name, under which another may be read" in refused(tmp_path / name)


def test_a_folder_may_end_as_a_file_does(plain):
    assert len(seen(plain.rename(plain.with_name("people.csv")))) == 100


def test_days_that_python_does_not_have_are_values(tmp_path):
    numbers = pa.array([-800_000, 4_000_000, None, 0], pa.int32())
    made = pa.table({"person_id": [1, 2, 3, 4], "day": numbers.cast(pa.date32())})
    write_deltalake(tmp_path / "visits", made, partition_by=["day"])
    with closing(DuckDBWarehouse()) as warehouse:
        warehouse.table(Source("visits", None), tmp_path)
        query = "SELECT day - DATE '1970-01-01' FROM temp.main.visits ORDER BY person_id"
        found = [day for (day,) in warehouse.session.execute(query).fetchall()]
    assert found == numbers.to_pylist()


def test_a_partition_of_bytes_is_refused(tmp_path):
    made = pa.table({"person_id": [1], "b": [b"ab"]})
    write_deltalake(tmp_path / "visits", made, partition_by=["b"])
    assert refused(tmp_path / "visits").endswith("is a Delta table that is partitioned by bytes")


@pytest.mark.parametrize("name", ["file_index", "file_row_number", "file", "filename", "log"])
def test_a_partition_may_be_called_as_it_likes(tmp_path, name):
    made = pa.table({"person_id": [1, 2], name: [7, 8]})
    write_deltalake(tmp_path / "visits", made, partition_by=[name])
    with closing(DuckDBWarehouse()) as warehouse:
        for _ in range(2):
            warehouse.table(Source("visits", None), tmp_path)
        found = warehouse.session.execute("FROM temp.main.visits ORDER BY ALL").fetchall()
    assert found == [(1, 7), (2, 8)]


def test_a_table_that_is_called_as_the_sample_is_refused(plain):
    ours = plain.rename(plain.with_name("Policy_Engine_sample_25"))
    assert "is called as the sample is: rename the folder" in refused(ours)


def test_a_log_that_cannot_be_read_is_told(plain):
    [log] = (plain / "_delta_log").glob("*.json")
    log.write_text("{")
    told = "the source visits is a Delta table whose log cannot be read; deltalake.DeltaTable(…)"
    assert refused(plain) == f"{told} says why"


def test_a_table_that_is_empty_is_told(plain):
    DeltaTable(plain).delete()
    assert refused(plain) == "the source visits is a Delta table that is empty"


def test_a_file_that_is_gone_is_told(plain):
    [file] = plain.glob("*.parquet")
    file.unlink()
    assert refused(plain) == f"the source visits has lost a file that its log names: {file.name}"


def test_a_column_that_no_file_has_yet_is_told(plain):
    from deltalake import Field
    from deltalake.schema import PrimitiveType

    DeltaTable(plain).alter.add_columns([Field("later", PrimitiveType("string"))])
    assert "no file of" in refused(plain) and "has its column 'later' yet" in refused(plain)
    more = rows(10, PEOPLE).append_column("later", pa.array(["x"] * 10))
    write_deltalake(plain, more, mode="append")
    assert "every file of a folder must have the same columns" in refused(plain)


def test_without_the_library_it_says_what_to_install(plain, monkeypatch):
    monkeypatch.setitem(sys.modules, "deltalake", None)
    assert refused(plain).endswith(
        "; to read one: pip install '.[delta]' in a clone of policy-engine"
    )

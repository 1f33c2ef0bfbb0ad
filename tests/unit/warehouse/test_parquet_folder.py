"""A folder as a source: all of it is read, and what would fail is told before a charge."""

from __future__ import annotations

import shutil
from contextlib import closing
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from policy_engine.errors import FileError
from policy_engine.policy.loading import load_policy
from policy_engine.policy.resolve import Source
from policy_engine.releasing.preview import preview
from policy_engine.releasing.release import release
from policy_engine.warehouse.duckdb import DuckDBWarehouse

ROWS = {"person": [1, 2], "age": [20, 30], "tags": [["a"], []], "place": [{"zip": "1"}, None]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "parts"
    (made / "year=2020").mkdir(parents=True)
    for name in ("a.parquet", "year=2020/b.parquet"):
        pq.write_table(pa.table(ROWS), made / name)
    return made


def write(folder: Path, rows: object, name: str = "c.parquet") -> None:
    pq.write_table(pa.table(rows), folder / name)


def described(folder: Path):
    with closing(DuckDBWarehouse()) as warehouse:
        return warehouse.table(Source(folder.name, None), folder.parent)


def test_files_of_the_same_columns_are_one_table(folder):
    write(folder, dict(reversed(ROWS.items())))  # in any order: they are read by their names
    table = described(folder)
    assert [column.name for column in table.columns] == ["person", "age", "tags", "place"]
    assert (table.is_folder, table.partitions) == (True, ("year",))


POLICY = """\
version: 1
name: people
source: {file: parts}
privacy_unit: {column: person, rows: any}
recode: {age: keep}
sample: {rate: 0.5}
k: 2
guarantee: {epsilon: 9, delta: 0.999}
release: {file: out/people.parquet}
"""


def test_a_folder_is_released_from_wherever_the_command_runs(folder, monkeypatch):
    (folder.parent / "policy.yaml").write_text(POLICY)
    (folder.parent / "beside").mkdir()
    monkeypatch.chdir(folder.parent / "beside")
    done = release(load_policy(Path("../policy.yaml")))
    monkeypatch.chdir(folder.parent)
    assert release(load_policy(Path("policy.yaml"))).entry == done.entry
    monkeypatch.chdir(folder)
    assert preview(load_policy(Path("../policy.yaml"))).repeats == done.entry


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ({**ROWS, "age": ["20", "30"]}, "the column 'age' as VARCHAR, which a.parquet has as BIG"),
        ({**ROWS, "age": [20.5, 30]}, "the column 'age' as DOUBLE, which a.parquet has as BIGINT"),
        ({**ROWS, "more": [1, 2]}, "a column 'more', which a.parquet has not"),
        ({k: v for k, v in ROWS.items() if k != "age"}, "no column 'age', which a.parquet has"),
        ({k.title(): v for k, v in ROWS.items()}, "no column 'person', but 'Person', which a.par"),
        ({**ROWS, "tags": [[1], []]}, r"'tags' as BIGINT\[\], which a.parquet has as VARCHAR\[\]"),
        ({**ROWS, "place": [{"zip": 1}, None]}, r"'place' as STRUCT\(zip BIGINT\), which"),
    ],
)
def test_a_file_of_other_columns_is_named_with_the_column(folder, rows, told):
    write(folder, rows)
    with pytest.raises(FileError, match=f"c.parquet in {folder} has .*{told}"):
        described(folder)


def test_a_file_that_is_no_parquet_file_is_named(folder):
    (folder / "c.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(FileError, match=r"c.parquet is not a Parquet file that can be read$"):
        described(folder)


@pytest.mark.parametrize("name", ["c.pq", "c.PARQUET", "c.csv", "year=2020/notes.txt"])
def test_what_would_not_be_read_is_refused(folder, name):
    shutil.copy(folder / "a.parquet", folder / name)
    with pytest.raises(FileError, match=f"holds {name}, another file, which would not be read"):
        described(folder)


@pytest.mark.parametrize("name", ["_c.parquet", ".c.parquet", "_temporary/c.parquet"])
def test_a_file_that_is_hidden_or_not_finished_is_refused(folder, name):
    (folder / "_temporary").mkdir()
    shutil.copy(folder / "a.parquet", folder / name)
    with pytest.raises(FileError, match=f"holds {name}, which is hidden, or not finished"):
        described(folder)


def test_a_link_to_a_folder_is_refused_and_one_to_a_file_is_read(folder):
    (folder / "c.parquet").symlink_to(folder / "a.parquet")
    assert described(folder).is_folder
    (folder / "more").symlink_to(folder / "year=2020")
    with pytest.raises(FileError, match="holds more, a link to a folder, which would not be read"):
        described(folder)


def test_what_a_writer_leaves_for_itself_is_passed_over(folder):
    for name in ("_SUCCESS", ".a.parquet.crc", "_metadata"):
        (folder / name).touch()
    assert described(folder).is_folder


def test_an_empty_folder_says_so(tmp_path):
    (tmp_path / "parts").mkdir()
    with pytest.raises(FileError, match=r"is a folder without a \.parquet file in it"):
        described(tmp_path / "parts")


def test_a_folder_that_cannot_be_listed_says_so(folder, monkeypatch):
    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("os.scandir", refuse)
    with pytest.raises(FileError, match="the source parts cannot be read: Permission denied"):
        described(folder)


def test_what_is_read_is_what_was_listed(folder):
    """The engine finds the files by a pattern of its own."""
    for name in ("b c.parquet", "ü.parquet", "x=1/y=2/z.parquet"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(folder / "a.parquet", folder / name)
    described(folder)
    found = duckdb.sql(f"SELECT count(*) FROM read_parquet('{folder}/**/*.parquet')").fetchall()
    assert found == [(2 * len([*folder.rglob("*.parquet")]),)] == [(10,)]


LOGS = {
    "Delta": "_delta_log/00000000000000000000.json",
    "Hudi": ".hoodie/hoodie.properties",
    "Iceberg": "metadata/v1.metadata.json",
}
# A folder that is a Delta table itself is read: see test_delta.
PLACES = [(kind, at) for kind in LOGS for at in ("..", ".", "year=2020")]
PLACES.remove(("Delta", "."))


@pytest.mark.parametrize(("kind", "at"), PLACES)
def test_files_of_which_a_log_says_which_are_read_are_refused(tmp_path, kind, at):
    """Some of them have rows that were changed or deleted."""
    made = tmp_path / "table" / "parts"
    (made / "year=2020").mkdir(parents=True)
    pq.write_table(pa.table(ROWS), made / "year=2020" / "b.parquet")
    log = made / at / LOGS[kind]
    log.parent.mkdir(parents=True)
    log.touch()
    table = (made / at).resolve()
    told = f"has files of the {kind} table {table}, whose log alone says"
    with pytest.raises(FileError, match=told):
        described(made)
    (tmp_path / "link").symlink_to(made)
    with pytest.raises(FileError, match=told if at == ".." else "whose log alone says"):
        described(tmp_path / "link")
    with pytest.raises(FileError, match=told):
        described(made / "year=2020" / "b.parquet")


@pytest.mark.parametrize("log", ["_delta_log", ".hoodie"])
def test_a_log_that_is_no_folder_is_one_that_was(folder, log):
    (folder / log).symlink_to(folder / "nowhere")
    with pytest.raises(FileError, match="whose log alone says"):
        described(folder)


def test_what_only_looks_like_a_log_is_none(folder):
    (folder.parent / "metadata").mkdir()
    (folder.parent / "metadata" / "people.metadata.json").touch()
    (folder.parent / "_delta_log").mkdir()
    assert described(folder).is_folder

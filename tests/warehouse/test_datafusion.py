"""DataFusion, the real engine: the same releases as DuckDB's, and what it must refuse."""

from __future__ import annotations

import math
from contextlib import closing
from datetime import date, datetime

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from alike import (
    COLUMNS,
    POLICIES,
    ROWS,
    SECRET,
    check_put_back,
    differences,
    expected,
    policy_of,
    rows_of,
)

from policy_engine.compile.compiler import compiled
from policy_engine.errors import WarehouseError
from policy_engine.policy.loading import load_policy_text
from policy_engine.policy.resolve import Source
from policy_engine.warehouse.datafusion import DataFusionWarehouse, canonical

KINDS = {
    "BIGINT": pa.int64(),
    "VARCHAR": pa.string(),
    "INTEGER": pa.int32(),
    "BOOLEAN": pa.bool_(),
    "DECIMAL(10,2)": pa.decimal128(10, 2),
    "DOUBLE": pa.float64(),
    "DATE": pa.date32(),
    "TIMESTAMP": pa.timestamp("us"),
}
POLICY = """\
version: 1
name: contract
source: {{table: {source}}}
privacy_unit: {{column: id, rows: {{first_by: [{order}]}}}}
recode: {recode}
sample: {{rate: 0.5}}
k: 2
guarantee: {{epsilon: 9, delta: 0.999}}
release: {{table: {target}, as: {form}}}
"""


def write(folder, name, **columns):
    pq.write_table(pa.table(columns), folder / f"{name}.parquet")


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    place = tmp_path_factory.mktemp("datafusion")
    columns = zip(COLUMNS.values(), zip(*ROWS, strict=True), strict=True)
    arrays = [pa.array(values, KINDS[kind]) for kind, values in columns]
    pq.write_table(pa.table(arrays, names=list(COLUMNS)), place / "people.parquet")
    return place


@pytest.fixture
def folder(people, tmp_path):
    (tmp_path / "people.parquet").symlink_to(people / "people.parquet")
    return tmp_path


@pytest.fixture
def warehouse(folder):
    with closing(DataFusionWarehouse("df", folder, writable=True)) as opened:
        yield opened


def policy_for(target, recode="{zip: {prefix: 1}}", source="people", order="seen", form="counts"):
    text = POLICY.format(target=target, recode=recode, source=source, order=order, form=form)
    return load_policy_text(text, "policy.yaml", ".")


def published(warehouse, policy, attest=lambda: None, *, comment="it's \\ {}", replace=False):
    """Publish, as a release does; the lines that stand afterwards."""
    table = warehouse.table(policy.source, policy.directory)
    target = warehouse.target(policy.release.relation)
    _, query = compiled(policy, table, warehouse.dialect)
    with warehouse.sampled(policy, table, SECRET):
        warehouse.publish(query, target, comment, attest, replace=replace)
    return list(warehouse.release_lines(target))


@pytest.mark.parametrize("name", POLICIES)
def test_it_releases_what_duckdb_releases(people, name):
    with closing(DataFusionWarehouse("df", people)) as warehouse:
        found = rows_of(policy_of(name), warehouse)
    assert differences(found, expected(name)) == []
    assert found.num_rows > 1


def test_a_release_stands_with_its_comment_and_is_seen_before(warehouse):
    seen, target = [], warehouse.target("first")
    assert not warehouse.exists(target)
    lines = published(
        warehouse, policy_for("first"), lambda: seen.extend(warehouse.release_lines(target))
    )
    assert lines == seen
    assert len(lines) > 1
    assert warehouse.comment(target) == "it's \\ {}"


def test_a_release_may_be_read_by_its_owner_or_by_who_could_before(warehouse, folder):
    policy, file = policy_for("mine"), folder / "mine.parquet"
    published(warehouse, policy)
    assert file.stat().st_mode & 0o777 == 0o600
    file.chmod(0o640)
    published(warehouse, policy, replace=True)
    assert file.stat().st_mode & 0o777 == 0o640


def test_rows_are_repeated_as_often_as_they_count(warehouse):
    counts = published(warehouse, policy_for("counted"))
    rows = published(warehouse, policy_for("repeated", form="rows"))
    assert len(rows) == sum(line[-1] for line in counts)


def test_what_fails_last_leaves_what_stood(warehouse, folder):
    policy, target = policy_for("stands"), warehouse.target("stands")
    other = policy_for("stands", "{age: {bins: [18]}}")

    def fail():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        published(warehouse, policy, fail)
    assert not warehouse.exists(target)
    before = published(warehouse, policy, comment="before")
    with pytest.raises(KeyboardInterrupt):
        published(warehouse, other, fail, replace=True)
    assert list(warehouse.release_lines(target)) == before
    assert warehouse.comment(target) == "before"
    assert published(warehouse, other, replace=True) != before
    assert {file.name for file in folder.iterdir()} == {"people.parquet", "stands.parquet"}


def test_a_target_that_has_come_to_be_is_not_replaced(warehouse, folder):
    with pytest.raises(WarehouseError, match="has come to be meanwhile"):
        published(warehouse, policy_for("late"), lambda: write(folder, "late", x=[1]))
    assert list(warehouse.release_lines(warehouse.target("late"))) == [(1,)]


def test_a_file_that_is_replaced_after_it_was_certified_is_not_read(warehouse, folder):
    write(folder, "moving", id=list(range(20)), zip=["10115"] * 20)
    policy = policy_for("moved", source="moving", order="zip")
    table = warehouse.table(policy.source, policy.directory)
    write(folder, "moving", id=[float(i) for i in range(20)], zip=["10115"] * 20)
    with pytest.raises(WarehouseError, match="made anew or altered"):
        warehouse.hold(policy, table)


def test_a_name_that_is_too_long_is_refused(warehouse):
    with pytest.raises(WarehouseError, match="more than 200 bytes"):
        warehouse.target("x" * 201)


@pytest.mark.parametrize(("order", "first"), [("w desc", "nan"), ("w, t", "a"), ("w, t desc", "e")])
def test_zeros_are_one_and_nan_is_the_greatest_number(warehouse, folder, order, first):
    """As in DuckDB; the engine itself puts -NaN before all numbers, and -0.0 before 0.0."""
    rows = [(-math.nan, "nan"), (math.nan, "nan"), (0.0, "a"), (-0.0, "e"), (1.0, "one")]
    copies = [(i, w, t) for i in range(40) for w, t in rows]
    numbers, weights, texts = map(list, zip(*copies, strict=True))
    write(folder, "weights", id=numbers, w=weights, t=texts)
    policy = policy_for("ordered", "{t: keep}", source="weights", order=order)
    assert [line[0] for line in published(warehouse, policy)] == [first]


def test_days_and_times_far_away_fail_nothing(warehouse, folder):
    days = [date.max, date.min, date(1677, 1, 1), date(1969, 12, 31)]
    times = [
        datetime(9999, 12, 31),
        datetime.min,
        datetime(1677, 1, 1),
        datetime(1969, 12, 31, 23, 59),
    ]
    far = pa.array([2**31 - 1, -(2**31)], pa.int32()).cast(pa.date32())
    beyond = pa.array([2**63 - 1, -(2**63)], pa.int64()).cast(pa.timestamp("us"))
    day = pa.concat_arrays([pa.array(days), far])
    time = pa.concat_arrays([pa.array(times, pa.timestamp("us")), beyond])
    copies = pa.array([i for i in range(6) for _ in range(30)])
    write(folder, "far", id=list(range(180)), day=day.take(copies), time=time.take(copies))
    found = {}
    for unit in ("year", "quarter", "month", "week", "day", "hour"):
        recode = f"{{time: {{truncate: {unit}}}}}"
        if unit != "hour":
            recode = f"{{day: {{truncate: {unit}}}, time: {{truncate: {unit}}}}}"
        policy = policy_for(f"far_{unit}", recode, source="far", order="day")
        found[unit] = {line[:-1] for line in published(warehouse, policy)}
    assert ("1970-W01", "1970-W01") in found["week"]
    assert (date(9999, 10, 1), datetime(9999, 10, 1)) in found["quarter"]
    assert (datetime(1969, 12, 31, 23),) in found["hour"]
    assert (None, None) in found["year"]
    labels = policy_for(
        "labels", "{day: {map: {'1969-12-31': a}, other: b}}", source="far", order="day"
    )
    assert {line[0] for line in published(warehouse, labels)} == {"a", "b", None}


def test_a_time_is_compared_with_a_time(warehouse):
    policy = policy_for("mixed", "{seen: {bins: [1970-01-01]}}")
    found = {line[0] for line in published(warehouse, policy)}
    assert {"<1970-01-01", ">=1970-01-01"} <= found


def test_an_engines_message_is_withheld(warehouse):
    warehouse.table(Source(None, "people"), ".")
    with pytest.raises(WarehouseError) as caught:
        warehouse.rows("SELECT CAST(town || ' VERY-SECRET' AS INT) AS x FROM people")
    assert "SECRET" not in str(caught.value)
    assert caught.value.__cause__ is None
    context = caught.value.__context__
    while context is not None:
        assert "SECRET" not in str(context)
        context = context.__context__


@pytest.mark.parametrize("text", ["CREATE TABLE x AS SELECT 1", "DROP TABLE people",
    "COPY people TO 'x.parquet'"])  # fmt: skip
def test_a_text_that_is_run_only_selects(warehouse, folder, text):
    warehouse.table(Source(None, "people"), ".")
    with pytest.raises(WarehouseError):
        warehouse.rows(text)
    assert [file.name for file in folder.iterdir()] == ["people.parquet"]


@pytest.mark.parametrize("name", ["gone", "nowhere.people", "../people", "a.b.c"])
def test_what_is_not_there_is_told(warehouse, name):
    with pytest.raises(WarehouseError):
        warehouse.table(Source(None, name), ".")


def test_what_is_no_parquet_file_is_told(warehouse, folder):
    (folder / "text.parquet").write_text("a,b")
    with pytest.raises(WarehouseError, match="withheld"):
        warehouse.table(Source(None, "text"), ".")


def test_a_folder_that_is_not_there_is_told(tmp_path):
    for place in (None, tmp_path / "gone"):
        with pytest.raises(WarehouseError, match="a folder of Parquet files"):
            DataFusionWarehouse("df", place)


@pytest.mark.parametrize(
    ("native", "kind"),
    [
        (pa.int8(), "TINYINT"),
        (pa.uint64(), "UBIGINT"),
        (pa.float32(), "FLOAT"),
        (pa.decimal128(10, 2), "DECIMAL(10, 2)"),
        (pa.dictionary(pa.int32(), pa.string()), "VARCHAR"),
        (pa.timestamp("us", "Europe/Rome"), "TIMESTAMP WITH TIME ZONE"),
        (pa.timestamp("ns"), "OTHER TIMESTAMP[NS]"),
        (pa.binary(), "OTHER BINARY"),
    ],
)
def test_types_have_their_meaning(native, kind):
    assert canonical(native) == kind


PUT_BACK = """\
SELECT 'it''s \\ \u00e9' AS a,
    CAST(7 AS BIGINT) AS n,
    CAST(1.5 AS DECIMAL(10,
    2)) AS d,
    CAST('1969-01-02' AS DATE) AS t,
    CAST(NULL AS VARCHAR) AS b,
    CAST(0.1 AS DOUBLE) AS f,
    true AS y
UNION ALL SELECT 'y',
    8,
    2,
    CAST('9999-12-31' AS DATE),
    'x',
    1e300,
    NULL"""


def test_a_table_is_put_back_of_its_texts(warehouse):
    check_put_back(warehouse, PUT_BACK)

"""ClickHouse, the real engine embedded: the same releases as DuckDB's, and what it must refuse."""

from __future__ import annotations

import math
from contextlib import closing

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
from policy_engine.errors import PolicyEngineError, WarehouseError
from policy_engine.policy.loading import load_policy_text
from policy_engine.policy.project import default_project
from policy_engine.policy.resolve import Source
from policy_engine.releasing.planning import prepare
from policy_engine.warehouse.clickhouse import ClickHouseWarehouse, Http, canonical

KINDS = {
    "BIGINT": "Int64",
    "VARCHAR": "String",
    "INTEGER": "Int32",
    "BOOLEAN": "Bool",
    "DECIMAL(10,2)": "Decimal(10, 2)",
    "DOUBLE": "Float64",
    "DATE": "Date32",
    "TIMESTAMP": "DateTime64(6)",
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


def literal(value: object) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bool | int | float):
        return repr(value).lower()
    text = str(value).replace("\\", "\\\\").replace("'", "\\'")
    return f"'{text}'"


def do(warehouse, *statements):
    for each in statements:
        warehouse._query(each)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """One folder a process: the engine opens no second one beside it."""
    place = tmp_path_factory.mktemp("clickhouse")
    with closing(ClickHouseWarehouse("ch", place)) as warehouse:
        kinds = ", ".join(f"{name} Nullable({KINDS[kind]})" for name, kind in COLUMNS.items())
        do(warehouse, f"CREATE TABLE people ({kinds}) ENGINE = MergeTree ORDER BY tuple()")
        rows = ", ".join(f"({', '.join(map(literal, row))})" for row in ROWS)
        do(warehouse, f"INSERT INTO people VALUES {rows}")
    return place


@pytest.fixture
def warehouse(folder):
    with closing(ClickHouseWarehouse("ch", folder)) as opened:
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
def test_it_releases_what_duckdb_releases(warehouse, name):
    found = rows_of(policy_of(name), warehouse)
    assert differences(found, expected(name)) == []
    assert found.num_rows > 1


def test_a_release_stands_with_its_comment_and_is_seen_before(warehouse):
    policy, seen = policy_for("first"), []
    target = warehouse.target("first")
    assert not warehouse.exists(target)
    lines = published(warehouse, policy, lambda: seen.extend(warehouse.release_lines(target)))
    assert lines == seen
    assert len(lines) > 1
    assert warehouse.comment(target) == "it's \\ {}"


def test_rows_are_repeated_as_often_as_they_count(warehouse):
    counts = published(warehouse, policy_for("counted"))
    rows = published(warehouse, policy_for("repeated", form="rows"))
    assert len(rows) == sum(int(line[-1]) for line in counts)


def test_what_fails_last_leaves_what_stood(warehouse):
    policy, target = policy_for("stands"), warehouse.target("stands")

    def fail():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        published(warehouse, policy, fail)
    assert not warehouse.exists(target)
    before = published(warehouse, policy, comment="before")
    with pytest.raises(KeyboardInterrupt):
        published(warehouse, policy_for("stands", "{age: {bins: [18]}}"), fail, replace=True)
    assert list(warehouse.release_lines(target)) == before
    assert warehouse.comment(target) == "before"
    after = published(warehouse, policy_for("stands", "{age: {bins: [18]}}"), replace=True)
    assert after != before
    aside = warehouse.ask("SELECT name FROM system.tables WHERE name LIKE 'policy_engine%'")
    assert aside == []


def test_a_target_that_has_come_to_be_is_not_replaced(warehouse):
    policy, target = policy_for("late"), warehouse.target("late")
    with pytest.raises(WarehouseError, match="has come to be meanwhile"):
        published(warehouse, policy, lambda: do(warehouse, "CREATE TABLE late (x Int8)"))
    assert list(warehouse.release_lines(target)) == []


def test_the_secret_stays_in_no_table_and_no_log(warehouse):
    published(warehouse, policy_for("silent"))
    assert warehouse.ask(
        "SELECT count() FROM system.tables WHERE position(create_table_query, {d:String}) > 0",
        (SECRET.hex(),),
    ) == [(0,)]
    assert warehouse.ask("SELECT count() FROM system.tables WHERE name = 'query_log'") == [(0,)]


def test_nan_is_the_greatest_number_in_the_order_of_rows(warehouse):
    """As in DuckDB; DESC alone would put it behind all numbers."""
    do(warehouse, "CREATE TABLE weights (id Int64, w Nullable(Float64), zip String)"
       " ENGINE = MergeTree ORDER BY id")  # fmt: skip
    for number, zip_ in ((math.nan, "nan"), (1.0, "one"), (None, "null")):
        value = "NULL" if number is None else repr(number)
        do(warehouse, f"INSERT INTO weights SELECT number, {value}, '{zip_}' FROM numbers(40)")
    found = {}
    for order in ("w desc", "w"):
        policy = policy_for(f"order_{len(order)}", "{zip: keep}", source="weights", order=order)
        found[order] = [line[0] for line in published(warehouse, policy)]
    assert found == {"w desc": ["nan"], "w": ["one"]}


def test_an_engines_message_is_withheld(warehouse):
    with pytest.raises(WarehouseError) as caught:
        warehouse.rows("SELECT toInt32(ifNull(town, '') || ' VERY-SECRET') AS x FROM people")
    assert "SECRET" not in str(caught.value)
    assert caught.value.__cause__ is None
    context = caught.value.__context__
    while context is not None:
        assert "SECRET" not in str(context)
        context = context.__context__


def test_rows_of_a_query_that_failed_are_not_the_next_ones(warehouse):
    """The engine keeps what it had written, and puts it before the next result."""
    late = "toInt32(if(number = 200000, 'zz', '1'))"
    with pytest.raises(WarehouseError):
        warehouse.rows(f"SELECT {late} AS x FROM numbers(300000)")
    assert warehouse.rows("SELECT toInt64(5) AS y").to_pylist() == [{"y": 5}]


@pytest.mark.parametrize(
    ("made", "said"),
    [
        ("CREATE TABLE odd (id Int64, x Int64 ALIAS id + 1) ENGINE = Memory", "computed when"),
        ("CREATE TABLE odd (id Int64) ENGINE = Null", "the engine Null"),
        ("CREATE TABLE odd (id Int64) ENGINE = Merge(currentDatabase(), 'p')", "the engine Merge"),
    ],
)
def test_what_cannot_be_certified_is_refused(warehouse, made, said):
    do(warehouse, "DROP TABLE IF EXISTS odd", made)
    with pytest.raises(WarehouseError, match=said):
        warehouse.table(Source(None, "odd"), ".")


@pytest.mark.parametrize("name", ["gone", "nowhere.people", "a.b.c"])
def test_what_is_not_there_is_told(warehouse, name):
    with pytest.raises(WarehouseError, match=name):
        warehouse.table(Source(None, name), ".")


def test_a_table_goes_into_a_database_that_is_there(warehouse):
    with pytest.raises(WarehouseError, match="no database nowhere"):
        warehouse.target("nowhere.out")
    with pytest.raises(WarehouseError, match="replaces no table in one step"):
        warehouse.target("system.out")


def test_columns_that_cannot_be_null_are_known(warehouse):
    warehouse.ask(
        "CREATE OR REPLACE TABLE filled (id Int64, a Nullable(Int32), s LowCardinality(String),"
        " t LowCardinality(Nullable(String))) ENGINE = MergeTree ORDER BY id"
    )
    assert warehouse.table(Source(None, "filled"), ".").filled == {"id", "s"}


def test_a_view_is_read_by_its_text(warehouse):
    do(warehouse, "CREATE VIEW adults AS SELECT id, age, zip, seen FROM people WHERE age >= 18")
    table = warehouse.table(Source(None, "adults"), ".")
    assert "WHERE" in table.view
    assert "people" in {each.parts[-1] for each in table.related}


@pytest.mark.parametrize(
    "change",
    [
        ("CREATE OR REPLACE VIEW seen_by AS SELECT toInt64(7) AS id, zip FROM shifting",),
        ("RENAME TABLE shifting TO shifted",
         "CREATE VIEW shifting AS SELECT id % 2 AS id, zip FROM shifted"),
        ("ALTER TABLE shifting MODIFY COLUMN zip FixedString(5)",),
        ("RENAME TABLE shifting TO shifted",
         "CREATE TABLE shifting (id Int64, zip String) ENGINE = Merge(currentDatabase(), 'shift')"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("moment", ["certified", "held", "drawn"])
def test_what_is_altered_after_it_was_certified_is_not_released(warehouse, change, moment):
    do(warehouse, "DROP TABLE IF EXISTS seen_by", "DROP TABLE IF EXISTS shifting",
       "DROP TABLE IF EXISTS shifted",
       "CREATE TABLE shifting (id Int64, zip String) ENGINE = MergeTree ORDER BY tuple()",
       "INSERT INTO shifting SELECT number, '10115' FROM numbers(20)",
       "CREATE VIEW seen_by AS SELECT id, zip FROM shifting")  # fmt: skip
    policy = policy_for("out", "{zip: keep}", source="seen_by", order="zip")
    table = warehouse.table(policy.source, ".")
    told = pytest.raises(WarehouseError, match="made anew or altered")
    if moment == "certified":
        do(warehouse, *change)
        with told:
            warehouse.hold(policy, table)
        return
    warehouse.hold(policy, table)
    if moment == "held":
        do(warehouse, *change)
        with told, warehouse.sampled(policy, table, SECRET):
            pass
        return
    with warehouse.sampled(policy, table, SECRET) as unchanged:
        unchanged()
        do(warehouse, *change)
        with told:
            unchanged()


def test_what_a_view_does_not_read_fails_no_release(warehouse):
    do(warehouse, "CREATE TABLE zip (a Int64, b Int64 ALIAS a + 1) ENGINE = Memory",
       "CREATE TABLE beside (a Int64, A Int64) ENGINE = Memory",
       "CREATE VIEW beside_it AS SELECT a FROM beside",
       "CREATE VIEW views AS SELECT id, zip FROM people",
       "CREATE VIEW id AS SELECT id, zip FROM views")  # fmt: skip
    table = warehouse.table(Source(None, "views"), ".")
    assert [each.name for each in table.related] == ["default.id", "default.people"]
    do(warehouse, "DROP TABLE zip", "DROP TABLE id", "DROP TABLE beside_it")


@pytest.mark.parametrize("engine", ["Merge(currentDatabase(), 'people')",
    "Buffer(currentDatabase(), 'people', 1, 1, 1, 1, 1, 1, 1)", "URL('http://127.0.0.1:9/', CSV)",
    "File(CSV)", "Null"])  # fmt: skip
def test_a_view_of_what_is_no_source_is_refused(warehouse, tmp_path, engine):
    do(warehouse, "DROP TABLE IF EXISTS of_far", "DROP TABLE IF EXISTS far",
       f"CREATE TABLE far (id Int64, zip String) ENGINE = {engine}",
       "CREATE VIEW of_far AS SELECT id, zip FROM far")  # fmt: skip
    policy = policy_for("out", "{zip: keep}", source="of_far", order="zip")
    with pytest.raises(PolicyEngineError, match="of_far is a view"):
        prepare(policy, default_project(tmp_path), warehouse)


def test_a_name_that_is_too_long_is_refused(warehouse):
    with pytest.raises(WarehouseError, match="more than 200 bytes"):
        warehouse.target("x" * 201)


def test_a_decimal_number_is_mapped_as_a_number(warehouse):
    """Its text is 2.5 here, and 2.50 elsewhere."""
    policy = policy_for("exact", "{income: {map: {'2.50': a}, other: b}}")
    assert {line[0] for line in published(warehouse, policy)} <= {"a", "b", None}


def test_a_session_that_means_something_else_is_not_used(warehouse):
    [(alias, zone)] = warehouse.ask(
        "SELECT getSetting('prefer_column_name_to_alias'), getSetting('session_timezone')"
    )
    assert (alias, zone) == (True, "UTC")


@pytest.mark.parametrize(
    ("native", "kind"),
    [
        ("Nullable(UInt8)", "UTINYINT"),
        ("Enum8('a' = 1, 'b' = 2)", "ENUM('a' = 1, 'b' = 2)"),
        ("DateTime", "TIMESTAMP"),
        ("DateTime('UTC')", "TIMESTAMP WITH TIME ZONE"),
        ("DateTime64(3)", "TIMESTAMP"),
        ("DateTime64(9)", "OTHER DATETIME64(9)"),
        ("Decimal(10, 2)", "DECIMAL(10, 2)"),
        ("FixedString(4)", "OTHER FIXEDSTRING(4)"),
        ("Int128", "OTHER INT128"),
        ("Array(String)", "OTHER ARRAY(STRING)"),
    ],
)
def test_types_have_their_meaning(native, kind):
    assert canonical(native) == kind


def test_a_server_that_does_not_answer_is_told():
    with pytest.raises(WarehouseError, match="does not answer"):
        ClickHouseWarehouse("far", url="http://user:hidden@127.0.0.1:9/db")
    with pytest.raises(WarehouseError, match="HTTP interface"):
        Http("far", "postgresql://somewhere")


@pytest.mark.parametrize(("prefers_columns", "same"), [(0, False), (1, True)])
def test_a_name_inside_an_expression_would_change_who_is_sampled(warehouse, prefers_columns, same):
    """Why the kernel refuses one: its texts mean the same whatever the setting is."""
    sampled = "lower(hex(SHA256('0123456789abcdef' || ':u:' || toString(id)))) < '8'"
    text = (
        f"SELECT zip, COUNT(*) AS n FROM people WHERE {sampled} GROUP BY zip ORDER BY zip"
        f" SETTINGS prefer_column_name_to_alias = {prefers_columns}"
    )
    plain = warehouse.ask(text)
    assert plain == warehouse.ask(text.replace(f"= {prefers_columns}", f"= {1 - prefers_columns}"))
    assert (warehouse.ask(text.replace("BY zip", "BY (zip AS id)", 1)) == plain) is same


PUT_BACK = """\
SELECT 'it''s \\\\ \u00e9' AS a,
    toInt64(7) AS n,
    toDecimal64(1.5,
    2) AS d,
    toDate32('1969-01-02') AS t,
    CAST(NULL AS Nullable(String)) AS b,
    0.1 AS f,
    toDateTime64('2020-01-02 03:04:05.123456',
    6) AS s
UNION ALL SELECT 'y',
    8,
    2,
    toDate32('2199-01-02'),
    'x',
    1e300,
    toDateTime64('1970-01-02 03:04:05',
    6)"""


def test_a_table_is_put_back_of_its_texts(warehouse):
    check_put_back(warehouse, PUT_BACK)

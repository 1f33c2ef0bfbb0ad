"""SQLite, the real engine: the same releases as DuckDB's, and what it must refuse."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import alike
import pytest
from alike import COLUMNS, ROWS, SECRET, check_put_back, differences, expected, policy_of, rows_of

from policy_engine.attest.parquet_file import read_parquet
from policy_engine.compile.compiler import compiled
from policy_engine.errors import PolicyEngineError, WarehouseError
from policy_engine.policy.loading import load_policy_text
from policy_engine.policy.project import load_project
from policy_engine.policy.resolve import Source
from policy_engine.releasing.release import release
from policy_engine.warehouse.known_answers import OTHERS
from policy_engine.warehouse.sqlite import SQLiteWarehouse

KINDS = {"BIGINT": "INTEGER", "INTEGER": "INTEGER", "DOUBLE": "REAL"}
SAME = ["map", "map_of_numbers", "map_of_truth", "labels", "keep_text", "prefix", "constant",
        "order_of_text", "tiny_rate", "raw_first"]  # fmt: skip
"""The policies that need no dates and no decimal numbers."""
MORE = {
    "lite_bins": {"recode": "{age: {bins: [18, 40, 65]}, weight: {bins: [0, 70]}}"},
    "lite_round": {"recode": "{age: {round: 10}}"},
    "lite_key": {"recode": "{zip: {prefix: 3}}", "key": "code"},
    "lite_order": {"recode": "{age: keep, zip: keep}", "order": "weight desc, town"},
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


def do(file, *statements):
    with closing(sqlite3.connect(file, timeout=0)) as connection, connection:
        for each in statements:
            found = connection.execute(each).fetchall()
    return found


def plain(value):
    if isinstance(value, bool):
        return repr(value).lower()
    return value if value is None or isinstance(value, int | float | str) else str(value)


@pytest.fixture
def file(tmp_path):
    place = tmp_path / "people.db"
    kinds = ", ".join(f"{name} {KINDS.get(kind, 'TEXT')}" for name, kind in COLUMNS.items())
    with closing(sqlite3.connect(place)) as connection, connection:
        connection.execute(f"CREATE TABLE people ({kinds}) STRICT")
        rows = [list(map(plain, row)) for row in ROWS]
        connection.executemany(f"INSERT INTO people VALUES ({', '.join('?' * len(COLUMNS))})", rows)
    return place


@pytest.fixture
def warehouse(file):
    with closing(SQLiteWarehouse("lite", file, writable=True)) as opened:
        yield opened


def policy_for(target, recode="{zip: {prefix: 1}}", source="people", order="seen", form="counts"):
    text = POLICY.format(target=target, recode=recode, source=source, order=order, form=form)
    return load_policy_text(text, "policy.yaml", ".")


def published(file, policy, attest=lambda warehouse: None, *, comment="it's", replace=False):
    """Publish, as a release does; the lines that stand afterwards."""
    with closing(SQLiteWarehouse("lite", file, writable=True)) as warehouse:
        table = warehouse.table(policy.source, policy.directory)
        target = warehouse.target(policy.release.relation)
        _, query = compiled(policy, table, warehouse.dialect)
        with warehouse.sampled(policy, table, SECRET):
            warehouse.publish(query, target, comment, lambda: attest(warehouse), replace=replace)
        return list(warehouse.release_lines(target))


@pytest.mark.parametrize("name", [*SAME, *MORE])
def test_it_releases_what_duckdb_releases(file, name, monkeypatch):
    for each, spec in MORE.items():
        monkeypatch.setitem(alike.POLICIES, each, spec)
    with closing(SQLiteWarehouse("lite", file)) as warehouse:
        found = rows_of(policy_of(name), warehouse)
    assert differences(found, expected(name)) == []
    assert found.num_rows > 1


@pytest.mark.parametrize(
    ("made", "unique"),
    [
        ("t (id INTEGER PRIMARY KEY, a TEXT UNIQUE, b TEXT, c TEXT, UNIQUE (b, c)) STRICT", "a id"),
        ("t (id TEXT, a TEXT, PRIMARY KEY (id, a)) STRICT, WITHOUT ROWID", ""),
        ("t (id TEXT PRIMARY KEY, a TEXT) STRICT, WITHOUT ROWID", "id"),
        ("t (id TEXT, a TEXT) STRICT; CREATE UNIQUE INDEX i ON t (lower(a))", ""),
        ("t (id TEXT, a TEXT) STRICT; CREATE UNIQUE INDEX i ON t (id) WHERE a > ''", ""),
        ("t (id TEXT, a TEXT) STRICT; CREATE UNIQUE INDEX i ON t (a)", "a"),
        ("t (id TEXT, a TEXT) STRICT; CREATE INDEX i ON t (a)", ""),
    ],
)
def test_keys_that_are_enforced_are_known(file, made, unique):
    do(file, *f"CREATE TABLE {made}".split(";"))
    with closing(SQLiteWarehouse("lite", file)) as warehouse:
        assert sorted(warehouse._described(("main", "t")).unique) == unique.split()


@pytest.mark.parametrize(
    ("recode", "said"),
    [
        ("{weight: {round: 5}}", "no decimal numbers"),
        ("{age: {round: 2.5}}", "no decimal numbers"),
        ("{born: {truncate: year}}", "found text"),
        ("{born: {bins: [1960-01-01]}}", "found text"),
    ],
)
def test_what_it_has_no_type_for_is_refused(file, recode, said):
    with pytest.raises(PolicyEngineError, match=said):
        published(file, policy_for("out", recode))


def test_rows_are_not_repeated(file):
    with pytest.raises(PolicyEngineError, match="as: counts"):
        published(file, policy_for("out", form="rows"))


def test_a_release_stands_with_its_comment_and_is_seen_before(file):
    seen, target = [], ("main", "first")
    lines = published(
        file, policy_for("first"), lambda warehouse: seen.extend(warehouse.release_lines(target))
    )
    assert lines == seen
    assert len(lines) > 1
    with closing(SQLiteWarehouse("lite", file)) as warehouse:
        assert warehouse.comment(target) == "it's"
        assert warehouse.comment(("main", "people")) == ""


def test_what_fails_last_leaves_what_stood(file):
    policy, other = policy_for("stands"), policy_for("stands", "{age: {bins: [18]}}")

    def fail(warehouse):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        published(file, policy, fail)
    assert do(file, "SELECT name FROM sqlite_schema") == [("people",)]
    before = published(file, policy, comment="before")
    with pytest.raises(KeyboardInterrupt):
        published(file, other, fail, replace=True)
    assert do(file, "SELECT * FROM stands ORDER BY 1, 2") == before
    assert do(file, "SELECT facts FROM policy_engine_releases") == [("before",)]
    assert published(file, other, replace=True) != before


def test_a_target_that_stands_is_not_replaced(file):
    do(file, "CREATE TABLE late (x INTEGER) STRICT")
    with pytest.raises(WarehouseError):
        published(file, policy_for("late"))
    assert do(file, "SELECT count(*) FROM late") == [(0,)]


def test_the_secret_stays_in_no_file(file):
    published(file, policy_for("silent"))
    for each in file.parent.iterdir():
        assert SECRET.hex().encode() not in each.read_bytes()
        assert SECRET not in each.read_bytes()


def test_a_sampler_that_is_another_is_refused(warehouse):
    warehouse._connection.create_function("policy_engine_sha256", 1, lambda value: "0")
    policy = policy_for("out")
    table = warehouse.table(policy.source, ".")
    with pytest.raises(WarehouseError) as caught, warehouse.sampled(policy, table, SECRET):
        pass
    assert str(caught.value) == OTHERS


def test_what_is_no_utf_8_fails_nothing(file):
    odd = "town = CAST(x'ff00fe' AS TEXT), zip = CAST(x'c3' AS TEXT)"
    do(file, f"UPDATE people SET {odd} WHERE id % 7 = 0")
    do(file, "UPDATE people SET code = CAST(x'ff' || id AS TEXT) WHERE id < 50")
    recode = "{town: {map: {Berlin: b}, other: o}}"
    text = str(POLICY).replace("column: id", "column: code")
    text = text.format(target="out", recode=recode, source="people", order="zip", form="counts")
    assert published(file, load_policy_text(text, "policy.yaml", "."))


@pytest.mark.parametrize("to", ["file: out.parquet", "table: outcome"])
def test_what_is_no_utf_8_is_released_with_its_bytes_escaped(file, tmp_path, to):
    town = "CASE id % 2 WHEN 0 THEN CAST(x'4dfc' AS TEXT) ELSE CAST(x'4dfd' AS TEXT) END"
    do(file, f"UPDATE people SET town = {town}, zip = CAST(x'ff' || id AS TEXT)")
    (tmp_path / "policy-engine.yaml").write_text(
        "warehouses: {lite: {type: sqlite, database: people.db}}"
    )
    project = load_project(tmp_path / "policy-engine.yaml")
    text = POLICY.format(
        target="t", recode="{town: keep}", source="people", order="zip", form="counts"
    )
    text = text.replace("table: t, as: counts", to)
    policy = load_policy_text(text, tmp_path / "policy.yaml", tmp_path)
    release(policy, project)
    again = release(policy, project)
    assert again.repeated and again.groups == 2
    found = (
        SQLiteWarehouse("lite", file).release_lines(("main", "outcome"))
        if to.startswith("table")
        else (tuple(row.values()) for row in read_parquet(tmp_path / "out.parquet").to_pylist())
    )
    assert [row[0] for row in found] == ["M\\xfc", "M\\xfd"]


@pytest.mark.parametrize(
    ("made", "said"),
    [
        ("CREATE TABLE odd (id INTEGER, x TEXT)", "is not STRICT"),
        ("CREATE VIEW odd AS SELECT id FROM people", "is a view"),
        ("CREATE VIRTUAL TABLE odd USING fts5(x)", "is a virtual"),
        ("CREATE TABLE odd (id INT, x INT AS (id + 1)) STRICT", "computed when it is read"),
    ],
)
def test_what_cannot_be_certified_is_refused(file, made, said):
    do(file, made)
    with (
        closing(SQLiteWarehouse("lite", file)) as warehouse,
        pytest.raises(WarehouseError, match=said),
    ):
        warehouse.table(Source(None, "odd"), ".")


def test_collations_are_told(file):
    do(file, "CREATE TABLE odd (id INT, `a\"b` TEXT COLLATE NOCASE, c TEXT COLLATE RTRIM, d TEXT,"
       " e ANY, f REAL, g INT AS (id + 1) STORED) STRICT")  # fmt: skip
    with closing(SQLiteWarehouse("lite", file)) as warehouse:
        table = warehouse.table(Source(None, "ODD"), ".")
    assert table.parts == ("main", "odd")
    assert [column.type for column in table.columns] == [
        "BIGINT", "VARCHAR COLLATE NOCASE", "VARCHAR COLLATE RTRIM", "VARCHAR", "OTHER ANY",
        "DOUBLE", "BIGINT",
    ]  # fmt: skip


def test_a_collated_column_is_grouped_by_its_letters(file):
    do(file, "CREATE TABLE towns (id INT, town TEXT COLLATE NOCASE, zip TEXT COLLATE RTRIM) STRICT",
       "INSERT INTO towns SELECT id, town, zip || CASE WHEN id % 2 THEN ' ' ELSE '' END"
       " FROM people WHERE id IS NOT NULL")  # fmt: skip
    policy = policy_for("out", "{town: {prefix: 6}, zip: keep}", source="towns", order="town")
    lines = published(file, policy)
    towns = {line[0] for line in lines}
    assert {"Berlin", "berlin", "BERLIN"} <= towns
    assert {"10115", "10115 "} <= {line[1] for line in lines}


def test_an_engines_message_is_withheld(warehouse):
    with pytest.raises(WarehouseError) as caught:
        warehouse.rows("SELECT json_extract(town || 'VERY-SECRET', '$') FROM people")
    assert "SECRET" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert "SECRET" not in str(caught.value.__context__)


@pytest.mark.parametrize("name", ["gone", "nowhere.people", "a.b.c"])
def test_what_is_not_there_is_told(warehouse, name):
    with pytest.raises(WarehouseError, match=name):
        warehouse.table(Source(None, name), ".")


@pytest.mark.parametrize("name", ["sqlite_x", "policy_engine_releases", "POLICY_ENGINE_RELEASES"])
def test_no_release_is_called_so(warehouse, name):
    with pytest.raises(WarehouseError, match="no release may be called"):
        warehouse.target(name)


def test_what_is_no_database_is_told(tmp_path):
    for place in (None, tmp_path / "gone.db"):
        with pytest.raises(WarehouseError, match="there is no database"):
            SQLiteWarehouse("lite", place)
    (tmp_path / "text.db").write_text("a,b" * 1000)
    with pytest.raises(WarehouseError, match="no file of SQLite"):
        SQLiteWarehouse("lite", tmp_path / "text.db", writable=True)
    do(tmp_path / "wide.db", "PRAGMA encoding = 'UTF-16le'", "CREATE TABLE x (a INT) STRICT")
    with pytest.raises(WarehouseError, match="must be UTF-8, found UTF-16le"):
        SQLiteWarehouse("lite", tmp_path / "wide.db")


def test_a_database_that_is_only_read_is_not_written(file):
    with closing(SQLiteWarehouse("lite", file)) as warehouse, pytest.raises(WarehouseError):
        warehouse.ask("CREATE TABLE main.x (a INT) STRICT")


def test_a_lock_is_told(file, monkeypatch):
    monkeypatch.setattr("policy_engine.warehouse.sqlite._PINNED", ("PRAGMA busy_timeout = 10",))
    with (
        closing(SQLiteWarehouse("lite", file, writable=True)),
        pytest.raises(WarehouseError, match="holds a lock"),
    ):
        SQLiteWarehouse("lite", file, writable=True)


def test_a_trigger_of_the_tables_name_is_no_table(file):
    do(file, "CREATE TRIGGER people AFTER UPDATE ON people BEGIN SELECT 1; END",
       "CREATE INDEX town_of ON people (town)")  # fmt: skip
    with closing(SQLiteWarehouse("lite", file)) as warehouse:
        assert warehouse.table(Source(None, "people"), ".").find("town").type == "VARCHAR"


@pytest.mark.parametrize("mode", ["wal", "delete"])
def test_a_table_is_what_it_was_from_the_first_look_on(file, mode):
    do(file, f"PRAGMA journal_mode = {mode}",
       "CREATE TABLE copied (id INTEGER, zip TEXT) STRICT",
       "INSERT INTO copied SELECT id, '10115' FROM people WHERE id IS NOT NULL")  # fmt: skip
    policy = policy_for("out", "{zip: keep}", source="copied", order="zip")
    with closing(SQLiteWarehouse("lite", file)) as warehouse:
        table = warehouse.table(policy.source, ".")
        _, query = compiled(policy, table, warehouse.dialect)
        try:
            do(file, "DROP TABLE copied", "CREATE TABLE copied (id TEXT, zip INTEGER)",
               "INSERT INTO copied VALUES ('x', 7)")  # fmt: skip
        except sqlite3.OperationalError:
            assert mode == "delete"  # the lock of a reader
        warehouse.hold(policy, table)
        with warehouse.sampled(policy, table, SECRET) as unchanged:
            assert {row["zip"] for row in warehouse.rows(query).to_pylist()} == {"10115"}
            unchanged()


def test_a_name_that_is_too_long_is_refused(warehouse):
    with pytest.raises(WarehouseError, match="more than 200 bytes"):
        warehouse.target("x" * 201)


PUT_BACK = """\
SELECT 'it''s \\ \u00e9' AS a,
    7 AS n,
    CAST(NULL AS TEXT) AS b
UNION ALL SELECT NULL,
    9,
    'x'"""


def test_a_table_is_put_back_of_its_texts(warehouse):
    check_put_back(warehouse, PUT_BACK)

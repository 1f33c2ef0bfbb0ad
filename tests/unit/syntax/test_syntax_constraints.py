"""What a schema's text says of keys, and what the kernel makes of it."""

import pytest

from policy_engine.errors import UsageError
from policy_engine.syntax.ddl import parse_schema
from policy_engine.syntax.schema import Constraints, Schema
from policy_engine.verify.proof import prove

ENOUGH = "group by ward having count(*) >= 20"
KEYED = "select ward, count(*) as n from visits where sha256({}) < '19' " + ENOUGH


def constraints(columns):
    return parse_schema(f"create table t ({columns})", "duckdb").constraints_of("t")


@pytest.mark.parametrize(
    ("columns", "unique", "filled", "keyed"),
    [
        ("a int, b int", "", "", False),
        ("a int not null, b int null", "", "a", False),
        ("a int primary key, b int", "a", "a", True),
        ("a int unique, b int", "a", "", True),
        ("A int unique not null, b int unique", "a b", "a", True),
        ("a int, b int, primary key (a)", "a", "a", True),
        ("a int, b int, unique (B)", "b", "", True),
        ("a int, b int, primary key (a, b)", "", "a b", True),
        ("a int, b int, unique (a, b)", "", "", True),
        ("a int, b int, constraint c unique (a)", "a", "", True),
        ("a int, b int, constraint c primary key (b), unique (a)", "a b", "b", True),
        ("a int check (a > 0), b int, check (a < b)", "", "", False),
        ("a int default 1, b text collate nocase", "", "", False),
    ],
)
def test_constraints_of_a_table(columns, unique, filled, keyed):
    wanted = Constraints(frozenset(unique.split()), frozenset(filled.split()), keyed)
    assert constraints(columns) == wanted


@pytest.mark.parametrize(
    ("column", "type_"),
    [
        ("a int generated always as identity", "INT"),
        ("a int generated always as (b % 10)", "OTHER COMPUTED"),
        ("a int as (b % 10)", "OTHER COMPUTED"),
    ],
)
def test_a_column_that_is_computed_has_no_type_of_its_own(column, type_):
    schema = parse_schema(f"create table t ({column}, b int)", "duckdb")
    assert schema.tables["t"] == {"a": type_, "b": "INT"}


def test_of_a_table_that_only_json_names_nothing_is_known():
    assert parse_schema('{"t": {"a": "INTEGER"}}', "duckdb").constraints_of("t") is None


def test_schemas_of_a_database_are_made_and_hold_nothing():
    schema = parse_schema("create schema s; create table s.t (a int)", "duckdb")
    assert schema.tables == {"s.t": {"a": "INT"}}
    with pytest.raises(UsageError, match="found DROP"):
        parse_schema("create schema s; drop table t", "duckdb")


def test_a_key_that_may_be_missing_is_hashed_with_bars():
    text = "create table visits (person bigint unique, ward text)"
    schema = parse_schema(text, "duckdb")
    concatenated = KEYED.format("concat(?, ':u:', person)")
    (finding,) = prove(concatenated, schema).findings
    assert finding.code == "V04"
    assert "person, of which many may be NULL; hash it with ||" in finding.message
    assert prove(KEYED.format("? || ':u:' || person"), schema).shape.unit == "person"
    filled = parse_schema(text.replace("unique", "unique not null"), "duckdb")
    assert prove(concatenated, filled).shape.unit == "person"
    assert "person is never NULL in visits" in prove(concatenated).assumptions


def test_counting_a_column_counts_rows_where_it_is_never_null():
    sql = "select ward, count(id) as n from t tablesample bernoulli (10%) group by ward"
    sql = f"{sql} having count(id) >= 20"
    known = parse_schema("create table t (id int primary key, ward text)", "duckdb")
    assert prove(sql, known).shape.count == "n"
    for schema in (None, parse_schema("create table t (id int unique, ward text)", "duckdb")):
        codes = {finding.code for finding in prove(sql, schema).findings}
        assert codes == {"V08", "V09"}


def test_a_name_of_a_schema_is_the_source_of_a_policy():
    schema = Schema(source="main.people")
    assert schema.is_source("db.main.people")
    assert schema.is_source("People")
    assert not schema.is_source("other.people")
    assert not Schema().is_source("people")

"""What a schema's text says of columns, keys and views."""

import pytest

from policy_engine.check.ddl import parse_schema
from policy_engine.check.schema import Constraints
from policy_engine.errors import UsageError


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


def test_a_view_is_known_by_its_name():
    schema = parse_schema("create table t (a int); create view s.v as select * from t", "duckdb")
    assert schema.views == {"s.v": " create view s.v as select * from t"}
    told = parse_schema('{"tables": {}, "views": {"v": "select 1"}}', "duckdb")
    assert told.views == {"v": "select 1"}

"""What the kernel takes the texts of engines without a server to mean, run on DuckDB.

A meaning is a text of the kernel's own language, so DuckDB can run it: it must release what DuckDB
releases for the same policy. That shows that dialect and reading say one thing; that the engine
says it too, its vendor's documentation must show.
"""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import pytest
import sqlglot
from alike import COLUMNS, POLICIES, ROWS, SECRET, _database, expected, policy_of

from policy_engine.compile.catalog import Column, Table
from policy_engine.compile.compiler import compiled
from policy_engine.dialects import dialect_named
from policy_engine.errors import PolicyError, UsageError
from policy_engine.syntax.findings import Notes
from policy_engine.syntax.readings import READINGS

ENGINES = ("snowflake", "bigquery", "redshift", "trino", "tsql")
# How many of the policies each of them takes: fewer would be a loss, more a surprise.
TAKEN = {"snowflake": 24, "bigquery": 24, "redshift": 18, "trino": 24, "tsql": 15}
TABLE = Table(tuple(Column(*each) for each in COLUMNS.items()), parts=("main", "people"))


def text_of(dialect: str, name: str) -> str | None:
    """The text of a policy; None where the dialect refuses it."""
    try:
        return compiled(policy_of(name), TABLE, dialect_named(dialect))[1]
    except (PolicyError, UsageError):
        return None


def taken(dialect: str) -> list[str]:
    return [name for name in POLICIES if text_of(dialect, name) is not None]


# Forms that are not among those whose meaning in DuckDB is written down; no engine runs them here.
ROUNDED = {"keep_exact", "round", "round_halves", "round_parts"}
CUT = {"truncate", "truncate_year", "truncate_week"}
UNREAD = {
    "snowflake": {"bins", "map_of_truth", "key_of_text", "order_of_truth"} | ROUNDED,
    "bigquery": {"bins", "map_of_truth", "keep", "key_of_text", "order_of_truth"} | ROUNDED | CUT,
    "redshift": {"map_of_truth", "keep_exact", "round", "truncate_hour"} | CUT,
    "trino": {"bins", "map_of_truth", "key_of_text", "order_of_truth"} | ROUNDED,
    "tsql": {"bins", "dates", "map_of_numbers", "constant", "truncate", "truncate_year"}
    | ROUNDED
    | {"keep_text", "prefix", "order_of_text", "row_key", "raw_first"},
}
CASES = [
    (dialect, name) for dialect in ENGINES for name in taken(dialect) if name not in UNREAD[dialect]
]


@pytest.fixture(scope="module")
def people(tmp_path_factory) -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH '{_database(len(ROWS))}' AS source (READ_ONLY)")
        connection.execute("CREATE TABLE people AS FROM source.main.people")
        connection.execute(
            "CREATE TABLE policy_engine_salts AS SELECT 'next' AS release_id, ? AS salt",
            [SECRET.hex()],
        )
        yield connection


@pytest.mark.parametrize("dialect", ENGINES)
def test_as_many_policies_are_taken_as_before(dialect):
    assert len(taken(dialect)) == TAKEN[dialect]


@pytest.mark.parametrize("dialect", ["redshift", "tsql"])
def test_no_text_tells_people_apart_where_blanks_are_not_compared(dialect):
    assert "key_of_text" not in taken(dialect)


@pytest.mark.parametrize(("dialect", "name"), CASES)
def test_the_meaning_releases_what_duckdb_releases(people, dialect, name):
    reading, text = READINGS[dialect], text_of(dialect, name)
    notes = Notes(text, strict=True)
    meaning = reading.translated(sqlglot.parse_one(text, dialect=reading.dialect), notes)
    assert not notes.findings
    sql = meaning.sql("duckdb")
    values = {"salt": SECRET.hex()} if "$salt" in sql else None
    rows = people.sql(sql, params=values).to_arrow_table().to_pylist()
    assert rows == expected(name).to_pylist()
    assert len(rows) > 1

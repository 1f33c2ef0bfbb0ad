"""What DuckDB reads where no such column is: every such name is known to the proof."""

from __future__ import annotations

import duckdb
import pytest
import sqlglot
from sqlglot import exp
from sqlglot.dialects.dialect import Dialect

from policy_engine.relations.scope import FUNCTIONS

_CONSTANTS = {"null", "true", "false", "all", "distinct"}
_OF_A_TABLE = {"people", "rowid"}


def words(con: duckdb.DuckDBPyConnection) -> list[str]:
    """The words of every grammar, and the names of DuckDB's functions."""
    rows = con.execute("select distinct function_name from duckdb_functions()").fetchall()
    found = {row[0] for row in rows} | {*_OF_A_TABLE, "filename", "oid", "user_id"}
    found |= {
        row[0] for row in con.execute("select keyword_name from duckdb_keywords()").fetchall()
    }
    for dialect in Dialect.classes.values():
        found |= set(dialect.parser_class.FUNCTIONS) | set(dialect.tokenizer_class.KEYWORDS)
    return sorted({word.lower() for word in found if word.isidentifier()} - _CONSTANTS)


def is_read(con: duckdb.DuckDBPyConnection, written: str) -> bool:
    try:
        con.execute(f"SELECT {written} FROM people")
    except duckdb.Error:
        return False
    return True


@pytest.mark.evidence
def test_no_other_name_is_read_without_a_column():
    with duckdb.connect() as con:
        con.execute("CREATE TABLE people (pe_id integer primary key, pe_zip varchar(9))")
        found = {
            written
            for word in words(con)
            for written in (word, f'"{word}"')
            if is_read(con, written)
            and isinstance(
                sqlglot.parse_one(f"SELECT {written}", "duckdb").expressions[0], exp.Column
            )
        }
    names = {written.strip('"') for written in found}
    assert names <= FUNCTIONS | _OF_A_TABLE
    assert {"user", "people", "rowid"} <= names

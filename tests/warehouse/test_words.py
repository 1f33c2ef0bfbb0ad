"""What real engines read where no such column is: every such name is known to the kernel."""

from __future__ import annotations

import sqlite3

import datafusion
import duckdb
import psycopg
import pymysql
import pytest
import sqlglot
from mariadb_server import running as running_mariadb
from sqlglot import exp
from sqlglot.dialects.dialect import Dialect

from policy_engine.syntax.words import is_function, is_hidden, stands_for_more

_CONSTANTS = {"null", "true", "false", "all", "distinct"}
_MORE = "ctid xmin xmax cmin cmax tableoid oid rowid _rowid_ _rowid _metadata filename user_id"
_TABLE = "CREATE TABLE people (pe_id integer primary key, pe_zip varchar(9))"


def words() -> list[str]:
    """The words of every grammar that is here, and the names of functions."""
    con = duckdb.connect()
    found = {row[0] for row in con.execute("select keyword_name from duckdb_keywords()").fetchall()}
    rows = con.execute("select distinct function_name from duckdb_functions()").fetchall()
    found |= {row[0] for row in rows} | set(_MORE.split())
    for dialect in Dialect.classes.values():
        found |= set(dialect.parser_class.FUNCTIONS) | set(dialect.tokenizer_class.KEYWORDS)
    return sorted({word.lower() for word in found if word.isidentifier()})


def unknown(run, dialect, parser, quotes='""'):
    """The names that the engine reads, and that the kernel takes for columns."""
    assert run("SELECT pe_id FROM people") is None
    found = []
    for word in words():
        for written in (word, quotes[0] + word + quotes[1]):
            if word in _CONSTANTS or not _is_read(run, f"SELECT {written} FROM people"):
                continue
            node = sqlglot.parse_one(f"SELECT {written}", parser).expressions[0]
            if isinstance(node, exp.Column) and not (
                is_function(node, dialect)
                or is_hidden(word, dialect)
                or word == "rowid"
                or stands_for_more(node, frozenset({"people"}), dialect)
            ):
                found.append(written)
    return found


def _is_read(run, text):
    try:
        run(text)
    except Exception:
        return False
    return True


def test_duckdb():
    con = duckdb.connect()
    con.execute(_TABLE)
    assert unknown(lambda text: con.execute(text) and None, "duckdb", "duckdb") == []


def test_sqlite():
    con = sqlite3.connect(":memory:")
    con.execute(_TABLE)
    assert unknown(lambda text: con.execute(text) and None, "sqlite", "sqlite", "``") == []


def test_datafusion():
    con = datafusion.SessionContext()
    con.sql("CREATE TABLE people AS SELECT 1 AS pe_id, 'a' AS pe_zip")
    assert unknown(lambda text: con.sql(text) and None, "datafusion", "postgres") == []


def test_postgres(postgres):
    with psycopg.connect(postgres.url, autocommit=True) as con:
        # A table of another test's would be read as a row of its own.
        con.execute("CREATE SCHEMA words")
        con.execute("SET search_path TO words")
        con.execute(_TABLE)
        assert unknown(lambda text: con.execute(text) and None, "postgres", "postgres") == []
        con.execute("DROP SCHEMA words CASCADE")


def test_mariadb():
    with running_mariadb() as server:
        server.sql(_TABLE)
        con = server.connect(database="work")

        def run(text):
            with con.cursor() as cursor:
                cursor.execute(text)

        assert unknown(run, "mariadb", "mysql", "``") == []
        with pytest.raises(pymysql.Error):
            run("SELECT nobody FROM people")
        con.close()

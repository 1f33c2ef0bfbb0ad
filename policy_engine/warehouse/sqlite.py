"""SQLite: one file, one transaction, STRICT tables only.

In other tables a column holds values of any type, and no recode could say what it does to them.
From the first look at the source to the last byte of the release is one transaction. A table has no
comment here: what a release is stands in a table of its own, written in the same transaction.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyarrow as pa

from policy_engine.compile.catalog import Field, Table
from policy_engine.compile.rendering import created
from policy_engine.dialects import dialect_named
from policy_engine.engines.types import type_of
from policy_engine.errors import WarehouseError
from policy_engine.warehouse import failures
from policy_engine.warehouse.base import Columns, Make, Row, Texts, Transactional
from policy_engine.warehouse.catalogs import Name, check_columns, missing
from policy_engine.warehouse.failures import Cause

HASH = "policy_engine_sha256"
"""The function that hashes the secret."""

RELEASES = "policy_engine_releases"
"""The table that has, for each release, what a comment would say."""
_LEAST_VERSION = (3, 37)
_PINNED = (
    "PRAGMA trusted_schema = OFF",
    "PRAGMA temp_store = MEMORY",
    "PRAGMA secure_delete = ON",
    "PRAGMA busy_timeout = 30000",
)
_TOLD = {
    **dict.fromkeys(
        (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED),
        Cause(
            "another connection holds a lock on the database; try again later",
            of_setup=True,
            code="warehouse_locked",
        ),
    ),
    sqlite3.SQLITE_READONLY: Cause(
        "the database cannot be written; see the rights of its file", of_setup=True
    ),
    sqlite3.SQLITE_CANTOPEN: Cause(
        "the database cannot be opened; see the rights of its folder", of_setup=True
    ),
    sqlite3.SQLITE_FULL: Cause("the disk is full; nothing was published", code="disk_full"),
    sqlite3.SQLITE_IOERR: Cause(
        "the database could not be read or written; see disk space and rights"
    ),
    sqlite3.SQLITE_NOMEM: failures.OUT_OF_MEMORY,
    sqlite3.SQLITE_NOTADB: Cause("the database is no file of SQLite", of_setup=True),
    sqlite3.SQLITE_CORRUPT: Cause("the database's file is damaged"),
}
_COLUMNS = "SELECT name, type, hidden, \"notnull\" FROM pragma_table_xinfo(?, 'main')"
_UNIQUE = """
    SELECT max(name) FROM pragma_table_info(?, 'main') WHERE pk > 0 HAVING count(*) = 1
    UNION SELECT max(k.name) FROM pragma_index_list(?, 'main') AS i,
        pragma_index_info(i.name, 'main') AS k
    WHERE i."unique" AND NOT i.partial GROUP BY i.name HAVING count(*) = 1 AND max(k.name) NOT NULL
"""
_DECLARED = "SELECT name, type FROM pragma_table_info(?)"
_STORED = (0, 3)  # as pragma_table_xinfo has it: a plain column, or a computed one that is stored


class SQLiteWarehouse(Transactional):
    """A database file; ``writable`` where a release goes into it."""

    dialect = dialect_named("sqlite")
    _error = sqlite3.Error
    _edition_type = "TEXT/"
    _connection: sqlite3.Connection

    def __init__(self, name: str, database: Path | None, *, writable: bool = False) -> None:
        super().__init__(name)
        self.engine_version = sqlite3.sqlite_version
        if sqlite3.sqlite_version_info < _LEAST_VERSION:
            raise WarehouseError(
                f"warehouse {name}: SQLite {self.engine_version} has no STRICT tables; 3.37 has"
            )
        if database is None or not database.is_file():
            raise WarehouseError(f"warehouse {name}: there is no database {database or 'named'}")
        mode = "rw" if writable else "ro"
        place = f"file:{quote(str(database.absolute()))}?mode={mode}"
        with self._withheld():
            self._connection = sqlite3.connect(place, uri=True, isolation_level=None)
        try:
            self._pin(writable=writable)
        except BaseException:
            self._connection.close()
            raise

    def _pin(self, *, writable: bool) -> None:
        self._connection.text_factory = _text
        # A function of bytes: a text that is no UTF-8 would fail on its way to Python.
        self._connection.create_function(HASH, 1, _sha256, deterministic=True)
        for statement in (*_PINNED, "BEGIN IMMEDIATE" if writable else "BEGIN"):
            self.ask(statement)
        [(encoding,)] = self.ask("PRAGMA encoding")
        if encoding != "UTF-8":
            raise WarehouseError(
                f"warehouse {self._name}: the database's encoding must be UTF-8, found {encoding}"
            )

    def close(self) -> None:
        """End the connection; what was not published is rolled back."""
        self._undone(())
        self._connection.close()

    def _withheld(self) -> AbstractContextManager[None]:
        return failures.withheld(engine=(sqlite3.Error,), told=_told)

    def ask(self, sql: str, values: tuple[Any, ...] = ()) -> list[Row]:
        """The rows of a query of ours."""
        with self._withheld():
            return self._run(sql, values).fetchall()

    def _run(self, sql: str, values: tuple[Any, ...] = ()) -> sqlite3.Cursor:
        return self._connection.execute(sql, values or self._parameters)

    def _full_name(self, relation: str) -> Name:
        head, _, name = relation.rpartition(".")
        if head.lower() not in {"", "main"} or "`" in relation:
            raise WarehouseError(
                f"the relation {relation} is not in the warehouse {self._name}; write the name of a"
                " table of the file"
            )
        return ("main", name)

    def _by_itself(self, parts: Name) -> Table:
        """A STRICT table, with the collations of its columns."""
        name = ".".join(parts)
        found = self.ask(
            "SELECT name, type, strict FROM pragma_table_list WHERE schema = 'main'"
            " AND name = ? COLLATE NOCASE",
            (parts[1],),
        )
        if not found:
            names = self.ask("SELECT schema, name FROM pragma_table_list WHERE schema = 'main'")
            raise missing(parts, names)
        table, kind, is_strict = found[0]
        if kind != "table":
            raise WarehouseError(f"{name} is a {kind}; copy it into a STRICT table")
        if not is_strict:
            raise WarehouseError(
                f"{name} is not STRICT, so that a column may hold values of any type; copy it into"
                " a STRICT table"
            )
        collations = self._collations(table)
        rows = self.ask(_COLUMNS, (table,))
        computed = (column for column, _, hidden, _ in rows if hidden not in _STORED)
        check_columns(name, (), computed)
        columns = (_column(c, kind, collations[c]) for c, kind, *_ in rows)
        filled = frozenset(column for column, _, _, is_filled in rows if is_filled)
        unique = frozenset(column for (column,) in self.ask(_UNIQUE, (table, table)))
        return Table(tuple(columns), parts=("main", table), unique=unique, filled=filled)

    def _collations(self, table: str) -> dict[str, str]:
        """By an index of each column on an empty copy: only an index tells a collation."""
        columns = [name for (name,) in self.ask("SELECT name FROM pragma_table_xinfo(?)", (table,))]
        found = {}
        with self._copied([table]) as copy:
            for name in columns:
                on = f"{self.quoted(table)} ({self.quoted(name)})"
                copy.execute(f"CREATE INDEX `policy_engine_i` ON {on}")
                rows = copy.execute("SELECT coll FROM pragma_index_xinfo('policy_engine_i')")
                found[name] = str(rows.fetchall()[0][0])
                copy.execute("DROP INDEX `policy_engine_i`")
        return found

    @contextmanager
    def _copied(self, tables: Iterable[str]) -> Iterator[sqlite3.Connection]:
        """A database in memory in which tables are declared as here, and have no rows."""
        with closing(sqlite3.connect(":memory:")) as copy:
            for table in tables:
                sql = "SELECT sql FROM sqlite_schema WHERE name = ? AND type = 'table'"
                [(made,)] = self.ask(sql, (table,))
                try:
                    copy.execute(made)
                except sqlite3.Error:
                    raise WarehouseError(
                        f"main.{table} is declared with functions or collations that are not"
                        " SQLite's own; copy it into a plain STRICT table"
                    ) from None
            yield copy

    def _check_place(self, target: Name) -> None:
        if target[1].lower().startswith("sqlite_") or target[1].lower() == RELEASES:
            raise WarehouseError(f"no release may be called {target[1]}; name another")

    def _comment(self, target: Name) -> str | None:
        """What the table of releases says of a table."""
        there = "SELECT count(*) FROM sqlite_schema WHERE name = ? COLLATE NOCASE"
        if self.ask(there, (target[1],)) == [(0,)]:
            return None
        if self.ask(there, (RELEASES,)) == [(0,)]:
            return ""
        sql = f"SELECT facts FROM main.{RELEASES} WHERE name = ? COLLATE NOCASE"
        return next((str(facts) for (facts,) in self.ask(sql, (target[1],))), "")

    def _plan(self, query: str) -> None:
        self._run(f"EXPLAIN {query}")

    def _typed(self, query: str) -> str:
        """By copies without rows of what it reads: what its rows are can decide nothing."""
        with self._copied(name for _, name in self._certified) as copy, self._withheld():
            copy.create_function(HASH, 1, _sha256, deterministic=True)
            copy.execute(created(query, "policy_engine_typed"), self._parameters)
            columns = copy.execute(_DECLARED, ("policy_engine_typed",)).fetchall()
        nulls = (
            f"CAST(NULL AS {kind}) AS {self.quoted(name)}"
            if kind
            else f"NULL AS {self.quoted(name)}"
            for name, kind in columns
        )
        return f"SELECT {', '.join(nulls)} LIMIT 0"

    def _fetched(self, sql: str) -> pa.Table:
        cursor = self._run(sql)
        names = [column[0] for column in cursor.description]
        rows = cursor.fetchall()
        columns = list(zip(*rows, strict=True)) or [()] * len(names)
        kinds = self._kinds(sql, columns)
        arrays = [pa.array(c, kind) for c, kind in zip(columns, kinds, strict=True)]
        return pa.table(arrays, names=names)

    def _kinds(self, sql: str, columns: list[tuple[Any, ...]]) -> list[pa.DataType]:
        """By the first value, else by the type of the column that is released."""
        values = [next((v for v in column if v is not None), None) for column in columns]
        if None in values:
            self.ask(f"CREATE TEMP TABLE policy_engine_kinds AS SELECT * FROM (\n{sql}\n) LIMIT 0")
            declared = self.ask("SELECT type FROM pragma_table_xinfo('policy_engine_kinds')")
            self.ask("DROP TABLE temp.policy_engine_kinds")
            values = [
                0 if value is None and kind == "INT" else value
                for value, (kind,) in zip(values, declared, strict=True)
            ]
        return [pa.int64() if isinstance(value, int) else pa.string() for value in values]

    def _made(self, make: Make, place: Name, comment: str, *, replace: bool) -> None:
        if replace:
            self.ask(f"DROP TABLE IF EXISTS {self.quoted(*place)}")
        make(place)
        self.ask(
            f"CREATE TABLE IF NOT EXISTS main.{RELEASES}"
            " (name TEXT PRIMARY KEY COLLATE NOCASE, facts TEXT NOT NULL) STRICT"
        )
        self.ask(f"INSERT OR REPLACE INTO main.{RELEASES} VALUES (?, ?)", (place[1], comment))

    def _do(self, sql: str) -> None:
        self.ask(sql)

    def _gone(self, place: Name) -> None:
        super()._gone(place)
        self.ask(f"DELETE FROM main.{RELEASES} WHERE name = ?", (place[1],))

    def _create(self, query: str, place: Name) -> None:
        self.ask(created(query, self.quoted(*place)))

    def _types(self, place: Name) -> Columns:
        """The declared types; of a column without one, what its values are."""
        rows = self.ask(_DECLARED, (place[1],))
        table = self.quoted(*place)
        found = []
        for name, kind in rows:
            stored = self.ask(f"SELECT max(typeof({self.quoted(name)})) FROM {table}")
            found.append((str(name), f"{kind}/{stored[0][0] if not kind else ''}"))
        return tuple(found)

    def _fill(self, columns: Columns, rows: Iterator[Texts], place: Name) -> None:
        kinds = [kind.partition("/") for _, kind in columns]
        declared = ", ".join(
            f"{self.quoted(name)} {kind}"
            for (name, _), (kind, _, _) in zip(columns, kinds, strict=True)
        )
        self.ask(f"CREATE TABLE {self.quoted(*place)} ({declared})")
        # A declared column makes a text its type; one without keeps what it is given.
        values = ", ".join("CAST(? AS INTEGER)" if k[2] == "integer" else "?" for k in kinds)
        sql = f"INSERT INTO {self.quoted(*place)} VALUES ({values})"
        with self._withheld():
            self._connection.executemany(sql, rows)

    def release_lines(self, target: Name, edition: str = "") -> Iterator[Row]:
        """The rows of a published table, in their order; of a table of several editions one's."""
        found = self.ask("SELECT name FROM pragma_table_info(?)", (target[1],))
        names = [self.quoted(name) for (name,) in found[1 if edition else 0 :]]
        order = ", ".join(f"{place} COLLATE BINARY" for place in range(1, len(names) + 1))
        where = self._of_edition(edition)
        shown = f"SELECT {', '.join(names)} FROM {self.quoted(*target)} {where}"
        with self._withheld():
            yield from self._run(f"{shown} ORDER BY {order}")


def _text(value: bytes) -> str:
    r"""A text, with what is no UTF-8 in it as \xff: to fail would tell of a row what it holds."""
    return value.decode(errors="backslashreplace")


def _sha256(value: object) -> str | None:
    """The digest of bytes as hexadecimal digits; NULL of anything else, for nothing may fail."""
    return hashlib.sha256(value).hexdigest() if isinstance(value, bytes) else None


def _column(name: str, kind: str, collation: str) -> Field:
    meaning = type_of("sqlite", kind)
    collated = meaning == "VARCHAR" and collation.upper() != "BINARY"
    return Field(name, f"{meaning} COLLATE {collation}" if collated else meaning)


def _told(error: Exception) -> Cause | None:
    return _TOLD.get((getattr(error, "sqlite_errorcode", None) or 0) & 0xFF)

"""Small databases to run a text on: one table, and its twins with one unit more."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import duckdb
from fuzz_rows import PEOPLE, VISITS, Tables, Unit, tables

SCHEMA_FILE = Path(__file__).parents[1] / "verify" / "schema.sql"
COLUMNS = {
    table: ", ".join('"' + name.replace('"', '""') + '"' for name in names)
    for table, names in (("people", PEOPLE), ("visits", VISITS))
}
RELEASES = ("adult_v1", "x")

# What an engine says before it looks at a row.
UNBOUND = (
    duckdb.BinderException,
    duckdb.CatalogException,
    duckdb.ParserException,
    duckdb.NotImplementedException,
    duckdb.PermissionException,
)


class Failed(Exception):
    """A text that failed on the rows of a database: ``bound`` says whether it was understood."""

    def __init__(self, error: duckdb.Error) -> None:
        super().__init__(f"{type(error).__name__}: {str(error)[:200]}")
        self.bound = not isinstance(error, UNBOUND)


class Database:
    """One DuckDB with the corpus's relations and the given units, in the given order."""

    def __init__(self, units: Sequence[Unit], *, benign: bool) -> None:
        self.con = duckdb.connect(config={"threads": 1})
        self._directory: tempfile.TemporaryDirectory[str] | None = None
        text = SCHEMA_FILE.read_text()
        if benign:
            text = text.replace(" COLLATE nocase", "")
        for statement in text.split(";"):
            if "looping" not in statement and statement.strip():
                self.con.execute(statement)
        self.con.execute("create schema privacy_secrets")
        self.con.execute("create table privacy_secrets.salts (release_id text, salt text)")
        self._insert(units)

    def _insert(self, units: Sequence[Unit]) -> None:
        for table, columns in COLUMNS.items():
            rows = [row for unit in units if unit.table == table for row in unit.rows]
            if rows:
                values = ", ".join(f"({', '.join(row)})" for row in rows)
                self.con.execute(f"insert into {table} ({columns}) values {values}")

    def run(
        self, text: str, secret: str, drawn: Sequence[str] = (), beside: Sequence[Unit] = ()
    ) -> list[tuple[object, ...]]:
        """The rows of ``text`` under ``secret``, after the statements ``drawn``; nothing stays.

        The units ``beside`` are there for this one run.

        Raises:
            Failed: the engine refused the text, or a row made it fail.
        """
        if "parquet" in text.lower():
            self._write_files()
        with self._undone():
            values = ", ".join(f"('{name}', '{secret}')" for name in RELEASES)
            self.con.execute(f"insert into privacy_secrets.salts values {values}")
            self._insert(beside)
            try:
                for statement in drawn:
                    self.con.execute(statement)
                (statement,) = self.con.extract_statements(text)
                known = dict.fromkeys(statement.named_parameters, secret)
                result = self.con.execute(statement, known or None)
                if statement.type == duckdb.StatementType.CREATE:
                    result = self.con.execute(f"from {_target(text)}")
                return result.fetchall()
            except duckdb.Error as error:
                raise Failed(error) from None

    @contextmanager
    def _undone(self) -> Iterator[None]:
        self.con.execute("begin")
        try:
            yield
        finally:
            self.con.execute("rollback")

    def _write_files(self) -> None:
        if self._directory is None:
            self._directory = tempfile.TemporaryDirectory()
            name = self._directory.name
            self.con.execute(f"set file_search_path = '{name}'")
            for table in ("people", "visits"):
                self.con.execute(f"copy {table} to '{name}/{table}.parquet'")


def _target(text: str) -> str:
    import sqlglot
    from sqlglot import exp

    statement = sqlglot.parse(text, read="duckdb")[0]
    assert statement is not None
    table = statement.find(exp.Table)
    assert table is not None
    return ".".join('"' + part.name.replace('"', '""') + '"' for part in table.parts)


class World:
    """A table's database, its twins with one unit more, none at all, and another order."""

    def __init__(self, seed: int, *, benign: bool) -> None:
        self.benign = benign
        self.alone = seed % 4 >= 2
        self._tables: Tables = tables(seed, nasty=not benign)
        self._twins: dict[Unit, Database] = {}
        self.base = Database(self._tables.units, benign=benign)
        self.empty = Database((), benign=benign)
        others = list(self._tables.units)
        random.Random(seed).shuffle(others)
        self.shuffled = Database(others, benign=benign)

    def more(self, table: str) -> list[Unit]:
        """The units of ``table`` that a twin has more."""
        return [unit for unit in self._tables.more if unit.table == table]

    def units(self, table: str) -> list[Unit]:
        """The units of ``table`` that are there already."""
        return [unit for unit in self._tables.units if unit.table == table]

    def keys(self, table: str) -> set[str]:
        """The keys of the units that are there already."""
        return {unit.key for unit in self.units(table)}

    def twin(self, unit: Unit) -> Database:
        """The database with ``unit`` behind all others."""
        if unit not in self._twins:
            self._twins[unit] = Database((*self._tables.units, unit), benign=self.benign)
        return self._twins[unit]


@cache
def world(seed: int, *, benign: bool) -> World:
    """World ``seed``; a benign one holds nothing that an open text assumes away."""
    return World(seed, benign=benign)

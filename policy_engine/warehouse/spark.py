"""Spark: one pinned session, without transactions.

The source is fingerprinted before and after it is read. A release is made aside, with its comment
and properties, and renamed at the end; what it replaces is renamed first, and comes back where that
fails. The secret is the one row of a temporary view: plans and event logs show its columns only
(measured on 4.3.0).
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

import pyarrow as pa
from py4j.protocol import (  # type: ignore[import-untyped]  # it has no types
    Py4JError,
    Py4JNetworkError,
)
from pyspark.errors import PySparkException

from policy_engine.compile.catalog import INSTEAD_OF_A_VIEW, NO_VIEW, Column, Table
from policy_engine.compile.rendering import created
from policy_engine.dialects import Engine, spark_of
from policy_engine.engines.types import type_of
from policy_engine.errors import WarehouseError
from policy_engine.warehouse import failures, quoting
from policy_engine.warehouse.arrow import portable
from policy_engine.warehouse.server import Row, ServerWarehouse
from policy_engine.warehouse.spark_session import opened, quiet

RELATION, RELEASE = "policy_engine_salts", "next"
"""The secrets relation, and the row of the release that is made next."""

_SEEDS = "policy_engine_seeds"
"""The relation of the seeds of a fingerprint."""
_STORED = ("parquet", "orc", "delta", "iceberg")
"""Formats whose values are read as they are; a text file's are parsed, which can fail on a row."""
_CHARACTERS = "__CHAR_VARCHAR_TYPE_STRING"
_COLLATE = " collate "
_DETAILS = "# Detailed Table Information"
_ENGINE = (PySparkException, Py4JError)
_FAILURES = partial(
    failures.withheld,
    engine=_ENGINE,
    machine=((Py4JNetworkError, "the connection to Spark was lost"),),
)


quoted = partial(quoting.quoted, sign="`")


def _text(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


class SparkWarehouse(ServerWarehouse):
    """The catalog of a Spark session, by the URL of its master or server."""

    dialect: Engine

    def __init__(self, name: str, url: str) -> None:
        super().__init__(name)
        self._session = opened(name, url)
        self._spark = self._session.spark
        self._aside: dict[tuple[str, ...], tuple[str, ...]] = {}
        self.engine_version = self._session.version
        self.dialect = spark_of(self.engine_version)

    def close(self) -> None:
        """End the session, and the driver where this program has started it."""
        with quiet(), suppress(*_ENGINE, OSError):
            self._session.end()

    @contextmanager
    def _withheld(self, known: WarehouseError | None = None) -> Iterator[None]:
        """Errors without data in them, nor in their logs; an interrupt cancels what runs."""
        with _FAILURES(known), quiet():
            try:
                yield
            except KeyboardInterrupt:
                with suppress(*_ENGINE, OSError):
                    self._session.cancel()
                raise
            except _ENGINE as error:
                # They keep their messages beside their arguments.
                error.__dict__.clear()
                raise

    def _do(self, sql: str) -> Any:
        return self._spark.sql(sql)

    def ask(self, sql: str, values: tuple[Any, ...] = ()) -> list[Row]:
        """The rows of a query of ours; a parameter would be a literal of its plan."""
        assert not values
        with self._withheld():
            return [tuple(row) for row in self._do(sql).collect()]

    def full_name(self, relation: str) -> tuple[str, ...]:
        """catalog.schema.name; what is missing is the session's own."""
        parts = relation.split(".")
        if len(parts) > 3 or not all(parts):
            raise WarehouseError(
                f"the relation {relation} is not in the warehouse {self._name}; write"
                " catalog.schema.table"
            )
        own = [str(part) for part in self.ask("SELECT current_catalog(), current_schema()")[0]]
        parts = [*own[: 3 - len(parts)], *parts]
        # The session's catalog has lower-case names only.
        return tuple(part.lower() if parts[0] == "spark_catalog" else part for part in parts)

    def described(self, parts: tuple[str, ...]) -> Table:
        """A table of a format that stores values, with the types of its columns."""
        name = ".".join(parts)
        if not self._is_there(parts):
            raise WarehouseError(
                f"the warehouse {self._name} has no table {name}; a catalog in memory starts empty:"
                " spark-defaults.conf names a lasting one"
            )
        details = self._details(parts)
        if "VIEW" in details.get("Type", "VIEW"):
            # Its text is read under settings of its own.
            raise WarehouseError(f"{name} {NO_VIEW}; {INSTEAD_OF_A_VIEW}")
        stored = details.get("Provider", "").lower(), details.get("Serde Library", "").lower()
        if stored[0] not in _STORED and not any(each in stored[1] for each in _STORED):
            raise WarehouseError(
                f"{name} must be stored as {', '.join(_STORED)}, found {stored[0] or 'nothing'}:"
                " reading it could fail on one row; make such a table of it"
            )
        with self._withheld():
            self._do(f"REFRESH TABLE {quoted(*parts)}")
            fields = self._spark.table(quoted(*parts)).schema.fields
        return Table(tuple(_column(field) for field in fields), parts=parts)

    def facts(self, table: Table) -> object:
        """Where and since when a table is stored."""
        details = self._details(table.parts)
        return [details.get(key) for key in ("Created Time", "Location", "Provider", "Type")]

    def _is_there(self, parts: tuple[str, ...]) -> bool:
        with self._withheld():
            return bool(self._spark.catalog.tableExists(quoted(*parts)))

    def _details(self, parts: tuple[str, ...]) -> dict[str, str]:
        """What the catalog says of a table, by its own words."""
        rows = self.ask(f"DESCRIBE TABLE EXTENDED {quoted(*parts)}")
        place = max(i for i, row in enumerate(rows) if row[0] == _DETAILS)
        return {str(row[0]): str(row[1]) for row in rows[place + 1 :]}

    @contextmanager
    def bound(self, salt: str) -> Iterator[None]:
        """The secret as the one row of a temporary view of this session."""
        with self._relation(RELATION, {RELEASE: salt}):
            yield

    @contextmanager
    def _relation(self, name: str, salts: dict[str, str]) -> Iterator[None]:
        with self._withheld():
            self._view_of(salts, name)
        try:
            yield
        finally:
            with suppress(WarehouseError), self._withheld():
                self._spark.catalog.dropTempView(name)

    def _view_of(self, salts: dict[str, str], name: str) -> None:
        if self._session.is_remote:
            rows = self._spark.createDataFrame(
                list(salts.items()), "release_id string, salt string"
            )
            rows.createOrReplaceTempView(name)
            return
        # PySpark's own way would write the rows to a file first.
        gateway = self._spark.sparkContext._gateway
        java, types = gateway.jvm, gateway.jvm.org.apache.spark.sql.types
        rows = java.java.util.ArrayList()
        for pair in salts.items():
            values = gateway.new_array(java.java.lang.Object, 2)
            values[0], values[1] = pair
            rows.add(java.org.apache.spark.sql.RowFactory.create(values))
        kind = types.StructType().add("release_id", "string").add("salt", "string")
        self._spark._jsparkSession.createDataFrame(rows, kind).createOrReplaceTempView(name)

    def numbers(self, count: int) -> str:
        """``range``."""
        return f"(SELECT id AS n FROM range({count})) AS known"

    def state(self, parts: tuple[str, ...], columns: tuple[str, ...], seed: bytes) -> bytes:
        """Two seeded sums of a hash of each row, which skips NULL unless told of it."""
        values = "".join(f", {quoted(c)} IS NULL, {quoted(c)}" for c in columns)
        sums = ", ".join(
            f"sum(CAST(xxhash64((SELECT salt FROM {_SEEDS} WHERE release_id = '{half}'){values})"
            " AS DECIMAL(38, 0)))"
            for half in ("one", "two")
        )
        seeds = {"one": seed[:16].hex(), "two": seed[16:].hex()}
        with self._relation(_SEEDS, seeds), self._withheld():
            self._do(f"REFRESH TABLE {quoted(*parts)}")
            return repr(self.ask(f"SELECT count(*), {sums} FROM {quoted(*parts)}")).encode()

    def target(self, relation: str) -> tuple[str, ...]:
        """The full name of a table to write."""
        parts = self.full_name(relation)
        self.check_length((*parts[:-1], _aside(parts)[-1]))
        with self._withheld():
            there = self._spark.catalog.databaseExists(quoted(*parts[:2]))
        if not there:
            raise WarehouseError(
                f"the warehouse {self._name} has no schema {'.'.join(parts[:2])}; make it, or name"
                " another in release.relation"
            )
        return parts

    def exists(self, target: tuple[str, ...]) -> bool:
        """Whether a relation of that name is there; one that a crash left renamed comes back."""
        if not self._is_there(target) and self._is_there(_old(target)):
            self._rename(_old(target), target)
        return self._is_there(target)

    def comment(self, target: tuple[str, ...]) -> str:
        """The comment of a table; empty where it has none, or where the name is no table's."""
        if not self._is_there(target):
            return ""
        details = self._details(target)
        return "" if "VIEW" in details.get("Type", "VIEW") else details.get("Comment", "")

    def rows(self, sql: str) -> pa.Table:
        """Run a certified text that selects, and fetch what it releases."""
        with self._withheld():
            return portable(self._do(sql).toArrow())

    def publish(
        self,
        query: str,
        target: tuple[str, ...],
        comment: str,
        attest: Callable[[], None],
        *,
        replace: bool,
    ) -> None:
        """Make ``target`` aside, comment it and call ``attest``; then it takes its name."""
        aside = _aside(target)
        known = WarehouseError(
            f"the warehouse {self._name} could not write {'.'.join(target)}; nothing was published:"
            " see the rights and the space of its schema. The engine's message is withheld because"
            " it may quote data"
        )
        self._aside[target] = aside
        try:
            with self._withheld(known):
                self._do(created(query, quoted(*aside))).collect()
                self._do(f"COMMENT ON TABLE {quoted(*aside)} IS {_text(comment)}").collect()
                facts = "('policy_engine.release' = 'true')"
                self._do(f"ALTER TABLE {quoted(*aside)} SET TBLPROPERTIES {facts}").collect()
            attest()
            self._swap(aside, target, replace=replace)
        finally:
            del self._aside[target]
            with suppress(WarehouseError), self._withheld():
                self._do(f"DROP TABLE IF EXISTS {quoted(*aside)}").collect()

    def _swap(self, aside: tuple[str, ...], target: tuple[str, ...], *, replace: bool) -> None:
        """Give ``aside`` the name of ``target``: two renames of the catalog where one stands."""
        old = _old(target)
        if not replace or not self._is_there(target):
            self._rename(aside, target)
            return
        with self._withheld():
            self._do(f"DROP TABLE IF EXISTS {quoted(*old)}").collect()
        self._rename(target, old)
        try:
            self._rename(aside, target)
        except BaseException:
            self._rename(old, target)
            raise
        with suppress(WarehouseError), self._withheld():
            self._do(f"DROP TABLE IF EXISTS {quoted(*old)}").collect()

    def _rename(self, before: tuple[str, ...], after: tuple[str, ...]) -> None:
        known = WarehouseError(
            f"{'.'.join(after)} has come to be meanwhile, or the catalog does not let tables be"
            " renamed; nothing was published"
        )
        with self._withheld(known):
            # Not its full name: the session's catalog takes no third part here.
            self._do(f"ALTER TABLE {quoted(*before)} RENAME TO {quoted(after[-1])}").collect()

    def release_lines(self, target: tuple[str, ...]) -> Iterator[Row]:
        """The rows of a published table, in their order, each value as the engine writes it."""
        name = quoted(*self._aside.get(target, target))
        with self._withheld():
            names = self._spark.table(name).columns
            shown = ", ".join(
                f"CAST({quoted(each)} AS STRING) AS c{i}" for i, each in enumerate(names)
            )
            order = ", ".join(f"c{i} NULLS LAST" for i in range(len(names)))
            found = self._do(f"SELECT * FROM (SELECT {shown} FROM {name}) ORDER BY {order}")
            for row in found.toLocalIterator():
                yield tuple(row)


def _aside(target: tuple[str, ...]) -> tuple[str, ...]:
    """Where a release is made."""
    return (*target[:-1], f"{target[-1]}_policy_engine_{secrets.token_hex(4)}")


def _old(target: tuple[str, ...]) -> tuple[str, ...]:
    """Where the table that is replaced stands meanwhile."""
    return (*target[:-1], f"{target[-1]}_policy_engine_old")


def _column(field: Any) -> Column:
    native = field.metadata.get(_CHARACTERS) or field.dataType.simpleString()
    bare, _, collation = native.partition(_COLLATE)
    kind = type_of("spark", bare)
    if not collation or kind != "VARCHAR":
        return Column(field.name, type_of("spark", native) if collation else kind)
    return Column(field.name, f"{kind} COLLATE {collation}")

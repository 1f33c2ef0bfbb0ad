"""ClickHouse, embedded or a server: every query carries the settings that it means what it says by.

There are no transactions: a table is made aside, commented, attested, and then takes its name in
one atomic step (``RENAME``, or ``EXCHANGE`` for one that is replaced). That the source stands still
is checked by a keyed hash of it before and after.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from secrets import token_hex
from typing import Any

import pyarrow as pa

from policy_engine.compile.catalog import Column, Table
from policy_engine.compile.rendering import created
from policy_engine.dialects import dialect_named
from policy_engine.engines.types import type_of
from policy_engine.errors import WarehouseError
from policy_engine.warehouse import failures
from policy_engine.warehouse.arrow import portable
from policy_engine.warehouse.base import Row, Warehouse
from policy_engine.warehouse.catalogs import Name, check_columns
from policy_engine.warehouse.clickhouse_wire import TOLD, Embedded, EngineError, Http

# MaterializedView, Distributed, Merge, dictionaries and files are others' to change.
_TABLES = re.compile(r"\w*MergeTree|Memory|Log|TinyLog|StripeLog")
_WRAPPED = re.compile(r"(?:LowCardinality|Nullable)\((.*)\)")
_TIME = re.compile(r"DateTime(?:64\(([0-9]), '.*'\)|\('.*'\)|64\(([0-9])\))?")
_WIDE_DAYS = "SELECT toString(toDate32('0001-01-01')) || toString(toDate32('9999-12-31'))"
_OF_A_TABLE = "WHERE database = {d:String} AND table = {t:String}"
_RELATION = f"SELECT engine, as_select, comment, toString(uuid) FROM system.tables {_OF_A_TABLE}"
_OTHERS = (
    "SELECT database, name FROM system.tables WHERE database = {d:String} AND name <> {t:String}"
)
_COLUMNS = f"SELECT name, type, default_kind FROM system.columns {_OF_A_TABLE} ORDER BY position"
_POLICIES = (
    "SELECT count() FROM system.row_policies WHERE (database = {d:String} OR database = '')"
    " AND (table = {t:String} OR table = '')"
)


class ClickHouseWarehouse(Warehouse):
    """A folder that the embedded engine opens, or a server by its URL."""

    dialect = dialect_named("clickhouse")
    _full, _text, _nulls = "database.table", "toString({})", " NULLS LAST"

    def __init__(self, name: str, database: Path | None = None, url: str = "") -> None:
        super().__init__(name)
        self._is_server = bool(url)
        self._engine: Embedded | Http = Http(name, url) if url else Embedded(name, database)
        try:
            self._check()
        except BaseException:
            self.close()
            raise

    def _check(self) -> None:
        try:
            [(self.engine_version, self._database)] = self.ask(
                "SELECT version(), currentDatabase()"
            )
            [(days,)] = self.ask(_WIDE_DAYS)
        except WarehouseError:
            raise WarehouseError(
                f"warehouse {self._name}: ClickHouse does not answer at its place, or refuses the"
                " user"
            ) from None
        if days != "0001-01-019999-12-31":
            raise WarehouseError(
                f"warehouse {self._name}: ClickHouse {self.engine_version} moves days outside 1900"
                " to 2299 into these years; use 26.9 or later"
            )

    def close(self) -> None:
        """End the connection."""
        self._engine.close()

    def _withheld(self) -> AbstractContextManager[None]:
        return failures.withheld(
            engine=(EngineError,), told=lambda error: TOLD.get(getattr(error, "code", 0))
        )

    def _query(self, sql: str, values: Mapping[str, str] | None = None) -> pa.Table:
        """The rows of a query, with the secret where one is bound."""
        with self._withheld():
            return self._engine.query(sql, {**self._parameters, **(values or {})})

    def ask(self, sql: str, values: tuple[Any, ...] = ()) -> list[Row]:
        """The rows of a query of ours; ``values`` are those of the parameters ``d`` and ``t``."""
        found = self._query(sql, dict(zip("dt", values, strict=False)))
        return [tuple(row.values()) for row in found.to_pylist()]

    def quoted(self, *parts: str) -> str:
        """A qualified identifier; a backslash escapes in one."""
        return super().quoted(*(part.replace("\\", "\\\\") for part in parts))

    def _full_name(self, relation: str) -> Name:
        return self._in_full(relation, self._database)

    def _beside(self, parts: Name) -> list[Name]:
        return self.ask(_OTHERS, parts)

    def _by_itself(self, parts: Name) -> Table:
        """A table of rows that the engine keeps, or a view."""
        name, found = ".".join(parts), self.ask(_RELATION, parts)
        if not found:
            raise WarehouseError(f"the warehouse has no table or view {name}")
        engine, view, *_ = found[0]
        if engine != "View" and not _TABLES.fullmatch(engine):
            raise WarehouseError(
                f"{name} has the engine {engine}, whose rows are not its own; copy them into a"
                " MergeTree table"
            )
        if self._is_server:
            self._check_seen(parts)
        columns = self.ask(_COLUMNS, parts)
        computed = (column for column, _, default in columns if default == "ALIAS")
        check_columns(name, (column for column, *_ in columns), computed)
        described = tuple(Column(column, canonical(kind)) for column, kind, _ in columns)
        return Table(described, parts=parts, view=view if engine == "View" else None)

    def _facts(self, table: Table) -> object:
        """What is read by the numbers that a relation has for its life."""
        found = [self.ask(_RELATION, each.parts) for each in (table, *table.related)]
        return [[(engine, uuid) for engine, _, _, uuid in rows] for rows in found]

    def _check_seen(self, parts: Name) -> None:
        """Refuse where a row policy could hide rows from this user, or from another run."""
        name = ".".join(parts)
        try:
            [(policies,)] = self.ask(_POLICIES, parts)
        except WarehouseError:
            raise WarehouseError(
                f"{name}: whether a row policy hides rows cannot be seen; the user needs GRANT SHOW"
                " ROW POLICIES"
            ) from None
        if policies:
            raise WarehouseError(
                f"{name} has row policies, and the user may not see every row; release from a copy"
                " without them"
            )

    def _state(self, table: Table, columns: tuple[str, ...], seed: bytes) -> bytes:
        """The count, the sum and the exclusive or of a keyed hash of each row."""
        row = f"tuple({', '.join(map(self.quoted, columns))})"
        hashed = f"sipHash64Keyed(({{d:UInt64}}, {{t:UInt64}}), {row})"
        key = tuple(str(int.from_bytes(half, "big")) for half in (seed[:8], seed[8:16]))
        sql = (
            f"SELECT count(), sum({hashed}), groupBitXor({hashed}) FROM {self.quoted(*table.parts)}"
        )
        return repr(self.ask(sql, key)).encode()

    def _check_place(self, target: Name) -> None:
        """Refuse a database that does not rename in one step."""
        database = target[0]
        found = self.ask("SELECT engine FROM system.databases WHERE name = {d:String}", target[:1])
        if not found:
            raise WarehouseError(
                f"the warehouse has no database {database}; make it, or name another in"
                " release.relation"
            )
        if found[0][0] not in {"Atomic", "Replicated", "Shared", "Overlay"}:
            raise WarehouseError(
                f"the database {database} has the engine {found[0][0]}, which replaces no table in"
                " one step; name one with the engine Atomic in release.relation"
            )

    def _comment(self, target: Name) -> str | None:
        for engine, _, comment, _ in self.ask(_RELATION, target):
            return "" if engine == "View" else str(comment)
        return None

    def _fetched(self, sql: str) -> pa.Table:
        # The header's lines end before the query; DESCRIBE wants the query alone.
        kinds = self._query(f"DESCRIBE TABLE (\n{sql}\n)").column("type").to_pylist()
        found = self._query(sql)
        arrays = [_plain(a, k) for a, k in zip(found.columns, kinds, strict=True)]
        rows = portable(pa.table(arrays, names=found.column_names))
        rows.validate(full=True)
        return rows

    def _place(self, target: Name) -> Name:
        return (target[0], f"policy_engine_{token_hex(8)}")

    def _made(self, query: str, place: Name, comment: str, *, replace: bool) -> None:
        text = comment.replace("\\", "\\\\").replace("'", "\\'")
        self._query(created(query, self.quoted(*place)))
        self._query(f"ALTER TABLE {self.quoted(*place)} MODIFY COMMENT '{text}'")

    def _stands(self, place: Name, target: Name, *, replace: bool) -> None:
        names = (self.quoted(*place), self.quoted(*target))
        if replace and self.exists(target):
            self._query("EXCHANGE TABLES {} AND {}".format(*names))
            self._undone(place)  # what was before
        else:
            self._query("RENAME TABLE {} TO {}".format(*names))

    def _undone(self, place: Name) -> None:
        with suppress(WarehouseError):
            self._query(f"DROP TABLE IF EXISTS {self.quoted(*place)} SYNC")

    def _columns_of(self, target: Name) -> list[str]:
        return [row[0] for row in self.ask(_COLUMNS, target)]

    def _streamed(self, sql: str) -> Iterator[Row]:
        # By columns: two of them can have one name here.
        yield from zip(*(column.to_pylist() for column in self._query(sql).columns), strict=True)


def canonical(kind: str) -> str:
    """The kernel's name of a type of ClickHouse.

    >>> canonical("LowCardinality(Nullable(String))"), canonical("DateTime64(3, 'Europe/Rome')")
    ('VARCHAR', 'TIMESTAMP WITH TIME ZONE')
    """
    while (wrapped := _WRAPPED.fullmatch(kind)) is not None:
        kind = wrapped[1]
    if kind.startswith(("Enum8(", "Enum16(")):
        return f"ENUM{kind[kind.index('(') :]}"
    time = _TIME.fullmatch(kind)
    if time is not None:
        if int(time[1] or time[2] or 0) > 6:
            return f"OTHER {kind.upper()}"
        return "TIMESTAMP WITH TIME ZONE" if "'" in kind else "TIMESTAMP"
    return type_of("clickhouse", kind)


def _plain(column: pa.ChunkedArray, kind: str) -> pa.ChunkedArray:
    """A column as a portable one: days and times are not numbers, and times are in UTC."""
    while (wrapped := _WRAPPED.fullmatch(kind)) is not None:
        kind = wrapped[1]
    if kind in {"Date", "Date32"} and not pa.types.is_date(column.type):
        return column.cast(pa.int32()).cast(pa.date32())
    if _TIME.fullmatch(kind):
        if pa.types.is_integer(column.type):
            column = column.cast(pa.int64()).cast(pa.timestamp("s"))
        return column.cast(pa.timestamp("us", tz=column.type.tz)).cast(pa.timestamp("us"))
    return column

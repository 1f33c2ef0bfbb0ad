"""ClickHouse, embedded or a server: every query carries the settings that it means what it says by.

There are no transactions: a table is made aside, commented, attested, and then takes its name in
one atomic step (``RENAME``, or ``EXCHANGE`` for one that is replaced). That the source stands still
is checked by a keyed hash of it before and after.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace as replace_field
from functools import partial
from pathlib import Path
from secrets import token_hex
from typing import Any

import pyarrow as pa

from policy_engine.compile.catalog import Column, Table
from policy_engine.compile.rendering import created
from policy_engine.dialects import dialect_named
from policy_engine.engines.types import type_of
from policy_engine.errors import WarehouseError
from policy_engine.syntax.names import fold
from policy_engine.warehouse import failures
from policy_engine.warehouse.arrow import portable
from policy_engine.warehouse.clickhouse_wire import CODES, Embedded, EngineError, Http
from policy_engine.warehouse.quoting import quoted
from policy_engine.warehouse.server import Row, ServerWarehouse
from policy_engine.warehouse.views import behind

SALT = "salt"
"""The parameter that brings the secret."""

_WITHHELD = partial(failures.withheld, engine=(EngineError,), machine=CODES)
# MaterializedView, Distributed, Merge, dictionaries and files are others' to change.
_TABLES = re.compile(r"\w*MergeTree|Memory|Log|TinyLog|StripeLog")
_WRAPPED = re.compile(r"(?:LowCardinality|Nullable)\((.*)\)")
_TIME = re.compile(r"DateTime(?:64\(([0-9]), '.*'\)|\('.*'\)|64\(([0-9])\))?")
_COMPUTED = ("ALIAS",)
_ATOMIC = ("Atomic", "Replicated", "Shared", "Overlay")
_WIDE_DAYS = "SELECT toString(toDate32('0001-01-01')) || toString(toDate32('9999-12-31'))"
_POLICIES = (
    "SELECT count() FROM system.row_policies WHERE (database = {d:String} OR database = '')"
    " AND (table = {t:String} OR table = '')"
)


class ClickHouseWarehouse(ServerWarehouse):
    """A folder that the embedded engine opens, or a server by its URL."""

    dialect = dialect_named("clickhouse")

    def __init__(self, name: str, database: Path | None = None, url: str = "") -> None:
        super().__init__(name)
        self._salt: str | None = None
        self._aside: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._is_server = bool(url)
        self._engine: Embedded | Http = Http(name, url) if url else Embedded(name, database)
        try:
            self._check()
        except BaseException:
            self.close()
            raise

    def _check(self) -> None:
        try:
            with _WITHHELD():
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

    def _query(self, sql: str, values: Mapping[str, str] | None = None) -> pa.Table:
        """The rows of a query, with the secret where one is bound."""
        salt = {SALT: self._salt} if self._salt is not None else {}
        with _WITHHELD():
            return self._engine.query(sql, {**salt, **(values or {})})

    def ask(self, sql: str, values: tuple[Any, ...] = ()) -> list[Row]:
        """The rows of a query of ours; ``values`` are pairs of a parameter's name and value."""
        found = self._query(sql, dict(values))
        return [tuple(row.values()) for row in found.to_pylist()]

    def full_name(self, relation: str) -> tuple[str, ...]:
        """database.name; without a database, the connection's own."""
        parts = tuple(relation.split("."))
        parts = (self._database, *parts) if len(parts) == 1 else parts
        if len(parts) != 2:
            raise WarehouseError(
                f"the relation {relation} is not in the warehouse {self._name}; write"
                " database.table"
            )
        return parts

    def described(self, parts: tuple[str, ...]) -> Table:
        """A table of rows that the engine keeps, or a view of such tables."""
        table = self._behind(parts)
        if table.view is None:
            return table
        names = self.ask(
            "SELECT database, name FROM system.tables WHERE database = {d:String} AND name <>"
            " {t:String}",
            _named(parts),
        )
        related = behind(table.view, names, self._behind)
        return replace_field(table, related=tuple(related))

    def _behind(self, parts: tuple[str, ...]) -> Table:
        """A relation by itself; WarehouseError where it cannot be certified."""
        name = ".".join(parts)
        found = self._relation(parts)
        if found is None:
            raise WarehouseError(f"the warehouse has no table or view {name}")
        engine, view = found
        if engine != "View" and not _TABLES.fullmatch(engine):
            raise WarehouseError(
                f"{name} has the engine {engine}, whose rows are not its own; copy them into a"
                " MergeTree table"
            )
        self._check_seen(parts)
        return Table(self._columns(parts), parts=parts, view=view if engine == "View" else None)

    def facts(self, table: Table) -> object:
        """What is read by the numbers that a relation has for its life."""
        sql = (
            "SELECT toString(uuid), engine FROM system.tables WHERE database = {d:String}"
            " AND name = {t:String}"
        )
        return [self.ask(sql, _named(each.parts)) for each in (table, *table.related)]

    def _relation(self, parts: tuple[str, ...]) -> tuple[str, str] | None:
        found = self.ask(
            "SELECT engine, as_select FROM system.tables WHERE database = {d:String} AND name ="
            " {t:String}",
            _named(parts),
        )
        return (str(found[0][0]), str(found[0][1])) if found else None

    def _check_seen(self, parts: tuple[str, ...]) -> None:
        """Refuse where a row policy could hide rows from this user, or from another run."""
        if not self._is_server:
            return
        name = ".".join(parts)
        try:
            [(policies,)] = self.ask(_POLICIES, _named(parts))
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

    def _columns(self, parts: tuple[str, ...]) -> tuple[Column, ...]:
        rows = self.ask(
            "SELECT name, type, default_kind FROM system.columns WHERE database = {d:String} AND"
            " table = {t:String} ORDER BY position",
            _named(parts),
        )
        table = ".".join(parts)
        names = [fold(row[0]) for row in rows]
        if len(set(names)) < len(names):
            raise WarehouseError(
                f"{table} has columns whose names differ in upper and lower case only; rename one"
            )
        for name, _, default in rows:
            if default in _COMPUTED:
                raise WarehouseError(
                    f"{table}: the column {name!r} is computed when it is read, and could fail on"
                    " one row; store it"
                )
        return tuple(Column(name, canonical(kind)) for name, kind, _ in rows)

    @contextmanager
    def bound(self, salt: str) -> Iterator[None]:
        """The secret as a parameter of every query while the body runs."""
        self._salt = salt
        try:
            yield
        finally:
            self._salt = None

    def numbers(self, count: int) -> str:
        """``numbers(count)``."""
        return f"(SELECT toInt64(number) AS n FROM numbers({count})) AS known"

    def state(self, parts: tuple[str, ...], columns: tuple[str, ...], seed: bytes) -> bytes:
        """The count, the sum and the exclusive or of a keyed hash of each row."""
        key = "({a:UInt64}, {b:UInt64})"
        row = f"tuple({', '.join(_quoted(name) for name in columns)})"
        hashed = f"sipHash64Keyed({key}, {row})"
        halves = (int.from_bytes(half, "big") for half in (seed[:8], seed[8:16]))
        values = tuple((name, str(half)) for name, half in zip("ab", halves, strict=True))
        sql = f"SELECT count(), sum({hashed}), groupBitXor({hashed}) FROM {_quoted(*parts)}"
        return repr(self.ask(sql, values)).encode()

    def target(self, relation: str) -> tuple[str, ...]:
        """The full name of a table to write, in a database that renames in one step."""
        parts = self.full_name(relation)
        self.check_length(parts)
        found = self.ask(
            "SELECT engine FROM system.databases WHERE name = {d:String}", (("d", parts[0]),)
        )
        if not found:
            raise WarehouseError(
                f"the warehouse has no database {parts[0]}; make it, or name another in"
                " release.relation"
            )
        if found[0][0] not in _ATOMIC:
            raise WarehouseError(
                f"the database {parts[0]} has the engine {found[0][0]}, which replaces no table in"
                " one step; name one with the engine Atomic in release.relation"
            )
        return parts

    def exists(self, target: tuple[str, ...]) -> bool:
        """Whether a relation of that name is there, of any kind."""
        return self._relation(target) is not None

    def comment(self, target: tuple[str, ...]) -> str:
        """The comment of a table; empty where it has none, or where the name is no table's."""
        found = self.ask(
            "SELECT comment FROM system.tables WHERE database = {d:String} AND name = {t:String}"
            " AND engine <> 'View'",
            _named(target),
        )
        return str(found[0][0]) if found else ""

    def rows(self, sql: str) -> pa.Table:
        """Run a certified text that selects, and fetch what it releases."""
        # The header's lines end before the query; DESCRIBE wants the query alone.
        kinds = self._query(f"DESCRIBE TABLE (\n{sql}\n)").column("type").to_pylist()
        found = self._query(sql)
        with _WITHHELD():
            arrays = [_plain(a, k) for a, k in zip(found.columns, kinds, strict=True)]
            rows = portable(pa.table(arrays, names=found.column_names))
            rows.validate(full=True)
        return rows

    def publish(
        self,
        query: str,
        target: tuple[str, ...],
        comment: str,
        attest: Callable[[], None],
        *,
        replace: bool,
    ) -> None:
        """Make the table aside, comment it, ``attest`` it, and give it its name in one step."""
        aside = (target[0], f"policy_engine_{token_hex(8)}")
        text = comment.replace("\\", "\\\\").replace("'", "\\'")
        self._aside[target] = aside
        try:
            self._query(created(query, _quoted(*aside)))
            self._query(f"ALTER TABLE {_quoted(*aside)} MODIFY COMMENT '{text}'")
            attest()
            verb = "EXCHANGE" if replace and self.exists(target) else "RENAME"
            join = "AND" if verb == "EXCHANGE" else "TO"
            self._query(f"{verb} {_PLURAL[verb]} {_quoted(*aside)} {join} {_quoted(*target)}")
        finally:
            del self._aside[target]
            # What is left aside: nothing after a rename, else what was before or what failed.
            with suppress(WarehouseError):
                self._query(f"DROP TABLE IF EXISTS {_quoted(*aside)} SYNC")

    def release_lines(self, target: tuple[str, ...]) -> Iterator[Row]:
        """The rows of a published table, in their order, each value as the engine writes it."""
        place = self._aside.get(target, target)
        names = [name for (name,) in self.ask(
            "SELECT name FROM system.columns WHERE database = {d:String} AND table = {t:String}"
            " ORDER BY position",
            _named(place),
        )]  # fmt: skip
        shown = ", ".join(f"toString({_quoted(name)})" for name in names)
        order = ", ".join(f"toString({_quoted(name)}) NULLS LAST" for name in names)
        found = self._query(f"SELECT {shown} FROM {_quoted(*place)} ORDER BY {order}")
        columns = [column.to_pylist() for column in found.columns]
        yield from zip(*columns, strict=True)


_PLURAL = {"RENAME": "TABLE", "EXCHANGE": "TABLES"}


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


def _named(parts: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    return tuple(zip("dt", parts, strict=True))


def _quoted(*parts: str) -> str:
    """A qualified identifier; a backslash escapes in one.

    >>> print(_quoted("main", 'a"b'))
    "main"."a""b"
    """
    return quoted(*(part.replace("\\", "\\\\") for part in parts))

"""ClickHouse, embedded or a server: every query carries the settings that it means what it says by.

There are no transactions: a table is made aside, commented, attested, and then takes its name in
one atomic step (``RENAME``, or ``EXCHANGE`` for one that is replaced).

Parameters go beside the text, and the settings with every query, embedded or by HTTP: what a
profile, a user or another session has set does not reach it.
"""

from __future__ import annotations

import io
import re
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, suppress
from itertools import islice
from pathlib import Path
from secrets import token_hex
from typing import Any, cast
from urllib.parse import unquote, urlencode, urlsplit

import pyarrow as pa

from policy_engine.compile.catalog import Field, Table
from policy_engine.compile.rendering import created
from policy_engine.dialects import dialect_named
from policy_engine.engines.types import type_of
from policy_engine.errors import WarehouseError, to_install
from policy_engine.warehouse import failures
from policy_engine.warehouse.arrow import portable
from policy_engine.warehouse.base import Columns, Make, Row, Texts, Warehouse
from policy_engine.warehouse.catalogs import Name, check_columns

_SETTINGS = {
    # What a text means.
    "session_timezone": "UTC",
    "prefer_column_name_to_alias": "1",
    "join_use_nulls": "1",
    "cast_keep_nullable": "0",
    "data_type_default_nullable": "0",
    "transform_null_in": "0",
    "group_by_use_nulls": "0",
    "aggregate_functions_null_for_empty": "0",
    "enable_positional_arguments": "0",
    "decimal_check_overflow": "1",
    "short_circuit_function_evaluation": "enable",
    "default_table_engine": "MergeTree",
    # Whether every row is read, and every group returned.
    "additional_table_filters": "{}",
    "additional_result_filter": "",
    "apply_deleted_mask": "1",
    "final": "0",
    "limit": "0",
    "offset": "0",
    "extremes": "0",
    **{
        f"{each}_overflow_mode": "throw"
        for each in ("read", "group_by", "sort", "result", "timeout", "set", "distinct", "transfer")
    },
    # What is kept of it.
    "log_queries": "0",
    "use_query_cache": "0",
    "use_query_condition_cache": "0",
    "query_plan_max_optimizations_to_apply": "1000000",  # long lists of keys are unions
    "output_format_arrow_string_as_string": "1",
}
"""Settings that each query is run with."""


_LOST = -1
_DENIED = failures.Cause(
    "the user may not do this; see the grants of the user", of_setup=True, code="no_right"
)
_TOLD = {
    **dict.fromkeys((497, 164), _DENIED),
    **dict.fromkeys((46, 47, 60, 81, 115), failures.ABSENT),
    **dict.fromkeys((159, 394), failures.CANCELLED),
    **dict.fromkeys((158, 191, 307, 396), failures.Cause(
        "the query passes a limit of its profile, as max_rows_to_read: raise that for the user",
        code="limit_reached",
    )),
    201: failures.Cause("the user's quota is used up, perhaps by what is read; see SHOW QUOTA",
                        code="limit_reached"),
    **dict.fromkeys((202, 452), failures.Cause(
        "the profile's constraints or the number of queries do not let it run; see"
        " system.settings_profile_elements", of_setup=True, code="limit_reached",
    )),
    **dict.fromkeys((209, 210, _LOST), failures.LOST),
    241: failures.OUT_OF_MEMORY, 243: failures.NO_SPACE, 57: failures.TAKEN,
    473: failures.LOCKED,
}  # fmt: skip
"""What may be said of a failure, by its number."""
# MaterializedView, Distributed, Merge, dictionaries and files are others' to change.
_TABLES = re.compile(r"\w*MergeTree|Memory|Log|TinyLog|StripeLog")
_WRAPPED = re.compile(r"(?:LowCardinality|Nullable)\((.*)\)")
_TIME = re.compile(r"DateTime(?:64\(([0-9]), '.*'\)|\('.*'\)|64\(([0-9])\))?")
_BEGINS = (
    "SELECT version(), currentDatabase(),"
    " toString(toDate32('0001-01-01')) || toString(toDate32('9999-12-31'))"
)
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


class EngineError(Exception):
    """A failure of the engine by its number, without its message, which may quote data."""

    def __init__(self, code: int = 0) -> None:
        super().__init__(code)
        self.code = code


class Embedded:
    """The engine in this process, over a folder; one folder at a time, says its maker."""

    def __init__(self, name: str, folder: Path | None) -> None:
        try:
            # Imported on use: a server needs no engine of half a gigabyte.
            from chdb.session import Session

            self._session: Any = cast(Any, Session)(str(folder) if folder is not None else None)
        except ImportError:
            raise WarehouseError(
                f"warehouse {name}: the embedded engine is not installed; run"
                f" {to_install('clickhouse')}"
            ) from None
        except Exception:
            raise WarehouseError(
                f"warehouse {name}: ClickHouse cannot open the folder {folder}; another process or"
                " another folder of this one may be in use"
            ) from None
        settings = ", ".join(f"{name} = '{value}'" for name, value in _SETTINGS.items())
        self.query(f"SET {settings}", {})

    def query(self, sql: str, values: Mapping[str, str]) -> pa.Table:
        """The rows of a query."""
        try:
            return _table(self._session.query(sql, "Arrow", params=dict(values)).bytes())
        except RuntimeError as error:
            code = re.search(r"Code: (\d+)", str(error))
            # A logger may follow the context of the error that is raised instead.
            error.args = ()
            self._drain()
            raise EngineError(int(code[1]) if code else 0) from None

    def _drain(self) -> None:
        """Take what a query that failed had written: it would stand before the next one's rows.

        Measured with chdb 4.4: the rows of the next result, of whatever query, begin with it.
        """
        for _ in range(3):
            try:
                if self._session.query("SELECT 1", "TSV").bytes() == b"1\n":
                    return
            except RuntimeError:
                continue
        raise EngineError(_LOST)

    def close(self) -> None:
        """Close the folder."""
        self._session.close()


class Http:
    """A server by its URL, ``http://user:password@host:8123/database``."""

    def __init__(self, name: str, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise WarehouseError(
                f"warehouse {name}: the url must be of ClickHouse's HTTP interface, as in"
                " https://user@host:8443/database"
            )
        database = parts.path.strip("/") or "default"
        query = urlencode({
            **_SETTINGS, "database": database, "default_format": "Arrow", "wait_end_of_query": "1",
        })  # fmt: skip
        host = parts.hostname if parts.port is None else f"{parts.hostname}:{parts.port}"
        self._url = f"{parts.scheme}://{host}/?{query}"
        self._headers = {
            "X-ClickHouse-User": unquote(parts.username or "default"),
            "X-ClickHouse-Key": unquote(parts.password or ""),
        }

    def query(self, sql: str, values: Mapping[str, str]) -> pa.Table:
        """The rows of a query; parameters are parts of the body, so that no URL is logged with one.

        https://clickhouse.com/docs/interfaces/http#cli-queries-with-parameters
        """
        mark = token_hex(16)
        fields = {"query": sql, **{f"param_{name}": value for name, value in values.items()}}
        body = "".join(
            f'--{mark}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
            for name, value in fields.items()
        )
        kind = {"Content-Type": f"multipart/form-data; boundary={mark}"}
        request = urllib.request.Request(
            self._url, f"{body}--{mark}--\r\n".encode(), {**self._headers, **kind}
        )
        try:
            with urllib.request.urlopen(request) as answer:
                return _table(answer.read())
        except urllib.error.HTTPError as error:
            raise EngineError(int(error.headers.get("X-ClickHouse-Exception-Code", 0))) from None
        except OSError:
            raise EngineError(_LOST) from None


def _table(sent: bytes) -> pa.Table:
    return pa.ipc.open_file(io.BytesIO(sent)).read_all() if sent else pa.table({})


class ClickHouseWarehouse(Warehouse):
    """A folder that the embedded engine opens, or a server by its URL."""

    dialect = dialect_named("clickhouse")
    _full, _text, _nulls = "database.table", "toString({})", " NULLS LAST"

    def __init__(self, name: str, database: Path | None = None, url: str = "") -> None:
        super().__init__(name)
        self._engine: Embedded | Http = Http(name, url) if url else Embedded(name, database)
        try:
            self._check()
        except BaseException:
            self.close()
            raise

    def _check(self) -> None:
        try:
            [(self.engine_version, self._database, days)] = self.ask(_BEGINS)
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
        """End the connection to a folder; to a server, each query is one."""
        if isinstance(self._engine, Embedded):
            self._engine.close()

    def _withheld(self) -> AbstractContextManager[None]:
        return failures.withheld(
            engine=(EngineError,), told=lambda error: _TOLD.get(getattr(error, "code", 0))
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
        if isinstance(self._engine, Http):
            self._check_seen(parts)
        columns = self.ask(_COLUMNS, parts)
        computed = (column for column, _, default in columns if default == "ALIAS")
        check_columns(name, (column for column, *_ in columns), computed)
        described = tuple(Field(column, canonical(kind)) for column, kind, _ in columns)
        if engine == "View":
            return Table(described, parts=parts, view=view)
        filled = frozenset(column for column, kind, _ in columns if "Nullable(" not in kind)
        return Table(described, parts=parts, filled=filled)

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

    def _check_place(self, target: Name) -> None:
        """Refuse a database that does not rename in one step."""
        database = target[0]
        found = self.ask("SELECT engine FROM system.databases WHERE name = {d:String}", target[:1])
        if not found:
            raise WarehouseError(
                f"the warehouse has no database {database}; make it, or name another in"
                " release.table"
            )
        if found[0][0] not in {"Atomic", "Replicated", "Shared", "Overlay"}:
            raise WarehouseError(
                f"the database {database} has the engine {found[0][0]}, which replaces no table in"
                " one step; name one with the engine Atomic in release.table"
            )

    def _comment(self, target: Name) -> str | None:
        for engine, _, comment, _ in self.ask(_RELATION, target):
            return "" if engine == "View" else str(comment)
        return None

    def _plan(self, query: str) -> None:
        self._query(f"EXPLAIN PIPELINE\n{query}")

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

    def _made(self, make: Make, place: Name, comment: str, *, replace: bool) -> None:
        make(place)
        self._query(f"ALTER TABLE {self.quoted(*place)} MODIFY COMMENT {_text(comment)}")

    def _create(self, query: str, place: Name) -> None:
        self._query(created(query, self.quoted(*place)))

    def _types(self, place: Name) -> Columns:
        return tuple((str(name), str(kind)) for name, kind, _ in self.ask(_COLUMNS, place))

    def _fill(self, columns: Columns, rows: Iterator[Texts], place: Name) -> None:
        name, given = self.quoted(*place), range(len(columns))
        declared = ", ".join(f"{self.quoted(column)} {kind}" for column, kind in columns)
        self._query(f"CREATE TABLE {name} ({declared}) ORDER BY tuple()")
        texts = ", ".join(f"c{at} Nullable(String)" for at in given)
        shown = ", ".join(f"CAST(c{at} AS {columns[at][1]})" for at in given)
        while batch := list(islice(rows, 500)):
            values = ", ".join(f"({', '.join(map(_text, row))})" for row in batch)
            self._query(
                f"INSERT INTO {name} SELECT {shown} FROM values({_text(texts)}, {values})"
                " SETTINGS max_query_size = 1000000000"
            )

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


def _text(value: str | None) -> str:
    """A text, or NULL, as a literal."""
    if value is None:
        return "NULL"
    return "'{}'".format(value.replace("\\", "\\\\").replace("'", "\\'"))


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

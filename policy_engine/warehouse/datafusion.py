"""DataFusion: a folder of Parquet files, each a table by its name.

A file is read as it is but for values that the engine would order or print in a way of its own, or
fail on: zeros and NaN get one sign, times with zone are in UTC, and days and times that it cannot
print are NULL. There are no transactions: a release is written beside its place and takes it in one
step, and a file that is read must have the same bytes before and after.
"""

from __future__ import annotations

import hashlib
import hmac
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from secrets import token_hex
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from datafusion import SessionConfig, SessionContext, SQLOptions

from policy_engine.attest.tables import read_parquet
from policy_engine.compile.catalog import Column, Table
from policy_engine.dialects import dialect_named
from policy_engine.engines.types import type_of
from policy_engine.errors import WarehouseError
from policy_engine.syntax.names import fold
from policy_engine.warehouse import failures
from policy_engine.warehouse.arrow import portable
from policy_engine.warehouse.quoting import quoted
from policy_engine.warehouse.server import Row, ServerWarehouse

SALT = "salt"
"""The parameter that brings the secret."""

_SCHEMA = "public"
_COMMENT = b"policy_engine_comment"
_PINNED = {
    "datafusion.execution.time_zone": "UTC",
    "datafusion.sql_parser.parse_float_as_decimal": "false",
    "datafusion.sql_parser.dialect": "generic",
    "datafusion.execution.parquet.binary_as_string": "false",
}
# The last day, and microsecond, that it can print; of both signs.
_MOST_DAYS = 87_600_000
_MOST_MICROS = _MOST_DAYS * 86_400_000_000
# Its errors are plain ones, so all are withheld.
_WITHHELD = partial(
    failures.withheld,
    engine=(Exception,),
    machine=((PermissionError, "the warehouse refused access; see the rights of its files"),
             (OSError, "the warehouse could not read or write a file; see disk space and rights")),
)  # fmt: skip


class DataFusionWarehouse(ServerWarehouse):
    """A folder of Parquet files; ``writable`` where a release goes into it."""

    dialect = dialect_named("datafusion")

    def __init__(self, name: str, folder: Path | None, *, writable: bool = False) -> None:
        super().__init__(name)
        if folder is None or not folder.is_dir():
            raise WarehouseError(
                f"warehouse {name}: its database must be a folder of Parquet files, found"
                f" {folder or 'none'}"
            )
        self._folder, self._writable = folder, writable
        self._salt: str | None = None
        self._aside: dict[tuple[str, ...], Path] = {}
        config = SessionConfig()
        for key, value in _PINNED.items():
            config = config.set(key, value)
        self._context = SessionContext(config)
        options = SQLOptions()
        self._options = options.with_allow_ddl(False).with_allow_dml(False)
        [(version,)] = self.ask("SELECT version()")
        self.engine_version = str(version).split(",")[0].removeprefix("Apache DataFusion ")

    def close(self) -> None:
        """End the session."""
        self._context = SessionContext()

    def _query(self, sql: str) -> pa.Table:
        values = {SALT: self._salt} if self._salt is not None else None
        with _WITHHELD():
            found = self._context.sql(sql, self._options, param_values=values)
            rows: pa.Table = found.to_arrow_table()
        return rows

    def ask(self, sql: str, values: tuple[Any, ...] = ()) -> list[Row]:
        """The rows of a query of ours."""
        return [tuple(row.values()) for row in self._query(sql).to_pylist()]

    def full_name(self, relation: str) -> tuple[str, ...]:
        """public.name: the file name.parquet of the folder."""
        parts = tuple(relation.split("."))
        parts = (_SCHEMA, *parts) if len(parts) == 1 else parts
        wrong = len(parts) != 2 or parts[0] != _SCHEMA or not parts[1]
        if wrong or set(parts[1]) & set("/\\\0"):
            raise WarehouseError(
                f"the relation {relation} is not in the warehouse {self._name}; write the name of a"
                " file of its folder, without .parquet"
            )
        return parts

    def _path(self, parts: tuple[str, ...]) -> Path:
        return self._folder / f"{parts[-1]}.parquet"

    def described(self, parts: tuple[str, ...]) -> Table:
        """The columns of a file, which is a table from now on."""
        path, name = self._path(parts), parts[-1]
        if not path.is_file():
            raise WarehouseError(
                f"the warehouse has no table {'.'.join(parts)}; its folder has no {path.name}"
            )
        with _WITHHELD():
            schema = pq.read_schema(path)
        names = [fold(field.name) for field in schema]
        if len(set(names)) < len(names):
            raise WarehouseError(
                f"{'.'.join(parts)} has columns whose names differ in upper and lower case only;"
                " rename one"
            )
        with _WITHHELD():
            file = f"policy_engine_file_{token_hex(8)}"
            self._context.register_parquet(file, str(path), schema=schema)
            shown = ", ".join(f"{_read(field)} AS {quoted(field.name)}" for field in schema)
            rows = self._context.sql(f"SELECT {shown} FROM {quoted(file)}")
            if self._context.table_exist(quoted(name)):
                self._context.deregister_table(quoted(name))
            self._context.register_view(quoted(name), rows)
        columns = (Column(field.name, canonical(field.type)) for field in schema)
        return Table(tuple(columns), parts=parts)

    @contextmanager
    def bound(self, salt: str) -> Iterator[None]:
        """The secret as a parameter of every query while the body runs."""
        self._salt = salt
        try:
            yield
        finally:
            self._salt = None

    def numbers(self, count: int) -> str:
        """``generate_series``."""
        return f"(SELECT value AS n FROM generate_series(0, {count - 1})) AS known"

    def state(self, parts: tuple[str, ...], columns: tuple[str, ...], seed: bytes) -> bytes:
        """A keyed hash of the file's bytes."""
        hashed = hmac.new(seed, digestmod=hashlib.sha256)
        with _WITHHELD(), self._path(parts).open("rb") as file:
            while block := file.read(1 << 20):
                hashed.update(block)
        return hashed.digest()

    def target(self, relation: str) -> tuple[str, ...]:
        """The full name of a table to write."""
        parts = self.full_name(relation)
        self.check_length(parts)
        if not os.access(self._folder, os.W_OK):
            raise WarehouseError(
                f"warehouse {self._name}: its folder {self._folder} cannot be written; see its"
                " rights"
            )
        return parts

    def exists(self, target: tuple[str, ...]) -> bool:
        """Whether there is a file of that name."""
        return os.path.lexists(self._path(target))

    def comment(self, target: tuple[str, ...]) -> str:
        """What the file's metadata say of the release in it; empty where they say nothing."""
        path = self._path(target)
        if not path.is_file():
            return ""
        with _WITHHELD():
            metadata = pq.read_schema(path).metadata or {}
        return str(metadata.get(_COMMENT, b"").decode(errors="replace"))

    def rows(self, sql: str) -> pa.Table:
        """Run a certified text that selects, and fetch what it releases."""
        found = self._query(sql)
        with _WITHHELD():
            rows = portable(found.replace_schema_metadata(None))
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
        """Write what the query gives beside its place, ``attest`` it, and move it there."""
        rows = self.rows(query).replace_schema_metadata({_COMMENT: comment})
        path = self._path(target)
        aside = path.with_name(f".{path.name}.{token_hex(8)}")
        self._aside[target] = aside
        try:
            with _WITHHELD():
                _write(rows, aside, path)
            attest()
            with _WITHHELD():
                _move(aside, path, replace=replace)
        finally:
            del self._aside[target]
            with suppress(OSError):
                aside.unlink(missing_ok=True)

    def release_lines(self, target: tuple[str, ...]) -> Iterator[Row]:
        """The rows of a published table, in their order."""
        path = self._aside.get(target) or self._path(target)
        with _WITHHELD():
            rows = read_parquet(path)
        for batch in rows.to_batches():
            yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)


def canonical(kind: pa.DataType) -> str:
    """The kernel's name of an Arrow type.

    >>> canonical(pa.large_string()), canonical(pa.timestamp("us", "UTC"))
    ('VARCHAR', 'TIMESTAMP WITH TIME ZONE')
    """
    if pa.types.is_dictionary(kind) and _is_text(kind.value_type):
        return "VARCHAR"
    if pa.types.is_timestamp(kind) and kind.unit == "us" and kind.tz is not None:
        return "TIMESTAMP WITH TIME ZONE"
    return type_of("datafusion", str(kind))


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _read(field: pa.Field) -> str:
    """A column as a text reads it."""
    name, kind = quoted(field.name), field.type
    if pa.types.is_float32(kind) or pa.types.is_float64(kind):
        to = "FLOAT" if pa.types.is_float32(kind) else "DOUBLE"
        nan, zero = f"CAST('NaN' AS {to})", f"CAST(0 AS {to})"
        return (
            f"CASE WHEN isnan({name}) THEN {nan} WHEN {name} = {zero} THEN {zero} ELSE {name} END"
        )
    if pa.types.is_date32(kind):
        inside = f"CAST({name} AS INT) BETWEEN -{_MOST_DAYS} AND {_MOST_DAYS}"
        return f"CASE WHEN {inside} THEN {name} END"
    if pa.types.is_timestamp(kind) and kind.unit == "us":
        inside = f"CAST({name} AS BIGINT) BETWEEN -{_MOST_MICROS} AND {_MOST_MICROS}"
        zone = "None" if kind.tz is None else 'Some("UTC")'
        return f"CASE WHEN {inside} THEN arrow_cast({name}, 'Timestamp(Microsecond, {zone})') END"
    if pa.types.is_dictionary(kind) and _is_text(kind.value_type):
        return f"CAST({name} AS VARCHAR)"
    return name


def _write(rows: pa.Table, aside: Path, path: Path) -> None:
    """A file that nobody else may read yet, or only who may read what it replaces."""
    mode = path.stat().st_mode & 0o777 if path.exists() else 0o600
    descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        pq.write_table(rows, file)
        file.flush()
        os.fsync(file.fileno())
        os.fchmod(file.fileno(), mode)


def _move(aside: Path, path: Path, *, replace: bool) -> None:
    if replace:
        aside.replace(path)
    else:
        try:
            os.link(aside, path)
        except FileExistsError:
            raise WarehouseError(
                "the target has come to be meanwhile; nothing was published: use --replace to"
                " release anew, at a new price"
            ) from None
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)

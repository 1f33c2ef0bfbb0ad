"""DataFusion: a folder of Parquet files, each a table by its name.

A file is read as it is but for values that the engine would order or print in a way of its own, or
fail on: zeros and NaN get one sign, times with zone are in UTC, and days and times that it cannot
print are NULL. There are no transactions: a release is written beside its place and takes it in one
step.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from secrets import token_hex
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from datafusion import SessionConfig, SessionContext, SQLOptions

from policy_engine.attest.parquet_file import read_parquet
from policy_engine.compile.catalog import Field, Table
from policy_engine.dialects import dialect_named
from policy_engine.engines.types import type_of
from policy_engine.errors import WarehouseError
from policy_engine.warehouse import failures
from policy_engine.warehouse.arrow import portable
from policy_engine.warehouse.base import Columns, Make, Row, Texts, Warehouse
from policy_engine.warehouse.catalogs import Name, check_columns
from policy_engine.warehouse.quoting import quoted

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
_TOLD = failures.by_kind({PermissionError: failures.REFUSED_ACCESS, OSError: failures.NO_FILE})


class DataFusionWarehouse(Warehouse):
    """A folder of Parquet files; ``writable`` where a release goes into it."""

    dialect = dialect_named("datafusion")

    def __init__(self, name: str, folder: Path | None, *, writable: bool = False) -> None:
        super().__init__(name)
        if folder is None or not folder.is_dir():
            raise WarehouseError(
                f"warehouse {name}: its database must be a folder of Parquet files, found"
                f" {folder or 'none'}"
            )
        self._folder = folder
        config = SessionConfig()
        for key, value in _PINNED.items():
            config = config.set(key, value)
        self._context = SessionContext(config)
        self._options = SQLOptions().with_allow_ddl(False).with_allow_dml(False)
        [(version,)] = self.ask("SELECT version()")
        self.engine_version = str(version).split(",")[0].removeprefix("Apache DataFusion ")

    def close(self) -> None:
        """End the session."""
        self._context = SessionContext()

    def _withheld(self) -> AbstractContextManager[None]:
        # Its errors are plain ones, so all are withheld.
        return failures.withheld(engine=(Exception,), told=_TOLD)

    def _query(self, sql: str) -> pa.Table:
        with self._withheld():
            found = self._context.sql(sql, self._options, param_values=self._parameters)
            return found.to_arrow_table()

    def ask(self, sql: str, values: tuple[Any, ...] = ()) -> list[Row]:
        """The rows of a query of ours."""
        return [tuple(row.values()) for row in self._query(sql).to_pylist()]

    def _full_name(self, relation: str) -> Name:
        """public.name: the file name.parquet of the folder."""
        head, _, name = relation.rpartition(".")
        if head not in {"", _SCHEMA} or not name or set(name) & set("/\\\0"):
            raise WarehouseError(
                f"the relation {relation} is not in the warehouse {self._name}; write the name of a"
                " file of its folder, without .parquet"
            )
        return (_SCHEMA, name)

    def _path(self, parts: Name) -> Path:
        schema, name = parts
        return self._folder / (f"{name}.parquet" if schema else name)

    def _by_itself(self, parts: Name) -> Table:
        """The columns of a file, which is a table from now on."""
        path, name = self._path(parts), quoted(parts[-1])
        if not path.is_file():
            raise WarehouseError(
                f"the warehouse has no table {'.'.join(parts)}; its folder has no {path.name}"
            )
        with self._withheld():
            schema = pq.read_schema(path)
            check_columns(".".join(parts), schema.names)
            file = f"policy_engine_file_{token_hex(8)}"
            self._context.register_parquet(file, str(path), schema=schema)
            shown = ", ".join(f"{_read(field)} AS {quoted(field.name)}" for field in schema)
            rows = self._context.sql(f"SELECT {shown} FROM {quoted(file)}")
            if self._context.table_exist(name):
                self._context.deregister_table(name)
            self._context.register_view(name, rows)
        columns = (Field(field.name, canonical(field.type)) for field in schema)
        return Table(tuple(columns), parts=parts)

    def _check_place(self, target: Name) -> None:
        if not os.access(self._folder, os.W_OK):
            raise WarehouseError(
                f"warehouse {self._name}: its folder {self._folder} cannot be written; see its"
                " rights"
            )

    def _comment(self, target: Name) -> str | None:
        """What the file's metadata say of the release in it."""
        path = self._path(target)
        if not path.is_file():
            return "" if os.path.lexists(path) else None
        with self._withheld():
            metadata = pq.read_schema(path).metadata or {}
        return str(metadata.get(_COMMENT, b"").decode(errors="replace"))

    def exists(self, target: Name) -> bool:
        """Whether there is a file of that name, which may be none that can be read."""
        return os.path.lexists(self._path(target))

    def _plan(self, query: str) -> None:
        found = self._context.sql(query, self._options, param_values=self._parameters)
        found.execution_plan()

    def _fetched(self, sql: str) -> pa.Table:
        rows = portable(self._query(sql).replace_schema_metadata(None))
        rows.validate(full=True)
        return rows

    def _place(self, target: Name) -> Name:
        """A file that is no relation of any schema."""
        return ("", f".{target[-1]}.parquet.{token_hex(8)}")

    def _made(self, make: Make, place: Name, comment: str, *, replace: bool) -> None:
        """Write a file that nobody else may read yet, and then what it is of."""
        make(place)
        self._write(read_parquet(self._path(place)), place, {_COMMENT: comment})

    def _create(self, query: str, place: Name) -> None:
        self._write(self.rows(query), place, {})

    def _types(self, place: Name) -> Columns:
        schema = pq.read_schema(self._path(place))
        # Arrow has no text of a type that is read back; its own bytes of the schema are.
        kinds = (pa.schema([field]).serialize().to_pybytes().hex() for field in schema)
        return tuple((field.name, kind) for field, kind in zip(schema, kinds, strict=True))

    def _fill(self, columns: Columns, rows: Iterator[Texts], place: Name) -> None:
        values = list(zip(*rows, strict=True)) or [()] * len(columns)
        schema = pa.schema(
            [pa.ipc.read_schema(pa.py_buffer(bytes.fromhex(kind)))[0] for _, kind in columns]
        )
        texts = [pa.array(column, pa.string()) for column in values]
        arrays = [text.cast(field.type) for text, field in zip(texts, schema, strict=True)]
        self._write(pa.Table.from_arrays(arrays, schema=schema), place, {})

    def _write(self, rows: pa.Table, place: Name, metadata: dict[bytes, str]) -> None:
        path = self._path(place)
        with self._withheld():
            path.unlink(missing_ok=True)
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                pq.write_table(rows.replace_schema_metadata(metadata), file)
                file.flush()
                os.fsync(file.fileno())

    def _stands(self, place: Name, target: Name, *, replace: bool) -> None:
        """Move the file to its place, readable by who may read what it replaces."""
        aside, path = self._path(place), self._path(target)
        with self._withheld():
            if replace and path.exists():
                aside.chmod(path.stat().st_mode & 0o777)
            if replace:
                aside.replace(path)
            else:
                try:
                    os.link(aside, path)
                except FileExistsError:
                    raise failures.failure(failures.TAKEN) from None
                self._undone(place)
            folder = os.open(self._folder, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)

    def _undone(self, place: Name) -> None:
        with suppress(OSError):
            self._path(place).unlink(missing_ok=True)

    def release_lines(self, target: Name, edition: str = "") -> Iterator[Row]:
        """The rows of a published table, in their order."""
        with self._withheld():
            rows = read_parquet(self._path(self._aside.get(target, target)))
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

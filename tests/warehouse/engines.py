"""Any table on every engine: a table of Arrow is loaded into each real one and opened there.

``with opened_engines(["duckdb", "postgres"]) as engines`` starts the servers once; ``load`` puts a
table called people into each, and ``opened`` gives its warehouse. Types are those that the engine
has for DuckDB's; a column that an engine has no type for is named by ``unfit``.
"""

from __future__ import annotations

import sys
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from decimal import Decimal
from pathlib import Path
from typing import ClassVar

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "contract")]

from policy_engine.warehouse.base import Warehouse  # noqa: E402

TABLE = "people"


class Engine(ABC):
    """One engine, running; ``types`` names its type for each of Arrow's."""

    types: ClassVar[Mapping[str, str]]
    quote: ClassVar[str] = '"'

    @abstractmethod
    def load(self, table: pa.Table) -> None:
        """Make ``people`` this table, whatever it was before."""

    @abstractmethod
    def warehouse(self) -> Warehouse:
        """A connection of the product's own."""

    def writer(self) -> Warehouse:
        """One that may write."""
        return self.warehouse()

    def kind(self, kind: pa.DataType) -> str:
        """The engine's name of a type."""
        if pa.types.is_decimal(kind):
            return self.types["decimal"].format(kind.precision, kind.scale)
        return self.types[str(kind)]

    def columns(self, table: pa.Table, wrap: str = "{}") -> str:
        """The columns of a table, as CREATE TABLE has them."""
        mark = self.quote
        return ", ".join(
            f"{mark}{f.name}{mark} {wrap.format(self.kind(f.type))}" for f in table.schema
        )

    def unfit(self, table: pa.Table) -> list[str]:
        """The columns that the engine has no type for."""
        kinds = {f.name: "decimal" if pa.types.is_decimal(f.type) else str(f.type)
                 for f in table.schema}  # fmt: skip
        return [name for name, kind in kinds.items() if kind not in self.types]


def rows_of_table(table: pa.Table) -> list[tuple[object, ...]]:
    """The rows of a table, as Python values."""
    return [tuple(row.values()) for row in table.to_pylist()]


_STANDARD = {
    "int32": "INTEGER", "int64": "BIGINT", "string": "VARCHAR", "bool": "BOOLEAN",
    "double": "DOUBLE", "date32[day]": "DATE", "timestamp[us]": "TIMESTAMP",
    "decimal": "DECIMAL({}, {})",
}  # fmt: skip


class _DuckDB(Engine):
    types: ClassVar = _STANDARD

    def __init__(self, folder: Path) -> None:
        self._file = folder / "people.duckdb"

    def load(self, table: pa.Table) -> None:
        with duckdb.connect(str(self._file)) as connection:
            connection.register("given", table)
            connection.execute(f"CREATE OR REPLACE TABLE {TABLE} AS SELECT * FROM given")

    def warehouse(self) -> Warehouse:
        from policy_engine.warehouse.duckdb import DuckDBWarehouse

        return DuckDBWarehouse("db", self._file)

    def writer(self) -> Warehouse:
        from policy_engine.warehouse.duckdb import DuckDBWarehouse

        return DuckDBWarehouse("db", self._file, writable=True)


class _Postgres(Engine):
    types: ClassVar = {**_STANDARD, "string": "TEXT", "double": "DOUBLE PRECISION"}

    def __init__(self, server) -> None:
        self._server = server

    def load(self, table: pa.Table) -> None:
        import psycopg

        made = f"CREATE TABLE {TABLE} ({self.columns(table)})"
        self._server.sql(f"DROP TABLE IF EXISTS {TABLE} CASCADE", made)
        with (
            psycopg.connect(self._server.url) as connection,
            connection.cursor() as cursor,
            cursor.copy(f"COPY {TABLE} FROM STDIN") as copy,
        ):
            for row in rows_of_table(table):
                copy.write_row(row)

    def warehouse(self) -> Warehouse:
        from policy_engine.warehouse.postgres import PostgresWarehouse

        return PostgresWarehouse("pg", self._server.url)


class _MariaDB(Engine):
    quote = "`"
    types: ClassVar = {
        **_STANDARD,
        "string": "VARCHAR(200) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin",
        "timestamp[us]": "DATETIME(6)",
    }

    def __init__(self, server) -> None:
        self._server = server

    def load(self, table: pa.Table) -> None:
        self._server.sql(
            f"DROP TABLE IF EXISTS {TABLE}", f"CREATE TABLE {TABLE} ({self.columns(table)})"
        )
        connection = self._server.connect(database="work")
        with connection.cursor() as cursor:
            marks = ", ".join(["%s"] * table.num_columns)
            cursor.executemany(f"INSERT INTO {TABLE} VALUES ({marks})", rows_of_table(table))
        connection.close()

    def warehouse(self) -> Warehouse:
        from policy_engine.warehouse.mysql import MariaDBWarehouse

        return MariaDBWarehouse("maria", self._server.url())


class _Spark(Engine):
    quote = "`"
    types: ClassVar = {**_STANDARD, "string": "STRING", "timestamp[us]": "TIMESTAMP_NTZ"}

    def __init__(self, server) -> None:
        self._server, self.rows_folder = server, server.folder / "tables"

    def load(self, table: pa.Table) -> None:
        self._server.sql(f"DROP TABLE IF EXISTS {TABLE}")
        rows = [list(row) for row in rows_of_table(table)]
        frame = self._server.spark.createDataFrame(rows, self.columns(table))
        frame.write.format("parquet").saveAsTable(TABLE)

    def warehouse(self) -> Warehouse:
        from policy_engine.warehouse.spark import SparkWarehouse

        return SparkWarehouse("wh", self._server.url)


class _ClickHouse(Engine):
    quote = "`"
    types: ClassVar = {
        "int32": "Int32", "int64": "Int64", "string": "String", "bool": "Bool",
        "double": "Float64", "date32[day]": "Date32", "timestamp[us]": "DateTime64(6)",
        "decimal": "Decimal({}, {})",
    }  # fmt: skip

    def __init__(self, folder: Path) -> None:
        self.rows_folder = self._folder = folder / "clickhouse"
        self._folder.mkdir()

    def load(self, table: pa.Table) -> None:
        made = self.columns(table, "Nullable({})")
        rows = ", ".join(f"({', '.join(map(_literal, row))})" for row in rows_of_table(table))
        with closing(self.warehouse()) as opened:
            for statement in (
                f"DROP TABLE IF EXISTS {TABLE}",
                f"CREATE TABLE {TABLE} ({made}) ENGINE = MergeTree ORDER BY tuple()",
                f"INSERT INTO {TABLE} VALUES {rows}",
            ):
                opened._query(statement)  # type: ignore[attr-defined]

    def warehouse(self) -> Warehouse:
        from policy_engine.warehouse.clickhouse import ClickHouseWarehouse

        return ClickHouseWarehouse("ch", self._folder)


def _literal(value: object) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bool | int | float):
        return repr(value).lower()
    text = str(value).replace("\\", "\\\\").replace("'", "\\'")
    return f"'{text}'"


class _DataFusion(Engine):
    types: ClassVar = _STANDARD

    def __init__(self, folder: Path) -> None:
        self.rows_folder = self._folder = folder / "datafusion"
        self._folder.mkdir()

    def load(self, table: pa.Table) -> None:
        pq.write_table(table, self._folder / f"{TABLE}.parquet")

    def warehouse(self) -> Warehouse:
        from policy_engine.warehouse.datafusion import DataFusionWarehouse

        return DataFusionWarehouse("df", self._folder)

    def writer(self) -> Warehouse:
        from policy_engine.warehouse.datafusion import DataFusionWarehouse

        return DataFusionWarehouse("df", self._folder, writable=True)


class _SQLite(Engine):
    types: ClassVar = {"int32": "INTEGER", "int64": "INTEGER", "string": "TEXT", "double": "REAL"}

    def __init__(self, folder: Path) -> None:
        self._file = folder / "people.sqlite"

    def load(self, table: pa.Table) -> None:
        import sqlite3

        with closing(sqlite3.connect(self._file)) as connection, connection:
            connection.execute(f"DROP TABLE IF EXISTS {TABLE}")
            connection.execute(f"CREATE TABLE {TABLE} ({self.columns(table)}) STRICT")
            marks = ", ".join("?" * table.num_columns)
            rows = [[float(v) if isinstance(v, Decimal) else v for v in row]
                    for row in rows_of_table(table)]  # fmt: skip
            connection.executemany(f"INSERT INTO {TABLE} VALUES ({marks})", rows)

    def warehouse(self) -> Warehouse:
        from policy_engine.warehouse.sqlite import SQLiteWarehouse

        return SQLiteWarehouse("lite", self._file)

    def writer(self) -> Warehouse:
        from policy_engine.warehouse.sqlite import SQLiteWarehouse

        return SQLiteWarehouse("lite", self._file, writable=True)


ENGINES = ("duckdb", "postgres", "mariadb", "spark", "clickhouse", "datafusion", "sqlite")


@contextmanager
def opened_engines(names: Iterable[str] = ENGINES) -> Iterator[dict[str, Engine]]:
    """The engines of these names, running; their servers end with the body."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        yield {name: _started(name, folder, stack) for name in names}


def _started(name: str, folder: Path, stack: ExitStack) -> Engine:
    embedded = {"duckdb": _DuckDB, "clickhouse": _ClickHouse, "datafusion": _DataFusion,
                "sqlite": _SQLite}  # fmt: skip
    if name in embedded:
        return embedded[name](folder)
    if name == "postgres":
        from postgres import running

        return _Postgres(stack.enter_context(running()))
    if name == "mariadb":
        from mariadb_server import running as running_mariadb

        return _MariaDB(stack.enter_context(running_mariadb()))
    from spark_server import running as running_spark

    return _Spark(stack.enter_context(running_spark()))

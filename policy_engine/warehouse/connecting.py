"""From a warehouse that a project names to a connection."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec

from policy_engine.errors import WarehouseError, to_install
from policy_engine.policy.project import Warehouse as Named
from policy_engine.warehouse.base import Warehouse
from policy_engine.warehouse.profiles import resolved

FILES = Named("duckdb")
"""The embedded engine that reads files."""

# Each is imported on use: every command would otherwise wait for every engine's driver to load.


def _duckdb(named: Named, writable: bool) -> Warehouse:
    from policy_engine.warehouse.duckdb import DuckDBWarehouse

    return DuckDBWarehouse(
        named.name,
        named.database,
        writable=writable,
        memory_limit=named.memory_limit,
        threads=named.threads,
    )


def _postgres(named: Named, writable: bool) -> Warehouse:
    from policy_engine.warehouse.postgres import PostgresWarehouse

    return PostgresWarehouse(named.name, named.url)


def _spark(named: Named, writable: bool) -> Warehouse:
    from policy_engine.warehouse.spark import SparkWarehouse

    return SparkWarehouse(named.name, named.url)


def _mariadb(named: Named, writable: bool) -> Warehouse:
    from policy_engine.warehouse.mysql import MariaDBWarehouse

    return MariaDBWarehouse(named.name, named.url)


def _clickhouse(named: Named, writable: bool) -> Warehouse:
    from policy_engine.warehouse.clickhouse import ClickHouseWarehouse

    return ClickHouseWarehouse(named.name, named.database, named.url)


def _datafusion(named: Named, writable: bool) -> Warehouse:
    from policy_engine.warehouse.datafusion import DataFusionWarehouse

    return DataFusionWarehouse(named.name, named.database, writable=writable)


def _sqlite(named: Named, writable: bool) -> Warehouse:
    from policy_engine.warehouse.sqlite import SQLiteWarehouse

    return SQLiteWarehouse(named.name, named.database, writable=writable)


@dataclass(frozen=True)
class _Engine:
    """How an engine is connected to; ``driver`` is the module that ``extra`` installs."""

    connect: Callable[[Named, bool], Warehouse]
    driver: str = ""
    extra: str = ""


_ENGINES: Mapping[str, _Engine] = {
    "duckdb": _Engine(_duckdb),
    "postgres": _Engine(_postgres, "psycopg", "postgres"),
    "spark": _Engine(_spark, "pyspark", "spark"),
    "mariadb": _Engine(_mariadb, "pymysql", "mysql"),
    "clickhouse": _Engine(_clickhouse),
    "datafusion": _Engine(_datafusion, "datafusion", "datafusion"),
    "sqlite": _Engine(_sqlite),
}


def connected(named: Named, *, writable: bool = False) -> Warehouse:
    """A connection to a warehouse; ``writable`` where a release goes into it.

    Raises:
        WarehouseError: its driver is not installed, or does not load; or it does not answer.
    """
    named = resolved(named)
    engine = _ENGINES[named.type]
    if engine.driver:
        _load(engine, named)
    return engine.connect(named, writable)


def _load(engine: _Engine, named: Named) -> None:
    """Import a driver, which may be there and lack a library of the machine."""
    try:
        import_module(engine.driver)
    except ImportError:
        is_there = find_spec(engine.driver) is not None
        found = "cannot be loaded" if is_there else "is not installed"
        raise WarehouseError(
            f"warehouse {named.name}: the driver of {named.type}, {engine.driver}, {found}; run"
            f" {to_install(engine.extra)}"
        ) from None

"""From a warehouse that a project names to a connection."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec

from policy_engine.errors import WarehouseError, to_install
from policy_engine.policy.project import Warehouse as Named
from policy_engine.warehouse.base import Warehouse
from policy_engine.warehouse.profiles import resolved

FILES = Named("duckdb")
"""The embedded engine that reads files."""

_DRIVERS = {
    "postgres": ("psycopg", "postgres"),
    "spark": ("pyspark", "spark"),
    "mariadb": ("pymysql", "mysql"),
    "datafusion": ("datafusion", "datafusion"),
}
"""The module of an engine's driver, and the extra of this package that installs it."""


def connected(named: Named, *, writable: bool = False) -> Warehouse:
    """A connection to a warehouse; ``writable`` where a release goes into it.

    Raises:
        WarehouseError: its driver is not installed, or does not load; or it does not answer.
    """
    named = resolved(named)
    if named.type in _DRIVERS:
        _load(named, *_DRIVERS[named.type])
    # Each is imported on use: every command would otherwise wait for every engine's driver to load.
    match named.type:
        case "postgres":
            from policy_engine.warehouse.postgres import PostgresWarehouse

            return PostgresWarehouse(named.name, named.url)
        case "spark":
            from policy_engine.warehouse.spark import SparkWarehouse

            return SparkWarehouse(named.name, named.url)
        case "mariadb":
            from policy_engine.warehouse.mysql import MariaDBWarehouse

            return MariaDBWarehouse(named.name, named.url)
        case "clickhouse":
            from policy_engine.warehouse.clickhouse import ClickHouseWarehouse

            return ClickHouseWarehouse(named.name, named.database, named.url)
        case "datafusion":
            from policy_engine.warehouse.datafusion import DataFusionWarehouse

            return DataFusionWarehouse(named.name, named.database, writable=writable)
        case "sqlite":
            from policy_engine.warehouse.sqlite import SQLiteWarehouse

            return SQLiteWarehouse(named.name, named.database, writable=writable)
    from policy_engine.warehouse.duckdb import DuckDBWarehouse

    return DuckDBWarehouse(
        named.name,
        named.database,
        writable=writable,
        memory_limit=named.memory_limit,
        threads=named.threads,
    )


def _load(named: Named, driver: str, extra: str) -> None:
    """Import a driver, which may be there and lack a library of the machine."""
    try:
        import_module(driver)
    except ImportError:
        found = "cannot be loaded" if find_spec(driver) is not None else "is not installed"
        raise WarehouseError(
            f"warehouse {named.name}: the driver of {named.type}, {driver}, {found}; run"
            f" {to_install(extra)}"
        ) from None

"""Warehouses by name."""

from difflib import get_close_matches

from policy_engine.dialects.base import Dialect
from policy_engine.dialects.bigquery import BigQuery
from policy_engine.dialects.clickhouse import ClickHouse
from policy_engine.dialects.datafusion import DataFusion
from policy_engine.dialects.duckdb import DuckDB
from policy_engine.dialects.mysql import MariaDB, MySQL
from policy_engine.dialects.postgres import Postgres
from policy_engine.dialects.redshift import Redshift
from policy_engine.dialects.snowflake import Snowflake
from policy_engine.dialects.spark import Databricks, Spark
from policy_engine.dialects.sqlite import SQLite
from policy_engine.dialects.trino import Trino
from policy_engine.dialects.tsql import TSQL
from policy_engine.errors import UsageError
from policy_engine.policy.warehouse_models import COMPILED

__all__ = ["DIALECTS", "Dialect", "dialect_named"]

_ALL = (
    DuckDB,
    Postgres,
    MariaDB,
    MySQL,
    Spark,
    Databricks,
    Snowflake,
    BigQuery,
    Redshift,
    Trino,
    TSQL,
    ClickHouse,
    DataFusion,
    SQLite,
)
DIALECTS: dict[str, Dialect] = {each.name: each() for each in _ALL}


def dialect_named(name: str) -> Dialect:
    """The dialect called ``name``.

    Raises:
        UsageError: there is none.

    >>> dialect_named("duckdb").name
    'duckdb'
    """
    if name not in DIALECTS:
        known = ", ".join(DIALECTS)
        meant = COMPILED.get(name.lower()) or next(iter(get_close_matches(name, DIALECTS, 1)), "")
        hint = f"; did you mean {meant!r}?" if meant else ""
        raise UsageError(f"the dialect must be one of {known}, found {name!r}{hint}")
    return DIALECTS[name]

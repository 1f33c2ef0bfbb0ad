"""The engines by name: each one table, one template of forms, and a warehouse if it runs here."""

from policy_engine.engines.base import Engine
from policy_engine.engines.bigquery import BIGQUERY
from policy_engine.engines.clickhouse import CLICKHOUSE
from policy_engine.engines.datafusion import DATAFUSION
from policy_engine.engines.duckdb import DUCKDB
from policy_engine.engines.mysql import MARIADB, MYSQL
from policy_engine.engines.postgres import POSTGRES
from policy_engine.engines.redshift import REDSHIFT
from policy_engine.engines.snowflake import SNOWFLAKE
from policy_engine.engines.spark import DATABRICKS, SPARK
from policy_engine.engines.sqlite import SQLITE
from policy_engine.engines.trino import TRINO
from policy_engine.engines.tsql import TSQL

__all__ = ["ENGINES", "Engine"]

ENGINES: dict[str, Engine] = {
    engine.name: engine
    for engine in (
        DUCKDB, POSTGRES, MARIADB, MYSQL, SPARK, DATABRICKS, SNOWFLAKE, BIGQUERY, REDSHIFT, TRINO,
        TSQL, CLICKHOUSE, DATAFUSION, SQLITE,
    )
}  # fmt: skip

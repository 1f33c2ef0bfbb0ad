"""The engines whose SQL the kernel can read, beside its own."""

from __future__ import annotations

from collections.abc import Mapping

from policy_engine.syntax.readings.bigquery import BIGQUERY
from policy_engine.syntax.readings.clickhouse import CLICKHOUSE
from policy_engine.syntax.readings.datafusion import DATAFUSION
from policy_engine.syntax.readings.mysql import MARIADB, MYSQL
from policy_engine.syntax.readings.postgres import POSTGRES
from policy_engine.syntax.readings.reading import Reading
from policy_engine.syntax.readings.redshift import REDSHIFT
from policy_engine.syntax.readings.snowflake import SNOWFLAKE
from policy_engine.syntax.readings.spark import DATABRICKS, SPARK
from policy_engine.syntax.readings.sqlite import SQLITE
from policy_engine.syntax.readings.trino import TRINO
from policy_engine.syntax.readings.tsql import TSQL

_ALL = (
    POSTGRES,
    MARIADB,
    MYSQL,
    SPARK,
    DATABRICKS,
    SNOWFLAKE,
    BIGQUERY,
    REDSHIFT,
    TRINO,
    TSQL,
    CLICKHOUSE,
    DATAFUSION,
    SQLITE,
)
READINGS: Mapping[str, Reading] = {each.name: each for each in _ALL}

"""The engines by name: each one table, one template of forms, and a warehouse if it runs here.

Ours stand here. Others come from packages that are installed (``installed``), and are entered here
before anything is printed for them.
"""

import re
from collections.abc import Mapping
from types import MappingProxyType

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

__all__ = ["ENGINES", "OURS", "Engine", "enter"]

OURS: Mapping[str, Engine] = {
    engine.name: engine
    for engine in (
        DUCKDB, POSTGRES, MARIADB, MYSQL, SPARK, DATABRICKS, SNOWFLAKE, BIGQUERY, REDSHIFT, TRINO,
        TSQL, CLICKHOUSE, DATAFUSION, SQLITE,
    )
}  # fmt: skip
"""Those of this package."""
_KNOWN = {**OURS}
ENGINES: Mapping[str, Engine] = MappingProxyType(_KNOWN)
"""Ours, and those that were entered."""
_NAME = re.compile(r"[a-z][a-z0-9_]{0,62}")


def enter(engine: Engine) -> Engine:
    """Make the engine of another package one of those that a text can be printed for.

    Raises ValueError: its name is another's, or no plain word; its family is none of ours, or it
    does not say what its secret rests on, by whose SQL it is read, or whose it is.
    """
    is_new = engine.name not in ENGINES and _NAME.fullmatch(engine.name) is not None
    says = engine.package and engine.parser and (engine.draws or "secret" in engine.assumes)
    if not (is_new and says and engine.family in ("", *OURS)):
        raise ValueError(engine.name)
    _KNOWN[engine.name] = engine
    return engine

"""What is dbt's own in a project: its packages, and those of the adapter.

A project may install a package under any name, so a name counts only where dbt itself loads it: a
package named dbt_snowflake is no adapter in a project on DuckDB.
"""

from __future__ import annotations

from functools import lru_cache

ALONE = frozenset(
    {
        "athena", "bigquery", "clickhouse", "duckdb", "fabric", "mysql", "postgres", "snowflake",
        "spark", "sqlite", "trino",
    }
)  # fmt: skip
"""Adapters that rest on no other adapter."""
_BASES = frozenset({"fabric", "mysql", "postgres", "spark", "trino"})
"""Adapters on which others rest, as redshift does on postgres."""


@lru_cache(maxsize=8)
def internal_packages(adapter: str) -> frozenset[str]:
    """The packages that dbt loads by itself for an adapter.

    >>> sorted(internal_packages("duckdb"))
    ['dbt', 'dbt_duckdb']
    >>> "dbt_postgres" in internal_packages("redshift")
    True
    """
    bases = frozenset() if adapter in ALONE else _BASES
    return frozenset({"dbt", *(f"dbt_{each}" for each in {adapter, *bases} if each)})

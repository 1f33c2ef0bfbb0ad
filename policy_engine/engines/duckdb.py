"""DuckDB 2.0 and later, the embedded default.

The drawn sample is a relation of row numbers or keys. ``TABLESAMPLE BERNOULLI`` was measured sound
for 2.0 (a seed of 64 bits for each thread); the plain percentage is by blocks, and never written.
"""

from policy_engine.engines.base import Engine

DUCKDB = Engine(
    "duckdb", "DuckDB", 1 << 16, backslash="plain", secret="$salt", draws=True,
    enforces_keys=True, lists=True, zones=True, casts="all", shares=True, sets=True,
    reads_files=True, home="main",
    assumes={
        "native": "the engine is DuckDB 2.0 or later: its random numbers are independent and"
        " uniform",
    },
)  # fmt: skip

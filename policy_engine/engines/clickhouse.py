"""ClickHouse 26.9 and later (measured: 26.9, embedded).

A conversion is a function: a cast to a type that is not Nullable fails on a NULL. ``SAMPLE`` takes
the same rows at every reading (docs/reference/warehouses.md). Names have no backslash, which
escapes there.
"""

from policy_engine.engines.base import Engine

CLICKHOUSE = Engine(
    "clickhouse", "ClickHouse", 200, unnamed="\\", backslash="escapes", case="exact", lists=True,
    zones=True, casts="texts", secret="{salt:String}", home="default",
    assumes={
        "secret": "no reader of the release has access to the queries' parameters, which can be"
        " in system.processes, in the server's query log, and in logs of received requests",
    },
    lacks={
        "bytewise": ("it compares texts by their bytes, and has no collations", "leave it out"),
        "native_sample": ("SAMPLE takes the same rows at every reading", "use method: keyed"),
    },
)  # fmt: skip

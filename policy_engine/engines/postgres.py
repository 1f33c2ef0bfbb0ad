"""PostgreSQL 15 and later (measured: 18).

The secret is a setting of the session that only its own statements read. ``TABLESAMPLE BERNOULLI``
has a seed of 32 bits, found in 328 s, and a parallel join draws one sample a process
(docs/reference/warehouses.md).
"""

from policy_engine.engines.base import Engine

POSTGRES = Engine(
    "postgres", "PostgreSQL", 63, backslash="prefixed", case="quoted", collates=True,
    enforces_keys=True, lists=True, zones=True, casts="texts", shares=True, home="public",
    folds="lower",
    assumes={
        "secret": "no reader of the release has access to the session settings of the"
        " connection, or the server's log, which can hold exact counts",
    },
    lacks={
        "native_sample": ("TABLESAMPLE has a seed of 32 bits, which is guessed in minutes",
                          "use method: keyed"),
    },
)  # fmt: skip

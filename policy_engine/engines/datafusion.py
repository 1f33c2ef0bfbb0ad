"""DataFusion 50 and later (measured: 55), over a folder of Parquet files.

``TABLESAMPLE`` is parsed and ignored: every row is kept (docs/reference/warehouses.md). Its own
dates and times are counted in nanoseconds, an error outside 1677 to 2262: so a time is one in
microseconds here, and is truncated by arithmetic.
"""

from policy_engine.engines.base import Engine

DATAFUSION = Engine(
    "datafusion", "DataFusion", 200, case="quoted", secret="$salt", lists=True, casts="texts",
    home="public", folds="lower", parser="postgres",
    assumes={
        "secret": "no reader of the release has access to the query's parameters, which can be"
        " in the query's plan, and in the memory and logs of the process that runs the query",
        "opening": "the program that opens the table converts these values: -0.0 becomes 0, every"
        " NaN becomes the same NaN, a time with a zone becomes UTC, and a day or time beyond the"
        " year 240,000 becomes NULL",
    },
    lacks={
        "bytewise": ("it compares texts by their bytes, and has no collations", "leave it out"),
        "file": ("its tables are the files of its folder", "name a file in source.table"),
        "native_sample": ("TABLESAMPLE is ignored, and keeps every row", "use method: keyed"),
    },
)  # fmt: skip

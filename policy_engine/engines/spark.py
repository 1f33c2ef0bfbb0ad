"""Spark 4 and Databricks (measured: Spark 4.3.0; Databricks is printed, and never run by us).

A parameter becomes a literal of the plan, which is kept: so the secret is the one row of a
relation. ``TABLESAMPLE (p PERCENT)`` has 1,000 seeds before Spark 4.3; from then on it is
documented, and not measured by us (docs/reference/warehouses.md). ``${…}`` is replaced in texts
before they are read.
"""

from dataclasses import replace

from policy_engine.engines.base import Engine

_LACKS = {
    "file": ("it reads only tables", "make a table of the file, or release from it with DuckDB"),
}  # fmt: skip
_SESSION = (
    "the session's time zone is UTC, ANSI mode is on, and no setting changes what the SQL means"
)
_ASSUMES = {
    "secret": (
        "no reader of the release has access to the relation policy_engine_salts, or the engine's"
        " memory, temporary files, event log and web pages, which hold exact counts"
    ),
    "session": _SESSION,
    "texts": "every text of the source is UTF-8, whichever people are in it",
}
_NATIVE = (
    "the engine is Spark 4.3 or later, and its TABLESAMPLE (p PERCENT) decides about each row"
    " independently, with random numbers that stay secret (this is documented, but was not"
    " measured by us), and " + _SESSION
)
SPARK = Engine(
    "spark", "Spark", 255, quote="`", backslash="escapes", unsaid=("${",), collates=True,
    lists=True, zones=True, casts="texts", home="default",
    assumes={**_ASSUMES, "native": _NATIVE}, lacks=_LACKS,
)  # fmt: skip
DATABRICKS = replace(
    SPARK, name="databricks", title="Databricks", family="spark", lists=False, zones=False, casts=""
)

"""SQLite 3.37 and later, tables declared STRICT only.

It has no SHA-256: the connection defines ``policy_engine_sha256``, and the known-answer test asks
it. Names stand in backticks: one in double quotes that no column has would be a text.
https://www.sqlite.org/quirks.html
"""

from policy_engine.engines.base import Engine

_NO_DATES = ("it has no dates and times", "keep the date as a text, and use prefix")
_AS_IT_IS = (
    "a cast reads 'x' as 0, and SQLite has no regular expressions to find such texts",
    "keep numbers in columns of numbers, and use prefix for a date that is a text",
)

SQLITE = Engine(
    "sqlite", "SQLite", 200, quote="`", unnamed="`", backslash="plain", secret=":salt",
    collates=True, enforces_keys=True, lists=True, shares=True, home="main",
    assumes={
        "secret": "the connection's function policy_engine_sha256 computes SHA-256, and nobody"
        " who may see the release can read the memory of the process that runs the SQL",
        "texts": "every text of the source is UTF-8, whichever people are in it",
    },
    lacks={
        "native_sample": ("it has no TABLESAMPLE, and RANDOM() is not a number between 0 and 1",
                          "use method: keyed"),
        "strict_cast": _AS_IT_IS,
        "try_cast": _AS_IT_IS,
        "repeat": ("it has no function that repeats a row", "use release.as: counts"),
        "decimal_column": ("it has no decimal numbers", "use whole numbers, for example cents"),
        "boolean_column": ("it has no truth values", "use an integer"),
        "label_column": ("it has no enumerations", "use a text"),
        "date_column": _NO_DATES,
        "timestamp_column": _NO_DATES,
        "timestamp_zoned_column": _NO_DATES,
    },
)  # fmt: skip

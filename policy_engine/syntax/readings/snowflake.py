"""Snowflake, as the kernel reads it.

The secret is the session variable ``$policy_engine_salt``, or comes from a secrets relation.
``SHA2(x, 256)`` is lower-case hex. Text is compared by its UTF-8 bytes unless it has a collation
(docs.snowflake.com/sql-reference/collation), and NaN equals itself. What a parameter of the session
decides is assumed: the weekday on which a week starts, the text of a day, the place of NULL.
"""

from __future__ import annotations

from sqlglot import exp

from policy_engine.syntax.lexing import Lexicon
from policy_engine.syntax.readings.forms import Form, form, row_hash
from policy_engine.syntax.readings.reading import ANSI, Reading
from policy_engine.syntax.readings.rounding import rounding_forms

_NAME = "snowflake"
_UNITS = ("year", "quarter", "month", "week", "day", "hour")


def _form(text: str, meaning: str) -> Form:
    return form(_NAME, text, meaning)


SNOWFLAKE = Reading(
    name=_NAME,
    forms=(
        _form("$policy_engine_salt", "$salt"),
        _form("SHA2(_a || ':u:' || CAST(_b AS VARCHAR), 256)", "sha256(_a || ':u:' || _b)"),
        *row_hash(
            _NAME,
            "SHA2({} || ':o:' || CAST(_a AS VARCHAR) || ':' || CAST(_b AS VARCHAR), 256)",
            "$policy_engine_salt",
        ),
        *rounding_forms(_NAME),
        *(_form(f"DATE_TRUNC('{unit}', _a)", f"DATE_TRUNC('{unit}', _a)") for unit in _UNITS),
        _form("CAST(_a AS VARCHAR)", "CAST(_a AS VARCHAR)"),
        _form("CAST(_a AS BIGINT)", "CAST(_a AS BIGINT)"),
        _form("CAST(_a AS DOUBLE)", "CAST(_a AS DOUBLE)"),
        _form("CAST(_a AS DATE)", "CAST(_a AS DATE)"),
        _form("CAST(CONVERT_TIMEZONE('UTC', _a) AS TIMESTAMP_NTZ)", "_a AT TIME ZONE 'UTC'"),
        _form("CAST(_a AS TIMESTAMP_NTZ)", "CAST(_a AS TIMESTAMP)"),
        _form("LEFT(_a, _b)", "LEFT(_a, _b)"),
        _form("_a = CAST('NaN' AS DOUBLE)", "isnan(_a)"),
        _form("COLLATE(_a, '')", '_a COLLATE "binary"'),
    ),
    order_forms=(_form("COLLATE(_a, '')", "_a"),),
    whole_decimals=True,  # a whole number is a NUMBER without decimal places
    types={
        "boolean": "BOOLEAN",
        "number": "DECIMAL",
        # A whole number of any size, which no operation of the forms can overflow.
        "number(38,0)": "BIGINT",
        "decimal": "DECIMAL",
        "float": "DOUBLE",
        "text": "VARCHAR",
        "varchar": "VARCHAR",
        "date": "DATE",
        "time": "TIME",
        "timestamp_ntz": "TIMESTAMP",
        "timestamp_tz": "TIMESTAMP WITH TIME ZONE",
        "timestamp_ltz": "TIMESTAMP WITH TIME ZONE",
    },
    extra={
        exp.Table: frozenset({"this", "db", "catalog", "alias", "sample"}),
        exp.TableSample: frozenset({"method", "percent"}),
        exp.Var: frozenset({"this"}),
    },
    # A backslash before a quote or another backslash is what it is in every text of Snowflake's.
    lexicon=Lexicon(string=r"'(?:[^'\\]|\\\\|\\')*'", line=ANSI.line, block=ANSI.block),
)

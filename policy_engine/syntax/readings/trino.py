"""Trino and Athena, as the kernel reads them.

The secret comes from a secrets relation. ``TO_HEX`` writes capitals, so the hash is put in small
letters before it is compared. VARCHAR has no collation; CHAR is padded and is no type here, nor is
a time with other than three or six digits of a second.
https://trino.io/docs/current/language/types.html
"""

from __future__ import annotations

from sqlglot import exp

from policy_engine.syntax.readings.forms import Form, form, row_hash
from policy_engine.syntax.readings.reading import Reading
from policy_engine.syntax.readings.rounding import rounding_forms

_NAME = "trino"
_UNITS = ("year", "quarter", "month", "week", "day", "hour")


def _form(text: str, meaning: str) -> Form:
    return form(_NAME, text, meaning)


TRINO = Reading(
    name=_NAME,
    forms=(
        _form(
            "LOWER(TO_HEX(SHA256(TO_UTF8(_a || ':u:' || CAST(_b AS VARCHAR)))))",
            "sha256(_a || ':u:' || _b)",
        ),
        *row_hash(
            _NAME,
            "LOWER(TO_HEX(SHA256(TO_UTF8({} || ':o:' || CAST(_a AS VARCHAR) || ':' ||"
            " CAST(_b AS VARCHAR)))))",
        ),
        *rounding_forms(_NAME),
        *(_form(f"DATE_TRUNC('{unit}', _a)", f"DATE_TRUNC('{unit}', _a)") for unit in _UNITS),
        _form("CAST(_a AS VARCHAR)", "CAST(_a AS VARCHAR)"),
        _form("CAST(_a AS BIGINT)", "CAST(_a AS BIGINT)"),
        _form("CAST(_a AS DOUBLE)", "CAST(_a AS DOUBLE)"),
        _form("CAST(_a AS DATE)", "CAST(_a AS DATE)"),
        _form("CAST(AT_TIMEZONE(_a, 'UTC') AS TIMESTAMP(6))", "_a AT TIME ZONE 'UTC'"),
        _form("CAST(_a AS TIMESTAMP(6))", "CAST(_a AS TIMESTAMP)"),
        _form("SUBSTR(_a, 1, _b)", "LEFT(_a, _b)"),
        _form("IS_NAN(_a)", "isnan(_a)"),
    ),
    types={
        "boolean": "BOOLEAN",
        "tinyint": "TINYINT",
        "smallint": "SMALLINT",
        "integer": "INTEGER",
        "bigint": "BIGINT",
        "decimal": "DECIMAL",
        "real": "FLOAT",
        "double": "DOUBLE",
        "varchar": "VARCHAR",
        "date": "DATE",
        "timestamp(3)": "TIMESTAMP",
        "timestamp(6)": "TIMESTAMP",
        "timestamp(3) with time zone": "TIMESTAMP WITH TIME ZONE",
        "timestamp(6) with time zone": "TIMESTAMP WITH TIME ZONE",
        "uuid": "UUID",
    },
    extra={
        exp.Table: frozenset({"this", "db", "catalog", "alias", "sample"}),
        exp.TableSample: frozenset({"method", "percent"}),
        exp.Var: frozenset({"this"}),
    },
)

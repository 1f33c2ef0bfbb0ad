"""PostgreSQL, as the kernel reads it.

The secret is a session setting: ``current_setting('policy_engine.salt')``. ``sha256`` of bytea is
compared with bytea, byte by byte. Equality under a deterministic collation is that of the bytes;
a nondeterministic one is a type of its own here. https://www.postgresql.org/docs/18/functions.html
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from policy_engine.syntax.readings.forms import Form, Holes, form, is_asked_for, row_hash
from policy_engine.syntax.readings.reading import Reading
from policy_engine.syntax.readings.rounding import rounding_forms

_NAME = "postgres"


def _form(text: str, meaning: str) -> Form:
    return form(_NAME, text, meaning)


def _no_number(holes: Holes) -> bool:
    """A NULL of a decimal type, which gives the value its precision."""
    nothing = holes["_n"]
    return (
        type(nothing) is exp.Cast
        and isinstance(nothing.this, exp.Null)
        and nothing.to.is_type("decimal")
    )


# A NaN among decimals, which no other engine has, is a NULL.
_NUMBER = replace(
    form(_NAME, "CASE WHEN _a < CAST('NaN' AS DECIMAL) THEN _a ELSE _n END", "_a", _no_number),
    dropped=frozenset({"_n"}),
)
_ROW = "sha256(convert_to({} || ':o:' || CAST(_a AS TEXT) || ':' || CAST(_b AS TEXT), 'UTF8'))"
_KEYED = "sha256(convert_to({} || ':u:' || CAST(_a AS TEXT), 'UTF8')) < decode(_b, 'hex')"
_STARTS = tuple(
    _form(text.replace("unit", unit), meaning.replace("unit", unit))
    for unit in ("year", "quarter", "month", "week", "day", "hour")
    for text, meaning in (
        (
            "CAST(date_trunc('unit', CAST(_a AS TIMESTAMP)) AS DATE)",
            "CAST(DATE_TRUNC('unit', _a) AS DATE)",
        ),
        ("date_trunc('unit', CAST(_a AS TIMESTAMP))", "DATE_TRUNC('unit', _a)"),
    )
)

POSTGRES = Reading(
    name=_NAME,
    forms=(
        _form(
            _KEYED.format("current_setting('policy_engine.salt')"),
            "sha256($salt || ':u:' || CAST(_a AS VARCHAR)) < _b",
        ),
        form(
            _NAME,
            _KEYED.format("_s"),
            "sha256(_s || ':u:' || CAST(_a AS VARCHAR)) < _b",
            is_asked_for,
        ),
        *row_hash(_NAME, _ROW, "current_setting('policy_engine.salt')"),
        *rounding_forms(_NAME, "CAST(_a AS DOUBLE PRECISION)"),
        *_STARTS,
        _NUMBER,
        _form("CAST(_a AS TEXT)", "CAST(_a AS VARCHAR)"),
        _form("CAST(_a AS VARCHAR)", "CAST(_a AS VARCHAR)"),
        _form("CAST(_a AS BIGINT)", "CAST(_a AS BIGINT)"),
        _form("CAST(_a AS DATE)", "CAST(_a AS DATE)"),
        _form("CAST(_a AS TIMESTAMP)", "CAST(_a AS TIMESTAMP)"),
        _form("CAST(_a AS DOUBLE PRECISION)", "CAST(_a AS DOUBLE)"),
        _form("LEFT(_a, _b)", "LEFT(_a, _b)"),
        _form("_a AT TIME ZONE 'UTC'", "_a AT TIME ZONE 'UTC'"),
        _form("_a = CAST('NaN' AS DOUBLE PRECISION)", "isnan(_a)"),
        _form('_a COLLATE "C"', '_a COLLATE "binary"'),
        _form("generate_series(1, _a)", "UNNEST(RANGE(_a))"),
    ),
    types={
        "boolean": "BOOLEAN",
        "smallint": "SMALLINT",
        "integer": "INTEGER",
        "bigint": "BIGINT",
        "int2": "SMALLINT",
        "int4": "INTEGER",
        "int8": "BIGINT",
        "int": "INTEGER",
        "numeric": "DECIMAL",
        "decimal": "DECIMAL",
        "real": "FLOAT",
        "float4": "FLOAT",
        "double precision": "DOUBLE",
        "float8": "DOUBLE",
        "text": "VARCHAR",
        "varchar": "VARCHAR",
        "character varying": "VARCHAR",
        "date": "DATE",
        "time without time zone": "TIME",
        "timestamp": "TIMESTAMP",
        "timestamp without time zone": "TIMESTAMP",
        "timestamptz": "TIMESTAMP WITH TIME ZONE",
        "timestamp with time zone": "TIMESTAMP WITH TIME ZONE",
        "uuid": "UUID",
    },
    longest_name=63,
)

"""Spark 4 and Databricks, as the kernel reads them.

The secret is one row of a relation: ``(SELECT salt FROM policy_engine_salts WHERE …)``, which the
kernel reads by itself. A parameter, ``:salt``, would stand in the plans that the UI and the event
log keep, so there is no form for it. https://spark.apache.org/docs/latest/sql-ref-syntax.html

Its lexer has traps that the tokens here leave out (measured on 4.3.0): a backslash at the end of a
line goes on with a ``--`` comment; ``${x}`` is replaced inside quotes too, before anything is
parsed; comments nest; ``"x"`` is a text; ``VARCHAR(3)`` and ``CHAR(3)`` are read as STRING.
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from policy_engine.syntax.lexing import Lexicon
from policy_engine.syntax.readings.forms import Form, Holes, form, row_hash
from policy_engine.syntax.readings.reading import Reading
from policy_engine.syntax.readings.rounding import rounding_forms

_NAME = "spark"


def _form(text: str, meaning: str) -> Form:
    return form(_NAME, text, meaning)


def _is_query(holes: Holes) -> bool:
    return isinstance(holes["_s"], exp.Subquery)


def _is_written(holes: Holes) -> bool:
    """Whether what is converted stands in the text."""
    return isinstance(holes["_a"], exp.Literal) and bool(holes["_a"].is_string)


def _is_read(holes: Holes) -> bool:
    return isinstance(holes["_a"], exp.Column)


_KEYED = form(
    _NAME,
    "sha2(_s || ':u:' || CAST(_a AS STRING), 256) < _t",
    "sha256(_s || ':u:' || CAST(_a AS VARCHAR)) < _t",
    _is_query,
)
_STARTS = tuple(
    _form(
        f"CAST(DATE_TRUNC('{unit}', _a) AS {native})",
        f"CAST(DATE_TRUNC('{unit}', _a) AS DATE)" if native == "DATE" else
        f"DATE_TRUNC('{unit}', _a)",
    )
    for unit in ("year", "quarter", "month", "week", "day", "hour")
    for native in ("DATE", "TIMESTAMP_NTZ")
)  # fmt: skip
# Bounded before FLOOR, which fails beyond 64 bits; beside decimals the steps are exact.
_ROUNDED = rounding_forms(_NAME, exact_whole="CAST(_n AS DECIMAL(19, 0))", kept="LEAST(_n, _l)")
SPARK = Reading(
    name=_NAME,
    forms=(
        _KEYED,
        *row_hash(
            _NAME, "sha2({} || ':o:' || CAST(_a AS STRING) || ':' || CAST(_b AS STRING), 256)"
        ),
        *_ROUNDED,
        *_STARTS,
        _form("CAST(_a AS STRING)", "CAST(_a AS VARCHAR)"),
        # A decimal is cut here and rounded there: a cast to BIGINT has a form for sums only.
        _form("CAST(SUM(_a) AS BIGINT)", "CAST(SUM(_a) AS BIGINT)"),
        _form("CAST(_a AS DOUBLE)", "CAST(_a AS DOUBLE)"),
        form(_NAME, "CAST(_a AS DATE)", "CAST(_a AS DATE)", _is_written),
        form(_NAME, "CAST(_a AS TIMESTAMP_NTZ)", "CAST(_a AS TIMESTAMP)", _is_written),
        form(_NAME, "CAST(_a AS TIMESTAMP_NTZ)", "_a AT TIME ZONE 'UTC'", _is_read),
        _form("LEFT(_a, _b)", "LEFT(_a, _b)"),
        _form("ISNAN(_a)", "isnan(_a)"),
        _form("_a COLLATE UTF8_BINARY", '_a COLLATE "binary"'),
        _form("EXPLODE(ARRAY_REPEAT(1, CAST(_a AS INT)))", "UNNEST(RANGE(_a))"),
    ),
    types={
        "boolean": "BOOLEAN",
        "tinyint": "TINYINT",
        "byte": "TINYINT",
        "smallint": "SMALLINT",
        "short": "SMALLINT",
        "int": "INTEGER",
        "integer": "INTEGER",
        "bigint": "BIGINT",
        "long": "BIGINT",
        # A FLOAT is compared with a decimal number as a DOUBLE here, and as a FLOAT by DuckDB.
        "double": "DOUBLE",
        "decimal": "DECIMAL",
        "dec": "DECIMAL",
        "numeric": "DECIMAL",
        "string": "VARCHAR",
        "varchar": "VARCHAR",
        "text": "VARCHAR",
        "date": "DATE",
        "timestamp_ntz": "TIMESTAMP",
        "timestampntz": "TIMESTAMP",
        "timestamp": "TIMESTAMP WITH TIME ZONE",
        "timestamp_ltz": "TIMESTAMP WITH TIME ZONE",
        "timestampltz": "TIMESTAMP WITH TIME ZONE",
        "timestamptz": "TIMESTAMP WITH TIME ZONE",
    },
    bernoulli=True,
    lexicon=Lexicon(
        string=r"'(?:[^'\\$]|\$(?!\{)|\\[\\'nrt])*'",
        name=r"`(?:[^`\\$]|\$(?!\{)|``)+`",
        line=r"--(?=[ \r\n]|$)(?![^\r\n]*[\\$])",
        block=r"/\*(?=[ \r\n])(?!(?:(?!\*/).)*\$\{)",
        unread="varchar char character nchar nvarchar",
    ),
    extra={
        exp.Table: frozenset({"this", "db", "catalog", "alias", "sample"}),
        exp.TableSample: frozenset({"percent"}),
    },
)
DATABRICKS = replace(SPARK, name="databricks", parser=_NAME)

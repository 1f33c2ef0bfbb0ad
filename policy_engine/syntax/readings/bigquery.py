"""BigQuery, as the kernel reads it.

The secret comes from a secrets relation. Names stand in backticks, a text in single quotes with a
backslash before a quote; a double quote would open a text, and is refused. What becomes text says
of which type it is, for CAST drops the zeros of a NUMERIC.
https://cloud.google.com/bigquery/docs/reference/standard-sql/lexical
"""

from __future__ import annotations

from dataclasses import replace

from policy_engine.syntax.lexing import Lexicon
from policy_engine.syntax.literals import number
from policy_engine.syntax.readings.forms import Form, Holes, form, row_hash
from policy_engine.syntax.readings.reading import BACKTICKS, Reading
from policy_engine.syntax.readings.rounding import rounding_forms

_NAME = "bigquery"
_MOST_DECIMALS, _MOST_DIGITS = 9, 15
_UNITS = {unit: unit for unit in ("year", "quarter", "month", "day", "hour")} | {"week": "isoweek"}


def _form(text: str, meaning: str) -> Form:
    return form(_NAME, text, meaning)


def _rounding() -> tuple[Form, ...]:
    """Rounding, where the NUMERIC of a literal step is that step."""
    forms = rounding_forms(
        _NAME,
        "CAST(_a AS FLOAT64)",
        "CAST(_n AS INT64)",
        "CAST(_n AS NUMERIC)",
        step="CAST(_s AS NUMERIC)",
        most_decimals=_MOST_DECIMALS,
    )
    return (forms[0], *(_where(each, digits) for digits, each in enumerate(forms[1:])))


def _where(known: Form, digits: int) -> Form:
    """``known`` for steps of exactly ``digits`` decimal places: the text does not say them."""
    fits = known.where
    assert fits is not None

    def shows(holes: Holes) -> bool:
        step = number(holes["_s"])
        if step is None or not fits(holes):
            return False
        places = len(holes["_s"].name.partition(".")[2])
        return places == digits and len(holes["_s"].name) <= _MOST_DIGITS

    return replace(known, where=shows)


_STARTS = tuple(
    _form(text, meaning)
    for unit, part in _UNITS.items()
    for text, meaning in (
        (
            f"CAST(DATETIME_TRUNC(CAST(_a AS DATETIME), {part.upper()}) AS DATE)",
            f"CAST(DATE_TRUNC('{unit}', _a) AS DATE)",
        ),
        (f"DATETIME_TRUNC(CAST(_a AS DATETIME), {part.upper()})", f"DATE_TRUNC('{unit}', _a)"),
    )
)

BIGQUERY = Reading(
    name=_NAME,
    forms=(
        _form("TO_HEX(SHA256(_a || ':u:' || CAST(_b AS STRING)))", "sha256(_a || ':u:' || _b)"),
        *row_hash(
            _NAME, "TO_HEX(SHA256({} || ':o:' || CAST(_a AS STRING) || ':' || CAST(_b AS STRING)))"
        ),
        *_rounding(),
        *_STARTS,
        _form("FORMAT('%d', _a)", "CAST(_a AS VARCHAR)"),
        _form(
            "CASE WHEN _a THEN 'true' WHEN NOT _a THEN 'false' END",
            "CAST(_a AS VARCHAR)",
        ),
        _form("CAST(_a AS INT64)", "CAST(_a AS BIGINT)"),
        _form("CAST(_a AS FLOAT64)", "CAST(_a AS DOUBLE)"),
        _form("CAST(_a AS DATE)", "CAST(_a AS DATE)"),
        _form("CAST(_a AS DATETIME)", "CAST(_a AS TIMESTAMP)"),
        _form("DATETIME(_a, 'UTC')", "_a AT TIME ZONE 'UTC'"),
        _form("LEFT(_a, _b)", "LEFT(_a, _b)"),
        _form("IS_NAN(_a)", "isnan(_a)"),
        _form("COLLATE(_a, '')", '_a COLLATE "binary"'),
    ),
    order_forms=(_form("COLLATE(_a, '')", "_a"),),
    types={
        "bool": "BOOLEAN",
        "int64": "BIGINT",
        "numeric": "DECIMAL",
        "float64": "DOUBLE",
        "string": "VARCHAR",
        "date": "DATE",
        "time": "TIME",
        "datetime": "TIMESTAMP",
        "timestamp": "TIMESTAMP WITH TIME ZONE",
    },
    # A backslash in a name, or a line's end in a text, is not read as it stands.
    lexicon=Lexicon(
        string=r"'(?:[^'\\\n\r]|\\\\|\\')*'",
        name=r"`[^`\\]+`",
        line=BACKTICKS.line,
        block=BACKTICKS.block,
    ),
)

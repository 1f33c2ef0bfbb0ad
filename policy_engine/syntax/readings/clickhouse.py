"""ClickHouse, as the kernel reads it.

A conversion is a function (``toString``): a cast to a type that is not Nullable fails on a NULL, so
no form has one. SHA256 gives bytes, which are compared as lower-case hex. A backslash escapes in
texts and in names, so names have none. https://clickhouse.com/docs/sql-reference/syntax
"""

from __future__ import annotations

from sqlglot import exp

from policy_engine.syntax.lexing import Lexicon
from policy_engine.syntax.literals import moment, ordinal
from policy_engine.syntax.readings.forms import Form, Holes, form, is_asked_for, row_hash
from policy_engine.syntax.readings.reading import Reading
from policy_engine.syntax.readings.rounding import counted, exact_forms, fits_a_step, rounded

_NAME = "clickhouse"
_LEXICON = Lexicon(
    string=r"'(?:[^'\\]|''|\\\\|\\')*'",
    name=r'"(?:[^"\\]|"")+"',
    parameter=r"\{salt:String\}",
    line=r"--(?=[ \r\n]|$)",
    block=r"/\*(?=[ \r\n])",
)


def _literal(holes: Holes) -> bool:
    """A day or a time that every reader reads alike: here 31 February is a day of March."""
    return holes["_a"].is_string and moment(holes["_a"].name) is not None


def _first(holes: Holes) -> bool:
    """A number of characters; below zero it would count from the end."""
    return isinstance(holes["_b"], exp.Literal) and ordinal(holes["_b"]) is not None


def _rounding() -> tuple[Form, ...]:
    """Of a value that is in range in both branches: here both may be computed of any row."""
    value = "toFloat64(_a)"
    steps = counted(value)
    safe = f"toInt64(CASE WHEN abs({value}) < _l THEN {steps} ELSE 0 END)"
    text = f"CASE WHEN abs({value}) < _l THEN {safe} * {{}} END"
    return (
        form(_NAME, text.format("_s"), rounded("BIGINT"), fits_a_step(None)),
        *(
            form(
                _NAME,
                text.format(f"toDecimal64(_w, {digits})"),
                rounded(f"DECIMAL(18, {digits})"),
                fits_a_step(digits),
            )
            for digits in range(19)
        ),
    )


_DAY = "toDate32(_a, 'UTC')"
_STARTS = {
    "year": ("makeDate32(toYear(_a), 1, 1)",),
    "quarter": ("makeDate32(toYear(_a), toQuarter(_a) * 3 - 2, 1)",),
    "month": ("makeDate32(toYear(_a), toMonth(_a), 1)",),
    "week": (
        "subtractDays(toDate32(_a), toDayOfWeek(_a) - 1)",
        "subtractDays(_a, toDayOfWeek(_a) - 1)",
    ),
    "day": ("toDate32(_a)", "_a"),
}


def _truncations() -> tuple[Form, ...]:
    """As a whole: what is no day or time has no place between two days, and would be parsed."""
    found = []
    for unit, texts in _STARTS.items():
        found.append(_guarded(texts[0], f"CAST(DATE_TRUNC('{unit}', _a) AS DATE)"))
        of_time = f"toDateTime64({texts[-1].replace('_a', _DAY)}, 6, 'UTC')"
        found.append(_guarded(of_time, f"DATE_TRUNC('{unit}', _a)"))
    hour = f"addHours(toDateTime64({_DAY}, 6, 'UTC'), toHour(_a, 'UTC'))"
    return (*found, _guarded(hour, "DATE_TRUNC('hour', _a)"))


def _guarded(text: str, meaning: str) -> Form:
    here = "_a BETWEEN toDate32('0001-01-01') AND toDate32('9999-12-31')"
    there = "_a BETWEEN CAST('0001-01-01' AS DATE) AND CAST('9999-12-31' AS DATE)"
    return _form(f"CASE WHEN {here} THEN {text} END", f"CASE WHEN {there} THEN {meaning} END")


def _form(text: str, meaning: str) -> Form:
    return form(_NAME, text, meaning)


_ROW = "lower(hex(SHA256({} || ':o:' || toString(_a) || ':' || toString(_b))))"
_KEYED = "lower(hex(SHA256({} || ':u:' || toString(_a)))) < _b"

CLICKHOUSE = Reading(
    name=_NAME,
    forms=(
        _form(
            _KEYED.format("{salt:String}"),
            "sha256($salt || ':u:' || CAST(_a AS VARCHAR)) < _b",
        ),
        form(
            _NAME,
            _KEYED.format("_s"),
            "sha256(_s || ':u:' || CAST(_a AS VARCHAR)) < _b",
            is_asked_for,
        ),
        *row_hash(_NAME, _ROW, "{salt:String}"),
        form(_NAME, "toDate32(_a)", "CAST(_a AS DATE)", _literal),
        form(_NAME, "toDateTime64(_a, 6, 'UTC')", "CAST(_a AS TIMESTAMP)", _literal),
        *_rounding(),
        *exact_forms(_NAME, "toDecimal128(_w, _d)"),
        *_truncations(),
        _form("toString(_a)", "CAST(_a AS VARCHAR)"),
        _form("toFloat64(_a)", "CAST(_a AS DOUBLE)"),
        _form("toInt64(COUNT(*))", "COUNT(*)"),
        _form("toInt64(SUM(_a))", "CAST(SUM(_a) AS BIGINT)"),
        form(_NAME, "leftUTF8(_a, _b)", "LEFT(_a, _b)", _first),
        _form("toTimeZone(_a, 'UTC')", "_a AT TIME ZONE 'UTC'"),
        _form("isNaN(_a)", "isnan(_a)"),
        _form("arrayJoin(range(_a))", "UNNEST(RANGE(_a))"),
    ),
    types={
        "bool": "BOOLEAN",
        "int8": "TINYINT",
        "int16": "SMALLINT",
        "int32": "INTEGER",
        "int64": "BIGINT",
        "uint8": "UTINYINT",
        "uint16": "USMALLINT",
        "uint32": "UINTEGER",
        "uint64": "UBIGINT",
        "float32": "FLOAT",
        "float64": "DOUBLE",
        "decimal": "DECIMAL",
        "string": "VARCHAR",
        "date": "DATE",
        "date32": "DATE",
        "datetime": "TIMESTAMP",
        **{f"datetime64({digits})": "TIMESTAMP" for digits in range(7)},
        "uuid": "UUID",
    },
    lexicon=_LEXICON,
    # Of NaN it is false: before x DESC it puts NaN where the kernel's order has it.
    null_term="_a = _a",
)

"""DataFusion, as the kernel reads it.

Its SQL is parsed as PostgreSQL's. ``sha256`` gives bytes, which are compared as lower-case hex. A
cast fails on a value that does not fit, so the forms have TRY_CAST; a time that meets a day is
counted in nanoseconds, and fails outside 1677 to 2262, so a time is compared with a time.
https://datafusion.apache.org/user-guide/sql/
"""

from __future__ import annotations

from sqlglot import exp

from policy_engine.syntax.literals import moment, ordinal
from policy_engine.syntax.readings.forms import Form, Holes, form, is_asked_for, row_hash
from policy_engine.syntax.readings.reading import Reading
from policy_engine.syntax.readings.rounding import exact_forms, rounding_forms

# PostgreSQL's grammar, read by the parser under that name.
_PARSER = "postgres"
_MICROS = "'Timestamp(Microsecond, None)'"


def _form(text: str, meaning: str) -> Form:
    return form(_PARSER, text, meaning)


def _literal(holes: Holes) -> bool:
    """A day or a time that every reader reads alike."""
    return holes["_a"].is_string and moment(holes["_a"].name) is not None


def _value(holes: Holes) -> bool:
    return not isinstance(holes["_a"], exp.Literal)


def _first(holes: Holes) -> bool:
    """A number of characters; below zero it would count from the end."""
    return isinstance(holes["_b"], exp.Literal) and ordinal(holes["_b"]) is not None


_OF_DAYS = {
    "year": "make_date(extract(year from _a), 1, 1)",
    "quarter": "make_date(extract(year from _a), extract(quarter from _a) * 3 - 2, 1)",
    "month": "make_date(extract(year from _a), extract(month from _a), 1)",
    "week": "arrow_cast(CAST(_a AS INT) - ((CAST(_a AS INT) + 3) % 7 + 7) % 7, 'Date32')",
    "day": "_a",
}
_HOUR = (
    "arrow_cast(CAST(_a AS BIGINT) - (CAST(_a AS BIGINT) % 3600000000 + 3600000000) % 3600000000,"
    f" {_MICROS})"
)
_FIRST, _LAST = (f"arrow_cast('{day} 00:00:00', {_MICROS})" for day in ("0001-01-01", "9999-12-31"))


def _truncations() -> tuple[Form, ...]:
    """Of a day, and of a time between the first and the last day: as a whole, for the parts fail.

    A day's own parts fail beyond the year 262,142; the warehouse reads such a day as NULL.
    """
    found = []
    days = "_a BETWEEN CAST('0001-01-01' AS DATE) AND CAST('9999-12-31' AS DATE)"
    times = f"_a BETWEEN {_FIRST} AND {_LAST}"
    for unit, text in _OF_DAYS.items():
        start = f"DATE_TRUNC('{unit}', _a)"
        found.append(
            _form(
                f"CASE WHEN {days} THEN {text} END",
                f"CASE WHEN {days} THEN CAST({start} AS DATE) END",
            )
        )
        of_time = text.replace("_a", "CAST(_a AS DATE)")
        found.append(
            _form(
                f"CASE WHEN {times} THEN arrow_cast({of_time}, {_MICROS}) END",
                f"CASE WHEN {days} THEN {start} END",
            )
        )
    hour = f"CASE WHEN {times} THEN {_HOUR} END"
    return (*found, _form(hour, f"CASE WHEN {days} THEN DATE_TRUNC('hour', _a) END"))


_ROW = "encode(sha256({} || ':o:' || CAST(_a AS VARCHAR) || ':' || CAST(_b AS VARCHAR)), 'hex')"
_KEYED = "encode(sha256({} || ':u:' || CAST(_a AS VARCHAR)), 'hex') < _b"

DATAFUSION = Reading(
    name="datafusion",
    parser=_PARSER,
    forms=(
        _form(
            _KEYED.format("$salt"),
            "sha256($salt || ':u:' || CAST(_a AS VARCHAR)) < _b",
        ),
        form(
            _PARSER,
            _KEYED.format("_s"),
            "sha256(_s || ':u:' || CAST(_a AS VARCHAR)) < _b",
            is_asked_for,
        ),
        *row_hash(_PARSER, _ROW, "$salt"),
        *rounding_forms(
            _PARSER,
            "CAST(_a AS DOUBLE)",
            "TRY_CAST(_n AS BIGINT)",
            "TRY_CAST(_n AS DECIMAL(18, _d))",
            step="CAST(_w AS DECIMAL(18, _d))",
        ),
        *exact_forms(_PARSER, "CAST(_w AS DECIMAL(18, _d))"),
        *_truncations(),
        form(_PARSER, "CAST(_a AS DATE)", "CAST(_a AS DATE)", _literal),
        form(_PARSER, f"arrow_cast(_a, {_MICROS})", "CAST(_a AS TIMESTAMP)", _literal),
        form(_PARSER, f"arrow_cast(_a, {_MICROS})", "_a AT TIME ZONE 'UTC'", _value),
        _form("CAST(_a AS VARCHAR)", "CAST(_a AS VARCHAR)"),
        _form("CAST(_a AS DOUBLE)", "CAST(_a AS DOUBLE)"),
        _form("CAST(SUM(_a) AS BIGINT)", "CAST(SUM(_a) AS BIGINT)"),
        form(_PARSER, "LEFT(_a, _b)", "LEFT(_a, _b)", _first),
        _form("isnan(_a)", "isnan(_a)"),
        _form("unnest(range(0, _a))", "UNNEST(RANGE(_a))"),
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
        "float": "FLOAT",
        "double": "DOUBLE",
        "decimal128": "DECIMAL",
        "string": "VARCHAR",
        "large_string": "VARCHAR",
        "string_view": "VARCHAR",
        "date32[day]": "DATE",
        "timestamp[us]": "TIMESTAMP",
    },
)

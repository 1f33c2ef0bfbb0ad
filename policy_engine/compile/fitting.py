"""Which types a recoding takes, and what mends it where a column has another."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal

from policy_engine.compile.catalog import KEPT_AS_TEXT, NUMBERS, TIMES, Field, Kind
from policy_engine.compile.claims import type_of
from policy_engine.kernel import recodes
from policy_engine.kernel.recodes.meanings import recode_meaning
from policy_engine.kernel.recodes.round.recode import DIGITS, PLACES, is_exact
from policy_engine.kernel.types import MOST_DIGITS, places_of, whole_digits_of
from policy_engine.policy.recodings import Recoding
from policy_engine.values import frozen

_LOOKED_UP = frozenset(
    {Kind.TEXT, Kind.LABEL, Kind.INTEGER, Kind.WIDE_INTEGER, Kind.BOOLEAN, Kind.DATE, Kind.UUID}
    | {Kind.DECIMAL}
)
_MOMENTS = TIMES | {Kind.DATE}
_KEPT = _LOOKED_UP | TIMES | {Kind.TIME}
_MOST_CHARACTERS = 999_999_999


@frozen
class Misfit:
    """The law of a recoding that a column breaks, and what mends it."""

    law: str
    remedy: str


def type_problem(recoding: Recoding, column: Field, *, casts: bool = True) -> Misfit | None:
    """Which law of ``recoding`` a column of this type breaks; None if none.

    ``casts``: the engine can read the column as another type, so that it may be the remedy.

    >>> type_problem(recodes.Prefix(3), Field("age", "INTEGER")).remedy
    'read it as text with source.columns'
    >>> type_problem(recodes.Prefix(3), Field("age", "INTEGER"), casts=False).remedy
    'use bins or round'
    """
    kind = column.kind
    match recoding:
        case recodes.Constant():
            return None
        case _ if kind is Kind.OTHER:
            remedy = "use constant, or leave it out"
            if casts:
                remedy = "use constant, read it as text with source.columns, or leave it out"
            law = f"of the recodings constant alone takes the type {column.noun}"
            return Misfit(law, remedy)
        case recodes.Keep() if kind is Kind.DOUBLE:
            return Misfit("keep takes no floating-point number", "use bins or round")
        case recodes.Keep():
            return _unless(kind in _KEPT, "keep takes a plain value", kind, "leave it out")
        case recodes.Bins(cuts):
            return _bins_problem(cuts, column, casts=casts)
        case recodes.Map():
            law = "map and hierarchy take labels"
            return _unless(kind in _LOOKED_UP, law, kind, _that_fits(column))
        case recodes.Prefix(length) if length > _MOST_CHARACTERS:
            return Misfit(f"prefix takes at most {_MOST_CHARACTERS} characters", "use keep")
        case recodes.Prefix():
            remedy = "read it as text with source.columns" if casts else _that_fits(column)
            return _unless(kind in {Kind.TEXT, Kind.LABEL}, "prefix takes text", kind, remedy)
        case recodes.Round():
            return _round_problem(recoding, column, casts=casts)
        case recodes.Truncate(unit):
            return _truncate_problem(unit, column, casts=casts)
        case _:
            fits = recoding.fits(type_of(column, collates=False))
            law = f"{type(recoding).__name__.lower()} does not fit"
            return _unless(fits, law, kind, _that_fits(column))


def measure_problem(step: Decimal, column: Field, *, casts: bool = True) -> Misfit | None:
    """Why a column of this type has no measure; None if it has. ``casts`` as for a recoding.

    >>> measure_problem(Decimal(1), Field("cost", "VARCHAR")).remedy
    'read it as a number with source.columns'
    >>> measure_problem(Decimal(1), Field("born", "DATE")).remedy
    'name a column of numbers'
    """
    fits = recodes.Round(step).fits(type_of(column, collates=False))
    is_read = casts and readable(column.kind, "double")
    remedy = "read it as a number with source.columns" if is_read else "name a column of numbers"
    return _unless(fits, "a measure takes numbers", column.kind, remedy)


def missing_problem(recoding: Recoding, column: Field, is_named: bool) -> Misfit | None:
    """Why NULL has no name in what a recoding shows of a column of this type; None if it may.

    >>> missing_problem(recodes.Keep(), Field("age", "INTEGER"), True).law
    'missing is a text, and what is kept a whole number'
    """
    shown_as_text = column.kind in KEPT_AS_TEXT | {Kind.TEXT}
    if not is_named or not recode_meaning(recoding).keeps or shown_as_text:
        return None
    return Misfit(f"missing is a text, and what is kept {column.noun}", "use bins or map")


def _that_fits(column: Field) -> str:
    """The remedy that takes a column as it is."""
    if column.kind in NUMBERS:
        is_rounded = column.kind is not Kind.WIDE_INTEGER
        if is_rounded and is_exact(type_of(column, collates=False)):
            return "use bins or round"
        return "use bins"
    if column.kind in _WORDS:
        return "use prefix or keep"
    return "use bins or truncate" if column.kind in _MOMENTS else "use keep"


def _round_problem(recoding: recodes.Round, column: Field, *, casts: bool) -> Misfit | None:
    if not recoding.is_plain:
        places = f"at most {PLACES} decimal places and {DIGITS} digits"
        return Misfit(f"round takes a step of {places}, up to 10^17", "use a plainer one")
    if not is_exact(type_of(column, collates=False)):
        law = f"round takes a decimal number of at most {DIGITS} digits, or 6 behind"
        law = f"{law} the point, found {column.type}"
        return Misfit(law, "use bins, or a column with fewer digits")
    remedy = _instead(column, "double", casts=casts)
    numbers = NUMBERS - {Kind.WIDE_INTEGER}
    return _unless(column.kind in numbers, "round takes a number", column.kind, remedy)


def _instead(column: Field, declared: str, *, casts: bool) -> str:
    """The remedy for a column of another kind: how to read it, or what fits it."""
    wanted = "number" if declared == "double" else declared
    if casts and column.kind not in NUMBERS | _MOMENTS and readable(column.kind, declared):
        return f"read it as a {wanted} with source.columns"
    return _that_fits(column)


_WORDS = frozenset({Kind.TEXT, Kind.LABEL})
_READABLE = {
    **dict.fromkeys(("integer", "double", "boolean"), _WORDS | NUMBERS | {Kind.BOOLEAN}),
    **dict.fromkeys(("date", "timestamp"), _WORDS | _MOMENTS),
    "text": frozenset(Kind),
}


def readable(kind: Kind, declared: str) -> bool:
    """Whether any value of a column of ``kind`` can be read as the declared type.

    >>> readable(Kind.TEXT, "date"), readable(Kind.DATE, "integer")
    (True, False)
    """
    return kind in _READABLE[declared]


def _unless(holds: bool, law: str, kind: Kind, remedy: str) -> Misfit | None:
    return None if holds else Misfit(f"{law}, found {kind.value}", remedy)


def _bins_problem(cuts: Sequence[object], column: Field, *, casts: bool) -> Misfit | None:
    kind = column.kind
    numbers = [cut for cut in cuts if isinstance(cut, Decimal)]
    if any(whole_digits_of(cut) + places_of(cut) > MOST_DIGITS for cut in numbers):
        return Misfit(f"bins take cuts of at most {MOST_DIGITS} digits", "use plainer ones")
    if numbers:
        remedy = "write the cut points as dates"
        if kind not in NUMBERS | _MOMENTS:
            remedy = _instead(column, "double", casts=casts)
        if kind not in NUMBERS:
            return Misfit(f"bins of numbers take a number, found {kind.value}", remedy)
        whole = all(cut == cut.to_integral_value() for cut in numbers)
        if kind in {Kind.INTEGER, Kind.WIDE_INTEGER} and not whole:
            return Misfit("bins of a whole number need whole cut points", "round them up")
        return None
    if kind is Kind.DATE and isinstance(cuts[0], datetime):
        return Misfit("bins of a date need dates, found timestamps", "leave out the time of day")
    remedy = "write the cut points as numbers"
    if kind not in NUMBERS:
        is_time = isinstance(cuts[0], datetime)
        remedy = _instead(column, "timestamp" if is_time else "date", casts=casts)
    return _unless(kind in _MOMENTS, "bins of dates take a date or time", kind, remedy)


def _truncate_problem(unit: str, column: Field, *, casts: bool) -> Misfit | None:
    remedy = _instead(column, "timestamp" if unit == "hour" else "date", casts=casts)
    if column.kind is Kind.DATE and unit == "hour":
        return Misfit(f"truncate: {unit} takes a time, found a date", "use day or more")
    return _unless(column.kind in _MOMENTS, "truncate takes a date or time", column.kind, remedy)

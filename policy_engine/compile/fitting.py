"""Which types a recoding takes, and what mends it where a column has another."""

from __future__ import annotations

from decimal import Decimal

from policy_engine.compile.catalog import KEPT_AS_TEXT, NUMBERS, TIMES, Field, Kind
from policy_engine.compile.claims import type_of
from policy_engine.kernel import recodes
from policy_engine.kernel.recodes.meanings import recode_meaning
from policy_engine.kernel.recodes.round.recode import is_exact
from policy_engine.policy.recodings import Recoding
from policy_engine.values import frozen

_MOMENTS = TIMES | {Kind.DATE}


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
    if not recoding.reads:
        return None
    if column.kind is Kind.OTHER:
        remedy = "use constant, or leave it out"
        if casts:
            remedy = "use constant, read it as text with source.columns, or leave it out"
        return Misfit(f"of the recodings constant alone takes the type {column.noun}", remedy)
    seen = type_of(column, collates=False)
    unfit = recode_meaning(recoding).unfit(seen, column.kind.value, column.type)
    if unfit is None:
        return None
    return Misfit(unfit.law, unfit.remedy or _instead(column, unfit.wants, casts=casts))


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
    law = f"a measure takes numbers, found {column.kind.value}"
    return None if fits else Misfit(law, remedy)


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


def _instead(column: Field, declared: str, *, casts: bool) -> str:
    """The remedy for a column of another kind: how to read it, or what fits it."""
    is_other = declared == "text" or column.kind not in NUMBERS | _MOMENTS
    if not (casts and declared and is_other and readable(column.kind, declared)):
        return _that_fits(column)
    named = {"text": "text", "double": "a number"}.get(declared, f"a {declared}")
    return f"read it as {named} with source.columns"


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

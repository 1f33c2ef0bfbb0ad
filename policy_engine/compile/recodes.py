"""A recoding and a column → the expression that computes it, and which types it takes.

Every expression is total: whatever a row holds, it yields a value and no error, because an
error would tell that the row exists. NULL stays NULL; a value that the recoding does not
name gets the label that the policy gave for it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal

from sqlglot import exp

from policy_engine.compile.catalog import NUMBERS, TIMES, Kind
from policy_engine.dialects.base import Dialect
from policy_engine.policy.recodings import (
    Bins,
    Constant,
    Keep,
    Lookup,
    Prefix,
    Recoding,
    Round,
    Truncate,
)

_LOOKED_UP = frozenset(
    {Kind.TEXT, Kind.LABEL, Kind.INTEGER, Kind.WIDE_INTEGER, Kind.BOOLEAN, Kind.DATE, Kind.UUID}
    | {Kind.DECIMAL}
)
_KEPT = _LOOKED_UP | TIMES | {Kind.TIME}
_KEPT_AS_TEXT = frozenset({Kind.LABEL, Kind.WIDE_INTEGER, Kind.UUID})
_FIRST_DAY, _LAST_DAY = date(1, 1, 1), date(9999, 12, 31)
_HOURS = ("hour",)


def type_problem(recoding: Recoding, kind: Kind) -> str | None:
    """Which law of ``recoding`` a column of this kind breaks, with a remedy; None if none.

    >>> type_problem(Prefix(3), Kind.INTEGER)
    'prefix takes text, found a whole number; read it as text with source.columns'
    """
    match recoding:
        case Constant():
            return None
        case Keep() if kind is Kind.FLOAT:
            return f"keep takes no {_noun(kind)}; use bins or round"
        case Keep():
            return _unless(kind in _KEPT, "keep takes a plain value", kind, "leave it out")
        case Bins(cuts):
            return _bins_problem(cuts, kind)
        case Lookup():
            remedy = "use bins or round"
            return _unless(kind in _LOOKED_UP, "map and hierarchy take labels", kind, remedy)
        case Prefix():
            remedy = "read it as text with source.columns"
            return _unless(kind in {Kind.TEXT, Kind.LABEL}, "prefix takes text", kind, remedy)
        case Round():
            remedy = "read it as a number with source.columns"
            numbers = NUMBERS - {Kind.WIDE_INTEGER}
            return _unless(kind in numbers, "round takes a number", kind, remedy)
        case Truncate(unit):
            return _truncate_problem(unit, kind)


def _noun(kind: Kind) -> str:
    return kind.value.removeprefix("a ")


def _unless(holds: bool, law: str, kind: Kind, remedy: str) -> str | None:
    return None if holds else f"{law}, found {kind.value}; {remedy}"


def _bins_problem(cuts: Sequence[object], kind: Kind) -> str | None:
    if isinstance(cuts[0], Decimal):
        remedy = "read it as a number with source.columns"
        if kind not in NUMBERS:
            return f"bins of numbers take a number, found {kind.value}; {remedy}"
        whole = all(cut == cut.to_integral_value() for cut in cuts if isinstance(cut, Decimal))
        if kind in {Kind.INTEGER, Kind.WIDE_INTEGER} and not whole:
            return "bins of a whole number need whole cut points; round them up"
        return None
    remedy = "read it as a date with source.columns"
    times = TIMES | {Kind.DATE}
    return _unless(kind in times, "bins of dates take a date or time", kind, remedy)


def _truncate_problem(unit: str, kind: Kind) -> str | None:
    remedy = "read it as a date with source.columns"
    if kind is Kind.DATE and unit in _HOURS:
        return f"truncate: {unit} takes a time, found a date; use day or more"
    times = TIMES | {Kind.DATE}
    return _unless(kind in times, "truncate takes a date or time", kind, remedy)


def recode(recoding: Recoding, value: exp.Expr, kind: Kind, dialect: Dialect) -> exp.Expr:
    """The expression of ``recoding`` over ``value``, which is of ``kind``."""
    match recoding:
        case Constant(label):
            return exp.Literal.string(label)
        case Keep():
            return _cast(value, "VARCHAR") if kind in _KEPT_AS_TEXT else value
        case Bins(cuts, labels):
            return _bins(cuts, labels, value, kind, dialect)
        case Lookup(table, other):
            return _lookup(table, other, value, kind)
        case Prefix(length):
            text = value if kind is Kind.TEXT else _cast(value, "VARCHAR")
            return exp.Left(this=text, expression=exp.Literal.number(length))
        case Round(step):
            return _round(step, value, kind)
        case Truncate(unit):
            return _truncate(unit, value, kind, dialect)


def _cast(node: exp.Expr, kind: str) -> exp.Cast:
    return exp.Cast(this=node, to=exp.DataType.build(kind, dialect="duckdb"))


def _null_case(value: exp.Expr) -> exp.Case:
    is_null = exp.Is(this=value.copy(), expression=exp.Null())
    return exp.Case(ifs=[exp.If(this=is_null, true=exp.Null())])


def _label(text: str | None) -> exp.Expr:
    return exp.Null() if text is None else exp.Literal.string(text)


def _bins(
    cuts: Sequence[object],
    labels: Sequence[str],
    value: exp.Expr,
    kind: Kind,
    dialect: Dialect,
) -> exp.Expr:
    # A decimal or a 128-bit number may not fit the type of the cut: both fit a DOUBLE.
    compared = _cast(value, "DOUBLE") if kind in {Kind.DECIMAL, Kind.WIDE_INTEGER} else value
    case = _null_case(value)
    if kind is Kind.FLOAT:
        case.append("ifs", exp.If(this=dialect.is_nan(value.copy()), true=exp.Null()))
    for cut, label in zip(cuts, labels, strict=False):
        below = exp.LT(this=compared.copy(), expression=_cut(cut))
        case.append("ifs", exp.If(this=below, true=_label(label)))
    case.set("default", _label(labels[-1]))
    return case


def _cut(cut: object) -> exp.Expr:
    if isinstance(cut, Decimal):
        return _number(cut)
    kind = "TIMESTAMP" if isinstance(cut, datetime) else "DATE"
    text = cut.isoformat(" ") if isinstance(cut, datetime) else str(cut)
    return _cast(exp.Literal.string(text), kind)


def _number(number: Decimal) -> exp.Expr:
    literal = exp.Literal.number(f"{abs(number):f}")
    return exp.Neg(this=literal) if number < 0 else literal


def _lookup(
    table: Sequence[tuple[str, str | None]], other: str | None, value: exp.Expr, kind: Kind
) -> exp.Expr:
    keys: dict[str | None, list[str]] = defaultdict(list)
    for key, label in table:
        keys[label].append(key)
    text = value if kind is Kind.TEXT else _cast(value, "VARCHAR")
    case = _null_case(text)
    for label, members in keys.items():
        literals = [exp.Literal.string(member) for member in members]
        known = exp.In(this=text.copy(), expressions=literals)
        case.append("ifs", exp.If(this=known, true=_label(label)))
    case.set("default", _label(other))
    return case


def _round(step: Decimal, value: exp.Expr, kind: Kind) -> exp.Expr:
    quotient = exp.Div(this=_cast(value, "DOUBLE"), expression=_number(step))
    product = exp.Mul(this=exp.Round(this=quotient), expression=_number(step))
    digits = max(0, -int(step.normalize().as_tuple().exponent))
    exact = "BIGINT" if kind is Kind.INTEGER and not digits else f"DECIMAL(18, {digits})"
    # What does not fit, NaN and ±inf become NULL instead of an error.
    return exp.TryCast(this=product, to=exp.DataType.build(exact, dialect="duckdb"), safe=True)


def _truncate(unit: str, value: exp.Expr, kind: Kind, dialect: Dialect) -> exp.Expr:
    start = dialect.truncate(value.copy(), unit)
    # DATE_TRUNC fails at the ends of the calendar, so it is asked inside these years only.
    inside = exp.Between(this=value.copy(), low=_cut(_FIRST_DAY), high=_cut(_LAST_DAY))
    result = _cast(start, "DATE") if kind is Kind.DATE else start
    return exp.Case(ifs=[exp.If(this=inside, true=result)])

"""A recoding and a column → the expression that computes it, and which types it takes.

Every expression is total: whatever a row holds, it yields a value and no error, because an
error would tell that the row exists. NULL stays NULL; a value that the recoding does not
name gets the label that the policy gave for it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import date, datetime
from decimal import MAX_PREC, Context, Decimal

from sqlglot import exp

from policy_engine.compile.catalog import NUMBERS, TIMES, Column, Kind
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
_MOST_DIGITS = 18
_MOST_DECIMAL_DIGITS = 38
_INT128 = 1 << 127
_WHOLE = Context(prec=MAX_PREC)


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
        case Round(step) if _digits(step) > _MOST_DIGITS:
            return f"round takes a step of at most {_MOST_DIGITS} decimal places; use a coarser one"
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


def recode(recoding: Recoding, value: exp.Expr, column: Column, dialect: Dialect) -> exp.Expr:
    """The expression of ``recoding`` over ``value``, which is of the type of ``column``."""
    kind = column.kind
    match recoding:
        case Constant(label):
            return exp.Literal.string(label)
        case Keep():
            return _cast(value, "VARCHAR") if kind in _KEPT_AS_TEXT else value
        case Bins(cuts, labels):
            return _bins(cuts, labels, value, column, dialect)
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
    column: Column,
    dialect: Dialect,
) -> exp.Expr:
    case = _null_case(value)
    if column.kind is Kind.FLOAT:
        case.append("ifs", exp.If(this=dialect.is_nan(value.copy()), true=exp.Null()))
    for cut, label in zip(cuts, labels, strict=False):
        case.append("ifs", exp.If(this=_below(cut, value, column), true=_label(label)))
    case.set("default", _label(labels[-1]))
    return case


def _below(cut: object, value: exp.Expr, column: Column) -> exp.Expr:
    # A comparison converts both sides to one type, and a value that does not fit it is an
    # error: where there is no common type for every value, both are compared as DOUBLE.
    if not isinstance(cut, Decimal) or column.kind is Kind.FLOAT:
        return exp.LT(this=value.copy(), expression=_cut(cut))
    if _has_common_type(cut, column):
        return exp.LT(this=value.copy(), expression=_exact(cut))
    return exp.LT(this=_cast(value.copy(), "DOUBLE"), expression=_cut(cut))


def _has_common_type(cut: Decimal, column: Column) -> bool:
    """Whether the engine compares every value of the column with ``cut`` exactly."""
    if column.kind is Kind.DECIMAL:
        width, scale = column.precision
        whole = max(width - scale, cut.adjusted() + 1)
        return whole + max(scale, _digits(cut)) <= _MOST_DECIMAL_DIGITS
    if column.type.upper() == "UHUGEINT":
        return 0 <= cut < 2 * _INT128
    return -_INT128 < cut < _INT128


def _digits(number: Decimal) -> int:
    """How many decimal places a number needs."""
    return max(0, -int(number.normalize(_WHOLE).as_tuple().exponent))


def _cut(cut: object) -> exp.Expr:
    if isinstance(cut, Decimal):
        return _number(cut)
    kind = "TIMESTAMP" if isinstance(cut, datetime) else "DATE"
    text = cut.isoformat(" ") if isinstance(cut, datetime) else str(cut)
    return _cast(exp.Literal.string(text), kind)


def _number(number: Decimal) -> exp.Expr:
    """A literal to calculate with: whole numbers past 128 bits are written as DOUBLE."""
    text = f"{number.copy_abs():f}"
    past = "." not in text and int(text) >= _INT128
    return _signed(number, f"{text}.0" if past else text)


def _exact(number: Decimal) -> exp.Expr:
    """A literal to compare with: without trailing zeros, which would widen its type."""
    return _signed(number, f"{number.copy_abs().normalize(_WHOLE):f}")


def _signed(number: Decimal, text: str) -> exp.Expr:
    literal = exp.Literal.number(text)
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
    digits = _digits(step)
    exact = "BIGINT" if kind is Kind.INTEGER and not digits else f"DECIMAL(18, {digits})"
    # What does not fit, NaN and ±inf become NULL instead of an error.
    return exp.TryCast(this=product, to=exp.DataType.build(exact, dialect="duckdb"), safe=True)


def _truncate(unit: str, value: exp.Expr, kind: Kind, dialect: Dialect) -> exp.Expr:
    start = dialect.truncate(value.copy(), unit)
    # DATE_TRUNC fails at the ends of the calendar, so it is asked inside these years only.
    inside = exp.Between(this=value.copy(), low=_cut(_FIRST_DAY), high=_cut(_LAST_DAY))
    result = _cast(start, "DATE") if kind is Kind.DATE else start
    return exp.Case(ifs=[exp.If(this=inside, true=result)])

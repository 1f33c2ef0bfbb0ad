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
_MOMENTS = TIMES | {Kind.DATE}
_KEPT = _LOOKED_UP | TIMES | {Kind.TIME}
_KEPT_AS_TEXT = frozenset({Kind.LABEL, Kind.WIDE_INTEGER, Kind.UUID})
_FIRST_DAY, _LAST_DAY = date(1, 1, 1), date(9999, 12, 31)
_HOURS = ("hour",)
_MOST_DECIMALS = 18
# A longer literal is no exact number of the engine, and the kernel does not read it.
_MOST_DIGITS = 38
_MOST_CHARACTERS = 999_999_999
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
            remedy = "use bins or truncate" if kind in TIMES else "use bins or round"
            return _unless(kind in _LOOKED_UP, "map and hierarchy take labels", kind, remedy)
        case Prefix(length) if length > _MOST_CHARACTERS:
            return f"prefix takes at most {_MOST_CHARACTERS} characters; use keep"
        case Prefix():
            remedy = "read it as text with source.columns"
            return _unless(kind in {Kind.TEXT, Kind.LABEL}, "prefix takes text", kind, remedy)
        case Round(step) if _digits(step) > _MOST_DECIMALS or _is_long(step):
            law = f"at most {_MOST_DECIMALS} decimal places and {_MOST_DIGITS} digits"
            return f"round takes a step of {law}; use a plainer one"
        case Round():
            remedy = _instead(kind, times="use truncate")
            numbers = NUMBERS - {Kind.WIDE_INTEGER}
            return _unless(kind in numbers, "round takes a number", kind, remedy)
        case Truncate(unit):
            return _truncate_problem(unit, kind)


def _instead(kind: Kind, *, times: str = "", numbers: str = "") -> str:
    """The remedy for a column of another kind: what fits it, or how to read it."""
    if times and kind in _MOMENTS:
        return times
    if numbers and kind in NUMBERS:
        return numbers
    wanted, declared = ("number", "double") if times else ("date", "date")
    return f"read it as a {wanted} with source.columns" if readable(kind, declared) else "use keep"


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


def _noun(kind: Kind) -> str:
    return kind.value.removeprefix("a ")


def _unless(holds: bool, law: str, kind: Kind, remedy: str) -> str | None:
    return None if holds else f"{law}, found {kind.value}; {remedy}"


def _bins_problem(cuts: Sequence[object], kind: Kind) -> str | None:
    if any(isinstance(cut, Decimal) and _is_long(cut) for cut in cuts):
        return f"bins take cuts of at most {_MOST_DIGITS} digits; use plainer ones"
    if isinstance(cuts[0], Decimal):
        remedy = _instead(kind, times="write the cut points as dates")
        if kind not in NUMBERS:
            return f"bins of numbers take a number, found {kind.value}; {remedy}"
        whole = all(cut == cut.to_integral_value() for cut in cuts if isinstance(cut, Decimal))
        if kind in {Kind.INTEGER, Kind.WIDE_INTEGER} and not whole:
            return "bins of a whole number need whole cut points; round them up"
        return None
    remedy = _instead(kind, numbers="write the cut points as numbers")
    if kind is Kind.DATE and isinstance(cuts[0], datetime):
        return "bins of a date need dates, found timestamps; leave out the time of day"
    return _unless(kind in _MOMENTS, "bins of dates take a date or time", kind, remedy)


def _truncate_problem(unit: str, kind: Kind) -> str | None:
    remedy = _instead(kind, numbers="use round or bins")
    if kind is Kind.DATE and unit in _HOURS:
        return f"truncate: {unit} takes a time, found a date; use day or more"
    return _unless(kind in _MOMENTS, "truncate takes a date or time", kind, remedy)


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
    compared = value.copy()
    if isinstance(cut, Decimal) and not _has_common_type(cut, column):
        compared = _cast(compared, "DOUBLE")
    return exp.LT(this=compared, expression=_cut(cut))


def _has_common_type(cut: Decimal, column: Column) -> bool:
    """Whether every value of the column and ``cut`` convert to one type."""
    if column.kind is Kind.DECIMAL:
        return False
    return cut >= 0 or column.type.upper() != "UHUGEINT"


def _digits(number: Decimal) -> int:
    """How many decimal places a number needs."""
    return max(0, -int(number.normalize(_WHOLE).as_tuple().exponent))


def _cut(cut: object) -> exp.Expr:
    if isinstance(cut, Decimal):
        return _number(cut)
    kind = "TIMESTAMP" if isinstance(cut, datetime) else "DATE"
    text = cut.isoformat(" ") if isinstance(cut, datetime) else str(cut)
    return _cast(exp.Literal.string(text), kind)


def _is_long(number: Decimal) -> bool:
    return len(_plain(number).replace(".", "")) > _MOST_DIGITS


def _plain(number: Decimal) -> str:
    """The digits of a number: no sign, no exponent, no trailing zeros that widen its type."""
    return f"{number.copy_abs().normalize(_WHOLE):f}"


def _number(number: Decimal) -> exp.Expr:
    literal = exp.Literal.number(_plain(number))
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

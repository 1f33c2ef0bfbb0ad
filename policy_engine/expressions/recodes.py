"""Reading a column's expression back as a recoding of the policy language.

Each reader knows the one form in which a recoding may be written; anything else is None, a
function outside the language. ``reading`` peels off the conversions that change how a value
is written but not which value it is: to text where texts are looked at, to a floating-point
number where numbers are.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Literal, cast

from sqlglot import exp

from policy_engine.expressions.datatypes import FLOATS, holds_exactly
from policy_engine.kernel.types import places_of
from policy_engine.policy import recodings
from policy_engine.syntax.literals import bare, moment, number, ordinal
from policy_engine.syntax.names import fold

_YEARS = (date(1, 1, 1), date(9999, 12, 31))
_AS_TEXT = ("TEXT", "VARCHAR")
_UNITS = frozenset({"year", "quarter", "month", "week", "day", "hour"})
_MOST_DECIMALS = 18
# A value and one step together stay below this: a tenth of the range is left to inexact literals.
_MOST = 9 * Fraction(10) ** (_MOST_DECIMALS - 1)
_MOST_STEPS = Fraction(10) ** _MOST_DECIMALS
# Whoever cuts off more than that does something else than to round.
_LEAST_LIMIT, _LEAST_STEPS = Fraction(10) ** 9, 1000


@dataclass(frozen=True)
class Reading:
    """A source column, and the type it is cast to before it is recoded (None: its own)."""

    column: str
    read_as: str | None


_Found = tuple[recodings.Recoding, Reading] | None


def read_recoding(
    node: exp.Expr, kind: str | None = None
) -> tuple[recodings.Recoding, str | None, str | None] | None:
    """The recoding, its source column and the type that column is read as; else None.

    ``kind`` is the column's type: bins of floating-point numbers must say where NaN belongs.
    """
    node = bare(node)
    if kind == "BOOLEAN":
        node = node.transform(_of_a_truth_value)
    text = _text(node)
    if text is not None:
        return recodings.Constant(text), None, None
    for reader in (_read_round, _read_plain, _read_truncate, _read_case):
        found = reader(node)
        if found is not None:
            recoding, column = found
            loose = (
                isinstance(recoding, recodings.Intervals)
                and kind in FLOATS
                and not node.find(exp.IsNan)
            )
            return None if loose else (recoding, column.column, column.read_as)
    return None


def _of_a_truth_value(node: exp.Expr) -> exp.Expr:
    """A truth value as a truth value is itself."""
    same = type(node) is exp.Cast and node.to.is_type("boolean")
    return node.this if same and isinstance(bare(node.this), exp.Column) else node


def reading(node: exp.Expr, *kept: str) -> Reading | None:
    """``node`` as a source column under conversions that keep the value; else None.

    A CAST to one of the types ``kept`` is such a conversion; TRY_CAST declares a type.
    """
    node = bare(node)
    if isinstance(node, exp.Column):
        return Reading(node.name, None)
    if isinstance(node, exp.Cast):
        kind = str(node.to.sql("duckdb")).upper()
        inner = reading(node.this)
        if isinstance(node, exp.TryCast):
            return Reading(inner.column, kind) if inner and inner.read_as is None else None
        return inner if kind in kept else None
    if isinstance(node, exp.Collate) and fold(node.expression.name) == "binary":
        return reading(node.this, *kept)
    if isinstance(node, exp.AtTimeZone) and _text(node.args["zone"]) == "UTC":
        return reading(node.this)
    return None


def _text(node: exp.Expr) -> str | None:
    return node.name if isinstance(node, exp.Literal) and node.is_string else None


def _read_plain(node: exp.Expr) -> _Found:
    """A column as it is, or the first characters of one."""
    if not isinstance(node, exp.Left):
        found = reading(node, *_AS_TEXT)
        return (recodings.Keep(), found) if found else None
    found, length = reading(node.this, *_AS_TEXT), ordinal(node.expression)
    return (recodings.Prefix(length), found) if found and length is not None else None


def _only_branch(node: exp.Expr) -> tuple[exp.Expr, exp.Expr] | None:
    """The condition and the value of ``CASE WHEN condition THEN value END``."""
    if not isinstance(node, exp.Case) or node.this or node.args.get("default"):
        return None
    branches = node.args["ifs"]
    return (branches[0].this, branches[0].args["true"]) if len(branches) == 1 else None


def _read_round(node: exp.Expr) -> _Found:
    """``ROUND(x / s) * s``, or of x below a limit whole steps, counted exactly."""
    if not isinstance(node, exp.TryCast):
        return None
    test, value = _only_branch(bare(node.this)) or (None, node.this)
    product = bare(value)
    if not isinstance(product, exp.Mul):
        return None
    counted = bare(product.this)
    if test is not None:
        if not isinstance(counted, exp.Cast) or not counted.to.is_type("bigint"):
            return None
        counted = bare(counted.this)
    if not isinstance(counted, exp.Round) or counted.args.get("decimals"):
        return None
    quotient = bare(counted.this)
    if not isinstance(quotient, exp.Div):
        return None
    step, found = _decimal(quotient.expression), reading(quotient.this, "DOUBLE")
    if found is None or step is None or step != _decimal(product.expression):
        return None
    # Multiples of the step must fit their type without a second rounding.
    size = [ordinal(part.this) for part in node.to.expressions]
    exact = node.to.this == exp.DType.DECIMAL and size == [_MOST_DECIMALS, places_of(step)]
    if node.to.is_type("bigint"):
        exact = step == step.to_integral_value()
    if not exact or (test is not None and not _is_below(test, step, found, size)):
        return None
    return recodings.Round(step), found


def _is_below(test: exp.Expr, step: Decimal, found: Reading, size: list[int | None]) -> bool:
    """Whether ``ABS(x) < limit`` keeps the multiples of the step within their type."""
    if not isinstance(test, exp.LT) or not isinstance(test.this, exp.Abs):
        return False
    limit = _decimal(test.expression)
    if limit is None or reading(test.this.this, "DOUBLE") != found:
        return False
    return is_bounded(Fraction(step), Fraction(limit), size[1] if size else None)


def is_bounded(step: Fraction, limit: Fraction, digits: int | None) -> bool:
    """Whether the multiples of ``step`` next to values below ``limit`` fit DECIMAL(18, digits).

    ``digits`` None stands for BIGINT, which holds 18 digits too. A limit below which there is
    next to nothing is none that a rounding has.

    >>> is_bounded(Fraction(1, 4), Fraction(10**15), 2), is_bounded(Fraction(1, 4), Fraction(1), 1)
    (True, False)
    """
    scale = 10 ** (digits or 0)
    if not 0 < step <= _MOST or (step * scale).denominator != 1:
        return False
    most = _MOST_STEPS + step if digits is None else _MOST / scale
    least = min(_LEAST_LIMIT, _LEAST_STEPS * step)
    return least <= limit <= min(most - step, step * _MOST_STEPS)


def _read_truncate(node: exp.Expr) -> _Found:
    guard, value = _only_branch(node) or (node, node)
    if not isinstance(guard, exp.Between):
        return None
    value = bare(value)
    as_date = isinstance(value, exp.Cast) and value.to.is_type("date")
    value = bare(value.this) if as_date else value
    if not isinstance(value, exp.DateTrunc | exp.TimestampTrunc):
        return None
    unit, inner = value.args["unit"].name.lower(), bare(value.this)
    if unit == "week" and isinstance(inner, exp.Greatest):
        # ``x`` of ``GREATEST(x, the first day)``, which is x wherever a guard lets it be.
        bounded = [_cut(other) for other in inner.expressions] == [_YEARS[0]]
        inner = inner.this if bounded else inner
    found = reading(inner)
    bounds = (_cut(guard.args["low"]), _cut(guard.args["high"]))
    if found is None or reading(guard.this) != found or bounds != _YEARS:
        return None
    known = unit in _UNITS and not (as_date and unit == "hour")
    return (recodings.Truncate(cast(recodings.TruncateUnit, unit)), found) if known else None


_Label = str | None | Literal[False]
"""A text, or NULL; False is neither."""


def _label(node: exp.Expr) -> _Label:
    text = _text(node)
    return None if isinstance(node, exp.Null) else False if text is None else text


def _read_case(node: exp.Expr) -> _Found:
    """Bins or a lookup: ``CASE WHEN x IS NULL THEN NULL … ELSE label END``."""
    if not isinstance(node, exp.Case) or node.this or not node.args.get("default"):
        return None
    (first, nothing), *rest = [(branch.this, branch.args["true"]) for branch in node.args["ifs"]]
    asks = isinstance(first, exp.Is) and isinstance(first.expression, exp.Null)
    found = reading(first.this, *_AS_TEXT) if asks and isinstance(nothing, exp.Null) else None
    default = _label(node.args["default"])
    if found is None or default is False:
        return None
    if rest and isinstance(rest[0][0], exp.IsNan):
        if reading(rest[0][0].this) != found or not isinstance(rest[0][1], exp.Null):
            return None
        rest = rest[1:]
    branches = [(test, _label(value)) for test, value in rest]
    recoding = _bins(branches, default, found) or _lookup(branches, default, found)
    return (recoding, found) if recoding else None


def _bins(
    branches: list[tuple[exp.Expr, _Label]], default: str | None, found: Reading
) -> recodings.Intervals | None:
    cuts: list[recodings.Cut] = []
    labels: list[str] = []
    for test, label in branches:
        cut = _cut(test.expression) if isinstance(test, exp.LT) else None
        same = isinstance(test, exp.LT) and reading(test.this, "DOUBLE") == found
        if cut is None or not same or not isinstance(label, str):
            return None
        cuts.append(cut)
        labels.append(label)
    alike = len({type(cut) for cut in cuts}) == 1
    if default is None or not alike or any(a >= b for a, b in pairwise(cuts)):  # type: ignore[operator]
        return None
    return recodings.Intervals(tuple(cuts), (*labels, default))


def _lookup(
    branches: list[tuple[exp.Expr, _Label]], default: str | None, found: Reading
) -> recodings.Lookup | None:
    table: dict[str, str | None] = {}
    for test, label in branches:
        if not isinstance(test, exp.In) or label is False:
            return None
        if reading(test.this, *_AS_TEXT) != found:
            return None
        for key in test.expressions:
            text = _text(key)
            if text is None or text in table:
                return None
            table[text] = label
    return recodings.Lookup(tuple(sorted(table.items())), default)


def _decimal(node: exp.Expr) -> Decimal | None:
    if isinstance(node, exp.Neg):
        inner = _decimal(node.this)
        return None if inner is None else -inner
    return None if number(node) is None else Decimal(node.name)


def _cut(node: exp.Expr) -> recodings.Cut | None:
    if type(node) is not exp.Cast:
        return _decimal(node)
    text = _text(node.this) or ""
    if holds_exactly(node.to, text):
        return Decimal(text)
    found = moment(text)
    if found is not None and node.to.is_type("date") and " " not in text:
        return found.date()
    timed = node.to.is_type("timestamp", "timestampntz") and " " in text
    return found if timed else None


def written(recoding: recodings.Recoding, column: str, kind: str | None = None) -> exp.Expr | None:
    """The plainest expression of bins or a lookup; None for other recodings, and where NaN is one.

    >>> print(written(recodings.Intervals((Decimal(18),), ("child", "adult")), "age"))
    CASE WHEN "age" IS NULL THEN NULL WHEN "age" < 18 THEN 'child' ELSE 'adult' END
    """
    if kind in FLOATS:
        return None
    value = exp.column(column, quoted=True)
    case = exp.Case(ifs=[exp.If(this=value.is_(exp.null()), true=exp.null())])
    if isinstance(recoding, recodings.Intervals):
        for cut, label in zip(recoding.cuts, recoding.labels, strict=False):
            case = case.when(exp.LT(this=value.copy(), expression=_literal(cut)), _label_of(label))
        return case.else_(_label_of(recoding.labels[-1]))
    if isinstance(recoding, recodings.Lookup):
        for key, text in recoding.table:
            case = case.when(exp.EQ(this=value.copy(), expression=_label_of(key)), _label_of(text))
        return case.else_(_label_of(recoding.other))
    return None


def _label_of(text: str | None) -> exp.Expr:
    return exp.null() if text is None else exp.Literal.string(text)


def _literal(cut: recodings.Cut) -> exp.Expr:
    if isinstance(cut, Decimal):
        return exp.Literal.number(f"{cut:f}") if cut >= 0 else exp.Neg(this=_literal(-cut))
    kind = "timestamp" if isinstance(cut, datetime) else "date"
    return exp.cast(exp.Literal.string(str(cut)), kind)

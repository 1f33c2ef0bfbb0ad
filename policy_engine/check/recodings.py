"""A stranger's expression over one column → the recoding that it may mean.

Generous: what is found is shown to whoever wrote the text, and printed anew; nobody trusts it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from itertools import pairwise
from typing import Any

from sqlglot import exp

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

Point = Decimal | str | bool | date | datetime
Range = tuple[tuple[str, ...], Point | None, Point | None]
"""The values that meet a condition, else from where on and below what."""

_LOOSE = (exp.Paren, exp.Collate, exp.Trim, exp.Cast, exp.TryCast, exp.AtTimeZone)
_CONVERTS = re.compile(
    r"arrow_cast|collate|convert_timezone|totimezone|tostring|to(date|datetime|decimal|float|int)\d+",
    re.IGNORECASE,
)
_UNITS = (
    (r"hour", "hour"),
    (r"dayofyear", "year"),
    (r"dayofmonth", "month"),
    (r"week", "week"),
    (r"month", "month"),
    (r"quarter", "quarter"),
    (r"year", "year"),
    (r"day|date", "day"),
)
_CALENDAR = re.compile(
    r"trunc|startof|year|month|quarter|week|hour|day|datefromparts|makedate", re.I
)
_COMPARES: dict[type[exp.Expr], Callable[[Point, Point], bool]] = {
    exp.LT: lambda a, b: a < b,  # type: ignore[operator]
    exp.LTE: lambda a, b: a <= b,  # type: ignore[operator]
    exp.GT: lambda a, b: a > b,  # type: ignore[operator]
    exp.GTE: lambda a, b: a >= b,  # type: ignore[operator]
    exp.EQ: lambda a, b: a == b,
    exp.NEQ: lambda a, b: a != b,
}


class NotUnderstood(Exception):
    """An expression that no recoding can mean, and why."""


def bare(node: exp.Expr) -> exp.Expr:
    """``node`` without what only says how a value is written or compared."""
    while isinstance(node, _LOOSE) or _is_loose(node):
        node = node.expressions[0] if isinstance(node, exp.Anonymous) else node.this
    return node


def _is_loose(node: exp.Expr) -> bool:
    """Whether a function of an engine's own only converts its first argument."""
    named = isinstance(node, exp.Anonymous) and _CONVERTS.fullmatch(str(node.this))
    return bool(named and node.expressions)


def columns_in(node: exp.Expr) -> tuple[str, ...]:
    """The columns that an expression reads, each once; not those of a query inside it."""
    found = [column for column in node.find_all(exp.Column) if not _is_asked(column, node)]
    return tuple(dict.fromkeys(column.name for column in found))


def _is_asked(node: exp.Expr, within: exp.Expr) -> bool:
    inner = node.find_ancestor(exp.Select)
    return inner is not None and inner is not within.find_ancestor(exp.Select)


def recoding_of(node: exp.Expr) -> Recoding:
    """The recoding that an expression over at most one column may mean.

    Raises:
        NotUnderstood: none.
    """
    read = columns_in(node)
    if len(read) > 1:
        raise NotUnderstood(f"it reads {', '.join(read)}: a released column reads one")
    inner = bare(node)
    if not read:
        if isinstance(inner, exp.Literal):
            return Constant(inner.name)
        raise NotUnderstood("it reads no column, and is no text")
    if isinstance(inner, exp.Column):
        as_day = node.find(exp.Cast)
        is_day = as_day is not None and as_day.to.is_type("date")
        return Truncate("day") if is_day else Keep()
    if isinstance(inner, exp.Case | exp.If):
        try:
            return _of_a_case(inner)
        except (TypeError, ValueError, ArithmeticError):
            raise NotUnderstood("it compares values of several types") from None
    for reader in (_prefix, _calendar, _round):
        found = reader(inner)
        if found is not None:
            return found
    raise NotUnderstood("no recoding of the language does this")


def _prefix(node: exp.Expr) -> Recoding | None:
    named = node.sql_name() if isinstance(node, exp.Func) else ""
    if isinstance(node, exp.Anonymous):
        named = str(node.this)
    if not re.search("left|substr", named, re.I):
        return None
    numbers = [number for each in node.find_all(exp.Literal) if (number := _point(each))]
    lengths = [int(number) for number in numbers if isinstance(number, Decimal) and number >= 1]
    return Prefix(lengths[-1]) if lengths else None


def _calendar(node: exp.Expr) -> Recoding | None:
    bare_of_names = node.transform(lambda n: exp.column("x") if isinstance(n, exp.Column) else n)
    text = bare_of_names.sql()
    if not _CALENDAR.search(text) or node.find(exp.Round):
        return None
    words = " ".join(re.findall(r"[A-Za-z_]+", text)).lower()
    unit = next((unit for pattern, unit in _UNITS if re.search(pattern, words)), None)
    return Truncate(unit) if unit else None  # type: ignore[arg-type]


def _round(node: exp.Expr) -> Recoding | None:
    places = node.args.get("decimals") if isinstance(node, exp.Round) else None
    if places is not None and isinstance(number := _point(places), Decimal):
        return Round(Decimal(1).scaleb(-int(number)))
    if not node.find(exp.Round, exp.Floor, exp.IntDiv, exp.Ceil, exp.Mod):
        return None
    parts = node.find_all(exp.Div, exp.Mul, exp.IntDiv, exp.Mod)
    steps = [each for part in parts for side in (part.this, part.expression)
             if isinstance(each := _point(side), Decimal) and each > 0]  # fmt: skip
    return Round(steps[0]) if steps else Round(Decimal(1))


# CASE: its label at every value that it tells apart


def _of_a_case(node: exp.Expr) -> Recoding:
    # A branch that reads the column is what is shown; what is around it says of which values.
    reads = [value for value in _values(node) if columns_in(value)]
    if reads:
        return _round(node) or recoding_of(reads[-1])
    points = _points(node)
    if not points:
        return _of_a_truth_value(node)
    ordered = any(node.find_all(exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between))
    return _bins(node, points) if ordered else _lookup(node, points)


def _values(node: exp.Expr) -> list[exp.Expr]:
    """What the branches of a CASE show."""
    if isinstance(node, exp.If):
        found = [node.args.get("true"), node.args.get("false")]
    else:
        found = [*(each.args["true"] for each in node.args["ifs"]), node.args.get("default")]
    return [each for each in found if each is not None]


def _of_a_truth_value(node: exp.Expr) -> Recoding:
    """A CASE that asks whether its column holds."""
    if all(isinstance(bare(value), exp.Boolean) for value in _values(node)):
        return Keep()
    table = tuple((key, _label(node, key == "true")) for key in ("false", "true"))
    return Lookup(table, None)


def _points(node: exp.Expr) -> list[Point]:
    """The values that its conditions compare with."""
    conditions = [node.this] if isinstance(node, exp.If) else []
    if isinstance(node, exp.Case):
        conditions = [each.this for each in node.args["ifs"]]
    literals = [each for condition in conditions for each in _literals(condition)]
    return list(dict.fromkeys(literals))


def _literals(condition: exp.Expr) -> list[Point]:
    if isinstance(condition, exp.Paren | exp.Not):
        return _literals(condition.this)
    if isinstance(condition, exp.And | exp.Or):
        return [*_literals(condition.this), *_literals(condition.expression)]
    sides = [condition.args.get(name) for name in ("this", "expression", "low", "high")]
    if type(condition) not in (*_COMPARES, exp.Between, exp.In):
        sides = [condition]  # of a CASE that names what it compares
    parts = [*sides, *(condition.args.get("expressions") or ())]
    found = (_point(part) for part in parts if isinstance(part, exp.Expr))
    return [point for point in found if point is not None]


def _lookup(node: exp.Expr, points: list[Point]) -> Recoding:
    table = tuple(sorted((_key(point), _label(node, point)) for point in points))
    return Lookup(table, _label(node, None))


def _key(point: Point) -> str:
    if isinstance(point, bool):
        return str(point).lower()
    return f"{point:f}" if isinstance(point, Decimal) else str(point)


def _bins(node: exp.Expr, points: list[Point]) -> Recoding:
    cuts: list[Any] = sorted(points)
    if isinstance(cuts[0], str | bool):
        raise NotUnderstood("it orders texts")
    if all(isinstance(cut, Decimal) and cut == int(cut) for cut in cuts):
        cuts = sorted({*cuts, *(cut + 1 for cut in cuts)})
    least = cuts[0] - 1 if isinstance(cuts[0], Decimal) else type(cuts[0])(1, 1, 1)
    labels = [_label(node, each) for each in (least, *cuts)]
    turns = [place for place, (one, other) in enumerate(pairwise(labels), 1) if one != other]
    named = tuple("other" if (label := labels[place]) is None else label for place in (0, *turns))
    if not turns:
        raise NotUnderstood("it shows one label")
    return Bins(tuple(cuts[place - 1] for place in turns), named)


def _label(node: exp.Expr, value: Point | None) -> str | None:
    """What a CASE shows of a value; of one that equals none where it is None."""
    if isinstance(node, exp.If):
        branches, last, subject = [node], node.args.get("false"), None
    else:
        branches, last, subject = node.args["ifs"], node.args.get("default"), node.this
    for branch in branches:
        condition = branch.this
        held = _point(condition) == value if subject is not None else _holds(condition, value)
        if held:
            return _shown(branch.args["true"])
    return _shown(last)


def _shown(node: exp.Expr | None) -> str | None:
    found = None if node is None else bare(node)
    if found is None or isinstance(found, exp.Null):
        return None
    if isinstance(found, exp.Literal):
        return found.name
    raise NotUnderstood("a branch shows no text")


def _holds(condition: exp.Expr, value: Point | None) -> bool:
    """Whether a condition holds of a value that is not NULL."""
    node = condition
    while isinstance(node, exp.Paren):
        node = node.this
    if isinstance(node, exp.Not):
        return not _holds(node.this, value)
    if isinstance(node, exp.And | exp.Or):
        sides = (_holds(node.this, value), _holds(node.expression, value))
        return all(sides) if isinstance(node, exp.And) else any(sides)
    if isinstance(node, exp.Is | exp.IsNan):
        return False
    if isinstance(node, exp.In):
        return value in [_point(each) for each in node.expressions]
    if isinstance(node, exp.Between):
        low, high = _point(node.args["low"]), _point(node.args["high"])
        if low is None or high is None:
            raise NotUnderstood("a condition compares with no value")
        return value is not None and bool(low <= value <= high)  # type: ignore[operator]
    compare = _COMPARES.get(type(node))
    if isinstance(node, exp.Column):
        return value is True
    if compare is None:
        raise NotUnderstood("a condition compares with no value")
    one, other = _point(node.this), _point(node.expression)
    if one is None and other is None:  # as x <> x, of NaN
        return False
    _reads_alone(node.this if other is not None else node.expression)
    if value is None:
        return isinstance(node, exp.NEQ)
    return compare(value, other) if other is not None else compare(one, value)  # type: ignore[arg-type]


def _reads_alone(node: exp.Expr) -> None:
    """Raise NotUnderstood where something is made of a column before it is compared."""
    if not isinstance(bare(node), exp.Column) and not node.find(*_CONVERSIONS):
        raise NotUnderstood(f"{node.sql()[:40]} is compared, and not a column")


_CONVERSIONS = (exp.ConvertTimezone, exp.Datetime, exp.DateAdd, exp.Timestamp)


def _point(node: exp.Expr) -> Point | None:
    """The value of a literal; a text that reads as a day or a moment is one."""
    if isinstance(node, exp.Neg):
        inner = _point(node.this)
        return -inner if isinstance(inner, Decimal) else None
    node = bare(node)
    if isinstance(node, exp.Neg):
        return _point(node)
    if isinstance(node, exp.Boolean):
        return bool(node.this)
    if not isinstance(node, exp.Literal):
        return None
    if not node.is_string:
        with suppress(InvalidOperation):
            return Decimal(node.name)
        return None
    if node.name.lower() == "nan":
        return None
    for form in (date.fromisoformat, datetime.fromisoformat):
        if "-" in node.name:
            with suppress(ValueError):
                return form(node.name)
    return str(node.name)


def range_of(node: exp.Expr) -> Range:
    """A condition of one column: the values that meet it, or from where on, and below what.

    Raises:
        NotUnderstood: it is none of these.
    """
    while isinstance(node, exp.Paren):
        node = node.this
    if isinstance(node, exp.In) and node.expressions:
        return (
            tuple(_key(p) for each in node.expressions if (p := _point(each)) is not None),
            None,
            None,
        )
    if isinstance(node, exp.Between):
        low, high = _point(node.args["low"]), _point(node.args["high"])
        return (), low, _next(high)
    one, other = (
        (_point(node.this), _point(node.expression)) if type(node) in _COMPARES else (None, None)
    )
    bound, kind = (other, type(node)) if other is not None else (one, _MIRRORED.get(type(node)))
    if bound is None:
        raise NotUnderstood("it is no comparison with a value")
    _reads_alone(node.this if other is not None else node.expression)
    if kind is exp.EQ:
        return (_key(bound),), None, None
    if kind in (exp.GTE, exp.GT):
        return (), bound if kind is exp.GTE else _next(bound), None
    if kind in (exp.LT, exp.LTE):
        return (), None, bound if kind is exp.LT else _next(bound)
    raise NotUnderstood("a condition says who is in, by values or by a range")


_MIRRORED: dict[type[exp.Expr], type[exp.Expr]] = {
    exp.LT: exp.GT, exp.GT: exp.LT, exp.LTE: exp.GTE, exp.GTE: exp.LTE, exp.EQ: exp.EQ,
}  # fmt: skip


def _next(point: Point | None) -> Point | None:
    """The whole number behind one; of what is not counted the same, which is told."""
    is_whole = isinstance(point, Decimal) and point == int(point)
    return point + 1 if is_whole and isinstance(point, Decimal) else point

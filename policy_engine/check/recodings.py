"""A stranger's expression over one column → the recoding that it may mean.

Generous: what is found is shown to whoever wrote the text, and printed anew; nobody trusts it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from itertools import pairwise
from operator import eq, ge, gt, le, lt, ne
from typing import Any

from sqlglot import exp

from policy_engine.policy import recodings

Point = Decimal | str | bool | date | datetime
Range = tuple[tuple[str, ...], Point | None, Point | None]
"""The values that meet a condition, else from where on and below what."""

_LOOSE = (exp.Paren, exp.Collate, exp.Trim, exp.Cast, exp.TryCast, exp.AtTimeZone)
_CONVERTS = re.compile(
    r"arrow_cast|collate|convert_timezone|totimezone|tostring|to(date|datetime|decimal|float|int)\d+",
    re.IGNORECASE,
)
_UNITS = {
    "hour": "hour", "dayofyear": "year", "dayofmonth": "month", "week": "week", "month": "month",
    "quarter": "quarter", "year": "year", "day": "day", "date": "day",
}  # fmt: skip
"""The unit that the first of these words in an expression says."""

_CALENDAR = re.compile(
    r"trunc|startof|year|month|quarter|week|hour|day|datefromparts|makedate", re.I
)
_COMPARES: dict[type[exp.Expr], Callable[[Any, Any], bool]] = {
    exp.LT: lt, exp.LTE: le, exp.GT: gt, exp.GTE: ge, exp.EQ: eq, exp.NEQ: ne,
}  # fmt: skip
_MIRRORED: dict[type[exp.Expr], type[exp.Expr]] = {
    exp.LT: exp.GT, exp.GT: exp.LT, exp.LTE: exp.GTE, exp.GTE: exp.LTE, exp.EQ: exp.EQ,
    exp.NEQ: exp.NEQ,
}  # fmt: skip
_CONVERSIONS = (exp.ConvertTimezone, exp.Datetime, exp.DateAdd, exp.Timestamp)


class NotUnderstood(Exception):
    """An expression that no recoding can mean, and why."""


def bare(node: exp.Expr) -> exp.Expr:
    """``node`` without what only says how a value is written or compared."""
    while True:
        if isinstance(node, _LOOSE):
            node = node.this
        elif (
            isinstance(node, exp.Anonymous) and _CONVERTS.fullmatch(node.name) and node.expressions
        ):
            node = node.expressions[0]  # a function of an engine's own only converts it
        else:
            return node


def columns_in(node: exp.Expr) -> tuple[str, ...]:
    """The columns that an expression reads, each once; not those of a query inside it."""
    own = (None, node.find_ancestor(exp.Select))
    found = [each for each in node.find_all(exp.Column) if each.find_ancestor(exp.Select) in own]
    return tuple(dict.fromkeys(column.name for column in found))


def recoding_of(node: exp.Expr) -> recodings.Recoding:
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
            return recodings.Constant(inner.name)
        raise NotUnderstood("it reads no column, and is no text")
    if isinstance(inner, exp.Column):
        as_day = node.find(exp.Cast)
        is_day = as_day is not None and as_day.to.is_type("date")
        return recodings.Truncate("day") if is_day else recodings.Keep()
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


def otherwise(node: exp.Expr, recoding: recodings.Recoding) -> Iterator[str]:
    """How a recoding puts values together that an expression tells apart, or the other way."""
    inner = bare(node)
    if isinstance(recoding, recodings.Round) and node.find(
        exp.Floor, exp.Ceil, exp.IntDiv, exp.Mod, exp.Trunc
    ):
        yield f"it is not rounded to the nearest {recoding.step}, which a release shows"
    if not isinstance(recoding, recodings.Intervals | recodings.Lookup):
        return
    if not isinstance(inner, exp.Case | exp.If):
        return
    branches, last = _branches(inner)
    shown = next((value for condition, value in branches if _is_met_by_null(condition)), last)
    label = bare(shown).name if isinstance(bare(shown), exp.Literal) else None
    if isinstance(recoding, recodings.Intervals):
        labels: tuple[str | None, ...] = recoding.labels
        texts = {bare(value).name for _, value in (*branches, (last, last))}
        if "other" in labels and "other" not in texts:
            yield "values that the text shows as NULL are 'other', and NULL is apart"
    else:
        labels = (*(label for _, label in recoding.table), recoding.other)
    if label is not None and label in labels:
        yield f"NULL is shown as NULL, and by the text as {label!r}"


def _asks_null(condition: exp.Expr) -> bool:
    node = condition
    while isinstance(node, exp.Paren):
        node = node.this
    return isinstance(node, exp.Is) and isinstance(node.expression, exp.Null)


def _is_met_by_null(condition: exp.Expr) -> bool:
    """Whether a condition of one column holds where it is NULL."""
    node = condition
    while isinstance(node, exp.Paren):
        node = node.this
    if isinstance(node, exp.Or):
        return _is_met_by_null(node.this) or _is_met_by_null(node.expression)
    if isinstance(node, exp.And):
        return _is_met_by_null(node.this) and _is_met_by_null(node.expression)
    return _asks_null(node)


def _prefix(node: exp.Expr) -> recodings.Recoding | None:
    named = node.sql_name() if isinstance(node, exp.Func) else ""
    if isinstance(node, exp.Anonymous):
        named = str(node.this)
    if not re.search("left|substr", named, re.I):
        return None
    numbers = [number for each in node.find_all(exp.Literal) if (number := _point(each))]
    lengths = [int(number) for number in numbers if isinstance(number, Decimal) and number >= 1]
    return recodings.Prefix(lengths[-1]) if lengths else None


def _calendar(node: exp.Expr) -> recodings.Recoding | None:
    bare_of_names = node.transform(lambda n: exp.column("x") if isinstance(n, exp.Column) else n)
    text = bare_of_names.sql()
    if not _CALENDAR.search(text) or node.find(exp.Round):
        return None
    words = " ".join(re.findall(r"[A-Za-z_]+", text)).lower()
    unit = next((unit for word, unit in _UNITS.items() if word in words), None)
    return recodings.Truncate(unit) if unit else None  # type: ignore[arg-type]


def _round(node: exp.Expr) -> recodings.Recoding | None:
    places = node.args.get("decimals") if isinstance(node, exp.Round) else None
    if places is not None and isinstance(number := _point(places), Decimal):
        return recodings.Round(Decimal(1).scaleb(-int(number)))
    if not node.find(exp.Round, exp.Floor, exp.IntDiv, exp.Ceil, exp.Mod):
        return None
    parts = node.find_all(exp.Div, exp.Mul, exp.IntDiv, exp.Mod)
    steps = [each for part in parts for side in (part.this, part.expression)
             if isinstance(each := _point(side), Decimal) and each > 0]  # fmt: skip
    return recodings.Round(steps[0]) if steps else recodings.Round(Decimal(1))


# CASE: its label at every value that it tells apart

_Branches = list[tuple[exp.Expr, exp.Expr]]


def _branches(node: exp.Expr) -> tuple[_Branches, exp.Expr]:
    """Condition and value of each branch, and the last value."""
    if isinstance(node, exp.If):
        return [(node.this, node.args["true"])], node.args.get("false") or exp.Null()
    branches: _Branches = []
    for each in node.args["ifs"]:
        test = each.this
        if node.this is not None:
            test = exp.EQ(this=node.this.copy(), expression=test.copy())
        branches.append((test, each.args["true"]))
    return branches, node.args.get("default") or exp.Null()


def _of_a_case(node: exp.Expr) -> recodings.Recoding:
    # A branch that reads the column is what is shown; what is around it says of which values.
    branches, last = _branches(node)
    values = [*(value for _, value in branches), last]
    reads = [value for value in values if columns_in(value)]
    if reads:
        return _round(node) or recoding_of(reads[-1])
    points = list(dict.fromkeys(p for condition, _ in branches for p in _points(condition)))

    def label(value: Point | None) -> str | None:
        """What is shown of a value; of one that equals none where it is None."""
        held = (shown for condition, shown in branches if _holds(condition, value))
        return _shown(next(held, last))

    if not points:  # it asks whether its column holds
        told = values[:-1] if isinstance(last, exp.Null) else values
        if all(isinstance(bare(value), exp.Boolean) for value in told):
            return recodings.Keep()
        return recodings.Lookup((("false", label(False)), ("true", label(True))), None)
    if any(node.find_all(exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between)):
        return _bins(points, label)
    return recodings.Lookup(
        tuple(sorted((_key(point), label(point)) for point in points)), label(None)
    )


def _points(condition: exp.Expr) -> Iterator[Point]:
    """The values that a condition compares with."""
    if isinstance(condition, exp.Paren | exp.Not):
        yield from _points(condition.this)
    elif isinstance(condition, exp.And | exp.Or):
        yield from _points(condition.this)
        yield from _points(condition.expression)
    elif isinstance(condition, (*_COMPARES, exp.Between, exp.In)):
        sides = [condition.args.get(name) for name in ("this", "expression", "low", "high")]
        found = (_point(part) for part in (*sides, *condition.expressions) if part is not None)
        yield from (point for point in found if point is not None)


def _key(point: Point) -> str:
    if isinstance(point, bool):
        return str(point).lower()
    return f"{point:f}" if isinstance(point, Decimal) else str(point)


def _bins(points: list[Point], label: Callable[[Point], str | None]) -> recodings.Recoding:
    cuts: list[Any] = sorted(points)
    if isinstance(cuts[0], str | bool):
        raise NotUnderstood("it orders texts")
    if all(isinstance(cut, Decimal) and cut == int(cut) for cut in cuts):
        cuts = sorted({*cuts, *(cut + 1 for cut in cuts)})
    least = cuts[0] - 1 if isinstance(cuts[0], Decimal) else type(cuts[0])(1, 1, 1)
    labels = [label(each) for each in (least, *cuts)]
    turns = [place for place, (one, other) in enumerate(pairwise(labels), 1) if one != other]
    named = ("other" if labels[place] is None else labels[place] for place in (0, *turns))
    if not turns:
        raise NotUnderstood("it shows one label")
    return recodings.Intervals(tuple(cuts[place - 1] for place in turns), tuple(map(str, named)))


def _shown(node: exp.Expr) -> str | None:
    found = bare(node)
    if not isinstance(found, exp.Literal | exp.Null):
        raise NotUnderstood("a branch shows no text")
    return None if isinstance(found, exp.Null) else found.name


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
    if isinstance(node, exp.Column):
        return value is True
    if isinstance(node, exp.Between):
        low, high = _point(node.args["low"]), _point(node.args["high"])
        if low is not None and high is not None:
            return value is not None and bool(low <= value <= high)  # type: ignore[operator]
    elif type(node) in _COMPARES:
        bound, kind = _bound(node)
        # x <> x is a question of NaN.
        return bound is not None and (
            _COMPARES[kind](value, bound) if value is not None else kind is exp.NEQ
        )
    raise NotUnderstood("a condition compares with no value")


def _bound(node: exp.Expr) -> tuple[Point | None, type[exp.Expr]]:
    """What a column is compared with, if it is a value, and how, the column first."""
    one, other = _point(node.this), _point(node.expression)
    side, bound, kind = node.expression, one, _MIRRORED[type(node)]
    if other is not None:
        side, bound, kind = node.this, other, type(node)
    if (
        bound is not None
        and not isinstance(bare(side), exp.Column)
        and not side.find(*_CONVERSIONS)
    ):
        raise NotUnderstood(f"{side.sql()[:40]} is compared, and not a column")
    return bound, kind


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
        keys = (_key(p) for each in node.expressions if (p := _point(each)) is not None)
        return tuple(keys), None, None
    if isinstance(node, exp.Between):
        return (), _point(node.args["low"]), _next(_point(node.args["high"]))
    bound, kind = _bound(node) if type(node) in _COMPARES else (None, exp.EQ)
    if bound is None:
        raise NotUnderstood("it is no comparison with a value")
    if kind is exp.EQ:
        return (_key(bound),), None, None
    if kind in (exp.GTE, exp.GT):
        return (), bound if kind is exp.GTE else _next(bound), None
    if kind in (exp.LT, exp.LTE):
        return (), None, bound if kind is exp.LT else _next(bound)
    raise NotUnderstood("a condition says who is in, by values or by a range")


def _next(point: Point | None) -> Point | None:
    """The whole number behind one; of what is not counted the same, which is told."""
    is_whole = isinstance(point, Decimal) and point == int(point)
    return point + 1 if is_whole and isinstance(point, Decimal) else point

"""A stranger's expression over one column → the recoding that it may mean, and what differs.

Generous: what is found is shown to whoever wrote the text, and printed anew; nobody trusts it.
Where the recoding shows something else than the expression, that is told.
"""

from __future__ import annotations

import math
import re
from dataclasses import replace
from datetime import date, timedelta
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from itertools import pairwise
from typing import get_args

from sqlglot import exp

from policy_engine.check.values import (
    NAN,
    OTHER,
    Given,
    NotUnderstood,
    Point,
    asks_order,
    label_of,
    moment_of,
    point_of,
    points_in,
    value_of,
    without_parentheses,
)
from policy_engine.check.words import number_of
from policy_engine.kernel.claim import DROPPED, KEPT
from policy_engine.kernel.recodes import Constant, Keep, Prefix, Round, Truncate
from policy_engine.kernel.recodes.round.recode import Way
from policy_engine.kernel.types import EXACT, MOMENTS, Type
from policy_engine.policy.recodings import CutPoint, Recoding, mapped
from policy_engine.values import frozen

Label = str | None

_LOOSE = (exp.Paren, exp.Collate, exp.Trim, exp.Cast, exp.TryCast, exp.AtTimeZone)
_CONVERTS = re.compile(
    r"arrow_cast|collate|convert_timezone|totimezone|tostring|to(date|datetime|decimal|float|int)\d*",
    re.IGNORECASE,
)
_NO_RECODING = "no recoding of the language does this"


@frozen
class Pieces:
    """What is shown where: ``labels`` below the first point, at it, behind it, and so on."""

    points: tuple[Point, ...]
    labels: tuple[Label, ...]
    missing: Label = None
    nan: Label = None

    def intervals(self, seen: Type) -> tuple[tuple[CutPoint, ...], tuple[Label, ...]]:
        """The cuts between values of a type, and the label of each interval.

        >>> Pieces((Decimal(18),), ("child", "child", "adult")).intervals(Type("integer"))
        ((Decimal('19'),), ('child', 'adult'))
        """
        cuts: list[CutPoint] = []
        labels = [self.labels[0]]
        for place, point in enumerate(self.points):
            for cut, label in zip(_cuts(point, seen), self.labels[2 * place + 1 :], strict=False):
                if cuts and cut == cuts[-1]:
                    labels[-1] = label
                elif label != labels[-1]:
                    cuts.append(cut)
                    labels.append(label)
                if len(labels) > 1 and labels[-1] == labels[-2]:
                    cuts.pop()
                    labels.pop()
        return tuple(cuts), tuple(labels)


def _cuts(point: Point, seen: Type) -> tuple[CutPoint, CutPoint]:
    """The least value of a type that is a point or above it, and the least that is above it."""
    if isinstance(point, date):
        step = timedelta(microseconds=1) if seen.kind in MOMENTS else timedelta(days=1)
        day = moment_of(point) if seen.kind in MOMENTS else point
        return day, day + step
    assert isinstance(point, Decimal)
    if seen.kind == "double":
        return point, Decimal(repr(math.nextafter(float(point), math.inf)))
    unit = Decimal(1).scaleb(-seen.scale)
    at, below = (point.quantize(unit, way, EXACT) for way in (ROUND_CEILING, ROUND_FLOOR))
    return at, below + unit


@frozen
class Reading:
    """What an expression means: a recoding of its column, or pieces until its type is known.

    ``missing`` is shown in place of NULL, and ``told`` how what is shown differs. ``after`` is what
    the expression is of what is shown, which stands in it as ``SHOWN``: it gives of each value that
    is shown another one, so that the groups are the same. ``of_whole`` is what it means of whole
    numbers, where it divides these otherwise than others; ``is_whole`` if it means nothing else.
    """

    means: Recoding | Pieces
    missing: Label = None
    told: tuple[str, ...] = ()
    after: exp.Expr | None = None
    of_whole: Round | None = None
    is_whole: bool = False


SHOWN = "policy_engine_shown"
"""The column that stands for what a release shows."""


def _over_shown(node: exp.Expr) -> exp.Expr:
    """An expression of a column as one of what is shown of it, which the expression tells alike."""
    return node.copy().transform(
        lambda each: exp.column(SHOWN) if isinstance(each, exp.Column) else each
    )


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
    found = [
        each
        for each in node.find_all(exp.Column, bfs=False)
        if each.find_ancestor(exp.Select) in own
    ]
    return tuple(dict.fromkeys(column.name for column in found))


def reading_of(node: exp.Expr) -> Reading:
    """What an expression over at most one column may mean.

    Raises:
        NotUnderstood: nothing that can be recoded.
    """
    read = columns_in(node)
    if len(read) > 1:
        raise NotUnderstood(f"it reads {', '.join(read)}: a released column reads one")
    inner = without_parentheses(node)
    if not read:
        label = label_of(point_of(node))
        if label is None:
            raise NotUnderstood("it reads no column, and is no text")
        return Reading(Constant(label))
    if isinstance(inner, exp.Column):
        return Reading(Keep())
    for reader in (_catches_null, _converted, _prefix, _calendar, _round):
        found = reader(inner)
        if found is not None:
            return found
    return _by_values(inner)


def _catches_null(node: exp.Expr) -> Reading | None:
    """COALESCE around what is read without it."""
    if not isinstance(node, exp.Coalesce) or len(node.expressions) != 1:
        return None
    label = label_of(point_of(node.expressions[0]))
    inner = without_parentheses(node.this)
    if label is None or not isinstance(inner, exp.Column | exp.Left | exp.Substring | exp.Bracket):
        return None
    found = reading_of(inner)
    return replace(found, missing=label)


def _converted(node: exp.Expr) -> Reading | None:
    """A conversion: the day of a moment, or what is converted, and that it is shown otherwise."""
    if isinstance(node, exp.Date | exp.TsOrDsToDate) and isinstance(bare(node.this), exp.Column):
        return Reading(Truncate("day"))
    if isinstance(node, exp.Anonymous) and re.fullmatch("date|to_?date(32)?", node.name, re.I):
        if len(node.expressions) == 1 and isinstance(node.expressions[0], exp.Column):
            return Reading(Truncate("day"))
        return None
    if isinstance(node, exp.AtTimeZone) and node.args["zone"].name.upper() == "UTC":
        return reading_of(node.this)
    if isinstance(node, exp.Anonymous) and _CONVERTS.fullmatch(node.name) and node.expressions:
        found = reading_of(node.expressions[0])
        return replace(found, told=(*found.told, f"shown without {node.name}"))
    if not isinstance(node, exp.Cast):
        return None
    if node.to.is_type("date") and isinstance(bare(node.this), exp.Column):
        return Reading(Truncate("day"))
    found = reading_of(node.this)
    is_text = node.to.is_type(*exp.DataType.TEXT_TYPES)
    is_day = node.to.is_type("date", "timestamp") and isinstance(found.means, Truncate)
    is_whole = node.to.is_type(*exp.DataType.NUMERIC_TYPES) and isinstance(found.means, Round)
    if is_day or is_whole or is_text:
        after = found.after
        return found if after is None else replace(found, after=exp.cast(after, node.to.copy()))
    kind = node.to.sql()
    return replace(found, told=(*found.told, f"shown as it is, and by the text as {kind}"))


_TEXT_FIRST = re.compile("left|substr(ing)?", re.I)


def _prefix(node: exp.Expr) -> Reading | None:
    """The first characters of a text, whatever is put behind them."""
    if isinstance(node, exp.DPipe | exp.Concat):
        parts = node.expressions if isinstance(node, exp.Concat) else [node.this, node.expression]
        first, *rest = (_without_coalesce(each) for each in parts)
        behind = [point_of(each) for each in rest]
        if columns_in(first) and all(isinstance(each, str) for each in behind):
            found = reading_of(first)
            told = f"shown without {''.join(map(str, behind))!r} behind it"
            # CONCAT makes one text of NULL and of none.
            after = None
            if isinstance(node, exp.DPipe) and not found.told:
                after = exp.DPipe(this=exp.column(SHOWN), expression=node.expression.copy())
            return replace(found, told=(*found.told, told), after=after)
        return None
    if isinstance(node, exp.Bracket):
        slices = [each for each in node.expressions if isinstance(each, exp.Slice)]
        given = [slices[0].this, slices[0].expression] if slices else []
    elif isinstance(node, exp.Left):
        given = [exp.Literal.number(1), node.expression]
    elif isinstance(node, exp.Substring):
        given = [node.args.get("start"), node.args.get("length")]
    elif isinstance(node, exp.Anonymous) and _TEXT_FIRST.fullmatch(node.name):
        given = node.expressions[1:]
        node = exp.Substring(this=node.expressions[0])
    else:
        return None
    points = [None if each is None else point_of(each) for each in given]
    start, length = points if len(points) == 2 else (None, None)
    if start != 1 or not isinstance(length, Decimal) or length < 1:
        return None
    inner = without_parentheses(node.this)
    if isinstance(inner, exp.Cast) and inner.to.is_type(*exp.DataType.TEXT_TYPES):
        inner = without_parentheses(inner.this)
    if not isinstance(inner, exp.Column):
        under = _prefix(inner)
        if under is None or not isinstance(under.means, Prefix) or under.told:
            return None
        length = min(length, Decimal(under.means.length))
    return Reading(Prefix(int(length)))


def _without_coalesce(node: exp.Expr) -> exp.Expr:
    """What CONCAT takes, which the parser writes as COALESCE(x, '')."""
    is_empty = isinstance(node, exp.Coalesce) and [e.name for e in node.expressions] == [""]
    found: exp.Expr = node.this if is_empty else node
    return found


# Dates

_WORDS = {
    "hour": "hour", "hh": "hour", "day": "day", "dd": "day", "week": "week", "isoweek": "week",
    "weekstart": "week", "month": "month", "mm": "month", "mon": "month", "quarter": "quarter",
    "q": "quarter", "year": "year", "yyyy": "year", "yy": "year",
}  # fmt: skip
_FORMATS = {
    "%Y-%m-%d": ("day", True), "%Y-%m-01": ("month", True), "%Y-01-01": ("year", True),
    "%Y-%m": ("month", False), "%Y%m": ("month", False), "%Y": ("year", False),
    "%G-W%V": ("week", True), '%G-"W"%V': ("week", True), "%G-W%v": ("week", True),
}  # fmt: skip
"""The unit that a format of a date tells, and whether it is written as the unit's first day."""

_WEEK_TOLD = "a week is shown by its name, as in 2026-W48"
_NAMED = re.compile("tostartof(year|quarter|month|week|day|hour)|date_?trunc", re.I)


def _calendar(node: exp.Expr) -> Reading | None:
    """The start of a unit of time."""
    if isinstance(node, exp.StrToDate | exp.StrToTime | exp.Date) and node.find(exp.TimeToStr):
        return _calendar(without_parentheses(node.this))
    if isinstance(node, exp.TimestampTrunc | exp.DateTrunc | exp.DatetimeTrunc):
        return _starts(node.this, node.args.get("unit"))
    if isinstance(node, exp.TimeToStr | exp.ToChar) and _is_column(node.this):
        form = node.args["format"].name
        form = form.replace("YYYY", "%Y").replace("MM", "%m").replace("DD", "%d")
        unit, is_whole = _FORMATS.get(form, (None, True))
        return _start_of(unit, None if is_whole else node)
    if isinstance(node, exp.Year | exp.Extract) or _is_named(node, "date_?part|toYear"):
        asked = node.expression if isinstance(node, exp.Extract) else node.this
        words = [node.this.name] if isinstance(node, exp.Extract) else ["year"]
        if isinstance(node, exp.Anonymous):
            *given, asked = node.expressions
            words = [each.name for each in given] or ["year"]
        is_year = [word.lower() for word in words] == ["year"]
        return _start_of("year", node) if is_year and _is_column(asked) else None
    if isinstance(node, exp.DateFromParts):
        parts = [node.args[name] for name in ("year", "month", "day")]
        if not isinstance(parts[0], exp.Year) or point_of(parts[2]) != 1:
            return None
        is_month = isinstance(parts[1], exp.Month)
        is_year = point_of(parts[1]) == 1
        return _start_of("month" if is_month else "year" if is_year else None)
    if _is_named(node, "makedate") and isinstance(node.expressions[0], exp.Year):
        return _start_of("year" if point_of(node.expressions[1]) == 1 else None)
    if isinstance(node, exp.DateAdd) and isinstance(node.expression, exp.DateDiff):
        since = node.expression
        units = (since.args["unit"], node.args["unit"])
        is_whole = point_of(node.this) == 0 and units[0] == units[1]
        return _starts(since.this, units[0]) if is_whole else None
    named = _NAMED.fullmatch(node.name) if isinstance(node, exp.Anonymous) else None
    if named is not None and named[1] and named[1].lower() != "week":
        return _start_of(named[1].lower()) if _is_column(node.expressions[0]) else None
    if _is_named(node, "date|datetime") and len(node.expressions) == 2:
        start = re.fullmatch("start of (year|month|day)", node.expressions[1].name)
        return _start_of(start[1]) if start and _is_column(node.expressions[0]) else None
    return None


def _is_named(node: exp.Expr, name: str) -> bool:
    return isinstance(node, exp.Anonymous) and re.fullmatch(name, node.name, re.I) is not None


def _is_column(node: exp.Expr) -> bool:
    """Whether a date is a column, whatever it is converted to."""
    while isinstance(node, exp.TsOrDsToDate | exp.TsOrDsToTimestamp | exp.TimeStrToTime):
        node = node.this
    return isinstance(bare(node), exp.Column)


def _starts(node: exp.Expr, unit: exp.Expr | None) -> Reading | None:
    if not _is_column(node) or unit is None:
        return None
    if isinstance(unit, exp.WeekStart) and unit.name.upper() != "MONDAY":
        told = f"weeks start on Monday, and by the text on {unit.name.capitalize()}"
        return Reading(Truncate("week"), told=(told, _WEEK_TOLD))
    word = "week" if isinstance(unit, exp.WeekStart) else unit.name.lower()
    found = _start_of(_WORDS.get(word))
    is_week = found is not None and found.means == Truncate("week")
    return replace(found, told=(_WEEK_TOLD,)) if is_week and found is not None else found


def _start_of(unit: str | None, otherwise: exp.Expr | None = None) -> Reading | None:
    """The start of a unit, which the text shows ``otherwise``, if it does."""
    if unit is None:
        return None
    means = Truncate(unit)  # type: ignore[arg-type]
    if otherwise is None:
        return Reading(means)
    told = f"a {unit} is shown as its first day"
    return Reading(means, told=(told,), after=_over_shown(otherwise))


# Rounding


def _round(node: exp.Expr) -> Reading | None:
    """A multiple of a step: the nearest, or another, or how many steps there are."""
    if isinstance(node, exp.Round):
        places = node.args.get("decimals")
        number = Decimal(0) if places is None else point_of(places)
        if isinstance(without_parentheses(node.this), exp.Column) and isinstance(number, Decimal):
            return Reading(Round(Decimal(1).scaleb(-int(number))))
    step, how, is_multiple = _steps(node)
    if step is None:
        return None
    told = []
    way: Way = "nearest"
    if how in get_args(Way):
        way = how  # type: ignore[assignment]
    else:
        told.append(f"it is rounded {how}, and a release shows the nearest {step:f}")
    after = None
    if not is_multiple:
        after = _over_shown(node) if not told else None
        told.append(f"shown is the multiple of {step:f}, and by the text how many there are")
    # Of two whole numbers these engines show the whole part of a quotient, whatever stands around.
    is_whole = bool(node.find(exp.IntDiv)) or _is_named(node, "intDiv")
    if any(map(_divides_whole, node.find_all(exp.Div))):
        is_whole = is_whole or node.find(*_ROUNDS) is None
        towards_zero = Round(step, "zero")
    else:
        towards_zero = None
    means = Round(step, way)
    return Reading(means, told=tuple(told), after=after, of_whole=towards_zero, is_whole=is_whole)


def _steps(node: exp.Expr) -> tuple[Decimal | None, str, bool]:
    """A step, how a number is made whole steps of, and whether the multiple is shown."""
    node = without_parentheses(node)
    if isinstance(node, exp.Cast):
        return _steps(node.this)
    if isinstance(node, exp.Mul):
        for side, times in ((node.this, node.expression), (node.expression, node.this)):
            step, how, is_multiple = _steps(side)
            if step is not None and not is_multiple and point_of(times) == step:
                return step, how, True
    elif isinstance(node, exp.Sub):
        rest = without_parentheses(node.expression)
        if isinstance(rest, exp.Mod) and rest.this == node.this and _is_number(node.this):
            return _step_of(rest.expression), "zero", True
    elif isinstance(node, exp.IntDiv) or _is_named(node, "intDiv"):
        one, other = (
            node.expressions if isinstance(node, exp.Anonymous) else (node.this, node.expression)
        )
        return (_step_of(other), "zero", False) if _is_number(one) else (None, "", False)
    elif isinstance(node, _ROUNDS):
        how = {exp.Floor: "down", exp.Round: "nearest", exp.Trunc: "zero"}.get(type(node), "up")
        divided = without_parentheses(node.this)
        is_plain = node.args.get("decimals") is None
        if is_plain and isinstance(divided, exp.Div) and _is_number(divided.this):
            return _step_of(divided.expression), how, False
        if is_plain and _is_number(divided):
            return Decimal(1), how, True
    elif isinstance(node, exp.Div) and _divides_whole(node) and _is_number(node.this):
        return _step_of(node.expression), "zero", False
    return None, "", False


def _divides_whole(node: exp.Div) -> bool:
    """Whether an engine shows the whole part of a quotient, if the column is a whole number."""
    divided, by = without_parentheses(node.this), without_parentheses(node.expression)
    is_whole = isinstance(divided, exp.Column)
    if isinstance(divided, exp.Cast):
        is_whole = divided.to.is_type(*exp.DataType.INTEGER_TYPES)
    return bool(node.args.get("typed")) and is_whole and by.sql().isdigit()


_ROUNDS = (exp.Floor, exp.Round, exp.Trunc, exp.Ceil)


def _is_number(node: exp.Expr) -> bool:
    return isinstance(bare(node), exp.Column)


def _step_of(node: exp.Expr) -> Decimal | None:
    step = point_of(node)
    return step if isinstance(step, Decimal) and step > 0 else None


# By what is shown at each value


def _by_values(node: exp.Expr) -> Reading:
    points = points_in(node)
    missing = label_of(value_of(node, None))
    if not asks_order(node):
        return _map(node, points, missing)
    pieces = pieces_of(node, points)
    return Reading(replace(pieces, missing=missing), missing)


def _map(node: exp.Expr, points: tuple[Point, ...], missing: Label) -> Reading:
    is_truth = bool(points) and all(isinstance(point, bool) for point in points)
    rest = value_of(node, OTHER) if not is_truth else None
    if rest is OTHER:
        if all(value_of(node, point) == point for point in points):
            return Reading(Keep(), missing)
        raise NotUnderstood("it shows some values, and others as they are")
    table = tuple(sorted((key_of(point), label_of(value_of(node, point))) for point in points))
    other = label_of(rest)
    if not table and other == missing:
        raise NotUnderstood(_NO_RECODING)
    if is_truth and all(key == label for key, label in table):
        return Reading(Keep(), missing)
    return Reading(mapped(table, other), missing)


def condition_of(node: exp.Expr) -> Reading:
    """A condition of one column as what is kept and dropped: by pieces, or by values.

    Raises:
        NotUnderstood: it is none.
    """
    shown = exp.If(this=node.copy(), true=_text(KEPT), false=_text(DROPPED))
    points = points_in(shown)
    missing = label_of(value_of(shown, None))
    if asks_order(shown):
        return Reading(pieces_of(shown, points), missing)
    is_truth = bool(points) and all(isinstance(point, bool) for point in points)
    table = tuple(sorted((key_of(point), label_of(value_of(shown, point))) for point in points))
    other = DROPPED if is_truth else label_of(value_of(shown, OTHER))
    return Reading(mapped(table, other), missing)


def _text(text: str) -> exp.Expr:
    return exp.Literal.string(text)


def key_of(point: Point) -> str:
    """The value as a key of a map."""
    return f"{point:f}" if isinstance(point, Decimal) else str(label_of(point))


def pieces_of(node: exp.Expr, points: tuple[Point, ...]) -> Pieces:
    """What an expression that compares by order gives, from where on."""
    if not points:
        raise NotUnderstood("it compares with no value")
    numbers = [_as_number(point) for point in points]
    if all(isinstance(number, Decimal) for number in numbers):
        order: list[Decimal] = sorted(set(numbers))  # type: ignore[arg-type]
        ends: list[Given] = [
            order[0] - 1,
            *((one + other) / 2 for one, other in pairwise(order)),
            order[-1] + 1,
        ]
        places: list[Point] = list(order)
    elif all(isinstance(point, date) for point in points):
        days = sorted(set(points), key=moment_of)  # type: ignore[arg-type]
        moments = [moment_of(day) for day in days]  # type: ignore[arg-type]
        gaps = [one + (other - one) / 2 for one, other in pairwise(moments)]
        ends = [moments[0] - timedelta(days=1), *gaps, moments[-1] + timedelta(days=1)]
        places = list(days)
    else:
        raise NotUnderstood("it orders texts, or values of several types")
    shown = [_shown(node, ends[0])]
    for place, behind in zip(places, ends[1:], strict=True):
        shown += [label_of(value_of(node, place)), _shown(node, behind)]
    is_numbers = isinstance(places[0], Decimal)
    nan = label_of(value_of(node, NAN)) if is_numbers else None
    return Pieces(tuple(places), tuple(shown), nan=nan)


def _as_number(point: Point) -> Point:
    if isinstance(point, str) and re.fullmatch(r"-?\d+(\.\d+)?", point):
        number = number_of(point)
        return point if number is None else number
    return point


def _shown(node: exp.Expr, held: Given) -> Label:
    found = value_of(node, held)
    if found is held:
        raise NotUnderstood("it shows some values, and others as they are")
    return label_of(found)

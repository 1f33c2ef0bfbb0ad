"""What a recoding does to each value: a map from ranges of one column's values to what is shown.

Two expressions that mean the same have the same map, however they are written. An expression has a
map if it compares one thing, its *subject*, with constants of one kind: then its value is the same
on all of each range between two neighbouring constants, and evaluating it once on each range says
everything. The same ranges tell whether two conditions can both hold on one row.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import groupby, pairwise
from typing import Any

from sqlglot import exp

from policy_engine.expressions.datatypes import FLOATS, INTEGERS, TEXT, TIMES, branches
from policy_engine.syntax.literals import bare, moment, number

_COMPARED = (
    exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between, exp.In, exp.Is,
    exp.NullSafeEQ, exp.NullSafeNEQ, exp.Nullif,
)  # fmt: skip
_MOST_CONSTANTS = 200
"""A map of more is no help to a reader, and costs the square of it."""
_TRUTHS = frozenset({"true", "t", "yes", "y", "on", "false", "f", "no", "n", "off"})
_NUMERIC = re.compile(r"[-+0-9.:/ TZeE]*")
_SHARP = 10**6
"""Numbers of at most six digits stay apart in every type, single precision included."""


_UNITS = frozenset({"year", "quarter", "month", "day", "hour"})
_ORDERED = (exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between)


class NoMap(Exception):
    """The expression is no map of one subject's ranges."""


@dataclass(frozen=True)
class Range:
    """A constant (``low == high``), what lies strictly between two, NULL or NaN."""

    low: Any = None
    high: Any = None
    special: str = ""  # null | nan

    @property
    def is_point(self) -> bool:
        """Whether it is one constant."""
        return not self.special and self.low is not None and self.low == self.high


@dataclass(frozen=True)
class MapLine:
    """One line of a map: the values for which ``shown`` is what is released."""

    when: str
    shown: str


def value_map(node: exp.Expr, kind: str | None) -> tuple[MapLine, ...] | None:
    """The map that ``node`` is, ``kind`` being its subject's type; None where it is none.

    >>> import sqlglot
    >>> case = "case when age is null then 'none' when age < 18 then 'child' else 'adult' end"
    >>> for entry in value_map(sqlglot.parse_one(case), "INTEGER"):
    ...     print(entry.when, "→", entry.shown)
    age < 18 → 'child'
    18 <= age → 'adult'
    age IS NULL → 'none'
    """
    try:
        subject = _subject(node)
        kind = kind if isinstance(subject, exp.Column) else None
        ranges = _ranges(subject, [node], kind)
        shown = [(part, _shown(_On(subject, part).value(node))) for part in ranges]
    except NoMap:
        return None
    name = subject.sql("duckdb")
    plain = [(part, text) for part, text in shown if not part.special]
    runs = [(list(run), text) for text, run in groupby(plain, lambda pair: pair[1])]
    entries = [MapLine(when, text) for when, text in _described(runs, name, kind)]
    last = entries[-1].shown if entries else ""
    for part, text in shown:
        if part.special == "null" or (part.special == "nan" and text != last):
            entries.append(MapLine(f"{name} IS {part.special.upper()}", text))
    return tuple(entries)


def can_both_hold(
    left: exp.Expr, right: exp.Expr, kinds: dict[str, str | None], collated: set[str]
) -> bool:
    """Whether two conditions may hold on one row; True where that is not known.

    ``kinds`` are the types of source columns, ``collated`` those that compare text their own way.

    >>> import sqlglot
    >>> one, other = map(sqlglot.parse_one, ("age < 18", "age between 18 and 64"))
    >>> can_both_hold(one, other, {"age": "INTEGER"}, set())
    False
    """
    try:
        subject = _subject(left)
        read = {column.name for column in subject.find_all(exp.Column)}
        if subject != _subject(right) or read & collated:
            return True
        if not isinstance(subject, exp.Column) and not _is_whole(subject):
            return True  # its type and its collation are not known here
        kind = kinds.get(subject.name) if isinstance(subject, exp.Column) else "INTEGER"
        ranges = _ranges(subject, [left, right], kind, conditions=True)
        # What is not known can hold.
        found = ([_On(subject, part).value(side) for side in (left, right)] for part in ranges)
        return any(None not in sides and False not in sides for sides in found)
    except NoMap:
        return True


Point = tuple[str, type[object], Any]
"""A column, and the one value of a type that a condition asks of it."""


def point_of(condition: exp.Expr, kinds: dict[str, str | None], collated: set[str]) -> Point | None:
    """What ``column = constant`` asks; None of any other condition.

    No row has two points of a column that differ, as ``can_both_hold`` finds for each pair.

    >>> import sqlglot
    >>> point_of(sqlglot.parse_one("age = 18"), {"age": "INTEGER"}, set())[2]
    Fraction(18, 1)
    """
    if type(condition) is not exp.EQ:
        return None
    column, constant = bare(condition.this), bare(condition.expression)
    if not isinstance(column, exp.Column):
        column, constant = constant, column
    if not isinstance(column, exp.Column) or column.name in collated:
        return None
    kind = kinds.get(column.name)
    value = _read(constant, kind)
    if not isinstance(value, Fraction | str | datetime) or not _is_sharp(value, kind):
        return None
    if isinstance(value, str) and kind is None and value.lower() in _TRUTHS:
        return None  # 'true' and 't' may be one value
    return column.sql("duckdb"), type(value), value


def _is_whole(node: exp.Expr) -> bool:
    """Whether an expression is a whole number whatever it is made of."""
    if isinstance(node, exp.Extract):
        return node.name.lower() in _UNITS
    return isinstance(node, exp.Year | exp.Quarter | exp.Month | exp.Day | exp.Hour | exp.Length)


def _subject(node: exp.Expr) -> exp.Expr:
    """The one thing that is compared with constants, or that is a condition by itself."""
    found = list(_subjects(node))
    if not found or any(part != found[0] for part in found):
        raise NoMap
    return found[0]


def _subjects(node: exp.Expr) -> Iterator[exp.Expr]:
    """Every part that is compared with a constant, and every column elsewhere."""
    node = bare(node)
    sides = _sides(node)
    if sides:
        yield from (s for s in sides if _constant(s) is None and not isinstance(s, exp.Null))
        if isinstance(node, exp.Case):
            for branch in branches(node):
                yield from _subjects(branch)
    elif isinstance(node, exp.Column):
        yield node
    elif _constant(node) is None:
        for part in node.iter_expressions():
            yield from _subjects(part)


def _sides(node: exp.Expr) -> list[exp.Expr]:
    """What a node compares with each other; nothing where it compares nothing."""
    if not isinstance(node, _COMPARED) and not _is_simple_case(node):
        return []
    tests = [branch.this for branch in node.args.get("ifs") or ()]
    parts = [node.args.get(name) for name in ("this", "expression", "low", "high")]
    return [bare(part) for part in (*parts, *node.expressions, *tests) if part is not None]


def _is_simple_case(node: exp.Expr) -> bool:
    return isinstance(node, exp.Case) and node.this is not None


def _constant(node: exp.Expr) -> Any:
    """A constant's value, None where a node is none: NULL is not a constant."""
    node = bare(node)
    if isinstance(node, exp.Boolean):
        return bool(node.this)
    if isinstance(node, exp.Literal):
        return node.name if node.is_string else _exact(node)
    if isinstance(node, exp.Neg):
        inner = _exact(bare(node.this))
        return None if inner is None else -inner
    if type(node) is exp.Cast and bare(node.this).is_string:
        text = bare(node.this).name
        whole = node.to.is_type("date") and ":" not in text
        return moment(text) if whole or node.to.is_type("timestamp") else None
    return None


def _exact(node: exp.Expr) -> Fraction | None:
    """A number that is written exactly: 7e-1 is compared as another than 0.7."""
    plain = isinstance(node, exp.Literal) and "e" not in node.name.lower()
    return number(node) if plain else None


def _ranges(
    subject: exp.Expr, nodes: list[exp.Expr], kind: str | None, *, conditions: bool = False
) -> list[Range]:
    """Every range between the constants of ``nodes``; of ``conditions``, none share a value."""
    sides = [s for n in nodes for part in n.find_all(*_COMPARED, exp.Case) for s in _sides(part)]
    read = [_read(side, kind) for side in sides if _constant(side) is not None]
    asked = [part for node in nodes for part in _conditions(node)] + (nodes if conditions else [])
    compared = any(isinstance(value, bool) for value in read)
    if compared or subject in map(bare, asked):
        # A number is compared with TRUE as 1, and asked whether it is true as anything but 0.
        if kind != "BOOLEAN" and (compared or kind is not None):
            raise NoMap
        read += [True, False]
    found = set(read)
    if len(found) > _MOST_CONSTANTS:
        raise NoMap
    # In Python True is 1: values are compared among their own kind only.
    if len({type(value) for value in read}) > 1 or None in found:
        raise NoMap
    if str(kind).startswith("ENUM") and any(node.find(*_ORDERED) for node in nodes):
        raise NoMap  # its values stand in an order of their own
    if conditions and not all(_is_sharp(value, kind) for value in found):
        raise NoMap
    # 'true' and 't' are two texts, and one truth value.
    texts = {value.lower() for value in found if isinstance(value, str)}
    if conditions and kind is None and len(_TRUTHS & texts) > 1:
        raise NoMap
    points = sorted(found)
    ends: list[Any] = [None, *points, None]
    ranges: list[Range] = []
    for low, high in pairwise(ends):
        part = isinstance(low, Fraction) and low.denominator > 1
        if low is not None and not (part and kind in INTEGERS):
            ranges.append(Range(low, low))
        # Between two constants; of whole numbers, if one lies there.
        bounded = isinstance(low, Fraction) and isinstance(high, Fraction) and kind in INTEGERS
        is_empty = bounded and math.floor(low) + 1 >= high
        if not isinstance(points[0] if points else None, bool) and not is_empty:
            ranges.append(Range(low, high))
    numeric = not points or isinstance(points[0], Fraction)
    nan = [Range(special="nan")] if numeric and kind in FLOATS | {None} else []
    return [*ranges[: None if points else 1], Range(special="null"), *nan]


def _read(node: exp.Expr, kind: str | None) -> Any:
    """A constant as a value of the subject's type."""
    value = _constant(node)
    if isinstance(value, str) and kind in TIMES | {"DATE"}:
        return moment(value)
    if isinstance(value, str) and kind not in {None, TEXT} and not str(kind).startswith("ENUM"):
        return None
    return value


def _is_sharp(value: Any, kind: str | None) -> bool:
    """Whether a constant stays apart from others in every type the subject can be of."""
    if isinstance(value, Fraction):
        digits = value * 10**6
        small = abs(value.numerator) < _SHARP and digits.denominator == 1
        return kind in INTEGERS or (small and len(str(abs(digits.numerator)).strip("0")) <= 6)
    if isinstance(value, datetime):
        whole = (value.hour, value.minute, value.second, value.microsecond) == (0, 0, 0, 0)
        return whole or kind == "TIMESTAMP"
    # '1' and '01' are two texts, and one number.
    return not isinstance(value, str) or kind is not None or not _NUMERIC.fullmatch(value)


def _conditions(node: exp.Expr) -> Iterator[exp.Expr]:
    """The parts that stand where a truth value is asked for."""
    for joined in node.find_all(exp.And, exp.Or):
        yield from (joined.this, joined.expression)
    for part in node.find_all(exp.Not, exp.If):
        if not _is_simple_case(part.parent or part):
            yield part.this


_Outcome = Any
"""A constant, None for NULL, or an expression that shows more of the value than its range."""


@dataclass(frozen=True)
class _On:
    """What expressions are for every value of the subject in one range."""

    subject: exp.Expr
    part: Range

    def value(self, node: exp.Expr) -> _Outcome:
        """What ``node`` is."""
        node = bare(node)
        if isinstance(node, exp.Null):
            return None
        if node == self.subject:
            is_truth = self.part.is_point and isinstance(self.part.low, bool)
            return None if self.part.special == "null" else self.part.low if is_truth else node
        if isinstance(node, exp.Not):
            value = self.truth(node.this)
            return None if value is None else not value
        if isinstance(node, exp.Case | exp.If):
            return self._chosen(node)
        if isinstance(node, exp.Coalesce):
            values = map(self.value, (node.this, *node.expressions))
            return next((value for value in values if value is not None), None)
        if isinstance(node, exp.Nullif):
            same = self._holds(exp.EQ, node.this, node.expression)
            return None if same is True else self.value(node.this)
        if isinstance(node, (exp.And, exp.Or, *_COMPARED)):
            return self._condition(node)
        constant = _constant(node)
        if constant is not None:
            return constant
        if node.find(exp.Column) is None or self.part.special == "null":
            raise NoMap
        return node

    def truth(self, node: exp.Expr) -> bool | None:
        """The truth value that ``node`` is."""
        value = self.value(node)
        if value is not None and not isinstance(value, bool):
            raise NoMap
        return value

    def _chosen(self, node: exp.Expr) -> _Outcome:
        for branch in node.args["ifs"] if isinstance(node, exp.Case) else [node]:
            if _is_simple_case(node):
                holds = self._holds(exp.EQ, node.this, branch.this)
            else:
                holds = self.truth(branch.this)
            if holds is True:
                return self.value(branch.args["true"])
        return self.value(node.args.get("default") or node.args.get("false") or exp.Null())

    def _condition(self, node: exp.Expr) -> bool | None:
        this, other = node.this, node.expression
        if isinstance(node, exp.And):
            return _all({self.truth(this), self.truth(node.expression)})
        if isinstance(node, exp.Or):
            return _any({self.truth(this), self.truth(node.expression)})
        if isinstance(node, exp.Between):
            ends = ((exp.GTE, "low"), (exp.LTE, "high"))
            return _all({self._holds(kind, this, node.args[end]) for kind, end in ends})
        if isinstance(node, exp.In):
            return _any({self._holds(exp.EQ, this, each) for each in node.expressions})
        if isinstance(node, exp.Is | exp.NullSafeEQ | exp.NullSafeNEQ):
            sides = [self.value(side) for side in (this, other)]
            if None in sides:
                same = sides[0] is None and sides[1] is None
            else:
                same = self._holds(exp.EQ, this, other) is True
            return same is not isinstance(node, exp.NullSafeNEQ)
        return self._holds(type(node), this, other)

    def _holds(self, kind: type[exp.Expr], left: exp.Expr, right: exp.Expr) -> bool | None:
        """A comparison of the subject with a constant, one way or the other, or of two of them."""
        left, right = bare(left), bare(right)
        if isinstance(left, exp.Null) or isinstance(right, exp.Null):
            return None
        if right == self.subject:
            place = self._place(left)
            sign = None if place is None else -place
        else:
            sign = self._place(right) if left == self.subject else _order(left, right)
        return None if sign is None else sign in _HOLDS[kind]

    def _place(self, other: exp.Expr) -> int | None:
        """Whether the range lies below (-1), at (0) or above (1) a constant; NULL: None."""
        part, constant = self.part, _constant(other)
        if constant is None:
            raise NoMap
        if part.special:
            return None if part.special == "null" else 1  # NaN is above every number in DuckDB
        if isinstance(constant, str) and isinstance(part.low or part.high, datetime):
            constant = moment(constant)
        if part.is_point:
            return int(part.low > constant) - int(part.low < constant)
        return -1 if part.high is not None and constant >= part.high else 1


def _order(left: exp.Expr, right: exp.Expr) -> int:
    one, other = _constant(left), _constant(right)
    if one is None or type(one) is not type(other):
        raise NoMap
    return int(one > other) - int(one < other)


def _all(found: set[bool | None]) -> bool | None:
    return False if False in found else (None if None in found else True)


def _any(found: set[bool | None]) -> bool | None:
    return True if True in found else (None if None in found else False)


_HOLDS: dict[type[exp.Expr], tuple[int, ...]] = {
    exp.EQ: (0,), exp.NEQ: (-1, 1), exp.LT: (-1,), exp.LTE: (-1, 0), exp.GT: (1,), exp.GTE: (0, 1),
}  # fmt: skip


def _shown(outcome: _Outcome) -> str:
    if outcome is None:
        return "NULL"
    return outcome.sql("duckdb") if isinstance(outcome, exp.Expr) else _literal(outcome)


def _literal(value: Any) -> str:
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, Fraction):
        # Every constant was written in decimal digits, so that these are all of them.
        with localcontext(prec=200):
            return f"{Decimal(value.numerator) / Decimal(value.denominator):f}"
    if isinstance(value, datetime):
        midnight = value.time() == datetime.min.time()
        value = value.date().isoformat() if midnight else value.isoformat(" ")
    return exp.Literal.string(value).sql("duckdb")


_Run = tuple[list[tuple[Range, str]], str]


def _described(runs: list[_Run], name: str, kind: str | None) -> Iterator[tuple[str, str]]:
    """Each run of ranges with one outcome; of texts the constants, the rest together."""
    points = [part.low for run, _ in runs for part, _ in run if part.is_point]
    texts = bool(points) and isinstance(points[0], str | bool)
    between = {text for run, text in runs for part, _ in run if not part.is_point}
    if texts and len(between) <= 1:
        yield from _listed(runs, name, between)
        return
    for place, (run, text) in enumerate(runs):
        start = _start(run[0][0], kind) if place else None
        end = _start(runs[place + 1][0][0][0], kind) if place + 1 < len(runs) else None
        yield _interval(start, end, name), text


def _listed(runs: list[_Run], name: str, between: set[str]) -> Iterator[tuple[str, str]]:
    by_text: dict[str, list[str]] = {}
    for run, text in runs:
        by_text.setdefault(text, []).extend(_literal(p.low) for p, _ in run if p.is_point)
    for text, values in sorted(by_text.items(), key=lambda item: item[1]):
        if text not in between:
            yield f"{name} IN ({', '.join(values)})", text
    for text in between:
        yield f"{name} is another", text


_Bound = tuple[Any, bool]  # a constant, and whether it belongs to what is above it


def _start(part: Range, kind: str | None) -> _Bound:
    """Where a run begins; of whole numbers, the least of them."""
    if kind in INTEGERS and isinstance(part.low, Fraction):
        least = math.ceil(part.low) if part.is_point else math.floor(part.low) + 1
        return Fraction(least), True
    return part.low, part.is_point


def _interval(start: _Bound | None, end: _Bound | None, name: str) -> str:
    if start is None and end is None:
        return f"any {name}"
    if start and end and start[0] == end[0]:
        return f"{name} = {_literal(start[0])}"
    below = f"{_literal(start[0])} {'<=' if start[1] else '<'} " if start else ""
    above = f" {'<' if end[1] else '<='} {_literal(end[0])}" if end else ""
    return f"{below}{name}{above}"

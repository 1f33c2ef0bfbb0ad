"""What an expression over one column gives, value by value: SQL's three truths, and no more.

What a CASE, a comparison or a COALESCE does to a column is told by what it gives at a few of its
values: at each that it names, between these, at NULL and at NaN. Whatever is not evaluated here
exactly is not understood.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import date, datetime, time
from decimal import Decimal
from operator import eq, ge, gt, le, lt, ne
from typing import Any, Final

from sqlglot import exp

from policy_engine.check.words import number_of


class NotUnderstood(Exception):
    """An expression that no recoding can mean, and why."""


class _Other:
    """A value that is none of those that an expression names."""

    def __repr__(self) -> str:
        return "every other value"


OTHER: Final = _Other()
NAN: Final = float("nan")
Point = Decimal | str | bool | date | datetime
Given = Point | _Other | float | None
"""A value: ``NAN`` is the one float."""

_WRAPS = (exp.Paren, exp.Collate)
COMPARES: dict[type[exp.Expr], Callable[[Any, Any], bool]] = {
    exp.LT: lt, exp.LTE: le, exp.GT: gt, exp.GTE: ge, exp.EQ: eq, exp.NEQ: ne,
}  # fmt: skip
_ORDERS = (exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between)


def without_parentheses(node: exp.Expr) -> exp.Expr:
    """``node`` without parentheses and a collation around it."""
    while isinstance(node, _WRAPS):
        node = node.this
    return node


def point_of(node: exp.Expr) -> Point | None:
    """The value of a literal; a text that reads as a day or a moment is one.

    >>> import sqlglot
    >>> point_of(sqlglot.parse_one("-5")), point_of(sqlglot.parse_one("CAST('2020-01-01' AS DATE)"))
    (Decimal('-5'), datetime.date(2020, 1, 1))
    """
    node = without_parentheses(node)
    while isinstance(node, exp.Cast) and not isinstance(node, exp.TryCast):
        if node.to.is_type(*exp.DataType.TEXT_TYPES):
            inner = point_of(node.this)
            return None if inner is None else label_of(inner)
        node = without_parentheses(node.this)
    if isinstance(node, exp.Neg):
        inner = point_of(node.this)
        return -inner if isinstance(inner, Decimal) else None
    if isinstance(node, exp.Boolean):
        return bool(node.this)
    if isinstance(node, exp.RawString | exp.National):
        return str(node.name)
    if not isinstance(node, exp.Literal):
        return None
    if not node.is_string:
        return number_of(node.name)
    if node.name.lower() == "nan":
        return None
    for form in (date.fromisoformat, datetime.fromisoformat):
        if "-" in node.name:
            with suppress(ValueError):
                return form(node.name)
    return str(node.name)


def label_of(value: Given) -> str | None:
    """A value as it is shown.

    Raises NotUnderstood for one that is the column's own.
    """
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Decimal):
        return f"{value.normalize() if value else Decimal(0):f}"
    if isinstance(value, date):
        return str(value)
    raise NotUnderstood("a branch shows the value itself")


def asks_order(node: exp.Expr) -> bool:
    """Whether an expression compares by order."""
    return any(node.find_all(*_ORDERS))


def points_in(node: exp.Expr) -> tuple[Point, ...]:
    """The values that an expression compares its column with, each once.

    A column that is a condition itself is compared with both truths.
    """
    found: list[Point | None] = []
    for each in node.walk():
        if isinstance(each, exp.Column):
            found += [False, True] if _is_truth(each) else []
        elif isinstance(each, (*COMPARES, exp.NullSafeEQ, exp.NullSafeNEQ, exp.Nullif)):
            sides = [without_parentheses(side) for side in (each.this, each.expression)]
            # What a CASE shows is compared, and no value of the column.
            if not any(isinstance(side, exp.Case | exp.If) for side in sides):
                found += map(point_of, sides)
        elif isinstance(each, exp.Between):
            found += map(point_of, (each.args["low"], each.args["high"]))
        elif isinstance(each, exp.In):
            found += map(point_of, each.expressions)
        elif isinstance(each, exp.ArrayContains):
            found += map(point_of, each.this.expressions)
        elif isinstance(each, exp.Case) and each.this is not None:
            found += (point_of(branch.this) for branch in each.args["ifs"])
        elif isinstance(each, exp.DecodeCase):
            found += map(point_of, each.expressions[1:-1:2])
    return tuple(dict.fromkeys(point for point in found if point is not None))


def _is_truth(column: exp.Expr) -> bool:
    """Whether a column stands where a condition does."""
    node, parent = column, column.parent
    while isinstance(parent, _WRAPS):
        node, parent = parent, parent.parent
    if isinstance(parent, exp.Is):
        return isinstance(parent.expression, exp.Boolean)
    if isinstance(parent, exp.Coalesce):
        return any(isinstance(each, exp.Boolean) for each in parent.expressions)
    is_asked = isinstance(parent, exp.If) and parent.this is node
    in_case = is_asked and isinstance(parent.parent, exp.Case) and parent.parent.this is not None  # type: ignore[union-attr]
    return isinstance(parent, exp.And | exp.Or | exp.Not) or (is_asked and not in_case)


def value_of(node: exp.Expr, held: Given) -> Given:
    """What an expression gives where its column holds a value.

    Raises NotUnderstood for what is not evaluated here.
    """
    node = without_parentheses(node)
    if isinstance(node, exp.Column):
        return held
    if isinstance(node, exp.Null):
        return None
    if (point := point_of(node)) is not None:
        return point
    for kinds, evaluate in _FORMS:
        if isinstance(node, kinds):
            return evaluate(node, held)
    raise NotUnderstood("no recoding of the language does this")


def truth_of(node: exp.Expr, held: Given) -> bool | None:
    """Whether a condition holds where its column holds a value; None where SQL does not know."""
    found = value_of(node, held)
    if found is None or isinstance(found, bool):
        return found
    raise NotUnderstood("a condition is no truth")


def _branched(node: exp.Expr, held: Given) -> Given:
    for condition, shown in branches_of(node):
        if truth_of(condition, held):
            return value_of(shown, held)
    last = node.args.get("default") if isinstance(node, exp.Case) else node.args.get("false")
    return None if last is None else value_of(last, held)


def branches_of(node: exp.Expr) -> Iterator[tuple[exp.Expr, exp.Expr]]:
    """Condition and value of each branch of a CASE or an IF."""
    for each in node.args["ifs"] if isinstance(node, exp.Case) else [node]:
        test = each.this
        if isinstance(node, exp.Case) and node.this is not None:
            test = exp.EQ(this=node.this.copy(), expression=test.copy())
        yield test, each.args["true"]


def _decoded(node: exp.Expr, held: Given) -> Given:
    asked, *rest = node.expressions
    value = value_of(asked, held)
    while len(rest) > 1:
        key, shown, *rest = rest
        if _same(value, value_of(key, held)):
            return value_of(shown, held)
    return value_of(rest[0], held) if rest else None


def _first(node: exp.Expr, held: Given) -> Given:
    found = (value_of(each, held) for each in (node.this, *node.expressions))
    return next((each for each in found if each is not None), None)


def _chosen(node: exp.Expr, held: Given) -> Given:
    last = node.args.get("false")
    shown = node.args["true"] if value_of(node.this, held) is not None else last
    return None if shown is None else value_of(shown, held)


def _unless(node: exp.Expr, held: Given) -> Given:
    value = value_of(node.this, held)
    return None if _compared(exp.EQ, value, value_of(node.expression, held)) else value


def _and_or(node: exp.Expr, held: Given) -> Given:
    sides = [truth_of(node.this, held), truth_of(node.expression, held)]
    decides = isinstance(node, exp.Or)
    if decides in sides:
        return decides
    return None if None in sides else not decides


def _denied(node: exp.Expr, held: Given) -> Given:
    found = truth_of(node.this, held)
    return None if found is None else not found


def _is(node: exp.Expr, held: Given) -> Given:
    is_denied = bool(node.args.get("negate"))
    if isinstance(node.expression, exp.Null):
        return (value_of(node.this, held) is None) is not is_denied
    if isinstance(node.expression, exp.Boolean):
        return (truth_of(node.this, held) is bool(node.expression.this)) is not is_denied
    raise NotUnderstood("no recoding of the language does this")


def _listed(node: exp.Expr, held: Given) -> Given:
    if isinstance(node, exp.ArrayContains):
        asked, members = node.expression, node.this.expressions
    else:
        asked, members = node.this, node.expressions
    if not members or not isinstance(asked, exp.Expr):
        raise NotUnderstood("it compares with another query")
    value = value_of(asked, held)
    found = [_compared(exp.EQ, value, value_of(each, held)) for each in members]
    return True if True in found else None if None in found else False


def _between(node: exp.Expr, held: Given) -> Given:
    value = value_of(node.this, held)
    low = _compared(exp.GTE, value, value_of(node.args["low"], held))
    high = _compared(exp.LTE, value, value_of(node.args["high"], held))
    return False if False in (low, high) else None if None in (low, high) else True


def _compares(node: exp.Expr, held: Given) -> Given:
    return _compared(type(node), value_of(node.this, held), value_of(node.expression, held))


def _compares_safely(node: exp.Expr, held: Given) -> Given:
    is_same = _same(value_of(node.this, held), value_of(node.expression, held))
    return is_same is isinstance(node, exp.NullSafeEQ)


def _is_nan(node: exp.Expr, held: Given) -> Given:
    value = value_of(node.this, held)
    return None if value is None else value is NAN


_FORMS: tuple[tuple[Any, Callable[[exp.Expr, Given], Given]], ...] = (
    (exp.Case | exp.If, _branched), (exp.DecodeCase, _decoded), (exp.Coalesce, _first),
    (exp.Nvl2, _chosen), (exp.Nullif, _unless), (exp.And | exp.Or, _and_or), (exp.Not, _denied),
    (exp.Is, _is), (exp.In | exp.ArrayContains, _listed), (exp.Between, _between),
    (tuple(COMPARES), _compares), (exp.NullSafeEQ | exp.NullSafeNEQ, _compares_safely),
    (exp.IsNan, _is_nan),
)  # fmt: skip


def _same(one: Given, other: Given) -> bool:
    """Whether two values are one, NULL and NULL too."""
    if one is None or other is None:
        return one is other
    return _compared(exp.EQ, one, other) is True


def _compared(kind: type[exp.Expr], one: Given, other: Given) -> bool | None:
    if one is None or other is None:
        return None
    if one is OTHER or other is OTHER:
        if kind not in (exp.EQ, exp.NEQ):
            raise NotUnderstood("it orders texts")
        return (one is other) is (kind is exp.EQ)
    if one is NAN or other is NAN:
        # NaN is above every number, and equal to itself.
        ranks = (one is NAN, other is NAN)
        return COMPARES[kind](*ranks)
    one, other = _alike(one, other)
    if isinstance(one, str) and kind not in (exp.EQ, exp.NEQ):
        raise NotUnderstood("it orders texts")
    return COMPARES[kind](one, other)


def _alike(one: Any, other: Any) -> tuple[Any, Any]:
    """Two values of one kind: a text beside a number is its number, a day its first moment."""
    if isinstance(one, str) and isinstance(other, Decimal):
        return _number(one), other
    if isinstance(one, Decimal) and isinstance(other, str):
        return one, _number(other)
    if isinstance(one, date) and isinstance(other, date):
        return moment_of(one), moment_of(other)
    if isinstance(one, date) and isinstance(other, str):
        return str(one), other
    if isinstance(one, str) and isinstance(other, date):
        return one, str(other)
    if type(one) is not type(other):
        raise NotUnderstood("it compares values of several types")
    return one, other


def _number(text: str) -> Decimal:
    number = number_of(text)
    if number is None:
        raise NotUnderstood("it compares values of several types")
    return number


def moment_of(day: date) -> datetime:
    """The first moment of a day; a moment is itself."""
    return day if isinstance(day, datetime) else datetime.combine(day, time())

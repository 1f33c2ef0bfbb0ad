"""Numbers of a text, exactly, and its conditions, in one form.

Text that would cost much to read is no number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from fractions import Fraction

from sqlglot import exp

# Forty digits are more than any engine's exact numbers have; without a limit, 1e999999999
# would be read as an integer of a billion digits.
_NUMBER = re.compile(r"(?=.{1,40}\Z)(\d+\.?\d*|\.\d+)([eE][-+]?\d{1,2})?\Z", re.ASCII)

# Others DuckDB compares as floating-point numbers, which are other numbers.
_BOUND = re.compile(r"\d{1,18}|\d{1,9}\.\d{1,6}", re.ASCII)


_MOMENT = re.compile(r"\d{4}-\d\d-\d\d( \d\d:\d\d:\d\d(\.\d{1,6})?)?", re.ASCII)


def moment(text: str) -> datetime | None:
    """A day or moment in the one spelling that every reader reads alike; None for any other.

    >>> moment("2026-01-31"), moment("2026-02-31"), moment("31.1.2026")
    (datetime.datetime(2026, 1, 31, 0, 0), None, None)
    """
    if not _MOMENT.fullmatch(text):
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def bare(node: exp.Expr) -> exp.Expr:
    """``node`` without its parentheses."""
    while isinstance(node, exp.Paren):
        node = node.this
    return node


def unaliased(item: exp.Expr) -> exp.Expr:
    """What an item of a select list is, without its name and parentheses."""
    return bare(item.this if isinstance(item, exp.Alias) else item)


def by_bytes(node: exp.Expr) -> exp.Expr:
    """``x`` of ``x COLLATE "binary"``, which only says that a text is its bytes; else ``node``."""
    node = bare(node)
    is_binary = isinstance(node, exp.Collate) and node.expression.name.lower() == "binary"
    return bare(node.this) if is_binary else node


# The digits that every number of a type with that many bytes has.
_DIGITS = {"TINYINT": 2, "SMALLINT": 4, "INT": 9, "BIGINT": 18}


def number(node: exp.Expr) -> Fraction | None:
    """The value of a literal number, plain or as a type that holds it; None for anything else.

    >>> number(exp.Literal.number("0.05")), number(exp.Literal.string("0.05"))
    (Fraction(1, 20), None)
    >>> number(exp.cast(exp.Literal.number(20), "tinyint"))
    Fraction(20, 1)
    """
    node = bare(node)
    if type(node) is exp.Cast and (node.to.is_type("double") or _holds(node)):
        node = bare(node.this)
    if not isinstance(node, exp.Literal) or node.is_string or not _NUMBER.match(node.name):
        return None
    return Fraction(node.name)


def _holds(cast: exp.Cast) -> bool:
    """Whether a cast is of a whole number to a type of whole numbers that has it."""
    digits = _DIGITS.get(cast.to.this.name, 0) if not cast.to.expressions else 0
    return bare(cast.this).name.isdigit() and len(bare(cast.this).name) <= digits


def bound(node: exp.Expr) -> Fraction | None:
    """The value of a literal number that DuckDB compares with a count as it is written.

    >>> bound(exp.Literal.number("19.5")), bound(exp.Literal.number("19.5e0"))
    (Fraction(39, 2), None)
    """
    if isinstance(node, exp.Mul):
        sides = [bound(bare(side)) for side in (node.this, node.expression)]
        return None if None in sides else sides[0] * sides[1]  # type: ignore[operator]
    return number(node) if _BOUND.fullmatch(node.name) else None


def ordinal(node: exp.Expr) -> int | None:
    """The place in a list that a literal whole number names; None for anything else."""
    value = number(node)
    return int(value) if value is not None and node.name.isdigit() else None


# Of two values that are not NULL, one of a comparison and its contrary holds.
_CONTRARY: dict[type[exp.Expr], type[exp.Expr]] = {
    exp.LT: exp.GTE, exp.LTE: exp.GT, exp.GT: exp.LTE, exp.GTE: exp.LT,
}  # fmt: skip


def comparison(node: exp.Expr) -> tuple[exp.Expr, type[exp.Expr] | None]:
    """A comparison under any number of NOT, and the kind that it is of with them.

    >>> import sqlglot
    >>> node, kind = comparison(sqlglot.parse_one("not (n < 20)"))
    >>> node.sql(), kind.__name__
    ('n < 20', 'GTE')
    """
    if not isinstance(node, exp.Not):
        return node, type(node)
    negated = False
    while isinstance(node, exp.Not):
        node, negated = bare(node.this), not negated
    contrary = _CONTRARY.get(type(node))
    return node, contrary if negated or contrary is None else type(node)


def conjuncts(node: exp.Expr | None) -> Iterator[exp.Expr]:
    """The parts of an AND chain, in order, without parentheses and IS TRUE."""
    stack = [] if node is None else [node]
    while stack:
        current = bare(stack.pop())
        if isinstance(current, exp.And):
            stack.extend((current.expression, current.this))
        elif isinstance(current, exp.Is) and current.expression == exp.true():
            stack.append(current.this)
        else:
            yield current


def lower_bound(node: exp.Expr) -> tuple[exp.Expr, int] | None:
    """``(what, least)`` for a condition that holds for ``what`` from the number ``least`` on."""
    node, kind = comparison(node)
    if kind in {exp.GTE, exp.GT, exp.Between}:
        what, least = node.this, node.args.get("low") or node.expression
    elif kind in {exp.LTE, exp.LT}:
        what, least = node.expression, node.this
    else:
        return None
    high = node.args.get("high")
    value = bound(bare(least))
    if high is not None and bound(bare(high)) is None:
        return None
    if value is None:
        return None
    floor = value.numerator // value.denominator
    strict = kind in {exp.GT, exp.LT}
    return bare(what), floor if floor == value and not strict else floor + 1

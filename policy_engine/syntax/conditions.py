"""Conditions: the parts of an AND chain, and comparisons in one form."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from policy_engine.syntax.literals import bare, bound

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

"""UNION ALL of parts of one table that no row is in twice: the table again, filtered."""

from __future__ import annotations

from sqlglot import exp

from policy_engine.expressions.conversions import MIXED
from policy_engine.expressions.evaluation import BYTEWISE, canonical
from policy_engine.expressions.value_map import can_both_hold, point_of
from policy_engine.expressions.values import Role, Value, cannot_fail
from policy_engine.relations.shape import Condition, Shape, Stage
from policy_engine.syntax.findings import Notes
from policy_engine.syntax.node_laws import reads_one_relation

_MOST_PAIRS = 2000
"""Each condition of a part is compared with each of the other side's."""


def condition_of(node: exp.Expr, rows: Shape) -> Condition:
    """``node`` as a condition over the columns of the source of ``rows``."""
    columns = frozenset(column.name for column in node.find_all(exp.Column))
    return Condition(node, columns, point_of(node, *_kinds(rows)))


def _kinds(rows: Shape) -> tuple[dict[str, str | None], set[str]]:
    """The types of the source's columns, and those that compare text their own way."""
    kinds = {name: value.type for name, value in rows.base.items()}
    return kinds, {name for name, value in rows.base.items() if value.collated}


def united(query: exp.Union, left: Shape | None, right: Shape | None, notes: Notes) -> Shape | None:
    """The union of two parts of one table; None and a finding where it is something else."""
    if left is None or right is None:
        return None
    found = "UNION without ALL" if query.args.get("distinct") else _difference(left, right)
    if found is None and sum(map(len, left.parts)) * sum(map(len, right.parts)) > _MOST_PAIRS:
        found = "a UNION of too many parts to compare"
    if found is None and not _are_apart(left, right):
        found = "a UNION of parts that a row may be in twice"
    if found is not None:
        notes.judge(reads_one_relation.broken_by(found), query)
        return None
    if left.open:
        notes.assume(BYTEWISE)
    pairs = zip(left.columns.items(), right.columns.values(), strict=True)
    of_parts = (each.columns for part in (*left.parts, *right.parts) for each in part)
    inputs: frozenset[str] = frozenset().union(*of_parts)
    return left.but(
        columns={name: _either(one, other, inputs, query, notes) for (name, one), other in pairs},
        names=frozenset(),
        parts=(*left.parts, *right.parts),
        filtered=True,
    )


def _difference(left: Shape, right: Shape) -> str | None:
    """Why two relations are no parts of one; None where they are."""
    for rows in (left, right):
        if rows.stage is not Stage.ROWS or rows.rank is not None or rows.joined:
            return "a UNION of groups, of windows or of joins"
    if (left.source, left.is_file) != (right.source, right.is_file):
        return f"a UNION of {left.source} and {right.source}"
    alike = len(left.columns) == len(right.columns) and left.open == right.open
    if not alike or (left.open and left.layout != right.layout):
        return "a UNION of different columns"
    if (left.sample is None) != (right.sample is None):
        return "a UNION of a sample and of all rows"
    one, other = left.sample, right.sample
    if one is None or other is None:
        return None
    if one != other:
        return "a UNION of different samples"
    if one.method in {"drawn", "keyed"} and not one.text:
        return "a UNION of samples under two parameters; name the parameter, as $salt"
    return None


def _are_apart(left: Shape, right: Shape) -> bool:
    """Whether no row of the source is in both."""
    kinds, collated = _kinds(left)

    def exclude(one: Condition, other: Condition) -> bool:
        if one.point is not None and other.point is not None and one.point[:2] == other.point[:2]:
            return one.point != other.point
        return not can_both_hold(one.node, other.node, kinds, collated)

    return all(
        any(exclude(a, b) for a in one for b in other)
        for one in left.parts
        for other in right.parts
    )


def _either(
    one: Value, other: Value, inputs: frozenset[str], query: exp.Union, notes: Notes
) -> Value:
    """A column that is one value in some parts and another in others."""
    written = [None if v.expression is None else canonical(v.expression) for v in (one, other)]
    if one.kind is other.kind and written[0] is not None and written[0] == written[1]:
        return one
    if one.kind is not Role.VALUE or other.kind is not Role.VALUE:
        notes.judge(reads_one_relation.broken_by("a UNION of places of rows"), query)
    same = one.type == other.type
    if one.type is None or other.type is None:
        notes.assume(MIXED)
    elif not same:
        found = f"a column of the types {one.type} and {other.type}"
        notes.judge(cannot_fail(found), query)
    collated = True if True in {one.collated, other.collated} else None
    return Value(
        Role.VALUE,
        one.inputs | other.inputs | inputs,
        type=one.type if same else None,
        collated=one.collated if one.collated == other.collated else collated,
        growth=max(one.growth, other.growth),
    )

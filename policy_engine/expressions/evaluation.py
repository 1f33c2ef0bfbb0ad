"""Row expressions: deterministic functions of one row of the source.

``evaluate`` proves that an expression is one, and says which source columns it depends on.
"A recode is sound when it is a deterministic function of the one row": what may stand in it
is the grammar's ``ROW_NODES``; everything else is a finding with a law of its own.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from policy_engine.expressions.conversions import check_condition
from policy_engine.expressions.datatypes import (
    QUOTIENT,
    TEXT,
    collation_of,
    shows_itself,
    type_of,
)
from policy_engine.expressions.texts import growth
from policy_engine.expressions.totality import check_total
from policy_engine.expressions.values import (
    Kind,
    Leaves,
    Value,
    groups_byte_by_byte,
    keeps_the_secret,
)
from policy_engine.syntax.findings import Breach, Notes, law, shown
from policy_engine.syntax.grammar import ROW_NODES
from policy_engine.syntax.literals import bare
from policy_engine.syntax.names import fold
from policy_engine.syntax.node_laws import (
    asks_no_query,
    keeps_one_row,
    only_counts,
    reason,
)

FLOATING = (
    "no grouped column is an interval, a variant, or a float that can be NaN or negative zero"
)
BYTEWISE = "text is compared byte by byte, without a collation"

# An inner expression is carried into the outer one only while it is this small, so that a
# chain of CTEs cannot double its text at every step.
_CARRIED_NODES = 200

Resolver = Callable[[exp.Expr], Value | None]
"""The value of a node that stands for a column, None for any other node."""


def evaluate(
    node: exp.Expr,
    resolve: Resolver,
    notes: Notes,
    *,
    total: bool = True,
    condition: bool = False,
) -> Value:
    """``node`` as a function of what ``resolve`` knows; findings where it is not one.

    With ``total``, whatever in it could fail on some row is a finding or an assumption;
    a ``condition`` is converted to a truth value by the engine, which can fail as well.
    """
    leaves = _leaves(node, resolve, notes)
    if total and condition:
        check_condition(node, leaves, notes)
    inner = bare(node)
    if id(inner) in leaves:
        return leaves[id(inner)]
    if total:
        check_total(node, leaves, notes)
    values = list(leaves.values())
    counted = any(value.kind in {Kind.COUNT, Kind.DERIVED} for value in values)
    inputs: frozenset[str] = frozenset().union(*(value.inputs for value in values))
    return Value(
        Kind.DERIVED if counted else Kind.VALUE,
        inputs,
        _substitute(node, leaves),
        type_of(node, leaves),
        collation_of(node, leaves),
        growth=growth(node, leaves, notes) if total else 1,
    )


def _leaves(node: exp.Expr, resolve: Resolver, notes: Notes) -> dict[int, Value]:
    """The values of the nodes that ``resolve`` knows; any other must be of ROW_NODES."""
    leaves: dict[int, Value] = {}
    stack = [node]
    while stack:
        current = stack.pop()
        value = resolve(current)
        if value is not None:
            leaves[id(current)] = value
        elif current.args.get("query") or type(current) not in ROW_NODES:
            notes.judge(_misplaced(current), current)
        else:
            stack.extend(reversed(list(current.iter_expressions())))
    return leaves


def _misplaced(node: exp.Expr) -> Breach | None:
    """The law that a node breaks inside a row expression, wherever else it may stand."""
    if isinstance(node, exp.Window):
        return keeps_one_row.broken_by(shown(node))
    if isinstance(node, exp.Count | exp.Sum):
        return only_counts.broken_by(shown(node))
    if isinstance(node, exp.Placeholder):
        return keeps_the_secret(shown(node))
    return asks_no_query(node) or reason(node)


@law("V18")
def shows_each_value(value: Value, node: exp.Expr) -> str | None:
    """A grouped column must show each value as itself: no float, interval or variant [mechanism 3].

    Group by bins, by a rounded DECIMAL or BIGINT, or by a text of it.
    """
    plain = value.type in {None, QUOTIENT} or shows_itself(str(value.type))
    return None if plain else f"{shown(node)} of type {value.type}"


def check_key(value: Value, node: exp.Expr, notes: Notes) -> None:
    """A grouped value must show itself: no float's two zeros, no text that equals another."""
    notes.judge(shows_each_value(value, node), node)
    notes.judge(groups_byte_by_byte(value, node), node)
    if value.type in {None, QUOTIENT}:
        notes.assume(FLOATING)
    if value.collated is None and value.type in {TEXT, None}:
        notes.assume(BYTEWISE)


def reads(node: exp.Expr, name: str) -> bool:
    """Whether ``node`` reads a column called ``name``: the source then has one."""
    return any(fold(column.name) == name for column in node.find_all(exp.Column))


JOINED = "joined"
"""The mark of a column of a joined relation: its name keeps the relation's."""


def folded(node: exp.Expr) -> exp.Expr:
    """``node`` with the names of columns in one case, in quotes, and without their relation."""
    plain: dict[int, exp.Expr] = {
        id(c): exp.column(c.meta.get(JOINED, "") + fold(c.name), quoted=True)
        for c in node.find_all(exp.Column)
    }
    return _rebuilt(node, plain)


def canonical(node: exp.Expr) -> str:
    """One text for expressions that differ in case, quotes and qualifiers of names only."""
    return folded(node).sql("duckdb", comments=False)


def _substitute(node: exp.Expr, leaves: Leaves) -> exp.Expr | None:
    """``node`` over source columns; None where it would grow too large to carry."""
    replaced: dict[int, exp.Expr] = {}
    for place, value in leaves.items():
        if value.expression is None or _size(value.expression) > _CARRIED_NODES:
            return None
        replaced[place] = _in_parentheses(value.expression)
    return _rebuilt(node, replaced)


def _in_parentheses(node: exp.Expr) -> exp.Expr:
    """``node`` as one operand, whatever operator stands beside it."""
    loose = exp.Binary | exp.Unary | exp.Between | exp.In | exp.Predicate
    wraps = isinstance(node, loose) and not isinstance(node, exp.Paren | exp.Func)
    return exp.Paren(this=node) if wraps else node


def _rebuilt(node: exp.Expr, replaced: dict[int, exp.Expr]) -> exp.Expr:
    """A copy of ``node`` with the nodes whose ids are in ``replaced`` exchanged."""
    if id(node) in replaced:
        return replaced[id(node)].copy()
    clone = type(node)()
    for part, value in node.args.items():
        if isinstance(value, list):
            clone.set(part, [_part(item, replaced) for item in value])
        else:
            clone.set(part, _part(value, replaced))
    return clone


def _part(value: object, replaced: dict[int, exp.Expr]) -> object:
    return _rebuilt(value, replaced) if isinstance(value, exp.Expr) else value


def _size(node: exp.Expr) -> int:
    return sum(1 + len(part.expressions) * isinstance(part, exp.In) for part in node.walk())

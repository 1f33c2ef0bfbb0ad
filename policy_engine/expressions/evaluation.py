"""Row expressions: deterministic functions of one row of the source.

``evaluate`` proves that an expression is one, and says which source columns it depends on.
"A recode is sound when it is a deterministic function of the one row": what may stand in it
is the grammar's ``ROW_NODES``; everything else is a finding with a law of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from sqlglot import exp

from policy_engine.expressions.conversions import Verdict, check_condition, note
from policy_engine.expressions.datatypes import (
    QUOTIENT,
    TEXT,
    collation_of,
    shows_itself,
    type_of,
)
from policy_engine.expressions.totality import check_total
from policy_engine.expressions.values import (
    Leaves,
    Role,
    Value,
    cannot_fail,
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
    counted = any(value.kind in {Role.COUNT, Role.DERIVED} for value in values)
    inputs: frozenset[str] = frozenset().union(*(value.inputs for value in values))
    return Value(
        Role.DERIVED if counted else Role.VALUE,
        inputs,
        _substitute(node, leaves),
        type_of(node, leaves),
        collation_of(node, leaves),
        growth=_growth(node, leaves, notes) if total else 1,
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
        inner = value.expression
        if inner is None:
            return None
        if sum(1 for _ in inner.walk()) > _CARRIED_NODES:
            return None
        # As one operand, whatever operator stands beside it.
        loose = isinstance(inner, exp.Binary | exp.Unary | exp.Between | exp.In | exp.Predicate)
        wraps = loose and not isinstance(inner, exp.Paren | exp.Func)
        replaced[place] = exp.Paren(this=inner) if wraps else inner
    return _rebuilt(node, replaced)


def _rebuilt(node: exp.Expr, replaced: dict[int, exp.Expr]) -> exp.Expr:
    """A copy of a node with the nodes whose ids are in ``replaced`` exchanged."""
    whole = exp.Paren(this=node.copy())
    for old, new in list(zip(node.walk(), whole.this.walk(), strict=True)):
        if id(old) in replaced:
            new.replace(replaced[id(old)].copy())
    copied: exp.Expr = whole.this
    copied.pop()
    return copied


# How long a text one row can make: one that fills the memory fails, and tells of the row. A factor
# says how often, at most, a value holds all that its row and the statement hold. It is carried from
# query to query, so that no chain of queries doubles a text at every step.

_MOST = 64
_COPY = re.compile(r"\\[0-9]")


def _growth(node: exp.Expr, leaves: Leaves, notes: Notes) -> int:
    """The factor of ``node``; 1, and a finding, where it is above the limit."""
    if id(node) in leaves:
        return leaves[id(node)].growth
    parts = {id(part): _growth(part, leaves, notes) for part in node.iter_expressions()}
    factor = max(1, _factor(node, parts, notes))
    if factor > _MOST:
        found = f"{shown(node)}, which can be {factor} times as long as its row; at most {_MOST}"
        notes.judge(cannot_fail(found), node)
        return 1
    # What a literal holds is the statement's, however often it stands there.
    return 0 if isinstance(node, exp.Literal) else factor


def _factor(node: exp.Expr, parts: dict[int, int], notes: Notes) -> int:
    if isinstance(node, exp.ConcatWs):
        separator, *texts = (parts[id(part)] for part in node.expressions)
        return separator * len(texts) + sum(texts)
    if isinstance(node, exp.Concat | exp.DPipe):
        return sum(parts.values())
    if not isinstance(node, exp.Replace | exp.RegexpReplace):
        return max(parts.values(), default=1)
    new = bare(node.args.get("replacement") or exp.Null())
    if isinstance(node, exp.RegexpReplace):
        # It finds a place before every letter.
        modifiers = node.args.get("modifiers")
        copies = max(1, len(_COPY.findall(new.name)))
        once = modifiers is None or (modifiers.is_string and "g" not in modifiers.name)
        times = copies if once else copies + len(new.name.encode())
    elif new.is_string:
        # Of a text that is nothing but what it looks for.
        old = bare(node.expression)
        least = len(old.name.encode()) if old.is_string else 1
        times = max(1, -(-len(new.name.encode()) // max(1, least)))
    else:
        # Two columns of one row, each letter of the one replaced by the other.
        note(Verdict.UNDECIDED, node, notes)
        times = 1
    return parts[id(node.this)] * times

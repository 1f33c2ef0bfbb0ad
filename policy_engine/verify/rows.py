"""Row expressions: deterministic functions of one row of the source.

``evaluate`` proves that an expression is one, and says which source columns it depends on.
"A recode is sound when it is a deterministic function of the one row": what may stand in it
is the grammar's ``ROW_NODES``; everything else is a finding with a law of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sqlglot import exp

from policy_engine.expressions.datatypes import collation_of, type_of
from policy_engine.expressions.growth import growth
from policy_engine.expressions.totality import check_condition, check_total
from policy_engine.expressions.values import Kind, Leaves, Value
from policy_engine.syntax.findings import Notes, shown
from policy_engine.syntax.grammar import ROW_NODES, code_of
from policy_engine.syntax.literals import bare
from policy_engine.syntax.names import fold
from policy_engine.verify.shape import Relation, Stage

ROW_NUMBERS = frozenset({"rowid", "file_row_number", "file_index"})
"""Pseudo-columns that say where in the source a row stands."""

# An inner expression is carried into the outer one only while it is this small, so that a
# chain of CTEs cannot double its text at every step.
_CARRIED_NODES = 16

# What is allowed around row expressions, but not inside.
_CODES: dict[type[exp.Expr], str] = {
    exp.Rand: "V06",
    exp.Window: "V10",
    exp.Count: "V08",
    exp.Sum: "V08",
    exp.Select: "V11",
    exp.Subquery: "V11",
    exp.Placeholder: "V19",
}

Resolver = Callable[[exp.Expr], Value | None]
"""The value of a node that stands for a column, None for any other node."""

UNKNOWN = Value(Kind.VALUE)


def reads(node: exp.Expr, name: str) -> bool:
    """Whether ``node`` reads a column called ``name``: the source then has one."""
    return any(fold(column.name) == name for column in node.find_all(exp.Column))


def lookup(node: exp.Expr | None, relation: Relation) -> Value | None:
    """The value a column name stands for in ``relation``; None where there is none."""
    if not isinstance(node, exp.Column) or isinstance(node.this, exp.Star):
        return None
    name = fold(node.name)
    if not is_qualifier(node, relation):
        return None
    if name in relation.columns:
        return relation.columns[name]
    if name in ROW_NUMBERS and (relation.open or name == relation.row_number):
        return Value(Kind.POSITION, frozenset({name}), exp.column(name, quoted=True), type="BIGINT")
    if relation.open:
        return Value(Kind.VALUE, frozenset({name}), exp.column(node.name, quoted=True))
    return None


def is_qualifier(node: exp.Column, relation: Relation) -> bool:
    """Whether a column is qualified with a name of ``relation``, or not at all."""
    qualifier = ".".join(fold(part.name) for part in node.parts[:-1])
    return not qualifier or qualifier in relation.names


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
        elif current.args.get("query"):
            notes.find("V11", shown(current), current)
        elif type(current) not in ROW_NODES:
            notes.find(_CODES.get(type(current)) or code_of(current), shown(current), current)
        else:
            stack.extend(reversed(list(current.iter_expressions())))
    return leaves


def resolver(
    relation: Relation, notes: Notes, aliases: Mapping[str, Value] | None = None
) -> Resolver:
    """Resolves the columns of ``relation``, and ``aliases`` given before in the same select."""

    def resolve(node: exp.Expr) -> Value | None:
        if not isinstance(node, exp.Column):
            return None
        value = _alias(node, relation, notes, aliases or {}) or lookup(node, relation)
        if value is None:
            notes.find("V30", shown(node), node)
            return UNKNOWN
        if relation.stage is Stage.RELEASED:
            return value
        if value.kind is Kind.POSITION:
            notes.find("V20", node.name, node)
        elif value.kind is Kind.RANK:
            notes.find("V10", f"{node.name} inside a row expression", node)
        return value

    return resolve


def _alias(
    node: exp.Column, relation: Relation, notes: Notes, aliases: Mapping[str, Value]
) -> Value | None:
    """The value of an alias: the engine looks for a column of that name first."""
    name = fold(node.name)
    value = None if node.table or name in relation.columns else aliases.get(name)
    if value is not None:
        check_not_a_row(node, relation, notes)
    if value is not None and relation.open:
        if name in value.inputs:
            return None
        notes.assume(f"{relation.source} has no column of its own called {name}")
    return value


def check_not_a_row(node: exp.Column, relation: Relation, notes: Notes) -> None:
    """Before an alias, the engine takes the name of the relation, which is a whole row."""
    if fold(node.name) in relation.names:
        notes.find("V30", f"{shown(node)}, an alias or a row of {relation.source}", node)


def canonical(node: exp.Expr) -> str:
    """One text for expressions that differ in case, quotes and qualifiers of names only."""
    plain: dict[int, exp.Expr] = {
        id(c): exp.column(fold(c.name), quoted=True) for c in node.find_all(exp.Column)
    }
    return rebuilt(node, plain).sql("duckdb", comments=False)


def _substitute(node: exp.Expr, leaves: Leaves) -> exp.Expr | None:
    replaced: dict[int, exp.Expr] = {}
    for place, value in leaves.items():
        if value.expression is None or _size(value.expression) > _CARRIED_NODES:
            return None
        replaced[place] = value.expression
    return rebuilt(node, replaced)


def rebuilt(node: exp.Expr, replaced: dict[int, exp.Expr]) -> exp.Expr:
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
    return rebuilt(value, replaced) if isinstance(value, exp.Expr) else value


def _size(node: exp.Expr) -> int:
    return sum(1 for _ in node.walk())

"""What a name stands for, where it stands."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from policy_engine.expressions.evaluation import Resolver
from policy_engine.expressions.row_laws import is_no_place, names_one_column
from policy_engine.expressions.values import Kind, Value
from policy_engine.relations.shape import Lookup, Relation, Stage
from policy_engine.syntax.findings import Notes, shown
from policy_engine.syntax.literals import bare
from policy_engine.syntax.names import fold
from policy_engine.syntax.node_laws import keeps_one_row

ROW_NUMBERS = frozenset({"rowid", "file_row_number", "file_index"})
"""Pseudo-columns that say where in the source a row stands."""

FUNCTIONS = frozenset({
    "current_catalog", "current_date", "current_role", "current_schema", "current_time",
    "current_timestamp", "current_user", "filename", "localtime", "localtimestamp", "session_user",
    "user",
})  # fmt: skip
"""Words that are functions, in quotes too, where the table has no column of that name."""

UNKNOWN = Value(Kind.VALUE)


def lookup(node: exp.Expr | None, rows: Relation) -> Value | None:
    """The value a column name stands for in ``rows``; None where there is none."""
    if not isinstance(node, exp.Column) or isinstance(node.this, exp.Star):
        return None
    name, qualifier = fold(node.name), qualifier_of(node)
    lookups = rows.lookups or {}
    if qualifier in lookups:
        return _looked_up(name, lookups[qualifier])
    if not is_qualifier(node, rows):
        return None
    if name in rows.columns:
        return rows.columns[name]
    found = [_looked_up(name, each) for each in lookups.values()] if not qualifier else []
    if any(found):
        # Of a name that several relations may have: all that it can depend on.
        values = [value for value in found if value is not None]
        own = frozenset({name}) if rows.open else frozenset()
        return Value(Kind.VALUE, own.union(*(value.inputs for value in values)))
    if name in ROW_NUMBERS and (rows.open or name == rows.row_number):
        return Value(Kind.POSITION, frozenset({name}), exp.column(name, quoted=True), type="BIGINT")
    if not rows.open:
        return None
    return Value(Kind.VALUE, frozenset({name}), exp.column(node.name, quoted=True))


def assume_a_column(node: exp.Expr, rows: Relation, notes: Notes) -> None:
    """Of a source whose columns are not known: a name is no function, and not its whole row."""
    if not isinstance(node, exp.Column) or not rows.open:
        return
    name = fold(node.name)
    if name in rows.columns or not is_qualifier(node, rows):
        return
    if not node.table and (name in FUNCTIONS or name in rows.names):
        notes.assume(f"{rows.source} has a column of its own called {name}")


def _looked_up(name: str, table: Lookup) -> Value | None:
    """A column of a public relation: a function of what it was joined by."""
    kind = None if table.types is None else table.types.get(name)
    if table.types is not None and kind is None:
        return None
    return Value(Kind.VALUE, table.inputs, type=kind, public=f"{table.name}.{name} of {table.by}")


def qualifier_of(node: exp.Column) -> str:
    """What a column is qualified with, '' where it is not."""
    return ".".join(fold(part.name) for part in node.parts[:-1])


def is_qualifier(node: exp.Column, rows: Relation) -> bool:
    """Whether a column is qualified with a name of ``rows``, or not at all."""
    qualifier = qualifier_of(node)
    return not qualifier or qualifier in rows.names


def resolver(rows: Relation, notes: Notes, aliases: Mapping[str, Value] | None = None) -> Resolver:
    """Resolves the columns of ``rows``, and ``aliases`` given before in the same select."""

    def resolve(node: exp.Expr) -> Value | None:
        if rows.stage is Stage.RELEASED and is_symmetric(node, resolve):
            return Value(Kind.DERIVED)
        if not isinstance(node, exp.Column):
            return None
        alias = _alias(node, rows, notes, aliases or {})
        value = alias or lookup(node, rows)
        if value is None:
            notes.judge(names_one_column(shown(node)), node)
            return UNKNOWN
        if alias is None:
            assume_a_column(node, rows, notes)
        if rows.stage is not Stage.RELEASED and value.kind is Kind.POSITION:
            notes.judge(is_no_place(node.name), node)
        elif rows.stage is not Stage.RELEASED and value.kind is Kind.RANK:
            found = f"{node.name} inside a row expression"
            notes.judge(keeps_one_row.broken_by(found), node)
        return value

    return resolve


_TOTALS = (exp.Sum, exp.Avg, exp.Min, exp.Max)
_RANKS = (exp.Rank, exp.DenseRank)


def is_symmetric(node: exp.Expr, resolve: Resolver) -> bool:
    """Whether a window over released groups shows nothing of the order in which they stand.

    What is made of released groups alone is nobody's business (post-processing); but a
    row_number() would show where the engine stored them.
    """
    if not isinstance(node, exp.Window):
        return False
    made = node.this
    known = is_order_free(made, resolve) or (isinstance(made, _RANKS) and not made.expressions)
    order = node.args.get("order")
    terms = [term.this for term in order.expressions] if order else []
    parts = [*(node.args.get("partition_by") or ()), *terms]
    return known and all(resolve(bare(part)) is not None for part in parts)


def is_order_free(made: exp.Expr, resolve: Resolver) -> bool:
    """Whether an aggregate of released groups is one number, in whatever order they stand."""
    if isinstance(made, _TOTALS):
        value = resolve(bare(made.this))
        return value is not None and value.kind is Kind.COUNT
    return isinstance(made, exp.Count) and isinstance(made.this, exp.Star)


def _alias(
    node: exp.Column, rows: Relation, notes: Notes, aliases: Mapping[str, Value]
) -> Value | None:
    """The value of an alias: the engine looks for a column of that name first."""
    name = fold(node.name)
    value = None if node.table or name in rows.columns else aliases.get(name)
    if value is not None:
        check_not_a_row(node, rows, notes)
    if value is not None and rows.open:
        if name in value.inputs:
            return None
        notes.assume(f"{rows.source} has no column of its own called {name}")
    return value


def check_not_a_row(node: exp.Column, rows: Relation, notes: Notes) -> None:
    """Before an alias, the engine takes a lookup's column, and a relation, which is a row."""
    hidden = any(_looked_up(fold(node.name), each) for each in (rows.lookups or {}).values())
    if hidden or fold(node.name) in rows.names:
        found = f"{shown(node)}, an alias or a row of {rows.source}"
        notes.judge(names_one_column(found), node)

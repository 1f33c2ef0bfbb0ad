"""A join to a public lookup by its key: what a row is joined to depends on the row alone."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from sqlglot import exp

from policy_engine.expressions.conversions import MIXED
from policy_engine.expressions.datatypes import FLOATS, INEXACT, NARROW, QUOTIENT
from policy_engine.expressions.evaluation import BYTEWISE, JOINED, canonical, evaluate
from policy_engine.expressions.values import Kind, Value
from policy_engine.relations.scope import is_qualifier, qualifier_of, resolver
from policy_engine.relations.shape import Relation
from policy_engine.relations.sources import COLLATED, Sources
from policy_engine.syntax.findings import Notes
from policy_engine.syntax.literals import bare
from policy_engine.syntax.names import fold
from policy_engine.syntax.node_laws import reads_one_relation

LOOSE = FLOATS | {INEXACT, QUOTIENT, COLLATED}
"""Types of which two values may be equal to a join and are not the same."""

_KINDS = {("", ""), ("", "INNER"), ("LEFT", ""), ("LEFT", "OUTER")}


def joined(
    join: exp.Join, rows: Relation, sources: Sources, queries: Collection[str], notes: Notes
) -> Relation:
    """``rows``, each with at most one row of a public lookup; a finding for any other join.

    The lookup has one row for each key and does not depend on the source: both are assumed, and
    said. What the join shows is then a function of the one row [mechanism 2]. ``queries`` are the
    names of the queries in scope: none of them passes for a lookup.
    """
    table = join.this
    named = table.name if isinstance(table, exp.Table) and not table.db else ""
    public = None if fold(named) in queries else sources.public(table)
    kind = ((join.side or "").upper(), (join.kind or "").upper())
    renamed = table.args["alias"].args.get("columns") if table.args.get("alias") else None
    other = renamed or kind not in _KINDS or table.args.get("sample")
    if public is None or public[0] == rows.source or other:
        found = "a join to a relation that is not declared public"
        notes.judge(reads_one_relation.broken_by(found), join)
        return rows
    name, key = public
    alias = fold(table.alias or table.name)
    sides = list(_key_sides(join, alias, key, rows))
    if len(sides) != 1:
        found = f"a join to {name} by something else than {alias}.{key} = a column"
        notes.judge(reads_one_relation.broken_by(found), join)
        return rows
    _mark(join, alias)
    value = evaluate(sides[0], resolver(rows, notes), notes)
    _check_key(join, value, sources.kind_of(name, key), notes)
    notes.assume(
        f"{name} is public: it does not depend on {rows.source}, and has one row for each {key}"
    )
    lookups = {
        **(rows.lookups or {}),
        alias: sources.lookup(name, canonical(sides[0]), value.inputs),
    }
    out = rows.but(lookups=lookups, joined=True, filtered=rows.filtered or kind[0] != "LEFT")
    for condition in [join.args["on"]] if join.args.get("on") else []:
        evaluate(condition, resolver(out, notes), notes, condition=True)
    return out


def _check_key(join: exp.Join, value: Value, kind: str | None, notes: Notes) -> None:
    """Equal as the join compares them must be equal as the lookup's keys are told apart."""
    kinds = {value.type, kind}
    differ = None not in kinds and value.type != kind and not kinds <= NARROW
    if value.kind is not Kind.VALUE or value.collated or differ or {value.type, kind} & LOOSE:
        found = f"a join of {value.type or 'a value'} and {kind or 'a key'}, where keys may be one"
        notes.judge(reads_one_relation.broken_by(found), join)
    if value.type is None or kind is None:
        notes.assume(MIXED)
    if value.collated is None:
        notes.assume(BYTEWISE)


def _key_sides(join: exp.Join, alias: str, key: str, rows: Relation) -> Iterator[exp.Expr]:
    """What the lookup's key is equal to; nothing where the condition is another."""
    using = join.args.get("using") or []
    if len(using) == 1 and fold(using[0].name) == key:
        yield exp.column(using[0].name)
    condition = bare(join.args["on"]) if join.args.get("on") else None
    if using or not isinstance(condition, exp.EQ):
        return
    sides = [bare(condition.this), bare(condition.expression)]
    for mine, other in (sides, sides[::-1]):
        named = isinstance(mine, exp.Column) and qualifier_of(mine) == alias
        if named and fold(mine.name) == key and _reads_only(other, rows):
            yield other


def _reads_only(node: exp.Expr, rows: Relation) -> bool:
    """Whether every column of ``node`` is one of ``rows`` and cannot be the lookup's own."""
    return all(
        is_qualifier(column, rows)
        and (bool(column.table) or (not rows.open and fold(column.name) in rows.columns))
        for column in node.find_all(exp.Column)
    )


def _mark(join: exp.Join, alias: str) -> None:
    """Keep a lookup's columns from passing for the source's: they share no name."""
    for column in join.parent_select.find_all(exp.Column) if join.parent_select else ():
        if qualifier_of(column) == alias:
            column.meta[JOINED] = f"{alias}."

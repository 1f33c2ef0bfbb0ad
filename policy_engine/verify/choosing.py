"""Reading how any one of a person's rows is drawn.

A second number beside the first: ``row_number() over (partition by key order by sha256(secret ||
':o:' || key || ':' || place), place)``, where ``place`` is the number of the row among its
person's. It depends on the person's own rows and the secret alone, and its input is none of a
sample's, which begins with ``:u:`` behind the secret: so who is in says nothing of which row.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from sqlglot import exp

from policy_engine.expressions.evaluation import canonical
from policy_engine.expressions.values import Kind
from policy_engine.relations.scope import lookup
from policy_engine.relations.shape import Relation, Stage
from policy_engine.relations.side_tables import check_secrets, is_bound_secret
from policy_engine.syntax.findings import Notes, shown
from policy_engine.syntax.literals import bare
from policy_engine.syntax.node_laws import keeps_one_row
from policy_engine.verify.sampling import concatenated, of_text

_SEPARATORS = (":o:", ":")


def read_choice(
    node: exp.Window, rows: Relation, queries: Collection[str], notes: Notes
) -> Relation | None:
    """``rows`` numbered by a keyed hash; None where ``node`` orders them by no hash.

    ``queries`` are the names of the queries in scope: a secret comes from none of them.
    """
    order = node.args.get("order")
    terms = [bare(term.this) for term in order.expressions] if order is not None else []
    if not terms or not isinstance(terms[0], exp.SHA2):
        return None
    parts = concatenated(terms[0].this)
    if not _is_the_hash(parts, rows, queries) or not _is_of_the_rank(node, terms, rows):
        notes.judge(keeps_one_row.broken_by(shown(node)), node)
        return rows
    if isinstance(parts[0], exp.Subquery):
        check_secrets(parts[0].this, rows, notes)
    assert rows.rank is not None
    return rows.but(rank=replace(rows.rank, text=canonical(node), drawn=True))


def _is_the_hash(parts: list[exp.Expr], rows: Relation, queries: Collection[str]) -> bool:
    """Whether ``parts`` are secret, ':o:', key, ':' and place."""
    if len(parts) != 5 or rows.rank is None:
        return False
    secret, first, key, second, place = parts
    unit, number = lookup(of_text(key), rows), lookup(of_text(place), rows)
    return (
        is_bound_secret(secret, queries)
        and all(each.is_string for each in (first, second))
        and (first.name, second.name) == _SEPARATORS
        and (unit is not None and unit.column == rows.rank.unit)
        and (number is not None and number.kind is Kind.RANK)
    )


def _is_of_the_rank(node: exp.Window, terms: list[exp.Expr], rows: Relation) -> bool:
    """Whether each person's rows are numbered, once before, and ``place`` settles every tie."""
    rank, partition = rows.rank, node.args.get("partition_by") or []
    unit = lookup(bare(partition[0]), rows) if len(partition) == 1 else None
    last = lookup(terms[1], rows) if len(terms) == 2 else None
    return (
        isinstance(node.this, exp.RowNumber)
        and (rows.stage is Stage.ROWS and not rows.one_row)
        and (rank is not None and not rank.drawn)
        and (unit is not None and unit.column == rank.unit)
        and (last is not None and last.kind is Kind.RANK)
    )

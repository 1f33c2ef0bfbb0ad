"""Groups of released groups: post-processing, as long as it shows no order of them."""

from __future__ import annotations

from sqlglot import exp

from policy_engine.expressions.evaluation import evaluate
from policy_engine.expressions.row_laws import names_one_column
from policy_engine.expressions.values import Kind, Value
from policy_engine.relations.ordering import read_order
from policy_engine.relations.scope import is_order_free, resolver
from policy_engine.relations.select_list import is_star, listed, output_name
from policy_engine.relations.shape import Relation
from policy_engine.syntax.findings import Notes
from policy_engine.syntax.literals import bare, unaliased
from policy_engine.syntax.node_laws import only_counts


def regrouped(query: exp.Select, rows: Relation, notes: Notes) -> Relation:
    """``rows``, which are released groups, grouped once more: sums, averages and extremes."""
    plain = resolver(rows, notes)

    def resolve(node: exp.Expr) -> Value | None:
        return Value(Kind.DERIVED) if is_order_free(node, plain) else plain(node)

    columns: dict[str, Value] = {}
    for item in query.expressions:
        if is_star(unaliased(item), rows) or output_name(item) in columns:
            notes.judge(names_one_column(output_name(item)), item)
            continue
        columns[output_name(item)] = evaluate(unaliased(item), resolve, notes, total=False)
    for key in _keys(query):
        evaluate(key, plain, notes, total=False)
    having = query.args.get("having")
    if having is not None:
        evaluate(having.this, resolve, notes, total=False)
    if query.args.get("qualify"):
        notes.judge(only_counts.broken_by("QUALIFY of released groups"), query.args["qualify"])
    out = rows.but(columns=columns, names=frozenset(), filtered=rows.filtered or having is not None)
    return out.but(order=read_order(query, out, resolve, notes))


def _keys(query: exp.Select) -> list[exp.Expr]:
    """The keys that are expressions; an alias or a place names an item, which is read by itself."""
    group = query.args.get("group")
    names = {output_name(item) for item in query.expressions}
    given = [bare(key) for key in group.expressions] if group is not None else []
    keys = [part for key in given for part in listed(key)]
    return [
        key for key in keys if not isinstance(key, exp.Literal) and output_name(key) not in names
    ]

"""The two constructs that relate rows to each other: one row a person, and repeated groups."""

from __future__ import annotations

from sqlglot import exp

from policy_engine.expressions.values import Kind
from policy_engine.syntax.findings import Notes, shown
from policy_engine.syntax.literals import bare, number
from policy_engine.syntax.names import fold
from policy_engine.verify.rows import canonical, evaluate, lookup, resolver
from policy_engine.verify.shape import Relation, Stage, Term


def read_rank(node: exp.Window, relation: Relation, notes: Notes) -> dict[str, object]:
    """What ``row_number() over (partition by unit order by …)`` says of a relation."""
    partition = node.args.get("partition_by") or []
    key = bare(partition[0]) if len(partition) == 1 else None
    unit = lookup(key, relation)
    if not isinstance(node.this, exp.RowNumber) or unit is None or unit.column is None:
        notes.find("V10", shown(node), node)
        return {}
    if relation.stage not in {Stage.SOURCE, Stage.ROWS} or relation.rank_unit:
        notes.find("V10", "a second window, or one over groups", node)
    order = node.args.get("order")
    terms = order.expressions if order is not None else []
    last = lookup(terms[-1].this, relation) if terms else None
    return {
        "rank_unit": unit.column,
        "rank_order": tuple(_term(term, relation, notes) for term in terms),
        "rank_is_total": last is not None and last.kind is Kind.POSITION,
    }


def _term(term: exp.Ordered, relation: Relation, notes: Notes) -> Term:
    node = bare(term.this)
    value = lookup(node, relation)
    # Which of a person's own rows comes first in the source does not depend on others.
    if value is None or value.kind is not Kind.POSITION:
        evaluate(node, resolver(relation, notes), notes)
    name = fold(node.name) if isinstance(node, exp.Column) else canonical(node)
    return Term(name, bool(term.args.get("desc")), bool(term.args.get("nulls_first")))


def is_first_row(predicate: exp.Expr, relation: Relation) -> bool:
    """Whether a condition keeps the first of each person's rows: ``rn = 1``."""
    if isinstance(predicate, exp.EQ | exp.LTE):
        wanted = 1
    elif isinstance(predicate, exp.LT):
        wanted = 2
    else:
        return False
    sides = [bare(predicate.this), bare(predicate.expression)]
    for rank, bound in (sides, sides[::-1] if isinstance(predicate, exp.EQ) else sides):
        value = lookup(rank, relation)
        if value is not None and value.kind is Kind.RANK:
            return number(bound) == wanted
    return False


def read_repeat(node: exp.Explode, relation: Relation, notes: Notes) -> dict[str, object]:
    """``unnest(range(n))``: each released group as often as its count says."""
    series = bare(node.this)
    if not isinstance(series, exp.GenerateSeries) or relation.stage is not Stage.RELEASED:
        notes.find("V02", shown(node), node)
        return {}
    count = lookup(bare(series.args["end"]), relation)
    exact = series.args.get("is_end_exclusive") and number(series.args["start"]) == 0
    if count is None or count.kind is not Kind.COUNT or not exact or relation.repeated:
        notes.find("V02", shown(node), node)
    return {"repeated": True}

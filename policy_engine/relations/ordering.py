"""The order of rows: it may show what is released, and nothing else."""

from __future__ import annotations

from sqlglot import exp

from policy_engine.expressions.evaluation import Resolver, canonical, evaluate
from policy_engine.relations.shape import Relation, Term
from policy_engine.syntax.findings import Notes, law, shown
from policy_engine.syntax.literals import by_bytes, ordinal
from policy_engine.syntax.names import fold


@law("V28")
def is_sorted(found: str | None) -> str | None:
    """Rows must be sorted by every released column [what leaves: not the order of rows].

    Write ORDER BY with every column of GROUP BY.
    """
    return found


def read_order(
    query: exp.Select, out: Relation, resolve: Resolver, notes: Notes
) -> tuple[Term, ...]:
    """The terms of ORDER BY over the columns of ``out``; ``resolve`` knows all else."""
    clause = query.args.get("order")
    found: list[Term] = []
    for term in clause.expressions if clause else ():
        ways = bool(term.args.get("desc")), bool(term.args.get("nulls_first"))
        names = _columns(by_bytes(term.this), out, resolve, notes)
        found.extend(Term(name, *ways) for name in names)
    return tuple(found)


def _columns(node: exp.Expr, out: Relation, resolve: Resolver, notes: Notes) -> list[str]:
    """The output columns that one term of ORDER BY names."""
    names = list(out.columns)
    if isinstance(node, exp.Var) and node.name.upper() == "ALL":
        return names
    if isinstance(node, exp.Literal):
        place = ordinal(node)
        if place is not None and 1 <= place <= len(names):
            return [names[place - 1]]
        notes.judge(is_sorted(shown(node)), node)
        return []
    if isinstance(node, exp.Column) and fold(node.name) in out.columns:
        return [fold(node.name)]
    same = canonical(node)
    by_key = [name for name, value in out.columns.items() if value.key == same]
    if by_key:
        return by_key[:1]
    evaluate(node, resolve, notes, total=False)
    return [""]

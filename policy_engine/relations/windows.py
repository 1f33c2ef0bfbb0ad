"""The two constructs that relate rows to each other: one row a person, and repeated groups."""

from __future__ import annotations

from sqlglot import exp

from policy_engine.expressions.datatypes import FLOATS
from policy_engine.expressions.evaluation import canonical, evaluate
from policy_engine.expressions.values import Kind, Value
from policy_engine.relations.scope import ROW_NUMBERS, assume_a_column, lookup, resolver
from policy_engine.relations.shape import Rank, Relation, Stage, Term
from policy_engine.syntax.findings import Notes, shown
from policy_engine.syntax.literals import bare, by_bytes, number
from policy_engine.syntax.names import fold
from policy_engine.syntax.node_laws import is_in_the_grammar, keeps_one_row


def read_rank(node: exp.Window, rows: Relation, notes: Notes) -> Relation:
    """``rows`` with what ``row_number() over (partition by unit order by …)`` says of them."""
    partition = node.args.get("partition_by") or []
    unit = lookup(bare(partition[0]), rows) if len(partition) == 1 else None
    if not isinstance(node.this, exp.RowNumber) or unit is None or unit.column is None:
        notes.judge(keeps_one_row.broken_by(shown(node)), node)
        return rows
    assume_a_column(bare(partition[0]), rows, notes)
    text = canonical(node)
    if rows.stage is not Stage.ROWS or (rows.rank is not None and rows.rank.text != text):
        notes.judge(keeps_one_row.broken_by("a second window, or one over groups"), node)
    order = node.args.get("order")
    terms = order.expressions if order is not None else []
    values = [_ordered_by(bare(term.this), rows, notes) for term in terms]
    if not any(value.inputs - {unit.column} for value in values):
        # The engine would choose, and may do so by how other rows stand.
        notes.judge(keeps_one_row.broken_by("an order in which a person's rows all tie"), node)
    total = _is_a_number_of_rows(values, rows)
    known = [_tells_apart(bare(term.this), rows) for term in terms]
    apart = frozenset(name for name, sure in known if sure)
    perhaps = frozenset(name for name, sure in known if name and sure is None)
    return rows.but(rank=Rank(unit.column, tuple(map(_term, terms)), total, text, apart, perhaps))


def _is_a_number_of_rows(values: list[Value], rows: Relation) -> bool:
    """Whether the last term numbers the rows: in several files, with the number of the file."""
    places: frozenset[str] = frozenset().union(
        *(value.inputs for value in values if value.kind is Kind.POSITION)
    )
    last = bool(values) and values[-1].kind is Kind.POSITION
    return last and (rows.row_number in places or {"file_index", "file_row_number"} <= places)


def _tells_apart(node: exp.Expr, rows: Relation) -> tuple[str, bool | None]:
    """The column of a term of an order, and whether it tells any two of its values apart.

    None where that is a matter of the column's type, which is not known.
    """
    value = lookup(by_bytes(node), rows)
    if value is None or value.column is None:
        return "", False
    if value.type is None:
        return value.column, None
    bytewise = value.collated is False or by_bytes(node) is not node
    return value.column, bytewise and value.type not in FLOATS


def _ordered_by(node: exp.Expr, rows: Relation, notes: Notes) -> Value:
    value = lookup(node, rows)
    # Which of a person's own rows comes first in the source does not depend on others.
    if value is not None and value.kind is Kind.POSITION and value.inputs <= ROW_NUMBERS:
        return value
    return evaluate(node, resolver(rows, notes), notes)


def _term(term: exp.Ordered) -> Term:
    node = by_bytes(bare(term.this))
    name = fold(node.name) if isinstance(node, exp.Column) else canonical(node)
    return Term(name, bool(term.args.get("desc")), bool(term.args.get("nulls_first")))


_FIRST: dict[type[exp.Expr], int] = {exp.EQ: 1, exp.LTE: 1, exp.LT: 2}


def first_of(condition: exp.Expr) -> exp.Expr | None:
    """What a condition asks to be 1, or less than 2; None where it asks something else."""
    wanted = _FIRST.get(type(condition))
    if wanted is None:
        return None
    rank, bound = bare(condition.this), bare(condition.expression)
    if isinstance(condition, exp.EQ) and number(rank) is not None:
        rank, bound = bound, rank
    return rank if number(bound) == wanted else None


def is_first_row(condition: exp.Expr, rows: Relation) -> bool:
    """Whether a condition keeps the first of each person's rows: ``rn = 1``, of the last number."""
    value = lookup(first_of(condition), rows)
    number = rows.rank is not None and value is not None and value.key == rows.rank.text
    return number and value is not None and value.kind is Kind.RANK


def read_repeat(node: exp.Explode, rows: Relation, notes: Notes) -> Relation:
    """``unnest(range(n))``: each released group as often as its count says."""
    series = bare(node.this)
    exact = False
    if isinstance(series, exp.GenerateSeries) and rows.stage is Stage.RELEASED:
        count = lookup(bare(series.args["end"]), rows)
        counted = count is not None and count.kind is Kind.COUNT
        starts = number(series.args["start"]) == 0 and bool(series.args.get("is_end_exclusive"))
        exact = counted and starts and not rows.repeated
    if not exact:
        notes.judge(is_in_the_grammar.broken_by(shown(node)), node)
    return rows.but(repeated=True)

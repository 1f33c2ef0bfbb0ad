"""Windows, and the hashes in them: one row a person, drawn or by an order, and repeated groups.

One row is drawn by a second number beside the first: ``row_number() over (partition by key order by
sha256(secret || ':o:' || key || ':' || place), place)``, where ``place`` is the number of the row
among its person's. It depends on the person's own rows and the secret alone, and its input is none
of a sample's, which begins with ``:u:`` behind the secret: who is in says nothing of which row.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from sqlglot import exp

from policy_engine.expressions.datatypes import FLOATS
from policy_engine.expressions.evaluation import canonical, evaluate
from policy_engine.expressions.values import Role, Value, keeps_the_secret
from policy_engine.relations.scope import ROW_NUMBERS, assume_a_column, lookup, resolver
from policy_engine.relations.shape import Rank, Shape, Stage, Term
from policy_engine.syntax.findings import Notes, shown
from policy_engine.syntax.literals import bare, by_bytes, number
from policy_engine.syntax.names import dotted, fold
from policy_engine.syntax.node_laws import is_in_the_grammar, keeps_one_row


def numbered(node: exp.Window, rows: Shape, queries: Collection[str], notes: Notes) -> Shape:
    """``rows`` with their numbers among their person's, by an order or by a keyed hash.

    ``queries`` are the names of the queries in scope: a secret comes from none of them.
    """
    order = node.args.get("order")
    terms = order.expressions if order is not None else []
    first = bare(terms[0].this) if terms else None
    if isinstance(first, exp.SHA2):
        return _drawn(node, concatenated(first.this), rows, queries, notes)
    partition = node.args.get("partition_by") or []
    unit = lookup(bare(partition[0]), rows) if len(partition) == 1 else None
    if not isinstance(node.this, exp.RowNumber) or unit is None or unit.column is None:
        notes.judge(keeps_one_row.broken_by(shown(node)), node)
        return rows
    assume_a_column(bare(partition[0]), rows, notes)
    text = canonical(node)
    if rows.stage is not Stage.ROWS or (rows.rank is not None and rows.rank.text != text):
        notes.judge(keeps_one_row.broken_by("a second window, or one over groups"), node)
    values = [_ordered_by(bare(term.this), rows, notes) for term in terms]
    if not any(value.inputs - {unit.column} for value in values):
        # The engine would choose, and may do so by how other rows stand.
        notes.judge(keeps_one_row.broken_by("an order in which a person's rows all tie"), node)
    # The last term may number the rows: in several files, with the number of the file.
    of_places = (value.inputs for value in values if value.kind is Role.POSITION)
    places: frozenset[str] = frozenset().union(*of_places)
    last = bool(values) and values[-1].kind is Role.POSITION
    total = last and (rows.row_number in places or {"file_index", "file_row_number"} <= places)
    known = [_tells_apart(bare(term.this), rows) for term in terms]
    apart = frozenset(name for name, sure in known if sure)
    perhaps = frozenset(name for name, sure in known if name and sure is None)
    return rows.but(rank=Rank(unit.column, tuple(map(_term, terms)), total, text, apart, perhaps))


def _tells_apart(node: exp.Expr, rows: Shape) -> tuple[str, bool | None]:
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


def _ordered_by(node: exp.Expr, rows: Shape, notes: Notes) -> Value:
    value = lookup(node, rows)
    # Which of a person's own rows comes first in the source does not depend on others.
    if value is not None and value.kind is Role.POSITION and value.inputs <= ROW_NUMBERS:
        return value
    return evaluate(node, resolver(rows, notes), notes)


def _term(term: exp.Ordered) -> Term:
    node = by_bytes(bare(term.this))
    name = fold(node.name) if isinstance(node, exp.Column) else canonical(node)
    return Term(name, bool(term.args.get("desc")), bool(term.args.get("nulls_first")))


def _drawn(
    node: exp.Window,
    parts: list[exp.Expr],
    rows: Shape,
    queries: Collection[str],
    notes: Notes,
) -> Shape:
    """``rows`` numbered by a hash of ``parts``: secret, ':o:', key, ':' and place."""
    rank, partition = rows.rank, node.args.get("partition_by") or []
    terms = [bare(term.this) for term in node.args["order"].expressions]
    unit = lookup(bare(partition[0]), rows) if len(partition) == 1 else None
    # Each person's rows are numbered, once before, and their places settle every tie.
    last = lookup(terms[1], rows) if len(terms) == 2 else None
    is_of_the_rank = (
        isinstance(node.this, exp.RowNumber)
        and (rows.stage is Stage.ROWS and not rows.one_row)
        and (unit is not None and rank is not None and unit.column == rank.unit)
        and (last is not None and last.kind is Role.RANK)
    )
    if rank is None or rank.drawn or not is_of_the_rank or len(parts) != 5:
        notes.judge(keeps_one_row.broken_by(shown(node)), node)
        return rows
    secret, first, key, second, place = parts
    hashed, number = lookup(of_text(key), rows), lookup(of_text(place), rows)
    is_the_hash = (
        is_bound_secret(secret, queries)
        and first.is_string and first.name == ":o:"
        and second.is_string and second.name == ":"
        and (hashed is not None and hashed.column == rank.unit)
        and (number is not None and number.kind is Role.RANK)
    )  # fmt: skip
    if not is_the_hash:
        notes.judge(keeps_one_row.broken_by(shown(node)), node)
        return rows
    if isinstance(secret, exp.Subquery):
        check_secrets(secret.this, rows, notes)
    return rows.but(rank=replace(rank, text=canonical(node), drawn=True))


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


def is_first_row(condition: exp.Expr, rows: Shape) -> bool:
    """Whether a condition keeps the first of each person's rows: ``rn = 1``, of the last number."""
    value = lookup(first_of(condition), rows)
    is_rank = value is not None and value.kind is Role.RANK
    return is_rank and rows.rank is not None and value is not None and value.key == rows.rank.text


def read_repeat(node: exp.Explode, rows: Shape, notes: Notes) -> Shape:
    """``unnest(range(n))``: each released group as often as its count says."""
    series = bare(node.this)
    exact = False
    if isinstance(series, exp.GenerateSeries) and rows.stage is Stage.RELEASED:
        count = lookup(bare(series.args["end"]), rows)
        counted = count is not None and count.kind is Role.COUNT
        starts = number(series.args["start"]) == 0 and bool(series.args.get("is_end_exclusive"))
        exact = counted and starts and not rows.repeated
    if not exact:
        notes.judge(is_in_the_grammar.broken_by(shown(node)), node)
    return rows.but(repeated=True)


# The parts of a hash, and where its secret comes from


def concatenated(node: exp.Expr) -> list[exp.Expr]:
    """The parts of a concatenation, in their order."""
    node = bare(node)
    if isinstance(node, exp.DPipe):
        return [*concatenated(node.this), *concatenated(node.expression)]
    return [bare(part) for part in node.expressions] if isinstance(node, exp.Concat) else [node]


def of_text(node: exp.Expr) -> exp.Expr:
    """What becomes text in a hash."""
    to_text = type(node) is exp.Cast and node.to.is_type("text", "varchar")
    return bare(node.this) if to_text else node


def has_only(node: exp.Expr, *names: str) -> bool:
    """Whether a node has these parts and no others."""
    return {name for name, value in node.args.items() if value} == set(names)


def is_only_column(items: list[exp.Expr], name: str) -> bool:
    """Whether a list is one column of a name, without its relation."""
    column = items[0]
    alone = len(items) == 1 and isinstance(column, exp.Column) and has_only(column, "this")
    return alone and fold(column.name) == name


def is_bound_secret(node: exp.Expr, queries: Collection[str]) -> bool:
    """A parameter, or the salt of one release from the secrets relation."""
    if isinstance(node, exp.Placeholder):
        return True
    select = node.this
    if not isinstance(node, exp.Subquery) or not isinstance(select, exp.Select):
        return False
    if not has_only(select, "expressions", "from_", "where") or not has_only(node, "this"):
        return False
    condition, table = select.args["where"].this, select.args["from_"].this
    return (
        is_only_column(select.expressions, "salt")
        and isinstance(table, exp.Table)
        and isinstance(table.this, exp.Identifier)
        and {name for name, value in table.args.items() if value} <= {"this", "db", "catalog"}
        and (bool(table.db) or fold(table.name) not in queries)
        and isinstance(condition, exp.EQ)
        and is_only_column([condition.this], "release_id")
        and condition.expression.is_string
    )


def check_secrets(select: exp.Expr, rows: Shape, notes: Notes) -> None:
    """The secrets relation is another than the source, and its columns are its own.

    A relation without a column called salt would show the one of the row that is hashed.
    """
    table = select.args["from_"].this
    name = dotted(part.name for part in table.parts)
    own = {fold(last.split(".")[-1]) for last in (rows.source, *rows.views)}
    if fold(table.name) in own:
        notes.judge(keeps_the_secret(f"{name}, which is the source itself"), table)
    elif rows.open:
        notes.assume(f"{name} is no source of the release and has a salt and a release_id")
    elif rows.columns.keys() & {"salt", "release_id"}:
        found = f"{name}, beside a source with a salt or a release_id"
        notes.judge(keeps_the_secret(found), table)

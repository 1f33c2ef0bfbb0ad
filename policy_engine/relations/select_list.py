"""The list of a SELECT: stars, aliases, and the names under which others read it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sqlglot import exp

from policy_engine.expressions.evaluation import canonical, reads
from policy_engine.expressions.row_laws import names_one_column
from policy_engine.expressions.values import Value
from policy_engine.relations.scope import check_not_a_row, is_qualifier
from policy_engine.relations.shape import Relation
from policy_engine.syntax.findings import Notes
from policy_engine.syntax.literals import bare, unaliased
from policy_engine.syntax.names import fold


def unalias(query: exp.Select, rows: Relation, notes: Notes) -> None:
    """Put the expression of an alias where DuckDB reads the alias: behind WHERE and in keys.

    It does so where the source has no such column; of a source without a schema that is
    assumed.
    """
    aliases = {
        fold(item.alias): item.this
        for item in query.expressions
        if isinstance(item, exp.Alias) and not reads(item, fold(item.alias))
    }
    windows = [w for item in query.expressions for w in item.find_all(exp.Window)]
    for place in (query.args.get("where"), query.args.get("qualify"), *windows):
        for column in list(place.find_all(exp.Column)) if place is not None else ():
            name = fold(column.name)
            if name not in aliases or column.table or name in rows.columns:
                continue
            if any(reads(aliases[name], other) for other in aliases):
                notes.judge(names_one_column(f"{name}, an alias of aliases"), column)
                continue
            check_not_a_row(column, rows, notes)
            if rows.open:
                notes.assume(f"{rows.source} has no column of its own called {name}")
            column.replace(exp.Paren(this=aliases[name].copy()))
    stars = [star for item in query.expressions for star in item.find_all(exp.Star)]
    replaced = [node for star in stars for node in star.args.get("replace") or ()]
    for column in [c for node in replaced if rows.open for c in node.find_all(exp.Column)]:
        if not column.table and fold(column.name) in aliases:
            found = f"{column.name}, an alias of this select"
            notes.judge(names_one_column(found), column)


def check_hidden(
    query: exp.Select, columns: Mapping[str, Value], rows: Relation, notes: Notes
) -> None:
    """Beside a ``*`` of unknown columns: the engine takes the first of a name."""
    stars = [star_of(unaliased(i)) for i in query.expressions if is_star(unaliased(i), rows)]
    left_out = names_of(stars[0].args.get("except_")) if len(stars) == 1 else ()
    for item in query.expressions:
        name = output_name(item)
        value = columns.get(name)
        if is_star(unaliased(item), rows) or value is None or value.column == name:
            continue
        if name in left_out:
            continue
        if name in value.inputs:
            notes.judge(names_one_column(f"two columns called {name}"), item)
        else:
            notes.assume(f"{rows.source} has no column of its own called {name}")


def called(rows: Relation, name: str) -> Relation:
    """``rows``, their columns to be qualified with ``name`` and nothing else."""
    return rows.but(names=frozenset({fold(name or "unnamed_subquery")}))


def opaque(rows: Relation, view: str) -> Relation:
    """A view's rows with its columns as the source's own, and its filters as part of the source.

    What they are made of was proved; a policy that names the view speaks of them as they are.
    """
    columns = {
        name: replace(value, inputs=frozenset({name}), expression=exp.column(name, quoted=True))
        for name, value in rows.columns.items()
    }
    own: dict[str, object] = {"source": view, "table": rows.source, "base": columns}
    if rows.rank is not None:
        # One row a person, if the view shows who the person is: by the name that it gives them.
        named = [name for name, value in rows.columns.items() if value.column == rows.rank.unit]
        # By what the row was chosen is the view's own affair, in names of the table.
        order = tuple(replace(term, name="") for term in rows.rank.order)
        rank = replace(rows.rank, unit=named[0], order=order) if len(named) == 1 else None
        own |= {"rank": rank, "one_row": rows.one_row and rank is not None}
    return rows.but(columns=columns, parts=((),), filtered=False, **own)


def aggregates(item: exp.Expr) -> bool:
    """Whether an item makes one row of many, outside a window."""
    return item.find(exp.AggFunc) is not None and item.find(exp.Window) is None


def listed(node: exp.Expr) -> list[exp.Expr]:
    """``GROUP BY (a, b)`` is ``GROUP BY a, b``."""
    return node.expressions if isinstance(node, exp.Tuple) else [node]


def is_star(node: exp.Expr, rows: Relation) -> bool:
    """Whether an item is ``*`` or ``name.*``."""
    if isinstance(node, exp.Star):
        return True
    if not isinstance(node, exp.Column) or not isinstance(node.this, exp.Star):
        return False
    return is_qualifier(node, rows)


def spread(item: exp.Expr, rows: Relation) -> list[exp.Expr]:
    """A plain ``*`` as the columns that it stands for."""
    if not isinstance(item, exp.Star) or item.args.get("except_") or item.args.get("replace"):
        return [item]
    return [exp.column(exp.to_identifier(name, quoted=True)) for name in rows.columns]


def layout_of(query: exp.Select, rows: Relation) -> str:
    """How the columns of a select stand: a plain ``*`` leaves them as they are."""
    items = [item.sql("duckdb") for item in query.expressions]
    return rows.layout if items == ["*"] else f"{rows.layout}; {', '.join(items)}"


def star_of(node: exp.Expr) -> exp.Expr:
    """The star of ``*`` or ``name.*``."""
    return node.this if isinstance(node, exp.Column) else node


def names_of(nodes: list[exp.Expr] | None) -> frozenset[str]:
    """The names of ``EXCLUDE (a, b)``."""
    return frozenset(fold(node.name) for node in nodes or ())


def output_name(item: exp.Expr) -> str:
    """The name under which others read an item."""
    if isinstance(item, exp.Alias):
        return fold(item.alias)
    node = bare(item)
    return fold(node.name) if isinstance(node, exp.Column) else canonical(node)

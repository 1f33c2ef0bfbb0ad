"""The two tables that a sample may read beside the source: drawn units, and sealed salts."""

from __future__ import annotations

from collections.abc import Collection

from sqlglot import exp

from policy_engine.expressions.row_laws import keeps_the_secret
from policy_engine.relations.shape import Relation
from policy_engine.syntax.findings import Notes
from policy_engine.syntax.names import dotted, fold


def only_table(select: exp.Expr) -> exp.Table | None:
    """The bare table of ``SELECT unit FROM table``, if ``select`` is no more than that."""
    if not isinstance(select, exp.Select) or _parts(select) != {"expressions", "from_"}:
        return None
    table = select.args["from_"].this
    plain = isinstance(table, exp.Table) and _parts(table) == {"this"}
    return table if plain and _is_column(select.expressions, "unit") else None


def _parts(node: exp.Expr) -> set[str]:
    return {name for name, value in node.args.items() if value}


def _is_column(items: list[exp.Expr], name: str) -> bool:
    column = items[0]
    alone = len(items) == 1 and isinstance(column, exp.Column) and _parts(column) == {"this"}
    return alone and fold(column.name) == name


def is_bound_secret(node: exp.Expr, queries: Collection[str]) -> bool:
    """A parameter, or the salt of one release from the secrets relation."""
    if isinstance(node, exp.Placeholder):
        return True
    select = node.this
    if not isinstance(node, exp.Subquery) or not isinstance(select, exp.Select):
        return False
    if _parts(select) != {"expressions", "from_", "where"} or _parts(node) != {"this"}:
        return False
    condition, table = select.args["where"].this, select.args["from_"].this
    return (
        _is_column(select.expressions, "salt")
        and isinstance(table, exp.Table)
        and isinstance(table.this, exp.Identifier)
        and _parts(table) <= {"this", "db", "catalog"}
        and (bool(table.db) or fold(table.name) not in queries)
        and isinstance(condition, exp.EQ)
        and _is_column([condition.this], "release_id")
        and condition.expression.is_string
    )


def check_secrets(select: exp.Expr, rows: Relation, notes: Notes) -> None:
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

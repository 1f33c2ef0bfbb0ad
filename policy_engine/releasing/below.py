"""The table whose people a release is of: below the views that its source reads."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace as replace_field
from functools import lru_cache

from policy_engine.compile.catalog import INSTEAD_OF_A_VIEW, OR_ROWWISE, Table
from policy_engine.errors import Finding, NotCertifiable, WarehouseFailed
from policy_engine.policy.accounts import account_of
from policy_engine.policy.project import Project
from policy_engine.policy.reading import refused
from policy_engine.policy.resolve import Policy
from policy_engine.syntax.names import dotted
from policy_engine.syntax.schema import Schema

_IN_A_VIEW = "found in the view "


_FAILS = (
    "the source {} is a view: an expression of it, or of one that it reads, which fails on one row"
    " fails all; let it give NULL there (TRY_CAST), or make a table of the view"
)


def schema_of(table: Table) -> Schema:
    """What the catalog says, in the kernel's words."""
    tables, views = {}, {}
    for each in (table, *table.related):
        if each.view is None:
            types = {column.name: column.type for column in each.columns}
            tables[dotted(each.parts) or each.files] = types
        else:
            views[dotted(each.parts)] = each.view
    return Schema(tables, views, known=True)


def paying_account(policy: Policy, project: Project, table: Table, dialect: str) -> str:
    """The account that pays: a view's release pays from the account of the table it reads."""
    return account_of(policy, project, table_read(policy, table, dialect))


def table_read(policy: Policy, table: Table, dialect: str) -> tuple[str, ...]:
    """The name of the table that is read, below every view; empty for a file.

    Raises:
        NotCertifiable: a view shows other rows than those of one table, each by itself, or its
            text is of an engine whose texts are not proved, and the author does not confirm it.
    """
    if table.view is None:
        return table.parts
    if policy.part is not None:
        law = "part is drawn by a key, and what a view calls so may be no key of its table"
        raise refused(policy.file, "part", law, "release from the table, or remove it")
    below = _below(table, dialect, policy.source.key)
    if isinstance(below, NotCertifiable):
        if policy.source.is_rowwise:
            return _confirmed(policy, table)
        raise NotCertifiable(_of_views(below.findings), below.file)
    read = below.lower().split(".")
    tables = [each.parts for each in table.related if each.view is None]
    found = [name for name in tables if [*map(str.lower, name)][-len(read) :] == read]
    return found[0] if len(found) == 1 else tuple(read)


@lru_cache(maxsize=16)
def _below(view: Table, dialect: str, key: str | None) -> str | NotCertifiable:
    """The table below a view, or why it is none: proved once, and asked for at each step."""
    from policy_engine.syntax.findings import findings_of
    from policy_engine.syntax.node_laws import reads_a_table
    from policy_engine.verify.views import table_below

    if dialect != "duckdb":
        text = f"the view {'.'.join(view.parts)}, whose text is proved on DuckDB alone"
        broken = reads_a_table.broken_by(f"{text}; {INSTEAD_OF_A_VIEW}{OR_ROWWISE}")
        return NotCertifiable(findings_of(broken))
    columns = tuple(column.name for column in view.columns)
    try:
        return table_below(view.parts, columns, schema_of(view), key)
    except NotCertifiable as error:
        return error


def _of_views(findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """What is found in a view that is read: all else follows from it; every finding without one."""
    found = [each for each in findings if _IN_A_VIEW in each.message]
    remedy = f"; {INSTEAD_OF_A_VIEW}{OR_ROWWISE}"
    told = (each.message.rpartition("; ")[0] + remedy for each in found)
    mended = (replace_field(each, message=text) for each, text in zip(found, told, strict=True))
    return tuple(mended) or findings


def _confirmed(policy: Policy, view: Table) -> tuple[str, ...]:
    """A view of which the author says whose its rows are: its own name is charged.

    Raises PolicyError where no account is named, for the text does not tell whose people they are.
    """
    if policy.declared_budget:
        return view.parts
    law = "budget must name the account that pays where source.view is rowwise"
    raise refused(policy.file, "budget", law, "the account that the people of the view have")


@contextmanager
def through_view(table: Table) -> Iterator[None]:
    """Name the view that is read in a failure of the warehouse, which says no more itself."""
    try:
        yield
    except WarehouseFailed as error:
        if table.view is not None:
            error.add_note(_FAILS.format(dotted(table.parts)))
        raise

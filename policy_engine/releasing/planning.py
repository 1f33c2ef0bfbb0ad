"""From a policy to its certificate: the source is described, its text printed and certified.

Nothing runs, and nothing is charged.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace as replace_field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, cast

from policy_engine import errors
from policy_engine.check.known import Known
from policy_engine.compile.catalog import IF_ROWWISE, Table, at_home
from policy_engine.compile.compiler import compiled
from policy_engine.compile.rendering import created, name_of
from policy_engine.dialects import Engine, dialect_named
from policy_engine.kernel.certificate import ROWS, Certificate, Terms, Unmet, certify
from policy_engine.kernel.claim import Claim
from policy_engine.kernel.sources import People
from policy_engine.policy.accounts import account_of, check_own_project
from policy_engine.policy.fields import Method
from policy_engine.policy.project import ListedWarehouse as Named
from policy_engine.policy.project import Project, default_project, find_project, load_project
from policy_engine.policy.reading import located, refused
from policy_engine.policy.resolve import Policy, loaded, terms_of
from policy_engine.syntax.names import dotted
from policy_engine.syntax.schema import Schema
from policy_engine.warehouse.base import Warehouse
from policy_engine.warehouse.connecting import FILES, connected, resolved

if TYPE_CHECKING:
    from policy_engine.attest.predicates import Vouched

_FAILS = (
    "the source {} is a view: an expression of it, or of one that it reads, which fails on one row"
    " fails all; let it give NULL there (TRY_CAST), or make a table of the view"
)


def project_of(policy: Policy, start: Path | None = None) -> Project:
    """The project of a policy: found upwards from ``start``, then from the policy's folder.

    Raises PolicyError: the two find different ones; or the project file has problems.
    """
    found = find_project(start or Path.cwd()) or find_project(policy.directory)
    check_own_project(policy, found)
    return load_project(found) if found is not None else default_project(policy.directory)


def open_warehouse(policy: Policy, project: Project, *, writes: bool) -> Warehouse:
    """A connection to the warehouse that holds the policy's source."""
    writable = writes and policy.release.relation is not None
    return connected(warehouse_of(policy, project), writable=writable)


def warehouse_of(policy: Policy, project: Project) -> Named:
    """The warehouse that holds the policy's source."""
    named = project.warehouse
    if policy.source.relation is not None or policy.release.relation is not None:
        return named
    # Files are read by the embedded engine, as the project sets it.
    is_embedded = named.type == FILES.type
    return replace_field(named, database=None, missing="") if is_embedded else FILES


def dialect_of(policy: Policy, project: Project | None = None) -> str:
    """The dialect of the text that a release of ``policy`` runs; nothing is connected to."""
    named = warehouse_of(loaded(policy, syntactic=True), project or project_of(policy))
    return named.type if named.profile is None else resolved(named).type


def prepare(policy: Policy, project: Project, warehouse: Warehouse) -> tuple[Certificate, Table]:
    """Compile, render and certify; nothing runs and nothing is charged.

    Raises:
        PolicyError: the policy does not fit its source.
        NotCertifiable: the kernel did not find what the policy asks for.
        UsageError: the policy has no (ε, δ).
    """
    found, table = vouched_for(loaded(policy), project, warehouse)
    assert isinstance(found, Certificate)
    return found, table


def vouched_for(policy: Policy, project: Project, warehouse: Warehouse) -> tuple[Vouched, Table]:
    """The same, and the statement of a policy without (ε, δ), of which nothing is certified."""
    table, target = _ends(policy, warehouse)
    _check_apart(policy, table, target)
    dialect = warehouse.dialect
    table_read(policy, table, dialect.name)
    claim, query = _compiled(policy, table, dialect)
    envelope = created("", name_of(target, dialect)).strip() if target else ROWS
    terms = terms_of(policy, envelope, warehouse.engine_version)
    if policy.is_syntactic:
        from policy_engine.attest.predicates import Uncertified

        return Uncertified(terms, query, dialect.name, claim, policy.k), table
    return certified(query, claim, dialect.name, terms), table


def _compiled(policy: Policy, table: Table, dialect: Engine) -> tuple[Claim, str]:
    """The claim of a policy and its text; PolicyError names the place in the policy's file."""
    try:
        return compiled(policy, table, dialect)
    except errors.PolicyError as error:
        raise errors.PolicyError(located(error.problems, policy.file)) from None


def certified(query: str, claim: Claim, engine: str, terms: Terms) -> Certificate:
    """The certificate of a print; NotCertifiable where its guarantee is not met."""
    try:
        return certify(query, claim, engine, terms)
    except Unmet as error:
        from policy_engine.syntax.findings import findings_of
        from policy_engine.verify.laws import guarantee_is_met

        unmet = guarantee_is_met(error.delta, terms.delta, terms.epsilon)
        raise errors.NotCertifiable(findings_of(unmet)) from None


def unenforced(policy: Policy, certificate: Vouched) -> tuple[errors.Problem, ...]:
    """That a unit of one row may have many, and what becomes of them."""
    unit = certificate.claim.unit if certificate.claim is not None else None
    if not policy.source.unique or not isinstance(unit, People) or unit.order is None:
        return ()
    key, place = policy.source.key, "privacy_unit.rows"
    message = (
        f"{place} has one row a person by your word alone: where {key} has many rows one is kept,"
        " the least in the columns that are read"
    )
    remedy = "rows: any, or rows: {first_by: […]}, says which"
    return located((errors.Problem(str(policy.file), 0, 0, place, message, remedy),), policy.file)


def _ends(policy: Policy, warehouse: Warehouse) -> tuple[Table, tuple[str, ...]]:
    """The source, and the full name of the table to write; no name for a file."""
    table, relation = warehouse.table(policy.source, policy.directory), policy.release.relation
    return table, warehouse.target(relation) if relation is not None else ()


def _check_apart(policy: Policy, table: Table, target: tuple[str, ...]) -> None:
    """Refuse a release over its own source, however the two are written."""
    source, path = policy.source_path, policy.release_path
    same_file = source is not None and path is not None and path.exists() and path.samefile(source)
    same_table = bool(target) and [*map(str.lower, target)] == [*map(str.lower, table.parts)]
    if same_file or same_table:
        key = "release.file" if same_file else "release.table"
        message = f"{key} must not be the source itself, found {policy.release.text}"
        raise refused(policy.file, key, message, "release to a place of its own")
    # It would be a file more of its source, or one that the source's owner cleans away.
    if table.is_folder and source and path and path.resolve().is_relative_to(source.resolve()):
        message = f"release.file must not lie in the source's folder, found {policy.release.text}"
        raise refused(policy.file, "release.file", message, "release to a folder of its own")


def compile_policy(
    policy: Policy,
    dialect: str | None = None,
    method: str | None = None,
    schema: Schema | None = None,
) -> str:
    """The text of ``policy`` in a dialect, by default its warehouse's.

    ``method`` shows another way of sampling.
    With a ``schema`` no warehouse is asked: it has the source's columns and their types.

    Raises:
        UsageError: no such dialect or method, or ``policy`` is not a loaded policy.
        PolicyError: the policy does not fit its source.
    """
    policy = loaded(policy, syntactic=True)
    if method is not None:
        if method not in {"keyed", "native"}:
            raise errors.UsageError(f"method must be keyed or native, found {method!r}")
        if policy.noise is not None:
            raise errors.UsageError("method is of a sample, and this policy counts everybody")
        policy = replace_field(policy, method=cast(Method, method))
    wanted = dialect_named(dialect or dialect_of(policy))
    if schema is not None:
        table, relation = _described(policy, schema, wanted), policy.release.relation
        target = tuple(relation.split(".")) if relation else ()
        return enveloped(_compiled(policy, table, wanted)[1], target, wanted)
    with closing(open_warehouse(policy, project_of(policy), writes=False)) as warehouse:
        table, target = _ends(policy, warehouse)
        return enveloped(_compiled(policy, table, wanted)[1], target, wanted)


def _described(policy: Policy, schema: Schema, dialect: Engine) -> Table:
    """The source as a schema describes it."""
    relation = policy.source.relation
    known = Known(schema, dialect.name)
    table = known.table(at_home(relation, dialect.name, schema.tables)) if relation else None
    if table is None:
        found = f"{relation}, which it does not have once" if relation else "a file"
        raise errors.UsageError(f"the schema must describe source.table, found {found}")
    return table


def enveloped(query: str, target: tuple[str, ...], dialect: Engine) -> str:
    """The query in its envelope, as somebody would run it by hand."""
    return created(query, name_of(target, dialect)) if target else query


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

    Raises NotCertifiable: a view shows other rows than those of one table, each by itself, or
    its text is of an engine whose texts are not proved, and the author does not confirm it.
    """
    if table.view is None:
        return table.parts
    if policy.part is not None:
        law = "part is drawn by a key, and what a view calls so may be no key of its table"
        raise refused(policy.file, "part", law, "release from the table, or remove it")
    below = _below(table, dialect, policy.source.keys)
    if isinstance(below, errors.NotCertifiable):
        if not policy.source.is_rowwise:
            raise errors.NotCertifiable(_of_views(below.findings), below.file)
        if policy.declared_budget:
            return table.parts  # its author says whose its rows are: its own name is charged
        law = "account must name the account that pays where source.view is rowwise"
        raise refused(policy.file, "account", law, "the account that the people of the view have")
    read = below.lower().split(".")
    tables = [each.parts for each in table.related if each.view is None]
    found = [name for name in tables if [*map(str.lower, name)][-len(read) :] == read]
    return found[0] if len(found) == 1 else tuple(read)


@lru_cache(maxsize=16)
def _below(view: Table, dialect: str, keys: tuple[str, ...]) -> str | errors.NotCertifiable:
    """The table below a view, or why it is none: proved once, and asked for at each step."""
    from policy_engine.syntax.node_laws import reads_a_table
    from policy_engine.verify.proof import table_below

    if len(keys) > 1:
        law = f"the source {dotted(view.parts)} is a view, and its key has several columns"
        return errors.NotCertifiable((errors.Finding(reads_a_table.code, f"{law}; {IF_ROWWISE}"),))
    if dialect != "duckdb":
        law = f"the source {dotted(view.parts)} is a view, whose text is proved on DuckDB alone"
        return errors.NotCertifiable((errors.Finding(reads_a_table.code, f"{law}; {IF_ROWWISE}"),))
    columns = tuple(column.name for column in view.columns)
    try:
        return table_below(view.parts, columns, schema_of(view), next(iter(keys), None))
    except errors.NotCertifiable as error:
        return error


def _of_views(findings: tuple[errors.Finding, ...]) -> tuple[errors.Finding, ...]:
    """What is found in the views that are read, told once; every finding where none is in one."""
    shown = [
        each.message.partition("found in the view ")[2].rpartition("; ")[0]
        for each in findings
        if "found in the view " in each.message
    ]
    if not shown:
        return findings
    what = "; ".join(dict.fromkeys(shown))
    law = f"the source is a view that shows other rows than one table has, each by itself: {what}"
    return (errors.Finding(findings[0].code, f"{law}; {IF_ROWWISE}"),)


@contextmanager
def through_view(table: Table) -> Iterator[None]:
    """Name the view that is read in a failure of the warehouse, which says no more itself."""
    try:
        yield
    except errors.WarehouseFailed as error:
        if table.view is not None:
            error.add_note(_FAILS.format(dotted(table.parts)))
        raise

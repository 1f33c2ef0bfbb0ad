"""From a policy to its certificate: the source is described, its text printed and certified.

Nothing runs, and nothing is charged.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace as replace_field
from itertools import chain
from pathlib import Path
from typing import cast

from policy_engine import errors
from policy_engine.attest.parquet_file import ADDED
from policy_engine.calendars import Zone
from policy_engine.check.findings import findings_of
from policy_engine.check.known import Known
from policy_engine.check.laws import READS_A_TABLE, unmet
from policy_engine.check.schema import Schema
from policy_engine.compile.catalog import IF_ROWWISE, Kind, Table, at_home
from policy_engine.compile.column_names import key_beside, key_meant, names_no_person
from policy_engine.compile.compiler import compiled
from policy_engine.compile.joining import with_beside
from policy_engine.compile.reading import read_as
from policy_engine.compile.rendering import created, name_of
from policy_engine.dialects import Engine, dialect_named
from policy_engine.kernel.certificate import (
    ROWS,
    Certificate,
    Terms,
    Unmet,
    certify,
    vouched,
)
from policy_engine.kernel.claim import Claim
from policy_engine.kernel.mechanisms.meanings import meaning_of
from policy_engine.kernel.recodes.meanings import recode_meaning
from policy_engine.kernel.sources import People
from policy_engine.names import dotted
from policy_engine.policy.accounts import account_of, check_own_project
from policy_engine.policy.fields import Method
from policy_engine.policy.project import ListedWarehouse as Named
from policy_engine.policy.project import Project, default_project, find_project, load_project
from policy_engine.policy.reading import located, refused
from policy_engine.policy.resolve import Policy, loaded, terms_of
from policy_engine.policy.tree import path_text
from policy_engine.releasing.naming import in_named_edition, in_some_edition
from policy_engine.warehouse.base import Warehouse
from policy_engine.warehouse.connecting import FILES, connected, resolved

_FAILS = (
    "the source {} is a view: an expression of it, or of one that it reads, which fails on one row"
    " fails all; let it give NULL there (TRY_CAST), or make a table of the view"
)
_NODE = re.compile(r"\s*(ref|source)\s*\(")


def project_of(policy: Policy, start: Path | None = None) -> Project:
    """The project of a policy: found upwards from ``start``, then from the policy's folder.

    Raises PolicyError: the two find different ones; or the project file has problems.
    """
    found = find_project(start or Path.cwd()) or find_project(policy.directory)
    check_own_project(policy, found)
    return load_project(found) if found is not None else default_project(policy.directory)


def node_of_dbt(policy: Policy) -> str:
    """What a policy reads of dbt, as ref('people'); empty where dbt has no part in it."""
    read = [
        each.relation or "" for each in (policy.source, *(j.source for j in policy.source.joins))
    ]
    return next(filter(_NODE.match, read), "")


def open_warehouse(policy: Policy, project: Project, *, writes: bool) -> Warehouse:
    """A connection to the warehouse that holds the policy's source.

    Raises PolicyError: the source is a node of dbt, which only dbt knows.
    """
    if relation := node_of_dbt(policy):
        law = f"{relation} names a node of dbt, and this is a policy of a dbt project"
        remedy = (
            "'policy-engine dbt sync --dry-run' checks it, and shows its price, its noise and"
            " what is left before anything is charged"
        )
        raise refused(policy.file, "source.table", law, remedy)
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
    named = warehouse_of(loaded(policy, unpromised=True), project or project_of(policy))
    return named.type if named.profile is None else resolved(named).type


def prepare(policy: Policy, project: Project, warehouse: Warehouse) -> tuple[Certificate, Table]:
    """Compile, render and certify; nothing runs and nothing is charged.

    Raises:
        PolicyError: the policy does not fit its source.
        NotCertifiable: the kernel did not find what the policy asks for.
        UsageError: the policy has no (ε, δ).
    """
    return vouched_for(loaded(policy), project, warehouse)


def vouched_for(
    policy: Policy, project: Project, warehouse: Warehouse
) -> tuple[Certificate, Table]:
    """The same, and the statement of a policy without (ε, δ), of which nothing is certified."""
    policy = in_some_edition(policy, project)
    table, target = _ends(policy, warehouse)
    _check_apart(policy, table, target)
    _check_public_files(policy, table)
    _check_zone(policy, table, project)
    tables_read(policy, table)
    return vouched_over(policy, table, target, warehouse), table


def vouched_over(
    policy: Policy, table: Table, target: tuple[str, ...], warehouse: Warehouse
) -> Certificate:
    """The same over a source that was described before; ``target`` names the table to write."""
    dialect = warehouse.dialect
    claim, query = _compiled(policy, table, dialect)
    envelope = created("", name_of(target, dialect)).strip() if target else ROWS
    if policy.release.append:
        _check_appends(policy, warehouse)
        envelope = f"{ADDED}{name_of(target, dialect)}"
    terms = terms_of(policy, envelope, warehouse.engine_version, warehouse.settings)
    if policy.is_unpromised:
        return vouched(query, claim, dialect.name, terms)
    return certified(query, claim, dialect.name, terms)


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
        breach = unmet(error.delta, terms.promise.delta, terms.promise.epsilon)
        raise errors.NotCertifiable(findings_of(breach)) from None


def seldom_meant(
    policy: Policy, certificate: Certificate, table: Table
) -> tuple[errors.Problem, ...]:
    """What a certificate allows and its author may not mean, to be told before it is charged."""
    of_unit = (*_unlikely_unit(policy, table), *_unenforced(policy, certificate))
    return (*of_unit, *_unstated(policy, certificate))


def _unlikely_unit(policy: Policy, table: Table) -> tuple[errors.Problem, ...]:
    """That names say of a row, or of another column, that it is no person."""
    keys, place = policy.source.keys, "privacy_unit"
    beside, is_none = key_beside(keys, table), all(map(names_no_person, keys))
    if keys and (is_none or key_meant(keys, table)):
        place = "privacy_unit.column" if len(keys) == 1 else "privacy_unit.columns"
        why = "that is no person's key" if is_none else f"column {beside!r} says whose row it is"
        message = (
            f"{place} is {policy.source.key!r}, and by its name {why}: rows with"
            " one value are protected as one person, and a person with several values as several"
        )
        remedy = f"name the column that says whose row it is{f', {beside!r}' if beside else ''}"
    elif not keys and beside:
        message = (
            f"{place} is row, and by its name column {beside!r} says whose row it is: of a person"
            " with several rows each row is protected alone, and the person far less"
        )
        remedy = f"{{column: {beside}, rows: any}} protects the person, and counts one row of each"
    else:
        return ()
    return located((errors.Problem(str(policy.file), 0, 0, place, message, remedy),), policy.file)


def not_chosen(policy: Policy) -> tuple[errors.Problem, ...]:
    """That a policy asks for a search, so that its levels are those from before it."""
    if not policy.is_searched:
        return ()
    message = "no search has chosen the levels in recode, so release refuses to draw"
    command = f"policy-engine search {shlex.quote(str(policy.file))}"
    remedy = (
        f"'{command}', or 'dbt search' in dbt, writes the policy to release; or take search out, to"
        " release these levels"
    )
    problem = errors.Problem(str(policy.file), 0, 0, "search", message, remedy)
    return located((problem,), policy.file)


def check_chosen(policy: Policy) -> None:
    """Refuse to release what a search is still to be made for; PolicyError."""
    if problems := not_chosen(policy):
        raise errors.PolicyError(problems)


def _unstated(policy: Policy, certificate: Certificate) -> tuple[errors.Problem, ...]:
    """The numbers whose error no row will tell."""
    found = []
    for number in meaning_of(certificate.claim).numbers(certificate):
        if (why := number.unstated) is not None:
            at = path_text(("measures", number.name))
            message = f"{at}: {why.law}"
            found.append(errors.Problem(str(policy.file), 0, 0, at, message, why.remedy))
    return located(tuple(found), policy.file)


def _unenforced(policy: Policy, certificate: Certificate) -> tuple[errors.Problem, ...]:
    """That a unit of one row may have many, and what becomes of them."""
    unit = certificate.claim.unit
    if not policy.source.unique or not isinstance(unit, People) or unit.order is None:
        return ()
    key, place = policy.source.key, "privacy_unit.rows"
    message = (
        f"{place} has one row for each person, as only you state: where {key} has many rows one is"
        " kept, the least in the columns that are read"
    )
    remedy = "rows: any, or rows: {first_by: […]}, says which"
    return located((errors.Problem(str(policy.file), 0, 0, place, message, remedy),), policy.file)


def paid_for_nothing(policy: Policy, table: Table) -> tuple[errors.Problem, ...]:
    """The measures that pay for the number of their values, though the catalog knows it.

    Of a column that is NOT NULL there are as many values as rows, which are counted already.
    """
    protection, read_otherwise = policy.protection, {name for name, _ in policy.source.columns}
    over: dict[str, int | None] = {each.name: each.over for each in protection.measures}
    over |= {each.name: each.over for each in protection.quantiles}
    found = []
    for name, named in policy.measured:
        column, place = table.alone.find(named), over.get(name) or 0
        if column is None or table.path or column.name not in table.filled or not place:
            continue
        if named in read_otherwise or protection.quantities[place - 1].column != named:
            continue
        message = (
            f"the catalog of {table.name} says that {named!r} is NOT NULL, and {name} pays for the"
            " number of its values"
        )
        remedy = "write not_null: true, and it is more exact at the same price"
        at = path_text(("measures", name))
        found.append(errors.Problem(str(policy.file), 0, 0, at, message, remedy))
    return located(tuple(found), policy.file)


def _ends(policy: Policy, warehouse: Warehouse) -> tuple[Table, tuple[str, ...]]:
    """The source, and the full name of the table to write; no name for a file."""
    table, relation = warehouse.table(policy.source, policy.directory), policy.release.relation
    return table, warehouse.target(relation) if relation is not None else ()


def _check_appends(policy: Policy, warehouse: Warehouse) -> None:
    """Refuse to add rows where no engine adds all of them or none."""
    if not warehouse.appends:
        law = f"release.append is not of {warehouse.dialect.title}, which adds rows in no one step"
        remedy = "write {edition} in release.table: a table for each edition"
        raise refused(policy.file, "release.append", law, remedy)


def _check_zone(policy: Policy, table: Table, project: Project) -> None:
    """Refuse what is told in UTC of an instant, where the days of the project are another zone's.

    A visit of 1 January at 00:30 would be counted in January, and shown in December.
    """
    if project.zone == Zone():
        return
    declared, truncated = read_as(policy, table), set()
    for name, how in policy.recodings:
        column = table.find(name)
        if recode_meaning(how).by_clocks and column is not None and column.name not in declared:
            truncated.add(name)  # by the clocks of the project's zone
    reads = (name for name, how in policy.recodings if how.reads and name not in truncated)
    read = [(path_text(("recode", name)), name) for name in reads]
    read += [(path_text(("filter", n)), n) for n, _ in policy.filter]
    for each in policy.source.computed:
        at = path_text(("source", "compute", each.name))
        read += [(at, each.since), (at, each.until)]
    for place, name in read:
        column = table.find(name)
        if column is not None and column.kind is Kind.TIMESTAMP_ZONED:
            law = f"column {name!r} is of instants, which are read in UTC, and the zone of the"
            remedy = "name a column of dates, or of times without a zone, as a view may have one"
            found = f"{law} project is {project.zone.name}"
            raise refused(policy.file, place, found, remedy)


def _check_apart(policy: Policy, table: Table, target: tuple[str, ...]) -> None:
    """Refuse a release over its own source, however the two are written."""
    source, path = policy.source_path, policy.release_path
    read = [policy.directory / each.path for each in table.relations if each.path is not None]
    same_file = path is not None and path.exists() and any(map(path.samefile, read))
    names = [[*map(str.lower, each.parts)] for each in table.relations]
    same_table = bool(target) and [*map(str.lower, target)] in names
    if same_file or same_table:
        key = "release.file" if same_file else "release.table"
        message = f"{key} must not be the source itself, found {policy.release.text}"
        if table.beside:
            message = message.replace("itself", "itself, or what is joined to it")
        raise refused(policy.file, key, message, "release to a place of its own")
    # It would be a file more of its source, or one that the source's owner cleans away.
    if table.is_folder and source and path and path.resolve().is_relative_to(source.resolve()):
        message = f"release.file must not lie in the source's folder, found {policy.release.text}"
        raise refused(policy.file, "release.file", message, "release to a folder of its own")


def _check_public_files(policy: Policy, table: Table) -> None:
    """Refuse as public what is a file of people's rows that the policy reads, by whatever name."""
    public = {each.table.name: each.name for each in table.beside if each.is_public}
    if not public:
        return
    from policy_engine.warehouse.files import files_at  # with a library that takes long to load

    sources = [(each, policy.directory / each.path) for each in table.relations if each.path]
    people = [path for each, path in sources if each.name not in public]
    for each, path in sources:
        if each.name not in public:
            continue
        held = chain.from_iterable(files_at(other).paths for other in people)
        own = files_at(path).paths
        if any(file.exists() and any(map(file.samefile, own)) for file in held):
            place = path_text(("source", "join", public[each.name], "public"))
            law = (
                f"{each.name} is a file of people's rows, by another name, and the policy reads"
                " these too"
            )
            raise refused(policy.file, place, law, "join it by privacy_unit without public: true")


def compile_policy(
    policy: Policy,
    dialect: str | None = None,
    method: str | None = None,
    schema: Schema | None = None,
    edition: str | None = None,
) -> str:
    """Write the SQL of a policy, to read or review it before a release.

    The SQL does not run, and nothing is charged.

    Arguments:
        ``policy``: as ``load_policy`` returns it.
        ``dialect``: the SQL dialect, such as ``duckdb`` or ``postgres``. The default is the dialect
            of the policy's warehouse.
        ``method``: the way of sampling, ``keyed`` or ``native``. The default is the policy's own
            way. Leave it out for noisy counts.
        ``schema``: the columns of the source table and their types. By default they are read from
            the warehouse or the file.
        ``edition``: with a calendar, a period such as ``2026-11``, due or not. The default is the
            first edition of ``period``.

    Raises:
        UsageError: an argument has a value that is not allowed, or the schema does not describe the
            source table.
        PolicyError: the policy does not fit its source.

    >>> from policy_engine import load_policy
    >>> policy = load_policy("policies/adult/policy.yaml")
    >>> compile_policy(policy, "duckdb").splitlines()[0]
    '-- policy: adult_public'
    """
    policy = loaded(policy, unpromised=True)
    if method is not None:
        if method not in {"keyed", "native"}:
            raise errors.UsageError(f"method must be keyed or native, found {method!r}")
        if policy.noise is not None:
            raise errors.UsageError("method is of a sample, and this policy counts everybody")
        policy = replace_field(policy, method=cast(Method, method))
    wanted = dialect_named(dialect or dialect_of(policy))
    policy = in_named_edition(policy, project_of(policy), edition)
    if schema is not None:
        table, relation = _described(policy, schema, wanted), policy.release.relation
        target = tuple(relation.split(".")) if relation else ()
        return enveloped(_compiled(policy, table, wanted)[1], target, wanted)
    with closing(open_warehouse(policy, project_of(policy), writes=False)) as warehouse:
        table, target = _ends(policy, warehouse)
        return enveloped(_compiled(policy, table, wanted)[1], target, wanted)


def _described(policy: Policy, schema: Schema, dialect: Engine) -> Table:
    """The source, and what is joined to it, as a schema describes them."""
    known = Known(schema, dialect.name)

    def described(relation: str | None) -> Table:
        table = known.table(at_home(relation, dialect.name, schema.tables)) if relation else None
        if table is None:
            found = f"{relation}, which it does not have once" if relation else "a file"
            raise errors.UsageError(f"the schema must describe source.table, found {found}")
        return table

    joined = (described(each.source.relation) for each in policy.source.joins)
    return with_beside(policy.source, described(policy.source.relation), joined)


def enveloped(query: str, target: tuple[str, ...], dialect: Engine) -> str:
    """The query in its envelope, as somebody would run it by hand."""
    return created(query, name_of(target, dialect)) if target else query


def paying_account(policy: Policy, project: Project, table: Table) -> str:
    """The account that pays; of a view the one that its policy names."""
    return account_of(policy, project, table_read(policy, table))


def table_read(policy: Policy, table: Table) -> tuple[str, ...]:
    """The name of the table that is read; of a view its own, whose people are an account's by word.

    Raises:
        NotCertifiable: the source is a view, and the author does not confirm what its rows are.
        PolicyError: the author confirms it, and does not say which account pays.
    """
    if table.view is None:
        return table.parts
    if policy.part is not None:
        law = "part is drawn by a key, and what a view calls so may be no key of its table"
        raise refused(policy.file, "part", law, "release from the table, or remove it")
    if not policy.source.is_rowwise:
        law = f"the source {dotted(table.parts)} is a view; {IF_ROWWISE}"
        raise errors.NotCertifiable((errors.Finding(READS_A_TABLE.code, law),))
    if not policy.declared_budget:
        law = "account must name the account that pays where source.view is rowwise"
        raise refused(policy.file, "account", law, "the account that the people of the view have")
    return table.parts


def tables_read(policy: Policy, table: Table) -> list[tuple[Policy, tuple[str, ...]]]:
    """The relations of people that are read, the source first: each as the source of a policy, with
    the name of its table. What is joined and public is none.

    Raises as ``table_read``.
    """
    found = [(policy, table_read(policy, table))]
    for written, beside in zip(policy.source.joins, table.beside, strict=True):
        if not written.is_public:
            joined = replace_field(policy, source=written.source)
            found.append((joined, table_read(joined, beside.table)))
    return found


def tables_public(policy: Policy, table: Table) -> list[tuple[str, Policy, tuple[str, ...]]]:
    """What is joined and said to be public, by its name in the policy: each as the source of a
    policy, with the name of its table."""
    return [
        (written.name, replace_field(policy, source=written.source), beside.table.parts)
        for written, beside in zip(policy.source.joins, table.beside, strict=True)
        if written.is_public
    ]


@contextmanager
def through_view(table: Table) -> Iterator[None]:
    """Name the view that is read in a failure of the warehouse, which says no more itself."""
    try:
        yield
    except errors.WarehouseFailed as error:
        if table.view is not None:
            error.add_note(_FAILS.format(dotted(table.parts)))
        raise

"""The one orchestration: policy → plan → text → certificate → charge → run → release.

Everything that can fail without touching the data fails before the charge. After it, a crash
at any step leaves the charge standing: somebody may have seen something.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import dataclass
from dataclasses import replace as replace_field
from decimal import Decimal
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from policy_engine.accounting.domain import claimed
from policy_engine.accounting.events import Event, SampledSuppression, TableNoise, Unbounded
from policy_engine.accounting.exact import delta_exact
from policy_engine.accounting.in_words import in_text
from policy_engine.attest.approvals import Brought
from policy_engine.attest.attestation import sign, statement
from policy_engine.attest.enforcing import filtered
from policy_engine.attest.facts import models_of
from policy_engine.attest.keys import key_id
from policy_engine.attest.parquet_file import METADATA_KEY
from policy_engine.attest.predicates import Vouched, predicate_of
from policy_engine.attest.review_policy import Stage
from policy_engine.attest.sealing import (
    load_reviewer_key,
    seal,
    secret_of_parts,
    state_mac,
    state_salt,
    unseal,
)
from policy_engine.attest.signers import Signer
from policy_engine.attest.syntactic import Uncertified
from policy_engine.attest.tables import read_parquet
from policy_engine.attest.validity import moment
from policy_engine.check.known import Known
from policy_engine.compile.catalog import INSTEAD_OF_A_VIEW, OR_ROWWISE, Table, at_home
from policy_engine.compile.compiler import compiled
from policy_engine.compile.rendering import created, name_of
from policy_engine.dialects import Engine, dialect_named
from policy_engine.errors import (
    BudgetExceeded,
    FileError,
    Finding,
    LedgerError,
    NotApproved,
    NotCertifiable,
    PolicyError,
    Problem,
    UsageError,
    WarehouseFailed,
)
from policy_engine.kernel.certificate import (
    ROWS,
    Certificate,
    Terms,
    Unmet,
    certified_rate,
    certify,
)
from policy_engine.kernel.charged import pure_event
from policy_engine.kernel.claim import Claim
from policy_engine.kernel.mechanisms import Noisy, Pure
from policy_engine.kernel.mechanisms.noisy_counts import GROUPING
from policy_engine.kernel.price import statistics_of
from policy_engine.kernel.sources import People
from policy_engine.ledger.account import (
    Account,
    Balance,
    admit,
    affords,
    balance_of,
    check_not_raised,
)
from policy_engine.ledger.belonging import NAMED_BY
from policy_engine.ledger.entry import Charge, Entry
from policy_engine.ledger.store import Ledger
from policy_engine.policy.accounts import account_of, check_own_project
from policy_engine.policy.fields import Method
from policy_engine.policy.noise import Chance
from policy_engine.policy.project import (
    Project,
    default_project,
    find_project,
    load_project,
)
from policy_engine.policy.project import Warehouse as Named
from policy_engine.policy.reading import located, refused
from policy_engine.policy.recodings import Constant
from policy_engine.policy.resolve import Policy, loaded
from policy_engine.policy.terms import terms_of
from policy_engine.releasing.beginning import check_clean, ledger_writer
from policy_engine.releasing.books import (
    account_now,
    check_not_lost,
    has_ledger,
    limit_of,
    named_otherwise,
    naming_key,
    open_ledger,
    sealing_key,
    trusted_keys,
)
from policy_engine.releasing.certificates import certificates_in, forgotten, forgotten_text
from policy_engine.releasing.parts import part_of
from policy_engine.releasing.publish import (
    CERTIFICATE_SUFFIX,
    certificate_of_table,
    check_certificate,
    check_target,
    exists,
    file_digest,
    is_of_a_release,
    not_a_release,
    other_bytes,
    publish_file,
    write_certificate,
)
from policy_engine.releasing.remarks import numbered, remarks
from policy_engine.releasing.requests import (
    Ends,
    Request,
    Run,
    as_charged,
    change_since,
    name_of_place,
    names_beside,
    place_of,
    predicate_digest,
    request_of,
)
from policy_engine.releasing.reviewing import (
    brought_at,
    check_pinned,
    let_lines_wait,
    let_wait,
    line_of,
    request_file,
    waiting_file,
)
from policy_engine.releasing.settlement import certifies, is_anothers, mend
from policy_engine.syntax.names import dotted
from policy_engine.syntax.schema import Schema
from policy_engine.warehouse.base import Warehouse
from policy_engine.warehouse.connecting import FILES, connected
from policy_engine.warehouse.drawing import new_secret
from policy_engine.warehouse.profiles import resolved

if TYPE_CHECKING:
    import pyarrow as pa

_IN_A_VIEW = "found in the view "
_FAILS = (
    "the source {} is a view: an expression of it, or of one that it reads, which fails on one row"
    " fails all; let it give NULL there (TRY_CAST), or make a table of the view"
)


@dataclass(frozen=True)
class Preview:
    """What a release would be: its certificate, the account that would pay, and what.

    ``refusal`` says why the account cannot pay, ``repeats`` is the entry that has paid already,
    ``news`` what should be known before it is paid.
    """

    certificate: Vouched
    account: Account
    charge: Charge
    refusal: str = ""
    repeats: int | None = None
    news: str = ""

    @property
    def balance(self) -> Balance:
        """Where the account stands before the release."""
        return balance_of(self.account)

    @property
    def affordable(self) -> bool:
        """Whether the account can pay, or need not."""
        return not self.refusal or self.repeats is not None

    @cached_property
    def after(self) -> Balance:
        """Where the account stands after the release, if it can pay."""
        return balance_of(self._paid)

    def more(self, most: int) -> int | None:
        """How many releases like it the account can pay for after it: ``most`` is the most tried.

        None without a limit.
        """
        if self.account.limit is None:
            return None
        account, found = self._paid, 0
        while found < most and affords(account, self.charge):
            account, found = account.plus(self.charge), found + 1
        return found

    @property
    def _paid(self) -> Account:
        """The account once it has paid, if it must."""
        return self.account if self.repeats is not None else self.account.plus(self.charge)


@dataclass(frozen=True)
class Released:
    """What a release was. ``release`` and ``certificate`` say where the two are.

    ``people`` are those of the sample who are in a group that is shown. Without (ε, δ) both are
    None. ``repeated``: it was paid
    for before, and cost nothing now. ``remarks`` say what its author may not have meant.
    """

    release: str
    certificate: Path
    epsilon: Decimal | None
    delta: Decimal | None
    k: int
    rate: Decimal
    groups: int
    rows: int
    people: int
    account: str
    entry: int
    state: Account
    repeated: bool = False
    remarks: tuple[str, ...] = ()

    @cached_property
    def balance(self) -> Balance:
        """Where the account stands now; computed when it is asked for, for tight takes time."""
        return balance_of(self.state)

    @property
    def epsilon_left(self) -> Decimal | None:
        """What is left of the account's ε; None without a limit."""
        return self.balance.left_epsilon

    @property
    def delta_left(self) -> Decimal | None:
        """What is left of the account's δ; None without a limit."""
        return self.balance.left_delta


def project_of(policy: Policy, start: Path | None = None) -> Project:
    """The project of a policy: found upwards from ``start``, then from the policy's folder.

    Raises:
        PolicyError: the two find different ones; or the project file has problems.
    """
    found = find_project(start or Path.cwd()) or find_project(policy.directory)
    check_own_project(policy, found)
    return load_project(found) if found is not None else default_project(policy.directory)


def open_warehouse(policy: Policy, project: Project, *, writes: bool) -> Warehouse:
    """A connection to the warehouse that holds the policy's source."""
    writable = writes and policy.release.relation is not None
    return connected(_warehouse_of(policy, project), writable=writable)


def _warehouse_of(policy: Policy, project: Project) -> Named:
    """The warehouse that holds the policy's source."""
    named = project.warehouse
    if policy.source.relation is not None or policy.release.relation is not None:
        return named
    # Files are read by the embedded engine, as the project sets it.
    is_embedded = named.type == FILES.type
    return replace_field(named, database=None, missing="") if is_embedded else FILES


def dialect_of(policy: Policy, project: Project | None = None) -> str:
    """The dialect of the text that a release of ``policy`` runs; nothing is connected to."""
    named = _warehouse_of(loaded(policy, syntactic=True), project or project_of(policy))
    return named.type if named.profile is None else resolved(named).type


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
    terms = terms_of(policy, _envelope_of(target, dialect), warehouse.engine_version)
    if policy.is_syntactic:
        return Uncertified(terms, query, dialect.name, claim, policy.k), table
    return certified(query, claim, dialect.name, terms), table


def unenforced(policy: Policy, certificate: Vouched) -> tuple[Problem, ...]:
    """That a ``row_key`` may have many rows, and what becomes of them."""
    unit = certificate.claim.unit if certificate.claim is not None else None
    if not policy.source.unique or not isinstance(unit, People) or unit.order is None:
        return ()
    key, place = policy.source.key, "source.unit.row_key"
    message = (
        f"{place} is unique by your word alone: where {key} has many rows one is kept, the least in"
        " the columns that are read"
    )
    remedy = f"key: {key} with keep: any, or keep: {{order_by: […]}}, says which"
    return located((Problem(str(policy.file), 0, 0, place, message, remedy),), policy.file)


def certified(query: str, claim: Claim, engine: str, terms: Terms) -> Certificate:
    """The certificate of a print.

    Raises:
        NotCertifiable: its guarantee is not met.
    """
    try:
        return certify(query, claim, engine, terms)
    except Unmet as error:
        from policy_engine.syntax.findings import findings_of
        from policy_engine.verify.checks import guarantee_is_met

        unmet = guarantee_is_met(error.delta, terms.delta, terms.epsilon)
        raise NotCertifiable(findings_of(unmet)) from None


def _compiled(policy: Policy, table: Table, dialect: Engine) -> tuple[Claim, str]:
    try:
        return compiled(policy, table, dialect)
    except PolicyError as error:
        raise PolicyError(located(error.problems, policy.file)) from None


def _of_views(findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """What is found in a view that is read: all else follows from it; every finding without one."""
    found = [each for each in findings if _IN_A_VIEW in each.message]
    remedy = f"; {INSTEAD_OF_A_VIEW}{OR_ROWWISE}"
    told = (each.message.rpartition("; ")[0] + remedy for each in found)
    mended = (replace_field(each, message=text) for each, text in zip(found, told, strict=True))
    return tuple(mended) or findings


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
        key = "release.path" if same_file else "release.relation"
        message = f"{key} must not be the source itself, found {policy.release.text}"
        raise refused(policy.file, key, message, "release to a place of its own")
    # It would be a file more of its source, or one that the source's owner cleans away.
    if table.is_folder and source and path and path.resolve().is_relative_to(source.resolve()):
        message = f"release.path must not lie in the source's folder, found {policy.release.text}"
        raise refused(policy.file, "release.path", message, "release to a folder of its own")


def _envelope_of(target: tuple[str, ...], dialect: Engine) -> str:
    """How the envelope of a release into ``target`` begins; of a file it is none."""
    return created("", name_of(target, dialect)).strip() if target else ROWS


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


def _confirmed(policy: Policy, view: Table) -> tuple[str, ...]:
    """A view of which the author says whose its rows are: its own name is charged.

    Raises PolicyError where no account is named, for the text does not tell whose people they are.
    """
    if policy.declared_budget:
        return view.parts
    law = "budget must name the account that pays where source.view is rowwise"
    raise refused(policy.file, "budget", law, "the account that the people of the view have")


def charge_of(account: str, certificate: Vouched, policy: Policy) -> Charge:
    """What the ledger is asked to book to ``account`` for a certificate."""
    event, delta = event_of(certificate, policy)
    return Charge(
        account=account,
        epsilon=certificate.epsilon,
        delta=delta,
        neighbours=certificate.neighbours,
        policy_name=certificate.terms.policy_name,
        policy_digest=certificate.terms.policy_digest,
        certificate_digest=predicate_digest(predicate_of(certificate)),
        event=event,
        unit=certificate.unit,
    )


def event_of(certificate: Vouched, policy: Policy) -> tuple[Event, Decimal]:
    """What happened, as the accountant prices it, and its δ.

    Releases of one source share the sample that it is of its population, if it is one. They compose
    without it only, so event and δ are those of the release's own sample.
    """
    if isinstance(certificate, Uncertified):
        return Unbounded(), certificate.delta
    claim = certificate.claim
    if claim is not None and isinstance(claim.law, Noisy):
        statistics = statistics_of(claim, claim.law, certificate.neighbours)
        return TableNoise(statistics), certificate.delta
    if claim is not None and isinstance(claim.law, Pure):
        return pure_event(claim.law, certificate.neighbours), certificate.delta
    rate = certified_rate(policy.rate, policy.method)
    delta = certificate.delta
    if certificate.terms.sampled_at != 1:
        epsilon, notion = certificate.epsilon, certificate.neighbours
        delta = claimed(delta_exact(certificate.k, rate, epsilon, notion).delta)
    return SampledSuppression(certificate.k, rate), delta


def preview(policy: Policy, project: Project | None = None) -> Preview:
    """A dry run: the certificate to be, and what its account has left. Writes nothing."""
    policy = loaded(policy, syntactic=True)
    project = project or project_of(policy)
    with closing(open_warehouse(policy, project, writes=False)) as warehouse:
        certificate, table = vouched_for(policy, project, warehouse)
        with _through_view(table):
            request = _asked(policy, project, warehouse, certificate, table)
            repeats = None if request is None else _paid(policy, project, warehouse, request)
        place = place_of(policy, ends_of(policy, project, warehouse))
        check_clean(project, (ends_of(policy, project, warehouse).certificate_path,))
    name = paying_account(policy, project, table, certificate.dialect)
    limit = limit_of(policy, project, name)
    account = account_now(project, name, limit)
    charge = charge_of(name, certificate, policy)
    if request is not None:
        charge = replace_field(charge, part=request.part)
    found = Preview(certificate, account, charge, "", repeats)
    try:
        if repeats is None and has_ledger(project):
            with open_ledger(project) as ledger:
                news = _another_account(policy, ledger.last_at(place), account)
                found = replace_field(found, news=news)
                asked = charge
                if request is not None:
                    asked = replace_field(charge, source=request.source, beside=request.beside)
                _check_account(ledger, project, asked)
        check_not_raised(account, limit)
        admit(account, charge)
    except BudgetExceeded as error:
        return replace_field(found, refusal=str(error))
    return found


@contextmanager
def _through_view(table: Table) -> Iterator[None]:
    """Name the view that is read in a failure of the warehouse, which says no more itself."""
    try:
        yield
    except WarehouseFailed as error:
        if table.view is not None:
            error.add_note(_FAILS.format(dotted(table.parts)))
        raise


def _check_account(ledger: Ledger, project: Project, charge: Charge) -> None:
    """BudgetExceeded where the people of a charge pay from another account."""
    if twin := named_otherwise(ledger, project, charge.account):
        raise BudgetExceeded(twin)
    ledger.check_source(charge)


def _another_account(policy: Policy, last: Entry | None, account: Account) -> str:
    """That the releases in a place were charged to another account until now; else empty."""
    if last is None or last.account == account.name:
        return ""
    without = "" if account.limit is not None else ", which has no limit"
    return (
        f"{policy.name} was charged to account {last.account!r} until now (entry {last.id}); this"
        f" release is charged to account {account.name!r}{without}"
    )


def _asked(
    policy: Policy, project: Project, warehouse: Warehouse, certificate: Vouched, table: Table
) -> Request | None:
    """What a ledger would be asked for; None where there is none, for none is made to find out."""
    if not has_ledger(project):
        return None
    with open_ledger(project) as ledger:
        if not project.sealing_key.exists():
            check_not_lost(project, ledger)
            return None
        naming = naming_key(project, ledger)
    return _request(policy, project, warehouse, naming, certificate=certificate, table=table)


def _paid(policy: Policy, project: Project, warehouse: Warehouse, request: Request) -> int | None:
    """The entry that has paid for just this release."""
    with open_ledger(project) as ledger:
        request = as_charged(request, policy, ledger.last_at(request.place))
        found = ledger.paid(request.place, request.of)
    if found is None or not _is_free(found, request.ends, warehouse):
        return None
    return found.id


def _is_free(entry: Entry, ends: Ends, warehouse: Warehouse) -> bool:
    """Whether the release of an entry stands, or can be made again."""
    run = Run.of_entry(entry)
    if run.sealed:
        return True
    if not ends.certificate_path.is_file():
        return False
    if ends.path is None:
        return digest_of_table(warehouse, run.target, run.digest) == entry.release_digest
    return ends.path.is_file() and file_digest(ends.path) == entry.release_digest


def _request(
    policy: Policy,
    project: Project,
    warehouse: Warehouse,
    naming: X25519PrivateKey,
    *,
    certificate: Vouched,
    table: Table,
) -> Request:
    """What is asked for: of the source as it is now."""
    named = resolved(_warehouse_of(policy, project))
    read = table_read(policy, table, certificate.dialect)
    source = {
        "place": name_of_place(policy, project, named, read, naming),
        "content": state_mac(warehouse.fingerprint(policy, table, state_salt(naming)), naming),
        NAMED_BY: key_id(naming.public_key()),
    }
    request = request_of(policy, certificate, ends_of(policy, project, warehouse), source)
    return replace_field(
        request,
        beside=names_beside(policy, project, named, read, naming),
        part=part_of(certificate, source["place"], naming),
    )


def _described(policy: Policy, schema: Schema, dialect: Engine) -> Table:
    """The source as a schema describes it."""
    relation = policy.source.relation
    known = Known(schema, dialect.name)
    table = known.table(at_home(relation, dialect.name, schema.tables)) if relation else None
    if table is None:
        found = f"{relation}, which it does not have once" if relation else "a file"
        raise UsageError(f"the schema must describe source.relation, found {found}")
    return table


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
            raise UsageError(f"method must be keyed or native, found {method!r}")
        if policy.noise is not None:
            raise UsageError("method is of a sample, and this policy counts everybody")
        policy = replace_field(policy, method=cast(Method, method))
    wanted = dialect_named(dialect or dialect_of(policy))
    if schema is not None:
        table, relation = _described(policy, schema, wanted), policy.release.relation
        target = tuple(relation.split(".")) if relation else ()
        return _enveloped(_compiled(policy, table, wanted)[1], target, wanted)
    with closing(open_warehouse(policy, project_of(policy), writes=False)) as warehouse:
        table, target = _ends(policy, warehouse)
        return _enveloped(_compiled(policy, table, wanted)[1], target, wanted)


def _enveloped(query: str, target: tuple[str, ...], dialect: Engine) -> str:
    """The query in its envelope, as somebody would run it by hand."""
    return created(query, name_of(target, dialect)) if target else query


def _unwatched(ask: Callable[[], float | None]) -> AbstractContextManager[None]:
    return nullcontext()


def release(
    policy: Policy,
    project: Project | None = None,
    *,
    replace: bool = False,
    fresh: bool = False,
    say: Callable[[str], None] = lambda text: None,
    watch: Callable[[Callable[[], float | None]], AbstractContextManager[None]] = _unwatched,
) -> Released:
    """Publish what ``policy`` says, with its certificate, and charge its account.

    Guarantee: what is published is what the certificate's text computes from a sample under a
    secret of its own; the account is charged before the sample is drawn. The same policy on the
    same state of its source has one secret: run again, it gives the same bytes and costs nothing.

    ``fresh`` draws anew at a new price all the same. ``say`` is told, before anything is
    charged, that a release is a new one though one was made in its place before. ``watch`` is
    given a function that says how many per cent of the running query are done, if the engine does;
    it may ask until its body ends, and not later: the connection is closed then.

    Raises:
        PolicyError, NotCertifiable: the policy does not fit, or cannot be certified.
        BudgetExceeded: the account cannot pay; nothing was drawn.
        FileError, WarehouseError, LedgerError: nothing was published, unless the message
            says that the release stands. If the sample was drawn, the charge stands.
        UsageError: ``policy`` is not a loaded policy.
    """
    policy = loaded(policy, syntactic=True)
    project = project or project_of(policy)
    with (
        closing(open_warehouse(policy, project, writes=True)) as warehouse,
        watch(warehouse.progress),
    ):
        certificate, table = vouched_for(policy, project, warehouse)
        for warning in unenforced(policy, certificate):
            say(f"warning: {warning}")
        if not has_ledger(project):
            _check_first(policy, project, warehouse, certificate, table, replace=replace)
        places = (ends_of(policy, project, warehouse).certificate_path,)
        signer = ledger_writer(project, moment(certificate.time), places)
        with open_ledger(project, signer, say=say) as ledger, _through_view(table):
            sealing = sealing_key(project, ledger)
            naming = naming_key(project, ledger)
            request = _request(
                policy, project, warehouse, naming, certificate=certificate, table=table
            )
            request = as_charged(request, policy, ledger.last_at(request.place))
            job = _Job(
                policy, project, certificate, table, warehouse, request, signer, sealing, naming,
                replace,
            )  # fmt: skip
            return job.run(ledger, fresh=fresh, say=say)


def _check_first(
    policy: Policy,
    project: Project,
    warehouse: Warehouse,
    certificate: Vouched,
    table: Table,
    *,
    replace: bool,
) -> None:
    """Refuse a first release before a ledger or a key is made for it."""
    check_clean(project, (ends_of(policy, project, warehouse).certificate_path,))
    name = paying_account(policy, project, table, certificate.dialect)
    account = Account(name, limit=limit_of(policy, project, name))
    try:
        admit(account, charge_of(name, certificate, policy))
        check_place(policy, warehouse, replace=replace)
    except (BudgetExceeded, FileError):
        if not has_ledger(project):  # else a run of the same beside this one was faster
            raise


def ends_of(policy: Policy, project: Project, warehouse: Warehouse) -> Ends:
    """Where the release of a policy goes."""
    if policy.release_path is not None:
        return Ends.of_file(policy.release_path, project.directory)
    name = ".".join(warehouse.target(policy.release.relation or ""))
    return Ends.of_table(name, table_certificate_path(policy), project.directory)


@dataclass(frozen=True)
class _Size:
    """How large a release is: groups, rows, and the people of the sample that they count.

    ``remarks`` say what else its rows show.
    """

    groups: int
    rows: int
    people: int
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Done:
    """What was published: its name, SHA-256 and size."""

    name: str
    digest: str
    size: _Size


@dataclass(frozen=True)
class _Job:
    """A certified release: new, or one that was charged before."""

    policy: Policy
    project: Project
    certificate: Vouched
    table: Table
    warehouse: Warehouse
    request: Request
    signer: Signer
    sealing: X25519PrivateKey
    naming: X25519PrivateKey
    replace: bool

    def run(self, ledger: Ledger, *, fresh: bool, say: Callable[[str], None]) -> Released:
        """Publish, unless the same release stands already."""
        entry = None if fresh else ledger.paid(self.request.place, self.request.of)
        if entry is not None and (found := self._repaired(ledger, entry)) is not None:
            return found
        if entry is not None and Run.of_entry(entry).sealed:
            return self._again(ledger, entry)
        self._tell_forgotten(ledger, say)
        try:
            check_place(self.policy, self.warehouse, replace=self.replace)
        except FileError:
            found = None if fresh else self._of_a_twin(ledger)
            if found is None:
                raise
            return found
        if twin := named_otherwise(ledger, self.project, self._account):
            raise BudgetExceeded(twin)
        check_pinned(self.project, ledger, self._account)
        limit = limit_of(self.policy, self.project, self._account)
        charge, last = self._charge(new_secret()), ledger.last_at(self.request.place)
        # No price is announced of what would not be charged; whether it is, reserve decides.
        if last is not None and ledger.can_pay(charge, limit):
            say(self._news(last, entry, fresh=fresh))
            if other := _another_account(self.policy, last, Account(self._account, limit=limit)):
                say(other)
        try:
            paid = ledger.reserve(charge, limit, anew=fresh or entry is not None).entry
        except KeyboardInterrupt as error:
            error.add_note("'policy-engine ledger show' says whether it was charged")
            raise
        return self._published(ledger, paid, repeated=False, fresh=fresh)

    def _tell_forgotten(self, ledger: Ledger, say: Callable[[str], None]) -> None:
        """Say which releases that stand were charged, and the ledger does not know them."""
        places = {self.request.ends.certificate_path.resolve()}
        if self.project.file is not None:
            places |= {path.resolve() for path in certificates_in(self.project.directory)}
        trusted = trusted_keys(self.project, self.signer)
        if missing := forgotten(sorted(places), ledger.entries(), trusted):
            say(forgotten_text(missing))

    def _again(self, ledger: Ledger, entry: Entry) -> Released:
        """Make the release of an entry that is paid, at no cost."""
        ledger.verify()  # what was given back, and hidden, would run for nothing
        job = self
        if not self.replace and self._is_alone(Run.of_entry(entry)):
            job = replace_field(self, replace=True)  # of what stands, all is its own
        try:
            check_place(self.policy, self.warehouse, replace=job.replace, paid=entry.id)
        except FileError:
            found = self._of_a_twin(ledger)
            if found is None:
                raise
            return found
        return job._published(ledger, entry, repeated=True)

    def _of_a_twin(self, ledger: Ledger) -> Released | None:
        """What a run of the same beside this one has published meanwhile."""
        entry = ledger.paid(self.request.place, self.request.of)
        return None if entry is None else self._stands(ledger, entry)

    def _published(
        self, ledger: Ledger, entry: Entry, *, repeated: bool, fresh: bool = False
    ) -> Released:
        try:
            return self._publish(ledger, entry, repeated=repeated)
        except FileError as error:
            # Somebody else has run the same meanwhile, and it stands.
            found = self._stands(ledger, ledger.entry(entry.id))
            if found is None:
                error.add_note(_how_to_go_on(entry, fresh=fresh))
                raise
            return found
        except BaseException as error:
            error.add_note(_how_to_go_on(entry, fresh=fresh))
            raise

    def _is_alone(self, run: Run) -> bool:
        """Whether a certificate of this run stands, and no release with it."""
        trusted = trusted_keys(self.project, self.signer)
        return not self._is_there() and certifies(run, self.request.ends.certificate_path, trusted)

    def _is_there(self) -> bool:
        path = self.request.ends.path
        if path is not None:
            return path.exists()
        return self.warehouse.exists(self.warehouse.target(self._name))

    def _repaired(self, ledger: Ledger, entry: Entry) -> Released | None:
        """The release of an entry where it stands; a certificate that is gone is made again."""
        found = self._stands(ledger, entry)
        path, run = self.request.ends.certificate_path, Run.of_entry(entry)
        digest = entry.release_digest
        in_the_way = path.exists() and not self.replace
        if found is not None or digest is None or in_the_way or self._digest(run) != digest:
            return found
        check_certificate(path, self._subject, replace=self.replace)
        write_certificate(self._envelope(run, self._subject, digest), path, replace=self.replace)
        return self._stands(ledger, entry)

    def _digest(self, run: Run) -> str | None:
        """The digest of what stands in the release's place."""
        path = self.request.ends.path
        if path is None:
            return self._digest_of_table(run.target, run.digest)
        return file_digest(path) if path.is_file() else None

    @property
    def _subject(self) -> str:
        """The release as its certificate names it."""
        path = self.request.ends.path
        return self._name if path is None else path.name

    def _news(self, last: Entry, entry: Entry | None, *, fresh: bool) -> str:
        """That this is a new release, and why, before it costs anything."""
        run, why = Run.of_entry(last), []
        if fresh:
            drawn = "sample" if self.policy.noise is None else "draw of the noise"
            why.append(f"a new {drawn} is asked for")
        if entry is not None:
            why.append("its release is gone, and the engine cannot draw the same sample again")
        elif run.of != self.request.of:
            why.append(change_since(run, self.certificate, key_id(self.sealing.public_key())))
        before = "was released before" if last.state == "committed" else "was begun before"
        state = "" if last.state == "committed" else f", {last.state}"
        price = (
            f"at the price of ε {in_text(self.certificate.epsilon)},"
            f" δ {in_text(self.certificate.delta)} (unit: {self.certificate.unit})"
        )
        if self.policy.is_syntactic:
            price = "and what is learnt from both together nothing limits"
        return (
            f"{self.policy.name} {before} (entry {last.id}{state}), and {', and '.join(why)}: this"
            f" is a new release, {price}"
        )

    def _stands(self, ledger: Ledger, entry: Entry) -> Released | None:
        """The release of an entry where it stands already; its entry is committed then."""
        run = Run.of_entry(entry)
        trusted = trusted_keys(self.project, self.signer)
        digest = mend(run, self.request.ends, self._digest_of_table, trusted)
        if digest is None or not entry.may_be(digest):
            return None
        if is_anothers(ledger, entry, digest):
            return None
        if entry.state == "reserved":
            ledger.start(entry.id)
        if entry.state != "committed":
            ledger.commit(entry.id, release_name=self._name, release_digest=digest)
        done = _Done(self._name, digest, self._size())
        return self._released(ledger, entry, done, repeated=True)

    def _charge(self, secret: bytes) -> Charge:
        keys = [self.sealing.public_key(), *map(load_reviewer_key, self.project.reviewers)]
        if self.request.part is not None:
            secret = secret_of_parts(self.request.part[0], self.naming) + secret
        sealed = seal(secret, self.request.of, keys) if self.policy.method == "keyed" else {}
        run = Run.new(self.request, self.certificate, sealed)
        charge = charge_of(self._account, self.certificate, self.policy)
        return replace_field(
            charge,
            request=self.request.place,
            part=self.request.part,
            run=run.to_json(),
            source=self.request.source,
            beside=self.request.beside,
            brought=self._brought("claim"),
        )

    @property
    def _account(self) -> str:
        return paying_account(self.policy, self.project, self.table, self.certificate.dialect)

    @property
    def _name(self) -> str:
        path = self.policy.release_path
        return self.request.ends.name if path is None else str(path)

    def _brought(self, stage: Stage) -> Brought:
        """The approvals that stand beside the certificate, or where it will."""
        return brought_at(request_file(self.request.ends.certificate_path, stage))

    def _publish(self, ledger: Ledger, entry: Entry, *, repeated: bool) -> Released:
        check_pinned(self.project, ledger, entry.account)
        ledger.approve(entry.id, self._brought("claim"))
        if entry.state == "reserved":
            ledger.start(entry.id)
        run = Run.of_entry(entry)
        # An engine that draws the sample by itself needs none of ours.
        # What was sealed before the project's key took over opens with the one that it was handed.
        is_ours = key_id(self.sealing.public_key()) in run.sealed
        key = self.sealing if is_ours else self.naming
        secret = unseal(run.sealed, run.of, key) if run.sealed else new_secret()

        def draw(digest: str) -> str:
            if not ledger.draw(entry.id, digest, self._brought("release")):
                raise other_bytes(self._name)
            return self._envelope(run, self._subject, digest)

        if self.request.ends.path is not None:
            done = self._to_file(run, secret, self.request.ends.path, draw)
        else:
            done = self._to_table(run, secret, draw)
        _commit(ledger, entry, done)
        waiting_file(self.project, run).unlink(missing_ok=True)
        return self._released(ledger, entry, done, repeated=repeated)

    def _to_file(self, run: Run, secret: bytes, path: Path, draw: Callable[[str], str]) -> _Done:
        with self.warehouse.sampled(self.policy, self.table, secret) as unchanged:
            rows = kept(self.warehouse.rows(run.query), run)
            unchanged()
        facts = {METADATA_KEY: run.facts}
        try:
            digest = publish_file(rows, path, facts, draw, replace=self.replace, mark=run.mark)
        except NotApproved as error:
            error.add_note(let_wait(waiting_file(self.project, run), rows, facts))
            raise
        return _Done(self._name, digest, self._size_of(rows))

    def _to_table(self, run: Run, secret: bytes, draw: Callable[[str], str]) -> _Done:
        target, name = self.warehouse.target(self._name), self._name
        done: list[_Done] = []
        with (
            certificate_of_table(self.request.ends.certificate_path, run.mark) as put,
            self.warehouse.sampled(self.policy, self.table, secret) as unchanged,
        ):

            def attest() -> None:
                unchanged()
                digest, size = self._read(target)
                try:
                    put(draw(digest))
                except NotApproved as error:
                    lines = self.warehouse.release_lines(target)
                    error.add_note(let_lines_wait(waiting_file(self.project, run), lines))
                    raise
                done.append(_Done(name, digest, size))

            self.warehouse.publish(run.query, target, run.facts, attest, replace=self.replace)
        return done[0]

    def _digest_of_table(self, name: str, facts: str) -> str | None:
        return digest_of_table(self.warehouse, name, facts)

    def _read(self, target: tuple[str, ...]) -> tuple[str, _Size]:
        """The digest and size of a table."""
        lines = self.warehouse.release_lines
        digest, size = digest_of_lines(lines(target), self.policy)
        return digest, replace_field(size, remarks=self._remarks(lines(target)))

    def _remarks(self, lines: Iterable[tuple[Any, ...]]) -> tuple[str, ...]:
        if self.policy.groupings:  # what a grouping leaves out is NULL in its rows
            return ()
        recodings = self.policy.recodings
        if isinstance(self.policy.noise, Chance):  # some values are missing by chance
            return ()
        columns = [None if isinstance(how, Constant) else name for name, how in recodings]
        return remarks(columns, lines, counted=self.policy.release.form == "counts")

    def _size(self) -> _Size:
        """The size of the release that stands."""
        path = self.request.ends.path
        if path is None:
            return self._read(self.warehouse.target(self._name))[1]
        return self._size_of(read_parquet(path))

    def _size_of(self, rows: pa.Table) -> _Size:
        counted = self.policy.release.form == "counts"
        count = self.policy.release.count_as if counted else None
        told = self._remarks(numbered(rows.drop(list(self.policy.beside)), count))
        if count is not None:
            return _Size(rows.num_rows, rows.num_rows, self._people(rows, count), told)
        groups = rows.group_by(list(rows.column_names), use_threads=False).aggregate([])
        return _Size(groups.num_rows, rows.num_rows, rows.num_rows, told)

    def _people(self, rows: pa.Table, count: str) -> int:
        """The people shown, by the grouping that shows most."""
        if not self.policy.groupings:
            return sum(rows.column(count).to_pylist())
        sums = rows.group_by(GROUPING).aggregate([(count, "sum")])
        return max(sums.column(f"{count}_sum").to_pylist(), default=0)

    def _envelope(self, run: Run, name: str, digest: str) -> str:
        return sign(statement(name, digest, run.predicate), self.signer).to_json()

    def _released(self, ledger: Ledger, entry: Entry, done: _Done, *, repeated: bool) -> Released:
        state = ledger.account(entry.account)
        return Released(
            release=done.name,
            certificate=self.request.ends.certificate_path,
            epsilon=None if self.policy.is_syntactic else self.certificate.epsilon,
            delta=None if self.policy.is_syntactic else self.certificate.delta,
            k=self.certificate.k,
            rate=self.certificate.rate,
            groups=done.size.groups,
            rows=done.size.rows,
            people=done.size.people,
            remarks=done.size.remarks,
            account=state.name,
            entry=entry.id,
            state=state,
            repeated=repeated,
        )


def kept(rows: pa.Table, run: Run) -> pa.Table:
    """What a certified query gave, without the classes that break a model of the policy.

    Nothing but those rows decides it, so that it costs nothing.
    """
    facts = run.predicate
    return filtered(rows, len(facts["columns"]), facts["count"], models_of(facts))


def _how_to_go_on(entry: Entry, *, fresh: bool) -> str:
    """What to do about a release that was charged, and failed."""
    if not entry.run.get("sealed"):
        return f"entry {entry.id} stays charged: the engine cannot draw the same sample again"
    same = "the same command without --fresh" if fresh else "the same command again"
    return f"entry {entry.id} is paid: {same} finishes it at no cost, while the source is as it was"


def digest_of_table(warehouse: Warehouse, name: str, facts: str) -> str | None:
    """The digest of a table's rows, if it stands and its comment has facts of that digest."""
    target = warehouse.target(name)
    if not warehouse.exists(target):
        return None
    try:
        found = json.loads(warehouse.comment(target))
    except ValueError:
        return None
    if not isinstance(found, dict) or predicate_digest(found) != facts:
        return None
    return digest_of_lines(warehouse.release_lines(target))[0]


def _commit(ledger: Ledger, entry: Entry, done: _Done) -> None:
    try:
        ledger.commit(entry.id, release_name=done.name, release_digest=done.digest)
    except LedgerError as error:
        raise LedgerError(
            f"{error}; {done.name} is published with its certificate and is paid for, but its"
            " ledger entry stays open: run 'policy-engine ledger reconcile'"
        ) from error


def table_certificate_path(policy: Policy) -> Path:
    """Where the certificate of a release into a table stands: beside the policy."""
    return policy.directory / f"{policy.name}{CERTIFICATE_SUFFIX}"


def digest_of_lines(
    lines: Iterable[tuple[Any, ...]], policy: Policy | None = None
) -> tuple[str, _Size]:
    """SHA-256 of a release's rows as JSON lines, and their size: of people, by its policy.

    The rows are sorted, so equal ones stand together.
    """
    before = 1 if policy is not None and policy.groupings else 0
    counted = policy is not None and policy.release.form == "counts"
    place = before + len(policy.columns) if policy is not None and counted else None
    digest, groups, rows, last = hashlib.sha256(), 0, 0, None
    people: Counter[Any] = Counter()
    for line in lines:
        text = line_of(line)
        digest.update(text.encode() + b"\n")
        groups, rows, last = groups + (text != last), rows + 1, text
        people[line[0] if before else None] += 1 if place is None else int(line[place])
    return digest.hexdigest(), _Size(groups, rows, max(people.values(), default=0))


def check_place(
    policy: Policy, warehouse: Warehouse, *, replace: bool, paid: int | None = None
) -> None:
    """Refuse, before anything is charged, what cannot be written, or stands in the way.

    ``paid`` is the entry that has paid for the release already. Raises FileError.
    """
    if policy.release_path is not None:
        check_target(policy.release_path, replace=replace, paid=paid)
        return
    target = warehouse.target(policy.release.relation or "")
    name = ".".join(target)
    if warehouse.exists(target):
        if not replace:
            raise exists(name, paid)
        if not is_of_a_release(warehouse.comment(target)):
            raise not_a_release(name)
        warehouse.check_replaceable(target)
    check_certificate(table_certificate_path(policy), name, replace=replace, paid=paid)

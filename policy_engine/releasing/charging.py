"""What a release is of, where it goes, and what the ledger is asked to book for it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from functools import cached_property

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from policy_engine.accounting.domain import REPLACE_ONE
from policy_engine.accounting.events import DrawnChoice
from policy_engine.accounting.one import certified_rate
from policy_engine.accounting.plans import WindowPlan
from policy_engine.accounting.windows import spanning
from policy_engine.attest.certificates import predicate_of
from policy_engine.attest.choices import ChoiceStated
from policy_engine.attest.parquet_file import predicate_digest
from policy_engine.attest.validity import moment
from policy_engine.compile.catalog import Table
from policy_engine.errors import DomainError
from policy_engine.kernel.certificate import Certificate
from policy_engine.kernel.editions import Edition
from policy_engine.kernel.mechanisms.events import charged, of_replaced
from policy_engine.kernel.mechanisms.meanings import meaning_of
from policy_engine.ledger.account import Account, Limit, check_first_window, effective
from policy_engine.ledger.asked import Asked
from policy_engine.ledger.books import Books
from policy_engine.ledger.entry import Charge, Units
from policy_engine.ledger.windows import window_at, windows_of_charge
from policy_engine.policy.accounts import listed_as
from policy_engine.policy.following import plan_of as plan_of_account
from policy_engine.policy.project import Project
from policy_engine.policy.reading import refused
from policy_engine.policy.resolve import Policy
from policy_engine.policy.timing import WindowTerms
from policy_engine.releasing import planning, requests
from policy_engine.releasing.books import limit_of
from policy_engine.releasing.editions import Clock, at_moment, utc_now
from policy_engine.releasing.naming import in_some_edition
from policy_engine.values import frozen
from policy_engine.warehouse.base import Warehouse
from policy_engine.warehouse.connecting import resolved


@frozen
class Payer:
    """The account that pays for a policy, by the project file and a ledger."""

    policy: Policy
    project: Project
    account: str

    @property
    def limit(self) -> Limit | None:
        """What the project file says that its account may spend."""
        return limit_of(self.policy, self.project, self.account)

    def account_in(self, known: Books | None) -> Account:
        """The account, as a ledger has it, under the limit that counts."""
        found = Account(self.account) if known is None else known.budget.account(self.account)
        return effective(found, self.limit)

    def counted(
        self,
        charge: Charge,
        certificate: Certificate | None,
        known: Books | None,
        clock: Clock = utc_now,
    ) -> Charge:
        """A charge with the windows of the account in which it counts; raises ``in_windows``'."""
        limit, at = self.account_in(known).limit, at_moment(known, clock)
        found = in_windows(charge, self.policy, self.project, certificate, limit=limit, at=at)
        if known is not None and limit is not None:
            day = window_at(limit.each, at, self.project.zone)
            check_first_window(known.budget.account(self.account), found, limit, day)
        return found

    def window_plan(self) -> WindowPlan:
        """The plan of its account, solved, which is recorded of a window before its first draw."""
        return solved_plan(self.policy, self.project, self.account)


@frozen
class ReleasePlan:
    """A policy, the connection to its source, and what is certified of it: nothing ran yet."""

    policy: Policy
    project: Project
    warehouse: Warehouse
    certificate: Certificate
    table: Table
    clock: Clock = utc_now

    @cached_property
    def account(self) -> str:
        """The account that pays."""
        return planning.paying_account(self.policy, self.project, self.table)

    @property
    def payer(self) -> Payer:
        """The account that pays, by the project file."""
        return Payer(self.policy, self.project, self.account)

    @property
    def limit(self) -> Limit | None:
        """What the project file says that its account may spend."""
        return self.payer.limit

    @cached_property
    def ends(self) -> requests.Ends:
        """Where the release goes."""
        return requests.ends_of(self.policy, self.project, self.warehouse)

    def check_runs(self, *, writes: bool) -> None:
        """Meet what the setup of the warehouse lacks, while no row is read; ``writes`` a table too.

        Raises WarehouseError.
        """
        query, relation = self.certificate.query, self.policy.release.relation
        self.warehouse.check_reads(self.policy, self.table, query)
        if self.policy.release.append:
            names = meaning_of(self.certificate.claim).names
            self.warehouse.check_added(self.warehouse.target(relation or ""), names)
        if writes and relation is not None:
            target, added = self.warehouse.target(relation), self.policy.release.append
            with self.warehouse.trying(self.policy, self.table):
                self.warehouse.check_writes(target, query, added=added)

    @property
    def place(self) -> str:
        """What the ledger calls the place of its releases."""
        return requests.place_of(self.policy.name, self.ends, self.policy.edition)

    @cached_property
    def of(self) -> str:
        """What its release is of, as the ledger calls it."""
        return requests.release_id(self.certificate)

    def with_numbers(self, policy: Policy) -> ReleasePlan:
        """The plan of the policy with other numbers: of the same source, to the same place."""
        policy = in_some_edition(policy, self.project)
        relation = policy.release.relation
        target = () if relation is None else self.warehouse.target(relation)
        found = planning.vouched_over(policy, self.table, target, self.warehouse)
        return replace(self, policy=policy, certificate=found)

    @property
    def asked(self) -> Asked:
        """What its account is asked for one release that counts in one window."""
        return charge_of(self.account, self.certificate, self.policy).asked

    def account_in(self, known: Books | None) -> Account:
        """The account that pays, as a ledger has it, under the limit that counts."""
        return self.payer.account_in(known)

    def charge(self, known: Books | None) -> Charge:
        """What the ledger is asked to book, as far as the certificate and the calendar say.

        ``known`` is what the ledger says, None where it has not begun. Raises PolicyError where the
        windows of the account are of rows that the policy does not tell apart.
        """
        charge = charge_of(self.account, self.certificate, self.policy)
        return self.payer.counted(charge, self.certificate, known, self.clock)

    def check_account(self) -> None:
        """Raise PolicyError where windows or plan of its account are none for the policy."""
        self.charge(None)
        if self.limit is not None and self.limit.plan:
            self.window_plan()

    def window_plan(self) -> WindowPlan:
        """The plan of its account, solved."""
        return self.payer.window_plan()

    def names(self, naming: X25519PrivateKey) -> requests.SourceNames:
        """What the ledger calls its source."""
        policy, project, warehouse = self.policy, self.project, self.warehouse
        source = names_of_source(policy, project, warehouse, self.table, naming)
        named = resolved(planning.warehouse_of(policy, project))
        beside, others = list[str](), dict[str, Units]()
        units = dict[str, Units]()
        for (each, read), who in zip(
            planning.tables_read(policy, self.table),
            requests.units_of(self.certificate.claim),
            strict=True,
        ):
            units[requests.name_of_place(each, project, named, read, naming)] = who
            found = requests.names_beside(each, project, named, read, naming)
            others |= dict.fromkeys(found, who)
            beside += found
        public = planning.tables_public(policy, self.table)
        return requests.SourceNames(
            source,
            beside=tuple(beside),
            units=others | units,
            public={
                name: requests.name_of_place(each, project, named, read, naming)
                for name, each, read in public
            },
            public_beside=tuple(
                name
                for _, each, read in public
                for name in requests.names_beside(each, project, named, read, naming)
            ),
            part=requests.part_of(self.certificate, source["place"], naming),
            key_stays=policy.source.key_stays,
        )


def plan_of(
    policy: Policy, project: Project, warehouse: Warehouse, clock: Clock = utc_now
) -> ReleasePlan:
    """The plan of a policy, with the errors of ``planning.vouched_for``.

    Of one whose edition is not named it is that of the first period, as of any other.
    """
    policy = in_some_edition(policy, project)
    found = planning.vouched_for(policy, project, warehouse)
    return ReleasePlan(policy, project, warehouse, *found, clock)


@contextmanager
def planned(policy: Policy, project: Project, clock: Clock = utc_now) -> Iterator[ReleasePlan]:
    """The plan of a policy while the body runs; nothing can be written through it."""
    with closing(planning.open_warehouse(policy, project, writes=False)) as warehouse:
        yield plan_of(policy, project, warehouse, clock)


def names_of_source(
    policy: Policy,
    project: Project,
    warehouse: Warehouse,
    table: Table,
    naming: X25519PrivateKey,
) -> dict[str, str]:
    """The name by which a ledger knows a source, of where it lies, and the key that names it."""
    named = resolved(planning.warehouse_of(policy, project))
    read = planning.tables_read(policy, table)
    places = (requests.name_of_place(each, project, named, parts, naming) for each, parts in read)
    return requests.source_of_places(places, naming)


def solved_plan(policy: Policy, project: Project, account: str) -> WindowPlan:
    """The plan of an account that pays for a policy, where the project file has one.

    Raises PolicyError where it cannot be met, or names what is no planned policy.
    """
    relation = None if policy.declared_budget else policy.source.relation
    found = plan_of_account(project, listed_as(account, project, relation) or "")
    assert found is not None  # it is asked of a limit that has one
    return found


def in_windows(
    charge: Charge,
    policy: Policy,
    project: Project,
    certificate: Certificate | None,
    *,
    limit: Limit | None,
    at: datetime,
) -> Charge:
    """A charge with the windows of its account in which it counts, and what it costs in each.

    Raises PolicyError as ``check_reads_period``, and where the plan of the account is of another
    notion of neighbours.
    """
    edition = policy.edition
    run = replace(charge.run, edition=edition.name, is_revision=edition.is_revision)
    charge = replace(charge, run=run)
    if limit is None:
        return charge
    _check_notion(policy, charge, limit)
    if limit.each is None:
        return charge
    check_reads_period(policy, charge.account, limit)
    terms = WindowTerms(limit.each, limit.of)
    return _counted(charge, certificate, windows_of_charge(terms, policy.edition, at, project.zone))


def _counted(charge: Charge, certificate: Certificate | None, windows: tuple[str, ...]) -> Charge:
    """A charge as it counts in windows: in several, one person is replaced in each of them."""
    charge = replace(charge, windows=windows)
    if len(windows) == 1 or charge.is_unbounded:
        return charge
    if certificate is not None:
        event = of_replaced(certificate.claim, certificate.promise)
    else:  # a choice, of which ε is all that is known: who is replaced leaves, and another comes
        event = DrawnChoice(2 * charge.epsilon)
    found = spanning(event, charge.epsilon, charge.delta, charge.neighbours)
    return replace(charge, event=found.event, epsilon=found.epsilon, delta=found.delta)


def recalled(
    charge: Charge,
    time: str,
    certificate: Certificate | None,
    known: Books,
    project: Project,
) -> Charge:
    """A charge that is proved, with the windows that its account has in a ledger.

    By the certificate's edition, and by its ``time`` where that is none of a calendar. What does
    not tell the account's windows apart counts in each that there is. Without a ``certificate`` it
    is a choice's, which has no edition of a calendar.
    """
    account, at = known.budget.account(charge.account), moment(time)
    limit = account.limit
    if limit is None or limit.each is None or at is None:
        return charge
    edition = Edition() if certificate is None else certificate.terms.edition or Edition()
    terms = WindowTerms(limit.each, limit.of)
    try:
        windows = windows_of_charge(terms, edition, at, project.zone)
    except DomainError:
        day = window_at(limit.each, at, project.zone)
        windows = tuple(sorted({*day, *(each.name for each in account.windows)}))
    return _counted(charge, certificate, windows)


def check_reads_period(policy: Policy, account: str, limit: Limit) -> None:
    """PolicyError where an account's windows are of rows that a policy does not tell apart."""
    if limit.of is None:
        return
    own = [each.name for each in policy.source.joins if not each.is_public]
    if own and not limit.joins:
        law = (
            f"joins {own[0]}, whose rows lie in no {_word(limit)}, and pays from account"
            f" {account!r}, whose limit is of one {_word(limit)} by {limit.of}"
        )
        remedy = (
            "put its columns on each row, in a view with view: rowwise whose content is fixed when"
            f" the row is; or write joined: m-fold beside 'of' of the account: what {own[0]} says"
            f" of a person, m {_word(limit)}s tell m times"
        )
        raise refused(policy.file, "source.join", law, remedy)
    if policy.edition.column == limit.of:
        return
    found = "and it has no period: what it shows is of all periods at once"
    if policy.edition.column:
        found = f"and its period is by {policy.edition.column}"
    whose = f"whose limit is of one {_word(limit)} by {limit.of}"
    law = f"pays from account {account!r}, {whose}, {found}"
    remedy = (
        f"add period: {{column: {limit.of}, every: {_word(limit)}, from: …}}, or name an account"
        " whose limit is of when releases are made"
    )
    raise refused(policy.file, "period" if policy.edition.column else "account", law, remedy)


def _check_notion(policy: Policy, charge: Charge, limit: Limit) -> None:
    if not limit.plan or charge.neighbours == limit.neighbours:
        return
    law = (
        f"guarantees {charge.neighbours}, and the plan of account {charge.account!r} is of"
        f" {limit.neighbours}: they do not add up"
    )
    remedy = (
        f"write neighbours: {limit.neighbours} in it, name another account, or write neighbours:"
        f" {charge.neighbours} beside the plan"
    )
    raise refused(policy.file, "guarantee", law, remedy)


def _word(limit: Limit) -> str:
    return "" if limit.each is None else limit.each.value


def charge_of(account: str, certificate: Certificate, policy: Policy) -> Charge:
    """What the ledger is asked to book to ``account`` for a certificate."""
    rate = certified_rate(policy.rate, policy.method)
    event, delta = charged(certificate.claim, certificate.promise, rate)
    return Charge(
        account=account,
        epsilon=certificate.promise.epsilon,
        delta=delta,
        neighbours=certificate.promise.neighbours,
        policy_name=certificate.terms.policy_name,
        policy_digest=certificate.terms.policy_digest,
        certificate_digest=predicate_digest(predicate_of(certificate)),
        event=event,
        unit=certificate.unit,
        follows=policy.follows is not None and not policy.follows.planned,
    )


def charge_of_choice(stated: ChoiceStated) -> Charge:
    """What the ledger is asked to book for a private choice: ε of it, and nothing more."""
    return Charge(
        account=stated.account,
        epsilon=stated.epsilon,
        delta=Decimal(0),
        neighbours="replace_one" if stated.neighbours == REPLACE_ONE else "add_remove",
        policy_name=requests.choice_name(stated.policy_name, stated.kind),
        policy_digest=stated.policy_digest,
        certificate_digest=predicate_digest(stated.predicate()),
        event=DrawnChoice(stated.epsilon),
        unit=stated.unit,
    )

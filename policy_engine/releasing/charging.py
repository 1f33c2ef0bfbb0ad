"""What a release is of, where it goes, and what the ledger is asked to book for it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from policy_engine.attest.certificates import predicate_of
from policy_engine.attest.keys import key_id
from policy_engine.attest.parquet_file import predicate_digest
from policy_engine.compile.catalog import Table
from policy_engine.kernel.certificate import Certificate
from policy_engine.kernel.mechanisms.events import charged
from policy_engine.kernel.mechanisms.sampled_suppression.law import certified_rate
from policy_engine.ledger.account import Account, Limit
from policy_engine.ledger.asked import Asked
from policy_engine.ledger.entry import Charge, Entry
from policy_engine.ledger.states import NAMED_BY
from policy_engine.policy.project import Project
from policy_engine.policy.resolve import Policy
from policy_engine.releasing import planning, requests
from policy_engine.releasing.books import limit_of
from policy_engine.releasing.naming import in_some_edition
from policy_engine.warehouse.base import Warehouse
from policy_engine.warehouse.connecting import resolved


@dataclass(frozen=True)
class ReleasePlan:
    """A policy, the connection to its source, and what is certified of it: nothing ran yet."""

    policy: Policy
    project: Project
    warehouse: Warehouse
    certificate: Certificate
    table: Table

    @cached_property
    def account(self) -> str:
        """The account that pays."""
        return planning.paying_account(self.policy, self.project, self.table)

    @property
    def limit(self) -> Limit | None:
        """What the project file says that its account may spend."""
        return limit_of(self.policy, self.project, self.account)

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
            claim = self.certificate.claim
            count = () if claim.count is None else (claim.count,)
            names = (*claim.released, *count, *claim.law.beside)
            self.warehouse.check_added(self.warehouse.target(relation or ""), names)
        if writes and relation is not None:
            self.warehouse.check_writes(self.warehouse.target(relation), query)

    @property
    def place(self) -> str:
        """What the ledger calls the place of its releases."""
        return requests.place_of(self.policy.name, self.ends, self.policy.edition.name)

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
        """What its account is asked for one release, in whatever window."""
        return charge_of(self.account, self.certificate, self.policy).asked

    def charge(self) -> Charge:
        """What the ledger is asked to book, as far as the certificate says."""
        return charge_of(self.account, self.certificate, self.policy)

    def names(self, naming: X25519PrivateKey) -> requests.SourceNames:
        """What the ledger calls its source."""
        policy, project, warehouse = self.policy, self.project, self.warehouse
        source = names_of_source(policy, project, warehouse, self.table, naming)
        read = planning.table_read(policy, self.table)
        named = resolved(planning.warehouse_of(policy, project))
        return requests.SourceNames(
            source,
            beside=requests.names_beside(policy, project, named, read, naming),
            part=requests.part_of(self.certificate, source["place"], naming),
            key_stays=policy.source.key_stays,
        )


def plan_of(policy: Policy, project: Project, warehouse: Warehouse) -> ReleasePlan:
    """The plan of a policy, with the errors of ``planning.vouched_for``.

    Of one whose edition is not named it is that of the first period, as of any other.
    """
    policy = in_some_edition(policy, project)
    return ReleasePlan(
        policy, project, warehouse, *planning.vouched_for(policy, project, warehouse)
    )


@contextmanager
def planned(policy: Policy, project: Project) -> Iterator[ReleasePlan]:
    """The plan of a policy while the body runs; nothing can be written through it."""
    with closing(planning.open_warehouse(policy, project, writes=False)) as warehouse:
        yield plan_of(policy, project, warehouse)


def names_of_source(
    policy: Policy,
    project: Project,
    warehouse: Warehouse,
    table: Table,
    naming: X25519PrivateKey,
) -> dict[str, str]:
    """The name by which a ledger knows a source, of where it lies, and the key that names it."""
    named = resolved(planning.warehouse_of(policy, project))
    read = planning.table_read(policy, table)
    return {
        "place": requests.name_of_place(policy, project, named, read, naming),
        NAMED_BY: key_id(naming.public_key()),
    }


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
    )


def another_account(policy: Policy, last: Entry | None, account: Account) -> str:
    """That the releases in a place were charged to another account until now; else empty."""
    if last is None or last.account == account.name:
        return ""
    without = "" if account.limit is not None else ", which has no limit"
    return (
        f"{policy.name} was charged to account {last.account!r} until now (entry {last.id}); this"
        f" release is charged to account {account.name!r}{without}"
    )

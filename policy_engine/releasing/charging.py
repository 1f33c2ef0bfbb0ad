"""What a release is of, and what the ledger is asked to book for it."""

from __future__ import annotations

from dataclasses import replace as replace_field
from decimal import Decimal

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from policy_engine.accounting.domain import claimed
from policy_engine.accounting.events import Event, SampledSuppression, TableNoise, Unbounded
from policy_engine.accounting.exact import delta_exact
from policy_engine.attest.keys import key_id
from policy_engine.attest.predicates import Vouched, predicate_of
from policy_engine.attest.sealing import state_mac, state_salt
from policy_engine.attest.syntactic import Uncertified
from policy_engine.compile.catalog import Table
from policy_engine.errors import BudgetExceeded
from policy_engine.kernel.certificate import certified_rate
from policy_engine.kernel.charged import pure_event
from policy_engine.kernel.mechanisms import Noisy, Pure
from policy_engine.kernel.price import statistics_of
from policy_engine.ledger.account import Account
from policy_engine.ledger.entry import Charge, Entry
from policy_engine.ledger.states import NAMED_BY
from policy_engine.ledger.store import Ledger
from policy_engine.policy.project import Project
from policy_engine.policy.resolve import Policy
from policy_engine.releasing.below import table_read
from policy_engine.releasing.books import named_otherwise
from policy_engine.releasing.parts import part_of
from policy_engine.releasing.places import ends_of
from policy_engine.releasing.planning import warehouse_of
from policy_engine.releasing.requests import (
    Request,
    name_of_place,
    names_beside,
    predicate_digest,
    request_of,
)
from policy_engine.warehouse.base import Warehouse
from policy_engine.warehouse.profiles import resolved


def request_for(
    policy: Policy,
    project: Project,
    warehouse: Warehouse,
    naming: X25519PrivateKey,
    *,
    certificate: Vouched,
    table: Table,
) -> Request:
    """What is asked for: of the source as it is now."""
    named = resolved(warehouse_of(policy, project))
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


def check_payer(ledger: Ledger, project: Project, charge: Charge) -> None:
    """BudgetExceeded where the people of a charge pay from another account."""
    if twin := named_otherwise(ledger, project, charge.account):
        raise BudgetExceeded(twin)
    ledger.check_source(charge)


def another_account(policy: Policy, last: Entry | None, account: Account) -> str:
    """That the releases in a place were charged to another account until now; else empty."""
    if last is None or last.account == account.name:
        return ""
    without = "" if account.limit is not None else ", which has no limit"
    return (
        f"{policy.name} was charged to account {last.account!r} until now (entry {last.id}); this"
        f" release is charged to account {account.name!r}{without}"
    )

"""Charges that a ledger has forgotten, and certificates prove: found, and booked again.

A backup that is older than a release has not its charge, and a release beside it would be paid for
twice out of one budget. So nothing is charged on such a ledger until a person books what the
certificates in the project's folder prove. Whatever else it has forgotten, entries without a
release among it, no certificate tells.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from pathlib import Path

from policy_engine.accounting.domain import claimed
from policy_engine.accounting.events import Event, SampledSuppression, TableNoise, Unbounded
from policy_engine.accounting.exact import delta_exact
from policy_engine.attest.attestation import (
    Statement,
    open_envelope,
    stated_type,
)
from policy_engine.attest.certificates import certificate_in
from policy_engine.attest.parquet_file import predicate_digest
from policy_engine.attest.signers import writer_of
from policy_engine.errors import LedgerBroken, NotApproved, UsageError
from policy_engine.kernel.claim import Claim
from policy_engine.kernel.mechanisms import Noisy, Pure
from policy_engine.kernel.mechanisms.events import event_of
from policy_engine.kernel.price import statistics_of
from policy_engine.kernel.promise import Bounded, Promise
from policy_engine.ledger.entry import Charge, Entry
from policy_engine.ledger.store import Ledger
from policy_engine.ledger.witness import Witness
from policy_engine.policy.project import Project
from policy_engine.releasing import beginning, books
from policy_engine.releasing.publish import content_of

_WHY = "its certificate proves that it was released"
_CEILING = Context(prec=60, rounding=ROUND_CEILING)


@dataclass(frozen=True)
class Recalled:
    """A charge that was booked again: its entry, and the certificate that proves it."""

    entry: Entry
    certificate: Path


def recall(project: Project, account: str | None = None) -> tuple[Recalled, ...]:
    """Book to each account what certificates prove that was released, and the ledger forgot.

    Each is charged whatever the limit says, for it happened: to the account that its policy was
    charged to before, else to ``account``, else to the only one of the project file. What this
    machine had seen of the ledger is what it is from now on.

    Raises:
        UsageError: it is not known which account a release was charged to.
        LedgerError: the ledger fails, does not hold, or is another one than the project's.
    """
    signer = writer_of(project)
    with books.open_ledger(project, signer, compared=False) as ledger:
        ledger.verify()
        trusted = books.trusted_keys(project, signer)
        places = beginning.certificates_in(project.directory)
        opened = [
            (path, open_envelope(content_of(path), trusted, str(stated_type(content_of(path)))))
            for path in beginning.forgotten(places, ledger.entries(), trusted)
        ]
        charges = [
            (path, said, _charge(said, _account(said, path, project, ledger, account)))
            for path, said in opened
        ]
        booked = tuple(
            Recalled(_book(ledger, charge, said), path) for path, said, charge in charges
        )
        _remember(project, ledger)
    return booked


def _remember(project: Project, ledger: Ledger) -> None:
    """Let what this machine has seen of the ledger be what it is now, where that was more."""
    try:
        books.open_ledger(project).close()
    except LedgerBroken:
        project.witness.unlink(missing_ok=True)
    Witness(project.witness).remember(ledger.end())


def _account(
    said: Statement, path: Path, project: Project, ledger: Ledger, given: str | None
) -> str:
    """The account that a release was charged to."""
    name = certificate_in(said).terms.policy_name
    before = [entry.account for entry in ledger.entries() if entry.policy_name == name]
    if before:
        return before[-1]
    if given is not None:
        return given
    if len(project.accounts) == 1:
        return next(iter(project.accounts))
    raise UsageError(
        f"{path}: the ledger does not know which account {name!r} was charged to; nothing was"
        " booked: name it with --account"
    )


def _charge(said: Statement, account: str) -> Charge:
    """What a certificate proves that a release cost."""
    certificate = certificate_in(said)
    promise, terms = certificate.promise, certificate.terms
    event, delta = _event(certificate.claim, promise)
    return Charge(
        account=account,
        epsilon=promise.epsilon,
        delta=delta,
        neighbours=promise.neighbours,
        policy_name=terms.policy_name,
        policy_digest=terms.policy_digest,
        certificate_digest=predicate_digest(said.predicate),
        event=event,
    )


def _event(claim: Claim, promise: Promise) -> tuple[Event | None, Decimal]:
    """What happened, as the accountant prices it, and its δ: as ``charging.event_of``."""
    notion, delta, law = promise.neighbours, promise.delta, claim.law
    if not isinstance(promise, Bounded):
        return Unbounded(), delta
    if isinstance(law, Noisy):
        return TableNoise(statistics_of(claim, law, notion)), delta
    if isinstance(law, Pure):
        return event_of(law, notion), delta
    rate = promise.rate
    if promise.sampled_at != 1:
        # Releases of one source share the sample that it is, and compose without it.
        rate = _CEILING.divide(rate, promise.sampled_at)
        delta = claimed(delta_exact(law.k, rate, promise.epsilon, notion).delta)
    return SampledSuppression(law.k, rate), delta


def _book(ledger: Ledger, charge: Charge, said: Statement) -> Entry:
    """Charge a release that is out, and settle its entry: it was published."""
    entry = ledger.start(ledger.reserve(charge, is_out=True).id)
    ledger.draw(entry.id, said.subject_sha256)
    try:
        return ledger.commit(
            entry.id, release_name=said.subject_name, release_digest=said.subject_sha256
        )
    except NotApproved:  # by its account's people, of whom nobody knows what they approved
        return ledger.keep(entry.id, _WHY)

"""The certificate of a noiseless count: another kind of statement than a release certificate.

It speaks of no file, no SQL text and no mechanism. It says what an exact count is worth against an
adversary who does not know some of the records, so its assumptions come first, and they are made
here from its numbers: nobody can state others. Its predicate type is its own, so that neither
``verify_release`` nor a ledger ever takes it for a release.

The subject of an in-toto statement is a thing with a digest. A count has none, so the subject is
the claim itself: the SHA-256 of the predicate without its time, as canonical JSON. Two
certificates of one claim have one subject.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from decimal import Context, Decimal

from policy_engine.accounting.domain import claimed, decimal, nonnegative_epsilon
from policy_engine.accounting.in_words import in_text
from policy_engine.accounting.partial_knowledge import (
    delta_count,
    least_uncertainty,
    unknown_records,
)
from policy_engine.attest.attestation import Statement, open_envelope, statement
from policy_engine.attest.keys import TrustedKeys
from policy_engine.attest.results import Verified
from policy_engine.errors import DomainError, VerificationFailed
from policy_engine.kernel.certificate import now
from policy_engine.values import frozen

COUNT_PREDICATE_TYPE = "https://policy-engine.dev/noiseless-count/v1"
SUBJECT = "noiseless-count-claim"

KIND = (
    "another kind of statement: a noiseless count under partial knowledge, not a release"
    " certificate"
)
PROTECTS = "whether any one of the unknown records has the counted property"
LIMITS = (
    "it never enters an account: no ledger takes it, and its ε adds up with nothing",
    "it does not compose: of counts that share an unknown record it says nothing, only of counts"
    " over disjoint new users",
)


@frozen
class CountCertificate:
    """A bound δ at ``epsilon`` for N = ``unknown`` and λ = ``floor``, [PK]: ``certify_count``."""

    unknown: int
    floor: Decimal
    epsilon: Decimal
    delta: Decimal
    time: str

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What must be true of the adversary and of the records, in plain words."""
        rest = Context(prec=2000).subtract(Decimal(1), self.floor)
        return (
            f"the adversary does not know the values of at least {self.unknown} of the counted"
            " records, the protected one among them",
            "to the adversary these records are independent of each other and of all they know",
            "to the adversary each of them has the counted property with a probability from"
            f" {self.floor:f} to {rest:f}",
            "nothing made from these records is published, except this exact count, once",
        )

    def predicate(self) -> dict[str, object]:
        """The predicate of its in-toto Statement, version 1; sorted, the assumptions lead."""
        return {
            "assumptions": self.assumptions,
            "bound": "numeric",
            "delta": str(self.delta),
            "epsilon": f"{self.epsilon:f}",
            "kind": KIND,
            "lambda": f"{self.floor:f}",
            "limits": LIMITS,
            "mechanism": "noiseless-count",
            "protects": PROTECTS,
            "source_tag": "[PK]",
            "time": self.time,
            "unknown": self.unknown,
            "version": 1,
        }

    def statement(self) -> bytes:
        """The in-toto Statement to sign, of its own predicate type."""
        predicate = self.predicate()
        return statement(SUBJECT, claim_digest(predicate), predicate, COUNT_PREDICATE_TYPE)


def certify_count(unknown: int, floor: Decimal | str, epsilon: Decimal | str) -> CountCertificate:
    """The certificate of one exact count, for N unknown records and λ, at ε, [PK].

    Guarantee: under the certificate's assumptions the count is ε-indistinguishable but for δ, in
    both directions, whichever of the N records has the property or has not. Nothing is read and
    nothing is charged. Errors: DomainError.

    >>> certificate = certify_count(1000, "0.1", "0.5")
    >>> certificate.delta, next(iter(certificate.predicate()))
    (Decimal('0.0000128135199108'), 'assumptions')
    """
    unknown, floor = unknown_records(unknown), least_uncertainty(floor)
    epsilon = nonnegative_epsilon(epsilon)
    delta = claimed(delta_count(unknown, floor, epsilon))
    return CountCertificate(unknown, floor, epsilon, delta, now())


def claim_digest(predicate: Mapping[str, object]) -> str:
    """SHA-256, in hex, of a predicate without its time, as canonical JSON: the subject.

    >>> claim_digest({"a": 1, "time": "now"}) == claim_digest({"time": "later", "a": 1})
    True
    """
    claim = {name: value for name, value in predicate.items() if name != "time"}
    text = json.dumps(claim, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def verify_count(envelope: str, trusted: TrustedKeys) -> Verified:
    """Verify the text of a certificate that ``certify_count`` made and a trusted key signed.

    The signature comes first, then that the assumptions and limits are those of the numbers, the
    subject, and δ, computed anew.

    Raises:
        VerificationFailed: with every reason; a release certificate is refused.
    """
    opened = open_envelope(envelope, trusted, COUNT_PREDICATE_TYPE)
    facts, found = dict(opened.predicate), _stated(opened)
    wanted, reasons = found.predicate(), []
    # With its type: in Python, true is 1.
    wrong = [
        ascii(name)
        for name in sorted(facts.keys() | wanted.keys())
        if (type(facts.get(name)), facts.get(name)) != (type(wanted.get(name)), wanted.get(name))
    ]
    if wrong:
        reasons.append(f"the certificate lacks or misstates: {', '.join(wrong)}")
    if (opened.subject_name, opened.subject_sha256) != (SUBJECT, claim_digest(wanted)):
        reasons.append("its subject is not the digest of its claim")
    least = delta_count(found.unknown, found.floor, found.epsilon)
    shown = f"δ = {in_text(found.delta)} at ε = {in_text(found.epsilon)}, N = {found.unknown}"
    shown += f", λ = {found.floor:f}"
    if found.delta < least:
        reasons.append(f"{shown}: the bound is {in_text(least)}")
    if reasons:
        raise VerificationFailed(tuple(reasons))
    checked = (
        f"signed by {opened.key_id}",
        "its assumptions and limits are those of its numbers",
        "its subject is the digest of its claim",
        f"{shown}: recomputed [PK]",
    )
    left = "the count itself is not part of the certificate, and no assumption can be checked"
    numbers: tuple[tuple[str, str | int], ...] = (
        ("unknown", found.unknown),
        *((name, str(wanted[name])) for name in ("lambda", "epsilon", "delta")),
    )
    return Verified(SUBJECT, checked, (left,), found.assumptions, numbers=numbers)


def _stated(opened: Statement) -> CountCertificate:
    """The certificate that the numbers of a predicate make."""
    facts = opened.predicate
    names = ("lambda", "epsilon", "delta", "time")
    if wrong := [name for name in names if not isinstance(facts.get(name), str)]:
        raise VerificationFailed((f"the certificate lacks or misstates: {', '.join(wrong)}",))
    try:
        return CountCertificate(
            unknown=unknown_records(facts.get("unknown")),
            floor=least_uncertainty(facts["lambda"]),
            epsilon=nonnegative_epsilon(facts["epsilon"]),
            delta=decimal("delta", "a number", facts["delta"]),
            time=str(facts["time"]),
        )
    except DomainError as error:
        outside = f"the numbers are outside the formula's domain: {error.parameter}"
        raise VerificationFailed((outside,)) from None

"""Approvals: one signed statement each of what somebody has judged, and the count of them.

A review is of a ``Matter``: a claim and its price, a release's digest, or a change. A request names
it, signed by who asks, and has a number of its own, so that it pays for one charge. An approval
names the matter and the request again, with a verdict, a role and a time. Both are in-toto
Statements in DSSE envelopes, and not second signatures over a certificate: these would say no
verdict, role or time, and would change bytes that a rerun gives again.

Who signed is known by the key that verifies, never by the key id that an envelope states. Whose
approval counts for an account are people with one role and keys of their own. The keys stand in the
review policy, so that whoever has its digest has the keys too; a person with two keys is one
person. The ledger has the policy in force: see ``ledger.reviews``.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import field
from datetime import UTC, datetime, time, timedelta
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, get_args

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from policy_engine.attest.attestation import (
    Envelope,
    Json,
    Statement,
    open_envelope,
    sign,
    statement,
    unverified,
)
from policy_engine.attest.keys import WEAK, TrustedKeys, is_weak, key_id
from policy_engine.attest.signers import Signer
from policy_engine.attest.validity import moment, written
from policy_engine.errors import PolicyError, Problem, VerificationFailed
from policy_engine.policy.review_models import STAGES, read_review_document
from policy_engine.values import frozen

APPROVAL = "https://policy-engine.dev/approval/v1"
REVIEW_REQUEST = "https://policy-engine.dev/review-request/v1"
Verdict = Literal["approved", "rejected"]
Stage = Literal["claim", "release", "change"]

_SKEW = timedelta(minutes=5)
"""So far may the clock of who approves be ahead of the ledger's."""
_ALWAYS = {"version", "stage", "review_policy", "of", "time"}
_REQUEST = {*_ALWAYS, "number", "last", "account", "beside"}
_APPROVAL = {*_ALWAYS, "request", "verdict", "role", "note"}


@frozen
class Approver:
    """A person who may approve: their name, role and the ids of their keys."""

    name: str
    role: str
    keys: tuple[str, ...]


@frozen
class ReviewPolicy:
    """Who approves what of an account; ``document`` is what its digest is of.

    ``needs`` is how many people of which role a stage asks for: ``claim`` before a charge,
    ``release`` before it is put in its place, ``change`` of the limit or of this policy.
    """

    account: str
    serial: int
    people: tuple[Approver, ...]
    needs: Mapping[Stage, Mapping[str, int]]
    four_eyes: bool
    lasts: timedelta
    until: datetime
    keys: Mapping[str, Ed25519PublicKey]
    document: Mapping[str, object]

    @property
    def digest(self) -> str:
        """SHA-256 of what it says."""
        return document_digest(self.document)

    @property
    def holds_back(self) -> bool:
        """Whether a release of the account waits for anybody."""
        return bool(self.needs["claim"] or self.needs["release"])

    @property
    def alone(self) -> tuple[Approver, ...]:
        """The people without one of whose keys nothing of the account could be changed any more.

        Another review policy is approved by its people, so an account whose change nobody can
        approve stays as it is for good.
        """
        return tuple(
            each for each in self.people if any(not self._can_change(key) for key in each.keys)
        )

    def _can_change(self, lost: str) -> bool:
        """Whether a change can be asked for and approved once a key is lost."""
        left = [each for each in self.people if set(each.keys) - {lost}]

        def meets(asker: Approver) -> bool:
            count = Counter(p.role for p in left if not self.four_eyes or p is not asker)
            return all(count[role] >= needed for role, needed in self.needs["change"].items())

        return any(map(meets, left))

    def person(self, key: str) -> Approver:
        """Whose key this is; KeyError for a stranger's."""
        return next(each for each in self.people if key in each.keys)

    def trusted(self, revoked: frozenset[str]) -> TrustedKeys:
        """The keys that count."""
        found = {name: key for name, key in self.keys.items() if name not in revoked}
        return TrustedKeys(MappingProxyType(found))


def document_digest(document: Mapping[str, object]) -> str:
    """SHA-256 of a JSON document, its keys sorted, with the name of the law in front.

    >>> document_digest({})
    'sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a'
    """
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def review_policy(text: str, where: Path) -> ReviewPolicy:
    """The review policy that a text writes; PolicyError with every problem."""
    found = read_review_document(text, where)
    keys: dict[str, Ed25519PublicKey] = {}
    people = []
    for name, person in found.people.items():
        own = [Ed25519PublicKey.from_public_bytes(raw) for raw in person.keys]
        if any(map(is_weak, own)):
            problem = Problem(str(where), 0, 0, "people", f"people.{name}: a key {WEAK}")
            raise PolicyError((problem,))
        keys |= {key_id(key): key for key in own}
        people.append(Approver(name, person.role, tuple(map(key_id, own))))
    needs: dict[Any, Mapping[str, int]] = {stage: dict(getattr(found, stage)) for stage in STAGES}
    return ReviewPolicy(
        account=found.account,
        serial=found.serial,
        people=tuple(people),
        needs=MappingProxyType(needs),
        four_eyes=found.four_eyes,
        lasts=timedelta(days=found.days),
        until=datetime.combine(found.expires, time.max, UTC),
        keys=MappingProxyType(keys),
        document=found.to_json(),
    )


@frozen
class Matter:
    """What is to be approved: a subject, and in ``of`` whatever else it depends on."""

    stage: Stage
    name: str
    sha256: str
    of: Mapping[str, str]

    def is_of(self, found: Statement) -> bool:
        """Whether a statement is about it."""
        said = (found.subject_name, found.subject_sha256, found.predicate.get("stage"))
        return said == (self.name, self.sha256, self.stage) and found.predicate["of"] == self.of


@frozen
class Brought:
    """A request and the lines of its approvals, as somebody brought them; nothing is verified.

    ``file`` is where the request stands, for messages.
    """

    request: str = ""
    approvals: tuple[str, ...] = ()
    file: str = field(default="", compare=False)

    @cached_property
    def request_sha256(self) -> str:
        """The number by which approvals name the request; empty where there is none.

        >>> Brought().request_sha256, Brought("no envelope").request_sha256
        ('', '')
        """
        if not self.request:
            return ""
        try:
            return hashlib.sha256(Envelope.from_json(self.request).payload).hexdigest()
        except VerificationFailed:
            return ""

    @property
    def digests(self) -> tuple[str, ...]:
        """SHA-256 of each line."""
        return tuple(hashlib.sha256(line.encode()).hexdigest() for line in self.approvals)

    def to_json(self) -> dict[str, object]:
        """The request with its number, and the lines."""
        return {
            "request_sha256": self.request_sha256,
            "request": self.request,
            "approvals": list(self.approvals),
        }

    @classmethod
    def from_json(cls, told: Mapping[str, Any]) -> Brought:
        """What a record says was brought; nothing where it says nothing."""
        return cls(str(told.get("request", "")), tuple(map(str, told.get("approvals", ()))))


@frozen
class Tally:
    """Which approvals count, and what is missing; it is met where ``faults`` is empty.

    ``counted`` are the name, role and line of those that count; ``refused`` says why others do not;
    ``rejected`` are the name and the note of who has rejected it, ``waits_for`` the people, with
    their roles, who could give what is missing.
    """

    counted: tuple[tuple[str, str, str], ...]
    faults: tuple[str, ...]
    refused: tuple[str, ...] = ()
    rejected: tuple[tuple[str, str], ...] = ()
    waits_for: tuple[str, ...] = ()


def ask(
    matter: Matter,
    policy: str,
    signer: Signer,
    at: datetime,
    *,
    last: str = "",
    account: Mapping[str, object] | None = None,
    beside: str = "",
) -> str:
    """A signed request for approvals of a matter, under the review policy of this digest.

    ``last`` is the digest of what was approved before it, empty for nothing: a ledger in which
    that is another serves nobody by this request. ``account`` is how the account would stand, and
    ``beside`` a column of the source that by its name says whose row it is, where a row is a unit.
    """
    told = {"number": secrets.token_hex(16), "last": last, "account": dict(account or {})}
    return _signed(matter, policy, signer, at, REVIEW_REQUEST, beside=beside, **told)


def judge(
    matter: Matter,
    policy: str,
    brought: Brought,
    signer: Signer,
    at: datetime,
    *,
    verdict: Verdict,
    role: str,
    note: str = "",
) -> str:
    """A signed verdict of a matter: one line."""
    told = {"request": brought.request_sha256, "verdict": verdict, "role": role, "note": note}
    return _signed(matter, policy, signer, at, APPROVAL, **told)


def _signed(
    matter: Matter, policy: str, signer: Signer, at: datetime, kind: str, **more: Any
) -> str:
    told = {
        "version": 1,
        "stage": matter.stage,
        "review_policy": policy,
        "of": dict(matter.of),
        "time": written(at),
        **more,
    }
    return sign(statement(matter.name, matter.sha256, told, kind), signer).to_json()


def tally(
    policy: ReviewPolicy,
    matter: Matter,
    brought: Brought,
    at: datetime,
    revoked: frozenset[str] = frozenset(),
) -> Tally:
    """Count the approvals of a matter as of ``at``, a time of the ledger.

    Guarantee: it is met only where for each role as many distinct people as are needed have
    approved just this, for just this request, with a key that is theirs and not revoked, within the
    time that an approval counts; nobody of them has asked for it where the policy says four eyes;
    and nobody has rejected it. The order of lines, lines that are there twice and lines of anything
    else are of no account.
    """
    needs = policy.needs[matter.stage]
    if not needs:
        return Tally((), ())
    counting = _Counting(policy, matter, brought, at, revoked)
    try:
        asker = counting.asker()
    except VerificationFailed as error:
        return Tally((), (str(error),))
    approved, rejected, refused = counting.sorted(asker)
    found = Counter(role for _, role, _ in approved)
    faults = [
        f"{needed - found[role]} more of role {role}"
        for role, needed in needs.items()
        if found[role] < needed
    ]
    faults += [rejection_words(name, note) for name, note in rejected]
    short = {role for role, needed in needs.items() if found[role] < needed}
    able = () if rejected else counting.able(asker, {name for name, _, _ in approved})
    waits = tuple(f"{each.name} ({each.role})" for each in able if each.role in short)
    return Tally(tuple(approved), tuple(faults), tuple(refused), tuple(rejected), waits)


def rejection_words(name: str, note: str) -> str:
    """That somebody has rejected a request, and why.

    >>> rejection_words("Ben", "too fine"), rejection_words("Ben", "")
    ('Ben has rejected it: "too fine"', 'Ben has rejected it')
    """
    return f"{name} has rejected it" + (f": {json.dumps(note, ensure_ascii=False)}" if note else "")


@frozen
class _Counting:
    policy: ReviewPolicy
    matter: Matter
    brought: Brought
    at: datetime
    revoked: frozenset[str]

    def asker(self) -> Approver:
        """Who has asked; VerificationFailed where nothing can be approved by this request."""
        if self.at > self.policy.until:
            raise _no(f"the review policy expired on {written(self.policy.until)}")
        if not self.brought.request:
            raise _no("nobody has asked for approvals")
        try:
            key, said = self._opened(self.brought.request, REVIEW_REQUEST, _REQUEST)
            self._check_time(said)
        except VerificationFailed as error:
            raise _no(f"the request does not count: {error}") from None
        return self.policy.person(key)

    def able(self, asker: Approver, approved: set[str]) -> Iterator[Approver]:
        """Who has not approved and still could."""
        for each in self.policy.people:
            has_asked = self.policy.four_eyes and each == asker
            if each.name not in approved and not has_asked and {*each.keys} - self.revoked:
                yield each

    def sorted(
        self, asker: Approver
    ) -> tuple[list[tuple[str, str, str]], list[tuple[str, str]], list[str]]:
        """Who has approved, who has rejected and why, and why other lines do not count."""
        approved: dict[str, tuple[str, str, str]] = {}
        rejected, refused = dict[str, str](), []
        for number, line in enumerate(self.brought.approvals, start=1):
            try:
                if unverified(line, APPROVAL).predicate.get("stage") != self.matter.stage:
                    continue  # both stages stand in one file
                key, said = self._opened(line, APPROVAL, _APPROVAL)
                person = self.policy.person(key)
                self._check(person.role, said)
                if said["verdict"] == "approved":
                    self._check_time(said)
            except VerificationFailed as error:
                refused.append(f"line {number} of the approvals: {error}")
                continue
            if said["verdict"] == "rejected":
                rejected.setdefault(person.name, str(said["note"]))
            elif self.policy.four_eyes and person == asker:
                refused.append(f"line {number} of the approvals: {person.name} has asked for it")
            else:
                approved.setdefault(person.name, (person.name, person.role, line))
        return [*approved.values()], [*rejected.items()], refused

    def _opened(self, text: str, kind: str, fields: set[str]) -> tuple[str, Mapping[str, Json]]:
        """The key that signed a statement of this matter, and what it says."""
        trusted = self.policy.trusted(self.revoked)
        key = Envelope.from_json(text).key_id
        if key in self.revoked and key in self.policy.keys:
            raise _no(f"a key of {self.policy.person(key).name} that was revoked signed it")
        if key not in trusted.by_id:
            raise _no("its key is nobody's in the review policy")
        found = open_envelope(text, trusted, kind)
        said = found.predicate
        if set(said) != fields or said["version"] != 1:
            raise _no("it is of another version")
        if not self.matter.is_of(found):
            raise _no("it is about another claim, result or change")
        if said["review_policy"] != self.policy.digest:
            raise _no("it is of another review policy")
        return found.key_id, said

    def _check_time(self, said: Mapping[str, Json]) -> None:
        signed = moment(said["time"])
        if signed is None or signed > self.at + _SKEW:
            raise _no("it states a time that has not come")
        if signed + self.policy.lasts < self.at:
            raise _no(f"it counted until {written(signed + self.policy.lasts)}")

    def _check(self, role: str, said: Mapping[str, Json]) -> None:
        if said["request"] != self.brought.request_sha256:
            raise _no("it answers another request")
        if said["verdict"] not in get_args(Verdict):
            raise _no("it has no verdict that is known")
        # A rejection stops a release whatever role and time it states: a slip must not undo it.
        if said["verdict"] == "approved" and said["role"] != role:
            raise _no(f"it is of another role than its signer's, {role}")


def _no(why: str) -> VerificationFailed:
    return VerificationFailed((why,))


def lines_of(text: str) -> Iterator[str]:
    """The lines of a bundle of approvals.

    >>> list(lines_of("a\\n\\nb\\n"))
    ['a', 'b']
    """
    return (line for line in text.split("\n") if line.strip())

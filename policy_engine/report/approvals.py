"""Approvals of a release: whose each is and whether it counted, as the ledger says.

The ledger's word is what was recorded with the charge; a line that was not recorded is judged alone
by the same law, to say why it is not among them. Where no ledger is here, a line says which key it
names, and nobody knows whose that is, but for a reader who has the review policy: they see whose
good signatures are there. What a file cannot say: whether a line was lost, whether a key was
revoked since, who asked, and whether an approval was in time. No key that counts for an approval
says anything of the certificate.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from policy_engine.attest import approvals, attestation
from policy_engine.attest.approvals import review_policy as parsed
from policy_engine.attest.parquet_file import CERTIFICATE_SUFFIX, plain, predicate_digest
from policy_engine.attest.results import Verified
from policy_engine.attest.validity import moment
from policy_engine.errors import FileError, UsageError, VerificationFailed
from policy_engine.ledger.entry import StageReview
from policy_engine.ledger.reviews import Required, claim_of, release_of, signer_in
from policy_engine.opening import opened
from policy_engine.policy.reading import read_text
from policy_engine.values import frozen

if TYPE_CHECKING:
    from policy_engine.attest.keys import TrustedKeys
    from policy_engine.ledger.entry import Entry
    from policy_engine.releasing.ledger_state import LedgerState

SUFFIX = ".approvals.intoto.jsonl"
_ELSEWHERE = "only the review policy says who has this key, and it is not here"
_NOT_ASKED = "nobody was asked to approve this"


Standing = Literal["counted", "not counted", "signed", "not known", "broken"]


@frozen
class ApprovalLine:
    """What a line of a bundle says, and what is known of it.

    A text is None where the line does not state it, ``person`` where nobody is known by the key.
    ``fault`` is why it is neither counted nor signed.
    """

    verdict: str | None
    role: str | None
    time: str | None
    note: str | None
    subject: str | None
    sha256: str | None
    key_id: str | None
    person: str | None
    standing: Standing
    fault: str


@frozen
class LedgersWord:
    """What a charge had to have of one stage, and had; no ``matter`` where nobody was asked."""

    stage: str
    needs: Mapping[str, int]
    required: Required
    matter: approvals.Matter | None
    brought: approvals.Brought
    at: datetime

    def words(self) -> str:
        """What was required, and that it was met: nothing else is recorded."""
        wanted = ", ".join(f"{n} of role {role}" for role, n in self.needs.items()) or "nobody"
        met = "all were given" if self.matter else "released without them"
        return (
            f"for the {self.stage}: {wanted}; {met} (review policy"
            f" {self.required.policy.serial}, {self.required.policy.digest[:15]})"
        )

    def why_not(self, line: str, time: str | None) -> str:
        """Why a line of this stage did not count; empty where it did."""
        if line in self.brought.approvals:
            return ""
        if self.matter is None:
            return "the release was made without approvals"
        signed = None if time is None else moment(time)
        if signed is not None and signed > self.at:
            return "it came after the ledger counted the approvals"
        alone = approvals.Brought(self.brought.request, (line,))
        found = approvals.tally(
            self.required.policy, self.matter, alone, self.at, self.required.revoked
        )
        if found.refused:
            return found.refused[0].removeprefix("line 1 of the approvals: ")
        if found.counted or not found.faults:
            return "the ledger did not need it, or it came too late"
        return found.faults[-1]


def judged_of(state: LedgerState, stated: attestation.Unverified) -> tuple[LedgersWord, ...] | None:
    """What was judged of a certificate's charge; None where no entry is of it."""
    entry = state.charged_for(predicate_digest(stated.predicate), stated.subject_sha256)
    if entry is None:
        return None
    return tuple(_judged(entry, each, state.required[each.record]) for each in entry.reviews)


def _judged(entry: Entry, review: StageReview, required: Required) -> LedgersWord:
    matter, at = None, review.at or entry.reserved_at
    if not review.is_out:
        is_claim = review.stage == "claim"
        matter = claim_of(entry) if is_claim else release_of(entry, review.release_digest)
    return LedgersWord(review.stage, review.needs, required, matter, review.brought, at)


def read_approvals(
    certificate: Path,
    keys: TrustedKeys,
    judged: tuple[LedgersWord, ...] | None,
    policy: approvals.ReviewPolicy | None = None,
) -> tuple[ApprovalLine, ...]:
    """The lines that stand beside a certificate, and those that the ledger has kept of it.

    Guarantee: the ``standing`` of a line is ``counted`` where the ledger has recorded it with the
    charge, else ``not counted``; without a ledger it is ``signed`` where a trusted key has signed
    it, or ``not known``. A line that is none is ``broken``. Raises FileError where the file is
    there and cannot be read.
    """
    kept = (line for each in judged or () for line in each.brought.approvals)
    lines = dict.fromkeys((*approvals.lines_of(bundle_beside(certificate)), *kept))
    return tuple(_line(line, keys, judged, policy) for line in lines)


def bundle_beside(certificate: Path) -> str:
    """The text of the bundle beside a certificate, empty where there is none."""
    name = certificate.name
    stems = (name.removesuffix(CERTIFICATE_SUFFIX), certificate.stem)
    found = (certificate.with_name(f"{stem}{SUFFIX}") for stem in stems)
    path = next((path for path in found if path.is_file()), None)
    if path is None:
        return ""
    try:
        with opened(path) as file:
            return file.read(attestation.LARGEST_ENVELOPE).decode()
    except (OSError, UnicodeDecodeError):
        raise FileError(f"{path} could not be read: it is no text") from None


def _line(
    line: str,
    keys: TrustedKeys,
    judged: tuple[LedgersWord, ...] | None,
    policy: approvals.ReviewPolicy | None,
) -> ApprovalLine:
    try:
        envelope = attestation.Envelope.from_json(line)
    except VerificationFailed as error:
        return _told({}, None, None, "broken", str(error))
    try:
        said = _object(json.loads(envelope.payload))  # whoever signed it
    except (UnicodeDecodeError, ValueError, RecursionError):
        said = {}
    key, told = envelope.key_id, _object(said.get("predicate"))
    if judged is None and policy is not None and (whose := signer_in(policy, line)) is not None:
        return _told(said, key, whose.name, "signed", "")
    if judged is None:
        return _told(said, key, None, *_signed(line, envelope, keys))
    own = next((each for each in judged if each.stage == told.get("stage")), None)
    if own is None:
        return _told(said, key, None, "not counted", _NOT_ASKED)
    person = signer_in(own.required.policy, line)
    why = own.why_not(line, _text(told, "time"))
    name = None if person is None else person.name
    return _told(said, key, name, "not counted" if why else "counted", why)


def _signed(line: str, envelope: attestation.Envelope, keys: TrustedKeys) -> tuple[Standing, str]:
    """Whether a trusted key has signed a line; a stranger's may be good for all that is known."""
    try:
        attestation.open_envelope(line, keys, attestation.stated_type(line) or "a statement")
    except VerificationFailed as error:
        is_known = envelope.key_id in keys.by_id or not envelope.key_id
        return ("broken", str(error)) if is_known else ("not known", _ELSEWHERE)
    return "signed", ""


def _told(
    said: Stated, key_id: str | None, person: str | None, standing: Standing, fault: str
) -> ApprovalLine:
    """What is said of a line; what is of another form is not stated."""
    told, subjects = _object(said.get("predicate")), said.get("subject")
    subject = _object(subjects[0]) if isinstance(subjects, list) and subjects else {}
    return ApprovalLine(
        verdict=_text(told, "verdict"),
        role=_text(told, "role"),
        time=_text(told, "time"),
        note=_text(told, "note"),
        subject=_text(subject, "name"),
        sha256=_text(_object(subject.get("digest")), "sha256"),
        key_id=key_id,
        person=person,
        standing=standing,
        fault=fault,
    )


Stated = Mapping[str, object]
"""An object of JSON that anybody may have written: nothing is known of its values."""


def _text(found: Stated, name: str) -> str | None:
    text = found.get(name)
    return text if isinstance(text, str) else None


def _object(found: object) -> Stated:
    return found if isinstance(found, dict) else {}


UNKNOWN = (
    "whether lines of the bundle are missing, a key was revoked, an approval came in time, or its"
    " signer had asked for it: the ledger knows"
)


@frozen
class StageApprovals:
    """Who has approved a stage, by name and role, in answer to one request.

    ``missing`` is how many more people of a role the review policy asks for, ``rejected`` names who
    has said no, and why.
    """

    stage: approvals.Stage
    people: tuple[tuple[str, str], ...]
    missing: Mapping[str, int]
    rejected: tuple[tuple[str, str], ...]

    @property
    def faults(self) -> tuple[str, ...]:
        """What speaks against it."""
        more = [f"{count} more of role {role}" for role, count in self.missing.items()]
        said_no = [approvals.rejection_words(name, note) for name, note in self.rejected]
        return tuple(f"approvals of the {self.stage}: {each}" for each in (*more, *said_no))

    def words(self) -> str:
        """Who has approved it."""
        told = ", ".join(f"{name} ({role})" for name, role in self.people)
        return f"the {self.stage} is approved by {told}: as many as the review policy asks for"


class _Approval(NamedTuple):
    stage: str
    request: str
    person: tuple[str, str]
    is_rejected: bool
    note: str


def count_approvals(
    lines: Iterable[str], certificate: str, policy: approvals.ReviewPolicy
) -> tuple[StageApprovals, ...]:
    """The approvals of each stage that needs some, of a certificate that was verified.

    Guarantee: who is named has signed, with a key that the review policy says is theirs, that they
    approve this certificate in their own role, under this review policy. Of several requests that
    one counts that the least speaks against: a rejection ends the request that it answers, and no
    other, as it does for the ledger.
    """
    found = [each for line in lines if (each := _read(line, certificate, policy)) is not None]
    stages: tuple[approvals.Stage, ...] = ("claim", "release")
    return tuple(_counted(stage, found, policy) for stage in stages if policy.needs[stage])


def read_review_policy(file: Path) -> approvals.ReviewPolicy:
    """The review policy in a file that somebody trusts; UsageError where it asks for nothing."""
    policy = parsed(read_text(file, "review policy"), file)
    if not policy.holds_back:
        raise UsageError(f"{file} asks for no approvals; leave --review-policy out")
    return policy


def counted_beside(
    text: str, certificate: Path, policy: approvals.ReviewPolicy
) -> tuple[StageApprovals, ...]:
    """The approvals of a certificate in the bundle beside it, by stage that needs some."""
    return count_approvals(approvals.lines_of(bundle_beside(certificate)), text, policy)


def with_approvals(found: Verified, text: str, certificate: Path, review_policy: Path) -> Verified:
    """What was checked of a certificate, and the approvals in the bundle beside it.

    Raises VerificationFailed where some are missing, PolicyError and FileError for the files.
    """
    policy = read_review_policy(review_policy)
    counted = counted_beside(text, certificate, policy)
    if faults := tuple(fault for each in counted for fault in each.faults):
        raise VerificationFailed(faults)
    told = [f"{each.words()} ({review_policy}, {policy.digest[:15]})" for each in counted]
    return replace(found, checked=(*found.checked, *told), unchecked=(*found.unchecked, UNKNOWN))


def _counted(
    stage: approvals.Stage, found: list[_Approval], policy: approvals.ReviewPolicy
) -> StageApprovals:
    own = [each for each in found if each.stage == stage]
    made = []
    for request in {each.request: None for each in own} or [""]:
        said = [each for each in own if each.request == request]
        people = tuple(dict.fromkeys(each.person for each in said if not each.is_rejected))
        said_no = {each.person[0]: each.note for each in said if each.is_rejected}
        rejected = tuple(said_no.items())
        roles = Counter(role for _, role in people)
        needs = policy.needs[stage].items()
        missing = {role: count - roles[role] for role, count in needs if roles[role] < count}
        made.append(StageApprovals(stage, people, missing, rejected))
    return min(made, key=lambda each: sum(each.missing.values()) + len(each.rejected))


def _read(line: str, certificate: str, policy: approvals.ReviewPolicy) -> _Approval | None:
    """A line that says something of this certificate; None for every other."""
    try:
        found = attestation.open_envelope(line, policy.trusted(frozenset()), approvals.APPROVAL)
        person, said = policy.person(found.key_id), found.predicate
        stage, own = str(said["stage"]), attestation.unverified(certificate)
        is_rejected = said["verdict"] == "rejected"
        approves = said["verdict"] == "approved" and said["role"] == person.role
        is_under = said["version"] == 1 and said["review_policy"] == policy.digest
        of = said["of"]
        is_its = isinstance(of, Mapping) and _of(stage, own, policy).items() <= of.items()
        is_file = stage == "claim" or found.subject_sha256 == own.subject_sha256
    except (VerificationFailed, KeyError, TypeError, ValueError):
        return None
    if not (is_under and is_its and is_file and (is_rejected or approves)):
        return None
    who, note = (person.name, person.role), str(said["note"])
    return _Approval(stage, str(said["request"]), who, is_rejected, note)


def _of(
    stage: str, certificate: attestation.Unverified, policy: approvals.ReviewPolicy
) -> dict[str, str]:
    """What an approval of a stage must say of a certificate."""
    judged = plain(certificate.predicate)
    if stage == "claim":
        judged.pop("time")
    return {
        "account": policy.account,
        "policy": str(judged["policy"]["digest"]),
        "certificate": predicate_digest(judged),
    }

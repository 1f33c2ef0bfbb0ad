"""Approvals of a release counted from files alone: the certificate, its bundle, a review policy.

A reader who has no ledger sees whose good signatures are there. What a file cannot say: whether a
line was lost, whether a key was revoked since, who asked, and whether an approval was in time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from policy_engine.attest.approvals import APPROVAL, lines_of
from policy_engine.attest.attestation import open_envelope, unverified
from policy_engine.attest.results import Verified
from policy_engine.attest.review_policy import ReviewPolicy, Stage
from policy_engine.attest.review_policy import review_policy as parsed
from policy_engine.errors import UsageError, VerificationFailed
from policy_engine.policy.reading import read_text
from policy_engine.releasing.requests import predicate_digest
from policy_engine.report.approvals import bundle_beside

UNKNOWN = (
    "whether lines of the bundle are missing, a key was revoked, an approval came in time, or its"
    " signer had asked for it: the ledger knows"
)


@dataclass(frozen=True)
class StageApprovals:
    """Who has approved a stage, by name and role, in answer to one request.

    ``missing`` is how many more people of a role the review policy asks for, ``rejected`` names who
    has said no.
    """

    stage: Stage
    people: tuple[tuple[str, str], ...]
    missing: Mapping[str, int]
    rejected: tuple[str, ...]

    @property
    def faults(self) -> tuple[str, ...]:
        """What speaks against it."""
        more = [f"{count} more of role {role}" for role, count in self.missing.items()]
        said_no = [f"{name} has rejected it" for name in self.rejected]
        return tuple(f"approvals of the {self.stage}: {each}" for each in (*more, *said_no))

    def words(self) -> str:
        """Who has approved it."""
        told = ", ".join(f"{name} ({role})" for name, role in self.people)
        return f"the {self.stage} is approved by {told}: as many as the review policy asks for"


def count_approvals(
    lines: Iterable[str], certificate: str, policy: ReviewPolicy
) -> tuple[StageApprovals, ...]:
    """The approvals of each stage that needs some, of a certificate that was verified.

    Guarantee: who is named has signed, with a key that the review policy says is theirs, that they
    approve this certificate in their own role, under this review policy. Of several requests that
    one counts of which the least is missing; a rejection of any counts.
    """
    found = [each for line in lines if (each := _read(line, certificate, policy)) is not None]
    stages: tuple[Stage, ...] = ("claim", "release")
    return tuple(_counted(stage, found, policy) for stage in stages if policy.needs[stage])


def with_approvals(found: Verified, text: str, certificate: Path, review_policy: Path) -> Verified:
    """What was checked of a certificate, and the approvals in the bundle beside it.

    Raises VerificationFailed where some are missing, PolicyError and FileError for the files.
    """
    policy = parsed(read_text(review_policy, "review policy"), review_policy)
    counted = count_approvals(lines_of(bundle_beside(certificate)), text, policy)
    if not counted:
        raise UsageError(f"{review_policy} asks for no approvals; leave --review-policy out")
    if faults := tuple(fault for each in counted for fault in each.faults):
        raise VerificationFailed(faults)
    told = [f"{each.words()} ({review_policy}, {policy.digest[:15]})" for each in counted]
    return replace(found, checked=(*found.checked, *told), unchecked=(*found.unchecked, UNKNOWN))


@dataclass(frozen=True)
class _Approval:
    stage: str
    request: str
    person: tuple[str, str]
    is_rejected: bool


def _counted(stage: Stage, found: list[_Approval], policy: ReviewPolicy) -> StageApprovals:
    own = [each for each in found if each.stage == stage]
    rejected = tuple(dict.fromkeys(each.person[0] for each in own if each.is_rejected))
    requests = dict.fromkeys(each.request for each in own)
    answers = [
        tuple(dict.fromkeys(e.person for e in own if e.request == name and not e.is_rejected))
        for name in requests
    ]
    made = [
        StageApprovals(stage, people, _missing(people, policy.needs[stage]), rejected)
        for people in answers or [()]
    ]
    return min(made, key=lambda each: sum(each.missing.values()))


def _missing(people: tuple[tuple[str, str], ...], needs: Mapping[str, int]) -> dict[str, int]:
    roles = Counter(role for _, role in people)
    return {role: count - roles[role] for role, count in needs.items() if roles[role] < count}


def _read(line: str, certificate: str, policy: ReviewPolicy) -> _Approval | None:
    """A line that says something of this certificate; None for every other."""
    try:
        found = open_envelope(line, policy.trusted(frozenset()), APPROVAL)
        person, said = policy.person(found.key_id), found.predicate
        stage, own = str(said["stage"]), unverified(certificate)
        is_rejected = said["verdict"] == "rejected"
        approves = said["verdict"] == "approved" and said["role"] == person.role
        is_under = said["version"] == 1 and said["review_policy"] == policy.digest
        of = said["of"]
        is_its = isinstance(of, Mapping) and _of(stage, own.predicate, policy).items() <= of.items()
        is_file = stage == "claim" or found.subject_sha256 == own.subject_sha256
    except (VerificationFailed, KeyError, TypeError, ValueError):
        return None
    if not (is_under and is_its and is_file and (is_rejected or approves)):
        return None
    return _Approval(stage, str(said["request"]), (person.name, person.role), is_rejected)


def _of(stage: str, predicate: Mapping[str, Any], policy: ReviewPolicy) -> dict[str, str]:
    """What an approval of a stage must say of a certificate."""
    judged = dict(predicate)
    if stage == "claim":
        judged.pop("time")
    return {
        "account": policy.account,
        "policy": str(predicate["policy"]["digest"]),
        "certificate": predicate_digest(judged),
    }

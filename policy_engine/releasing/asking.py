"""What a review is asked for next: the claim of a release that is to be, or what came out of it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from policy_engine.attest.approvals import (
    REVIEW_REQUEST,
    Brought,
    Matter,
    Tally,
    Verdict,
    ask,
    document_digest,
    judge,
    tally,
)
from policy_engine.attest.attestation import Unverified, unverified
from policy_engine.attest.parquet_file import plain
from policy_engine.attest.signers import Signer
from policy_engine.attest.validity import moment
from policy_engine.errors import FileError, NotApproved, UsageError, VerificationFailed
from policy_engine.kernel.claim import digest_of
from policy_engine.ledger.entry import Charge, Entry
from policy_engine.ledger.reviews import Required, claim_of, release_of
from policy_engine.ledger.store import Ledger
from policy_engine.policy.project import Project
from policy_engine.policy.resolve import Policy
from policy_engine.releasing import reviewing
from policy_engine.releasing.books import naming_key
from policy_engine.releasing.charging import names_of_source
from policy_engine.releasing.planning import open_warehouse
from policy_engine.releasing.preview import preview


@dataclass(frozen=True)
class Sought:
    """What approvals are asked for, where the request goes, and what is shown to who approves."""

    matter: Matter
    file: Path
    shown: Mapping[str, Any]


@dataclass(frozen=True)
class Presented:
    """A request as who approves it sees it: what it names is what is shown, by digest."""

    said: Unverified
    matter: Matter
    review_policy: str
    shown: Mapping[str, Any]


def wanted(policy: Policy, project: Project, ledger: Ledger, *, fresh: bool = False) -> Sought:
    """What the release of a policy waits for: approvals of what came out, else of its claim.

    Raises NotApproved where the account requires none.
    """
    found = preview(policy, project)
    paid = None if fresh or found.repeats is None else ledger.entry(found.repeats)
    charge = reviewing.asked_for(found.charge, found.certificate, found.ends)
    return asked_of(charge, found.ends.certificate_path, ledger, paid)


def source_of(policy: Policy, project: Project, ledger: Ledger) -> Mapping[str, str]:
    """The names by which the ledger knows the source of a policy."""
    naming = naming_key(project, ledger)
    with closing(open_warehouse(policy, project, writes=False)) as warehouse:
        table = warehouse.table(policy.source, policy.directory)
        return names_of_source(policy, project, warehouse, table, naming)


def asked_of(
    charge: Charge, certificate: Path, ledger: Ledger, paid: Entry | None = None
) -> Sought:
    """What a charge waits for, or the entry that has ``paid`` for it; NotApproved for nothing."""
    required = required_of(ledger, charge.account)
    digest = None if paid is None else paid.only_digest
    if paid is not None and digest is not None and required.needs("release"):
        file = reviewing.request_file(certificate, "release")
        return Sought(release_of(paid, digest), file, paid.run["predicate"])
    if not required.needs("claim"):
        raise NotApproved(
            f"account {charge.account!r} requires no approvals of a claim: release it"
            + ("; what comes out is approved then" if required.needs("release") else "")
        )
    asked = paid or charge
    file = reviewing.request_file(certificate, "claim")
    return Sought(claim_of(asked), file, plain(asked.run["predicate"]))


def required_of(ledger: Ledger, account: str) -> Required:
    """What an account requires; NotApproved where it requires nothing."""
    required = ledger.required(account)
    if required is None:
        raise NotApproved(
            f"account {account!r} requires no approvals: 'policy-engine review require FILE' sets a"
            " review policy"
        )
    return required


def ask_for(asked: Sought, required: Required, ledger: Ledger, signer: Signer) -> bool:
    """Write a request, unless the one that stands there serves still; whether it was written.

    Raises UsageError where whoever signs is nobody of the review policy.
    """
    policy = required.policy
    if signer.key_id not in policy.keys:
        raise UsageError(
            f"the key {signer.key_id[:8]} is nobody's in the review policy of account"
            f" {policy.account!r}: who asks is one of its people; name their key with --key"
        )
    if asked.file.exists() and _serves(asked, required, ledger):
        return False
    envelope = ask(asked.matter, policy.digest, signer, ledger.moment())
    reviewing.write_request(asked.file, envelope, asked.shown)
    return True


def _serves(asked: Sought, required: Required, ledger: Ledger) -> bool:
    """Whether the request that stands asks for just this, and can serve still."""
    try:
        found = shown_by(asked.file)
    except (FileError, VerificationFailed):
        return False
    brought = reviewing.brought_at(asked.file)
    at = moment(found.said.predicate.get("time"))
    return (
        found.matter == asked.matter
        and found.review_policy == required.policy.digest
        and at is not None
        and ledger.moment() < at + required.policy.lasts
        and not ledger.served(brought.request_sha256)
        and not counted(found, brought, required, ledger).rejected
    )


def shown_by(file: Path) -> Presented:
    """A request, once what is shown beside it is what it names.

    Who has asked is not verified here: the ledger does. Raises VerificationFailed.
    """
    envelope, shown = reviewing.read_request(file)
    said = unverified(envelope, REVIEW_REQUEST)
    try:
        found = said.predicate
        stage, of = found["stage"], {str(k): str(v) for k, v in dict(plain(found["of"])).items()}
        matter = Matter(stage, said.subject_name, said.subject_sha256, of)  # type: ignore[arg-type]
        review_policy = str(found["review_policy"])
        if stage == "change":
            is_named = of["to"] == document_digest(shown)
        else:
            timeless = stage == "claim"
            told = {name: each for name, each in shown.items() if name != "time" or not timeless}
            is_named = of["certificate"] == digest_of(told)
    except (AttributeError, KeyError, TypeError, ValueError):
        raise VerificationFailed((f"{file}: the request is of another version",)) from None
    if not is_named:
        raise VerificationFailed(
            (f"{file}: what is shown is not what the request names: ask for the file anew",)
        )
    return Presented(said, matter, review_policy, shown)


def answered(
    file: Path, signer: Signer, at: datetime, *, verdict: Verdict, role: str, note: str = ""
) -> tuple[Presented, str]:
    """A signed verdict of what a request asks, one line; nothing is written."""
    found = shown_by(file)
    line = judge(
        found.matter, found.review_policy, reviewing.brought_at(file), signer, at,
        verdict=verdict, role=role, note=note,
    )  # fmt: skip
    return found, line


def why_not(found: Presented, brought: Brought, line: str, ledger: Ledger) -> str:
    """Why an answer to a request would not count now; empty where it would.

    A rejection by any of the account's people counts, whoever has asked and whatever role it says.
    """
    account, stage = found.matter.of["account"], found.matter.stage
    required = ledger.required(account)
    if required is None or not required.needs(stage):
        return f"account {account!r} requires no approvals of a {stage}"
    if record := ledger.served(brought.request_sha256):
        return f"its request has served already, for record {record}"
    told = counted(found, replace(brought, approvals=(line,)), required, ledger)
    if told.rejected:
        return ""
    if names := counted(found, brought, required, ledger).rejected:
        return (
            f"{', '.join(names)} has rejected it, and this request serves no more: 'policy-engine"
            " review request' asks anew"
        )
    if told.refused or not told.counted:
        return (*told.refused, *told.faults)[0].removeprefix("line 1: ")
    role, needs = told.counted[0][1], required.policy.needs[stage]
    return "" if role in needs else f"nobody of role {role} is asked, but {', '.join(needs)}"


def standing(file: Path, ledger: Ledger) -> tuple[Presented, Required, Tally]:
    """A request, what its account requires now, and how its approvals count now."""
    found = shown_by(file)
    required = required_of(ledger, found.matter.of["account"])
    return found, required, counted(found, reviewing.brought_at(file), required, ledger)


def counted(found: Presented, brought: Brought, required: Required, ledger: Ledger) -> Tally:
    """How what was brought for a request counts now."""
    return tally(required.policy, found.matter, brought, ledger.moment(), required.revoked)

"""What a review is asked for next: the claim of a release that is to be, or what came out of it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import field, replace
from datetime import datetime
from pathlib import Path

from policy_engine.attest.approvals import (
    Brought,
    Matter,
    Tally,
    Verdict,
    ask,
    judge,
    tally,
)
from policy_engine.attest.parquet_file import plain
from policy_engine.attest.signers import Signer
from policy_engine.attest.validity import moment
from policy_engine.errors import FileError, NotApproved, UsageError, VerificationFailed
from policy_engine.ledger.account import Account, affords
from policy_engine.ledger.books import Books
from policy_engine.ledger.entry import Charge, Entry
from policy_engine.ledger.reviews import Required, claim_of, last_of, release_of, without_time
from policy_engine.ledger.store import Ledger
from policy_engine.policy.project import Project
from policy_engine.policy.resolve import Policy
from policy_engine.releasing import reviewing
from policy_engine.releasing.books import naming_key
from policy_engine.releasing.charging import names_of_source
from policy_engine.releasing.editions import asked_for, at_moment, utc_now
from policy_engine.releasing.planning import check_chosen, open_warehouse
from policy_engine.releasing.presenting import Presented, Standing, presented
from policy_engine.releasing.preview import preview
from policy_engine.values import frozen


@frozen
class Sought:
    """What approvals are asked for, where the request goes, and what is shown to who approves.

    ``account`` is how the account would stand, ``beside`` as of ``Preview``.
    """

    matter: Matter
    file: Path
    shown: Mapping[str, object]
    account: Standing = field(default_factory=Standing)
    beside: str = ""


def wanted(
    policy: Policy,
    project: Project,
    books: Books,
    *,
    edition: str | None = None,
    revise: bool = False,
) -> Sought:
    """What the release of a policy waits for: approvals of what came out, else of its claim.

    It is of the ``edition`` that is named, else of the one that is due next.

    Raises NotApproved where the account requires none.
    """
    check_chosen(policy)
    if edition is not None or revise:
        at = at_moment(books) if policy.schedule is not None else utc_now()
        policy = asked_for(policy, project, books, at, edition, revise=revise)
    found = preview(policy, project)
    paid = None if revise or found.repeats is None else books.budget.entry(found.repeats)
    charge = reviewing.asked_for(found.charge, found.certificate, found.ends)
    asked = asked_of(charge, found.ends.certificate_path, books, found.account, paid)
    return replace(asked, beside=found.beside)


def source_of(policy: Policy, project: Project, ledger: Ledger) -> Mapping[str, str]:
    """The names by which the ledger knows the source of a policy."""
    naming = naming_key(project, ledger)
    with closing(open_warehouse(policy, project, writes=False)) as warehouse:
        table = warehouse.table(policy.source, policy.directory)
        return names_of_source(policy, project, warehouse, table, naming)


def asked_of(
    charge: Charge, certificate: Path, books: Books, account: Account, paid: Entry | None = None
) -> Sought:
    """What a charge waits for, or the entry that has ``paid`` for it; NotApproved for nothing.

    ``account`` is the one that pays, under the limit that counts.
    """
    required, stands = required_of(books, charge.account), _standing(account, charge, paid)
    digest = None if paid is None else paid.only_digest
    if paid is not None and digest is not None and required.needs("release"):
        file = reviewing.request_file(certificate, "release")
        return Sought(release_of(paid, digest), file, paid.run.predicate, stands)
    if not required.needs("claim"):
        raise NotApproved(
            f"account {charge.account!r} requires no approvals of a claim: release it"
            + ("; what comes out is approved then" if required.needs("release") else "")
        )
    asked = paid or charge
    file = reviewing.request_file(certificate, "claim")
    shown = without_time(plain(asked.run.predicate))
    return Sought(claim_of(asked), file, shown, stands)


def _standing(account: Account, charge: Charge, paid: Entry | None) -> Standing:
    """How an account would stand after a charge, or stands after the one that was paid."""
    if paid is None and not affords(account, charge):
        return Standing(fits=False)
    after, entry = (account.plus(charge), 0) if paid is None else (account, paid.id)
    left, limit = after.remaining(charge.asked, windows=charge.windows), account.limit
    if limit is None or left is None:
        return Standing(fits=True, entry=entry)
    return Standing(fits=True, limit=limit, left=left, entry=entry)


def required_of(books: Books, account: str) -> Required:
    """What an account requires; NotApproved where it requires nothing."""
    required = books.approvals.required(account)
    if required is None:
        raise NotApproved(
            f"account {account!r} requires no approvals: 'policy-engine review require FILE' sets a"
            " review policy"
        )
    return required


def ask_for(asked: Sought, required: Required, books: Books, signer: Signer) -> bool:
    """Write a request, unless the one that stands there serves still; whether it was written.

    Raises UsageError where whoever signs is nobody of the review policy.
    """
    policy = required.policy
    if signer.key_id not in policy.keys:
        raise UsageError(
            f"the key {signer.key_id[:8]} is nobody's in the review policy of account"
            f" {policy.account!r}: who asks is one of its people; name their key with --key"
        )
    if asked.file.exists() and _serves(asked, required, books):
        return False
    last = books.approvals.last(asked.matter, asked.account.entry)
    envelope = ask(asked.matter, policy.digest, signer, books.at, last=last_of(last),
                   account=asked.account.to_json(), beside=asked.beside)  # fmt: skip
    request = reviewing.RequestFile(envelope, asked.shown, last, policy.document)
    reviewing.write_request(asked.file, request)
    return True


def _serves(asked: Sought, required: Required, books: Books) -> bool:
    """Whether the request that stands asks for just this, and can serve still."""
    try:
        found = presented(asked.file)
    except (FileError, VerificationFailed):
        return False
    brought = reviewing.brought_at(asked.file)
    at = moment(found.said.predicate.get("time"))
    return (
        (found.matter, found.beside) == (asked.matter, asked.beside)
        and found.policy.digest == required.policy.digest
        and found.last == books.approvals.last(asked.matter, asked.account.entry)
        and at is not None
        and books.at < at + required.policy.lasts
        and not books.approvals.served(brought.request_sha256)
        and not counted(found, brought, required, books).rejected
    )


def answered(
    file: Path, signer: Signer, at: datetime, *, verdict: Verdict, role: str, note: str = ""
) -> tuple[Presented, str]:
    """A signed verdict of what a request asks, one line; nothing is written."""
    found = presented(file)
    line = judge(
        found.matter, found.policy.digest, Brought(found.request), signer, at,
        verdict=verdict, role=role, note=note,
    )  # fmt: skip
    return found, line


def why_not(found: Presented, brought: Brought, line: str, books: Books) -> str:
    """Why an answer to a request would not count now; empty where it would.

    A rejection by any of the account's people counts, whoever has asked and whatever role it says.
    """
    account, stage = found.matter.of["account"], found.matter.stage
    required = books.approvals.required(account)
    if required is None or not required.needs(stage):
        return f"account {account!r} requires no approvals of a {stage}"
    if record := books.approvals.served(brought.request_sha256):
        return f"its request has served already, for record {record}"
    told = counted(found, replace(brought, approvals=(line,)), required, books)
    if told.rejected:
        return ""
    if fault := _outdated(found, books):
        return fault
    if rejections := counted(found, brought, required, books).rejected:
        names = ", ".join(name for name, _ in rejections)
        return (
            f"{names} has rejected it, and this request serves no more: 'policy-engine review"
            " request' asks anew"
        )
    if told.refused or not told.counted:
        return (*told.refused, *told.faults)[0].removeprefix("line 1 of the approvals: ")
    role, needs = told.counted[0][1], required.policy.needs[stage]
    return "" if role in needs else f"nobody of role {role} is asked, but {', '.join(needs)}"


def standing(file: Path, books: Books) -> tuple[Presented, Required, Tally]:
    """A request, what its account requires now, and how its approvals count now."""
    found = presented(file)
    required = required_of(books, found.matter.of["account"])
    brought = reviewing.brought_at(file)
    told = counted(found, brought, required, books)
    if not books.approvals.served(brought.request_sha256) and (fault := _outdated(found, books)):
        told = replace(told, faults=(*told.faults, fault))
    return found, required, told


def _outdated(found: Presented, books: Books) -> str:
    """Why a request shows another difference than there is; empty where it shows the right one."""
    try:
        last = books.approvals.last(found.matter, found.account.entry)
    except UsageError:
        last = None
    if found.last == last:
        return ""
    return (
        "something else was approved meanwhile than what it is compared with: 'policy-engine review"
        " request' asks anew"
    )


def counted(found: Presented, brought: Brought, required: Required, books: Books) -> Tally:
    """How what was brought for a request counts now."""
    return tally(required.policy, found.matter, brought, books.at, required.revoked)

"""Approvals in the ledger: what an account requires, what was met, and which keys were revoked.

A record of kind ``require`` says by which review policy an account is released from now on. It is
pinned in the account's running state, so that no file switches it off, and the next one is approved
by the people of the one before. What a charge had is recorded with it, line by line: a file of
approvals can lose one. A record of kind ``revoke`` withdraws a key for good.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from policy_engine.accounting.in_words import in_text
from policy_engine.attest.approvals import (
    REVIEW_REQUEST,
    Approver,
    Brought,
    Matter,
    ReviewPolicy,
    Stage,
    document_digest,
    review_policy,
    tally,
)
from policy_engine.attest.attestation import (
    CHOICE_TYPE,
    open_envelope,
    stated_type,
    type_of_release,
    unverified,
)
from policy_engine.errors import InternalError, NotApproved, PolicyError, VerificationFailed
from policy_engine.kernel.claim import digest_of
from policy_engine.ledger.account import Limit, limit_from_json, limit_to_json
from policy_engine.ledger.chain import Record, time_of
from policy_engine.ledger.entry import Charge, Decision, Entry, Fault, StageReview, reading
from policy_engine.values import frozen

REQUEST_KEY, REVOKED_KEY, REQUIRES_KEY = "request_sha256", "revoked_key", "requires"
LIMIT, PLAN, REVIEW_POLICY, ROWS = "limit", "plan", "review policy", "rows left out"
"""What a change is called that people approve."""
_ASKS = "--key KEY' asks for them, with the key of one of the account's people"
_ASK: Mapping[Stage, str] = {
    "claim": f"'policy-engine review request POLICY {_ASKS}; nothing was charged",
    "release": (
        f"it is paid for, and waits: 'policy-engine review request POLICY {_ASKS}, and the same"
        " release again, once they are there, puts it in its place at no cost"
    ),
    "change": "nothing was changed",
}
# The options of 'review request', by what is changed.
_OF_A_CHANGE: Mapping[str, str] = {
    LIMIT: "--limit {} --epsilon NUMBER --delta NUMBER",
    PLAN: "--plan {}",
    REVIEW_POLICY: "--review-policy FILE",
}


_WAITS: Mapping[Stage, str] = {
    "claim": "nothing was charged",
    "release": (
        "it is paid for, and waits: the same release again, once they have approved, puts it in its"
        " place at no cost"
    ),
    "change": "nothing was changed",
}


@frozen
class Required:
    """What an account requires: its review policy, the record that says so, the revoked keys."""

    policy: ReviewPolicy
    record: int
    revoked: frozenset[str] = frozenset()

    def needs(self, stage: Stage) -> bool:
        """Whether anybody has to approve a stage."""
        return bool(self.policy.needs[stage])

    def faults(self, matter: Matter, brought: Brought, at: datetime) -> tuple[str, ...]:
        """What is missing as of a time of the ledger; nothing where the approvals are met."""
        return tally(self.policy, matter, brought, at, self.revoked).faults

    def met(self, matter: Matter, brought: Brought, at: datetime, what: str = "") -> StageReview:
        """What is recorded of approvals that are met; NotApproved where they are not.

        ``what`` says which change it is, for a matter names one by its digest alone.
        """
        found = tally(self.policy, matter, brought, at, self.revoked)
        if found.faults:
            policy, stage = self.policy, matter.stage
            told, how = "; ".join((*found.faults, *found.refused)), _asking(policy.account, matter)
            if brought.file and found.waits_for:
                whom = ", ".join(found.waits_for)
                how = f"send {brought.file} to {whom}; {_WAITS[stage]}"
            raise NotApproved(
                f"account {policy.account!r} requires approvals of {what or f'the {stage}'}"
                f" (review policy {policy.serial}, {policy.digest[:15]}), and they are not met:"
                f" {told}; {how}"
            )
        counted = Brought(brought.request, tuple(line for _, _, line in found.counted))
        return replace(self.asked(matter.stage), brought=counted)

    def asked(self, stage: Stage) -> StageReview:
        """What is required, and nothing of it met yet."""
        return StageReview(stage, self.policy.digest, self.record, self.policy.needs[stage])


def _asking(account: str, matter: Matter) -> str:
    """How the approvals of a matter are asked for, and what has become of it until then."""
    options = _OF_A_CHANGE.get(matter.name, "") if matter.stage == "change" else ""
    if "chosen" in matter.of:
        options = "POLICY --search"
        if matter.of["chosen"] == "numbers":
            options = f"POLICY --suggest {matter.of['epsilon']}"
    if not options:
        return _ASK[matter.stage]
    command = f"policy-engine review request {options.format(shlex.quote(account))}"
    return f"'{command} {_ASKS}; {_WAITS[matter.stage]}"


def signer_in(policy: ReviewPolicy, line: str) -> Approver | None:
    """Who has signed a line, by the keys of a review policy; None for a stranger."""
    try:
        found = open_envelope(line, policy.trusted(frozenset()), stated_type(line) or "")
    except VerificationFailed:
        return None
    return policy.person(found.key_id)


def approvers(policy: ReviewPolicy, review: StageReview) -> tuple[tuple[str, str], ...]:
    """The name and role of whoever signed what was brought, by its review policy."""
    found = (signer_in(policy, line) for line in review.brought.approvals)
    return tuple((each.name, each.role) for each in found if each is not None)


def claim_of(charge: Charge | Entry) -> Matter:
    """What is approved of a charge: the claim of its certificate, in one place and at one price.

    Of a private choice all that its certificate states: the policy, and what the candidates are.
    The certificate's time is left out: a release has one of its own. NotApproved where nothing is
    known of its claim.
    """
    try:
        stated, target = charge.run.predicate, charge.run.target
        is_choice = type_of_release(stated) == CHOICE_TYPE
        identity = digest_of(without_time(stated) if is_choice else stated["claim"])
        of = {
            **({"chosen": str(stated["chosen"])} if is_choice else {}),
            "account": charge.account,
            "target": target,
            "policy": str(stated["policy"]["digest"]),
            "epsilon": in_text(charge.epsilon),
            "delta": in_text(charge.delta),
            "neighbours": charge.neighbours,
            "unit": str(stated["unit"]),
            "certificate": digest_of(without_time(stated)),
        }
        name = charge.policy_name if is_choice else str(stated["policy"]["name"])
    except KeyError:
        raise NotApproved(
            f"account {charge.account!r} requires approvals, and nothing is known of the claim of"
            f" {charge.policy_name!r} that anybody could approve; nothing was charged"
        ) from None
    return Matter("claim", name, identity.removeprefix("sha256:"), of)


def release_of(entry: Charge | Entry, release_digest: str) -> Matter:
    """What is approved of what came out for an entry: its bytes, under their certificate."""
    predicate, target = entry.run.predicate, entry.run.target
    of = {
        "account": entry.account,
        "target": target,
        "policy": str(predicate["policy"]["digest"]),
        "certificate": digest_of(predicate),
    }
    return Matter("release", target, release_digest, of)


def limit_matter(account: str, limit: Limit) -> Matter:
    """Another limit of an account."""
    return _change(account, LIMIT, limit_document(account, limit))


def limit_document(account: str, limit: Limit | None) -> dict[str, object]:
    """What is approved of a limit; nothing where there is none."""
    return {} if limit is None else {"account": account, **limit_to_json(limit)}


def plan_matter(document: Mapping[str, object]) -> Matter:
    """Another plan of an account's windows, by its ``planned.plan_document``."""
    return _change(str(document["account"]), PLAN, document)


def last_of(document: Mapping[str, object]) -> str:
    """By which digest a request names what was approved before it; empty for nothing."""
    return document_digest(document) if document else ""


def without_time(predicate: Mapping[str, object]) -> dict[str, object]:
    """A certificate's facts but its time, which a release has of its own."""
    return {name: value for name, value in predicate.items() if name != "time"}


def is_approved(entry: Entry) -> bool:
    """Whether people have approved an entry that was not given back, or what came out of it."""
    return entry.state != "cancelled" and any(
        review.brought.request_sha256 for review in entry.reviews
    )


def check_last(matter: Matter, brought: Brought, last: Mapping[str, object]) -> None:
    """NotApproved where a request says that something else was approved before it than was.

    Who approves has seen the difference from that, and from nothing else.
    """
    if not compares_with(brought, last):
        raise NotApproved(
            f"{matter.name}: its request shows the difference from something else than what was"
            " approved last; ask anew with 'policy-engine review request'. Nothing was changed"
        )


def compares_with(brought: Brought, last: Mapping[str, object]) -> bool:
    """Whether a request shows its difference from this; true where there is no request."""
    if not brought.request:
        return True
    try:
        said = unverified(brought.request, REVIEW_REQUEST)
    except VerificationFailed:
        return False
    return said.predicate.get("last") == last_of(last)


def policy_matter(policy: ReviewPolicy) -> Matter:
    """Another review policy of an account."""
    return _change(policy.account, REVIEW_POLICY, policy.document)


def rows_matter(account: str, rows: Mapping[str, str]) -> Matter:
    """Rows of the ledger, by number and digest, that are left out of what an account rests on."""
    return _change(account, ROWS, {"account": account, "rows": dict(rows)})


def _change(account: str, what: str, document: Mapping[str, object]) -> Matter:
    to = document_digest(document)
    return Matter("change", what, to.removeprefix("sha256:"), {"account": account, "to": to})


def required_by(
    found: Iterable[Record],
    known: Callable[[int], Record],
    revoked: Callable[[str], bool],
    where: str,
) -> Required | None:
    """What an account requires by its ``require`` records, in order; None where there is none.

    One that the people of the one in force have not approved counts for nothing. ``known`` finds
    a record by its number, with LedgerBroken where it is gone.
    """
    force: Required | None = None
    for record in found:
        policy, previous = _policy_in(record, where)
        if force is None or (previous == force.record and _is_next(force, policy, record)):
            force = Required(policy, record.seq)
        elif 0 < previous < record.seq:
            known(previous)  # one that is gone may be the one that it follows
    if force is None:
        return None
    return replace(force, revoked=frozenset(key for key in force.policy.keys if revoked(key)))


def required_then(record: Record, where: str) -> Required:
    """What a ``require`` record says; LedgerError where it is none."""
    return Required(_policy_in(record, where)[0], record.seq)


def check_readable(policy: ReviewPolicy) -> None:
    """PolicyError unless what is recorded of a review policy reads as that policy again."""
    again = review_policy(json.dumps(dict(policy.document)), Path("the review policy"))
    if again != policy:
        raise InternalError("a review policy reads otherwise than it is recorded")


def _policy_in(record: Record, where: str) -> tuple[ReviewPolicy, int]:
    with reading(record, where) as told:
        try:
            policy = review_policy(json.dumps(told["document"]), Path(where))
        except PolicyError:
            raise ValueError("document") from None
        if record.kind != "require" or policy.account != record.account:
            raise ValueError("require")
        return policy, int(told["previous"])


def _is_next(force: Required, after: ReviewPolicy, record: Record) -> bool:
    """Whether the people of the review policy in force have approved the one of a record."""
    at, told, before = time_of(record), json.loads(record.payload), force.policy
    if at is None or (after.account, after.serial) != (before.account, before.serial + 1):
        return False
    renewing = replace(force, policy=_unexpired(before))
    brought = Brought.from_json(told)
    is_met = not renewing.faults(policy_matter(after), brought, at)
    return is_met and compares_with(brought, before.document)


def _unexpired(policy: ReviewPolicy) -> ReviewPolicy:
    """The policy, which may be followed by another one after its last day."""
    return replace(policy, until=datetime.max.replace(tzinfo=UTC))


def check_next(
    now: Required | None, policy: ReviewPolicy, brought: Brought, at: datetime
) -> StageReview | None:
    """What is recorded of the approvals of a review policy; of the first there is nothing.

    Raises NotApproved where the people of the one in force have not approved it, or it is not the
    next, or is over already.
    """
    serial = 1 if now is None else now.policy.serial + 1
    if policy.serial != serial and (now is not None or policy.serial < 1):
        raise NotApproved(
            f"account {policy.account!r}: the next review policy has serial {serial}, found"
            f" {policy.serial}; nothing was changed"
        )
    if policy.until < at:
        raise NotApproved(f"account {policy.account!r}: the review policy is over already")
    if now is None:
        return None
    now = replace(now, policy=_unexpired(now.policy))
    return now.met(policy_matter(policy), brought, at, f"the review policy {serial}")


@frozen
class Requirement(Decision):
    """A review policy was set."""

    account: str
    serial: int
    review_policy: str


@frozen
class Revocation(Decision):
    """The key of an approver was revoked; ``people`` had it in the review policies before."""

    revoked_key: str
    people: tuple[str, ...]


def decisions(chain: Iterable[Record], where: str) -> tuple[Requirement | Revocation, ...]:
    """Every review policy that was set and every key that was revoked, in order."""
    found: list[Requirement | Revocation] = []
    owners: dict[str, dict[str, None]] = {}
    for record in chain:
        if record.kind not in {"require", "revoke"}:
            continue
        with reading(record, where) as told:
            at = datetime.fromisoformat(told["at"])
            said = (record.seq, at, str(told["who"]), str(told["why"]))
            if record.kind == "revoke":
                key = str(told[REVOKED_KEY])
                found.append(Revocation(*said, key, tuple(owners.get(key, ()))))
                continue
            policy, _ = _policy_in(record, where)
            for person in policy.people:
                for key in person.keys:
                    owners.setdefault(key, {})[person.name] = None
            found.append(Requirement(*said, record.account, policy.serial, policy.digest))
    return tuple(found)


def review_faults(
    chain: Iterable[Record], entries: Mapping[int, Entry], where: str
) -> tuple[Fault, ...]:
    """The records without the approvals that were required then, whoever has signed them."""
    replay = _Replay(entries, where)
    for record in chain:
        check = getattr(replay, f"on_{record.kind}", None)
        if check is not None:
            with reading(record, where) as told:
                check(record, told)
    return tuple(replay.faults)


def _review(told: Mapping[str, Any] | None) -> StageReview | None:
    return StageReview.from_json(told) if told else None


@dataclass
class _Replay:
    """The chain again: what was required, revoked, used and approved up to a record."""

    entries: Mapping[int, Entry]
    where: str
    required: dict[str, Required] = field(default_factory=dict)
    revoked: set[str] = field(default_factory=set)
    used: dict[str, int] = field(default_factory=dict)
    held: dict[int, Required] = field(default_factory=dict)
    claims: dict[int, list[Brought]] = field(default_factory=dict)
    approved: dict[int, set[str]] = field(default_factory=dict)
    of_policy: dict[tuple[str, str], set[int]] = field(default_factory=dict)
    limits: dict[str, Limit] = field(default_factory=dict)
    plans: dict[str, Mapping[str, object]] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)

    def now(self, account: str) -> Required | None:
        found = self.required.get(account)
        return None if found is None else replace(found, revoked=frozenset(self.revoked))

    def on_require(self, record: Record, told: Any) -> None:
        policy, previous = _policy_in(record, self.where)
        now = self.now(policy.account)
        if now is not None:
            is_next = previous == now.record and _is_next(now, policy, record)
            if not is_next or not self._use(record, Brought.from_json(told)):
                self._fault(
                    record,
                    "changes what approvals an account requires, and the people of the review"
                    " policy before have not approved it: it counts for nothing",
                )
                return
        self.required[policy.account] = Required(policy, record.seq)

    def on_revoke(self, record: Record, told: Any) -> None:
        del record
        self.revoked.add(told[REVOKED_KEY])

    def on_reserve(self, record: Record, told: Any) -> None:
        required, review = self.now(record.account), _review(told.get("review"))
        if required is None or not required.policy.holds_back:
            return
        self.held[record.seq] = required
        if required.needs("claim") and not (review and review.is_out):
            entry, last = self.entries[record.seq], self._before(self.entries[record.seq])
            if self._check(record, required, claim_of(entry), review, last) and review:
                self.claims.setdefault(record.seq, []).append(review.brought)
            self._approve(entry, review)

    def on_approve(self, record: Record, told: Any) -> None:
        entry = self.entries.get(record.entry)
        required = None if entry is None else self.now(entry.account)
        if entry is None or required is None:
            return
        review = StageReview.from_json(told)
        if review.stage == "claim":
            if self._check(record, required, claim_of(entry), review, self._before(entry)):
                self.claims.setdefault(record.entry, []).append(review.brought)
        else:
            matter = release_of(entry, review.release_digest)
            if self._check(record, required, matter, review, self._before(entry)):
                self.approved.setdefault(record.entry, set()).add(review.release_digest)
        self._approve(entry, review)

    def on_cancel(self, record: Record, told: Any) -> None:
        del told
        self.used = {name: owner for name, owner in self.used.items() if owner != record.entry}
        for same in self.of_policy.values():
            same.discard(record.entry)

    def on_start(self, record: Record, told: Any) -> None:
        del told
        entry, at = self.entries.get(record.entry), time_of(record)
        now = None if entry is None else self.now(entry.account)
        if entry is None or now is None or not now.needs("claim") or entry.is_out:
            return
        matter, brought = claim_of(entry), self.claims.get(record.entry, [])
        if at is None or all(now.faults(matter, each, at) for each in brought):
            self._unapproved(record)

    def on_commit(self, record: Record, told: Any) -> None:
        entry, approved = self.entries.get(record.entry), self.approved.get(record.entry, set())
        held = self.held.get(record.entry)
        now = None if entry is None else self.now(entry.account)
        if entry is None or held is None or now is None:
            return
        waits = held.needs("release") and now.needs("release")
        if entry.is_out or (waits and str(told["release_digest"]) not in approved):
            self._unapproved(record)

    def on_limit(self, record: Record, told: Any) -> None:
        limit = limit_from_json(told)
        before, required = self.limits.get(record.account), self.now(record.account)
        self.limits[record.account] = limit
        if required is not None and before is not None and limit.is_above(before):
            matter, last = (
                limit_matter(record.account, limit),
                limit_document(record.account, before),
            )
            self._check(record, required, matter, _review(told.get("review")), last)

    def on_plan(self, record: Record, told: Any) -> None:
        plan, required = dict(told["plan"]), self.now(record.account)
        before = self.plans.get(record.account, {})
        self.plans[record.account] = plan
        if required is not None and required.needs("change") and plan != before:
            self._check(record, required, plan_matter(plan), _review(told.get("review")), before)

    def _before(self, entry: Entry) -> Mapping[str, object]:
        """The certificate of the last entry before this one that people had approved."""
        same = self.of_policy.get((entry.account, entry.policy_name), set())
        last = max((number for number in same if number < entry.id), default=0)
        return without_time(self.entries[last].run.predicate) if last else {}

    def _approve(self, entry: Entry, review: StageReview | None) -> None:
        """Let later requests compare with an entry for which one was brought, as ``last`` does."""
        if review is not None and review.brought.request_sha256:
            self.of_policy.setdefault((entry.account, entry.policy_name), set()).add(entry.id)

    def _check(
        self,
        record: Record,
        required: Required,
        matter: Matter,
        review: StageReview | None,
        last: Mapping[str, object],
    ) -> bool:
        """Whether what a record brought was enough, and used for nothing else; else it is told.

        ``last`` is what was approved before it: a request that compares with another is none.
        """
        at, brought = time_of(record), Brought() if review is None else review.brought
        is_met = at is not None and not required.faults(matter, brought, at)
        if is_met and compares_with(brought, last) and self._use(record, brought):
            return True
        account = required.policy.account
        self._fault(record, f"had not the approvals that account {account!r} required then")
        return False

    def _use(self, record: Record, brought: Brought) -> bool:
        """Whether a request serves for this record alone, as it does from now on."""
        owner, name = record.entry or record.seq, brought.request_sha256
        return not name or self.used.setdefault(name, owner) == owner

    def _unapproved(self, record: Record) -> None:
        self._fault(
            record,
            f"is a {record.kind!r} of entry {record.entry}, which had not the approvals that its"
            " account required",
        )

    def _fault(self, record: Record, what: str) -> None:
        entry = record.seq if record.kind == "reserve" else record.entry
        self.faults.append(Fault(record.seq, entry, what, None))

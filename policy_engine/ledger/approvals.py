"""What people have approved of a ledger's accounts, as its chain says it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from policy_engine.attest.approvals import Brought, Matter, ReviewPolicy, Stage
from policy_engine.errors import NotApproved
from policy_engine.ledger import reviews
from policy_engine.ledger.chain import said
from policy_engine.ledger.chained import Budget, Chain
from policy_engine.ledger.entry import Charge, Entry, Fault, StageReview, entries_of, faults_of
from policy_engine.ledger.planned import plan_words
from policy_engine.ledger.states import order_faults, settlements_of
from policy_engine.values import frozen


@frozen
class Approvals:
    """What accounts require, and what was met; ``at`` is when that is judged."""

    chain: Chain
    budget: Budget
    at: datetime

    def required(self, account: str) -> reviews.Required | None:
        """What approvals an account requires; None where it never required any."""
        seq = self.budget.account(account).review
        if not seq:
            return None
        # All of them, and not the last alone: whoever has a key can write one that nobody approved.
        told = [*self.chain.saying(reviews.REQUIRES_KEY, account), self.chain.known(seq)]
        found = {each.seq: each for each in told}
        in_order = [found[number] for number in sorted(found)]
        return reviews.required_by(in_order, self.chain.known, self._is_revoked, self.chain.where)

    def required_then(self, seq: int) -> reviews.Required:
        """What the review policy of the record of that number requires."""
        return reviews.required_then(self.chain.known(seq), self.chain.where)

    def _is_revoked(self, key: str) -> bool:
        told = self.chain.saying(reviews.REVOKED_KEY, key)
        return key in self.chain.trust.revoked or any(told)

    def holds_back(self, account: str) -> bool:
        """Whether the releases of an account wait for anybody."""
        required = self.required(account)
        return required is not None and required.policy.holds_back

    def reviewed(self, charge: Charge, *, is_out: bool) -> StageReview | None:
        """What is recorded with a charge of the approvals that its account requires.

        Raises NotApproved where it lacks them, unless what is charged ``is_out`` already.
        """
        required = self.required(charge.account)
        if required is None or not required.policy.holds_back:
            return None
        if is_out:
            return replace(required.asked("claim"), is_out=True)
        if not required.needs("claim"):
            return required.asked("claim")
        return self.met(required, reviews.claim_of(charge), charge.brought or Brought())

    def missing(
        self, entry: Entry, brought: Brought | None, release_digest: str = ""
    ) -> StageReview | None:
        """What is to be recorded for an entry that lacks approvals it has ``brought``.

        Of its claim; with a ``release_digest``, of what came out. None where it lacks nothing: what
        is recorded already and still counts is enough. Raises NotApproved.
        """
        stage: Stage = "release" if release_digest else "claim"
        required = self.required(entry.account)
        if required is None or not required.needs(stage):
            return None
        if entry.is_out:
            return None  # what nobody was asked about is charged, and has no certificate
        matter = reviews.claim_of(entry)
        if release_digest:
            matter = reviews.release_of(entry, release_digest)
        kept = [review.brought for review in entry.reviews if review.stage == stage]
        if any(not required.faults(matter, each, self.at) for each in kept):
            return None
        told = self.met(required, matter, brought or (kept or [Brought()])[-1], entry.id)
        return replace(told, release_digest=release_digest)

    def met(
        self,
        required: reviews.Required,
        matter: Matter,
        brought: Brought,
        entry_id: int = 0,
        what: str = "",
    ) -> StageReview:
        """What is recorded of approvals that are met, for nothing else; NotApproved for others."""
        told = required.met(matter, brought, self.at, what)
        self.check_unused(matter, brought, entry_id)
        reviews.check_last(matter, brought, self.last(matter, entry_id))
        return told

    def check_next(self, policy: ReviewPolicy, brought: Brought) -> StageReview | None:
        """What is recorded of the approvals of a review policy; NotApproved where they lack."""
        told = reviews.check_next(self.required(policy.account), policy, brought, self.at)
        if told:
            matter = reviews.policy_matter(policy)
            self.check_unused(matter, brought)
            reviews.check_last(matter, brought, self.last(matter))
        return told

    def last(self, matter: Matter, entry_id: int = 0) -> Mapping[str, object]:
        """What was approved before a matter, with which who approves compares it; empty for none.

        Of a change what is in force. Of a claim, and of what came out, the certificate of the last
        entry of the same policy and account that people have approved and that was not given back,
        before ``entry_id`` where that is the entry that waits.
        """
        account = matter.of["account"]
        if matter.stage == "change":
            required = self.required(account)
            if matter.name == reviews.PLAN:
                return self.last_plan(account)
            if matter.name == reviews.LIMIT:
                return reviews.limit_document(account, self.budget.account(account).limit)
            return {} if required is None else required.policy.document
        name = self.budget.entry(entry_id).policy_name if entry_id else matter.name
        for record in self.chain.saying("policy_name", name):
            is_before = record.kind == "reserve" and record.seq < (entry_id or record.seq + 1)
            if is_before and record.account == account:
                entry = self.budget.entry(record.seq)
                if reviews.is_approved(entry):
                    return reviews.without_time(entry.run.predicate)
        return {}

    def last_plan(self, account: str) -> Mapping[str, object]:
        """What was approved of the plan that was recorded last of an account; empty for none."""
        for record in reversed(self.chain.own):
            if record.kind == "plan" and record.account == account:
                plan = said(self.chain.trusted(record), "plan")
                return dict(plan) if isinstance(plan, Mapping) else {}
        return {}

    def planned(
        self, document: Mapping[str, object], window: str, brought: Brought
    ) -> StageReview | None:
        """What is recorded of the approvals of a window's plan; None where nobody must approve it.

        The plan that was recorded last is approved for every window to come. Raises NotApproved.
        """
        account = str(document["account"])
        required = self.required(account)
        if required is None or not required.needs("change"):
            return None
        before = self.last_plan(account)
        if before == document:
            return None
        what = f"the plan{f' of {window}' if window else ''}: {plan_words(document)}"
        if before:
            what += f"; it was: {plan_words(before)}"
        return self.met(required, reviews.plan_matter(document), brought, what=what)

    def served(self, request_sha256: str, entry_id: int = 0) -> int:
        """What a request has served for, but ``entry_id`` and what was given back; else 0."""
        for record in self.chain.saying(reviews.REQUEST_KEY, request_sha256):
            owner = record.entry or record.seq
            is_charge = record.kind == "reserve"
            gone = is_charge and self.budget.entry(record.seq).state == "cancelled"
            if owner != entry_id and not gone:
                return owner
        return 0

    def check_unused(self, matter: Matter, brought: Brought, entry_id: int = 0) -> None:
        """NotApproved where a request has served for another charge or change."""
        if owner := self.served(brought.request_sha256, entry_id):
            raise NotApproved(
                f"{matter.name}: its request has served already, for record {owner}: one request is"
                " good for one charge; ask anew with 'policy-engine review request'. Nothing was"
                " charged"
            )

    def check_lets_go(self, account: str, what: str) -> None:
        """NotApproved where an account that requires approvals would lose its sources."""
        if self.holds_back(account):
            raise NotApproved(
                f"account {account!r} requires approvals, and {what}: let its people approve a"
                " review policy without claim and release first; nothing was changed"
            )

    def faults(self) -> tuple[Fault, ...]:
        """What is wrong of single records that keys of ours have signed, in order.

        Nothing else is said against the ledger by it: who looked into one, ``settle`` records.
        """
        where, own = self.chain.where, self.chain.own
        entries = {entry.id: entry for entry in entries_of(own, where)}
        found = [
            *faults_of(own, where),
            *reviews.review_faults(own, entries, where),
            *order_faults(own),
        ]
        told = settlements_of(own, where)

        def settled(fault: Fault) -> Fault:
            numbers = (fault.record, fault.entry)
            mine = (each for each in told if each.of in numbers and each.record > fault.record)
            return replace(fault, settled=next(mine, None))

        return tuple(map(settled, sorted(found, key=lambda fault: fault.record)))

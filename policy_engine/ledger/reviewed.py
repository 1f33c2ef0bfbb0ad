"""Approvals in a ledger: what an account requires, and what was approved."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from policy_engine.attest.approvals import Brought, Matter, ReviewPolicy, Stage
from policy_engine.errors import NotApproved
from policy_engine.ledger.chained import Chained
from policy_engine.ledger.entry import Charge
from policy_engine.ledger.reviews import (
    REQUEST_KEY,
    REVOKED_KEY,
    Required,
    brought_in,
    check_next,
    claim_of,
    policy_matter,
    release_of,
    required_by,
)
from policy_engine.ledger.states import check_said


class Reviewed(Chained):
    """A chain whose accounts may require approvals before a claim or a release."""

    def required(self, account: str) -> Required | None:
        """What approvals an account requires; None where it never required any."""
        seq = self.account(account).review
        return self.required_then(seq) if seq else None

    def required_then(self, seq: int) -> Required:
        """What the review policy of the record of that number requires, as keys are revoked now."""

        def revoked(key: str) -> bool:
            return key in self._trust.revoked or any(self._with(REVOKED_KEY, key))

        return required_by(seq, self._known, revoked, self._records.where)

    def require(self, policy: ReviewPolicy, brought: Brought, *, who: str, why: str) -> None:
        """Record the review policy by which its account is released from now on.

        Raises UsageError where who or why is not said, NotApproved where it changes another one and
        the people of that one have not approved it.
        """
        check_said(policy.account, who, why, "a review policy is set")
        with self._writing():
            now, account = self.required(policy.account), self.account(policy.account)
            told = check_next(now, policy, brought, self._moment())
            if told:
                self._check_unused(policy_matter(policy), brought)
            told |= {"document": dict(policy.document), "previous": account.review}
            account = replace(account, review=self._head.records + 1)
            self._append("require", {**told, **self._at(who=who, why=why)}, account=account)

    def revoke(self, key: str, *, who: str, why: str) -> None:
        """Record that nothing counts that this key approves, from now on and in every account."""
        check_said("records", who, why, "a key is revoked")
        with self._writing():
            self._append("revoke", {REVOKED_KEY: key, **self._at(who=who, why=why)})

    def approve(
        self, entry_id: int, brought: Brought | None = None, release_digest: str = ""
    ) -> None:
        """Return if an entry has the approvals that its account requires now, and record new ones.

        Of its claim; with a ``release_digest``, of what came out. What is recorded already and
        still counts is enough. Raises NotApproved.
        """
        stage: Stage = "release" if release_digest else "claim"
        required = self.required(self.entry(entry_id).account)
        if required is None or not required.needs(stage):
            return
        with self._writing():
            entry = self.entry(entry_id)
            if entry.is_out:
                return  # what nobody was asked about is charged, and has no certificate
            matter = release_of(entry, release_digest) if release_digest else claim_of(entry)
            kept = [brought_in(told) for told in entry.reviews if told.get("stage") == stage]
            if any(not required.faults(matter, each, self._moment()) for each in kept):
                return
            told = self._met(required, matter, brought or (kept or [Brought()])[-1], entry.id)
            told["release_digest"] = release_digest
            self._append("approve", {**told, **self._at()}, entry=entry_id)

    def check_reviewed(self, charge: Charge) -> None:
        """NotApproved where a charge lacks what its account requires; ``reserve`` asks again."""
        self._reviewed(charge, is_out=False)

    def _reviewed(self, charge: Charge, *, is_out: bool) -> dict[str, Any]:
        """What is recorded with a charge of the approvals that its account requires."""
        required = self.required(charge.account)
        if required is None or not required.policy.holds_back:
            return {}
        if is_out:
            return {**required.told("claim"), "out": True}
        if required.needs("release") and not charge.run.get("sealed"):
            raise NotApproved(
                f"account {charge.account!r} requires approvals of a release, and this engine"
                " cannot draw the same sample again once they are there: use method: keyed; nothing"
                " was charged"
            )
        if not required.needs("claim"):
            return required.told("claim")
        return self._met(required, claim_of(charge), charge.brought or Brought())

    def _met(
        self, required: Required, matter: Matter, brought: Brought, entry_id: int = 0
    ) -> dict[str, Any]:
        """What is recorded of approvals that are met, for nothing else; NotApproved for others."""
        told = required.met(matter, brought, self._moment())
        self._check_unused(matter, brought, entry_id)
        return told

    def served(self, request_sha256: str, entry_id: int = 0) -> int:
        """What a request has served for, but ``entry_id`` and what was given back; else 0."""
        for record in self._with(REQUEST_KEY, request_sha256):
            owner = record.entry or record.seq
            gone = record.kind == "reserve" and self.entry(record.seq).state == "cancelled"
            if owner != entry_id and not gone:
                return owner
        return 0

    def _check_unused(self, matter: Matter, brought: Brought, entry_id: int = 0) -> None:
        """NotApproved where a request has served for another charge or change."""
        if owner := self.served(brought.request_sha256, entry_id):
            raise NotApproved(
                f"{matter.name}: its request has served already, for record {owner}: one request is"
                " good for one charge; ask anew with 'policy-engine review request'. Nothing was"
                " charged"
            )

    def _holds_back(self, account: str) -> bool:
        required = self.required(account)
        return required is not None and required.policy.holds_back

    def _check_lets_go(self, account: str, what: str) -> None:
        """NotApproved where an account that requires approvals would lose its sources."""
        if self._holds_back(account):
            raise NotApproved(
                f"account {account!r} requires approvals, and {what}: let its people approve a"
                " review policy without claim and release first; nothing was changed"
            )

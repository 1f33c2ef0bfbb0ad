"""What the project's ledger says of a release's approvals: what was required, and which counted.

Its word is what was recorded with the charge. A line that was not recorded is judged alone, by the
same law, to say why it is not among them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from policy_engine.attest.approvals import Brought, Matter, tally
from policy_engine.attest.review_policy import Approver
from policy_engine.attest.validity import moment
from policy_engine.ledger.reviews import Required, brought_in, claim_of, release_of, signer_in
from policy_engine.releasing.requests import predicate_digest

if TYPE_CHECKING:
    from policy_engine.ledger.entry import Entry
    from policy_engine.releasing.ledger_state import LedgerState


@dataclass(frozen=True)
class LedgersWord:
    """What a charge had to have of one stage, and had; no ``matter`` where nobody was asked."""

    stage: str
    needs: Mapping[str, int]
    required: Required
    matter: Matter | None
    brought: Brought
    at: datetime

    def words(self) -> str:
        """What was required, and that it was met: nothing else is recorded."""
        wanted = ", ".join(f"{n} of role {role}" for role, n in self.needs.items()) or "nobody"
        met = "and it was met" if self.matter else "and it was released without them"
        return (
            f"of the {self.stage}: {wanted}, {met} (review policy"
            f" {self.required.policy.serial}, {self.required.policy.digest[:15]})"
        )

    def person(self, line: str) -> Approver | None:
        """Who has signed a line, by the review policy; None for a stranger."""
        return signer_in(self.required.policy, line)

    def why_not(self, line: str, time: str | None) -> str:
        """Why a line of this stage did not count; empty where it did."""
        if line in self.brought.approvals:
            return ""
        if self.matter is None:
            return "it was released without approvals"
        signed = None if time is None else moment(time)
        if signed is not None and signed > self.at:
            return "it came after the ledger had counted"
        alone = Brought(self.brought.request, (line,))
        found = tally(self.required.policy, self.matter, alone, self.at, self.required.revoked)
        if found.refused:
            return found.refused[0].removeprefix("line 1: ")
        if found.counted or not found.faults:
            return "the ledger did not need it, or it was not there in time"
        return found.faults[-1]


def judged_of(state: LedgerState, predicate: Mapping[str, Any]) -> tuple[LedgersWord, ...] | None:
    """What was judged of a certificate's charge; None where no entry is of it."""
    entry = state.charged_for(predicate_digest(predicate))
    if entry is None:
        return None
    return tuple(_judged(entry, told, state.required[told["record"]]) for told in entry.reviews)


def _judged(entry: Entry, told: Mapping[str, Any], required: Required) -> LedgersWord:
    at = entry.reserved_at if "at" not in told else datetime.fromisoformat(told["at"])
    return LedgersWord(
        str(told["stage"]), told["needs"], required, _matter(entry, told), brought_in(told), at
    )


def _matter(entry: Entry, told: Mapping[str, Any]) -> Matter | None:
    if told.get("out"):
        return None
    if told["stage"] == "claim":
        return claim_of(entry)
    return release_of(entry, str(told["release_digest"]))

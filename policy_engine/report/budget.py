"""What the account has paid, by the project's ledger: before this release, for it, and since."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from policy_engine.accounting.in_words import in_text
from policy_engine.ledger.account import balance_of
from policy_engine.releasing.requests import predicate_digest

if TYPE_CHECKING:
    from policy_engine.ledger.account import Limit
    from policy_engine.ledger.entry import Entry
    from policy_engine.ledger.states import Change
    from policy_engine.releasing.ledger_state import LedgerState


UNBOUNDED = "unbounded"
"""What ε is of releases that have none, alone or among others."""


@dataclass(frozen=True)
class Amount:
    """An ε with its δ, each as text and as a share of the limit's ε; None without a limit."""

    epsilon: str
    delta: str
    share: float | None = None


@dataclass(frozen=True)
class OtherRelease:
    """Another release that the account has paid for."""

    policy: str
    date: str
    amount: Amount


@dataclass(frozen=True)
class Budget:
    """An account: sums of ε and δ before a release, of it and since; and what is left.

    ``left`` is by the account's own rule, which counts several releases together for less than
    their sum; ``units`` are those of its charges. ``limit_by`` and the rest are of the entry that
    set the limit last, else None.
    """

    account: str
    charges: int
    units: tuple[str, ...]
    before: Amount
    this: Amount
    since: Amount
    limit: Amount | None
    left: Amount | None
    limit_by: str | None
    limit_why: str | None
    limit_at: str | None
    limit_where: str | None
    others: tuple[OtherRelease, ...]

    def without_others(self) -> Budget:
        """The account without the names of its other releases, and places of this machine."""
        return replace(self, others=(), limit_where=None)


def budget_of(state: LedgerState, predicate: Mapping[str, Any]) -> Budget | None:
    """The account that was charged for a certificate; None where no entry is of it."""
    entry = state.charged_for(predicate_digest(predicate))
    if entry is None:
        return None
    own = state.of(entry.account)
    [account] = own.accounts
    balance = balance_of(account)
    limit = account.limit
    charged = [each for each in own.entries if each.state != "cancelled"]
    left = None
    if limit is not None and balance.left_epsilon is not None and balance.left_delta is not None:
        left = _amount(balance.left_epsilon, balance.left_delta, limit)
    last = _setting(own.changes, limit)
    return Budget(
        account=entry.account,
        charges=len(charged),
        units=tuple(sorted({each.unit for each in charged})),
        before=_sum([each for each in charged if each.id < entry.id], limit),
        this=_sum([entry] if entry in charged else [], limit),
        since=_sum([each for each in charged if each.id > entry.id], limit),
        limit=None if limit is None else _amount(limit.epsilon, limit.delta, limit),
        left=left,
        limit_by=last.who if last else None,
        limit_why=last.why if last else None,
        limit_at=f"{last.at:%Y-%m-%d}" if last else None,
        limit_where=limit.where or None if limit else None,
        others=tuple(_other(each, limit) for each in charged if each.id != entry.id),
    )


def _setting(changes: tuple[Change, ...], limit: Limit | None) -> Change | None:
    """The entry that set the limit that counts; None where the project file alone states it."""
    last = changes[-1] if changes else None
    return last if last is not None and last.after == limit else None


def _sum(entries: list[Entry], limit: Limit | None) -> Amount:
    epsilon = sum((each.epsilon for each in entries), Decimal(0))
    delta = sum((each.delta for each in entries), Decimal(0))
    return _amount(epsilon, delta, limit)


def _amount(epsilon: Decimal, delta: Decimal, limit: Limit | None) -> Amount:
    share = None
    if delta >= 1:
        return Amount(UNBOUNDED, in_text(min(delta, Decimal(1))))
    if limit is not None and limit.epsilon:
        share = float(epsilon / limit.epsilon)
    return Amount(in_text(epsilon), in_text(delta), share)


def _other(entry: Entry, limit: Limit | None) -> OtherRelease:
    amount = _amount(entry.epsilon, entry.delta, limit)
    return OtherRelease(entry.policy_name, f"{entry.reserved_at:%Y-%m-%d}", amount)

"""What each page shows, as plain values: made of what the reader has read, and nothing else."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from typing import Any

from policy_engine.accounting.in_words import in_text
from policy_engine.errors import VerificationFailed
from policy_engine.kernel.laws import ClaimError
from policy_engine.ledger.account import Account, Balance, WindowBalance, balance_of, brief
from policy_engine.ledger.entry import Entry
from policy_engine.ledger.promises import promises
from policy_engine.ledger.reviews import approvers
from policy_engine.ledger.states import LimitChange
from policy_engine.policy.resolve import Policy
from policy_engine.releasing.ledger_state import LedgerState
from policy_engine.releasing.requests import certificate_of
from policy_engine.report.changes import Comparable, KeyChange, changes
from policy_engine.values import frozen

PAGE_SIZE = 25
_POINTS, _SPANS = 6, 12
WIDTH, HEIGHT = 600, 160
"""The size of a burn-down, in its own units."""
_Sum = tuple[datetime, Decimal, Decimal]
"""ε and δ of all that was charged until a moment."""


@frozen
class AccountRow:
    """An account: its limit, what is spent of it and left, each an ε with its δ."""

    name: str
    id: str
    units: tuple[str, ...]
    charges: int
    open: int
    limit: str | None
    spent: str
    sums: str
    left: str | None
    share: float | None
    needs: str | None
    windows: tuple[WindowRow, ...] = ()
    promises: tuple[str, ...] = ()
    """What its windows promise; none of a limit for ever."""


@frozen
class WindowRow:
    """A window: what is planned and left of it, and what is spent of the rest."""

    name: str
    charges: int
    planned: str | None
    rest: str
    spent: str
    sums: str


@frozen
class Span:
    """The sums of an account at the end of a span of time, and the limit then."""

    until: str
    charges: int
    epsilon: str
    delta: str
    limit: str | None


@frozen
class BurnDown:
    """What an account has spent over time: two lines of an SVG, and the same as a table."""

    spent: str
    limit: str
    top: str
    first: str
    last: str
    spans: tuple[Span, ...]


@frozen
class ApprovalsOf:
    """What an entry was required to have of a stage, and who it was approved by."""

    stage: str
    needs: str
    people: tuple[tuple[str, str], ...]
    without: bool


@frozen
class SinceLast:
    """What changed since the release before it under the same name; None where nobody can tell."""

    entry: int
    date: str
    changes: tuple[KeyChange, ...] | None


@frozen
class Sheet:
    """One page of a long list: its number, and how many there are."""

    rows: tuple[Entry, ...]
    number: int
    last: int
    count: int


def account_id(name: str) -> str:
    """How an address names an account: a name may hold anything."""
    return hashlib.sha256(name.encode()).hexdigest()[:20]


def account_rows(state: LedgerState) -> tuple[AccountRow, ...]:
    """Every account, under the limit that counts."""
    by_account: dict[str, list[Entry]] = {}
    for entry in state.entries:
        by_account.setdefault(entry.account, []).append(entry)
    return tuple(_row(each, by_account.get(each.name, []), state) for each in state.accounts)


def _row(account: Account, entries: Sequence[Entry], state: LedgerState) -> AccountRow:
    balance = balance_of(account)
    basic = balance.price
    required = state.in_force.get(account.name)
    spent = f"ε {brief(balance.spent_epsilon)}, δ {brief(balance.spent_delta)}"
    return AccountRow(
        name=account.name,
        id=account_id(account.name),
        units=tuple(sorted({entry.unit for entry in entries})),
        charges=balance.charges,
        open=sum(entry.is_open for entry in entries),
        limit=None if account.limit is None else str(account.limit),
        spent="counted in each window separately" if account.has_windows else spent,
        sums=f"ε {brief(basic.basic_epsilon)}, δ {brief(basic.basic_delta)}",
        left=_left(account, state),
        share=None if account.has_windows else _share(balance),
        needs=None if required is None else needs_in_words(required.policy.needs),
        windows=tuple(map(_window, balance.windows)),
        promises=promises(account),
    )


def _window(balance: WindowBalance) -> WindowRow:
    price = balance.price
    spent = price.basic_epsilon if price.tight_epsilon is None else price.tight_epsilon
    kept = price.basic_delta if price.tight_delta is None else price.tight_delta
    return WindowRow(
        name=balance.name or "for ever",
        charges=balance.charges,
        planned=", ".join(each.words() for each in balance.slots) or None,
        rest=str(balance.rest),
        spent=f"ε {brief(spent)}, δ {brief(kept)}",
        sums=f"ε {brief(balance.sums[0])}, δ {brief(balance.sums[1])}",
    )


def promised_by(policy: Policy) -> str:
    """What a policy promises, and from how many people on a group of it is mostly shown."""
    if policy.is_unpromised:
        return "no (ε, δ): nothing is promised to any person"
    own, unit = policy.guarantee, policy.source.key or "row"
    text = f"ε {in_text(own.epsilon)}, δ {in_text(own.delta)} for one {unit}"
    if policy.protection.keys:
        return f"{text}; every public group is shown"
    half = max(policy.protection.visible(policy).values(), default=None)
    return text if half is None else f"{text}; a group of {half:,} is shown half the time"


def needs_in_words(needs: Mapping[Any, Mapping[str, int]]) -> str:
    """How many people of which role each stage needs.

    >>> needs_in_words({"claim": {"owner": 1}, "release": {}, "change": {"owner": 2}})
    'claim: 1 owner; change: 2 owner'
    """
    return "; ".join(f"{stage}: {_roles(own)}" for stage, own in needs.items() if own)


def _roles(needs: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {role}" for role, count in needs.items())


def _left(account: Account, state: LedgerState) -> str | None:
    """What it would still pay for, of the kind of its last charge and of others."""
    if not state.has_begun:
        return "not known, because there is no ledger here"
    left = state.left(account)
    return None if left is None else left.words("the last")


def _share(balance: Balance) -> float | None:
    """How much of the limit is spent, of whichever number is nearer its end."""
    limit = balance.limit
    if limit is None:
        return None
    pairs = ((balance.spent_epsilon, limit.epsilon), (balance.spent_delta, limit.delta))
    return min(1.0, max((float(spent / most) if most else 1.0) for spent, most in pairs))


def burn_down(
    account: Account, entries: Sequence[Entry], limits: Sequence[LimitChange], now: datetime
) -> BurnDown | None:
    """What an account had spent over time under its limit; None before anything happened.

    The line is ε at the limit's δ by the account's rule; of one without a limit the sum of the
    certificates. The rule takes time, so that long histories are drawn at few moments only.
    """
    # Of windows there is no one limit: the sums of the certificates are drawn.
    if account.has_windows:
        account, limits = replace(account, limit=None), ()
    limit = account.limit
    charged = [entry for entry in entries if entry.state != "cancelled"]
    moments = [entry.reserved_at for entry in charged] + [change.at for change in limits]
    if not moments:
        return None
    start, end = min(moments), max(now, *moments)
    whole = (end - start).total_seconds() or 1.0
    sums = _sums(charged)
    # At so many moments at most, the last among them.
    counts = {*range(1, len(charged) + 1, len(charged) // _POINTS + 1), len(charged)} - {0}
    spent = [
        (charged[count - 1].reserved_at, account.epsilon_of(charged[:count]))
        for count in sorted(counts)
    ]
    most = [change.after.epsilon for change in limits] + ([limit.epsilon] if limit else [])
    top = max([*most, *(epsilon for _, epsilon in spent)]) or Decimal(1)

    def x(at: datetime) -> float:
        return (at - start).total_seconds() / whole * WIDTH

    def y(epsilon: Decimal) -> float:
        return HEIGHT - float(epsilon / top) * HEIGHT

    steps = [(x(at), y(epsilon)) for at, epsilon in spent]
    marks = [(x(change.at), y(change.after.epsilon)) for change in limits]
    if limit is not None and not marks:
        marks = [(0.0, y(limit.epsilon))]
    return BurnDown(
        spent=_stairs([(0.0, float(HEIGHT)), *steps]),
        limit=_stairs(marks, [] if limit is None else [y(limit.epsilon)]) if marks else "",
        top=in_text(top),
        first=f"{start:%Y-%m-%d}",
        last=f"{end:%Y-%m-%d}",
        spans=_spans(sums, limits, start, end),
    )


def _sums(charged: Iterable[Entry]) -> list[_Sum]:
    epsilon, delta, found = Decimal(0), Decimal(0), []
    for entry in charged:
        epsilon, delta = epsilon + entry.epsilon, delta + entry.delta
        found.append((entry.reserved_at, epsilon, delta))
    return found


def _stairs(points: Sequence[tuple[float, float]], end: Sequence[float] = ()) -> str:
    """A line of an SVG that goes level to each point and then up or down; ``end`` is its end."""
    (left, high), *others = points
    told = f"M{left:.1f} {high:.1f}" + "".join(f"H{at:.1f}V{to:.1f}" for at, to in others)
    return f"{told}H{WIDTH}" + "".join(f"V{to:.1f}" for to in end)


def _spans(
    sums: Sequence[_Sum], limits: Sequence[LimitChange], start: datetime, end: datetime
) -> tuple[Span, ...]:
    """The sums at the ends of equal spans in which anything happened."""
    found: dict[str, Span] = {}
    for number in range(1, _SPANS + 1):
        until = end if number == _SPANS else start + (end - start) / _SPANS * number
        done = [(epsilon, delta) for at, epsilon, delta in sums if at <= until]
        set_ = [change.after for change in limits if change.at <= until]
        epsilon, delta = done[-1] if done else (Decimal(0), Decimal(0))
        day = f"{until:%Y-%m-%d}"
        limit = str(set_[-1]) if set_ else None
        found[day] = Span(day, len(done), brief(epsilon), brief(delta), limit)
    return tuple(found.values())


def sheet(entries: Sequence[Entry], number: int) -> Sheet:
    """A page of the releases that were charged, the newest first; numbers count from 1."""
    last = max(1, -(-len(entries) // PAGE_SIZE))
    number = min(max(1, number), last)
    end = len(entries) - (number - 1) * PAGE_SIZE
    own = entries[max(0, end - PAGE_SIZE) : end]
    return Sheet(tuple(reversed(own)), number, last, len(entries))


STATES = {
    "reserved": "charged; nothing has run yet",
    "started": "charged; running, failed or stopped",
    "kept": "charged; not published",
    "committed": "published",
    "cancelled": "given back, because nothing ran",
}
"""What became of a charge for a release, in words."""
_CHOICES = {"recoding": "the level of each column", "numbers": "the limits for one person"}


def choice_of(entry: Entry) -> str:
    """What a private choice was charged to choose, in words; empty of a release."""
    return _CHOICES.get(str(entry.run.predicate.get("chosen")), "")


def state_of(entry: Entry) -> str:
    """What became of a charge, in words."""
    if entry.state == "committed" and choice_of(entry):
        return "the chosen policy was written"
    return STATES[entry.state]


def approvals_of(entry: Entry, state: LedgerState) -> tuple[ApprovalsOf, ...]:
    """What an entry was required to have, and the people whose approvals were met."""
    return tuple(
        ApprovalsOf(
            review.stage,
            _roles(review.needs) or "nobody",
            approvers(state.required[review.record].policy, review),
            review.is_out,
        )
        for review in entry.reviews
    )


def since_last(entry: Entry, entries: Sequence[Entry]) -> SinceLast | None:
    """What changed since the last published release of the policy's name; None for the first."""
    before = [
        each
        for each in entries
        if each.id < entry.id
        and (each.policy_name, each.account) == (entry.policy_name, entry.account)
        and each.state == "committed"
    ]
    if not before:
        return None
    former = before[-1]
    old, new = _comparable(former), _comparable(entry)
    found = None if old is None or new is None else changes(old, new)
    return SinceLast(former.id, f"{former.reserved_at:%Y-%m-%d}", found)


def _comparable(entry: Entry) -> Comparable | None:
    """What an entry's certificate states; None where this version cannot read it."""
    try:
        return Comparable.of_certificate(certificate_of(entry.run))
    except (ClaimError, VerificationFailed):
        return None

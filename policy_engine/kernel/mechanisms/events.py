"""What an account is charged with for a release: the index of the mechanisms' events.

A law has the price of one release, which is trusted. What composes with other releases is asked
where an account is charged, and no certificate rests on it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import ROUND_CEILING, Context, Decimal
from typing import Any

from policy_engine.accounting.domain import REPLACE_ONE, claimed
from policy_engine.accounting.events import Event
from policy_engine.kernel.claim import Claim
from policy_engine.kernel.mechanisms.ab_insertion import event as ab_insertion
from policy_engine.kernel.mechanisms.noisy_counts import event as noisy_counts
from policy_engine.kernel.mechanisms.randomised_response import event as randomised_response
from policy_engine.kernel.mechanisms.sampled_suppression import event as sampled_suppression
from policy_engine.kernel.mechanisms.whole_classes import event as whole_classes
from policy_engine.kernel.promise import Promise

_EVENTS: Mapping[str, Callable[[Any, int, Decimal, str], Event]] = {
    "ab_insertion": ab_insertion.event,
    "noisy_counts": noisy_counts.event,
    "randomised_response": randomised_response.event,
    "sampled_suppression": sampled_suppression.event,
    "whole_classes": whole_classes.event,
}
_CEILING = Context(prec=60, rounding=ROUND_CEILING)


def event_of(claim: Claim, rate: Decimal, neighbours: str) -> Event:
    """What an account is charged with. Errors: DomainError where no ε is met.

    ``rate`` is not below the one at which a unit is in the sample.
    """
    return _EVENTS[claim.law.template](claim.law, claim.unit.groups, rate, neighbours)


def charged(claim: Claim, promise: Promise, rate: Decimal | None = None) -> tuple[Event, Decimal]:
    """What an account is charged with for a promise, and the δ of it.

    Releases of one source share the sample that it is of its population, if it is one. They compose
    without it only, so event and δ are those of the release's own sample, which was drawn with at
    most the ``rate``: as the promise has it unless it is said.
    """
    delta, notion, own = promise.delta, promise.neighbours, _own_rate(promise, rate)
    if promise.sampled_at != 1:
        delta = claimed(claim.delta(own, promise.epsilon, notion))
    return event_of(claim, own, notion), delta


def of_replaced(claim: Claim, promise: Promise) -> Event:
    """The event of a release by the notion under which a unit is replaced, [PERIOD].

    Errors: DomainError where no ε is met.
    """
    return event_of(claim, _own_rate(promise, None), REPLACE_ONE)


def _own_rate(promise: Promise, rate: Decimal | None) -> Decimal:
    return _CEILING.divide(promise.rate, promise.sampled_at) if rate is None else rate

"""[PLAN] Whether a release is what a slot of a plan was priced for, or says less.

A slot has a pair. Whatever else of a policy is changed, its edition may take the slot if its own
pair is the slot's or *covered* by it: some processing turns the slot's outcome into the release's,
of the unit there and of the unit not there alike. By Blackwell that is so just where for every test
of the release there is one of the slot with no more errors of either kind: where the corners of the
one pair's hull of powers (``noise``) lie on or below the other's. That is both directions at once,
and the same way round: noise that is asymmetric covers what moves up, and not what moves down.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from itertools import accumulate

from policy_engine.accounting import bounds
from policy_engine.accounting.domain import REPLACE_ONE, neighbour_notion
from policy_engine.accounting.events import (
    ApproximateDP,
    DiscreteLaplace,
    Event,
    PureDP,
    RandomisedResponse,
    SampledSuppression,
    TableNoise,
)
from policy_engine.accounting.exact import delta_of_event, has_curve
from policy_engine.accounting.noise import Statistic
from policy_engine.accounting.powers import Step
from policy_engine.errors import DomainError

Steps = tuple[Step, ...]
"""A pair: masses under both laws whose ratios fall, in one unit of mass."""


def covers(slot: Event, event: Event, neighbours: str) -> bool:
    """Whether an event's outcome could be had from the slot's, under the account's notion.

    True is proven; what is not known is False. Errors: DomainError for an unknown notion.

    >>> covers(SampledSuppression(20, "0.1"), SampledSuppression(25, "0.1"), "add_remove")
    True
    >>> covers(PureDP("0.5"), RandomisedResponse("0.5", 2), "replace_one")
    False
    >>> covers(PureDP("1.1"), RandomisedResponse("0.5", 2), "replace_one")
    True
    """
    notion = neighbour_notion(neighbours)
    if isinstance(event, RandomisedResponse) and notion != REPLACE_ONE:
        return False
    if event == slot:
        return True
    match slot, event:
        case PureDP(epsilon=epsilon), _:
            return _is_private(event, Decimal(str(epsilon)), Decimal(0), notion)
        case ApproximateDP(epsilon=epsilon, delta=delta), _:
            return _is_private(event, Decimal(str(epsilon)), Decimal(str(delta)), notion)
        case SampledSuppression(k=k, rate=rate), SampledSuppression(k=other_k, rate=other):
            # A larger k suppresses more; of a smaller rate each sampled unit is kept with a chance.
            return other_k >= k and Decimal(str(other)) <= Decimal(str(rate))
        case TableNoise() | RandomisedResponse(), TableNoise() | RandomisedResponse():
            # Where a unit is replaced noise has two pairs and a choice one: neither stands for the
            # other.
            chosen = _matches(_choices(slot, notion), _choices(event, notion))
            return chosen and _matches(_pairs(slot), _pairs(event))
    return False


def is_below(pair: Sequence[Step], other: Sequence[Step]) -> bool:
    """Whether every test of a pair has one of the other with no more errors of either kind.

    Exact. ``pair`` and ``other`` have falling ratios.

    >>> fair, sure = [(2, 1), (1, 2)], [(3, 1), (1, 3)]
    >>> is_below(fair, sure), is_below(sure, fair)
    (True, False)
    """
    corners, hull = _corners(pair), _corners(other)
    size, whole = corners[-1][0], hull[-1][0]
    place = 0
    for p, q in corners:
        # The edge of the hull above this corner, past those that rise straight up; masses of both
        # pairs are brought to one unit.
        while place + 2 < len(hull) and hull[place + 1][1] * size <= q * whole:
            place += 1
        (low_p, low_q), (high_p, high_q) = hull[place], hull[place + 1]
        rise, run = high_p - low_p, high_q - low_q
        if run * (p * whole - low_p * size) > rise * (q * whole - low_q * size):
            return False
    return True


def _corners(steps: Sequence[Step]) -> list[Step]:
    """(P(S), Q(S)) of the tests that lose least, from that which takes nothing."""
    start = (0, 0)
    return [start, *accumulate(steps, lambda at, step: (at[0] + step[0], at[1] + step[1]))]


def _pairs(event: TableNoise | RandomisedResponse) -> Counter[Steps]:
    """The pairs whose product an event is, one way round."""
    if isinstance(event, RandomisedResponse):
        return Counter([_response(event)])
    times = Counter[Statistic]()
    for statistic in event.statistics:
        times[replace(statistic, groups=1)] += statistic.groups
    found = Counter[Steps]()
    for statistic, n in times.items():
        found[tuple(statistic.steps())] += n
    return found


def _choices(event: TableNoise | RandomisedResponse, notion: str) -> Counter[Steps]:
    """The pairs of the choices of an event."""
    found = Counter[Steps]()
    if isinstance(event, TableNoise):
        for choice in event.choices:
            found[tuple(choice.steps(notion))] += choice.groups
    return found


def _response(event: RandomisedResponse) -> Steps:
    truth = Fraction(Decimal(str(event.truth)))
    other = (1 - truth) / event.values
    masses = [(truth + other, other), ((event.values - 2) * other,) * 2, (other, truth + other)]
    unit = other.denominator * (truth + other).denominator
    return tuple((int(p * unit), int(q * unit)) for p, q in masses if p or q)


def _matches(slot: Counter[Steps], event: Counter[Steps]) -> bool:
    """Whether each pair of the event has one of the slot above it, of its own.

    A product of pairs that are covered is covered. Those with the fewest above them choose first,
    and take what covers the fewest: a match that is not found so is taken for none.
    """
    above = {pair: [other for other in slot if is_below(pair, other)] for pair in event}
    covered = Counter(other for others in above.values() for other in others)
    left = Counter(slot)
    for pair in sorted(event, key=lambda pair: len(above[pair])):
        needed = event[pair]
        for other in sorted(above[pair], key=lambda other: covered[other]):
            taken = min(needed, left[other])
            left[other] -= taken
            needed -= taken
        if needed:
            return False
    return True


def _is_private(event: Event, epsilon: Decimal, delta: Decimal, neighbours: str) -> bool:
    """Whether an event is (ε, δ)-DP: nothing that is says more than that pair (Kairouz et al.)."""
    if has_curve(event):
        try:
            return delta_of_event(event, epsilon, neighbours) <= delta
        except DomainError:
            return False
    match event:
        case PureDP(epsilon=own):
            return Decimal(str(own)) <= epsilon
        case ApproximateDP(epsilon=own, delta=mass):
            return Decimal(str(own)) <= epsilon and Decimal(str(mass)) <= delta
        case DiscreteLaplace(scale=scale, sensitivity=sensitivity):
            return Fraction(sensitivity) <= Fraction(epsilon) * Fraction(Decimal(str(scale)))
        case RandomisedResponse(truth=truth, values=values):
            return bounds.randomised_response(truth, values, neighbours) <= epsilon
    return False

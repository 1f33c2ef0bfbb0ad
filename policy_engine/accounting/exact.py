"""One release: δ for an ε and ε for a δ, under either notion, for groups of any size."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from functools import lru_cache

from policy_engine.accounting import bounds
from policy_engine.accounting.crossing import least_below
from policy_engine.accounting.curve import Bound
from policy_engine.accounting.domain import (
    ADD_REMOVE,
    REPLACE_ONE,
    Number,
    arithmetic,
    neighbour_notion,
    nonnegative_epsilon,
    probability,
    sampling_rate,
    threshold,
)
from policy_engine.accounting.events import (
    Event,
    FixedList,
    Replaced,
    SampledSuppression,
    TableNoise,
)
from policy_engine.accounting.groups import delta_group, group_size
from policy_engine.accounting.losses import Composition
from policy_engine.accounting.noise import ReleaseCurve
from policy_engine.accounting.one import delta_of_one
from policy_engine.accounting.pairs import pairs_of
from policy_engine.errors import DomainError

_RESOLUTION = 12
"""ε is found on a grid of 10⁻¹²."""
_ROUGH_RESOLUTION = 5
_NO_EPSILON, _WITH_CURVE = "{}, which no epsilon lowers", "one with a curve, for so many units"


def delta_exact(
    k: int, rate: Number, epsilon: Number, neighbours: str = ADD_REMOVE, group: int = 1
) -> Bound:
    """Compute the least δ with which one release is (ε, δ)-DP for m units together, [EXACT].

    Guarantee: the result is never below the true value. This is how far it can be above the true
    value:

    * add_remove: the relative error is below 1e-11. ``delta_group`` names one exception for m > 1.
    * replace_one with m = 1: see ``delta_replace``.
    * replace_one with m > 1: no limit of the error is known. Two bounds are computed: the generic
      bound for groups, and the composition of the dominating pairs. The smaller one is returned.

    Arguments:
        ``k``: the threshold, an integer from 2 to 10⁹.
        ``rate``: the probability with which each unit is in the sample, between 0 and 1.
        ``epsilon``: ε, from 0 to 10⁹.
        ``neighbours``: ``add_remove`` or ``replace_one``. Under ``add_remove``, one table has all m
            units, and the other has none of them.
        ``group``: m, an integer from 1 to 10,000.

    Errors: DomainError if an argument has a value that is not allowed.

    >>> delta_exact(20, 0.1, 0.5)
    Bound(delta=Decimal('2.63178346623E-11'), at_n=42)
    >>> delta_exact(20, 0.1, 0.5, group=3)
    Bound(delta=Decimal('0.00000736065233931'), at_n=81)
    """
    k, rate, epsilon = threshold(k), sampling_rate(rate), nonnegative_epsilon(epsilon)
    if group_size(group) == 1:
        return delta_of_one(k, rate, epsilon, neighbours)
    if neighbour_notion(neighbours) == ADD_REMOVE:
        return delta_group(k, rate, epsilon, group)
    each = bounds.part_of(epsilon, group)
    generic = bounds.group(each, delta_of_one(k, rate, each, REPLACE_ONE).delta, group)[1]
    # m units that leave one cell, and m that enter another.
    pairs = pairs_of(SampledSuppression(k, rate), REPLACE_ONE, group)
    return Bound(min(generic, Composition((pair, 1) for pair in pairs).delta(epsilon)), None)


def epsilon_exact(
    k: int, rate: Number, delta: Number, neighbours: str = ADD_REMOVE, group: int = 1
) -> Decimal:
    """Compute the least ε ≥ 0 with which one release is (ε, δ)-DP for m units together, [EXACT].

    Guarantee: ``delta_exact`` at the returned ε is at most δ. The result is rounded up. Under
    add_remove it is a multiple of 10⁻¹², and under replace_one a multiple of 10⁻⁵. Under
    replace_one with m > 1, a smaller ε may also be enough.

    Arguments:
        ``k``: the threshold, an integer from 2 to 10⁹.
        ``rate``: the probability with which each unit is in the sample, between 0 and 1.
        ``delta``: δ, between 0 and 1.
        ``neighbours``: ``add_remove`` or ``replace_one``.
        ``group``: m, an integer from 1 to 10,000.

    Errors: DomainError if an argument has a value that is not allowed, or if no ε is large enough
    for δ. No ε is large enough if δ is below the probability that at least k of k + m − 1 people in
    one cell are sampled.

    >>> epsilon_exact(20, "0.1", "1e-9")
    Decimal('0.369867280606')
    >>> epsilon_exact(20, "0.1", "1e-21")
    Traceback (most recent call last):
    policy_engine.base_errors.DomainError: delta must be at least rate**k = 1E-20, found 1E-21
    """
    event = SampledSuppression(threshold(k), sampling_rate(rate))
    return epsilon_of_event(event, delta, neighbours, group)


def has_curve(event: Event) -> bool:
    """Whether more is known of an event than one ε and one δ.

    >>> has_curve(SampledSuppression(20, "0.1"))
    True
    """
    return isinstance(event, SampledSuppression | TableNoise | FixedList | Replaced)


def delta_of_event(
    event: Event, epsilon: Decimal, neighbours: str = ADD_REMOVE, group: int = 1
) -> Decimal:
    """δ at ε ≥ 0 of one event that has a curve, for m units; never below the truth.

    Errors: DomainError, also for other events.

    >>> delta_of_event(SampledSuppression(20, "0.1"), Decimal("0.5"))
    Decimal('2.63178346623E-11')
    """
    match event:
        case SampledSuppression(k=k, rate=rate):
            return delta_exact(k, rate, epsilon, neighbours, group).delta
        case TableNoise() if group == 1:
            return _curve(event, neighbours).delta(epsilon).delta
        case FixedList() | Replaced() if group == 1:
            return max(way.delta(epsilon) for way in _ways(event, neighbours))
    raise DomainError("event", _WITH_CURVE, repr(event))


def epsilon_of_event(
    event: Event, delta: Number, neighbours: str = ADD_REMOVE, group: int = 1
) -> Decimal:
    """The least ε ≥ 0 at δ of one event that has a curve, for m units, rounded up at 10⁻¹².

    Guarantee and errors as ``epsilon_exact``.

    >>> epsilon_of_event(SampledSuppression(20, "0.1"), Decimal("1e-9"))
    Decimal('0.369867280606')
    """
    delta, law, digits = probability(delta), _NO_EPSILON, _RESOLUTION
    match event:
        case SampledSuppression(k=k, rate=rate):
            law = "rate**k = {}" if group == 1 else law
            digits = digits if neighbour_notion(neighbours) == ADD_REMOVE else _ROUGH_RESOLUTION
            beta = sampling_rate(rate)
            with arithmetic(beta):
                # No ratio of the remove direction that is finite exceeds k^m, none of the add
                # direction (1−β)^−m; for replace_one the same holds of e^ε(1−β)^m and of e^ε.
                largest = max(Decimal(k).ln(), -(1 - beta).ln()) * group_size(group)
        case TableNoise() if group == 1:
            largest = _curve(event, neighbours).largest
        case FixedList() | Replaced() if group == 1:
            ways = _ways(event, neighbours)
            found = [value for way in ways if (value := way.epsilon(delta)) is not None]
            if len(found) < len(ways):
                least = max(way.certain for way in ways)
                raise DomainError("delta", f"above {least}", delta)
            return max(found)
        case _:
            raise DomainError("event", _WITH_CURVE, repr(event))

    def at(step: int) -> Decimal:
        return delta_of_event(event, Decimal(step).scaleb(-digits), neighbours, group)

    with arithmetic(largest):
        last = int(largest.scaleb(digits)) + 1
    # From the largest on, no ε lowers δ.
    if (least := at(last)) > delta:
        raise DomainError("delta", f"at least {law.format(least)}", delta)
    return Decimal(least_below(last, at, delta)).scaleb(-digits)


def _ways(event: FixedList | Replaced, neighbours: str) -> list[Composition]:
    """Its composition both ways; under replace_one they are alike."""
    times = Counter(pairs_of(event, neighbours)).items()
    ways = [Composition(times)]
    if neighbours != REPLACE_ONE:
        ways.append(Composition((pair.reversed(), n) for pair, n in times))
    return ways


@lru_cache(maxsize=16)
def _curve(event: TableNoise, neighbours: str) -> ReleaseCurve:
    return ReleaseCurve.of(event.drawn, neighbours)

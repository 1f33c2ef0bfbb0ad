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
    """Compute δ of one release from a sample, for a given ε, [EXACT].

    Use the function to check the δ in a certificate. A group is published if at least k sampled
    units are in it.

    Guarantee: the result is never below the true δ. The relative error is:

    * ``add_remove``: below 1e-11. For m > 1 this holds if δ is at least 1e-13.
    * ``replace_one`` with m = 1: below 1e-3 if k/rate is at most about 10⁵ and δ is at least
      1e-280. Otherwise the bound can be looser.
    * ``replace_one`` with m > 1: unknown.

    Arguments:
        ``k``: the smallest published count, from 2 to 10⁹.
        ``rate``: the probability that a unit is sampled, between 0 and 1.
        ``epsilon``: ε, from 0 to 10⁹.
        ``neighbours``: ``add_remove`` for m units more or less, ``replace_one`` for m other units.
        ``group``: m, how many units are protected together, from 1 to 10,000.

    Errors: DomainError for other values.

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
    """Compute the least ε of one release from a sample, for a given δ, [EXACT].

    A group is published if at least k sampled units are in it.

    Guarantee: ``delta_exact`` at the returned ε is at most δ. The result is rounded up to a
    multiple of 10⁻¹², or of 10⁻⁵ under ``replace_one``. Under ``replace_one`` with m > 1, a smaller
    ε may also be enough.

    Arguments:
        ``k``: the smallest published count, from 2 to 10⁹.
        ``rate``: the probability that a unit is sampled, between 0 and 1.
        ``delta``: δ, between 0 and 1.
        ``neighbours``: ``add_remove`` for m units more or less, ``replace_one`` for m other units.
        ``group``: m, how many units are protected together, from 1 to 10,000.

    Errors: DomainError for other values, or if δ is so small that no ε is large enough. With m = 1,
    δ must be at least rate^k.

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

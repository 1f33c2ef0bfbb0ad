"""For one (ε, δ) every pair (k, β) that no other pair beats: the frontier, [EXACT] and [COMP].

A larger β is better, for more people are in the sample; a smaller k is better, for smaller groups
appear. The greatest β rises with k (``calibration``), so a pair for each k is all there is. Rates
are found in double precision (``rough``), rounded down, and verified with the curve.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal

from policy_engine.accounting import rough
from policy_engine.accounting.calibration import Joint
from policy_engine.accounting.domain import (
    ADD_REMOVE,
    TINY,
    Number,
    arithmetic,
    nonnegative_epsilon,
    probability,
    whole,
)
from policy_engine.errors import DomainError

MOST_K = 500
"""The largest k that is looked at by default, where δ has a closed form."""
MOST_K_SLOW = 100
"""The same for one release under replace_one, where δ takes milliseconds."""
MOST_K_SLOWEST = 50
"""The same for several releases, where δ takes from tens of milliseconds to a second."""
_EXACT = Context(prec=6, rounding=ROUND_FLOOR)
_SLOW = Context(prec=5, rounding=ROUND_FLOOR)


@dataclass(frozen=True)
class SamplePair:
    """A threshold k and a sampling rate."""

    k: int
    rate: Decimal

    @property
    def group(self) -> int:
        """The least n with n·rate ≥ k: a group of so many people is expected to appear.

        >>> SamplePair(14, Decimal("0.253735")).group
        56
        """
        with arithmetic(self.rate):
            return int((self.k / self.rate).to_integral_value(rounding=ROUND_CEILING))


def frontier(
    epsilon: Number,
    delta: Number,
    neighbours: str = ADD_REMOVE,
    releases: int = 1,
    most_k: int | None = None,
) -> tuple[SamplePair, ...]:
    """Every undominated (k, rate) with which N releases are (ε, δ)-DP, by rising k and rate.

    Guarantee: every pair is verified. For one release under add_remove its rate is the greatest
    at 6 significant digits; else it has 5, and is at most a 1e-3 share below the greatest that
    the computed δ allows. Units: k counts privacy units, a rate is a probability. Domain:
    2 ≤ ``most_k`` ≤ 10⁴, the largest k that is looked at; by default 500, under replace_one 100,
    and for several releases 50, for each k then takes some 10 ms or some 300. Errors:
    DomainError; also where no k has a rate from 1e-300 to 0.999999.

    >>> pairs = frontier("1", "1e-6", most_k=14)
    >>> pairs[0], pairs[-1]
    (SamplePair(k=2, rate=Decimal('0.00100000')), SamplePair(k=14, rate=Decimal('0.253735')))
    """
    target = Joint(nonnegative_epsilon(epsilon), probability(delta), neighbours, releases)
    if most_k is None:
        slow = MOST_K_SLOW if target.releases == 1 else MOST_K_SLOWEST
        most_k = MOST_K if target.exact else slow
    whole("most_k", most_k, 2, 10_000)
    found: list[SamplePair] = []
    for pair in _pairs(target, most_k):
        if not found or pair.rate > found[-1].rate:
            found.append(pair)
        if pair.rate == _digits(target).next_minus(Decimal(1)):
            break
    if not found:
        raise DomainError("delta", f"larger for a rate of at least {TINY}", delta)
    return tuple(found)


def least_group(pairs: tuple[SamplePair, ...]) -> SamplePair:
    """The pair with the least k/rate, which publishes the smallest groups; ties: the smaller k.

    Errors: DomainError where there is no pair.

    >>> least_group(frontier("1", "1e-6", most_k=30)).k
    14
    """
    if not pairs:
        raise DomainError("pairs", "at least one pair", "none")
    with arithmetic(*(pair.rate for pair in pairs)):
        return min(pairs, key=lambda pair: (pair.k / pair.rate, pair.k))


def _digits(target: Joint) -> Context:
    return _EXACT if target.exact else _SLOW


def _pairs(target: Joint, most_k: int) -> Iterator[SamplePair]:
    """For each k that has one, a rate that meets the target."""
    search = _search(target) if target.exact else _slow_search(target)
    largest = _digits(target).next_minus(Decimal(1))
    for k in range(2, most_k + 1):
        rate = min(search(k), largest)
        # A rate that is found may be above by what double precision cannot tell.
        while rate >= TINY and target.spent(k, rate) > target.delta:
            rate = _digits(target).next_minus(rate)
        if rate >= TINY:
            yield SamplePair(k, rate)


def _search(target: Joint) -> Callable[[int], Decimal]:
    """The greatest rate in double precision, from where it was for the k before."""
    log_target, epsilon = float(target.delta.ln()), float(target.epsilon)
    low, high = math.log(TINY), math.log(_EXACT.next_minus(Decimal(1)))
    within, at, step = 1e-8, low, 0.0

    def search(k: int) -> Decimal:
        nonlocal at, step
        before = at
        at = rough.crossing(
            lambda x: rough.log_delta(k, math.exp(x), epsilon) - log_target,
            at + step, low, high, within,
        )  # fmt: skip
        step = at - before
        return _EXACT.create_decimal(math.exp(at + within))

    return search


def _slow_search(target: Joint) -> Callable[[int], Decimal]:
    """The same with the accountant's own numbers, which are too costly to ask for often.

    Each search starts from how far the rate lay below that of one release for the k before.
    """
    alone = _search(Joint(target.epsilon, target.delta))
    log_target = float(target.delta.ln())
    low, high = math.log(TINY), math.log(_SLOW.next_minus(Decimal(1)))
    within, below, slope = 2e-4, 0.0, 1.0

    def search(k: int) -> Decimal:
        nonlocal below, slope
        single = math.log(alone(k))
        seen: list[tuple[float, float]] = []

        def rising(x: float) -> float:
            spent = target.spent(k, max(TINY, Decimal(f"{math.exp(x):.12e}")))
            # Aimed below, so that what is found is met.
            seen.append((x, float(spent.ln()) - log_target + within))
            return seen[-1][1]

        at = rough.crossing(rising, single + below, low, high, within, slope=slope)
        below = at - single
        (first, value), (last, beyond) = seen[0], seen[-1]
        if abs(last - first) > within:
            slope = max(1.0, (beyond - value) / (last - first))
        return _SLOW.create_decimal(math.exp(at))

    return search

"""For one (ε, δ) every pair (k, β) that no other pair beats: the frontier, [EXACT] and [COMP].

A larger β is better, for more people are in the sample; a smaller k is better, for smaller groups
appear. The greatest β rises with k (``calibration``), so a pair for each k is all there is. Rates
are found in double precision, on which no claim rests, rounded down, and verified with the curve.

In double precision the sums are those of ``curve``; the point probability is Loader's (2000): with
d = j − nβ and s(n) = ln n! − ½·ln(2πn) − n·ln n + n,

    ln f(j; n, β) = s(n) − s(j) − s(n−j) + ½·ln(n/(2πj(n−j)))
                    − j·ln(1 + d/(nβ)) − (n−j)·ln(1 − d/(n(1−β))),

where no two large numbers cancel: an error in d drops out to first order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal

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
from policy_engine.values import frozen

MOST_K = 500
"""The largest k that is looked at by default, where δ has a closed form."""
MOST_K_SLOW = 100
"""The same for one release under replace_one, where δ takes milliseconds."""
MOST_K_SLOWEST = 50
"""The same for several releases, where δ takes from tens of milliseconds to a second."""
_EXACT = Context(prec=6, rounding=ROUND_FLOOR)
_SLOW = Context(prec=5, rounding=ROUND_FLOOR)
_ENOUGH = 1e-17
_SERIES_FROM = 16
_HALF_LOG_TWO_PI = 0.5 * math.log(2 * math.pi)


@frozen
class SamplePair:
    """A threshold k and a sampling rate, as ``frontier`` returns them.

    Fields:
        ``k``: the smallest published count.
        ``rate``: the probability that a unit is sampled.
    """

    k: int
    rate: Decimal

    @property
    def group(self) -> int:
        """The smallest group that you can expect to be published: the least n with n·rate ≥ k.

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
    """Find all pairs (k, rate) that are worth choosing for an (ε, δ), sorted by k.

    A small k shows small groups, and a large rate counts more people. A pair is left out if another
    pair is at least as good in both.

    Guarantee: N releases with one of the pairs are (ε, δ)-DP together. Each rate is the greatest
    possible, rounded down to 6 significant digits. For several releases, or under ``replace_one``,
    it has 5 digits and is up to 0.1 % smaller.

    Arguments:
        ``epsilon``: ε in total, from 0 to 10⁹.
        ``delta``: δ in total, between 0 and 1.
        ``neighbours``: ``add_remove`` for one unit more or less, ``replace_one`` for another unit.
        ``releases``: N, at least 1.
        ``most_k``: the largest k that is tried, from 2 to 10,000. The default is 500. Because it is
            slower, it is 100 for one release under ``replace_one``, and 50 for several releases.

    Errors: DomainError for other values, or if no k has a rate from 1e-300 to 0.999999.

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
    """Find the pair with the smallest k/rate. This pair publishes the smallest groups.

    Arguments:
        ``pairs``: pairs as ``frontier`` returns them.

    Returns: the pair. If several are equally good, the one with the smallest k.

    Errors: DomainError if ``pairs`` is empty.

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
        at = crossing(
            lambda x: log_delta(k, math.exp(x), epsilon) - log_target,
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

        at = crossing(rising, single + below, low, high, within, slope=slope)
        below = at - single
        (first, value), (last, beyond) = seen[0], seen[-1]
        if abs(last - first) > within:
            slope = max(1.0, (beyond - value) / (last - first))
        return _SLOW.create_decimal(math.exp(at))

    return search


def log_delta(k: int, rate: float, epsilon: float) -> float:
    """ln of the larger direction's δ of one release under add_remove, ε ≥ 0, [EXACT].

    Not rounded against the claim. Accuracy: δ is right to a 1e-10 share for k ≤ 10⁴,
    10⁻⁶ ≤ rate ≤ 0.999 and ε ≤ 20. Domain, unchecked: k ≥ 2, 1e-300 ≤ rate < 1, ε ≥ 0.

    >>> round(log_delta(20, 0.1, 0.5), 9), round(math.log(2.63178346623e-11), 9)
    (-24.360774283, -24.360774283)
    """
    return max(_log_remove(k, rate, epsilon), _log_add(k, rate, epsilon))


def _log_remove(k: int, rate: float, epsilon: float) -> float:
    """ln(S(n*) − a·S(n*−1)) as its positive sum."""
    gamma = -math.expm1(math.log1p(-rate) - epsilon)
    n = max(k, math.ceil((k - 1) / gamma))
    if n == k:
        return k * math.log(rate)
    odds = rate / (1 - rate)
    total, weight, share, j = 0.0, k - gamma * n, 1.0, k
    while share * weight > total * _ENOUGH:
        total += share * weight
        share *= (n - j) * odds / (j + 1)
        weight += 1
        j += 1
    return log_point(k, n, rate) + math.log(total) + epsilon - math.log(n) - math.log1p(-rate)


def _log_add(k: int, rate: float, epsilon: float) -> float:
    """ln(F(n̂−1) − a·F(n̂)) as its positive sum; −∞ where it is 0, or nothing beside remove.

    With c < β/1000 the mean at n̂ is above 1000·(k−1), and a ≤ 1/(1−β): then γ ≤ 2β, and the mean
    at n* is at least (k−1)/2.
    """
    gap = -math.expm1(min(0.0, math.log1p(-rate) + epsilon))
    if gap < rate / 1000:
        return -math.inf
    n = math.ceil((k - 1) / gap)
    odds = (1 - rate) / rate
    # The first weight may be 0, at a tie.
    total, weight, share, j = 0.0, max(0.0, gap * n - (k - 1)), 1.0, k - 1
    while j == k - 1 or share * weight > total * _ENOUGH:
        total += share * weight
        share *= j * odds / (n - j + 1)
        weight += 1
        j -= 1
    return log_point(k - 1, n, rate) + math.log(total) - math.log(n) - math.log1p(-rate)


def log_point(j: int, n: int, rate: float) -> float:
    """ln f(j; n, β) for 0 < j < n; unchecked.

    >>> round(log_point(1, 2, 0.5), 12), round(math.log(0.5), 12)
    (-0.69314718056, -0.69314718056)
    """
    mean, off = n * rate, j - n * rate
    return (
        stirling_error(n)
        - stirling_error(j)
        - stirling_error(n - j)
        + 0.5 * math.log(n / (j * (n - j)))
        - _HALF_LOG_TWO_PI
        - j * math.log1p(off / mean)
        - (n - j) * math.log1p(-off / (n * (1 - rate)))
    )


def stirling_error(n: int) -> float:
    """ln n! less Stirling's formula, for n ≥ 1; from 16 on four terms of the series, to 2e-14.

    >>> round(stirling_error(1), 9)
    0.081061467
    """
    if n < _SERIES_FROM:
        return math.lgamma(n + 1) - (n + 0.5) * math.log(n) + n - _HALF_LOG_TWO_PI
    square = 1 / (float(n) * n)
    return (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square / 1680))) / n


def crossing(
    rising: Callable[[float], float],
    start: float,
    low: float,
    high: float,
    within: float,
    *,
    slope: float = 1.0,
) -> float:
    """An x in [low, high] at most ``within`` from where a function of slope ≥ 1 is 0.

    ln δ as a function of ln β has slope ≥ 1 ([EXACT]: δ_{β'} ≤ (β'/β)·δ_β), so a value at one
    point brackets the crossing. ``slope`` is a guess at the true one. ``low`` or ``high`` where
    there is no crossing between them. By the Illinois method.

    >>> crossing(lambda x: 3 * x - 6, 0.0, -10.0, 10.0, 1e-9)
    2.0
    """
    other = at = min(max(start, low), high)
    beyond = value = rising(at)
    for steep in (slope, 1.0):
        at, value = other, beyond
        other = min(max(at - value / steep, low), high)
        if abs(value) <= within or other == at:
            return at
        beyond = rising(other)
        if (beyond > 0) != (value > 0):
            break
    while min(abs(beyond), abs(other - at)) > within and (beyond > 0) != (value > 0):
        middle = (at * beyond - other * value) / (beyond - value)
        found = rising(middle)
        if (found > 0) != (beyond > 0):
            at, value = other, beyond
        else:
            value /= 2
        other, beyond = middle, found
    return other

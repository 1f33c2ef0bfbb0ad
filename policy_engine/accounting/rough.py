"""ln δ of one release in double precision, for searching only: no claim rests on it.

The sums are those of ``curve``; the point probability is Loader's (2000): with
d = j − nβ and s(n) = ln n! − ½·ln(2πn) − n·ln n + n,

    ln f(j; n, β) = s(n) − s(j) − s(n−j) + ½·ln(n/(2πj(n−j)))
                    − j·ln(1 + d/(nβ)) − (n−j)·ln(1 − d/(n(1−β))),

where no two large numbers cancel: an error in d drops out to first order.
"""

from __future__ import annotations

import math
from collections.abc import Callable

_ENOUGH = 1e-17
_SERIES_FROM = 16
_HALF_LOG_TWO_PI = 0.5 * math.log(2 * math.pi)


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

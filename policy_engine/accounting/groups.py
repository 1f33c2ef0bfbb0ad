"""[EXACT] The curve for m units that are all in the table or all out of it, in closed form.

Notation of ``curve``: T is the place of the k-th sampled copy of a cell, and copies that may be
missing have the first numbers. If m copies of one cell may be missing, (T, T+m) dominates, for
the reason given there, and p(n)/p(n−m) = Π_{i<m} (n−1−i)(1−β)/(n−k−i), for p(n) = Pr[T=n],
falls in n, from ∞ below n = k+m to (1−β)^m. So for a ≥ 1
    remove  S(n) − a·S(n−m)      at the last n with p(n) ≥ a·p(n−m),
    add     F(n−m) − a·F(n)      at the last n with p(n) ≥ p(n−m)/a; 0 where a ≥ (1−β)^{−m},
and a release attains both, as for m = 1.

*One cell is the worst.* Let R_m(u) be the largest power on T that a test has whose level on T+m
is at most u. The best tests are {T ≤ s} and mixtures of two neighbours of them, so R_m is the
polygon through (Pr[T+m ≤ s], Pr[T ≤ s]), and R_{m+m'} = R_m∘R_{m'}: the same s. Now let m units
of one cell and m' of another be in or out. A test of level u when all are out has a level of at
most R_{m'}(u) when only the m' are in, for the first cell has the same law in both, hence of at
most R_m(R_{m'}(u)) = R_{m+m'}(u) when all are in. So (T, T+m) with m the total dominates
every arrangement over cells, and so do their compositions over releases.
"""

from __future__ import annotations

from decimal import Decimal

from policy_engine.accounting.binomial import sum_from, sum_to
from policy_engine.accounting.bisection import least_integer
from policy_engine.accounting.curve import Bound, larger_direction
from policy_engine.accounting.domain import (
    Number,
    arithmetic,
    count,
    nonnegative_epsilon,
    sampling_rate,
    threshold,
    upward,
    whole,
)

# Sums are at most a 1e-25 share above the truth; what is subtracted must not be above it.
_BELOW = 1 - Decimal("2e-25")


def group_size(group: object) -> int:
    """The number of units that are protected together; DomainError unless from 1 to 10,000.

    >>> group_size(3)
    3
    """
    return whole("group", count("group", group), 1, 10_000)


def delta_group(k: int, rate: Number, epsilon: Number, group: int) -> Bound:
    """Compute δ of one release from a sample for m units together, such as a family, [EXACT].

    It is ``delta_exact`` with ``group=m`` under ``add_remove``, with the same guarantee.

    Arguments:
        ``k``: the smallest published count, from 2 to 10⁹.
        ``rate``: the probability that a unit is sampled, between 0 and 1.
        ``epsilon``: ε, from 0 to 10⁹.
        ``group``: m, from 1 to 10,000.

    Errors: DomainError for other values.

    >>> delta_group(20, "0.1", "0.5", 3)
    Bound(delta=Decimal('0.00000736065233931'), at_n=81)
    """
    k, rate, epsilon = threshold(k), sampling_rate(rate), nonnegative_epsilon(epsilon)
    if group_size(group) == 1:
        return larger_direction(k, rate, epsilon)
    with arithmetic(rate, epsilon, room=40):
        ratio = epsilon.exp()
        out, back = _remove(k, rate, ratio, group), _add(k, rate, ratio, group)
    return back if back.delta > out.delta else out


def _remove(k: int, rate: Decimal, ratio: Decimal, group: int) -> Bound:
    """S(n) − a·S(n−m)."""
    n = _last_size(k, rate, ratio, group)
    more, less = _reached(k, rate, n), _reached(k, rate, n - group)
    return Bound(min(Decimal(1), upward(more - ratio * less * _BELOW)), n)


def _add(k: int, rate: Decimal, ratio: Decimal, group: int) -> Bound:
    """F(n−m) − a·F(n)."""
    if ratio * (1 - rate) ** group >= 1:
        return Bound(Decimal(0), None)
    n = _last_size(k, rate, 1 / ratio, group)
    less, more = _missed(k, rate, n - group), _missed(k, rate, n)
    return Bound(min(Decimal(1), upward(less - ratio * more * _BELOW)), n)


def _last_size(k: int, rate: Decimal, ratio: Decimal, group: int) -> int:
    """The last n with p(n) ≥ ratio·p(n−m); needs ratio > (1−β)^m."""
    wanted = ratio / (1 - rate) ** group
    low = high = k + group - 1
    while _odds(k, high, group) >= wanted:
        low, high = high, 2 * high
    return least_integer(low, high, lambda n: _odds(k, n, group) < wanted) - 1


def _odds(k: int, n: int, group: int) -> Decimal:
    """Π_{i<m} (n−1−i)/(n−k−i), infinite below k+m."""
    if n < k + group:
        return Decimal("Infinity")
    odds = Decimal(1)
    for i in range(group):
        odds *= Decimal(n - 1 - i) / (n - k - i)
    return odds


def _reached(k: int, rate: Decimal, n: int) -> Decimal:
    """S(n) = Pr[T ≤ n], from above."""
    return sum_from(k, n, rate, Decimal(1), 0) if n >= k else Decimal(0)


def _missed(k: int, rate: Decimal, n: int) -> Decimal:
    """F(n) = Pr[T > n], from above."""
    return sum_to(k - 1, n, rate, Decimal(1), 0) if n >= k else Decimal(1)

"""[EXACT] The (ε, δ) curve of the certified mechanism, in closed form.

X_n ~ Bin(n, β) is the sampled count of the one cell that differs, n against n−1 copies, and
T_k(X) = X if X ≥ k, else ⊥, is what leaves. f is the binomial pmf, S(n) = Pr[X_n ≥ k],
F(n) = 1 − S(n), P_n the law of T_k(X_n), a = e^ε, γ = (a−1+β)/a.

*The place of the k-th sampled copy.* Number the copies, the one that may be missing first, and
let T be the place of the k-th that is sampled, had the cell no end: Pr[T ≤ n] = S(n). With n
copies the release is k + Bin(n−T, β) if T ≤ n, else ⊥. Without the first copy the others keep
their numbers and T is one larger in law; the rest is drawn alike. So for every n the release is
one and the same function of (T, against T+1): for all a > 0, both directions and every n, the
pair (T, T+1) dominates (post-processing).

*It is attained.* Pr[T=n]/Pr[T=n−1] = (n−1)(1−β)/(n−k) falls in n, from ∞ at n = k to 1−β. So for
a ≥ 1 the event that attains H_a(T‖T+1) is some {T ≤ n}, and it gives S(n) − a·S(n−1), which the
release at n attains with the event {X ≥ k}. The one that attains H_a(T+1‖T) is some {T > n}; it
gives F(n−1) − a·F(n), which the release at n attains with ⊥. Hence
    sup_n H_a(P_n‖P_{n−1}) = H_a(T‖T+1) = S(n*) − a·S(n*−1),        n* = max(k, ⌈(k−1)/γ⌉),
    sup_n H_a(P_{n−1}‖P_n) = H_a(T+1‖T) = F(n̂−1) − a·F(n̂),         n̂ = ⌈(k−1)/(1 − (1−β)a)⌉,
the second 0 where (1−β)a ≥ 1. No search over n, and no n is left out.

*Positive sums.* Term by term over the outcomes, with c = 1 − (1−β)a, both are free of
cancellation:
    remove  a/(n(1−β)) · Σ_{j≥k}   f(j; n)·(j − γn)  at n*,   γn* < k,
    add     1/(n(1−β)) · Σ_{j<k}   f(j; n)·(cn − j)  at n̂,    cn̂ ≥ k−1.

*Near a tie* of two n*, with (k−1)/γ at η from an integer, the two sums differ by at most a
k²·η share, for the sum is at least (β/k)·f(k−1; n−1). η < 1e-50 vanishes in the guard.

*ε < 0*: H_a(P‖Q) = 1 − a + a·H_{1/a}(Q‖P) for every pair, hence for the suprema.
"""

from __future__ import annotations

from decimal import ROUND_CEILING, Decimal, Inexact

from policy_engine.accounting.binomial import sum_from, sum_to
from policy_engine.accounting.domain import (
    Number,
    arithmetic,
    real_epsilon,
    sampling_rate,
    threshold,
    upward,
)
from policy_engine.values import frozen


@frozen
class Bound:
    """An upper bound on δ, as ``delta_exact`` returns it.

    Fields:
        ``delta``: the bound.
        ``at_n``: the size of the group for which δ is largest, with the units that only one of the
            two tables has. None if no single group gives the bound.
    """

    delta: Decimal
    at_n: int | None


def delta_remove(k: int, rate: Number, epsilon: Number) -> Bound:
    """Compute δ of a release from a sample in one direction: one unit is removed, [EXACT].

    ``delta_exact`` returns the larger of this result and that of ``delta_add``.

    P_n is the distribution of the published count of a group of n units, where nothing is published
    below k. The result is the largest Σ max(0, P_n(x) − e^ε·P_{n−1}(x)) over all n.

    Guarantee: the result is never below the true value. Its relative error is below 2e-11.

    Arguments:
        ``k``: the smallest published count, from 2 to 10⁹.
        ``rate``: the probability that a unit is sampled, between 0 and 1.
        ``epsilon``: ε, from −10⁹ to 10⁹.

    Errors: DomainError for other values.

    >>> delta_remove(20, "0.1", "0.5")
    Bound(delta=Decimal('2.63178346623E-11'), at_n=42)
    """
    return _of_either_sign(threshold(k), sampling_rate(rate), real_epsilon(epsilon))


def delta_add(k: int, rate: Number, epsilon: Number) -> Bound:
    """Compute δ of a release from a sample in one direction: one unit is added, [EXACT].

    ``delta_exact`` returns the larger of this result and that of ``delta_remove``.

    P_n is the distribution of the published count of a group of n units, where nothing is published
    below k. The result is the largest Σ max(0, P_{n−1}(x) − e^ε·P_n(x)) over all n. It is 0 if ε is
    at least −ln(1 − rate).

    Guarantee: the result is never below the true value. Its relative error is below 2e-11.

    Arguments:
        ``k``: the smallest published count, from 2 to 10⁹.
        ``rate``: the probability that a unit is sampled, between 0 and 1.
        ``epsilon``: ε, from −10⁹ to 10⁹.

    Errors: DomainError for other values.

    >>> delta_add(5, "0.4", "0.52")
    Bound(delta=Decimal('0'), at_n=None)
    >>> delta_add(5, "0.4", "0.25").at_n
    18
    """
    return _of_either_sign(threshold(k), sampling_rate(rate), real_epsilon(epsilon), adding=True)


def larger_direction(k: int, rate: Number, epsilon: Number) -> Bound:
    """The larger of the two directions.

    >>> larger_direction(5, "0.4", 0).at_n
    10
    """
    remove, add = delta_remove(k, rate, epsilon), delta_add(k, rate, epsilon)
    return add if add.delta > remove.delta else remove


def _of_either_sign(k: int, rate: Decimal, epsilon: Decimal, *, adding: bool = False) -> Bound:
    direction, opposite = (_add, _remove) if adding else (_remove, _add)
    with arithmetic(rate, epsilon):
        if epsilon >= 0:
            return direction(k, rate, epsilon)
        dual = opposite(k, rate, -epsilon)
        ratio = epsilon.exp()
        return Bound(upward(1 - ratio + ratio * dual.delta), dual.at_n)


def _remove(k: int, rate: Decimal, epsilon: Decimal) -> Bound:
    """S(n*) − a·S(n*−1) for ε ≥ 0."""
    ratio = epsilon.exp()
    gamma = (ratio - 1 + rate) / ratio
    n = max(k, _ceiling((k - 1) / gamma))
    if n == k:
        # Only {X = k} is left.
        return Bound(power(rate, k, epsilon), k)
    total = sum_from(k, n, rate, k - gamma * n, 1)
    return Bound(upward(total * ratio / (n * (1 - rate))), n)


def _add(k: int, rate: Decimal, epsilon: Decimal) -> Bound:
    """F(n̂−1) − a·F(n̂) for ε ≥ 0."""
    share = 1 - (1 - rate) * epsilon.exp()
    if share <= 0:
        return Bound(Decimal(0), None)
    n = _ceiling((k - 1) / share)
    # At a tie the weight of j = k−1 is 0, and rounding may take it below.
    weight = max(Decimal(0), share * n - (k - 1))
    return Bound(upward(sum_to(k - 1, n, rate, weight, 1) / (n * (1 - rate))), n)


def power(base: Decimal, exponent: int, *others: Decimal) -> Decimal:
    """A power from above; one whose digits end, 0.1**20, must not be rounded past it.

    >>> power(Decimal("0.9"), 3)
    Decimal('0.729')
    """
    with arithmetic(base, *others) as context:
        found = base**exponent
        return upward(found, exact=not context.flags[Inexact])


def _ceiling(value: Decimal) -> int:
    return int(value.to_integral_value(rounding=ROUND_CEILING))

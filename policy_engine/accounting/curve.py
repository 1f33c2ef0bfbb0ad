"""[EXACT] The (ε, δ) curve of the certified mechanism, in closed form.

X_n ~ Bin(n, β) is the sampled count of the one cell that differs, n against n−1 copies, and
T(X) = X if X ≥ k, else ⊥, is what leaves. f is the binomial pmf, S_m(n) = Pr[X_n ≥ m],
F_n(j) = Pr[X_n ≤ j], a = e^ε, γ = (a−1+β)/a, P_n the law of T(X_n).

*Which events.* P_n(j)/P_{n−1}(j) = n(1−β)/(n−j) rises in j (to ∞ at j = n), and that of ⊥ is an
average of such ratios over j < k. So for a ≥ 1 the event that attains H_a(P_n‖P_{n−1}) is
{X ≥ m} with some m ≥ k, and the one that attains H_a(P_{n−1}‖P_n) is {X ≤ J}, some J ≥ k−1.

*Remove*: G(m,n) = S_m(n) − a·S_m(n−1) = β·f(m−1; n−1) − (a−1)·S_m(n−1), and for n ≥ m
    G(m,n+1) − G(m,n) = β·f(m−1; n−1)·[n(1−β)/(n−m+1) − a],
whose bracket falls in n and is ≤ 0 from n = (m−1)/γ on. So G(m,·) peaks at
n* = max(m, ⌈(m−1)/γ⌉); write g(m) for the peak. Conditioning on one trial,
S_{m+1}(n) = β·S_m(n−1) + (1−β)·S_{m+1}(n−1), so at the n where G(m+1,·) peaks
    g(m+1) = β·G(m,n−1) + (1−β)·G(m+1,n−1) ≤ β·g(m) + (1−β)·g(m+1),
hence g(m+1) ≤ g(m), and the supremum over all n and all events is G(k, n*).

*Add*: A(J,n) = F_{n−1}(J) − a·F_n(J), and with c = 1 − (1−β)a, for n > J
    A(J,n+1) − A(J,n) = β·f(J; n−1)·[a·n(1−β)/(n−J) − 1],  positive exactly while n·c < J.
If c ≤ 0, A(J,·) rises to its limit 0 and the supremum is 0. Else it peaks at n̂ = ⌈J/c⌉ > J, and
the same conditioning shows that the peak does not rise with J. The supremum is A(k−1, n̂).

*Positive sums.* Term by term over the outcomes, both are free of cancellation:
    G(k,n*)   = a/(n(1−β)) · Σ_{j≥k}   f(j; n)·(j − γn),   γn* < k,
    A(k−1,n̂)  = 1/(n(1−β)) · Σ_{j<k}   f(j; n)·(cn − j),   cn̂ ≥ k−1.

*Near a tie* of two n*, with (k−1)/γ at η from an integer, the difference above is at most a
k²·η share of G, since G ≥ (β/k)·f(k−1; n−1). η < 1e-50 vanishes in the guard.

*ε < 0*: H_a(P‖Q) = 1 − a + a·H_{1/a}(Q‖P) for every pair, hence for the suprema.

*At n = 1 … k−1* both laws are ⊥ and nothing differs, so those n add nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal, Inexact

from policy_engine.accounting.binomial import sum_from, sum_to
from policy_engine.accounting.domain import (
    ADD_REMOVE,
    Number,
    arithmetic,
    neighbour_notion,
    nonnegative_epsilon,
    real_epsilon,
    sampling_rate,
    threshold,
    upward,
)


@dataclass(frozen=True)
class Bound:
    """An upper bound δ, and the size of the differing cell (copies in the larger table)."""

    delta: Decimal
    at_n: int | None


def delta_remove(k: int, rate: Number, epsilon: Number) -> Bound:
    """sup_n H_{e^ε}(P_n‖P_{n−1}) for any real ε, [EXACT].

    Guarantee: never below the true value, above it by less than a 2e-11 share. Errors:
    DomainError.

    >>> delta_remove(20, "0.1", "0.5")
    Bound(delta=Decimal('2.63178346623E-11'), at_n=42)
    """
    return _of_either_sign(threshold(k), sampling_rate(rate), real_epsilon(epsilon))


def delta_add(k: int, rate: Number, epsilon: Number) -> Bound:
    """sup_n H_{e^ε}(P_{n−1}‖P_n) for any real ε, [EXACT]; 0 from ε = −ln(1−β) on.

    Guarantee and errors as ``delta_remove``.

    >>> delta_add(5, "0.4", "0.52")
    Bound(delta=Decimal('0'), at_n=None)
    >>> delta_add(5, "0.4", "0.25").at_n
    18
    """
    return _of_either_sign(threshold(k), sampling_rate(rate), real_epsilon(epsilon), adding=True)


def delta_exact(k: int, rate: Number, epsilon: Number, neighbours: str = ADD_REMOVE) -> Bound:
    """The least δ for which the mechanism is (ε, δ)-DP, ε ≥ 0, [EXACT].

    Guarantee: never below the true value; above it by less than a 1e-11 share under add_remove,
    and under replace_one as ``replace.delta_replace`` says. Errors: DomainError.

    >>> delta_exact(20, 0.1, 0.5)
    Bound(delta=Decimal('2.63178346623E-11'), at_n=42)
    """
    epsilon = nonnegative_epsilon(epsilon)
    if neighbour_notion(neighbours) == ADD_REMOVE:
        return larger_direction(k, rate, epsilon)
    # Imported on use: it needs this module, and numpy, which would slow every command's start.
    from policy_engine.accounting.replace import delta_replace

    return delta_replace(k, rate, epsilon)


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
    """G(k, n*) for ε ≥ 0."""
    ratio = epsilon.exp()
    gamma = (ratio - 1 + rate) / ratio
    n = max(k, _ceiling((k - 1) / gamma))
    if n == k:
        # Only {X = k} is left. A rate whose power ends, 0.1**20, must not be rounded past it.
        with arithmetic(rate, epsilon) as context:
            power = rate**k
            return Bound(upward(power, exact=not context.flags[Inexact]), k)
    total = sum_from(k, n, rate, k - gamma * n, 1)
    return Bound(upward(total * ratio / (n * (1 - rate))), n)


def _add(k: int, rate: Decimal, epsilon: Decimal) -> Bound:
    """A(k−1, n̂) for ε ≥ 0."""
    share = 1 - (1 - rate) * epsilon.exp()
    if share <= 0:
        return Bound(Decimal(0), None)
    n = _ceiling((k - 1) / share)
    # At a tie the weight of j = k−1 is 0, and rounding may take it below.
    weight = max(Decimal(0), share * n - (k - 1))
    return Bound(upward(sum_to(k - 1, n, rate, weight, 1) / (n * (1 - rate))), n)


def _ceiling(value: Decimal) -> int:
    return int(value.to_integral_value(rounding=ROUND_CEILING))

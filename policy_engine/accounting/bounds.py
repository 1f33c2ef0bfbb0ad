"""Closed forms beside the exact curve: [LQS], [AMP], groups, basic composition.

All are upper bounds, rounded up.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import ROUND_CEILING, Decimal

from policy_engine.accounting.binomial import sum_from
from policy_engine.accounting.curve import Bound, larger_direction
from policy_engine.accounting.domain import (
    Number,
    arithmetic,
    count,
    decimal,
    nonnegative_epsilon,
    sampling_rate,
    threshold,
    upward,
)
from policy_engine.errors import DomainError

# A rate written as the float 1 − e^{−ε} lies this near the border of the theorem, on either side.
_BORDER = Decimal("1e-15")


def delta_lqs(k: int, rate: Number, epsilon: Number) -> Bound | None:
    """d(k, β, ε) of Li, Qardaji, Su 2012, from above; None where ε < −ln(1−β), [LQS].

    Pr[X_n > γn] only rises with n while the least integer m above γn stays, so its local maxima
    are at n_m = ⌈m/γ − 1⌉ for m ≥ k, where it is S_m(n_m). From n on all are at most
    exp(−n·KL(γ‖β)) (Chernoff), which ends the scan. Within 1e-15 of the border it
    counts as defined; as the result is never below [EXACT], it is a guarantee there too.
    Errors: DomainError.

    >>> delta_lqs(20, "0.1", "0.5")
    Bound(delta=Decimal('1.60625293619E-9'), at_n=44)
    >>> delta_lqs(5, "0.4", "0.5") is None
    True
    """
    k, rate, epsilon = threshold(k), sampling_rate(rate), nonnegative_epsilon(epsilon)
    exact = larger_direction(k, rate, epsilon)
    with arithmetic(rate, epsilon):
        ratio = epsilon.exp()
        if ratio * (1 - rate) < 1 - _BORDER:
            return None
        gamma = (ratio - 1 + rate) / ratio
        leave = (1 - rate) / ratio
        divergence = gamma * (gamma / rate).ln() + leave * (leave / (1 - rate)).ln()
        best, at_n, m = Decimal(0), k, k
        while True:
            # No tie: for rational ε > 0 and β, m/γ is transcendental.
            n = int((m / gamma - 1).to_integral_value(rounding=ROUND_CEILING))
            if (-divergence * n).exp() <= best:
                return Bound(max(upward(best), exact.delta), at_n)
            value = sum_from(m, n, rate, Decimal(1), 0)
            if value > best:
                best, at_n = value, n
            m += 1


def amplify(epsilon: Number, delta: Number, rate: Number) -> tuple[Decimal, Decimal]:
    """(ε, δ) after sampling first at a rate: (ln(1 + β(e^ε − 1)), βδ), [AMP]. δ may be 0.

    Assumption: the sample is fresh Bernoulli and used for nothing else. Errors: DomainError.

    >>> amplify("1", "1e-6", "0.1")
    (Decimal('0.158565078741'), Decimal('1E-7'))
    """
    epsilon, rate = nonnegative_epsilon(epsilon), sampling_rate(rate)
    spent = _share("delta", delta)
    with arithmetic(epsilon, rate, spent, room=20) as context:
        smaller = upward((1 + rate * (epsilon.exp() - 1)).ln())
        context.rounding = ROUND_CEILING
        return smaller, upward(rate * spent, exact=True)


def group(epsilon: Number, delta: Number, m: int) -> tuple[Decimal, Decimal]:
    """(mε, δ·(e^{mε} − 1)/(e^ε − 1)) for m units at once; mδ at ε = 0. At most 1.

    Holds for every (ε, δ)-DP mechanism. Errors: DomainError.

    >>> group("0.5", "1e-9", 2)
    (Decimal('1.0'), Decimal('2.64872127071E-9'))
    """
    epsilon, spent = nonnegative_epsilon(epsilon), _share("delta", delta)
    with arithmetic(epsilon, spent):
        factor = group_factor(epsilon, count("group", m))
        return upward(m * epsilon, exact=True), min(Decimal(1), upward(spent * factor))


def group_factor(epsilon: Decimal, m: int) -> Decimal:
    """(e^{mε} − 1)/(e^ε − 1) = Σ_{i<m} e^{iε}, in the caller's context.

    >>> group_factor(Decimal(0), 3)
    Decimal('3')
    """
    if not epsilon:
        return Decimal(m)
    return ((m * epsilon).exp() - 1) / (epsilon.exp() - 1)


def compose_basic(releases: Iterable[tuple[Number, Number]]) -> tuple[Decimal, Decimal]:
    """(Σε, Σδ) of releases that each drew a fresh sample, [COMP]. δ at most 1.

    Errors: DomainError.

    >>> compose_basic([("0.5", "1e-9"), ("0.25", "1e-9")])
    (Decimal('0.75'), Decimal('2E-9'))
    """
    pairs = [(nonnegative_epsilon(epsilon), _share("delta", delta)) for epsilon, delta in releases]
    with arithmetic(*(number for pair in pairs for number in pair), room=20):
        total_epsilon = sum((epsilon for epsilon, _ in pairs), Decimal(0))
        total_delta = sum((delta for _, delta in pairs), Decimal(0))
    return upward(total_epsilon, exact=True), min(Decimal(1), upward(total_delta, exact=True))


def _share(parameter: str, value: Number) -> Decimal:
    number = decimal(parameter, "a number from 0 to 1", value)
    if not 0 <= number <= 1:
        raise DomainError(parameter, "a number from 0 to 1", value)
    return number

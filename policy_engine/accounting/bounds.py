"""Closed forms beside the exact curve: [LQS], [SAFE], [AMP], [NOISE], groups, basic composition.

All are upper bounds, rounded up.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

from policy_engine.accounting.binomial import sum_from
from policy_engine.accounting.bisection import least_integer
from policy_engine.accounting.curve import Bound, larger_direction
from policy_engine.accounting.domain import (
    REPLACE_ONE,
    Number,
    arithmetic,
    count,
    decimal,
    neighbour_notion,
    nonnegative_epsilon,
    probability,
    sampling_rate,
    threshold,
    upward,
)
from policy_engine.errors import DomainError
from policy_engine.values import frozen

# A rate written as the float 1 − e^{−ε} lies this near the border of the theorem, on either side.
_BORDER = Decimal("1e-15")


def delta_lqs(k: int, rate: Number, epsilon: Number) -> Bound | None:
    """Compute the bound on δ by Li, Qardaji and Su (2012), [LQS], to compare it with the exact δ.

    The bound is for one release from a sample and one unit more or less. It holds only if ε is at
    least −ln(1 − rate). For example, with rate 0.4 ε must be at least 0.511. For a smaller ε the
    result is None.

    Guarantee: the result is never below the bound in the paper, and never below ``delta_exact``.

    Arguments:
        ``k``: the smallest published count, from 2 to 10⁹.
        ``rate``: the probability that a unit is sampled, between 0 and 1.
        ``epsilon``: ε, from 0 to 10⁹.

    Errors: DomainError for other values.

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


def epsilon_lqs(k: int, rate: Number, delta: Number) -> Decimal | None:
    """Compute the least ε at which ``delta_lqs`` is at most a given δ, [LQS].

    The result is rounded up to a multiple of 1e-9. It is at least −ln(1 − rate), because
    ``delta_lqs`` proves nothing for a smaller ε. If no ε is large enough, the result is None.

    Arguments:
        ``k``: the smallest published count, from 2 to 10⁹.
        ``rate``: the probability that a unit is sampled, between 0 and 1.
        ``delta``: δ, between 0 and 1.

    Errors: DomainError for other values.

    >>> epsilon_lqs(20, "0.1", "2e-8")
    Decimal('0.405465109')
    """
    k, rate, wanted = threshold(k), sampling_rate(rate), probability(delta)
    with arithmetic(rate):
        first = int((-(1 - rate).ln()).scaleb(9)) + 1
        last = int(Decimal(k).ln().scaleb(9)) + first

    def enough(step: int) -> bool:
        found = delta_lqs(k, rate, Decimal(step).scaleb(-9))
        return found is not None and found.delta <= wanted

    if not enough(last):
        return None
    return Decimal(least_integer(first - 1, last, enough)).scaleb(-9)


@frozen
class SafeBounds:
    """δ where the recoding is itself chosen by an ε₁-DP selection: two bounds of the same."""

    delta: Decimal
    """By [EXACT]."""
    delta_lqs: Decimal | None
    """By [LQS]; None where ε − ε₁ < −ln(1−β)."""


def delta_safe(k: int, rate: Number, epsilon: Number, selection: Number) -> SafeBounds:
    """Compute δ of a release from a sample whose recoding was chosen from the data, [SAFE].

    A mechanism chose the recoding, and the choice is ε₁-DP. The choice and the release together are
    (ε, δ)-DP. Here δ is that of the release alone at ε − ε₁.

    Assumption: the choice used the whole table, or a sample of its own, but not the sample of the
    release.

    Arguments:
        ``k``: the smallest published count, from 2 to 10⁹.
        ``rate``: the probability that a unit is sampled, between 0 and 1.
        ``epsilon``: ε of choice and release together, from 0 to 10⁹.
        ``selection``: ε₁ of the choice, from 0 to ``epsilon``.

    Returns: two bounds on δ. ``delta`` is by [EXACT]. ``delta_lqs`` is by [LQS], and None if ε − ε₁
    is below −ln(1 − rate).

    Errors: DomainError for other values.

    >>> delta_safe(20, "0.1", "0.75", "0.25")
    SafeBounds(delta=Decimal('2.63178346623E-11'), delta_lqs=Decimal('1.60625293619E-9'))
    """
    total = nonnegative_epsilon(epsilon)
    chosen = decimal("selection", "a number from 0 to epsilon", selection)
    if not 0 <= chosen <= total:
        raise DomainError("selection", f"a number from 0 to epsilon = {total}", selection)
    k, rate = threshold(k), sampling_rate(rate)
    with arithmetic(total, chosen):
        left = total - chosen
    lqs = delta_lqs(k, rate, left)
    return SafeBounds(larger_direction(k, rate, left).delta, None if lqs is None else lqs.delta)


def amplify(
    epsilon: Number, delta: Number, rate: Number, drawn_at: Number = 1
) -> tuple[Decimal, Decimal]:
    """Compute (ε, δ) of any mechanism if it runs on a smaller sample, [AMP].

    The mechanism is (ε, δ)-DP on a sample with the rate β₁. On a sample with a smaller rate β₂, ε
    becomes ln(1 + (β₂/β₁)(e^ε − 1)), and δ becomes (β₂/β₁)·δ.

    Assumption: each unit is sampled independently. Each run has a new sample, and nothing else uses
    this sample.

    Arguments:
        ``epsilon``: ε at the rate β₁, from 0 to 10⁹.
        ``delta``: δ at the rate β₁, from 0 to 1.
        ``rate``: β₂, between 0 and β₁.
        ``drawn_at``: β₁, above ``rate`` and at most 1. With 1, the mechanism is (ε, δ)-DP on the
            whole table.

    Returns: the new ε and δ.

    Errors: DomainError for other values.

    >>> amplify("1", "1e-6", "0.1")
    (Decimal('0.158565078741'), Decimal('1E-7'))
    """
    epsilon, rate = nonnegative_epsilon(epsilon), sampling_rate(rate)
    spent = _share("delta", delta)
    drawn = decimal("drawn_at", "a number above rate, up to 1", drawn_at)
    if not rate < drawn <= 1:
        raise DomainError("drawn_at", f"a number above rate = {rate}, up to 1", drawn_at)
    with arithmetic(epsilon, rate, drawn, spent, room=20) as context:
        share = rate / drawn
        smaller = upward((1 + share * (epsilon.exp() - 1)).ln())
        context.rounding = ROUND_CEILING
        return smaller, upward(rate / drawn * spent, exact=True)


@frozen
class FixedSizeBounds:
    """ε of an ε-DP mechanism on a sample of fixed size: the tight one, and Theorem 2's."""

    epsilon: Decimal
    """ln(1 + β(e^ε − 1)), which is certified (Balle, Barthe, Gaboardi 2018)."""
    epsilon_clifton: Decimal
    """ln((e^ε·β + 1 − β)/(1 − β)) (Clifton et al. 2020, Theorem 2)."""


def amplify_fixed_size(epsilon: Number, rate: Number) -> FixedSizeBounds:
    """Compute ε of an ε-DP mechanism if it runs on a sample of fixed size, [AMP].

    The sample has n' of n units, drawn without replacement.

    Assumption: the mechanism is ε-DP under ``replace_one``, where one unit is replaced by another.
    All samples of the size n' are equally likely. Each run has a new sample, and nothing else uses
    this sample.

    Arguments:
        ``epsilon``: ε of the mechanism without a sample, from 0 to 10⁹.
        ``rate``: n'/n, between 0 and 1.

    Returns: two bounds. ``epsilon`` is the tight result (Balle, Barthe and Gaboardi 2018).
    ``epsilon_clifton`` is the result of Theorem 2 of Clifton and others (2020).

    Errors: DomainError for other values.

    >>> amplify_fixed_size("1", "0.1")
    FixedSizeBounds(epsilon=Decimal('0.158565078741'), epsilon_clifton=Decimal('0.263925594399'))
    """
    epsilon, rate = nonnegative_epsilon(epsilon), sampling_rate(rate)
    with arithmetic(epsilon, rate, room=20):
        inside = 1 + rate * (epsilon.exp() - 1)
        return FixedSizeBounds(upward(inside.ln()), upward((inside / (1 - rate)).ln()))


def randomised_response(truth: Number, values: int, neighbours: str) -> Decimal:
    """Compute ε of randomised response with m possible values, [NOISE].

    Each unit gives its true value with probability p. Otherwise it gives one of the m values, each
    with the same probability. The result is ln(1 + p·m/(1 − p)).

    Arguments:
        ``truth``: p, between 0 and 1.
        ``values``: m, an integer from 1.
        ``neighbours``: must be ``replace_one``, because everybody sees which units answer.

    Errors: DomainError for other values.

    >>> randomised_response("0.5", 2, "replace_one")
    Decimal('1.09861228867')
    """
    law = "a number strictly between 0 and 1"
    chance = decimal("truth", law, truth, lambda number: 0 < number < 1)
    if neighbour_notion(neighbours) != REPLACE_ONE:
        raise DomainError("neighbours", f"{REPLACE_ONE} for randomised response", neighbours)
    options = count("values", values)
    with arithmetic(chance, room=20):
        return upward((1 + chance * options / (1 - chance)).ln())


def group(epsilon: Number, delta: Number, m: int) -> tuple[Decimal, Decimal]:
    """Compute (ε, δ) for m units together, such as a family, from the (ε, δ) for one unit.

    The result holds for every (ε, δ)-DP mechanism: m·ε, and δ·(e^{m·ε} − 1)/(e^ε − 1). If ε is 0,
    the second number is m·δ. It is never above 1.

    Arguments:
        ``epsilon``: ε for one unit, from 0 to 10⁹.
        ``delta``: δ for one unit, from 0 to 1.
        ``m``: the number of units, an integer from 1.

    Errors: DomainError for other values.

    >>> group("0.5", "1e-9", 2)
    (Decimal('1.0'), Decimal('2.64872127071E-9'))
    """
    epsilon, spent = nonnegative_epsilon(epsilon), _share("delta", delta)
    with arithmetic(epsilon, spent):
        m = count("group", m)
        # Σ_{i<m} e^{iε}
        factor = ((m * epsilon).exp() - 1) / (epsilon.exp() - 1) if epsilon else Decimal(m)
        return upward(m * epsilon, exact=True), min(Decimal(1), upward(spent * factor))


def compose_basic(releases: Iterable[tuple[Number, Number]]) -> tuple[Decimal, Decimal]:
    """Compute (ε, δ) of several releases together: the sum of all ε, and the sum of all δ, [COMP].

    The sum of all δ is never above 1. ``Accountant`` can prove smaller numbers.

    Assumption: each release has a sample and noise of its own. Every ε and δ was fixed before the
    first release.

    Arguments:
        ``releases``: a pair (ε, δ) for each release. Each ε is from 0 to 10⁹, and each δ from 0 to
            1.

    Errors: DomainError for other values.

    >>> compose_basic([("0.5", "1e-9"), ("0.25", "1e-9")])
    (Decimal('0.75'), Decimal('2E-9'))
    """
    pairs = [(nonnegative_epsilon(epsilon), _share("delta", delta)) for epsilon, delta in releases]
    with arithmetic(*(number for pair in pairs for number in pair), room=20):
        total_epsilon = sum((epsilon for epsilon, _ in pairs), Decimal(0))
        total_delta = sum((delta for _, delta in pairs), Decimal(0))
    return upward(total_epsilon, exact=True), min(Decimal(1), upward(total_delta, exact=True))


def _share(parameter: str, value: Number) -> Decimal:
    return decimal(parameter, "a number from 0 to 1", value, lambda number: 0 <= number <= 1)


def downward(value: Decimal) -> Decimal:
    """The value at 12 significant digits, never above it: for what a caller may spend.

    >>> downward(Decimal("0.12345678901291"))
    Decimal('0.123456789012')
    """
    return -upward(-value, exact=True)


def part_of(total: Decimal, parts: int) -> Decimal:
    """One of N equal parts, rounded down at 12 significant digits unless N is 1.

    >>> part_of(Decimal(1), 3)
    Decimal('0.333333333333')
    """
    if parts == 1:
        return total
    with arithmetic(total) as context:
        # Toward 0: the quotient of a tie in the last digit must not be rounded up first.
        context.rounding = ROUND_FLOOR
        quotient = total / parts
    return downward(quotient)

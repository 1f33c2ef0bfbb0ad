"""[LOCAL], [AB] Pairs of finitely many outcomes, each with a whole number of 2⁻⁶⁰ of probability.

A factor is the outcomes of one independent draw, each with its mass on the one table and on its
neighbour; the pair is the product of its factors. Whole numbers but for ln and e^ε.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal

from policy_engine.accounting.domain import ROUNDING, arithmetic
from policy_engine.accounting.noise import WHOLE, ReleaseCurve, by_ratio

Factor = tuple[tuple[int, int], ...]


def exact_epsilon(factors: Iterable[Factor]) -> Decimal | None:
    """The least ε for which the pair is ε-DP both ways, above it by a share of 1e-30.

    None where there is none.
    """
    ways = [Decimal(0), Decimal(0)]
    with arithmetic():
        for factor in factors:
            met = [pair for pair in factor if any(pair)]
            if not all(map(all, met)):
                return None
            losses = [(Decimal(one) / other).ln() for one, other in met]
            ways = [ways[0] + max(losses), ways[1] - min(losses)]
        return max(ways) * (1 + ROUNDING)


def delta_of(factors: Sequence[Factor], epsilon: Decimal) -> Decimal:
    """The least δ for which the pair is (ε, δ)-DP both ways, ε ≥ 0.

    Guarantee: never below the true one; 0 where the pair is ε-DP; rounded up at 12 digits.

    >>> flip = ((3 << 58, 1 << 58), (1 << 58, 3 << 58))
    >>> delta_of([flip], Decimal(0)), delta_of([flip], Decimal("1.1"))
    (Decimal('0.5'), Decimal('0'))
    """
    bound = exact_epsilon(factors)
    if bound is not None and bound <= epsilon:
        return Decimal(0)
    return ReleaseCurve.composed([(by_ratio(factor), 1) for factor in factors]).delta(epsilon).delta


def response(values: int, share: int) -> Factor:
    """Randomised response of two people whose values differ, over so many public values.

    Each value is given by chance with probability share·2⁻⁶⁰, else the person's own: [LOCAL] with
    truth 1 − values·share·2⁻⁶⁰. The one's own value, the other's, any other.
    """
    own = WHOLE - (values - 1) * share
    return ((own, share), (share, own), *[((values - 2) * share,) * 2] * (values > 2))


def presence(shown: int, inserted: int) -> Factor:
    """A tuple that is in one table and not in the other: it is shown, or not, [AB].

    With probability shown·2⁻⁶⁰ where it is in the table, else inserted·2⁻⁶⁰.
    """
    return (shown, inserted), (WHOLE - shown, WHOLE - inserted)

"""[TABLE], [PLACE] Laws of noise in integers, and what their tables show: trusted by nobody.

What a table costs is computed from its integers (``noise``), whoever made it.
"""

from __future__ import annotations

import math
from decimal import Context, Decimal, localcontext
from itertools import accumulate

from policy_engine.accounting.domain import (
    Number,
    decimal,
    nonnegative_epsilon,
    probability,
    sampling_rate,
    threshold,
)
from policy_engine.accounting.noise import MOST_ENTRIES, WHOLE, IntegerTable
from policy_engine.errors import DomainError

_FINE = Context(prec=50)


def laplace(epsilon: Number, bound: int) -> IntegerTable:
    """Z from −B to B with probability ∝ e^{−ε|z|}. Errors: DomainError.

    >>> table = laplace(1, 14)
    >>> len(table.entries), (table.least, table.largest), round(deviation(table), 4)
    (28, (-14, 14), 1.3569)
    """
    with localcontext(_FINE):
        ratio = (-nonnegative_epsilon(epsilon)).exp()
        return _symmetric(ratio, Decimal(1), bound)


def tilted(epsilon: Number, bound: int, delta: Number) -> IntegerTable:
    """Z from −B − 1 to B: of all laws it shows the smallest groups at (ε, δ), if B is its least.

    Pr[Z = B] is δ, rounded down, and each value below it has e^ε times that, down to 0: so the
    chance that a group is shown grows with each person as fast as (ε, δ) allows (Desfontaines,
    Voss, Gipson 2022). What is left is below 0 and falls by e^ε a step, so that the mean is a
    little below 0. Errors: DomainError; also where nothing is left.

    >>> table = tilted(1, 13, "1e-6")
    >>> (table.least, table.largest), shown_half(table), round(mean(table), 3)
    ((-14, 13), 14, -0.067)
    """
    end = int(probability(delta) * WHOLE)
    if not 1 <= bound < MOST_ENTRIES // 2:
        raise DomainError("bound", f"an integer from 1 to {MOST_ENTRIES // 2 - 1}", bound)
    with localcontext(_FINE):
        ratio = nonnegative_epsilon(epsilon).exp()
        above = _rising(Decimal(end), ratio, bound + 1)
        left = WHOLE - sum(above)
        least = left * (ratio - 1) / (ratio ** (bound + 1) - 1) if ratio > 1 else Decimal(0)
        below = _rising(least, ratio, bound + 1)
    if least < 1 or end < 1:
        raise DomainError("bound", "so small that something is left below 0", bound)
    # The last takes what rounding left: every other ratio stays e^ε at most.
    below[0] += left - sum(below)
    return IntegerTable(tuple(accumulate([*below, *above[::-1][:-1]])), -bound - 1)


def _rising(first: Decimal, ratio: Decimal, length: int) -> list[int]:
    """Integers, of which each is at most the ratio times the one before."""
    masses = [int(first)]
    while len(masses) < length:
        masses.append(int(masses[-1] * ratio))
    return masses


def gaussian(sigma: Number, bound: int) -> IntegerTable:
    """Z from −B to B with probability ∝ e^{−z²/2σ²}. Errors: DomainError.

    >>> round(deviation(gaussian(3, 15)), 4)
    3.0
    """
    law = "a number from 0.01 to 100000"
    width = decimal("sigma", law, sigma, lambda number: Decimal("0.01") <= number <= 10**5)
    with localcontext(_FINE):
        ratio = (-1 / (2 * width * width)).exp()
        return _symmetric(ratio, ratio * ratio, bound)


def _symmetric(ratio: Decimal, step: Decimal, bound: int) -> IntegerTable:
    """Weights 1, ratio, ratio²·step, ratio³·step³, … on both sides, rounded; 0 gets the rest."""
    if not 1 <= bound <= MOST_ENTRIES // 2:
        raise DomainError("bound", f"an integer from 1 to {MOST_ENTRIES // 2}", bound)
    weights = [Decimal(1)]
    for _ in range(bound):
        weights.append(weights[-1] * ratio)
        ratio *= step
    whole = WHOLE / (2 * sum(weights, Decimal(0)) - 1)
    side = [int((weight * whole).to_integral_value()) for weight in weights[1:]]
    if not side[-1]:
        raise DomainError("bound", "so small that the ends have a chance of 2**-60", bound)
    masses = [*side[::-1], WHOLE - 2 * sum(side), *side]
    return IntegerTable(tuple(accumulate(masses[:-1])), -bound)


def place(k: int, rate: Number) -> IntegerTable:
    """The place T of the k-th sampled copy: Pr[T = t] = C(t−1, k−1) β^k (1−β)^{t−k}, open.

    Where a chance is below 2⁻⁶⁰, the first places are one, and the last are "nothing is shown":
    with a chance of about 2⁻⁶⁰/β. So no place between has chance 0, which would give a unit away.
    Errors: DomainError; also for more than 65,536 places.

    >>> table = place(14, "0.253735")
    >>> table.least, len(table.entries), table.tail
    (14, 246, 4)
    """
    k, rate = threshold(k), sampling_rate(rate)
    law = f"so large that k/rate is far below {MOST_ENTRIES}"
    if k > int(MOST_ENTRIES * rate):
        raise DomainError("rate", law, rate)
    # k·log₂(1/β) bits for the first chance, and 120 for sums of up to 2¹⁶ of them.
    with localcontext(prec=int(k * -math.log10(rate)) + 120):
        t, chance = k, rate**k
        reached, entries, least = chance, list[int](), k
        while not entries or chance * WHOLE >= 1:
            following = chance * (1 - rate) * t / (t - k + 1)
            if len(entries) == MOST_ENTRIES:
                raise DomainError("rate", law, rate)
            if entries or min(reached, max(chance, following)) * WHOLE >= 1:
                least = t - len(entries)
                entries.append(int(reached * WHOLE))
            t, chance, reached = t + 1, following, reached + following
    return IntegerTable(tuple(entries), least, is_open=True)


def deviation(table: IntegerTable) -> float:
    """The standard deviation of Z where it is finite.

    >>> round(deviation(place(14, "0.253735")), 1)
    12.7
    """
    center, pairs = mean(table), enumerate(table.masses, table.least)
    return math.sqrt(sum((z - center) ** 2 * mass for z, mass in pairs) / sum(table.masses))


def mean(table: IntegerTable) -> float:
    """The mean of Z where it is finite.

    >>> round(mean(laplace(1, 14)), 12), round(mean(place(14, "0.253735")), 1)
    (0.0, 55.2)
    """
    total = sum(z * mass for z, mass in enumerate(table.masses, table.least))
    return total / sum(table.masses)


def offset_of(table: IntegerTable) -> int:
    """What is added to n − T of an open table, so that it estimates n: its mean, rounded; else 0.

    >>> offset_of(laplace(1, 14)), offset_of(place(14, "0.253735"))
    (0, 55)
    """
    return round(mean(table)) if table.is_open else 0


def around(table: IntegerTable, offset: int = 0) -> tuple[int, int]:
    """What a group has for certain beside the number it is shown with: at least, at most.

    ``offset`` is what is added to n − T of an open table.

    >>> around(laplace(1, 14)), around(place(14, "0.253735"), 55)
    ((-14, 14), (-41, 204))
    """
    low, high = table.least, table.largest
    return (low - offset, high - offset) if table.is_open else (-high, -low)


def shown_half(table: IntegerTable, at_least: int = 1) -> int:
    """The fewest people that are shown with a chance of one half or more.

    Of a closed table with the threshold τ = B + ``at_least``, at which a group shown has at least
    so many for certain; of an open one where T ≤ n.

    >>> shown_half(laplace(1, 14)), shown_half(place(14, "0.253735"))
    (15, 54)
    >>> shown_half(IntegerTable((1 << 59,), least=0))  # 1 is added, or nothing, and 2 is shown
    1
    """
    up = list(accumulate(table.masses))
    if table.is_open:
        median = next(at for at, total in enumerate(up) if 2 * total >= WHOLE)
        return max(at_least, table.least + median)
    # n + Z ≥ τ where Z ≥ τ − n: the largest z with Pr[Z ≥ z] ≥ ½, and so Pr[Z < z] ≤ ½.
    return table.largest + at_least - (table.least + sum(2 * total <= WHOLE for total in up))

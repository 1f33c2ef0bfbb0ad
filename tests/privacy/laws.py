"""The laws that releases must obey, as tests that a sound mechanism fails once in 10¹⁰ runs.

Each raises ``LawBroken``; the power tests show that every broken mechanism does break one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy import stats

FLUKE = 1e-10


class LawBroken(AssertionError):
    """What was seen has, under the law, a probability below FLUKE."""


def cell_law(n: int, rate: float, k: int) -> dict[int, float]:
    """The law of a released cell [EXACT]: Bin(n, rate) if at least k, else 0 (suppressed)."""
    counts = range(k, n + 1)
    law = dict(zip(counts, map(float, stats.binom.pmf(counts, n, rate)), strict=True))
    return {0: float(stats.binom.cdf(k - 1, n, rate)), **law}


def check_cell(seen: Sequence[int], n: int, rate: float, k: int) -> None:
    """Seen counts of a cell follow its law: no impossible value, and (Dvoretzky, Kiefer,
    Wolfowitz; Massart) no distribution function further away than chance allows."""
    law = cell_law(n, rate, k)
    impossible = sorted(set(seen) - law.keys())
    if impossible:
        raise LawBroken(f"counts {impossible} cannot be, with k = {k} and n = {n}")
    allowed = math.sqrt(math.log(2 / FLUKE) / (2 * len(seen)))
    for value in law:
        wanted = sum(p for j, p in law.items() if j <= value)
        found = sum(x <= value for x in seen) / len(seen)
        if abs(found - wanted) > allowed:
            raise LawBroken(f"P(count ≤ {value}) = {wanted:.4f}, seen {found:.4f}")


def check_moments(seen: Sequence[int], n: int, rate: float) -> None:
    """Seen counts have the mean (exactly: their sum is binomial) and variance of Bin(n, rate)."""
    total = int(np.sum(seen))
    p = 2 * min(
        stats.binom.cdf(total, n * len(seen), rate), stats.binom.sf(total - 1, n * len(seen), rate)
    )
    if p < FLUKE:
        raise LawBroken(f"the mean is {np.mean(seen):.3f}, not {n * rate:.3f} (p = {p:.1e})")
    spread = float(np.sum((np.array(seen) - n * rate) ** 2)) / (n * rate * (1 - rate))
    p = 2 * min(stats.chi2.cdf(spread, len(seen)), stats.chi2.sf(spread, len(seen)))
    if p < FLUKE:
        raise LawBroken(f"the variance is {spread / len(seen):.3f} of the binomial's (p = {p:.1e})")


def check_independence(inside: np.ndarray, rate: float) -> None:
    """Units are in by themselves: ``inside[draw, unit]`` shows no unit and no pair favoured."""
    draws, units = inside.shape
    often = inside.sum(axis=0)
    tails = np.minimum(stats.binom.cdf(often, draws, rate), stats.binom.sf(often - 1, draws, rate))
    if 2 * units * tails.min() < FLUKE:
        raise LawBroken(f"unit {int(tails.argmin())} is in {int(often[tails.argmin()])} of {draws}")
    centred = inside - rate
    pairs = [(centred[:, lag:] * centred[:, :-lag], f"{lag} units apart") for lag in (1, 2, 8, 16)]
    pairs.append((centred[1:] * centred[:-1], "in the next draw"))
    for products, where in pairs:
        # Under the law the products are uncorrelated, with this variance each.
        z = products.sum() / math.sqrt(products.size * (rate * (1 - rate)) ** 2)
        if abs(z) > 8:
            raise LawBroken(f"correlation {where}: z = {z:.1f}")


def check_neighbours(
    one: Sequence[int], other: Sequence[int], epsilon: float, delta: float
) -> None:
    """No event "the count is at least j" (or "at most") tells D from D' by more than (ε, δ)."""
    # Hoeffding for each side of each event; there are at most 4 per value seen.
    values = sorted({*one, *other})
    share = math.log(8 * len(values) / FLUKE)
    slack = (1 + math.exp(epsilon)) * math.sqrt(share / (2 * min(len(one), len(other))))
    for value in values:
        for event in (lambda x, v=value: x >= v, lambda x, v=value: x <= v):
            p, q = (sum(map(event, seen)) / len(seen) for seen in (one, other))
            gap = max(p - math.exp(epsilon) * q, q - math.exp(epsilon) * p)
            if gap > delta + slack:
                raise LawBroken(f"around {value} the gap is {gap:.3f}, above δ = {delta:.3g}")

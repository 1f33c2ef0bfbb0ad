"""One pair of laws that dominates a whole block of table sizes [n₁, n₂], for replace-one.

Notation of ``curve``: T is the place of the k-th sampled copy. Let the pair tell less than T:
    x ≥ k           the count among the first n₁, if T ≤ n₁:   f(x; n₁)      and f(x; n₁−1),
    n₁ < t ≤ n₂     the place T itself:                        β·f(k−1; t−1) and β·f(k−1; t−2),
    ⊥               nothing, if T > n₂:                        F(n₂)         and F(n₂−1).
For every n of the block the release is a function of it: x + Bin(n−n₁, β), k + Bin(n−t, β) if
t ≤ n, and else ⊥. So the pair (first, second) dominates remove for every n of the block,
(second, first) dominates add, and with n₁ = n₂ both are exact.

numpy floats: the masses carry a relative error of at most ``Crossing.guard``.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from policy_engine.accounting.binomial import sum_to
from policy_engine.accounting.domain import arithmetic

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Atoms:
    """Atoms by falling ratio of larger to smaller table: masses under n and under n − 1."""

    larger: Floats
    smaller: Floats
    ratio: Floats


class Crossing:
    """Blocks of table sizes between k and ``end`` for one (k, β).

    Guarantee: ``atoms`` dominates every n in the block up to the relative error ``guard``, and up
    to mass that lies beyond the window of counts, which is assigned to the worse side. Units:
    counts of privacy units.

    >>> pair = Crossing(5, Decimal("0.1"), 100).atoms(9, 9, leaving=True)
    >>> round(float(pair.larger.sum()), 9), round(float(pair.smaller.sum()), 9)
    (1.0, 1.0)
    """

    def __init__(self, k: int, rate: Decimal, end: int) -> None:
        """Tabulate β·f(k−1; n) for k−1 ≤ n ≤ end."""
        import numpy as np

        self.k, self.end = k, end
        self.rate = float(rate)
        with arithmetic(rate):
            self.stay = float(1 - rate)
            first, log_stay = float(k * rate.ln()), float((1 - rate).ln())
            rest = float(sum_to(k - 1, end, rate, Decimal(1), 0))
        n = np.arange(k - 1, end, dtype=np.float64)
        steps = np.log((n + 1) / (n - k + 2)) + log_stay
        self._log = np.concatenate([[first], first + np.cumsum(steps)])
        self._mass = np.exp(self._log)
        # F_n(k−1) = F_end(k−1) + Σ_{n ≤ i < end} β·f(k−1; i)
        self._below = np.concatenate([rest + np.cumsum(self._mass[-2::-1])[::-1], [rest]])
        # Each of `end` additions of logarithms errs by 2**-53 of what has been added up, and
        # three roundings more; 8 instead of 1 leaves room for the sums over atoms.
        largest = float(np.max(np.abs(self._log))) + abs(first)
        self.guard = 8 * 2.0**-53 * end * (1 + largest)

    def atoms(self, low: int, high: int | None, *, leaving: bool) -> Atoms:
        """The pair for k ≤ low ≤ n ≤ high, without upper end if None.

        ``leaving`` says which side is the worse one for mass that is not resolved: under remove
        its ratio is taken too large, under add too small.
        """
        import numpy as np

        counts, larger, tail = self._counts(low)
        ratio_tail = (low - counts[0]) / (low * self.stay)
        until = self.end if high is None else high
        sizes = np.arange(low, until, dtype=np.float64)
        at = low - self.k + 1
        span = until - low
        below = float(self._below[until - self.k + 1])
        if high is None:
            end_ratio = (until - self.k + 1) / (until * self.stay) if leaving else 1 / self.stay
        elif below:
            end_ratio = 1 + float(self._mass[until - self.k]) / below
        else:
            # Below 1e-308. The ratio is between 1 and 1/(1−β), and either will do for no mass.
            end_ratio = 1.0 if leaving else 1 / self.stay
        first = np.concatenate([[tail], larger, self._mass[at : at + span], [below]])
        inverse = np.concatenate(
            [
                [0.0 if leaving else ratio_tail],
                (low - counts) / (low * self.stay),
                (sizes - self.k + 1) / (sizes * self.stay),
                [end_ratio],
            ]
        )
        with np.errstate(divide="ignore"):
            return Atoms(first, first * inverse, 1 / inverse)

    def _counts(self, n: int) -> tuple[Floats, Floats, float]:
        """The counts x ≥ k of n from the top of a window down, f(x; n), and the mass above."""
        import numpy as np

        mean = n * self.rate
        width = int(60 + max(0.0, mean - self.k) + 14 * (mean + self.k) ** 0.5)
        top = min(n, self.k + width)
        x = np.arange(self.k, top, dtype=np.float64)
        start = self._log[n - self.k] + np.log(n / self.k)
        steps = np.log((n - x) * self.rate / ((x + 1) * self.stay))
        mass = np.exp(np.concatenate([[start], start + np.cumsum(steps)]))[::-1]
        # Beyond the window the ratio is below that at its end, which lies over the mode.
        odds = (n - top) * self.rate / ((top + 1) * self.stay)
        tail = float(mass[0]) * odds / (1 - odds)
        return np.concatenate([x, [float(top)]])[::-1], mass, tail

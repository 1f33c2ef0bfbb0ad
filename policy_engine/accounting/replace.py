"""[EXACT] The curve for replace-one neighbours: a unit leaves cell a and enters cell b.

With n copies in cell a and n'−1 in cell b before, cells independent, the divergence is
V(n,n') = H_{e^ε}(P_n×P_{n'−1} ‖ P_{n−1}×P_{n'}), and δ(ε) = sup V. Swapping the two tables swaps
the cells, so one direction is enough. If n' < k, cell b does not differ and V ≤ δ_remove(ε); if
n < k, V ≤ δ_add(ε). The rest is searched by branch and bound over blocks [n₁,n₂]×[n'₁,n'₂]: a
pair that dominates each cell's block (below) composes to a pair that dominates their
product, hence to an upper bound on V over the block. It is split until the bound is within
5e-4 of a V that was evaluated.

*The blocks end.* No ratio P_{n'−1}/P_{n'} exceeds 1/(1−β), so cell a is only asked at thresholds
≥ e^ε(1−β), and from n* at that threshold, ⌈(k−1)/(1−e^{−ε})⌉, V falls with n. Cell b has no
end; its last block is open.

*Without a search*: V ≤ δ_remove(ε + ln(1−β)), for the same reason. That bound is returned
where it is within 1e-4 of δ_remove(ε) ≤ δ, and where the tables would have more than 200,000 sizes
(there the rate is small, and it is close) or δ_remove(ε) < 1e-280.

*A pair that dominates a block* [n₁, n₂] of sizes of one cell. Notation of ``curve``: T is the place
of the k-th sampled copy. Let the pair tell less than T:
    x ≥ k           the count among the first n₁, if T ≤ n₁:   f(x; n₁)      and f(x; n₁−1),
    n₁ < t ≤ n₂     the place T itself:                        β·f(k−1; t−1) and β·f(k−1; t−2),
    ⊥               nothing, if T > n₂:                        F(n₂)         and F(n₂−1).
For every n of the block the release is a function of it: x + Bin(n−n₁, β), k + Bin(n−t, β) if
t ≤ n, and else ⊥. So the pair (first, second) dominates remove for every n of the block,
(second, first) dominates add, and with n₁ = n₂ both are exact.

numpy floats: the masses carry a relative error of at most ``Crossing.guard``.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass, field
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from policy_engine.accounting.binomial import sum_to
from policy_engine.accounting.curve import Bound, delta_remove, larger_direction
from policy_engine.accounting.domain import (
    Number,
    arithmetic,
    nonnegative_epsilon,
    sampling_rate,
    threshold,
    upward,
)
from policy_engine.base_errors import InternalError
from policy_engine.values import frozen

_CLOSE = Decimal("1.0001")
_TOLERANCE = 5e-4
_LEAST = Decimal("1e-280")
_MOST_SIZES = 200_000
_MOST_BLOCKS = 20_000

Block = tuple[int, int | None]


@frozen
class Atoms:
    """Atoms by falling ratio of larger to smaller table: masses under n and under n − 1."""

    larger: NDArray[np.float64]
    smaller: NDArray[np.float64]
    ratio: NDArray[np.float64]


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

    def _counts(self, n: int) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
        """The counts x ≥ k of n from the top of a window down, f(x; n), and the mass above."""
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


def delta_replace(k: int, rate: Number, epsilon: Number) -> Bound:
    """Compute δ of one release from a sample if one unit is replaced by another, [EXACT].

    It is ``delta_exact`` with ``neighbours="replace_one"``, with the same guarantee.

    Arguments:
        ``k``: the smallest published count, from 2 to 10⁹.
        ``rate``: the probability that a unit is sampled, between 0 and 1.
        ``epsilon``: ε, from 0 to 10⁹.

    Errors: DomainError for other values.

    >>> delta_replace(20, "0.1", "0.5").delta < Decimal("2.81e-11")
    True
    """
    k, rate, epsilon = threshold(k), sampling_rate(rate), nonnegative_epsilon(epsilon)
    single = larger_direction(k, rate, epsilon)
    with arithmetic(rate, epsilon):
        lower = epsilon + (1 - rate).ln()
    shifted = delta_remove(k, rate, lower)
    if shifted.delta <= single.delta * _CLOSE:
        return shifted
    end = _last_size(k, rate, shifted.delta / single.delta)
    if end > _MOST_SIZES or single.delta < _LEAST:
        return shifted
    search = _Search(Crossing(k, rate, end), _last_leaving(k, epsilon, end), float(epsilon))
    value, at_n = search.run(float(single.delta), single.at_n)
    bound = upward(Decimal(value * (1 + search.cells.guard)))
    return Bound(min(shifted.delta, max(single.delta, bound)), at_n)


def _last_leaving(k: int, epsilon: Decimal, end: int) -> int | None:
    """The size from which V falls with n; None if beyond the table, then blocks are open."""
    with arithmetic(epsilon):
        kept = 1 - (-epsilon).exp()
        last = max(k, math.ceil((k - 1) / kept)) if kept else end + 1
    return last if last <= end else None


def _last_size(k: int, rate: Decimal, gain: Decimal) -> int:
    """An n' beyond which cell b cannot matter: Pr[X ≤ k−1] · gain < 1e-5 there (Chernoff).

    A choice that affects tightness only.
    """
    share, wanted = float(rate), float(gain.ln()) + 12
    size = 2 * k / share
    while size <= _MOST_SIZES:
        low = (k - 1) / size
        divergence = low * math.log(low / share) + (1 - low) * math.log((1 - low) / (1 - share))
        if size * divergence > wanted:
            break
        size *= 1.1
    return math.ceil(size)


@dataclass
class _Search:
    """Best-first branch and bound."""

    cells: Crossing
    last: int | None
    epsilon: float
    known: dict[tuple[Block, bool], Atoms] = field(default_factory=dict)

    def run(self, lower: float, at_n: int | None) -> tuple[float, int | None]:
        """An upper bound on V, and the n of the greatest V met."""
        start = self.cells.k
        left: Block = (start, self.last)
        right: Block = (start, None)
        queue = [(-self.value(left, right), left, right)]
        for _block in range(_MOST_BLOCKS):
            if -queue[0][0] <= lower * (1 + _TOLERANCE):
                break
            _, left, right = heapq.heappop(queue)
            middle, other = self._middle(left), self._middle(right)
            met = self.value((middle, middle), (other, other))
            if met > lower:
                lower, at_n = met, middle
            # The side whose spread contributes more is halved.
            by_left = self.value((middle, middle), right)
            by_right = self.value(left, (other, other))
            if by_left < by_right:
                children = [(part, right) for part in self._halves(left, middle)]
            else:
                children = [(left, part) for part in self._halves(right, other)]
            for one, two in children:
                heapq.heappush(queue, (-self.value(one, two), one, two))
            if len(children) == 1:
                break  # the open last block leads: splitting cannot tighten it
        return max(lower, -queue[0][0]), at_n

    def value(self, left: Block, right: Block) -> float:
        """H_{e^ε} of the composed pair: a bound on V over the block, V itself for one point.

        For an atom y of cell b the best event in cell a is the atoms above a ratio, which are a
        prefix of them.
        """
        a, b = self._atoms(left, leaving=True), self._atoms(right, leaving=False)
        scale = math.exp(self.epsilon)
        # Ratios fall, so their negatives are sorted as searchsorted wants.
        prefix = np.searchsorted(-a.ratio, -scale * b.ratio)
        larger = np.concatenate([[0.0], np.cumsum(a.larger)])[prefix]
        smaller = np.concatenate([[0.0], np.cumsum(a.smaller)])[prefix]
        value = float(np.sum(b.smaller * larger - scale * b.larger * smaller))
        if not math.isfinite(value):
            raise InternalError(f"the divergence of {left} and {right} has no value")
        return value

    def _atoms(self, block: Block, *, leaving: bool) -> Atoms:
        if (block, leaving) not in self.known:
            self.known[block, leaving] = self.cells.atoms(*block, leaving=leaving)
        return self.known[block, leaving]

    def _middle(self, block: Block) -> int:
        low, high = block
        return math.isqrt(low * (self.cells.end if high is None else high))

    def _halves(self, block: Block, middle: int) -> list[Block]:
        low, high = block
        end = self.cells.end if high is None else high
        if middle == end:
            return [block]
        return [(low, middle), (middle + 1, high)]

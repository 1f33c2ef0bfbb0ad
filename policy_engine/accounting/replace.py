"""[EXACT] The curve for replace-one neighbours: a unit leaves cell a and enters cell b.

With n copies in cell a and n'−1 in cell b before, cells independent, the divergence is
V(n,n') = H_{e^ε}(P_n×P_{n'−1} ‖ P_{n−1}×P_{n'}), and δ(ε) = sup V. Swapping the two tables swaps
the cells, so one direction is enough. If n' < k, cell b does not differ and V ≤ δ_remove(ε); if
n < k, V ≤ δ_add(ε). The rest is searched by branch and bound over blocks [n₁,n₂]×[n'₁,n'₂]: a
pair that dominates each cell's block (``crossing``) composes to a pair that dominates their
product, hence to an upper bound on V over the block. It is split until the bound is within
5e-4 of a V that was evaluated.

*The blocks end.* No ratio P_{n'−1}/P_{n'} exceeds 1/(1−β), so cell a is only asked at thresholds
≥ e^ε(1−β), and from n* at that threshold, ⌈(k−1)/(1−e^{−ε})⌉, V falls with n. Cell b has no
end; its last block is open.

*Without a search*: V ≤ δ_remove(ε + ln(1−β)), for the same reason. That bound is returned
where it is within 1e-4 of δ_remove(ε) ≤ δ, and where the tables would have more than 200,000 sizes
(there the rate is small, and it is close) or δ_remove(ε) < 1e-280.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass, field
from decimal import Decimal

from policy_engine.accounting.crossing import Atoms, Crossing
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

_CLOSE = Decimal("1.0001")
_TOLERANCE = 5e-4
_LEAST = Decimal("1e-280")
_MOST_SIZES = 200_000
_MOST_BLOCKS = 20_000

Block = tuple[int, int | None]


def delta_replace(k: int, rate: Number, epsilon: Number) -> Bound:
    """The least δ under replacement of one unit, from above, [EXACT].

    Guarantee: never below the true value; above it by less than a 1e-3 share for k/β up to
    about 10⁵ and δ ≥ 1e-280, see the module for the rest. ``at_n`` is the size of the cell that
    the unit leaves. Errors: DomainError.

    >>> delta_replace(20, "0.1", "0.5").delta < Decimal("2.81e-11")
    True
    """
    k, rate, epsilon = threshold(k), sampling_rate(rate), nonnegative_epsilon(epsilon)
    single = larger_direction(k, rate, epsilon)
    shifted = _shifted(k, rate, epsilon)
    if shifted.delta <= single.delta * _CLOSE:
        return shifted
    end = _last_size(k, rate, shifted.delta / single.delta)
    if end > _MOST_SIZES or single.delta < _LEAST:
        return shifted
    search = _Search(Crossing(k, rate, end), _last_leaving(k, epsilon, end), float(epsilon))
    value, at_n = search.run(float(single.delta), single.at_n)
    bound = upward(Decimal(value * (1 + search.cells.guard)))
    return Bound(min(shifted.delta, max(single.delta, bound)), at_n)


def _shifted(k: int, rate: Decimal, epsilon: Decimal) -> Bound:
    with arithmetic(rate, epsilon):
        lower = epsilon + (1 - rate).ln()
    return delta_remove(k, rate, lower)


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
        import numpy as np

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

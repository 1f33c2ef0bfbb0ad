"""[EXACT] δ under replace-one by brute force: pairs of cells, summed one by one.

A person leaves cell a, of n people, and enters cell b, of n'−1. Cells are independent, so with
the notation of ``brute_force`` and the product of two laws

    δ(ε) = sup over n, n' of V(n, n'),   V = H_a(P_n×P_{n'−1} ‖ P_{n−1}×P_{n'}).

With n < k or n' < k one cell shows nothing, and V is the E(n') or D(n) of add_remove. For the
others each V is the sum of max(0, P − a·Q) over all pairs (x, y) of outcomes; x and y stand for
the suppressed outcome as well.

*Which pairs can matter.*

* V falls with n from n ≥ (k−1)/(1−e^{−ε}) on: for each y it is D at the ratio
  a·P_{n'}(y)/P_{n'−1}(y) ≥ a(1−β), and D at a ratio r falls from (k−1)·r/(r−1+β) on, at r < 1
  too, for H_r(P‖Q) = 1 − r + r·H_{1/r}(Q‖P).
* For n' ≥ m, V(n, n') ≤ W(n, m) = H_a(P_n × X_{m−1} ‖ P_{n−1} × X_m): the release of b is what is
  made of the raw count X_m, or X_{m−1}, by adding the same coins and hiding what is below k.

So once W(n, m) is at most a V that was found, the rest of the row n is done. Where that takes more
than ``MOST_PAIRS`` pairs, the pairs around the best one are searched, and what is found is a lower
bound on δ: enough to refuse a δ below it, and said to be no more.

Floats: a mass is right to a 1e-11 share, and masses are scaled, so that none that matters
underflows. Ratios are kept as their distance from 1, which does not cancel.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING

from policy_engine.second_route.brute_force import Recomputed, arithmetic, brute_delta, log_point
from policy_engine.values import frozen

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

ERROR = Decimal("1e-9")
MOST_PAIRS = 3_000
LARGEST = 1_000
"""The largest k: above it there are too many outcomes to sum."""

_STEP = 16
_KEPT = 3_000
_DEEPEST = Decimal("1e-290")
_LEAST_RATE = Decimal("1e-9")


def brute_replace(k: int, rate: Decimal, epsilon: Decimal) -> Recomputed | None:
    """δ at ε ≥ 0 under replace_one; None where the cells are too large, or δ too small, to sum.

    >>> found = brute_replace(5, Decimal("0.3"), Decimal(1))
    >>> found.whole, round(found.delta, 9)
    (True, Decimal('0.004418589'))
    """
    single = brute_delta(k, rate, epsilon)
    if k > LARGEST or not single.delta > _DEEPEST or rate < _LEAST_RATE:
        return None
    search = _SizeSearch(_Cells(k, rate, epsilon), float(single.delta))
    search.climb(_worst_leaving(k, rate, epsilon), int(4 * k / rate) + 64)
    whole = search.rows(_last_leaving(k, epsilon))
    sizes = "every pair of cells that can matter" if whole else "the pairs of cells around the best"
    best = Decimal(search.best)
    return Recomputed(max(best, single.delta), sizes, ERROR, whole)


def _worst_leaving(k: int, rate: Decimal, epsilon: Decimal) -> int:
    """The size at which D is largest."""
    with arithmetic(k, rate, epsilon):
        return max(k, int((k - 1) / (1 - (1 - rate) * (-epsilon).exp())))


def _last_leaving(k: int, epsilon: Decimal) -> int:
    """The size of cell a from which V falls; above ``MOST_PAIRS`` it does not matter which."""
    with arithmetic(k, epsilon, epsilon):
        kept = 1 - (-epsilon).exp()
        most = MOST_PAIRS + k
        return most if kept * most <= k else max(k, int((k - 1) / kept) + 1)


@frozen
class _Side:
    """One cell at one size: each outcome's log mass in the larger table, by falling count.

    ``moved`` is the mass with one person fewer over the mass, less 1. The suppressed outcome is
    the last.
    """

    logs: Floats
    moved: Floats


@dataclass
class _Cells:
    """The laws of cells for one (k, β, ε)."""

    k: int
    rate: Decimal
    epsilon: Decimal
    known: dict[tuple[int, int], _Side] = field(default_factory=dict)

    def side(self, n: int, least: int) -> _Side:
        """The law of Bin(n, β) with what is below ``least`` suppressed; 0 suppresses nothing."""
        if (n, least) not in self.known:
            if len(self.known) > _KEPT:
                self.known.clear()
            self.known[n, least] = self._side(n, least)
        return self.known[n, least]

    def _side(self, n: int, least: int) -> _Side:
        import numpy as np

        rate, stay = float(self.rate), float(1 - self.rate)
        logs = self._logs(n)[::-1]
        counts = np.arange(len(logs) - 1, -1, -1, dtype=np.float64)
        # P_{n−1}(j)/P_n(j) − 1 = (n−j)/(n(1−β)) − 1
        moved = (n * rate - counts) / (n * stay)
        if not least:
            return _Side(logs, moved)
        kept = len(logs) - least
        hidden = logs[kept:]
        top = float(hidden.max())
        below = top + float(np.log(np.exp(hidden - top).sum()))
        # F(n−1) − F(n) = β·f(k−1; n−1) = (k/n)·f(k; n)
        more = least / n * np.exp(logs[kept - 1] - below)
        return _Side(np.append(logs[:kept], below), np.append(moved[:kept], more))

    def _logs(self, n: int) -> Floats:
        """ln f(j; n, β) for j from 0 on, from one exact value near the middle.

        It ends where less than e^−150 of the mass is left (Chernoff).
        """
        import numpy as np

        mean = n * float(self.rate)
        middle = min(n, int(mean))
        last = min(n, int(max(mean, self.k) + 100 + 20 * max(mean, self.k) ** 0.5))
        with arithmetic(self.k, self.rate, self.epsilon):
            odds = float(self.rate.ln() - (1 - self.rate).ln())
            anchor = float(log_point(middle, n, self.rate))
        j = np.arange(last, dtype=np.float64)
        steps = np.log((n - j) / (j + 1)) + odds
        # From the middle outwards, so that what matters is the sum of few.
        below = -np.cumsum(steps[:middle][::-1])[::-1]
        return anchor + np.concatenate([below, [0.0], np.cumsum(steps[middle:])])

    def value(self, n: int, other: int, least: int) -> float:
        """V(n, n') with ``least`` = k, W(n, n') with ``least`` = 0."""

        a, b = self.side(n, self.k), self.side(other, least)
        # P_n(x)·P_{n'−1}(y) − a·P_{n−1}(x)·P_{n'}(y) = P_n(x)·P_{n'}(y)·(b.moved − scaled)
        grown = float(self.epsilon.exp() - 1)
        scaled = a.moved + grown * (1 + a.moved)
        return _positive(a.logs[:-1], scaled[:-1], b) + _positive(a.logs[-1:], scaled[-1:], b)
        # ⊥ of cell a by itself: its mass may be 1 where the others' are 1e-200.


def _positive(logs: Floats, bounds: Floats, b: _Side) -> float:
    """Σ over x and y of mass(x)·mass(y)·max(0, b.moved(y) − bound(x)); bounds rise."""
    import numpy as np

    top, other = float(logs.max()), float(b.logs.max())
    mass, second = np.exp(logs - top), np.exp(b.logs - other)
    until = np.searchsorted(bounds, b.moved)
    masses = np.concatenate([[0.0], np.cumsum(mass)])[until]
    spent = np.concatenate([[0.0], np.cumsum(mass * bounds)])[until]
    total = float(np.sum(second * (b.moved * masses - spent)))
    return total * float(np.exp(top + other))


@dataclass
class _SizeSearch:
    """The largest V found, and the pairs that were summed."""

    cells: _Cells
    best: float
    met: int = 0

    def at(self, n: int, other: int) -> float:
        """V of a pair, counted."""
        self.met += 1
        value = self.cells.value(n, other, self.cells.k)
        self.best = max(self.best, value)
        return value

    def climb(self, start: int, reach: int) -> None:
        """For sizes of cell a around ``start``, cell b uphill from the best of a net.

        ``start`` is where remove alone is worst; in b's direction V has no sharp edge.
        """
        k = self.cells.k
        near = {*range(start - 8, start + 9), *(start * part // 100 for part in range(50, 151, 10))}
        net = [round(k * (reach / k) ** (i / 16)) for i in range(17)]
        for n in sorted(size for size in near if size >= k):
            value, other = max((self.at(n, size), size) for size in net)
            step = other // 4
            while step:
                sizes = [size for size in (other - step, other + step) if size >= k]
                higher = max((self.at(n, size), size) for size in sizes)
                if higher[0] > value:
                    value, other = higher
                else:
                    step //= 2

    def rows(self, last: int) -> bool:
        """Sum every pair that can matter; whether it was done within ``MOST_PAIRS``."""
        cells, k = self.cells, self.cells.k
        for n in range(k, last + 1):
            m = k
            while cells.value(n, m, 0) > self.best:
                self.met += _STEP
                if self.met > MOST_PAIRS or m > LARGEST:
                    return False
                for other in range(m, m + _STEP):
                    self.best = max(self.best, cells.value(n, other, k))
                m += _STEP
        return True

"""A lower bound on ε from how often an event was seen on two neighbouring tables.

(ε, δ)-DP says P[M(D) ∈ S] ≤ e^ε·P[M(D') ∈ S] + δ for every event S. So for any S that was fixed
before the runs were looked at, ε ≥ ln((p − δ)/p'), with p bounded from below and p' from above,
each by Clopper and Pearson's exact bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context, Decimal

from policy_engine.accounting.binomial import sum_from
from policy_engine.accounting.bisection import least_integer
from policy_engine.accounting.domain import arithmetic

_GRID = 10**9
"""Probabilities are bounded on a grid of 10⁻⁹, outwards."""
_DOWN = Context(prec=12, rounding=ROUND_FLOOR)


@dataclass(frozen=True)
class Hits:
    """How often an event was seen, and in how many runs.

    >>> Hits(3, 1000).share
    0.003
    """

    seen: int
    runs: int

    @property
    def share(self) -> float:
        """The plain frequency."""
        return self.seen / self.runs


def at_least(hits: Hits, error: Decimal) -> Decimal:
    """A probability that the event's true one is below with probability at most ``error``.

    Clopper and Pearson: the p at which so many hits or more have probability ``error``, rounded
    down. Assumption: the runs are independent and alike. Errors: none for 0 < error < 1.

    >>> at_least(Hits(0, 100), Decimal("0.01")), at_least(Hits(100, 100), Decimal("0.01"))
    (Decimal('0'), Decimal('0.954992586'))
    """
    if hits.seen == 0:
        return Decimal(0)

    def likely(step: int) -> bool:
        rate = Decimal(step) / _GRID
        with arithmetic(rate, 1 - rate):
            return sum_from(hits.seen, hits.runs, rate, Decimal(1), 0) > error

    # Each step that ``likely`` denies is a lower bound; the least is 0.
    return Decimal(least_integer(0, _GRID, likely) - 1) / _GRID


def at_most(hits: Hits, error: Decimal) -> Decimal:
    """A probability that the event's true one is above with probability at most ``error``.

    >>> at_most(Hits(0, 100), Decimal("0.01"))
    Decimal('0.045007414')
    """
    return 1 - at_least(Hits(hits.runs - hits.seen, hits.runs), error)


def epsilon_at_least(one: Hits, other: Hits, delta: Decimal, error: Decimal) -> Decimal:
    """The ε that the two counts of one event prove at δ; 0 where they prove none.

    Guarantee: of a mechanism that is (ε, δ)-DP it is above ε with probability at most ``error``.
    Assumption: the event was chosen without looking at these runs. Rounded down.

    >>> epsilon_at_least(Hits(500, 1000), Hits(0, 1000), Decimal("1e-9"), Decimal("1e-6"))
    Decimal('3.37902999031')
    >>> epsilon_at_least(Hits(500, 1000), Hits(480, 1000), Decimal("1e-9"), Decimal("1e-6"))
    Decimal('0')
    """
    low = at_least(one, error / 2) - delta
    high = at_most(other, error / 2)
    if low <= high:
        return Decimal(0)
    with arithmetic(low, high):
        return _DOWN.plus((low / high).ln())

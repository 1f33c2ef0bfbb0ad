"""Within what noise lies in 95 of 100 releases, by its own table: trusted by nobody.

A number and a half of standard deviations is no law of whole numbers, nor of what is as pointed as
a Laplace law: so chances are added up.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache

import numpy as np

from policy_engine.accounting.noise import IntegerTable
from policy_engine.accounting.noise_laws import offset_of
from policy_engine.values import frozen

SHARE = 0.95
_CELLS, _FINE, _POINTS = 801, 20_000, 9
Spread = tuple[np.ndarray, np.ndarray, float]
"""Values, the chance of each, and how far a value may be from the one that stands for it."""


@lru_cache(maxsize=64)
def within(table: IntegerTable) -> int:
    """The least h such that a number with this noise is off by more in at most 5 of 100 releases.

    >>> from policy_engine.accounting.noise_laws import laplace
    >>> within(laplace(1, 14)), within(laplace(4, 5))
    (3, 0)
    """
    values, chances, _ = _spread(table, offset_of(table), None)
    away = np.abs(values).astype(int)
    reached = np.cumsum(np.bincount(away, weights=chances))
    return int(np.searchsorted(reached, SHARE * (1 - 1e-12)))


def _spread(table: IntegerTable, offset: int, cells: int | None) -> Spread:
    """By how much the noise of a table puts a number off, of so many values at most."""
    masses = np.array([float(mass) for mass in table.masses])
    values = np.arange(table.least, table.least + len(masses), dtype=float)
    if table.is_open:
        values = offset - values
    size = 1 if cells is None else -(-len(values) // cells)
    starts = np.arange(0, len(values), size)
    chances = np.add.reduceat(masses / masses.sum(), starts)
    middles = np.add.reduceat(values, starts) / np.diff([*starts, len(values)])
    return middles, chances, (size - 1) / 2


@frozen
class TwoNoises:
    """The sum of two independent noises, the second times a factor from 0 to ``most``.

    Each table has a step: what its noise is multiplied by. The second is None of one noise alone.
    """

    first: tuple[IntegerTable, float]
    second: tuple[IntegerTable, float] | None
    most: float = 1.0

    def within(self, factor: float) -> float:
        """Within what it lies in 95 of 100 releases, by at most a hundredth more; it is even.

        >>> from policy_engine.accounting.noise_laws import gaussian
        >>> both = TwoNoises((gaussian(30, 150), 2.0), (gaussian(40, 200), 1.0), 10.0)
        >>> [round(both.within(factor)) for factor in (0, 5, -5)]
        [118, 409, 409]
        """
        at, found = self._known
        return float(np.interp(abs(factor), at, found))

    @cached_property
    def _known(self) -> tuple[np.ndarray, Sequence[float]]:
        """It at some factors: between two of them it grows more slowly than a straight line."""
        table, step = self.first
        if self.second is None or not self.most:
            return np.array([0.0]), [within(table) * step]
        at = np.linspace(0.0, self.most, _POINTS)
        return at, [within(table) * step, *map(self._both, at[1:])]

    def _both(self, factor: float) -> float:
        assert self.second is not None
        (one, step), (other, wide) = self.first, self.second
        first, chances, rough = _spread(one, offset_of(one), _CELLS)
        second, others, coarse = _spread(other, offset_of(other), _CELLS)
        wide *= factor
        away = np.abs(np.add.outer(first * step, second * wide)).ravel()
        fine = away.max() / _FINE or 1.0
        cells = np.ceil(away / fine).astype(int)
        reached = np.cumsum(np.bincount(cells, weights=np.outer(chances, others).ravel()))
        place = int(np.searchsorted(reached, SHARE * (1 - 1e-12)))
        return float(place * fine + rough * step + coarse * wide)

"""[TABLE] δ of many numbers with noise, between two bounds: where their outcomes are too many.

Each number has one law with the person and one without, in whole numbers of 2⁶⁰. The outcomes of
all of them are collected by their loss ln(P/Q), on a grid.

* *Below*: an outcome counts at the point of the grid that is next to its loss, and outcomes of all
  numbers whose points have one sum are merged. The sum is a function of what is seen, so
  Σ max(0, P − a·Q) over it is at most the true one.
* *Above*: an outcome whose loss lies between two points of the grid is split between them so that
  both masses stay. max(0, P − a·Q) is convex, so it only grows. What is beyond the grid's upper end
  counts as certain.
* *Both, where few losses differ*, as those of Laplace's noise do: each is put on a multiple of a
  far smaller step, above it or below. A tenth of all mass may lie just at ε, and be all of δ: a
  cell would merge it with what lies below, and a grid would lift more of it above.

A sum is moved by any number of steps up to a farthest. Below, it is the farthest. Above, it is a
pair that dominates each: the edges of the upper hull of the corners of all of them. Where the noise
is as likely up as down, (Z, Z − s) seen in a mirror is (Z, Z + s), so that the steps of one way are
all there are: a hull of both ways at once is far above either.

*Floats*: all terms are positive, so a sum of products is right to a share of ``_GUARD``, which is
taken off below and added above, and so is what is too small for a float.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import reduce
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from policy_engine.second_route.brute_force import Recomputed
from policy_engine.values import frozen

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

APART = Decimal("0.01")
"""Bounds that are farther apart, as a share of δ, say too little."""

_WHOLE = 1 << 60
_GUARD, _LEAST = 1e-8, 1e-280
_POINTS = (1 << 12, 1 << 13, 1 << 15)
_FINE, _MOST_OUTCOMES = (1e-9, 1e-11, 1e-13), 1 << 21
_NEAR = 5e-3
_ABOVE = 3.0
"""Beyond ε by so much more than chance takes it, nearly all of an outcome is excess."""
_MOST_WORK = 3 * 10**10
_LARGEST_EPSILON = 600
_MOST_CORNERS = 10**6
Step = tuple[int, int]
"""The masses of an outcome with the person and without, in parts of 2⁶⁰."""


@frozen
class NoisyNumber:
    """A count or a sum with noise from a table, which stands in ``times`` groups of one person.

    One person more moves it by at most ``up`` steps up, or ``down`` steps down. ``is_open``: what
    is drawn is taken from the count, and after the last entry nothing is shown.
    """

    entries: tuple[int, ...]
    up: int = 1
    down: int = 0
    times: int = 1
    is_open: bool = False

    @property
    def farthest(self) -> tuple[int, int]:
        """The farthest steps up and down; where it goes one way alone, that way."""
        return self.up or -self.down, -self.down or self.up


def brute_product(
    numbers: Sequence[NoisyNumber],
    epsilon: Decimal,
    *,
    replaces: bool,
    chosen: Sequence[tuple[Sequence[Step], int]] = (),
) -> Recomputed | None:
    """δ at ε ≥ 0 of all numbers together; None where it cannot be told to a share of ``APART``.

    ``chosen`` are pairs beside them that are the same both ways, each so many times. Its ``delta``
    is the upper bound, and less its ``error`` the lower one.

    >>> steps = tuple((1 << 60) * n // 16 for n in range(1, 16))
    >>> found = brute_product([NoisyNumber(steps, times=3)], Decimal("0.5"), replaces=False)
    >>> 0.17 < found.delta < 0.18, found.error < Decimal("0.001")
    (True, True)
    """
    numbers = _together(numbers)
    corners = (len(each.entries) * (each.up + each.down) for each in numbers)
    beside = [_factor(pair, times) for pair, times in chosen]
    if epsilon > _LARGEST_EPSILON or max(corners) > _MOST_CORNERS:
        return None
    count = sum(each.times for each in numbers) * (2 if replaces else 1)
    hulls = [_hull(each) for each in numbers]
    edges = [_factor(hull, each.times) for hull, each in zip(hulls, numbers, strict=True)]
    sides = (0, 1) if any(each.up and each.down for each in numbers) else (0,)
    ways = [
        [_factor(_pair(each, each.farthest[side]), each.times) for each in numbers]
        for side in sides
    ]
    uppers = [edges]
    if replaces:
        ways, uppers = ([[*way, *_turned(way)] for way in each] for each in (ways, uppers))
    elif len(sides) > 1 or not all(map(_is_symmetric, hulls)):
        # Noise that is as likely up as down has the same law either way round.
        ways, uppers = ([*each, *map(_turned, each)] for each in (ways, uppers))
    ways, uppers = ([[*way, *beside] for way in each] for each in (ways, uppers))
    at = float(epsilon)
    low, high = Decimal(0), Decimal(1)
    for points in _POINTS:
        if _apart(low, high) <= _NEAR or max(map(_work, [*ways, *uppers])) * points > _MOST_WORK:
            break
        lows = [_merged(way, _Grid.around(way, at, points), at) for way in ways]
        highs = [_split(way, _Grid.around(way, at, points), at) for way in uppers]
        low, high = max(low, Decimal(max(lows))), min(high, Decimal(max(highs)))
    for step in _FINE:
        if _apart(low, high) <= _NEAR:
            break
        low = max([low, *(Decimal(_on_steps(way, at, step, above=False)) for way in ways)])
        high = min(high, Decimal(max(_on_steps(way, at, step, above=True) for way in uppers)))
    apart = _apart(low, high)
    if apart > APART:
        return None
    told = f"the product of {count} numbers, between bounds that lie {float(apart):.1g} of it apart"
    return Recomputed(high, told, apart)


def _apart(low: Decimal, high: Decimal) -> Decimal:
    """How far apart the bounds are, as a share of the upper one."""
    return (high - low) / high + Decimal("1e-12")


def _together(numbers: Iterable[NoisyNumber]) -> list[NoisyNumber]:
    """Numbers of one law as one number, in the groups of all of them: their sum is one power."""
    times: dict[NoisyNumber, int] = {}
    for number in numbers:
        once = replace(number, times=1)
        times[once] = times.get(once, 0) + number.times
    return [replace(number, times=n) for number, n in times.items()]


def _is_symmetric(steps: Sequence[Step]) -> bool:
    return sorted((q, p) for p, q in steps) == sorted(steps)


def _turned(way: Sequence[_Factor]) -> list[_Factor]:
    return [each.turned() for each in way]


def _pair(number: NoisyNumber, step: int) -> list[Step]:
    """Every outcome of a number that the person moves by so many steps."""
    masses = [high - low for low, high in pairwise((0, *number.entries, _WHOLE))]
    nothing = [0] * abs(step)
    if number.is_open:
        tail = masses.pop()
        return [*zip([*masses, 0], [0, *masses], strict=True), (tail, tail)]
    higher, lower = [*nothing, *masses], [*masses, *nothing]
    return [*zip(*((higher, lower) if step > 0 else (lower, higher)), strict=True)]


def _hull(number: NoisyNumber) -> list[Step]:
    """A pair that dominates those of all steps."""
    corners = {(0, 0)}
    for step in _steps(number):
        pair = [each for each in _pair(number, step) if any(each)]
        # Ratios of numbers of 60 bits differ by 2⁻¹²⁰ at least.
        pair.sort(key=lambda each: (each[1] > 0, -((each[0] << 128) // (each[1] or 1))))
        corners.update(accumulate(pair, lambda at, one: (at[0] + one[0], at[1] + one[1])))
    hull: list[Step] = []
    for p, q in sorted(corners, key=lambda corner: (corner[1], corner[0])):
        while len(hull) > 1 and _is_below(hull[-2], hull[-1], (p, q)):
            hull.pop()
        hull.append((p, q))
    return [(p - before, q - other) for (before, other), (p, q) in pairwise(hull)]


def _steps(number: NoisyNumber) -> list[int]:
    """By how many steps a person may move it; of two that mirror each other, the one up."""
    masses = [high - low for low, high in pairwise((0, *number.entries, _WHOLE))]
    if not number.is_open and masses == masses[::-1]:
        return [*range(1, max(number.up, number.down) + 1)]
    return [step for step in range(-number.down, number.up + 1) if step]


def _is_below(left: Step, middle: Step, right: Step) -> bool:
    """Whether a corner lies on or below the line between its neighbours."""
    rise = (middle[0] - left[0]) * (right[1] - left[1])
    return rise <= (right[0] - left[0]) * (middle[1] - left[1])


@frozen(eq=False)
class _Factor:
    """The outcomes of a number that both laws have, and the masses of those that only one has."""

    first: Floats
    second: Floats
    losses: Floats
    only_first: float
    only_second: float
    times: int

    def turned(self) -> _Factor:
        """The second law against the first."""
        only = self.only_second, self.only_first
        return _Factor(self.second, self.first, -self.losses, *only, self.times)


def _factor(pair: Iterable[Step], times: int) -> _Factor:
    import numpy as np

    both = [(p, q) for p, q in pair if p and q]
    only = [sum(p for p, _ in both), sum(q for _, q in both)]
    laws = [np.array([each[at] / _WHOLE for each in both]) for at in (0, 1)]
    losses = np.array([math.log(p / q) for p, q in both])
    certain, other = ((_WHOLE - mass) / _WHOLE for mass in only)
    return _Factor(laws[0], laws[1], losses, certain, other, times)


def _certain(factors: Iterable[_Factor]) -> float:
    """The mass of outcomes that the first law alone has."""
    logs = (each.times * math.log1p(-min(each.only_first, 1 - 1e-16)) for each in factors)
    return -math.expm1(math.fsum(logs))


@frozen
class _Grid:
    """The losses first·step, …, last·step: what sums nearly always are, and the ε in question."""

    step: float
    first: int
    last: int

    @classmethod
    def around(cls, factors: Sequence[_Factor], epsilon: float, points: int) -> _Grid:
        """A grid of about so many points."""
        mean = variance = heavy = 0.0
        for each in factors:
            own = float((each.first * each.losses).sum())
            mean += each.times * own
            variance += each.times * float((each.first * (each.losses - own) ** 2).sum())
            if len(each.losses):
                heavy = max(heavy, abs(float(each.losses[each.first.argmax()])))
        far = 14 * math.sqrt(variance) + 1e-6
        low, high = min(0.0, mean) - far, max(epsilon, mean, 0.0) + far + _ABOVE
        step = (high - low) / points
        if heavy > step:
            # A sum of the most frequent losses is on the grid then: nothing of it is split.
            step = heavy / math.ceil(heavy / step)
        return cls(step, math.floor(low / step), math.ceil(high / step))


@frozen(eq=False)
class _Sum:
    """The masses of losses on the grid from the ``first`` on, and the mass that is beyond it."""

    grid: _Grid
    first: int
    masses: Floats
    beyond: float

    @classmethod
    def placed(cls, grid: _Grid, places: Floats, masses: Floats) -> _Sum:
        """Masses at places of the grid, whose width none can be below or beyond."""
        import numpy as np

        width = grid.last - grid.first
        places = np.maximum(places, -width)
        inside = places < width
        beyond = float(masses[~inside].sum())
        at = places[inside].astype(np.int64)
        first = int(at.min(initial=width))
        placed: Floats = np.zeros(int(at.max(initial=first)) - first + 1)
        placed += np.bincount(at - first, masses[inside], len(placed))
        return cls(grid, first, placed, beyond)

    def plus(self, other: _Sum) -> _Sum:
        """The sum of both; what is below the grid is raised to its lower end."""
        import numpy as np

        first, masses = self.first + other.first, np.convolve(self.masses, other.masses)
        beyond = self.beyond * (other.beyond + float(other.masses.sum()))
        beyond += float(self.masses.sum()) * other.beyond
        kept, below = max(0, self.grid.last + 1 - first), max(0, self.grid.first - first)
        masses, beyond = masses[:kept], beyond + float(masses[kept:].sum())
        raised = np.append(masses[: below + 1].sum(), masses[below + 1 :])
        return _Sum(self.grid, first + below, raised, beyond)

    def power(self, times: int) -> _Sum:
        """The sum of so many."""
        if times == 1 or times * len(self.masses) <= 4 * (self.grid.last - self.grid.first):
            # A short one is added so many times in less work than long ones are squared.
            return reduce(_Sum.plus, [self] * times)
        half = self.power(times // 2)
        both = half.plus(half)
        return both.plus(self) if times % 2 else both


def _on_steps(factors: Sequence[_Factor], epsilon: float, step: float, *, above: bool) -> float:
    """A bound on δ: each loss is a multiple of ``step`` above it, or below; 1 or 0 of too many."""
    import numpy as np

    places: NDArray[np.int64] = np.zeros(1, np.int64)
    masses: Floats = np.ones(1)
    for factor in factors:
        # One step more, for a loss is right to far less than a step, and not to the last digit.
        own = np.ceil(factor.losses / step) + 1 if above else np.floor(factor.losses / step) - 1
        own, where = np.unique(own.astype(np.int64), return_inverse=True)
        weights = np.bincount(where, factor.first)
        for _ in range(factor.times):
            if len(places) * len(own) > _MOST_OUTCOMES:
                return float(above)
            sums, products = np.add.outer(places, own).ravel(), np.outer(masses, weights).ravel()
            places, alike = np.unique(sums, return_inverse=True)
            masses = np.zeros(len(places))
            masses += np.bincount(alike, products)
    gained = masses * -np.expm1(np.minimum(epsilon - places * step, 0))
    found = float(gained.sum()) + _certain(factors)
    return found * (1 + _GUARD) + _LEAST if above else found * (1 - _GUARD)


def _work(factors: Sequence[_Factor]) -> int:
    """How many outcomes are added up for each point of a grid, at the most."""
    return sum(len(each.losses) * each.times.bit_length() for each in factors)


def _merged(factors: Sequence[_Factor], grid: _Grid, epsilon: float) -> float:
    """A lower bound on δ: outcomes whose places on the grid have one sum are one outcome."""
    import numpy as np

    places = [np.rint(each.losses / grid.step) for each in factors]

    def law(masses: Iterable[Floats]) -> Floats:
        every = zip(factors, places, masses, strict=True)
        each = (_Sum.placed(grid, at, mass).power(one.times) for one, at, mass in every)
        total = reduce(_Sum.plus, each)
        return np.append(total.masses, total.beyond)

    first, second = law(each.first for each in factors), law(each.second for each in factors)
    # What is too small for a float is missing in the second law: so much is added to all of it.
    second = second * (1 + _GUARD) + _LEAST
    excess = np.maximum(first * (1 - _GUARD) - math.exp(epsilon) * second, 0)
    return float(excess.sum()) + _certain(factors) * (1 - _GUARD)


def _split(factors: Sequence[_Factor], grid: _Grid, epsilon: float) -> float:
    """An upper bound on δ: each outcome is split between two points of the grid."""
    import numpy as np

    total = reduce(_Sum.plus, (_split_once(grid, each).power(each.times) for each in factors))
    losses = (total.first + np.arange(len(total.masses))) * grid.step
    gained = total.masses * -np.expm1(np.minimum(epsilon - losses, 0))
    return (float(gained.sum()) + total.beyond + _certain(factors)) * (1 + _GUARD) + _LEAST


def _split_once(grid: _Grid, factor: _Factor) -> _Sum:
    """A factor on the grid."""
    import numpy as np

    points = np.floor(factor.losses / grid.step)
    # Of (P, Q) between two points: the share of P that goes to the upper one.
    share = -np.expm1(points * grid.step - factor.losses) / -math.expm1(-grid.step)
    upper = factor.first * np.clip(share, 0, 1)
    places = np.concatenate([points, points + 1])
    return _Sum.placed(grid, places, np.concatenate([factor.first - upper, upper]))

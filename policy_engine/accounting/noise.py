"""[TABLE], [PLACE] Noise whose law is a list of integers, and its exact price.

u is uniform on 2⁶⁰ and Z = least + (number of entries ≤ u), so every probability is a whole number
over 2⁶⁰. The first law of every pair is that of the table with the unit. If it moves a number up by
s steps, n + s + Z stands against n + Z: the pair (Z + s, Z). If it moves it down, as a sum of what
is below 0 does, the pair is (Z, Z + s). A release of [PLACE] shows n − T: the pair (T, T + 1).
What is shown is a function of the noisy number, or of T and the tail, so nothing else counts.

*Directions.* Of one number both directions of its pair are looked at. Of a product they are not
those of its factors: pairs are composed the same way round, or an asymmetric table is priced as if
the unit were there for one number, and not there for another.

*The frontier.* For an event S let P(S), Q(S) be its chances under both laws. H_a = max over S of
P(S) − a·Q(S) is read off the corners of the upper concave hull of all (Q(S), P(S)), and these are
the sums of the values in the order of their ratio p/q. The edges of the hull are the pair: steps
(p, q) whose ratios fall. Of several pairs (one for each shift) the hull of all their corners has
at every a the largest H_a of them, so its edges dominate each of them, in a composition too (Zhu,
Dong, Wang 2022). Sums of integers are integers: nothing is rounded.

*Composed.* The product of two pairs is again such steps. With one half of the factors sorted by
falling ratio and the other by rising, the event that attains H_a takes of the first half a longer
and longer part. So the sum costs one step for each step of the halves, not for each of the product.

*e^ε* is taken from below, by less than a 10⁻⁶⁰ share (H_a falls in a), as a fraction; the sums are
integers, and their quotient is rounded up once. Where no event has a finite ratio above e^ε, so in
particular from ε = 60·ln 2 for each factor on, δ is the mass of infinite loss.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from decimal import ROUND_CEILING, Context, Decimal
from functools import cached_property, lru_cache
from itertools import accumulate, pairwise
from typing import Literal, Protocol, get_args

from policy_engine.accounting.curve import Bound
from policy_engine.accounting.domain import (
    ADD_REMOVE,
    DIGITS,
    REPLACE_ONE,
    Number,
    arithmetic,
    count,
    neighbour_notion,
    nonnegative_epsilon,
)
from policy_engine.accounting.powers import GridLaw, Step, compose
from policy_engine.base_errors import DomainError
from policy_engine.values import frozen

BITS = 60
WHOLE = 1 << BITS
MOST_ENTRIES = 1 << 16
MOST = 10**9
"""No number of a law is greater, so every number that is printed has 64 bits on every engine."""
_MOST_STEPS = 1 << 17
"""Steps that are multiplied with each other at most, in either half of a product."""
_FINITE = Decimal("41.6")
"""60·ln 2, from above."""

Direction = Literal["up", "down", "either"]
"""Where a number goes when a unit is added."""


@frozen
class IntegerTable:
    """Z = least + (number of entries ≤ u), u uniform on 2⁶⁰.

    Where it ``is_open``, nothing is shown if every entry is ≤ u: Z is infinite then. A value
    between two equal entries has chance 0. Errors: DomainError unless the entries are 1 to 65,536
    integers that ascend between 0 and 2⁶⁰.

    >>> coin = IntegerTable((1 << 58, 3 << 58), least=-1)
    >>> [(z, mass / 2**60) for z, mass in enumerate(coin.masses, coin.least)]
    [(-1, 0.25), (0, 0.5), (1, 0.25)]
    """

    entries: tuple[int, ...]
    least: int
    is_open: bool = False

    def __post_init__(self) -> None:
        """Refuse what is no table; a list, as JSON has it, is kept as a tuple."""
        entries = tuple(self.entries)
        if not 1 <= len(entries) <= MOST_ENTRIES or any(type(each) is not int for each in entries):
            raise DomainError("entries", f"from 1 to {MOST_ENTRIES} integers", len(entries))
        ascend = all(low <= high for low, high in pairwise(entries))
        if not ascend or entries[0] < 1 or entries[-1] >= WHOLE:
            raise DomainError("entries", "integers that ascend, above 0 and below 2**60", "others")
        if type(self.least) is not int or abs(self.least) > MOST:
            raise DomainError("least", f"an integer of at most {MOST}", repr(self.least))
        if type(self.is_open) is not bool:
            raise DomainError("is_open", "true or false", repr(self.is_open))
        object.__setattr__(self, "entries", entries)

    def __repr__(self) -> str:
        """Short, and different for different tables but one in 2³²: accounts are sorted by it."""
        mark = hash(self.entries) % 2**32
        return f"<{len(self.entries)} entries {mark:08x}, {self.least}, {self.is_open}>"

    @cached_property
    def masses(self) -> tuple[int, ...]:
        """The chance of each value, times 2⁶⁰."""
        ends = self.entries if self.is_open else (*self.entries, WHOLE)
        return tuple(high - low for low, high in pairwise((0, *ends)))

    @property
    def largest(self) -> int:
        """The largest finite value."""
        return self.least + len(self.entries) - self.is_open

    @property
    def tail(self) -> int:
        """The chance that nothing is shown whatever the count, times 2⁶⁰."""
        return WHOLE - self.entries[-1] if self.is_open else 0


@frozen
class Statistic:
    """One number of each group, with noise from one table, drawn afresh for each group.

    One unit more moves the number of each of at most ``groups`` groups by at most ``shift`` steps,
    and ``moves`` says where: "up", "down" (a sum of values of which none is above 0), or "either"
    (values of both signs). Under replace_one a unit does so twice, in the groups it leaves and in
    those it enters; where these are one group, the two together must move it by at most ``shift``.
    Errors: DomainError; an open table shows counts, whose shift is 1.

    >>> Statistic(IntegerTable((1 << 59,), least=0)).shift
    1
    """

    table: IntegerTable
    shift: int = 1
    groups: int = 1
    moves: Direction = "up"

    def __post_init__(self) -> None:
        if count("shift", self.shift) > 1000 or count("groups", self.groups) > 10**5:
            raise DomainError("shift", "at most 1000, and at most 100000 groups", self.shift)
        if self.moves not in get_args(Direction):
            raise DomainError("moves", "up, down or either", repr(self.moves))
        if self.table.is_open and (self.shift, self.moves) != (1, "up"):
            raise DomainError("shift", "1 and up, for a table that is open", self.shift)

    def steps(self) -> list[Step]:
        """The pair for one group, as steps whose ratios fall.

        >>> fair = Statistic(IntegerTable((1 << 59,), least=0)).steps()
        >>> [(p >> 59, q >> 59) for p, q in fair]
        [(1, 0), (1, 1), (0, 1)]
        """
        # Of noise that is as often below its middle as above it, all directions are one pair.
        symmetric = self.table.masses == self.table.masses[::-1]
        return [*_steps(self.table, self.shift, "up" if symmetric else self.moves)]

    def ways(self, neighbours: str) -> list[list[Step]]:
        """Where a unit is replaced, a group that it leaves and one that it enters."""
        steps = self.steps()
        return [steps, _turned(steps)[::-1]] if neighbours == REPLACE_ONE else [steps]


@lru_cache(maxsize=64)  # a search asks for the same numbers beside each of what it tries
def _steps(table: IntegerTable, most: int, moves: Direction) -> tuple[Step, ...]:
    """The pair of a number that moves by up to so many steps."""
    masses, corners = table.masses, [(0, 0), (WHOLE, WHOLE)]
    for shift in range(1, most + 1):
        nothing = (0,) * shift
        down = list(zip((*masses, *nothing), (*nothing, *masses), strict=True))
        # With one person more, n − T is larger where T is smaller.
        own = down if table.is_open or moves == "down" else _turned(down)
        for pair in [down, _turned(down)] if moves == "either" else [own]:
            falling = by_ratio([*pair, (table.tail, table.tail)])
            if most == 1 and moves != "either":
                return tuple(falling)
            corners += zip(*map(accumulate, [*zip(*falling, strict=True)][::-1]), strict=True)
    return tuple(_edges(corners))


class Priced(Protocol):
    """What is drawn afresh for each of at most ``groups`` groups of a unit."""

    @property
    def groups(self) -> int:
        """In so many one unit is."""

    def ways(self, neighbours: str) -> list[list[Step]]:
        """The pairs that one unit meets in a group: where it is replaced, of both its groups."""


def delta_of_release(
    statistics: Iterable[Priced], epsilon: Number, neighbours: str = ADD_REMOVE
) -> Bound:
    """The least δ for which one release of these statistics is (ε, δ)-DP for one unit, ε ≥ 0.

    Guarantee: never below the true value of the composed pairs, which is the release's own δ where
    one unit moves one number. Above it by less than a 1e-11 share where the product has two halves
    of at most some 100,000 steps (a count of 8 groups at ε = 1), else as ``powers.compose``.
    Errors: DomainError.

    >>> laplace = IntegerTable((1 << 50, 1 << 59, (1 << 60) - (1 << 50)), least=-1)
    >>> delta_of_release([Statistic(laplace), Statistic(laplace)], 20).delta
    Decimal('0.00195217132569')
    """
    return ReleaseCurve.of(statistics, neighbours).delta(epsilon)


@frozen
class ReleaseCurve:
    """The (ε, δ) curve of a release: its pair as two halves of a product, or on a grid."""

    halves: tuple[tuple[Sequence[Step], Sequence[Step]], ...]
    """By falling and by rising ratio, for each direction that differs."""
    laws: tuple[GridLaw, ...]
    """The same, where the halves would be too large."""
    factors: int

    @classmethod
    def of(cls, statistics: Iterable[Priced], neighbours: str = ADD_REMOVE) -> ReleaseCurve:
        """The curve of one release for one unit; errors as ``delta_of_release``.

        >>> ReleaseCurve.of([Statistic(IntegerTable((1 << 59,), least=0))]).factors
        1
        """
        times: dict[Priced, int] = {}
        for statistic in statistics:
            # Numbers with one law are one power of its pair, whatever list they come in.
            one = replace(statistic, groups=1)  # type: ignore[type-var]
            times[one] = times.get(one, 0) + statistic.groups
        if not times:
            raise DomainError("statistics", "at least one", "none")
        return _curve(tuple(times.items()), neighbour_notion(neighbours))

    @classmethod
    def composed(
        cls, pairs: Sequence[tuple[Sequence[Step], int]], neighbours: str = ADD_REMOVE
    ) -> ReleaseCurve:
        """The curve of a product of pairs whose ratios fall, each so many times.

        δ is the larger of both directions; by replace_one or of symmetric noise they are alike.
        """
        halves, turned = _halves(pairs), [(_turned(steps)[::-1], n) for steps, n in pairs]
        alike = turned == [(list(steps), n) for steps, n in pairs]
        ways = [pairs] if neighbours == REPLACE_ONE or alike else [pairs, turned]
        factors = sum(n for _, n in pairs)
        if halves is None:
            return cls((), tuple(compose(way, WHOLE) for way in ways), factors)
        other = (_turned(halves[0])[::-1], _turned(halves[1])[::-1])
        return cls((halves, other)[: len(ways)], (), factors)

    @property
    def largest(self) -> Decimal:
        """From this ε on no ε lowers δ."""
        return _FINITE * self.factors

    def delta(self, epsilon: Number) -> Bound:
        """δ at ε ≥ 0, the larger of both directions."""
        asked = min(nonnegative_epsilon(epsilon), self.largest)
        if self.laws:
            return Bound(max(law.delta(asked) for law in self.laws), None)
        with arithmetic(asked) as context:
            scale = asked.exp()
            # Correctly rounded, so the number before is below; e⁰ is exact.
            top, bottom = (context.next_minus(scale) if asked else scale).as_integer_ratio()
        found = max(_excess(falling, rising, top, bottom) for falling, rising in self.halves)
        up = Context(prec=DIGITS, rounding=ROUND_CEILING)
        return Bound(up.divide(Decimal(found), Decimal(bottom << BITS * self.factors)), None)


@lru_cache(maxsize=4)  # the search for a table, the kernel and the page ask for the same one
def _curve(numbers: tuple[tuple[Priced, int], ...], neighbours: str) -> ReleaseCurve:
    pairs: dict[tuple[Step, ...], int] = {}
    for number, n in numbers:
        for way in number.ways(neighbours):
            pairs[tuple(way)] = pairs.get(tuple(way), 0) + n
    return ReleaseCurve.composed([*pairs.items()], neighbours)


def _halves(
    factors: Iterable[tuple[Sequence[Step], int]],
) -> tuple[tuple[Step, ...], tuple[Step, ...]] | None:
    """The factors, each so many times, as two products; None where these would be too large."""
    halves: list[Sequence[Step]] = [[(1, 1)], [(1, 1)]]
    for factor, n in sorted(factors, key=lambda each: -len(each[0])):
        # Of three a half takes two beside what it has, of five three: such a half is known to be
        # too large by a few steps of what comes before the last.
        if n > 2 and all(_is_too_large(half, factor) for half in halves):
            return None
        if n > 4 and _is_too_large(factor, factor):
            return None
        for _ in range(n):
            halves.sort(key=len)
            if len(halves[0]) * len(factor) > _MOST_STEPS:
                return None
            # The steps of both together; equal ones are added up.
            found = Counter((p * r, q * s) for p, q in halves[0] for r, s in factor)
            halves[0] = [(p * times, q * times) for (p, q), times in found.items() if p or q]
    return tuple(by_ratio(halves[0])), tuple(by_ratio(halves[1])[::-1])


def _is_too_large(half: Sequence[Step], factor: Sequence[Step]) -> bool:
    """Whether a half, the factor, and the factor again have too many steps for certain."""
    few = math.isqrt(2 * _MOST_STEPS // len(factor)) + 1
    both = {(p * r, q * s) for p, q in half[:few] for r, s in factor[:few]} - {(0, 0)}
    return len(both) * len(factor) > _MOST_STEPS


def _excess(falling: Sequence[Step], rising: Sequence[Step], top: int, bottom: int) -> int:
    """Σ max(0, bottom·p − top·q) over the product of the halves."""
    total = first = second = taken = 0
    for p, q in rising:
        own, other = bottom * p, top * q
        while taken < len(falling) and own * falling[taken][0] > other * falling[taken][1]:
            first += falling[taken][0]
            second += falling[taken][1]
            taken += 1
        total += own * first - other * second
    return total


def _turned(steps: Sequence[Step]) -> list[Step]:
    """The second law against the first."""
    return [(q, p) for p, q in steps]


def by_ratio(steps: Sequence[Step]) -> list[Step]:
    """By falling ratio p/q, infinite ones first; what neither law takes is left out."""
    taken = [step for step in steps if any(step)]
    # Two different ratios of numbers below 2^b are 2^−2b apart, so their keys differ rightly.
    bits = 2 * max((q for _, q in taken), default=1).bit_length()
    infinite = max((p for p, _ in taken), default=1) << bits + 1
    return sorted(taken, key=lambda step: -((step[0] << bits) // step[1] if step[1] else infinite))


def _edges(corners: list[Step]) -> list[Step]:
    """The edges of the upper concave hull of (Q, P), as steps (p, q) whose ratios fall strictly."""
    hull: list[Step] = [(0, 0)]
    for q, p in sorted(corners):  # mostly runs that are sorted
        if p >= hull[-1][0]:  # else it lies below one before
            # The last corner stays where it lies above the line from the one before to this one.
            while len(hull) > 1 and (
                (hull[-1][0] - hull[-2][0]) * (q - hull[-1][1])
                <= (p - hull[-1][0]) * (hull[-1][1] - hull[-2][1])
            ):
                hull.pop()
            hull.append((p, q))
    return [(p - before, q - other) for (before, other), (p, q) in pairwise(hull)]

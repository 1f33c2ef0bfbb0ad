"""The schemes of a lattice, and what each makes of a table: all of them from one histogram.

A scheme has a level for each column; level 0 tells most, and the last is one label for everybody. A
table is what people are by the finest level of every column, with how many there are of each. What
is alike at a level is alike at all above it, so that the groups of a scheme are unions of those of
any finer one: they are summed up from a parent, and the raw table is not read again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import prod

import numpy as np
import numpy.typing as npt

from policy_engine.errors import DomainError
from policy_engine.policy.search_models import NOTHING
from policy_engine.values import frozen

Scheme = tuple[int, ...]
"""The level of each column."""
Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
MOST_SCHEMES = 5_000_000
_ORDERED = frozenset({int, Decimal, date, datetime})


@frozen
class Ladder:
    """The levels of a column: ``codes[level][i]`` is the label of its i-th value there.

    Labels are numbered from 0 at every level, and ``names`` says what they are called. Level 0 has
    a label for each value, and the last one for all.
    """

    column: str
    codes: tuple[Integers, ...]
    names: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, column: str, values: Sequence[Sequence[object]]) -> Ladder:
        """The ladder of values of which each has its label at every level, the finest first.

        Two values that are alike at a level count as different at every finer one if they differ
        there, and labels as one only where all above are too: so levels are nested, whatever the
        recodings. A last level of one label is added, whatever the values: how many levels there
        are says nothing of them.

        >>> Ladder.of("zip", [("301", "3"), ("302", "3"), ("400", "4")]).sizes
        (3, 2, 1)
        """
        told = [tuple(each) for each in values]
        levels = range(len(told[0]) if told else 0)
        order = sorted(range(len(told)), key=_key_of(told))
        codes, names = [], []
        for level in levels:
            # Numbered in the order of the values, so that groups stay sorted a step up.
            labels = dict.fromkeys(told[at][level:] for at in order)
            known = {label: at for at, label in enumerate(labels)}
            codes.append(np.array([known[each[level:]] for each in told], dtype=np.int64))
            names.append(tuple("NULL" if label[0] is None else str(label[0]) for label in known))
        codes.append(np.zeros(len(told), dtype=np.int64))
        return cls(column, tuple(codes), (*names, (NOTHING,)))

    @property
    def height(self) -> int:
        """The last level."""
        return len(self.codes) - 1

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """How many labels there are at each level."""
        return tuple(map(len, self.names))

    @cached_property
    def steps(self) -> tuple[Integers, ...]:
        """Of each label of each level but the last the one above it."""
        found = []
        for size, own, coarser in zip(self.sizes, self.codes, self.codes[1:], strict=False):
            above = np.zeros(size, dtype=np.int64)
            above[own] = coarser
            found.append(above)
        return tuple(found)

    def leaves(self, level: int) -> Integers:
        """How many values have each label of a level."""
        return np.bincount(self.codes[level], minlength=self.sizes[level]).astype(np.int64)


def _key_of(told: list[tuple[object, ...]]) -> Callable[[int], tuple[object, ...]]:
    """The order of values: their own where they are numbers or times, else by the last level first.

    NULL is behind all others.
    """
    kinds = {type(each[0]) for each in told if each[0] is not None}
    if len(kinds) == 1 and kinds <= _ORDERED:
        return lambda at: (told[at][0] is None, told[at][0] if told[at][0] is not None else 0)
    return lambda at: tuple((each is None, str(each)) for each in reversed(told[at]))


@frozen
class Bounds:
    """What is asked of schemes beforehand: the least and the last level of a column, by its name.

    ``weights`` say how much a step of a column counts in the precision; 1 where none is named.
    """

    at_least: tuple[tuple[str, int], ...] = ()
    at_most: tuple[tuple[str, int], ...] = ()
    weights: tuple[tuple[str, Fraction], ...] = ()


@frozen(eq=False)
class Lattice:
    """Ladders, the levels that are allowed of each, and how much each column counts."""

    ladders: tuple[Ladder, ...]
    allowed: tuple[range, ...]
    weights: tuple[Fraction, ...]

    @classmethod
    def of(cls, ladders: Sequence[Ladder], bounds: Bounds = Bounds()) -> Lattice:
        """The lattice of all schemes within bounds; DomainError where these allow none.

        >>> zips = Ladder.of("zip", [("301", "3"), ("400", "4")])
        >>> Lattice.of([zips, zips]).size
        9
        """
        named = {ladder.column for ladder in ladders}
        least, most, weights = dict(bounds.at_least), dict(bounds.at_most), dict(bounds.weights)
        for name in (*least, *most, *weights):
            if name not in named:
                raise DomainError(f"search: {name}", f"one of {', '.join(named)}", name)
        allowed = []
        for ladder in ladders:
            low, high = least.get(ladder.column, 0), most.get(ladder.column, ladder.height)
            if not 0 <= low <= high <= ladder.height:
                law = f"levels from 0 to {ladder.height}, at_least not above at_most"
                raise DomainError(f"search: {ladder.column}", law, f"{low} to {high}")
            allowed.append(range(low, high + 1))
        found = cls(
            tuple(ladders),
            tuple(allowed),
            tuple(weights.get(each.column, Fraction(1)) for each in ladders),
        )
        if found.size > MOST_SCHEMES:
            law = f"of at most {MOST_SCHEMES:,} schemes: narrow it with at_least and at_most"
            raise DomainError("search", law, f"{found.size:,}")
        if not any(found.weights) or min(found.weights) < 0:
            raise DomainError("search.weights", "0 or more each, and one above 0", "others")
        return found

    @property
    def shape(self) -> tuple[int, ...]:
        """How many levels each column may have."""
        return tuple(map(len, self.allowed))

    @property
    def size(self) -> int:
        """How many schemes there are."""
        return prod(self.shape)

    def of_one(self, scheme: Scheme) -> Lattice:
        """The lattice that has one of the schemes alone."""
        return replace(self, allowed=tuple(range(level, level + 1) for level in scheme))

    @cached_property
    def in_order(self) -> tuple[int, ...]:
        """The columns as groups are told apart by them: the one with the most levels last."""
        return tuple(sorted(range(len(self.ladders)), key=self.shape.__getitem__))

    @property
    def finest(self) -> Scheme:
        """The scheme that tells most."""
        return tuple(levels[0] for levels in self.allowed)

    def schemes(self) -> Iterator[Scheme]:
        """All schemes, those of the first column's finest levels first."""
        return product(*self.allowed)

    def place(self, scheme: Scheme) -> Scheme:
        """Where a scheme stands in an array of the lattice's shape."""
        return tuple(level - levels[0] for level, levels in zip(scheme, self.allowed, strict=True))

    def scheme_at(self, place: Sequence[int]) -> Scheme:
        """The scheme that stands in a place of such an array."""
        return tuple(levels[int(at)] for at, levels in zip(place, self.allowed, strict=True))

    @cached_property
    def _lost(self) -> tuple[tuple[Fraction, ...], ...]:
        """How much precision each level of each column takes away; public."""
        whole = sum(self.weights)
        return tuple(
            tuple(
                weight * level / (max(ladder.height, 1) * whole)
                for level in range(ladder.height + 1)
            )
            for ladder, weight in zip(self.ladders, self.weights, strict=True)
        )

    def precision(self, scheme: Scheme) -> Fraction:
        """1 − Σ w·level/height / Σ w (Sweeney 2002): 1 where nothing is recoded, 0 where all is.

        >>> zips = Ladder.of("zip", [("301", "3"), ("400", "4")])
        >>> Lattice.of([zips, zips]).precision((1, 2))
        Fraction(1, 4)
        """
        return 1 - sum(
            (lost[level] for lost, level in zip(self._lost, scheme, strict=True)), Fraction(0)
        )

    @cached_property
    def precisions(self) -> tuple[Integers, int]:
        """The precision of every scheme as whole numbers over one denominator."""
        lost = self._lost
        whole = int(np.lcm.reduce([part.denominator for levels in lost for part in levels]))
        found = np.full(self.shape, whole, dtype=np.int64)
        for axis, (levels, allowed) in enumerate(zip(lost, self.allowed, strict=True)):
            parts = np.array([int(levels[level] * whole) for level in allowed], dtype=np.int64)
            found -= parts.reshape([-1 if at == axis else 1 for at in range(len(lost))])
        return found, whole


@frozen(eq=False)
class Histogram:
    """People by the finest labels of each column: a row of ``labels`` is a group of ``people``.

    With ``persons`` a row is one person's, whose number that is, and a person has several: one who
    is in g groups of a scheme counts in each by min(1, ``most``/g), in parts of ``unit``.
    """

    labels: Integers
    people: Integers
    persons: Integers | None = None
    most: int = 1

    @property
    def unit(self) -> int:
        """What a whole person counts."""
        return 1 if self.persons is None else PARTS

    @cached_property
    def most_shown(self) -> int:
        """No scheme shows more, in parts of ``unit``."""
        if self.persons is None:
            return self.total
        return len(np.unique(self.persons)) * self.most * self.unit

    @property
    def total(self) -> int:
        """How many people there are."""
        return int(self.people.sum())


PARTS = 2**16
"""Of a person in more groups than count a part counts in each, rounded down to one of these."""
MOST_PLACES = 2**62
_DENSE = 24
"""Groups are told apart by their places in an array if that has at most so many places a group."""


@frozen(eq=False)
class Cells:
    """The groups of a scheme: a number for each, and the people in it.

    The number is Σ label·stride, the last column's stride being 1, so that a column that is taken a
    step up changes its own part of it alone.
    """

    numbers: Integers
    people: Integers
    sizes: tuple[int, ...]

    def label(self, column: int) -> Integers:
        """The label of a column in every group; DomainError where these are not told."""
        if not self.sizes:
            law = "of columns whose labels have at most 2**62 products, for this"
            raise DomainError("search", law, "more")
        stride = prod(self.sizes[column + 1 :])
        found: Integers = self.numbers // stride % self.sizes[column]
        return found

    def coarser(self, column: int, above: Integers, labels: int) -> Cells:
        """The groups where a column's labels are those ``above``, of which there are ``labels``."""
        stride, size = prod(self.sizes[column + 1 :]), self.sizes[column]
        # A product and a difference: numpy divides by one number fast, and its divmod does not.
        rest = self.numbers // stride if stride > 1 else self.numbers
        if column:
            high = rest // size
            numbers = high * labels + above[rest - high * size]
        else:
            numbers = above[rest]
        if stride > 1:
            numbers = numbers * stride + (self.numbers - rest * stride)
        sizes = (*self.sizes[:column], labels, *self.sizes[column + 1 :])
        return Cells(*summed(numbers, self.people, prod(sizes)), sizes)


def summed(numbers: Integers, people: Integers, places: int) -> tuple[Integers, Integers]:
    """Each number once, in order, with the people of it; numbers are below ``places``."""
    if not len(numbers):  # of nobody, whom a private choice must not be told by
        return numbers, people
    if not (numbers[1:] >= numbers[:-1]).all():
        if places <= _DENSE * len(numbers):
            whole = np.bincount(numbers, weights=people, minlength=places)  # below 2⁵³: exact
            there = np.flatnonzero(whole)
            return there, whole[there].astype(np.int64)
        order = np.argsort(numbers, kind="stable")  # they are long sorted runs
        numbers, people = numbers[order], people[order]
    starts = np.flatnonzero(np.concatenate(([True], numbers[1:] != numbers[:-1])))
    return numbers[starts], np.add.reduceat(people, starts)


def cells_of(histogram: Histogram, lattice: Lattice, scheme: Scheme) -> Cells:
    """The groups of one scheme, from the histogram itself.

    Where there are more places than 62 bits tell apart the groups are numbered as they come, and no
    column's label is told of them: whatever the table, nothing fails.
    """
    numbers, places, sizes = _numbered(histogram, lattice, scheme)
    if prod(sizes) > MOST_PLACES:
        sizes = ()
    return Cells(*summed(numbers, histogram.people, places), sizes)


def _numbered(
    histogram: Histogram, lattice: Lattice, scheme: Scheme
) -> tuple[Integers, int, tuple[int, ...]]:
    """The number of each row's group, what all are below, and how many labels a column has."""
    order = lattice.in_order
    codes = [lattice.ladders[at].codes[scheme[at]] for at in order]
    sizes = tuple(lattice.ladders[at].sizes[scheme[at]] for at in order)
    return *numbers_of([histogram.labels[:, at] for at in order], codes, sizes), sizes


def numbers_of(
    labels: Sequence[npt.NDArray[np.integer]], codes: Sequence[Integers], sizes: Sequence[int]
) -> tuple[Integers, int]:
    """The number of the group that each row is in, and what all of them are below.

    ``labels`` are the finest ones, an array for each column. ``codes`` say what each becomes, of
    which there are ``sizes``; the last column's stride is 1.
    """
    numbers, places = np.zeros(len(labels[0]), dtype=np.int64), 1
    for own, size, code in zip(reversed(labels), reversed(sizes), reversed(codes), strict=True):
        if places * size > MOST_PLACES:
            found, numbers = np.unique(numbers, return_inverse=True)
            places = len(found)
        if size > 1:
            numbers += (code * places).take(own)
            places *= size
    return numbers, places


Measure = Callable[[Cells, Scheme], float]
"""A number of a scheme and its groups."""
Skips = Callable[[Scheme], bool]
"""Whether a scheme is of no interest, nor any that is coarser."""


def _walked_by_person(
    histogram: Histogram, lattice: Lattice, persons: Integers, skips: Skips
) -> Iterator[tuple[Scheme, Cells]]:
    """Every scheme with its groups, where a person is in several.

    Whose a row is is one more column, of one level, which stands before all others.
    """
    many = max(int(persons.max(initial=0)) + 1, 1)
    whose = Ladder("", (np.arange(many),), (("",) * many,))
    inner = Lattice(
        (whose, *lattice.ladders), (range(1), *lattice.allowed), (Fraction(0), *lattice.weights)
    )
    rows = Histogram(np.column_stack([persons, histogram.labels]), histogram.people)
    for (_, *levels), cells in walked(rows, inner, lambda scheme: skips(scheme[1:])):
        scheme = tuple(levels)
        if cells.sizes:
            sizes = cells.sizes[1:]
            places, pairs = prod(sizes), cells.numbers
        else:  # more places than 62 bits tell apart
            sizes = ()
            _, group = np.unique(_numbered(histogram, lattice, scheme)[0], return_inverse=True)
            places = int(group.max(initial=0)) + 1
            pairs = np.unique(persons * places + group)
        person, group = np.divmod(pairs, places)
        in_groups = np.maximum(np.bincount(person, minlength=many), 1)
        parts = np.minimum(PARTS, PARTS * histogram.most // in_groups)
        yield scheme, Cells(*summed(group, parts[person], places), sizes)


def walked(
    histogram: Histogram, lattice: Lattice, skips: Skips = lambda scheme: False
) -> Iterator[tuple[Scheme, Cells]]:
    """Every scheme with its groups, each summed up from a scheme with one column a step finer.

    The columns of ``cells`` are those of ``lattice.in_order``: the one with the most levels is the
    last, so that most schemes are a step of that one, and their groups stay sorted.
    """
    if histogram.persons is not None:
        yield from _walked_by_person(histogram, lattice, histogram.persons, skips)
        return
    order = lattice.in_order

    def below(scheme: Scheme, cells: Cells, depth: int) -> Iterator[tuple[Scheme, Cells]]:
        if depth == len(order):
            yield scheme, cells
            return
        column = order[depth]
        ladder, levels = lattice.ladders[column], lattice.allowed[column]
        for level in levels:
            if level > levels[0]:
                scheme = (*scheme[:column], level, *scheme[column + 1 :])
                if skips(scheme):
                    return
                cells = cells.coarser(depth, ladder.steps[level - 1], ladder.sizes[level])
            yield from below(scheme, cells, depth + 1)

    first = cells_of(histogram, lattice, lattice.finest)
    if first.sizes:
        yield from below(lattice.finest, first, 0)
        return
    for scheme in lattice.schemes():
        if not skips(scheme):
            yield scheme, cells_of(histogram, lattice, scheme)


def measured(histogram: Histogram, lattice: Lattice, measure: Measure) -> npt.NDArray[np.float64]:
    """A number of every scheme, in an array of the lattice's shape.

    >>> zips = Ladder.of("zip", [("301", "3"), ("302", "3"), ("400", "4")])
    >>> table = Histogram(np.array([[0], [1], [2]]), np.array([5, 6, 7]))
    >>> measured(table, Lattice.of([zips]), lambda cells, _: len(cells.people)).tolist()
    [3.0, 2.0, 1.0]
    """
    found = np.empty(lattice.shape)
    for scheme, cells in walked(histogram, lattice):
        found[lattice.place(scheme)] = measure(cells, scheme)
    return found

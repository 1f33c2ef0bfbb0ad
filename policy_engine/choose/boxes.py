"""The schemes of a lattice that can matter, found without a look at most of the others.

A box is all schemes between a finest and a coarsest one. What is in a group of fewer than ``least``
people at the coarsest is so at all of them, so that its rows are left out; what is alike at the
finest is alike at all of them, and is one row. So a box has a small table of its own. It shrinks to
the schemes that somebody still wants to know of, is cut in two, and the halves wait: groups grow
from finer to coarser schemes, so what was seen meanwhile bounds what is in them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from functools import reduce
from math import prod
from operator import or_
from typing import Protocol

import numpy as np
import numpy.typing as npt

from policy_engine.choose.lattice import (
    Flags,
    Histogram,
    Integers,
    Lattice,
    Scheme,
    numbers_of,
)
from policy_engine.values import frozen

Floats = npt.NDArray[np.float64]
Box = tuple[slice, ...]
"""The places of a box in an array of the lattice's shape."""
_DENSE, _FEW = 8, 1 << 16
"""Groups are counted in an array if that has at most so many places a row, or few."""
_SAVES = 0.9
_TOGETHER = 4096
_MOST_WAITING = 10_000_000
"""So many rows wait in the tables of boxes before the last box is the next, and not the first."""
_SPREAD = np.uint64(0x9E3779B97F4A7C15)  # 2⁶⁴ over the golden ratio: products differ in high bits


class SchemesSeen:
    """What was seen of schemes: the groups of at least so many people, for each of some sizes.

    ``people`` are in them, −1 where nobody looked; ``groups`` is how many there are, and
    ``squares`` Σ people².
    """

    def __init__(self, lattice: Lattice, sizes: Iterable[int]) -> None:
        self.lattice = lattice
        self.sizes = tuple(sorted(set(sizes)))
        self.people = {size: np.full(lattice.shape, -1, dtype=np.int64) for size in self.sizes}
        self.groups = {size: np.zeros(lattice.shape, dtype=np.int64) for size in self.sizes}
        self.squares = {size: np.zeros(lattice.shape) for size in self.sizes}

    @property
    def least(self) -> int:
        """Groups of fewer people count nothing."""
        return self.sizes[0]

    def note(self, place: Scheme, groups: Floats) -> None:
        """A look at a scheme, whose groups have so many people."""
        for size in self.sizes:
            groups = groups.take((groups >= size).nonzero()[0])  # a mask takes ten times as long
            self.people[size][place] = int(groups.sum())
            self.groups[size][place] = len(groups)
            self.squares[size][place] = (groups * groups).sum()


class SchemeQuestion(Protocol):
    """What somebody wants to know of a lattice; schemes are given by their places in its shape."""

    def note(self, place: Scheme) -> None:
        """A scheme has been seen."""

    def open(self, box: Box) -> Flags:
        """Which schemes of a box can matter, by those seen so far."""


class _Columns:
    """The columns of a lattice, those of few labels together as one."""

    def __init__(self, lattice: Lattice) -> None:
        self._ladders = lattice.ladders
        self._together: list[list[int]] = []
        places = _TOGETHER + 1
        for at, ladder in enumerate(lattice.ladders):
            size = max(ladder.sizes[0], 1)
            if places * size > _TOGETHER:
                self._together.append([])
                places = 1
            self._together[-1].append(at)
            places *= size
        self._allowed = lattice.allowed
        self._known: dict[tuple[int, tuple[int, ...]], tuple[Integers, int]] = {}

    def rows(self, histogram: Histogram) -> _Rows:
        """All rows of a table."""
        labels = []
        for each in self._together:
            sizes = [max(self._ladders[at].sizes[0], 1) for at in each]
            kind = np.min_scalar_type(prod(sizes))
            found = np.ravel_multi_index([histogram.labels[:, at] for at in each], sizes)
            labels.append(found.astype(kind))
        return _Rows(tuple(labels), histogram.people.astype(np.float64))

    def codes(self, place: Scheme) -> tuple[list[Integers], list[int]]:
        """What the labels of such rows become by a scheme, and how many there are of them."""
        codes, sizes = [], []
        for at, each in enumerate(self._together):
            own = at, tuple([place[column] for column in each])
            if own not in self._known:
                self._known[own] = self._codes(each, own[1])
            code, size = self._known[own]
            codes.append(code)
            sizes.append(size)
        return codes, sizes

    def _codes(self, columns: list[int], places: Sequence[int]) -> tuple[Integers, int]:
        found, size = np.zeros(1, dtype=np.int64), 1
        for column, place in zip(columns, places, strict=True):
            ladder, level = self._ladders[column], self._allowed[column][place]
            own = ladder.sizes[level]
            found = (found[:, np.newaxis] * own + ladder.codes[level]).ravel()
            size *= own
        return found, size


@frozen(eq=False)
class _Rows:
    """The rows of a box: labels, an array for each of some columns, and the people of each."""

    labels: tuple[npt.NDArray[np.unsignedinteger], ...]
    people: Floats

    def groups(self, columns: _Columns, place: Scheme) -> tuple[Integers, Floats]:
        """The number of each row's group, and the people of each number; 0 where it has no row."""
        numbers, places = numbers_of(self.labels, *columns.codes(place))
        if places > max(_DENSE * len(numbers), _FEW):
            numbers = _renumbered(numbers)
        people = np.bincount(numbers, weights=self.people)
        return numbers, people.astype(np.float64, copy=False)  # of no row they are integers

    def kept(self, rows: Integers) -> _Rows:
        """Some of them."""
        return _Rows(tuple(each.take(rows) for each in self.labels), self.people.take(rows))

    def united(self, numbers: Integers, people: Floats) -> _Rows:
        """A row for each group, with the labels of one of its rows, unless this saves little."""
        there = (people > 0).nonzero()[0]
        if len(there) > _SAVES * len(numbers):
            return self
        one = np.empty(len(people), dtype=np.int64)
        one[numbers] = np.arange(len(numbers))
        rows = one.take(there)
        return _Rows(tuple(each.take(rows) for each in self.labels), people.take(there))


def _renumbered(numbers: Integers) -> Integers:
    """Other numbers, alike where these are, that are below a few times how many there are."""
    bits = (4 * len(numbers)).bit_length()
    places = (numbers.view(np.uint64) * _SPREAD >> np.uint64(64 - bits)).view(np.int64)
    one = np.empty(1 << bits, dtype=np.int64)
    one[places] = numbers
    others = (one.take(places) != numbers).nonzero()[0]  # another number has their place
    if len(others):
        _, places[others] = np.unique(numbers.take(others), return_inverse=True)
        places[others] += 1 << bits
    return places


def look(
    histogram: Histogram, lattice: Lattice, seen: SchemesSeen, questions: Iterable[SchemeQuestion]
) -> None:
    """Look at schemes until no question wants more."""
    asked, shape, least = tuple(questions), lattice.shape, seen.least
    looked = seen.people[least]  # below 0: nobody has

    def sees(rows: _Rows, place: Scheme) -> tuple[Integers, Floats]:
        numbers, people = rows.groups(columns, place)
        seen.note(place, people)
        for each in asked:
            each.note(place)
        return numbers, people

    told, columns = _told(histogram, lattice), _Columns(lattice)
    first, last = (0,) * len(shape), tuple(many - 1 for many in shape)
    everybody = columns.rows(histogram)
    for place in (last, first):
        sees(everybody, place)
    waiting, held = deque([(first, last, everybody)]), len(everybody.people)
    while waiting:
        finest, coarsest, rows = waiting.popleft() if held < _MOST_WAITING else waiting.pop()
        held -= len(rows.people)
        box = tuple([slice(low, high + 1) for low, high in zip(finest, coarsest, strict=True)])
        is_open = looked[box] < 0
        is_open &= reduce(or_, [each.open(box) for each in asked])
        open_at = np.array(is_open.nonzero())
        if not open_at.size:
            continue
        low, high = open_at.min(axis=1).tolist(), open_at.max(axis=1).tolist()
        coarsest = tuple([at + more for at, more in zip(finest, high, strict=True)])
        finest = tuple([at + more for at, more in zip(finest, low, strict=True)])
        if looked[coarsest] < 0:
            numbers, people = sees(rows, coarsest)
            rows = rows.kept((people >= least).take(numbers).nonzero()[0])
        if looked[finest] < 0:
            rows = rows.united(*sees(rows, finest))
        if finest != coarsest:
            axis, middle = _cut(told, finest, coarsest)
            finer = (*coarsest[:axis], middle, *coarsest[axis + 1 :])
            coarser = (*finest[:axis], middle + 1, *finest[axis + 1 :])
            waiting += [(coarser, coarsest, rows), (finest, finer, rows)]
            held += 2 * len(rows.people)


def _told(histogram: Histogram, lattice: Lattice) -> list[list[float]]:
    """How much each allowed level of each column tells of the people: its entropy."""
    found: list[list[float]] = []
    total = max(histogram.total, 1)
    for at, (ladder, levels) in enumerate(zip(lattice.ladders, lattice.allowed, strict=True)):
        own, many = histogram.labels[:, at], len(ladder.codes[0])
        values = np.bincount(own, weights=histogram.people, minlength=many)
        found.append([])
        for level in levels:
            shares = np.bincount(ladder.codes[level], weights=values) / total
            found[-1].append(-float((shares * np.log(np.maximum(shares, 1e-300))).sum()))
    return found


def _cut(told: list[list[float]], finest: Scheme, coarsest: Scheme) -> tuple[int, int]:
    """The column that tells the most more at one end than at the other, and the middle of that."""
    most, axis = -1.0, -1
    for at, (low, high) in enumerate(zip(finest, coarsest, strict=True)):
        if low < high and told[at][low] - told[at][high] > most:
            most, axis = told[at][low] - told[at][high], at
    own = told[axis]
    both = own[finest[axis]] + own[coarsest[axis]]
    levels = range(finest[axis], coarsest[axis])
    return axis, min(levels, key=lambda level: abs(own[level] + own[level + 1] - both))

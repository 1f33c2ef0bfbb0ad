"""The schemes of a lattice that can matter, found without a look at most of the others.

A box is all schemes between a finest and a coarsest one. What is in a group of fewer than ``least``
people at the coarsest is so at all of them, so that its rows are left out; what is alike at the
finest is alike at all of them, and is one row. So a box has a small table of its own. It is cut in
two, until nobody wants to know more of it: groups grow from the finest to the coarsest, so what was
seen of both bounds all that is between.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

import numpy as np
import numpy.typing as npt

from policy_engine.choose.lattice import (
    Histogram,
    Integers,
    Lattice,
    Scheme,
    numbers_of,
)
from policy_engine.values import frozen

Floats = npt.NDArray[np.float64]
_DENSE = 8
"""Groups are counted in an array if that has at most so many places a row."""


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
            groups = groups.take(np.flatnonzero(groups >= size))  # a mask takes ten times as long
            self.people[size][place] = int(groups.sum())
            self.groups[size][place] = len(groups)
            self.squares[size][place] = (groups * groups).sum()


class SchemeQuestion(Protocol):
    """What somebody wants to know of a lattice; schemes are given by their places in its shape."""

    def note(self, place: Scheme) -> None:
        """A scheme has been seen."""

    def wants(self, finest: Scheme, coarsest: Scheme) -> bool:
        """Whether what is between two schemes, both of them seen, can matter."""


@frozen(eq=False)
class _Rows:
    """The rows of a box: the finest labels, one column after the other, and the people of each."""

    labels: Integers
    people: Floats

    def groups(self, lattice: Lattice, scheme: Scheme) -> tuple[Integers, Floats]:
        """The number of each row's group, and the people of each number; 0 where it has no row."""
        numbers, places = numbers_of(self.labels, lattice, scheme)
        if places > _DENSE * len(numbers):
            _, numbers = np.unique(numbers, return_inverse=True)
        people = np.bincount(numbers, weights=self.people)
        return numbers, people.astype(np.float64, copy=False)  # of no row they are integers

    def kept(self, rows: Integers) -> _Rows:
        """Some of them."""
        return _Rows(self.labels.take(rows, axis=1), self.people.take(rows))

    def united(self, numbers: Integers, people: Floats) -> _Rows:
        """A row for each group: it has the labels of one of its rows."""
        there = np.flatnonzero(people)
        if len(there) == len(numbers):
            return self
        one = np.empty(len(people), dtype=np.int64)
        one[numbers] = np.arange(len(numbers))
        return _Rows(self.labels.take(one.take(there), axis=1), people.take(there))


def look(
    histogram: Histogram, lattice: Lattice, seen: SchemesSeen, questions: Iterable[SchemeQuestion]
) -> None:
    """Look at schemes until no question wants more."""
    asked, shape, least = tuple(questions), lattice.shape, seen.least

    def sees(place: Scheme, people: Floats) -> None:
        seen.note(place, people)
        for each in asked:
            each.note(place)

    def is_wanted(finest: Scheme, coarsest: Scheme) -> bool:
        return finest != coarsest and any(each.wants(finest, coarsest) for each in asked)

    told = _told(histogram, lattice)
    first, last = (0,) * len(shape), tuple(many - 1 for many in shape)
    rows = _Rows(np.ascontiguousarray(histogram.labels.T), histogram.people.astype(np.float64))
    for place in (last, first):
        numbers, people = rows.groups(lattice, lattice.scheme_at(place))
        sees(place, people)
    waiting = [(first, last, rows)]
    while waiting:
        finest, coarsest, rows = waiting.pop()
        if not is_wanted(finest, coarsest):  # by what was seen since
            continue
        axis, middle = _cut(lattice, told, (finest, coarsest))
        finer = (*coarsest[:axis], middle, *coarsest[axis + 1 :])
        coarser = (*finest[:axis], middle + 1, *finest[axis + 1 :])
        if coarser != coarsest:
            numbers, people = rows.groups(lattice, lattice.scheme_at(coarser))
            sees(coarser, people)
            if is_wanted(coarser, coarsest):
                waiting.append((coarser, coarsest, rows.united(numbers, people)))
        if finer != finest:
            numbers, people = rows.groups(lattice, lattice.scheme_at(finer))
            sees(finer, people)
            if is_wanted(finest, finer):
                kept = np.flatnonzero((people >= least).take(numbers))
                waiting.append((finest, finer, rows.kept(kept)))


def _told(histogram: Histogram, lattice: Lattice) -> list[list[float]]:
    """How much each level of each column tells of the people: its entropy."""
    found, total = [], max(histogram.total, 1)
    for ladder, labels in zip(lattice.ladders, histogram.labels.T, strict=True):
        values = np.bincount(labels, weights=histogram.people, minlength=len(ladder.codes[0]))
        shares = [np.bincount(codes, weights=values) / total for codes in ladder.codes]
        found.append([-float((each * np.log(np.maximum(each, 1e-300))).sum()) for each in shares])
    return found


def _cut(lattice: Lattice, told: list[list[float]], ends: tuple[Scheme, Scheme]) -> tuple[int, int]:
    """The column that tells the most more at one end than at the other, and the middle of that."""
    low, high = map(lattice.scheme_at, ends)
    axis = max(
        (at for at in range(len(low)) if high[at] > low[at]),
        key=lambda at: told[at][low[at]] - told[at][high[at]],
    )
    own, start = told[axis], lattice.allowed[axis][0]
    both = own[low[axis]] + own[high[axis]]
    middle = min(
        range(low[axis], high[axis]), key=lambda level: abs(own[level] + own[level + 1] - both)
    )
    return axis, middle - start

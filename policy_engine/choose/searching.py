"""The schemes of a public table that are k-anonymous, and the searches of the literature for them.

A scheme has it if at most a share of the people is in groups of fewer than k; these are suppressed.
What is coarser has it too (Samarati 2001): groups are united, and nobody's becomes smaller. So one
look settles everything coarser, or everything finer.

All of it is a function of the table, and as confidential as that: nothing here has an ε.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from fractions import Fraction
from itertools import combinations
from operator import le

import numpy as np
import numpy.typing as npt

from policy_engine.accounting.bisection import least_integer
from policy_engine.choose.lattice import (
    Cells,
    Histogram,
    Integers,
    Lattice,
    Scheme,
    cells_of,
    measured,
    united,
)
from policy_engine.values import frozen

Flags = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]


class Objective(StrEnum):
    """What makes a scheme good; of the last three less is better."""

    score = "score"
    precision = "precision"
    kl = "kl"
    discernibility = "discernibility"
    classes = "classes"


@frozen
class Anonymity:
    """At most a ``share`` of the people in groups of fewer than ``k``; they are suppressed."""

    k: int
    share: Fraction = Fraction(0)

    def holds(self, cells: Cells) -> bool:
        """Whether the groups of a scheme have it."""
        people = cells.people
        few = int(people[people < self.k].sum())
        return few * self.share.denominator <= self.share.numerator * int(people.sum())


_SMALLER, _MOST_BASES = 3, 100


class SchemeSearch:
    """What is known of each scheme of a lattice: whether it has a model that coarser ones inherit.

    >>> from policy_engine.choose.lattice import Ladder
    >>> zips = Ladder.of("zip", [("301", "3"), ("302", "3"), ("400", "4")])
    >>> table = Histogram(np.array([[0], [1], [2]]), np.array([5, 1, 7]))
    >>> found = SchemeSearch(table, Lattice.of([zips]), Anonymity(5))
    >>> found.has((1,)), found.looks, found.has((2,)), found.looks
    (True, 1, True, 1)
    """

    def __init__(self, histogram: Histogram, lattice: Lattice, model: Anonymity) -> None:
        self.histogram, self.lattice, self.model = histogram, lattice, model
        self.yes: Flags = np.zeros(lattice.shape, dtype=bool)
        self.no: Flags = np.zeros(lattice.shape, dtype=bool)
        self.looks = 0
        self._bases = [(lattice.finest, histogram)]

    def has(self, scheme: Scheme) -> bool:
        """Whether a scheme has the model: looked up, or found and noted of all that follows."""
        place = self.lattice.place(scheme)
        if self.yes[place] or self.no[place]:
            return bool(self.yes[place])
        self.looks += 1
        found = self.model.holds(self.cells(scheme))
        if found:
            self.yes[tuple(slice(at, None) for at in place)] = True
        else:
            self.no[tuple(slice(0, at + 1) for at in place)] = True
        return found

    def cells(self, scheme: Scheme) -> Cells:
        """The groups of a scheme, from the smallest table at hand that is finer."""
        _, base = min(
            (each for each in self._bases if all(map(le, each[0], scheme))),
            key=lambda each: len(each[1].people),
        )
        found = cells_of(base, self.lattice, scheme)
        if len(found.people) * _SMALLER < len(base.people) and len(self._bases) < _MOST_BASES:
            self._bases.append((scheme, united(base, self.lattice, scheme)))
        return found

    @property
    def open(self) -> Flags:
        """Which schemes are not settled."""
        return ~(self.yes | self.no)


def optimal(settled: SchemeSearch) -> Scheme | None:
    """A scheme of the greatest precision that has the model; None where none has.

    Of those left the coarsest that would be better is looked at: where it has not the model,
    nothing that is finer has.
    """
    lattice = settled.lattice
    precisions = lattice.precisions[0]
    best = tuple(levels[-1] for levels in lattice.allowed)
    if not settled.has(best):
        return None
    best = _descended(settled, best)
    while True:
        left = settled.open & (precisions > precisions[lattice.place(best)])
        if not left.any():
            better = np.where(settled.yes, precisions, -1)
            place = np.unravel_index(int(better.argmax()), lattice.shape)
            return lattice.scheme_at([int(at) for at in place])
        coarsest = np.where(left, precisions, np.iinfo(np.int64).max)
        place = np.unravel_index(int(coarsest.argmin()), lattice.shape)
        scheme = lattice.scheme_at([int(at) for at in place])
        if settled.has(scheme):
            best = _descended(settled, scheme)


def _descended(settled: SchemeSearch, scheme: Scheme) -> Scheme:
    """From a scheme that has the model as far down as that is so, the largest steps first."""
    lattice = settled.lattice
    while True:
        finer = sorted(_neighbours(lattice, scheme, -1), key=lattice.precision, reverse=True)
        found = next((each for each in finer if settled.has(each)), None)
        if found is None:
            return scheme
        scheme = found


def _neighbours(lattice: Lattice, scheme: Scheme, by: int) -> list[Scheme]:
    """The schemes that differ in one column, by one level."""
    return [
        (*scheme[:at], level + by, *scheme[at + 1 :])
        for at, level in enumerate(scheme)
        if level + by in lattice.allowed[at]
    ]


def k_minimal(settled: SchemeSearch) -> tuple[Scheme, ...]:
    """All schemes that have the model while no finer one has, in the lattice's order."""
    lattice = settled.lattice
    heights = np.indices(lattice.shape).sum(axis=0)
    while (left := settled.open).any():
        # The middle of what is left: half of it is settled by either answer, at best.
        places = np.argwhere(left)
        order = np.argsort(heights[left], kind="stable")
        settled.has(lattice.scheme_at(places[order[len(order) // 2]].tolist()))
    return _minimal(settled.yes, lattice)


def _minimal(yes: Flags, lattice: Lattice) -> tuple[Scheme, ...]:
    has_finer = np.zeros_like(yes)
    for axis in range(yes.ndim):
        above = [slice(None)] * yes.ndim
        below = [slice(None)] * yes.ndim
        above[axis], below[axis] = slice(1, None), slice(0, -1)
        has_finer[tuple(above)] |= yes[tuple(below)]
    return tuple(lattice.scheme_at(place.tolist()) for place in np.argwhere(yes & ~has_finer))


def samarati(settled: SchemeSearch) -> tuple[Scheme, ...]:
    """The schemes of least height that have the model, by a binary search over heights (2001).

    The height is the sum of the levels.
    """
    lattice = settled.lattice
    heights = np.indices(lattice.shape).sum(axis=0)
    if not settled.has(tuple(levels[-1] for levels in lattice.allowed)):
        return ()

    def at(height: int) -> list[Scheme]:
        places = np.argwhere(heights == height)
        return [
            scheme for place in places if settled.has(scheme := lattice.scheme_at(place.tolist()))
        ]

    least = least_integer(-1, int(heights.max()), lambda height: bool(at(height)))
    return tuple(at(least))


def datafly(settled: SchemeSearch) -> Scheme | None:
    """Sweeney's heuristic (1997): the column with the most labels left goes a level up, and again.

    Until what is left in small groups may be suppressed. It ends with a scheme that has the model,
    and seldom with a good one; None where no scheme has it.
    """
    lattice, scheme = settled.lattice, settled.lattice.finest
    while not settled.has(scheme):
        cells = cells_of(settled.histogram, lattice, scheme)
        columns = [at for at, level in enumerate(scheme) if level < lattice.allowed[at][-1]]
        if not columns:
            return None
        place = {column: at for at, column in enumerate(lattice.in_order)}
        labels = {at: len(np.unique(cells.label(place[at]))) for at in columns}
        most = max(columns, key=labels.__getitem__)
        scheme = (*scheme[:most], scheme[most] + 1, *scheme[most + 1 :])
    return scheme


def incognito(settled: SchemeSearch) -> tuple[Scheme, ...]:
    """The k-minimal schemes as Incognito finds them (LeFevre, DeWitt, Ramakrishnan 2005).

    By subsets of columns, the small ones first: a scheme has the model only if its parts have it in
    every subset. What it finds is what ``k_minimal`` does.
    """
    lattice, histogram = settled.lattice, settled.histogram
    columns = range(len(lattice.ladders))
    passed: dict[tuple[int, ...], set[Scheme]] = {(): {()}}
    for many in range(1, len(lattice.ladders) + 1):
        for subset in combinations(columns, many):
            part = Lattice(
                tuple(lattice.ladders[at] for at in subset),
                tuple(lattice.allowed[at] for at in subset),
                tuple(lattice.weights[at] for at in subset),
            )
            table = Histogram(histogram.labels[:, list(subset)], histogram.people)
            inner = settled if many == len(columns) else SchemeSearch(table, part, settled.model)
            passed[subset] = {
                scheme
                for scheme in sorted(part.schemes(), key=sum)
                if all(
                    (*scheme[:at], *scheme[at + 1 :]) in passed[(*subset[:at], *subset[at + 1 :])]
                    for at in range(many)
                )
                and inner.has(scheme)
            }
    yes: Flags = np.zeros(lattice.shape, dtype=bool)
    for scheme in passed[tuple(columns)]:
        yes[lattice.place(scheme)] = True
    return _minimal(yes, lattice)


@frozen
class MondrianPart:
    """A part of Mondrian: for each column the values that stand together, and the people in it."""

    values: tuple[tuple[int, ...], ...]
    people: int


def mondrian(histogram: Histogram, lattice: Lattice, k: int) -> tuple[MondrianPart, ...]:
    """Parts of at least k people, each cut at the median of its widest column (2006), strict.

    Local recoding: a value is in one interval here and in another there, so that where the cuts
    are tells of the people: it is shown, and no certificate is made of it (Li, Qardaji, Su 2012).
    Values are in the order of their ladder. None where there are fewer than k people: no parts.
    """
    widths = [max(ladder.sizes[0], 1) for ladder in lattice.ladders]
    parts: list[MondrianPart] = []
    waiting = [np.arange(len(histogram.people))]
    if histogram.total < k:
        return ()
    ordered = np.stack(
        [ladder.codes[0][histogram.labels[:, at]] for at, ladder in enumerate(lattice.ladders)], 1
    )
    while waiting:
        rows = waiting.pop()
        found = _cut_in_two(ordered, histogram.people, rows, widths, k)
        if found is None:
            values = tuple(
                tuple(np.unique(ordered[rows, at]).tolist()) for at in range(len(widths))
            )
            parts.append(MondrianPart(values, int(histogram.people[rows].sum())))
        else:
            waiting += found
    return tuple(parts)


def _cut_in_two(
    ordered: Integers, people: Integers, rows: Integers, widths: list[int], k: int
) -> tuple[Integers, Integers] | None:
    """Both halves at the median of the widest column where that leaves k in each."""
    here = ordered[rows]
    spans = (here.max(axis=0) - here.min(axis=0)) / np.array(widths)
    for column in np.argsort(-spans, kind="stable"):
        if not spans[column]:
            break
        labels = here[:, column]
        counts = np.bincount(labels, weights=people[rows])
        upto = np.cumsum(counts)
        median = int(np.searchsorted(upto, upto[-1] / 2))
        for cut in (median, median - 1):
            if cut >= 0 and upto[cut] >= k and upto[-1] - upto[cut] >= k:
                return rows[labels <= cut], rows[labels > cut]
    return None


def values_of(histogram: Histogram, lattice: Lattice, objective: Objective, least: int) -> Floats:
    """A number of every scheme: more is better; ``least`` people are in a group that is shown.

    ``score`` is Σ max(0, people − least + 1) · precision, ``kl`` the divergence of the table from
    one that spreads a group evenly over its values, ``discernibility`` Σ people² with everybody for
    whom is suppressed, ``classes`` the people of a shown group over k, on average.
    """
    total = histogram.total
    precisions, whole = lattice.precisions
    if objective is Objective.precision:
        return precisions / whole
    if objective is Objective.score:
        return measured(histogram, lattice, lambda cells, _: above(cells, least - 1)) * (
            precisions / whole
        )
    if objective is Objective.kl:
        return -measured(histogram, lattice, _divergence(lattice, histogram))

    def discernible(cells: Cells, scheme: Scheme) -> float:
        shown = cells.people[cells.people >= least].astype(np.float64)
        return -float((shown**2).sum() + total * (total - shown.sum()))

    def average(cells: Cells, scheme: Scheme) -> float:
        shown = cells.people[cells.people >= least]
        return -float(shown.sum()) / (len(shown) * least) if len(shown) else -np.inf

    kinds: dict[Objective, Callable[[Cells, Scheme], float]] = {
        Objective.discernibility: discernible,
        Objective.classes: average,
    }
    return measured(histogram, lattice, kinds[objective])


def above(cells: Cells, least: int) -> float:
    """Σ max(0, people − least) over the groups: one person more adds 0 or 1 to it."""
    return float(np.maximum(cells.people - least, 0).sum())


def _divergence(lattice: Lattice, histogram: Histogram) -> Callable[[Cells, Scheme], float]:
    """Σ p ln(p/q), where q spreads the people of a group evenly over the values that it unites."""
    total = max(histogram.total, 1)
    finest = cells_of(histogram, lattice, lattice.finest).people / total
    own = float((finest * np.log(finest)).sum())
    logs = [
        [np.log(np.maximum(ladder.leaves(level), 1)) for level in range(ladder.height + 1)]
        for ladder in lattice.ladders
    ]

    def lost(cells: Cells, scheme: Scheme) -> float:
        share = cells.people / total
        rooms = np.zeros(len(share))
        for place, column in enumerate(lattice.in_order):
            rooms += logs[column][scheme[column]][cells.label(place)]
        return own - float((share * (np.log(share) - rooms)).sum())

    return lost


def best_of(values: Floats, allowed: Flags, lattice: Lattice) -> Scheme | None:
    """The first scheme of the greatest value among those allowed; None where none is."""
    if not allowed.any():
        return None
    place = np.unravel_index(int(np.where(allowed, values, -np.inf).argmax()), lattice.shape)
    return lattice.scheme_at([int(at) for at in place])

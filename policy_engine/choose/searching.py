"""The schemes of a public table that are k-anonymous, and the searches of the literature for them.

A scheme has it if at most a share of the people is in groups of fewer than k; these are suppressed.
What is coarser has it too (Samarati 2001): groups are united, and nobody's becomes smaller. So one
look settles everything coarser, or everything finer.

All of it is a function of the table, and as confidential as that: nothing here has an ε.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from enum import StrEnum
from fractions import Fraction

import numpy as np

from policy_engine.accounting.bisection import least_integer
from policy_engine.choose.boxes import Box, Floats, SchemesSeen, look
from policy_engine.choose.lattice import (
    Cells,
    Flags,
    Histogram,
    Integers,
    Lattice,
    Scheme,
    cells_of,
    walked,
)
from policy_engine.values import frozen

_ROUNDED = 1e-9
"""Two divergences may differ by so much, and be the same."""


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

    def holds(self, shown: int, total: int) -> bool:
        """Whether it is so where so many people of all are in groups of k or more."""
        return (total - shown) * self.share.denominator <= self.share.numerator * total


class IsAnonymous:
    """The question which schemes of a lattice have a model; what is coarser has it too."""

    def __init__(self, seen: SchemesSeen, model: Anonymity, total: int) -> None:
        self._shown, self._model, self._total = seen.people[model.k], model, total
        self.holds: Flags = np.zeros(self._shown.shape, dtype=bool)
        """Every scheme that has it, once no more is wanted."""
        self._lacks: Flags = np.zeros(self._shown.shape, dtype=bool)

    def note(self, place: Scheme) -> None:
        """A scheme has been seen."""
        if self._model.holds(int(self._shown[place]), self._total):
            self.holds[_coarser(place)] = True
        else:
            self._lacks[_finer(place)] = True

    def open(self, box: Box) -> Flags:
        """Those that are not settled."""
        return ~(self.holds[box] | self._lacks[box])

    def may_hold(self, box: Box) -> Flags:
        """Those that are not known to lack it."""
        return ~self._lacks[box]


def _coarser(place: Scheme) -> Box:
    return tuple(slice(at, None) for at in place)


def _finer(place: Scheme) -> Box:
    return tuple(slice(at + 1) for at in place)


def _upwards(found: Flags) -> Flags:
    """What is as coarse as one of some schemes."""
    for axis in range(found.ndim):
        found = np.logical_or.accumulate(found, axis=axis)
    return found


def _downwards(found: Flags) -> Flags:
    """What is as fine as one of some schemes."""
    return np.flip(_upwards(np.flip(found)))


def anonymous(histogram: Histogram, lattice: Lattice, model: Anonymity) -> Flags:
    """Which schemes of a lattice have a model."""
    seen = SchemesSeen(lattice, [model.k])
    question = IsAnonymous(seen, model, histogram.total)
    look(histogram, lattice, seen, [question])
    return question.holds


class SchemeSearch:
    """What a search has learnt of each scheme: whether it has a model that coarser ones inherit.

    Which schemes have it is found once for all searches: ``holds``. ``looks`` counts how often one
    had to be looked at that nothing before had settled.

    >>> from policy_engine.choose.lattice import Ladder
    >>> zips = Ladder.of("zip", [("301", "3"), ("302", "3"), ("400", "4")])
    >>> table = Histogram(np.array([[0], [1], [2]]), np.array([5, 1, 7]))
    >>> found = SchemeSearch(table, Lattice.of([zips]), Anonymity(5))
    >>> found.has((1,)), found.looks, found.has((2,)), found.looks
    (True, 1, True, 1)
    """

    def __init__(
        self, histogram: Histogram, lattice: Lattice, model: Anonymity, holds: Flags | None = None
    ) -> None:
        self.histogram, self.lattice, self.model = histogram, lattice, model
        self.holds = anonymous(histogram, lattice, model) if holds is None else holds
        self.yes: Flags = np.zeros(lattice.shape, dtype=bool)
        self.no: Flags = np.zeros(lattice.shape, dtype=bool)
        self.looks = 0

    def anew(self) -> SchemeSearch:
        """Another search of the same, that has learnt nothing yet."""
        return SchemeSearch(self.histogram, self.lattice, self.model, self.holds)

    def has(self, scheme: Scheme) -> bool:
        """Whether a scheme has the model: looked up, or found and noted of all that follows."""
        place = self.lattice.place(scheme)
        if not (self.yes[place] or self.no[place]):
            self.looks += 1
            if self.holds[place]:
                self.yes[tuple(slice(at, None) for at in place)] = True
            else:
                self.no[tuple(slice(0, at + 1) for at in place)] = True
        return bool(self.holds[place])

    def settle(self, asked: Flags) -> Flags:
        """Those of some schemes that have the model; none of them is coarser than another."""
        fresh = asked & self.open
        self.looks += int(fresh.sum())
        self.yes |= _upwards(fresh & self.holds)
        self.no |= _downwards(fresh & ~self.holds)
        return asked & self.holds

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
    precisions = lattice.precisions[0]
    while True:
        finer = _neighbours(lattice, scheme, -1)
        finer.sort(key=lambda each: precisions[lattice.place(each)], reverse=True)
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
    heights = np.indices(lattice.shape).sum(axis=0).ravel()
    left = np.argsort(heights, kind="stable")
    while len(left := left[settled.open.ravel()[left]]):
        # The middle of what is left: half of it is settled by either answer, at best.
        place = np.unravel_index(int(left[len(left) // 2]), lattice.shape)
        settled.has(lattice.scheme_at([int(at) for at in place]))
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

    def at(height: int) -> Flags:
        return settled.settle(heights == height)

    least = least_integer(-1, int(heights.max()), lambda height: bool(at(height).any()))
    return tuple(lattice.scheme_at(place.tolist()) for place in np.argwhere(at(least)))


def datafly(settled: SchemeSearch) -> Scheme | None:
    """Sweeney's heuristic (1997): the column with the most labels left goes a level up, and again.

    Until what is left in small groups may be suppressed. It ends with a scheme that has the model,
    and seldom with a good one; None where no scheme has it.
    """
    lattice, scheme = settled.lattice, settled.lattice.finest
    there = [np.unique(column) for column in settled.histogram.labels.T]
    while not settled.has(scheme):
        columns = [at for at, level in enumerate(scheme) if level < lattice.allowed[at][-1]]
        if not columns:
            return None
        labels = {
            at: len(np.unique(lattice.ladders[at].codes[scheme[at]][there[at]])) for at in columns
        }
        most = max(columns, key=labels.__getitem__)
        scheme = (*scheme[:most], scheme[most] + 1, *scheme[most + 1 :])
    return scheme


def incognito(settled: SchemeSearch) -> tuple[Scheme, ...]:
    """The k-minimal schemes as Incognito finds them (LeFevre, DeWitt, Ramakrishnan 2005).

    By subsets of columns, the small ones first: a scheme has the model only if its parts have it in
    every subset. A part is the scheme with each other column at its last level; where it has the
    model all its own parts have it. So of all columns together those are looked at whose parts
    without one column have it. What it finds is what ``k_minimal`` does.
    """
    lattice, passed = settled.lattice, np.ones(settled.lattice.shape, dtype=bool)
    for at, ladder in enumerate(lattice.ladders):
        if lattice.allowed[at][-1] == ladder.height:
            without = settled.holds.take([-1], axis=at)
        else:
            last = range(ladder.height, ladder.height + 1)
            allowed = (*lattice.allowed[:at], last, *lattice.allowed[at + 1 :])
            part = replace(lattice, allowed=allowed)
            without = anonymous(settled.histogram, part, settled.model)
        passed &= without
    heights = np.indices(lattice.shape).sum(axis=0)
    for height in range(int(heights.max()) + 1):
        settled.settle(passed & (heights == height))
    return _minimal(settled.yes, lattice)


def mondrian(histogram: Histogram, lattice: Lattice, k: int) -> Integers:
    """The people of each part, at least k, each cut at the median of its widest column (2006).

    Strict, with values in the order of their ladder. Local recoding: a value is in one interval
    here and in another there, so that where the cuts are tells of the people: it is shown, and no
    certificate is made of it (Li, Qardaji, Su 2012). None where there are fewer than k people.
    """
    if histogram.total < k:
        return np.zeros(0, dtype=np.int64)
    widths = [max(ladder.sizes[0], 1) for ladder in lattice.ladders]
    labels = np.stack(
        [ladder.codes[0][histogram.labels[:, at]] for at, ladder in enumerate(lattice.ladders)], 1
    )
    people, starts = histogram.people, np.zeros(1, dtype=np.int64)
    parts: list[Integers] = []
    while len(starts):  # all parts are cut once more, their rows side by side
        column, upto = _cuts(labels, people, starts, np.array(widths), k)
        of = _part_of(starts, len(people))
        parts.append(np.add.reduceat(people, starts)[column < 0])
        rows = np.flatnonzero(column[of] >= 0)
        of = of[rows]
        half = 2 * of + (labels[rows, column[of]] > upto[of])
        order = np.argsort(half, kind="stable")
        labels, people, half = labels[rows[order]], people[rows[order]], half[order]
        starts = np.flatnonzero(np.diff(half, prepend=-1))
    return np.concatenate(parts)


def _part_of(starts: Integers, many: int) -> Integers:
    """The part of each of so many rows, of parts that start at some of them."""
    return np.repeat(np.arange(len(starts)), np.diff(starts, append=many))


def _cuts(
    labels: Integers, people: Integers, starts: Integers, widths: Integers, k: int
) -> tuple[Integers, Integers]:
    """For each part the column that it is cut in, −1 for none, and the lower half's last label.

    That is the median of the widest column, or the label before, where it leaves k in each half.
    """
    of = _part_of(starts, len(people))
    spans = (np.maximum.reduceat(labels, starts) - np.minimum.reduceat(labels, starts)) / widths
    by_span = np.argsort(-spans, axis=1, kind="stable")
    totals = np.add.reduceat(people, starts)
    column, upto = np.full(len(starts), -1), np.zeros(len(starts), dtype=np.int64)
    for widest in by_span.T:
        is_open = (column < 0) & (spans[np.arange(len(starts)), widest] > 0)
        rows = np.flatnonzero(is_open[of])
        if not len(rows):
            break
        own = labels[rows, widest[of[rows]]]
        rows = rows[order := np.lexsort((own, of[rows]))]
        own, part = own[order], of[rows]
        ends = np.flatnonzero(np.append((own[1:] != own[:-1]) | (part[1:] != part[:-1]), True))
        own, part, below = own[ends], part[ends], np.cumsum(people[rows])[ends]
        first = np.flatnonzero(np.diff(part, prepend=-1))
        many = np.diff([*first, len(part)])
        before = np.concatenate(([0], below))[first]
        below -= np.repeat(before, many)
        # The median is the first label up to which half of the people are.
        at = np.flatnonzero(2 * below >= totals[part])
        at = at[np.flatnonzero(np.diff(part[at], prepend=-1))]
        here = part[at]
        less = np.where(np.isin(at, first), 0, below[at - 1])
        for cut, lower in ((own[at], below[at]), (own[at] - 1, less)):
            fits = (column[here] < 0) & (lower >= k) & (totals[here] - lower >= k)
            column[here[fits]], upto[here[fits]] = widest[here[fits]], cut[fits]
    return column, upto


def values_of(
    histogram: Histogram, seen: SchemesSeen, objective: Objective, least: int, allowed: Flags
) -> Floats:
    """A number of every scheme seen: more is better; ``least`` people are in a group that is shown.

    It is of those ``allowed`` that the best is wanted.

    ``score`` is Σ max(0, people − least) · precision, as of a private choice, ``kl`` the divergence
    of the table from one that spreads a group evenly over its values, ``discernibility`` Σ people²
    with everybody for whom is suppressed, ``classes`` the people of a shown group over k, on
    average.
    """
    lattice, total = seen.lattice, histogram.total
    precisions, whole = lattice.precisions
    if objective is Objective.precision:
        return precisions / whole
    if objective is Objective.kl:
        return -_divergences(histogram, lattice, allowed)
    people, groups, squares = seen.people[least], seen.groups[least], seen.squares[least]
    if objective is Objective.score:
        found = (people - least * groups) * (precisions / whole)
    elif objective is Objective.discernibility:
        found = -(squares + total * (total - people).astype(np.float64))
    else:
        found = np.where(groups, -people / np.maximum(groups * least, 1), -np.inf)
    return np.where(people < 0, -np.inf, found)


class Everything:
    """The question what every scheme is."""

    def __init__(self, lattice: Lattice) -> None:
        self._all: Flags = np.ones(lattice.shape, dtype=bool)

    def note(self, place: Scheme) -> None:
        """A scheme has been seen."""

    def open(self, box: Box) -> Flags:
        """All of them matter."""
        return self._all[box]


class _Between:
    """Two numbers of each scheme, between which its own is, where coarser ones have more."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self._least: Integers = np.full(shape, -1, dtype=np.int64)
        self._most: Integers = np.full(shape, np.iinfo(np.int64).max)

    def note(self, place: Scheme, own: int, *, is_least: bool = True) -> None:
        """What a scheme has; it counts as a least number where it is of those asked for."""
        finer, coarser = self._most[_finer(place)], self._least[_coarser(place)]
        np.minimum(finer, own, out=finer)
        if is_least:
            np.maximum(coarser, own, out=coarser)

    def open(self, box: Box) -> tuple[Integers, Flags]:
        """The most that each of a box can have, and whether no finer one is known to have it.

        A finer one is at least as precise, and stands before it.
        """
        most = self._most[box]
        return most, most > self._least[box]


class BestScore:
    """The question which scheme has the best score, of those that have a model if one is asked for.

    What is above in a scheme's groups grows with what is coarser.
    """

    def __init__(self, seen: SchemesSeen, least: int, among: IsAnonymous | None = None) -> None:
        self._people, self._groups, self._less = seen.people[least], seen.groups[least], least
        precisions, whole = seen.lattice.precisions
        self._precisions, self._among, self._best = precisions / whole, among, -1.0
        self._between = _Between(seen.lattice.shape)

    def note(self, place: Scheme) -> None:
        """A scheme has been seen."""
        own = int(self._people[place] - self._less * self._groups[place])
        counts = self._among is None or bool(self._among.holds[place])
        self._between.note(place, own, is_least=counts)
        if counts:
            self._best = max(self._best, own * float(self._precisions[place]))

    def open(self, box: Box) -> Flags:
        """Those that can be as good as the best so far."""
        most, is_open = self._between.open(box)
        if self._among is not None:
            is_open = is_open & self._among.may_hold(box)
        return is_open & (most * self._precisions[box] >= self._best)


class Frontier:
    """The question which schemes no other beats in the people shown and in precision."""

    def __init__(self, seen: SchemesSeen, least: int) -> None:
        self._people = seen.people[least]
        known, ranks = np.unique(seen.lattice.precisions[0], return_inverse=True)
        self._ranks: Integers = ranks.reshape(self._people.shape)
        self._most = np.full(len(known) + 1, -1)  # that one shows of this precision, or of more
        self._between = _Between(seen.lattice.shape)

    def note(self, place: Scheme) -> None:
        """A scheme has been seen."""
        people, rank = int(self._people[place]), self._ranks[place]
        self._between.note(place, people)
        if people > self._most[rank]:
            self._most[: rank + 1] = np.maximum(self._most[: rank + 1], people)

    def open(self, box: Box) -> Flags:
        """Those that may be on it."""
        most, is_open = self._between.open(box)
        ranks = self._ranks[box]
        return is_open & (most >= self._most[ranks]) & (most > self._most[ranks + 1])


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


def _divergences(histogram: Histogram, lattice: Lattice, allowed: Flags) -> Floats:
    """The divergence of every scheme that may be the one of the least among those allowed, else ∞.

    It grows with what is coarser (it is the finer one's, and that of the finer spread from the
    coarser one), so that what has more than one that is allowed is not looked at, nor what is
    coarser.
    """
    measure, found = _divergence(lattice, histogram), np.full(lattice.shape, np.inf)
    if not allowed.any():
        return found
    precise = np.where(allowed, lattice.precisions[0], -1).argmax()
    at = np.unravel_index(int(precise), lattice.shape)
    first = lattice.scheme_at([int(each) for each in at])
    best = measure(cells_of(histogram, lattice, first), first)

    def skips(scheme: Scheme) -> bool:
        finer = (lattice.place(each) for each in _neighbours(lattice, scheme, -1))
        return any(found[each] > best + _ROUNDED for each in finer)

    for scheme, cells in walked(histogram, lattice, skips):
        place = lattice.place(scheme)
        found[place] = measure(cells, scheme)
        if allowed[place]:
            best = min(best, float(found[place]))
    return found


def best_of(values: Floats, allowed: Flags, lattice: Lattice) -> Scheme | None:
    """The first scheme of the greatest value among those allowed; None where none is."""
    if not allowed.any():
        return None
    place = np.unravel_index(int(np.where(allowed, values, -np.inf).argmax()), lattice.shape)
    return lattice.scheme_at([int(at) for at in place])

"""The self-test's private choices: broken searches that an audit must flag, beside the sound one.

A search that looks at the sample that is released, and not at the source, stands among the other
controls: ``argmax``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import field
from decimal import Decimal

import numpy as np

from policy_engine.accounting.certified import EpsilonDelta
from policy_engine.audit.bench import Draw
from policy_engine.choose.drawing import choose
from policy_engine.choose.lattice import Histogram, Ladder, Lattice, Scheme, measured
from policy_engine.choose.safe import chosen_scheme, utilities_of
from policy_engine.values import frozen

LEAST_SHOWN = 2
"""From so many people on a group counts."""
_PICKS = 30
_TOWNS = Lattice.of([Ladder.of("town", [("p", "x"), ("q", "x")])])
Choosing = Callable[[Histogram, Decimal], Scheme]
"""One run: the scheme that is chosen, at an ε."""


def _towns(**people: int) -> Histogram:
    places = {"p": 0, "q": 1}
    labels = np.array([[places[town]] for town in people], dtype=np.int64)
    return Histogram(labels, np.array([*people.values()], dtype=np.int64))


def _sound(table: Histogram, epsilon: Decimal) -> Scheme:
    return chosen_scheme(table, _TOWNS, epsilon, LEAST_SHOWN)


def _greatest(table: Histogram, epsilon: Decimal) -> Scheme:
    schemes, scores = utilities_of(table, _TOWNS, LEAST_SHOWN, None)
    return schemes[scores.index(max(scores))]


def _better_kept(table: Histogram, epsilon: Decimal) -> Scheme:
    schemes, scores = utilities_of(table, _TOWNS, LEAST_SHOWN, None)
    picks = [_sound(table, epsilon) for _ in range(_PICKS)]
    return max(picks, key=lambda scheme: scores[schemes.index(scheme)])


def _precision_by_data(table: Histogram, epsilon: Decimal) -> Scheme:
    """A scheme tells as much as it has labels that are there."""
    scores = measured(table, _TOWNS, lambda cells, _: int(cells.people.sum()) * len(cells.people))
    utilities = scores.astype(np.int64).ravel().tolist()
    return list(_TOWNS.schemes())[choose(utilities, epsilon, monotone=True)]


@frozen
class ChoiceControl:
    """A broken search: as ``controls.Control``, of two tables of people by their towns."""

    name: str
    what: str
    pair: str
    one: Histogram
    other: Histogram
    broken: Choosing
    runs: int
    epsilon: Decimal = Decimal("0.2")
    sound: Choosing = field(default=_sound)

    def claim(self) -> EpsilonDelta:
        """What a private search is certified with: ε, and no δ."""
        return EpsilonDelta(self.epsilon, Decimal(0))

    @contextmanager
    def drawing(self, people: Histogram, procedure: Choosing) -> Iterator[Draw]:
        """The search over a table, ready to be run again and again."""
        yield lambda: {"the level of town": procedure(people, self.epsilon)[0]}

    def tried(self, *, is_sound: bool, is_one: bool) -> AbstractContextManager[Draw]:
        """The sound way or the broken one, over one of the two tables."""
        procedure = self.sound if is_sound else self.broken
        return self.drawing(self.one if is_one else self.other, procedure)


CHOICES = (
    ChoiceControl(
        "search without noise",
        "the recoding with the best score is chosen, and nothing is drawn",
        "one person who makes the finer recoding the best, or not",
        _towns(p=3, q=2),
        _towns(p=2, q=2),
        _greatest,
        runs=120,
    ),
    ChoiceControl(
        "better search kept",
        "of 30 private searches the one with the best score is kept",
        "one person who makes the finer recoding the best, or not",
        _towns(p=3, q=2),
        _towns(p=2, q=2),
        _better_kept,
        runs=600,
    ),
    ChoiceControl(
        "precision of the data",
        "how much a recoding tells is counted in the source",
        "the one person of a town, or nobody there",
        _towns(p=400, q=1),
        _towns(p=400),
        _precision_by_data,
        runs=250,
    ),
)

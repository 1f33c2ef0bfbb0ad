"""Events that tell two tables apart: searched for on one half of the runs, and there alone.

A run is seen as features: named values, each some function of what was released. An event says
something of one feature. Whatever is chosen here is judged on the other half of the runs.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from statistics import NormalDist
from typing import TypeGuard

from policy_engine.audit.estimate import Hits

Features = Mapping[str, Hashable]
ABSENT = 0
"""The value of a feature that a run does not have: a cell that is not shown counts nobody."""
_FEW = 30
"""Of so few values at most, every set that a likelihood ratio picks is looked at too."""


def is_number(value: Hashable) -> TypeGuard[int | float | Decimal]:
    """Whether a value has an order: a count, a sum or a mean, and no NaN.

    >>> [is_number(value) for value in (3, Decimal("0.5"), float("nan"), True, "3")]
    [True, True, False, False, False]
    """
    return type(value) in {int, Decimal} or (type(value) is float and not math.isnan(value))


@dataclass(frozen=True)
class Event:
    """Whether a feature has one of some values, or lies on one side of a number.

    >>> Event("rows", ">=", 3).holds({"rows": 4}), Event("rows", "in", frozenset({1})).holds({})
    (True, False)
    """

    feature: str
    how: str  # >= | <= | = | != | in
    value: Hashable

    def holds(self, run: Features) -> bool:
        """Whether a run is in the event."""
        return self.of(run.get(self.feature, ABSENT))

    def of(self, found: Hashable) -> bool:
        """Whether a value of the feature is in the event."""
        if self.how in {">=", "<="}:
            if not is_number(found) or not is_number(self.value):
                return False
            return found >= self.value if self.how == ">=" else found <= self.value
        if self.how == "in":
            assert isinstance(self.value, frozenset)
            return found in self.value
        return (found == self.value) is (self.how == "=")

    def count(self, runs: Sequence[Features]) -> Hits:
        """How many of the runs are in the event."""
        return Hits(sum(map(self.holds, runs)), len(runs))

    def __str__(self) -> str:
        value: object = self.value
        if isinstance(value, frozenset):
            value = f"{len(value)} of its values"
        return f"{self.feature} {self.how} {value}"


def halves(runs: Sequence[Features]) -> tuple[list[Features], list[Features]]:
    """Every other run to choose on, and the rest to judge by.

    >>> halves([{"n": 1}, {"n": 2}, {"n": 3}, {"n": 4}])
    ([{'n': 1}, {'n': 3}], [{'n': 2}, {'n': 4}])
    """
    return list(runs[::2]), list(runs[1::2])


def best_event(
    one: Sequence[Features], other: Sequence[Features], delta: float, error: float
) -> Event:
    """The event that looks likeliest in ``one`` beside ``other``, at δ; some event always.

    >>> best_event([{"n": 1}] * 50, [{"n": 0}] * 50, 0.0, 0.01).holds({"n": 1})
    True
    """
    z = -NormalDist().inv_cdf(error)
    return _best(one, other, lambda seen, beside: _score(seen, beside, delta, z))


def clearest_event(one: Sequence[Features], other: Sequence[Features]) -> Event:
    """The event that is met far oftener in ``one`` than in ``other``: what a guess looks at.

    >>> clearest_event([{"n": 1}] * 50, [{"n": 0}] * 50).holds({"n": 1})
    True
    """
    return _best(one, other, lambda seen, beside: seen.share - beside.share)


def _best(
    one: Sequence[Features], other: Sequence[Features], score: Callable[[Hits, Hits], float]
) -> Event:
    best, highest = Event("runs", "=", ABSENT), -math.inf
    for feature in sorted({name for run in (*one, *other) for name in run}):
        counts = [Counter(run.get(feature, ABSENT) for run in runs) for runs in (one, other)]
        for event, seen, beside in _candidates(feature, *counts):
            found = score(Hits(seen, len(one)), Hits(beside, len(other)))
            if found > highest:
                best, highest = event, found
    return best


Counts = Counter[Hashable]
Candidate = tuple[Event, int, int]


def _candidates(feature: str, one: Counts, other: Counts) -> Iterator[Candidate]:
    """Events of one feature, each with its hits in both."""
    values = one.keys() | other.keys()
    runs, beside = one.total(), other.total()
    for value in values:
        yield Event(feature, "=", value), one[value], other[value]
        yield Event(feature, "!=", value), runs - one[value], beside - other[value]
    numbers = sorted(filter(is_number, values))
    yield from _running(feature, "<=", numbers, one, other)
    yield from _running(feature, ">=", numbers[::-1], one, other)
    if len(values) <= _FEW:
        yield from _likeliest(feature, values, one, other)


def _running(
    feature: str, how: str, numbers: Iterable[float | Decimal], one: Counts, other: Counts
) -> Iterator[Candidate]:
    seen = beside = 0
    for value in numbers:
        seen, beside = seen + one[value], beside + other[value]
        yield Event(feature, how, value), seen, beside


def _likeliest(
    feature: str, values: Iterable[Hashable], one: Counts, other: Counts
) -> Iterator[Candidate]:
    """The values in the order of their likelihood ratio, one more each time."""
    ratio: Callable[[Hashable], float] = lambda value: (one[value] + 0.5) / (other[value] + 0.5)  # noqa: E731
    taken: list[Hashable] = []
    seen = beside = 0
    for value in sorted(values, key=lambda value: (-ratio(value), repr(value))):
        taken.append(value)
        seen, beside = seen + one[value], beside + other[value]
        yield Event(feature, "in", frozenset(taken)), seen, beside


def _score(one: Hits, other: Hits, delta: float, z: float) -> float:
    """About the ε that the event would prove (Wilson's interval); negative where none."""
    low, high = _wilson(one, -z) - delta, _wilson(other, z)
    return math.log(low / high) if low > high else min(0.0, low - high)


def _wilson(hits: Hits, z: float) -> float:
    p, n = hits.share, hits.runs
    spread = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return (p + z * z / (2 * n) + spread) / (1 + z * z / n)

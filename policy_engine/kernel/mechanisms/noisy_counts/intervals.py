"""Within what a number beside a count lies in 95 of 100 releases: in words, and in a row.

That is an interval by its noise and by how the number itself is rounded. What a bound cuts and how
each row is rounded have no share in it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

from policy_engine.accounting.noise import IntegerTable
from policy_engine.kernel.mechanisms.meaning import either, left_out
from policy_engine.kernel.mechanisms.tables import Measure
from policy_engine.kernel.sources import People, Rows
from policy_engine.kernel.types import digits_of
from policy_engine.values import frozen

if TYPE_CHECKING:
    from policy_engine.accounting.intervals import TwoNoises
    from policy_engine.kernel.mechanisms.noisy_counts.meaning import DrawnBeside

Interval = tuple[float, float]
_HALVED = 40


@frozen
class NoiseOf:
    """The noise of a sum or a mean: of its quantity, and of how many there are.

    ``tables`` are those of the counts, and of the ``quantities``.
    """

    measure: Measure
    quantities: Sequence[DrawnBeside]
    tables: Sequence[IntegerTable]

    @property
    def _own(self) -> DrawnBeside:
        return self.quantities[self.measure.quantity - 1]

    @property
    def _unit(self) -> float:
        return 1.0 if self._own.center is None else float(self._own.clip.unit)

    @property
    def _ends(self) -> Interval:
        """Of a mean by how much its values lie from the center, in units."""
        clip, center = self._own.clip, self._own.center or 0
        return float(clip.low - center), float(clip.high - center)

    @cached_property
    def _both(self) -> TwoNoises:
        """In units; the second times by how much a mean lies from the center, or times that."""
        from policy_engine.accounting.intervals import TwoNoises

        measure, own = self.measure, self._own
        first = (self.tables[measure.quantity], float(own.moves.grain))
        if measure.over is None:
            return TwoNoises(first, None)
        grain = self.quantities[measure.over - 1].moves.grain if measure.over else 1
        most = max(map(abs, self._ends)) if measure.is_mean else abs(own.center or 0)
        return TwoNoises(first, (self.tables[measure.over], float(grain)), float(most))

    @property
    def alone_below(self) -> int:
        """For fewer values than that a mean is noise alone, wherever its noise puts it."""
        low, high = self._ends
        return math.floor(self._both.within(max(-low, high)) / (high - low)) + 1

    def words(self, over: str | None) -> str:
        """By how much noise puts it off; ``over`` is the column of how many there are, if any."""
        if not self.measure.is_mean:
            return f"{self._both.within(self._own.center or 0) * self._unit:,.6g}"
        middle, end = self._both.within(0), self._both.within(max(map(abs, self._ends)))
        where = digits_of((self._own.center or 0) * self._own.clip.unit)
        ends = (f"{found * self._unit:,.6g}" for found in (middle, end))
        return mean_off(next(ends), where, next(ends), over)

    def interval(self, value: float, many: int, halves: int) -> Interval:
        """Where what counts lies; of a mean of ``many`` values, as a row tells both.

        A mean is rounded by ``halves`` of a unit. Each mean is in it of which the noise of the row
        would have been within its own 95 of 100.
        """
        unit, own = self._unit, self._own
        if not self.measure.is_mean:
            away = self._both.within(own.center or 0) + own.moves.grain - 1
            return value - away * unit, value + away * unit
        low, high = self._ends
        center, rounding = own.center or 0, halves / 2
        at = value / unit - center
        first = self._farthest(at, low, many) - rounding
        last = self._farthest(at, high, many) + rounding
        return (max(low, first) + center) * unit, (min(high, last) + center) * unit

    def _farthest(self, at: float, end: float, many: int) -> float:
        """The mean nearest to ``end`` that a row with a mean ``at`` can be of, in units.

        What noise allows grows ever faster with the distance from the center, so that beyond the
        first mean that it does not allow there is none up to an end that it does not allow.
        """
        near, far = at, end
        if abs(far - at) * many <= self._both.within(far):
            return far
        for _ in range(_HALVED):
            middle = (near + far) / 2
            if abs(middle - at) * many <= self._both.within(middle):
                near = middle
            else:
                far = middle
        return far

    def is_alone(self, found: Interval) -> bool:
        """Whether an interval says nothing of a mean: it is all that the mean can be."""
        low, high = (float(end) for end in (self._own.clip.low, self._own.clip.high))
        return self.measure.is_mean and found == (low * self._unit, high * self._unit)


def mean_off(least: str, middle: str, most: str, over: str | None) -> str:
    """By how much a mean is off, which is the less the more values there are.

    ``over`` is the column that shows how many; N stands for it where there is none.

    >>> mean_off("7", "40", "10", "n")
    '7 / n where the mean is 40, up to 10 / n elsewhere'
    >>> mean_off("7", "40", "10", None)
    '7 / N where the mean is 40, up to 10 / N elsewhere, where N is the number of values'
    """
    many = over or "N"
    told = f"{least} / {many} where the mean is {middle}, up to {most} / {many} elsewhere"
    return told if over else f"{told}, where N is the number of values"


def count_off(over: int, quantities: Sequence[DrawnBeside], tables: Sequence[IntegerTable]) -> int:
    """By how much the number of values is off in 95 of 100 releases; of 0 that of the people."""
    from policy_engine.accounting.intervals import within

    grain = quantities[over - 1].moves.grain if over else 1
    return within(tables[over]) * grain + grain - 1


def left_out_of(unit: People | Rows, quantity: DrawnBeside) -> tuple[str, ...]:
    """What no interval of a quantity includes."""
    return left_out(unit, quantity.clip, is_bounded=quantity.center is not None)


def within_words(
    measures: Sequence[Measure],
    quantities: Sequence[DrawnBeside],
    tables: Sequence[IntegerTable],
    divisors: Mapping[int, str],
    cuts: Mapping[str, IntegerTable] | None = None,
    *,
    unit: People | Rows,
    quantiles: Sequence[str] = (),
) -> Iterator[str]:
    """By how much each number is off in 95 of 100 releases, and which mean is noise alone.

    Then what that leaves out, and which numbers have nothing of the kind: the ``quantiles``.
    """
    from policy_engine.accounting.intervals import within

    told = [f"{divisors[0]} off by at most {within(tables[0]):,}"]
    noises = [NoiseOf(measure, quantities, tables) for measure in measures]
    for noise in noises:
        over = divisors.get(noise.measure.over or 0)
        told.append(f"{noise.measure.name} by at most {noise.words(over)}")
    told += [f"{name} by at most {within(table):,}" for name, table in (cuts or {}).items()]
    yield f"in 95 of 100 releases noise puts {'; '.join(told)}"
    beside = (left_out_of(unit, quantities[measure.quantity - 1]) for measure in measures)
    if without := [*left_out(unit), *chain(*beside)]:
        yield f"these intervals do not include {either(without)}"
    for name in quantiles:
        yield f"{name} has no such interval: it depends on how close its values lie"
    for noise in noises:
        if noise.measure.is_mean and noise.alone_below > 1:
            over = divisors.get(noise.measure.over or 0, "the number of values")
            clip = noise.quantities[noise.measure.quantity - 1].clip
            low, high = (digits_of(end * clip.unit) for end in (clip.low, clip.high))
            yield (
                f"{noise.measure.name} is noise alone where {over} is below"
                f" {noise.alone_below:,}: it can be anything from {low} to {high} then"
            )

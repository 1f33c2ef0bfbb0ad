"""Tables of noise, and what is shown beside a count: sums, means, coarser groupings [TABLE]."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from math import isqrt
from typing import Any

from policy_engine.accounting.domain import REPLACE_ONE
from policy_engine.accounting.noise import MOST, WHOLE, Direction, IntegerTable, Statistic
from policy_engine.kernel.laws import require
from policy_engine.kernel.nodes import Identifier, Number, Text, bound_of, number_of
from policy_engine.kernel.recodes import Round
from policy_engine.kernel.sources import Column
from policy_engine.kernel.types import EXACT

_ONE_LEVEL = 64
"""So many entries are looked through one by one; more of them in blocks."""
_GRAINS, _TRIED = 10, 64
"""A sum is rounded to so many parts, or some more, of what one unit moves it by."""
_PLACES = 6
Case = tuple[Text, Text, Number]
"""Below which 60 bits, in hex digits and in digits of whole bytes, which value."""


def draws_of(table: IntegerTable, offset: int = 0) -> dict[str, Any]:
    """What a template is given to draw Z - ``offset``."""
    numbered = enumerate(table.entries, table.least - offset)
    cases = [(*bound_of(entry), Number(value)) for value, entry in numbered]
    blocks, rest = _in_blocks(cases)
    last = None if table.is_open else Number(table.largest - offset)
    return {"blocks": blocks, "cases": rest, "last": last}


def _in_blocks(cases: list[Case]) -> tuple[list[Any] | None, list[Case]]:
    """A long list of cases as blocks, and the cases above them; a short one has no blocks.

    A block is: below which 60 bits which cases, and the value above them.
    """
    if len(cases) <= _ONE_LEVEL:
        return None, cases
    size = isqrt(len(cases))
    blocks = []
    while len(cases) > size:
        *inner, (bound, bound_bytes, value) = cases[:size]
        blocks.append((bound, bound_bytes, inner, value))
        cases = cases[size:]
    return blocks, cases


def ends_of(number: int, parts: int) -> list[tuple[Text, Text]]:
    """Where a part of all hashes begins, and where the next one does: of the last nothing."""
    return [bound_of(-(-n * WHOLE // parts)) for n in (number - 1, number) if n < parts]


@dataclass(frozen=True)
class CountedBy:
    """A count by some of the shown columns, with its own ``tables`` of noise where it has any.

    The first is of the count, the others of the sums beside it, in their order.
    """

    columns: tuple[str, ...]
    tables: tuple[IntegerTable, ...] = ()


@dataclass(frozen=True)
class Clip:
    """Between which whole numbers of units each person's value lies, and what of it is summed.

    A sum is of the values; a mean is of what they are above ``center``, so that one person moves it
    less. The group's sum is cut towards zero to a multiple of ``grain`` before noise is added.

    >>> Clip(0, 99, is_mean=True).center, Clip(0, 99, is_mean=True).steps("add_remove")
    (49, 10)
    """

    low: int
    high: int
    is_mean: bool

    def __post_init__(self) -> None:
        require(self.low < self.high, "the ends of a sum differ")
        require(self.high - self.low <= MOST and self.farthest <= MOST, "no end is above 10^9")

    @property
    def farthest(self) -> int:
        """The end that is farther from zero."""
        return max(abs(self.low), abs(self.high))

    @property
    def absent(self) -> int:
        """What a person without a value counts with."""
        return min(max(0, self.low), self.high)

    @property
    def center(self) -> int:
        """What is taken from each value."""
        return (self.low + self.high) // 2 if self.is_mean else 0

    @property
    def moved(self) -> int:
        """By how many units one person moves a sum at most."""
        return max(abs(self.low - self.center), abs(self.high - self.center))

    @cached_property
    def grain(self) -> int:
        """A step of the noise, in units: of some, the one whose multiple is next to ``moved``."""
        most = max(1, self.moved // _GRAINS)
        least = max(1, most - _TRIED, -(-self.moved // (2 * _GRAINS)))
        return min(range(most, least - 1, -1), key=lambda grain: -self.moved % grain)

    def steps(self, neighbours: str) -> int:
        """By how many steps one unit moves what noise is added to, at most.

        A replaced person may stay in a group, and take another value there.
        """
        spread = self.high - self.low if neighbours == REPLACE_ONE else 0
        return -(-max(self.moved, spread) // self.grain)

    @property
    def moves(self) -> Direction:
        """Where one person more moves what noise is added to."""
        if self.low < self.center < self.high:
            return "either"
        return "up" if self.center <= self.low else "down"

    def statistic(self, table: IntegerTable, groups: int, neighbours: str) -> Statistic:
        """The sum of each group with this noise, as the accountant prices it."""
        return Statistic(table, self.steps(neighbours), groups, self.moves)


@dataclass(frozen=True)
class Aggregate:
    """Beside a group's count the sum of a column over its people, or their mean, with noise.

    A person's value is the nearest whole number of ``unit``s, half away from zero, between the ends
    of ``clip``; what is absent is 0. Of a person with many rows in a group it is the sum of theirs.
    Z steps are added to the sum. A mean is that over the count that is shown, to the nearest unit,
    between the ends.
    """

    name: str
    column: Column
    unit: Decimal
    clip: Clip
    table: IntegerTable

    def __post_init__(self) -> None:
        require(Round(self.unit).fits(self.column.seen), "a sum is of numbers, in plain units")
        few = Round(self.unit).scale <= (_PLACES if self.clip.is_mean else 0)
        require(few, "a sum has whole units, and a mean at most six decimal places")
        inside = self.clip.farthest <= self.farthest and self.clip.farthest * self.unit <= MOST
        require(inside, "no end is above 10^9, nor where doubles are not exact")
        require(not self.table.is_open, "a place is of a count")

    @property
    def farthest(self) -> int:
        """At so many units, or so many below zero, each row ends."""
        return min(MOST, int(Round(self.unit).below(self.column.seen) / self.unit) - 1)

    def nodes(self, number: int, *, many: bool) -> dict[str, Any]:
        """What a template is given: the ``number``-th, of people with ``many`` rows or one each."""
        clip, unit = self.clip, self.unit
        low, high = (-self.farthest, self.farthest) if many else (clip.low, clip.high)
        return {
            "name": Identifier(self.name),
            "value": Identifier(f"policy_engine_value_{number}"),
            "hash": Identifier(f"policy_engine_hash_{number}"),
            "total": Identifier(f"policy_engine_total_{number}"),
            "is_mean": clip.is_mean,
            "is_plain": unit == 1 and self.column.seen.kind == "integer",
            "is_whole": Round(unit).scale == 0,
            "is_coarse": unit != 1,
            "step": number_of(unit),
            "tenth": Number(unit.scaleb(-1, context=EXACT)),
            "places": Number(Round(unit).scale),
            "below": Number(self.farthest * unit + 1),
            "absent": Number(0 if many else clip.absent),
            "least": Number(low),
            "most": Number(high),
            "at_least": Number(low * unit),
            "at_most": Number(high * unit),
            "low": Number(clip.low),
            "high": Number(clip.high),
            "starts": Number(clip.low) if clip.low else None,
            "width": Number(clip.high - clip.low),
            "center": Number(clip.center) if clip.center else None,
            "above_low": Number(clip.center - clip.low),
            "grain": Number(clip.grain) if clip.grain > 1 else None,
            **draws_of(self.table),
        }

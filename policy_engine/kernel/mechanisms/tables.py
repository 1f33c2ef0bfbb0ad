"""Tables of noise, and what is shown beside a count: sums, means, coarser groupings [TABLE]."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from functools import cached_property, lru_cache
from math import isqrt
from typing import Any, Literal

from policy_engine.accounting.domain import REPLACE_ONE
from policy_engine.accounting.noise import MOST, WHOLE, Direction, IntegerTable, Statistic
from policy_engine.kernel.laws import require
from policy_engine.kernel.nodes import Identifier, Nodes, Number, Text, bound_of, number_of
from policy_engine.kernel.recodes import Round
from policy_engine.kernel.sources import Column
from policy_engine.kernel.types import EXACT, places_of
from policy_engine.values import frozen

_ONE_LEVEL = 64
"""So many entries are looked through one by one; more of them in blocks."""
_GRAINS, _TRIED = 10, 64
"""A sum is rounded to so many parts, or some more, of what one unit moves it by."""
_PLACES = 6
_MOST_ROWS = 1000
Case = tuple[Text, Text, Number]
"""Below which 60 bits, in hex digits and in digits of whole bytes, which value."""


@lru_cache(maxsize=64)  # whoever certifies prints again what was printed
def draws_of(table: IntegerTable, offset: int = 0) -> Nodes:
    """What a template is given to draw Z - ``offset``."""
    cases = [(*bound_of(e), Number(z)) for z, e in enumerate(table.entries, table.least - offset)]
    blocks, rest = _in_blocks(cases)
    last = None if table.is_open else Number(table.largest - offset)
    return {"blocks": blocks, "cases": rest, "last": last}


def _in_blocks(cases: list[Case]) -> tuple[list[Any] | None, list[Case]]:
    """A long list of cases as blocks, and the cases above them; a short one has no blocks.

    A block is: below which 60 bits which cases, the value above them, and their bounds in a line.
    """
    if len(cases) <= _ONE_LEVEL:
        return None, cases
    size = isqrt(len(cases))
    blocks = []
    while len(cases) > size:
        *inner, (bound, bound_bytes, value) = cases[:size]
        digits = Text(" ".join(below.text for below, _, _ in inner))
        blocks.append((bound, bound_bytes, inner, value, digits))
        cases = cases[size:]
    return blocks, cases


def ends_of(number: int, parts: int) -> list[tuple[Text, Text]]:
    """Where a part of all hashes begins, and where the next one does: of the last nothing."""
    return [bound_of(-(-n * WHOLE // parts)) for n in (number - 1, number) if n < parts]


@frozen
class CountedBy:
    """A count by some of the shown columns, with its own ``tables`` of noise where it has any.

    The first is of the count, the others of the sums beside it, in their order.
    """

    columns: tuple[str, ...]
    tables: tuple[IntegerTable, ...] = ()


Per = Literal["row", "total", "mean"]
"""Whose value is held between two ends: each row's, or a person's total or mean of their rows."""


@frozen
class Clip:
    """How much one person gives to a number of a group: whole ``unit``s between two ends.

    A value is the nearest whole number of units, half away from zero. ``per`` row each row's value
    is held between the ends, and of a person in a group ``rows`` rows count at most, drawn by
    SHA-256 of ``secret:r:unit:place``. Else a person's rows are added up first, or their mean is
    taken to the nearest unit, half up. A missing value is left out, or counts as ``absent``.
    """

    low: int
    high: int
    unit: Decimal = Decimal(1)
    per: Per = "row"
    rows: int = 1
    absent: int | None = None

    def __post_init__(self) -> None:
        require(self.low < self.high, "the two ends of a value differ")
        farthest = max(abs(self.low), abs(self.high))
        require(self.high - self.low <= MOST and farthest <= MOST, "no end is above 10^9")
        require(places_of(self.unit) <= _PLACES, "a unit has six decimal places at most")
        require(farthest * self.unit <= MOST, "no end is above 10^9, nor where doubles are inexact")
        require(1 <= self.rows <= _MOST_ROWS, f"of a person 1 to {_MOST_ROWS} rows count")
        require(self.per == "row" or self.rows == 1, "of a person's total all rows count")
        inside = self.absent is None or self.low <= self.absent <= self.high
        require(inside, "what a missing value counts as lies between the ends")


ONE = Clip(0, 1)


@frozen
class Moves:
    """From ``least`` ≤ 0 to ``most`` ≥ 0: by so many units one person moves a number of a group.

    The number is cut towards zero to a multiple of ``grain`` before noise is added.

    >>> Moves(-49, 50).grain, Moves(-49, 50).steps("add_remove"), Moves(-49, 50).direction
    (5, 10, 'either')
    """

    least: int
    most: int

    @property
    def farthest(self) -> int:
        """By so many units at most."""
        return max(-self.least, self.most)

    @cached_property
    def grain(self) -> int:
        """A step of the noise, in units: of some, the one whose multiple is next to the most."""
        most = max(1, self.farthest // _GRAINS)
        least = max(1, most - _TRIED, -(-self.farthest // (2 * _GRAINS)))
        return min(range(most, least - 1, -1), key=lambda grain: -self.farthest % grain)

    def steps(self, neighbours: str) -> int:
        """By how many steps one unit moves what noise is added to, at most.

        A replaced person may stay in a group, and give another value there.
        """
        spread = self.most - self.least if neighbours == REPLACE_ONE else 0
        return -(-max(self.farthest, spread) // self.grain)

    @property
    def direction(self) -> Direction:
        """Where one person more moves what noise is added to."""
        if self.least < 0 < self.most:
            return "either"
        return "up" if self.most > 0 else "down"

    def statistic(self, table: IntegerTable, groups: int, neighbours: str) -> Statistic:
        """The number of each group with this noise, as the accountant prices it."""
        return Statistic(table, self.steps(neighbours), groups, self.direction)


def moves_of(clip: Clip, center: int | None) -> Moves:
    """By how much one person moves the sum of values less a center each, or how many there are.

    >>> moves_of(Clip(0, 9, rows=5), 4), moves_of(Clip(0, 9, rows=5), None)
    (Moves(least=-20, most=25), Moves(least=0, most=5))
    """
    if center is None:
        return Moves(0, clip.rows)
    low, high = clip.low - center, clip.high - center
    return Moves(min(0, clip.rows * low), max(0, clip.rows * high))


def farthest_of(column: Column, clip: Clip) -> int:
    """At so many units, or so many below zero, each row ends whose value is added up."""
    below = Round(clip.unit).below(column.seen)
    return min(MOST, int(below / clip.unit) - 1)


def check_values(column: Column, clip: Clip) -> None:
    """Raise ClaimError unless a column has such values."""
    require(Round(clip.unit).fits(column.seen), "a sum is of numbers, in plain units")
    inside = max(abs(clip.low), abs(clip.high)) <= farthest_of(column, clip)
    require(inside, "no end is where doubles are not exact")


def value_nodes(column: Column, clip: Clip, value: int) -> Nodes:
    """What a template is given of the values themselves, the ``value``-th ones."""
    unit, farthest = clip.unit, farthest_of(column, clip)
    low, high = (clip.low, clip.high) if clip.per == "row" else (-farthest, farthest)
    return {
        "value": Identifier(f"policy_engine_value_{value}"),
        "many": Identifier(f"policy_engine_many_{value}"),
        "bent": Identifier(f"policy_engine_bent_{value}"),
        "per": clip.per,
        "is_plain": unit == 1 and column.seen.kind == "integer",
        "step": number_of(unit),
        "tenth": Number(unit.scaleb(-1, context=EXACT)),
        "below": Number(farthest * unit + 1),
        "absent": None if clip.absent is None else Number(clip.absent),
        "least": Number(low),
        "most": Number(high),
        "at_least": Number(low * unit),
        "at_most": Number(high * unit),
        "low": Number(clip.low),
        "high": Number(clip.high),
    }


@frozen
class Quantity:
    """A number of each group beside the count of its people, with noise of a table of its own.

    It is the sum of a column's values less ``center`` each; without a center, of how many people
    there is a value, or of how many rows. Without a column every row has a value.
    """

    column: Column | None
    clip: Clip
    center: int | None
    table: IntegerTable

    def __post_init__(self) -> None:
        clip, read = self.clip, self.column
        if read is None:
            own = replace(ONE, rows=clip.rows)
            require(self.counts and clip == own, "rows that are counted have no ends")
        else:
            check_values(read, clip)
        inside = not self.center or clip.low <= self.center <= clip.high
        require(inside, "a center lies between the ends")
        require(not self.table.is_open, "a place is of a count")

    @property
    def counts(self) -> bool:
        """Whether it is how many values there are."""
        return self.center is None

    @property
    def moves(self) -> Moves:
        """By how much one person moves it."""
        return moves_of(self.clip, self.center)

    def nodes(self, number: int, value: int) -> Nodes:
        """What a template is given: the ``number``-th, of the ``value``-th values."""
        grain = self.moves.grain
        return {
            "value": Identifier(f"policy_engine_value_{value}"),
            "many": Identifier(f"policy_engine_many_{value}"),
            "hash": Identifier(f"policy_engine_hash_{number}"),
            "total": Identifier(f"policy_engine_total_{number}"),
            "counts": self.counts,
            "per": "rows" if self.column is None else self.clip.per,
            "is_full": self.clip.absent is not None,
            "center": Number(self.center) if self.center else None,
            "grain": Number(grain) if grain > 1 else None,
            **draws_of(self.table),
        }


@frozen
class Cut:
    """How many people a limit cuts: one number of the whole release, the same in each of its rows.

    Of all their groups, shown or not: who is in more ``groups`` than count, or has more ``rows`` in
    one of them; who has a value of the ``quantity`` beyond its ``bounds``, a row's, or a total or a
    mean in a group; or a row where it is ``missing``. One person moves it by one at most.
    """

    name: str
    of: Literal["groups", "rows", "bounds", "missing"]
    quantity: int = 0

    def check(self, quantities: tuple[Quantity, ...]) -> None:
        """Raise ClaimError unless there is such a limit."""
        of_values = self.of in ("bounds", "missing")
        held = [n for n, each in enumerate(quantities, 1) if not each.counts]
        require(
            self.quantity in (held if of_values else [0]), "a value that is cut is one measured"
        )
        by_row = any(each.clip.per == "row" for each in quantities)
        require(self.of != "rows" or by_row, "rows are cut where rows count")

    def nodes(self, number: int, value: Nodes | None) -> Nodes:
        """What a template is given: the ``number``-th, of a ``value`` as it is given."""
        return {
            "name": Identifier(self.name),
            "of": self.of,
            "value": value,
            "cut": Identifier(f"policy_engine_cut_{number}"),
            "hash": Identifier(f"policy_engine_cut_hash_{number}"),
        }


@frozen
class Measure:
    """A number that is shown beside a group's count: a quantity, or its mean.

    Quantities are numbered from 1. A sum is its quantity, and the center for each that there is; a
    mean is the center, and its quantity by how many there are, to the nearest unit, between the
    ends, and NULL where these are less than 1. How many is told by the quantity ``over``, or by the
    group's count, 0.
    """

    name: str
    quantity: int
    over: int | None = None
    is_mean: bool = False

    def check(self, quantities: tuple[Quantity, ...], *, one_each: bool) -> None:
        """Raise ClaimError unless it can be made of these; ``one_each``: of a row a person."""
        places = range(1, len(quantities) + 1)
        require(self.quantity in places, "a number is made of a quantity that is drawn")
        own = quantities[self.quantity - 1]
        if own.counts:
            require(not self.is_mean and self.over is None, "a count of rows is no mean")
            return
        needed = self.is_mean or own.center != 0
        require(needed == (self.over is not None), "a center is added as often as there are values")
        if self.over == 0:
            as_people = one_each or own.clip.per != "row"
            require(own.clip.absent is not None and as_people, "not everybody has a value")
        elif self.over is not None:
            require(self.over in places, "a number is made of a quantity that is drawn")
            many = quantities[self.over - 1]
            alike = (many.column, many.clip) == (own.column, own.clip)
            every = own.clip.absent is not None and own.clip.per == "row" and many.column is None
            fits = alike or (every and many.clip.rows == own.clip.rows)
            require(many.counts and fits, "a mean is over the values that are there")

    def nodes(self, number: int, quantities: tuple[Quantity, ...]) -> Nodes:
        """What a template is given: the ``number``-th."""
        own = quantities[self.quantity - 1]
        clip, center, over = own.clip, own.center or 0, self.over
        unit = Decimal(1) if own.counts else clip.unit
        people = Identifier("policy_engine_n")
        return {
            "name": Identifier(self.name),
            "total": Identifier(f"policy_engine_total_{self.quantity}"),
            "over": Identifier(f"policy_engine_total_{over}") if over else people,
            "above": Identifier(f"policy_engine_above_{number}"),
            "divisor": Identifier(f"policy_engine_divisor_{number}"),
            "is_mean": self.is_mean,
            "is_whole": places_of(unit) == 0,
            "is_coarse": unit != 1,
            "step": number_of(unit),
            "places": Number(places_of(unit)),
            "center": Number(center) if center else None,
            "starts": Number(clip.low) if clip.low else None,
            "width": Number(clip.high - clip.low),
            "above_low": Number(center - clip.low) if center > clip.low else None,
        }

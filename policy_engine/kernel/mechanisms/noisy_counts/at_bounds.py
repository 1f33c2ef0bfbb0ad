"""Which released numbers are what they would be if each value were at one of its bounds."""

from __future__ import annotations

from collections.abc import Sequence

from policy_engine.kernel.mechanisms.noisy_counts.intervals import Interval
from policy_engine.kernel.mechanisms.tables import Clip
from policy_engine.kernel.types import digits_of

_NEAR = 10
"""An interval that reaches a bound is near it if it ends within such a part of all that can be."""


def side(found: Interval, ends: Interval) -> int:
    """1 where an interval is at the upper end, -1 at the lower one, 0 at none or at both.

    >>> [side(found, (0, 3)) for found in ((2.9, 3), (0, 0.2), (2.9, 2.95), (1, 3))]
    [1, -1, 0, 0]
    """
    (low, high), near = ends, (ends[1] - ends[0]) / _NEAR
    if found[1] >= high and found[0] >= high - near:
        return 1
    return -1 if found[0] <= low and found[1] <= low + near else 0


def most_are(sides: Sequence[int | None]) -> int:
    """At which end most rows are; None is a row that says nothing.

    >>> most_are([1, 1, 0, None]), most_are([-1]), most_are([1, 0]), most_are([None])
    (1, -1, 0, 0)
    """
    told = [side for side in sides if side is not None]
    return next((end for end in (1, -1) if 2 * told.count(end) > len(told)), 0)


def at_bound(name: str, clip: Clip, end: int, where: str, number: str = "mean") -> str:
    """What it says that a sum, mean or quantile is at an end ``where`` most rows are.

    >>> print(at_bound("days", Clip(0, 3), 1, "6 of 6 rows").partition(":")[0])
    days is at or near 3, its upper bound, in 6 of 6 rows
    >>> print(at_bound("paid", Clip(5, 9, per="total"), -1, "all", "sum").partition(",")[0])
    paid is at or near 5 for each person
    """
    which, beyond, more = ("upper", "above", "higher") if end > 0 else ("lower", "below", "lower")
    bound = digits_of((clip.high if end > 0 else clip.low) * clip.unit)
    each, value = (
        ("value", "a value") if clip.per == "row" else ("person", f"a person's {clip.per}")
    )
    at = f"{bound} for each {each}" if number == "sum" else bound
    return (
        f"{name} is at or near {at}, its {which} bound, in {where}: if {value} can be {beyond}"
        f" {bound}, the bounds are probably too narrow and the true {number} is {more}"
    )

"""``public_groups: auto``: every combination of what a policy's recodes can give.

The domain is complete: whoever is counted is in one of its groups. NULL is in it wherever a recode
can give one, of a missing value, of one that a strict cast or a map sends there. The column of a
period alone is bounded by it, and never missing; the start of a week may lie before the period.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date, datetime, timedelta
from itertools import islice
from math import prod

from policy_engine.calendars import Calendar
from policy_engine.kernel import recodes
from policy_engine.kernel.claim import Shown
from policy_engine.kernel.mechanisms.pure import MOST_TUPLES, Key
from policy_engine.kernel.recodes.truncate.recode import UTC_NAME, Unit

_HOUR = timedelta(hours=1)


class NotPublic(Exception):
    """Not every group can be listed: why, and what to do."""


def all_groups(shown: Sequence[Shown], period: Shown | None) -> tuple[tuple[Key, ...], ...]:
    """Of each column all that it can show, NULL where it can; the groups are their product.

    Errors: NotPublic, with a law and a remedy, where a column does not tell, or there are too many.
    """
    lists = tuple(_values(each, period) for each in shown)
    if (many := prod(map(len, lists))) > MOST_TUPLES:
        sizes = " × ".join(
            f"{each.name} {len(own)}" for each, own in zip(shown, lists, strict=True)
        )
        law = f"must be at most {MOST_TUPLES:,} groups, found {many:,}: {sizes}"
        raise NotPublic(law, "take coarser recodes, or fewer columns")
    return lists


def _values(shown: Shown, period: Shown | None) -> tuple[Key, ...]:
    how = shown.recode
    if isinstance(how, recodes.Constant):
        return ((how.label,),)
    is_period = period is not None and shown.column == period.column
    if isinstance(how, recodes.Truncate) and how.zone == UTC_NAME and is_period:
        assert period is not None
        assert isinstance(period.recode, recodes.Bins)  # by the claim's law
        first, end = period.recode.cuts
        assert isinstance(first, date) and isinstance(end, date)
        starts = islice(starts_of(how.unit, first, end), MOST_TUPLES + 1)
        return tuple((start,) for start in starts)
    if not shown.values:
        law = f"is auto, and column {shown.name!r} does not say which values it can show"
        raise NotPublic(law, "recode it by bins or map, or list the groups")
    return tuple((label,) for label in shown.values)


def starts_of(unit: Unit, first: date, end: date) -> Iterator[date | str]:
    """The starts of all units of the calendar in which a moment from ``first`` to before ``end``
    lies, of weeks the names; the first may begin before it.

    >>> [*starts_of("week", date(2026, 10, 1), date(2026, 10, 13))]
    ['2026-W40', '2026-W41', '2026-W42']
    >>> [str(at) for at in starts_of("day", datetime(2026, 3, 1, 23), datetime(2026, 3, 3, 1))]
    ['2026-03-01 00:00:00', '2026-03-02 00:00:00', '2026-03-03 00:00:00']
    """
    if unit == "hour":
        assert isinstance(first, datetime)  # by the recode's law
        start = first.replace(minute=0, second=0, microsecond=0)
        while start < end:
            yield start
            start += _HOUR
        return
    is_moment, calendar = isinstance(first, datetime), Calendar(unit)
    unit_of_it = calendar.period(first.date() if isinstance(first, datetime) else first)
    while True:
        day = unit_of_it.first
        start_of_it = datetime(day.year, day.month, day.day) if is_moment else day
        if start_of_it >= end:
            return
        yield unit_of_it.name if unit == "week" else start_of_it
        unit_of_it = unit_of_it.next()

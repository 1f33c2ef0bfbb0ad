"""``public_groups: auto``: every combination of what a policy's recodes can give.

The domain is complete: whoever is counted is in one of its groups. NULL is in it wherever a recode
can give one, of a missing value, of one that a strict cast or a map sends there. No value is in it
that the conditions on its column, of the filter and the period, keep nobody with, nor the rest of a
map of both truth values. The column of a period is never missing; a week may begin before it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from datetime import date, datetime, timedelta
from itertools import islice
from math import prod
from typing import Any

from policy_engine.calendars import Calendar
from policy_engine.kernel import recodes
from policy_engine.kernel.claim import KEPT, Shown
from policy_engine.kernel.mechanisms.pure import MOST_TUPLES, Key
from policy_engine.kernel.recodes.truncate.recode import UTC_NAME, Unit
from policy_engine.kernel.types import Value

_HOUR = timedelta(hours=1)


class NotPublic(Exception):
    """Not every group can be listed: why, and what to do."""


def all_groups(
    shown: Sequence[Shown], period: Shown | None, conditions: Sequence[Shown] = ()
) -> tuple[tuple[Key, ...], ...]:
    """Of each column all that it can show, NULL where it can; the groups are their product.

    ``conditions`` are those of the filter.

    Errors: NotPublic, with a law and a remedy, where a column does not tell, or there are too many.
    """
    kept = (*conditions, *([] if period is None else [period]))
    lists = tuple(_values(each, period, kept) for each in shown)
    if (many := prod(map(len, lists))) > MOST_TUPLES:
        sizes = " × ".join(
            f"{each.name} {len(own)}" for each, own in zip(shown, lists, strict=True)
        )
        law = f"must be at most {MOST_TUPLES:,} groups, found {many:,}: {sizes}"
        raise NotPublic(law, "take coarser recodes, or fewer columns")
    return lists


def _values(shown: Shown, period: Shown | None, conditions: Sequence[Shown]) -> tuple[Key, ...]:
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
    own = [each for each in conditions if each.column == shown.column]
    return tuple((label,) for label in _with_whom(shown, own) or shown.values)


_BELOW = object()
"""A value below every cut, and one that is no key."""


def _with_whom(shown: Shown, conditions: Sequence[Shown]) -> tuple[str | None, ...]:
    """What a column shows of the values that all conditions on it keep, in the order of ``values``.

    Asked of one value of each kind: every key, every cut and one below, one that is no key.
    """
    lists = [each for each in conditions if _is_list(each)]
    alike = [each for each in conditions if type(each.recode) is type(shown.recode)]
    asked = [*lists, *alike]
    found = {shown.missing} if all(each.missing is not None for each in conditions) else set()
    for value in _points(shown, lists, alike):
        if all(_label(each.recode, value) == KEPT for each in asked):
            label = _label(shown.recode, value)
            found.add(shown.missing if label is None else label)
    return tuple(label for label in shown.values if label in found)


def _points(shown: Shown, lists: Sequence[Shown], alike: Sequence[Shown]) -> Sequence[object]:
    if shown.seen.kind == "boolean":
        return (True, False)
    if lists:
        return _members(lists[0].recode)
    every = [member for each in (shown, *alike) for member in _members(each.recode)]
    return (_BELOW, *every)


def _is_list(condition: Shown) -> bool:
    """Whether a condition keeps but some values, of a type in which they stand for themselves."""
    how, plain = condition.recode, condition.seen.kind in {"integer", "decimal", "date", "text"}
    return plain and isinstance(how, recodes.Map) and how.other != KEPT


def _members(how: recodes.Recode) -> tuple[Value, ...]:
    return how.keys if isinstance(how, recodes.Map) else getattr(how, "cuts", ())


def _label(how: recodes.Recode, value: Any) -> str | None:
    """What bins or a map show of a value."""
    if isinstance(how, recodes.Map):
        return next((label for keys, label in how.groups if value in keys), how.other)
    assert isinstance(how, recodes.Bins)
    place = 0 if value is _BELOW else bisect_right(how.cuts, value)
    return how.labels[place]


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

"""What ``truncate`` says of itself."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import date, datetime, time, timedelta
from typing import ClassVar

from policy_engine.calendars import Calendar
from policy_engine.kernel.recodes.bins.recode import Bins
from policy_engine.kernel.recodes.meaning import RecodeMeaning, Unfit
from policy_engine.kernel.recodes.truncate.recode import UTC_NAME, Truncate, Unit
from policy_engine.kernel.types import MOMENTS, Kind, Type, ValueRecode
from policy_engine.kernel.values_shown import MOMENT

_WEEK = re.compile("[0-9]{4}-W[0-9]{2}")
_LETTERS = {"year": 4, "month": 7}
"""Of so many letters of a day is the name of a unit."""
_SECONDS = {"day": 86_400, "hour": 3600}
_FIRST, _LAST = -62_135_596_800, 253_402_300_799
"""The years 1 to 9999, in seconds since 1970."""


class TruncateMeaning(RecodeMeaning[Truncate]):
    """The start of a unit of the calendar."""

    by_clocks: ClassVar[bool] = True

    @property
    def likely(self) -> Kind:
        """A moment, of a unit that a date has none or each of."""
        return "timestamp" if self.recode.unit in _SECONDS else "date"

    def between(self, first: date, end: date) -> Iterator[date | str] | None:
        """The starts of the units, by the clocks of UTC alone."""
        is_utc = self.recode.zone == UTC_NAME
        return starts_of(self.recode.unit, first, end) if is_utc else None

    def unfit(self, seen: Type, noun: str, written: str) -> Unfit | None:
        """What is no date or time; an hour of a date."""
        unit = self.recode.unit
        if seen.kind == "date" and unit == "hour":
            return Unfit(f"truncate: {unit} takes a time, found a date", "use day or more")
        if seen.kind in {"date", *MOMENTS}:
            return None
        wants = "timestamp" if unit == "hour" else "date"
        return Unfit(f"truncate takes a date or time, found {noun}", wants=wants)

    @property
    def in_short(self) -> str:
        """In few words."""
        return f"{self._what} its {self.recode.unit}{self._where}"

    def of(self, name: str, shown: str) -> str:
        """What becomes of a column."""
        return f"{self._what} the {self.recode.unit} of {name}{self._where}"

    @property
    def _what(self) -> str:
        return "the name of" if self.recode.unit == "week" else "the start of"

    @property
    def _where(self) -> str:
        """Whose clocks tell it, where that is not UTC."""
        return "" if self.recode.zone == UTC_NAME else f", in {self.recode.zone}"

    @property
    def released(self) -> str:
        """What a released column holds."""
        return f"{self.in_short}."

    def written(self) -> Mapping[str, object]:
        """What a policy writes for it."""
        return {"truncate": self.recode.unit}

    def why_parted(self, coarse: ValueRecode) -> str:
        """Of a unit that is not made of whole ones, or of bins that end within one."""
        unit = self.recode.unit
        if isinstance(coarse, Truncate) and coarse.zone == self.recode.zone:
            large = coarse.unit
            return "" if _lies_in(unit, large) else f"a {unit} is not within one {large}"
        if not isinstance(coarse, Bins):
            return super().why_parted(coarse)
        others = [cut for cut in coarse.cuts if not isinstance(cut, date) or not _starts(unit, cut)]
        return f"the cut {others[0]} is not where a {unit} begins" if others else ""

    def can_show(self, value: object) -> bool:
        """The name of a week; else the start of a unit, where it is the text of a moment."""
        if self.recode.unit == "week":
            return value is None or is_week(value)
        return not isinstance(value, str) or is_start_in_words(value, self.recode.unit)

    def label(self, value: object) -> str:
        """A unit by its name, as 2026, 2026-Q4 or 2026-11; of an hour by its start."""
        text = super().label(value)
        if not isinstance(value, date):
            return text
        if self.recode.unit == "quarter":
            return f"{text[:4]}-Q{(value.month + 2) // 3}"
        return text[: _LETTERS.get(self.recode.unit)]

    def is_moment(self, ticks: int, parts: int) -> bool:
        """Whether a unit starts then that is shown by its start."""
        return _is_start(ticks, parts, self.recode.unit)


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
            start += timedelta(hours=1)
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


def _lies_in(unit: Unit, large: Unit) -> bool:
    if "hour" in (unit, large):
        return large != "hour"
    return unit != large and Calendar(unit).divides(Calendar(large))


def _starts(unit: Unit, cut: date) -> bool:
    if isinstance(cut, datetime):
        whole_hour = cut == cut.replace(minute=0, second=0, microsecond=0)
        if unit == "hour" or not whole_hour:
            return whole_hour
        if cut.time() != time():
            return False
    match unit:
        case "week":
            return cut.isoweekday() == 1
        case "month":
            return cut.day == 1
        case "quarter":
            return cut.day == 1 and cut.month % 3 == 1
        case "year":
            return (cut.day, cut.month) == (1, 1)
    return True


def is_week(value: object) -> bool:
    """Whether it is the name of a week that there is, in the years 1 to 9999.

    >>> is_week("2026-W53"), is_week("2025-W53"), is_week("2026-W5")
    (True, False, False)
    """
    if not isinstance(value, str) or not _WEEK.fullmatch(value):
        return False
    try:
        date.fromisoformat(value)
    except ValueError:
        return False
    return True


def is_start_in_words(text: str, unit: str) -> bool:
    """Whether a moment is the start of its unit; True of one in other years than 1 to 9999.

    >>> is_start_in_words("2024-04-01 00:00:00+00", "quarter")
    True
    >>> is_start_in_words("2024-04-01 00:00:01", "quarter")
    False
    """
    found = MOMENT.fullmatch(text)
    if found is None:
        return True
    try:
        moment = datetime.fromisoformat(f"{found['day']} {found['time'] or '00:00:00'}+00:00")
    except ValueError:
        return False
    fraction = found["fraction"] or ""
    return not fraction.strip("0") and _is_start(int(moment.timestamp()), 1, unit)


def _is_start(ticks: int, parts: int, unit: str) -> bool:
    """Whether so many parts of a second after 1970 a unit starts, in the years 1 to 9999."""
    import numpy as np

    seconds, rest = divmod(ticks, parts)
    if rest or not _FIRST <= seconds <= _LAST:
        return False
    if unit in _SECONDS:
        return seconds % _SECONDS[unit] == 0
    moment = np.datetime64(seconds, "s")
    month = moment.astype("datetime64[M]")
    each = {"month": 1, "quarter": 3, "year": 12}.get(unit)
    is_first = bool(month.astype("datetime64[s]") == moment)
    return each is not None and is_first and int(month.astype(int)) % each == 0

"""Days, weeks, months, quarters and years, and what of them is due: dates and instants, no clock.

A period is a stretch of days of one calendar, and has a name: 2026-11-27, 2026-W48, 2026-11,
2026-Q4, 2026. Which instants it has is a matter of a zone, and of nothing else: the machine's own
zone and its own rules of zones are never asked, those of the package ``tzdata`` are, so that two
machines with one version of it agree.

*A day of a zone* goes from its first midnight to the first midnight of the next day. Where clocks
are put forward over midnight it begins with the first instant that there is, and where they are put
back over midnight it begins with the first of both. So the days of a zone meet without a gap: each
instant lies in just one day, and in just one period of each calendar. The times that clocks show a
second time, after they were put back over midnight, are of the later day; a day that a zone left
out has no instant.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from datetime import UTC, date, datetime, timedelta
from enum import Enum
from functools import lru_cache
from importlib.resources import files
from zoneinfo import ZoneInfo

from policy_engine.errors import DomainError, EnvironmentFailed
from policy_engine.values import frozen

_FIRST_YEAR = 1000
"""A name with four digits of year begins with another digit than 0."""
_DAY = timedelta(days=1)
_SECOND = timedelta(seconds=1)
_LONGEST_GAP = 26 * 3600
"""No zone has put its clocks forward by so many seconds at once."""
_LONGEST_WAIT = 3660
SKEW = timedelta(minutes=5)
"""The clocks of two machines that write one ledger may differ by so much."""
_NAMES = "2026-11-27, 2026-W48, 2026-11, 2026-Q4 or 2026"


class Calendar(Enum):
    """How long the periods are. A week is one of ISO 8601, from Monday on."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    QUARTER = "quarter"
    YEAR = "year"

    def divides(self, other: Calendar) -> bool:
        """Whether each period of the other is made of whole periods of this one.

        Days make up all others; weeks make up nothing but weeks.

        >>> [other.value for other in Calendar if Calendar.MONTH.divides(other)]
        ['month', 'quarter', 'year']
        >>> [other.value for other in Calendar if Calendar.WEEK.divides(other)]
        ['week']
        """
        if Calendar.WEEK in (self, other):
            return self in (Calendar.DAY, other)
        order = list(Calendar)
        return order.index(self) <= order.index(other)

    def most_in(self, window: Calendar) -> int:
        """How many periods of this calendar begin in one of another at most; at least 1.

        >>> [each.most_in(Calendar.YEAR) for each in Calendar]
        [366, 53, 12, 4, 1]
        >>> Calendar.DAY.most_in(Calendar.QUARTER), Calendar.YEAR.most_in(Calendar.MONTH)
        (92, 1)
        """
        months = {Calendar.MONTH: 1, Calendar.QUARTER: 3, Calendar.YEAR: 12}
        if self in months and window in months:
            return max(1, months[window] // months[self])
        days = {Calendar.DAY: 1, Calendar.WEEK: 7, Calendar.MONTH: 31,
                Calendar.QUARTER: 92, Calendar.YEAR: 366}  # fmt: skip
        return max(1, -(-days[window] // days[self]))

    def period(self, day: date) -> Period:
        """The period in which a day lies. Errors: DomainError before the year 1000.

        >>> Calendar.WEEK.period(date(2027, 1, 3)).name
        '2026-W53'
        """
        return Period(self, _first_day(self, day))

    def has(self, name: object) -> bool:
        """Whether a period of this calendar is named so.

        >>> Calendar.WEEK.has("2026-W53"), Calendar.WEEK.has("2025-W53")
        (True, False)
        """
        period = _parsed(name)
        return period is not None and period.calendar is self

    def parse(self, name: object, parameter: str = "period") -> Period:
        """The period of this calendar that is named so. Errors: DomainError for any other text.

        >>> Calendar.MONTH.parse("2026-02").last
        datetime.date(2026, 2, 28)
        >>> Calendar.MONTH.parse("2026-Q1", "from")
        Traceback (most recent call last):
        ...
        policy_engine.base_errors.DomainError: from must be a month, as 2026-11, found 2026-Q1
        """
        period = _parsed(name)
        if period is None or not self.has(name):
            law = f"a {self.value}, as {self.period(date(2026, 11, 27)).name}"
            raise DomainError(parameter, law, name)
        return period


@frozen
class Zone:
    """A zone of the IANA's list, by its name there. Errors: DomainError for any other.

    >>> Zone("Europe/Berlin").start_of(date(2026, 7, 1)).isoformat()
    '2026-06-30T22:00:00+00:00'
    """

    name: str = "UTC"

    def __post_init__(self) -> None:
        if self.name not in zone_names():
            raise DomainError("zone", "a name of the IANA's list, as Europe/Berlin", self.name)

    def start_of(self, day: date) -> datetime:
        """The first instant of a day, in UTC.

        >>> Zone("America/Havana").start_of(date(2024, 3, 10)).isoformat()  # 00:00 is 01:00
        '2024-03-10T05:00:00+00:00'
        """
        zone = _rules(self.name)
        midnight = datetime(day.year, day.month, day.day)
        start = midnight.replace(tzinfo=zone).astimezone(UTC)  # of two midnights the first
        if _shown(start, zone) == midnight:
            return start
        # There was no midnight: it begins where clocks were put forward, less than a gap before.
        low, high = 0, _LONGEST_GAP
        while high - low > 1:
            middle = (low + high) // 2
            if _shown(start - middle * _SECOND, zone) >= midnight:
                low = middle
            else:
                high = middle
        return start - low * _SECOND

    def told(self, instant: datetime) -> str:
        """An instant as the clocks of the zone show it, to the minute, and the zone.

        >>> Zone("Asia/Tokyo").told(datetime(2026, 11, 30, 15, tzinfo=UTC))
        '2026-12-01 00:00 (Asia/Tokyo)'
        """
        return f"{_shown(instant, _rules(self.name)).isoformat(' ', 'minutes')} ({self.name})"

    def day_of(self, instant: datetime) -> date:
        """The day in which an instant lies. Errors: DomainError of one without an offset.

        >>> Zone("Asia/Kathmandu").day_of(datetime(2026, 11, 27, 18, 15, tzinfo=UTC)).isoformat()
        '2026-11-28'
        """
        at = _instant("instant", instant)
        try:
            day = _shown(at, _rules(self.name)).date()
        except OverflowError:
            raise DomainError("instant", "in the years 1 to 9999 of its zone", instant) from None
        while at < self.start_of(day):
            day -= _DAY
        while day < date.max and at >= self.start_of(day + _DAY):
            day += _DAY
        return day


@frozen
class Period:
    """A stretch of days of one calendar, from its ``first`` day on.

    Errors: DomainError where no period of the calendar begins on that day, and before 1000.

    >>> month = Period.parse("2026-12")
    >>> month.name, month.last.isoformat(), month.next().name, month.previous().name
    ('2026-12', '2026-12-31', '2027-01', '2026-11')
    """

    calendar: Calendar
    first: date

    def __post_init__(self) -> None:
        if _first_day(self.calendar, self.first) != self.first:
            raise DomainError("first", f"the first day of a {self.calendar.value}", self.first)
        is_week = self.calendar is Calendar.WEEK
        year = self.first.isocalendar().year if is_week else self.first.year
        if year < _FIRST_YEAR:
            raise DomainError("period", f"of a year from {_FIRST_YEAR} to 9999", self.first)

    @classmethod
    def parse(cls, name: object, parameter: str = "period") -> Period:
        """The period of that name, of any calendar. Errors: DomainError for any other text.

        >>> Period.parse("2026-W53").first
        datetime.date(2026, 12, 28)
        >>> Period.parse("2025-W53", "--edition")
        Traceback (most recent call last):
        ...
        policy_engine.base_errors.DomainError: --edition must be a period, as 2026-11-27, 2026-W48, 2026-11, 2026-Q4 or 2026, found 2025-W53
        """  # noqa: E501
        period = _parsed(name)
        if period is None:
            raise DomainError(parameter, f"a period, as {_NAMES}", name)
        return period

    @property
    def name(self) -> str:
        """As people write it, and as ``parse`` reads it.

        >>> [calendar.period(date(2026, 11, 27)).name for calendar in Calendar]
        ['2026-11-27', '2026-W48', '2026-11', '2026-Q4', '2026']
        """
        first = self.first
        match self.calendar:
            case Calendar.DAY:
                return first.isoformat()
            case Calendar.WEEK:
                year, week, _ = first.isocalendar()
                return f"{year:04}-W{week:02}"
            case Calendar.MONTH:
                return f"{first.year:04}-{first.month:02}"
            case Calendar.QUARTER:
                return f"{first.year:04}-Q{(first.month + 2) // 3}"
            case Calendar.YEAR:
                return f"{first.year:04}"

    @property
    def last(self) -> date:
        """Its last day; of the last week of 9999 the last day that there is.

        >>> Period.parse("2028-02").last.isoformat(), Period.parse("9999-W52").last.isoformat()
        ('2028-02-29', '9999-12-31')
        """
        following = _day_after(self.calendar, self.first)
        return date.max if following is None else following - _DAY

    def start(self, zone: Zone) -> datetime:
        """Its first instant, in UTC.

        >>> Period.parse("2026-W48").start(Zone("Asia/Tokyo")).isoformat()
        '2026-11-22T15:00:00+00:00'
        """
        return zone.start_of(self.first)

    def end(self, zone: Zone) -> datetime | None:
        """The first instant after it, in UTC; None where that is in the year 10000.

        Guarantee: the start of the next one, so that periods neither meet nor leave a gap.

        >>> Period.parse("2026").end(Zone()).isoformat()
        '2027-01-01T00:00:00+00:00'
        """
        following = _day_after(self.calendar, self.first)
        return None if following is None else zone.start_of(following)

    def next(self) -> Period:
        """The one after it. Errors: DomainError after the last of 9999."""
        following = _day_after(self.calendar, self.first)
        if following is None:
            raise DomainError("period", "followed by another", self.name)
        return Period(self.calendar, following)

    def previous(self) -> Period:
        """The one before it. Errors: DomainError before the first of 1000."""
        return self.calendar.period(self.first - _DAY)

    def within(self, calendar: Calendar) -> Period:
        """The period of a calendar, the window of an account, to which this one belongs.

        That which contains it, wherever there is one. A week belongs where its Thursday lies, as in
        ISO 8601; and what is longer than a period of the calendar belongs where it ends.

        >>> week, year = Period.parse("2026-W53"), Period.parse("2026")
        >>> week.within(Calendar.YEAR).name, week.within(Calendar.MONTH).name
        ('2026', '2026-12')
        >>> year.within(Calendar.MONTH).name
        '2026-12'
        """
        if self.calendar is Calendar.WEEK and calendar is not Calendar.DAY:
            return calendar.period(self.first + 3 * _DAY)
        return calendar.period(self.last)


@frozen
class Due:
    """What a schedule asks for at one moment: ``editions``, the oldest first, and what comes next.

    ``following`` is due from ``on``, an instant in UTC; both are None after the year 9999.
    """

    editions: tuple[Period, ...]
    following: Period | None
    on: datetime | None


@frozen
class Refresh:
    """The whole source anew, once in each period, from its first instant on.

    What was not drawn while its period lasted is not due any more: the source is another one now.
    """

    every: Calendar

    def due(self, now: datetime, zone: Zone, drawn: Container[Period]) -> Due:
        """What is due now, if ``drawn`` stand.

        >>> noon = datetime(2026, 11, 27, 12, tzinfo=UTC)
        >>> due = Refresh(Calendar.MONTH).due(noon, Zone(), ())
        >>> [period.name for period in due.editions], due.following.name, due.on.date().isoformat()
        (['2026-11'], '2026-12', '2026-12-01')
        """
        current = self.every.period(zone.day_of(now))
        editions = () if current in drawn else (current,)
        on = current.end(zone)
        return Due(editions, None if on is None else current.next(), on)


@frozen
class Periods:
    """The rows of each period, once: from ``first`` on, when ``after`` days passed since its end.

    And once more when ``revised`` days have passed since then, where that is said.

    Errors: DomainError where ``after`` is no whole number from 0 to 3660, or ``revised`` none that
    is greater.
    """

    first: Period
    after: int = 0
    revised: int | None = None

    def __post_init__(self) -> None:
        if self.revised is not None and not self.after < self.revised <= _LONGEST_WAIT:
            law = f"more than {self.after} days, and at most {_LONGEST_WAIT}"
            raise DomainError("revised", law, repr(self.revised))
        if type(self.after) is not int or not 0 <= self.after <= _LONGEST_WAIT:
            law = f"a whole number of days from 0 to {_LONGEST_WAIT}"
            raise DomainError("after", law, repr(self.after))

    @property
    def every(self) -> Calendar:
        """How long they are."""
        return self.first.calendar

    def due(self, now: datetime, zone: Zone, drawn: Container[Period]) -> Due:
        """What is due now, if ``drawn`` stand: the oldest first.

        >>> schedule, noon = Periods(Period.parse("2026-08"), 10), datetime(2026, 11, 8, tzinfo=UTC)
        >>> due = schedule.due(noon, Zone("Europe/Berlin"), {Period.parse("2026-08")})
        >>> [period.name for period in due.editions], due.following.name, due.on.isoformat()
        (['2026-09'], '2026-10', '2026-11-10T23:00:00+00:00')
        """
        today, editions = zone.day_of(now), list[Period]()
        for period in _from(self.first):
            day = self.due_from(period)
            if day is None:
                break
            if day > today:
                return Due(tuple(editions), period, zone.start_of(day))
            if period not in drawn:
                editions.append(period)
        return Due(tuple(editions), None, None)

    def due_from(self, period: Period) -> date | None:
        """The day from whose start on it is due; None after the year 9999."""
        return _day_behind(period, self.after)

    def revised_from(self, period: Period, zone: Zone) -> datetime | None:
        """The instant from which on it is due anew; None where never, or after the year 9999.

        >>> schedule = Periods(Period.parse("2026-08"), 10, revised=90)
        >>> schedule.revised_from(Period.parse("2026-08"), Zone("Europe/Berlin")).isoformat()
        '2026-11-29T23:00:00+00:00'
        """
        day = None if self.revised is None else _day_behind(period, self.revised)
        return None if day is None else zone.start_of(day)


def _day_behind(period: Period, days: int) -> date | None:
    """The day from whose start on so many days have passed since a period; None in year 10000."""
    left = (date.max - period.last).days
    return None if left <= days else period.last + (1 + days) * _DAY


Schedule = Refresh | Periods


def moment(now: datetime, last: datetime | None) -> datetime:
    """The moment that counts: now, and never earlier than the last record of a ledger, in UTC.

    Errors: EnvironmentFailed where the clock went back, which is that it is behind that record by
    more than ``SKEW``; DomainError of an instant without an offset.

    >>> noon = datetime(2026, 11, 27, 12, tzinfo=UTC)
    >>> moment(noon, noon + timedelta(seconds=2)).isoformat()
    '2026-11-27T12:00:02+00:00'
    >>> moment(noon, noon + timedelta(days=1))
    Traceback (most recent call last):
    ...
    policy_engine.errors.EnvironmentFailed: the clock says 2026-11-27T12:00:00Z, and the ledger has a record of 2026-11-28T12:00:00Z: windows and editions are told by the time, which never goes back; set this machine's clock, and if it is right, wait until then
    """  # noqa: E501
    at = _instant("now", now)
    if last is None:
        return at
    before = _instant("last", last)
    if at < before - SKEW:
        said, known = (
            each.isoformat(timespec="seconds").replace("+00:00", "Z") for each in (at, before)
        )
        raise EnvironmentFailed(
            f"the clock says {said}, and the ledger has a record of {known}: windows and editions"
            " are told by the time, which never goes back; set this machine's clock, and if it is"
            " right, wait until then",
            of_setup=True,
            code="clock_went_back",
        )
    return max(at, before)


_FORMS = (
    re.compile(r"(?P<year>[1-9][0-9]{3})(-(?P<month>[0-9]{2})(-(?P<day>[0-9]{2}))?)?"),
    re.compile(r"(?P<year>[1-9][0-9]{3})-W(?P<week>[0-9]{2})"),
    re.compile(r"(?P<year>[1-9][0-9]{3})-Q(?P<quarter>[1-4])"),
)


def _parsed(name: object) -> Period | None:
    if not isinstance(name, str):
        return None
    found = next(filter(None, (form.fullmatch(name) for form in _FORMS)), None)
    if found is None:
        return None
    parts = {key: int(value) for key, value in found.groupdict().items() if value is not None}
    year = parts["year"]
    try:
        if "week" in parts:
            return Period(Calendar.WEEK, date.fromisocalendar(year, parts["week"], 1))
        if "quarter" in parts:
            return Period(Calendar.QUARTER, date(year, 3 * parts["quarter"] - 2, 1))
        if "day" in parts:
            return Period(Calendar.DAY, date(year, parts["month"], parts["day"]))
        if "month" in parts:
            return Period(Calendar.MONTH, date(year, parts["month"], 1))
    except ValueError:  # no such week, month or day
        return None
    return Period(Calendar.YEAR, date(year, 1, 1))


def _first_day(calendar: Calendar, day: date) -> date:
    match calendar:
        case Calendar.DAY:
            return day
        case Calendar.WEEK:
            return day - day.weekday() * _DAY
        case Calendar.MONTH:
            return day.replace(day=1)
        case Calendar.QUARTER:
            return date(day.year, day.month - (day.month - 1) % 3, 1)
        case Calendar.YEAR:
            return date(day.year, 1, 1)


def _day_after(calendar: Calendar, first: date) -> date | None:
    """The first day after the period that begins on a day; None in the year 10000."""
    try:
        match calendar:
            case Calendar.DAY:
                return first + _DAY
            case Calendar.WEEK:
                return first + 7 * _DAY
            case Calendar.MONTH:
                return _months_later(first, 1)
            case Calendar.QUARTER:
                return _months_later(first, 3)
            case Calendar.YEAR:
                return _months_later(first, 12)
    except (OverflowError, ValueError):
        return None


def _months_later(first: date, months: int) -> date:
    number = 12 * first.year + first.month - 1 + months
    return date(number // 12, number % 12 + 1, 1)


def _from(first: Period) -> Iterator[Period]:
    """A period and all after it."""
    period: Period | None = first
    while period is not None:
        yield period
        following = _day_after(period.calendar, period.first)
        period = None if following is None else Period(period.calendar, following)


def _instant(parameter: str, instant: datetime) -> datetime:
    """The same instant in UTC; DomainError of a time that is none, for it has no offset."""
    if instant.utcoffset() is None:
        raise DomainError(parameter, "a time with an offset", instant)
    return instant.astimezone(UTC)


def _shown(instant: datetime, zone: ZoneInfo) -> datetime:
    """What the clocks of a zone show at an instant."""
    return instant.astimezone(zone).replace(tzinfo=None, fold=0)


@lru_cache(maxsize=1)
def zone_names() -> frozenset[str]:
    """The names of all zones."""
    return frozenset((files("tzdata") / "zones").read_text(encoding="utf-8").split())


@lru_cache(maxsize=16)
def _rules(name: str) -> ZoneInfo:
    """The rules of a zone as the package has them, and not as the machine does."""
    with (files("tzdata") / "zoneinfo").joinpath(*name.split("/")).open("rb") as file:
        return ZoneInfo.from_file(file, key=name)

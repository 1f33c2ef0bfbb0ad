"""Periods against what calendars and clocks are known to be, and what is due against counting."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, date, datetime, timedelta
from importlib.resources import files
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.calendars import SKEW, Calendar, Period, Periods, Refresh, Zone, moment
from policy_engine.errors import DomainError, EnvironmentFailed

DAY, WEEK, MONTH, QUARTER, YEAR = Calendar
BERLIN = Zone("Europe/Berlin")
#: Half hours, seconds, days left out or met twice, midnights that are not there or are twice.
ODD = (
    "UTC", "Europe/Berlin", "America/Havana", "America/Sao_Paulo", "America/St_Johns",
    "Asia/Beirut", "Asia/Kathmandu", "Asia/Manila", "Africa/Monrovia", "America/Toronto",
    "Australia/Lord_Howe", "Europe/Amsterdam", "Pacific/Apia", "Pacific/Chatham",
    "Pacific/Kwajalein", "America/Juneau",
)  # fmt: skip

days = st.dates(date(1000, 1, 1), date.max)
periods = st.builds(Calendar.period, st.sampled_from(Calendar), days)


def at(text: str) -> datetime:
    return datetime.fromisoformat(text)


@given(periods)
def test_a_name_is_read_back(period):
    assert Period.parse(period.name) == period == period.calendar.parse(period.name)


@given(st.sampled_from(Calendar), days)
def test_a_day_lies_in_its_period_and_in_no_other(calendar, day):
    period = calendar.period(day)
    assert period.first <= day <= period.last
    assert calendar.period(period.first) == calendar.period(period.last) == period


@given(periods.filter(lambda period: period.last < date.max))
def test_one_period_begins_when_the_one_before_has_ended(period):
    following = period.next()
    assert following.first == period.last + timedelta(1) and following.previous() == period
    assert period.end(BERLIN) == following.start(BERLIN)


@pytest.mark.parametrize(
    "name",
    [
        "", "26", "0999", "2026-13", "2026-00", "2026-1", "2026-02-29", "2026-11-31", "2026-W54",
        "2025-W53", "2026-W00", "2026-w48", "2026-Q0", "2026-Q5", "2026-q4", " 2026", "2026\n",
        "2026-11-27T00", "20261127", "2026/11", "+2026", "10000", "2026-W48-1", "2026-٠1", "٢٠٢٦",
        "november 2026", "{{ edition }}", "2026-11-", None, 2026, 2026.5, date(2026, 11, 27),
    ],
)  # fmt: skip
def test_what_is_no_name_of_a_period_is_refused(name):
    with pytest.raises(DomainError, match="must be a period, as 2026-11-27, 2026-W48, 2026-11"):
        Period.parse(name)


def test_a_calendar_refuses_the_names_of_others():
    for calendar in Calendar:
        for other in Calendar:
            name = other.period(date(2026, 11, 27)).name
            if other is calendar:
                assert calendar.parse(name).name == name
            else:
                with pytest.raises(DomainError, match=f"from must be a {calendar.value}, as "):
                    calendar.parse(name, "from")


def test_a_period_begins_where_its_calendar_says():
    with pytest.raises(DomainError, match="first must be the first day of a month"):
        Period(MONTH, date(2026, 11, 2))
    with pytest.raises(DomainError, match="from 1000 to 9999"):
        YEAR.period(date(999, 12, 31))


@pytest.mark.parametrize(
    ("day", "week"),
    [
        ("2026-12-31", "2026-W53"), ("2027-01-03", "2026-W53"), ("2027-01-04", "2027-W01"),
        ("2024-12-30", "2025-W01"), ("2021-01-03", "2020-W53"), ("2018-12-31", "2019-W01"),
        ("1000-01-01", "1000-W01"), ("9999-12-31", "9999-W52"),
    ],
)  # fmt: skip
def test_weeks_over_the_new_year(day, week):
    assert WEEK.period(date.fromisoformat(day)).name == week


def test_leap_days():
    assert MONTH.parse("2028-02").last == date(2028, 2, 29)
    assert MONTH.parse("2100-02").last == date(2100, 2, 28)
    assert MONTH.parse("2000-02").last == date(2000, 2, 29)
    assert DAY.parse("2028-02-29").next().name == "2028-03-01"
    assert (YEAR.parse("2028").last - YEAR.parse("2028").first).days == 365


def test_the_end_of_the_years():
    for name in ("9999", "9999-Q4", "9999-12", "9999-W52", "9999-12-31"):
        period = Period.parse(name)
        assert period.last == date.max and period.end(BERLIN) is None
        with pytest.raises(DomainError, match="followed by another"):
            period.next()
    assert Period.parse("9999-11").end(BERLIN) == at("9999-11-30T23:00+00:00")
    assert Zone("Pacific/Apia").start_of(date.max) == at("9999-12-30T11:00+00:00")
    with pytest.raises(DomainError, match="in the years 1 to 9999 of its zone"):
        BERLIN.day_of(at("9999-12-31T23:30+00:00"))
    assert Zone("America/Lima").day_of(at("9999-12-31T23:30+00:00")) == date.max


@pytest.mark.parametrize(
    ("zone", "day", "start", "hours"),
    [
        ("Europe/Berlin", "2026-03-29", "2026-03-28T23:00", 23),
        ("Europe/Berlin", "2026-10-25", "2026-10-24T22:00", 25),
        ("America/Havana", "2024-03-10", "2024-03-10T05:00", 23),  # no midnight: 01:00 comes first
        ("America/Havana", "2024-11-03", "2024-11-03T04:00", 25),  # midnight twice
        ("America/Sao_Paulo", "2018-11-04", "2018-11-04T03:00", 23),
        ("America/Sao_Paulo", "2018-02-17", "2018-02-17T02:00", 25),
        ("Australia/Lord_Howe", "2026-04-05", "2026-04-04T13:00", 24.5),
        ("Asia/Kathmandu", "2026-11-28", "2026-11-27T18:15", 24),
        ("Pacific/Apia", "2011-12-30", "2011-12-30T10:00", 0),  # left out
        ("Pacific/Kwajalein", "1969-09-30", "1969-09-29T13:00", 47),  # twice
        ("America/Toronto", "1919-03-31", "1919-03-31T04:30", 23.5),  # from 23:30 to 00:30
        ("Africa/Monrovia", "1960-01-01", "1960-01-01T00:44:30", 24),
    ],
)  # fmt: skip
def test_nights_on_which_clocks_are_put(zone, day, start, hours):
    period = DAY.parse(day)
    assert period.start(Zone(zone)) == at(f"{start}+00:00")
    assert period.end(Zone(zone)) - period.start(Zone(zone)) == timedelta(hours=hours)


@given(st.sampled_from(ODD), st.datetimes(datetime(1840, 1, 1), datetime(2040, 1, 1)))
def test_an_instant_lies_in_one_day_of_a_zone(name, instant):
    zone, instant = Zone(name), instant.replace(tzinfo=UTC)
    period = DAY.period(zone.day_of(instant))
    assert period.start(zone) <= instant < period.end(zone)


@given(st.sampled_from(ODD), st.dates(date(1840, 1, 1), date(2040, 1, 1)))
def test_days_of_a_zone_follow_each_other(name, day):
    zone = Zone(name)
    start, following = zone.start_of(day), zone.start_of(day + timedelta(1))
    assert start <= following
    with (files("tzdata") / "zoneinfo" / name).open("rb") as file:
        rules = ZoneInfo.from_file(file)
    shown = start.astimezone(rules).replace(tzinfo=None)
    before = (start - timedelta(seconds=1)).astimezone(rules).replace(tzinfo=None)
    midnight = datetime.combine(day, datetime.min.time())
    assert before < midnight <= shown  # the first instant on which clocks show the day, or a later


def test_each_zone_of_the_package_has_days():
    day = date(2026, 11, 27)
    for name in (files("tzdata") / "zones").read_text().split():
        zone = Zone(name)
        assert zone.day_of(zone.start_of(day)) == day
        assert zone.day_of(zone.start_of(day) - timedelta(microseconds=1)) == date(2026, 11, 26)


@pytest.mark.parametrize(
    "name", ["", "europe/berlin", "Berlin", "CEST", "../UTC", "/etc/localtime"]
)
def test_what_is_no_zone_is_refused(name):
    with pytest.raises(DomainError, match="zone must be a name of the IANA's list"):
        Zone(name)


def test_the_machines_zone_and_its_rules_are_not_asked(tmp_path):
    """With another zone of the machine, and with rules of zones that are no rules at all."""
    (tmp_path / "Europe").mkdir()
    (tmp_path / "Europe/Berlin").write_bytes(b"no rules")
    code = (
        "from policy_engine.calendars import *; from datetime import *;"
        "print(Zone('Europe/Berlin').start_of(date(2026, 7, 1)).isoformat(),"
        " Zone().day_of(datetime(2026, 7, 1, 23, tzinfo=UTC)))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"TZ": zone, "PYTHONTZPATH": str(tmp_path)},
            capture_output=True, check=True, text=True,
        ).stdout
        for zone in ("UTC", "Pacific/Kiritimati")
    }  # fmt: skip
    assert outputs == {"2026-06-30T22:00:00+00:00 2026-07-01\n"}


def test_a_calendar_divides_another_where_its_periods_make_up_the_others():
    first, last = date(2018, 1, 1), date(2046, 1, 1)
    for one in Calendar:
        for other in Calendar:
            met = [other.period(first + timedelta(n)) for n in range((last - first).days)]
            starts = {one.period(p.first).first == p.first for p in met}
            ends = {one.period(p.last).last == p.last for p in met}
            assert one.divides(other) == (starts == ends == {True})


@given(periods.filter(lambda period: period.first.year > 1000), st.sampled_from(Calendar))
def test_a_period_belongs_to_the_one_that_contains_it(period, calendar):
    window = period.within(calendar)
    assert window.calendar is calendar
    if period.calendar.divides(calendar):
        assert window.first <= period.first and period.last <= window.last
    else:
        assert period.first <= window.last <= period.last or window.first <= period.last


def test_a_week_belongs_where_its_thursday_lies():
    for name, year, month in [
        ("2026-W53", "2026", "2026-12"), ("2025-W01", "2025", "2025-01"),
        ("2026-W27", "2026", "2026-07"), ("2026-W40", "2026", "2026-10"),
    ]:  # fmt: skip
        week = WEEK.parse(name)
        assert (week.within(YEAR).name, week.within(MONTH).name) == (year, month)


def test_what_is_due_of_periods_is_what_has_ended_and_waited():
    schedule = Periods(MONTH.parse("2026-01"), 10)
    day, drawn = date(2026, 1, 1), set()
    while day < date(2027, 6, 1):
        now = datetime.combine(day, datetime.min.time(), UTC)
        due = schedule.due(now, Zone(), drawn)
        ripe = [
            f"{2026 + n // 12}-{n % 12 + 1:02}"
            for n in range(24)
            if date(2026 + (n + 1) // 12, (n + 1) % 12 + 1, 11) <= day
        ]
        assert [p.name for p in due.editions] == [n for n in ripe if MONTH.parse(n) not in drawn]
        assert due.following == schedule.due(due.on - SKEW, Zone(), drawn).following
        assert due.following in schedule.due(due.on, Zone(), drawn).editions
        if day.day == 20 and due.editions:
            drawn.add(due.editions[0])
        day += timedelta(1)
    assert not schedule.due(now, Zone(), drawn | {MONTH.parse(n) for n in ripe}).editions


def test_a_period_is_due_from_an_instant_of_its_zone_on():
    schedule, end = Periods(DAY.parse("2026-03-28")), at("2026-03-28T23:00+00:00")
    assert not schedule.due(end - timedelta(microseconds=1), BERLIN, ()).editions
    assert [p.name for p in schedule.due(end, BERLIN, ()).editions] == ["2026-03-28"]
    assert schedule.due(end, BERLIN, ()).on == at("2026-03-29T22:00+00:00")


def test_nothing_is_due_before_the_first_and_nothing_follows_the_last():
    schedule = Periods(YEAR.parse("9998"), 30)
    due = schedule.due(at("2026-11-27T00:00+00:00"), BERLIN, ())
    assert due.editions == () and due.following == YEAR.parse("9998")
    due = schedule.due(at("9999-02-01T00:00+00:00"), BERLIN, ())
    assert due.editions == (YEAR.parse("9998"),) and due.following is due.on is None


@pytest.mark.parametrize("after", [-1, 3661, 1.5, True, "10d"])
def test_what_is_no_number_of_days_to_wait_is_refused(after):
    with pytest.raises(DomainError, match="after must be a whole number of days"):
        Periods(MONTH.parse("2026-01"), after)


def test_a_refresh_is_of_the_period_that_lasts_and_of_no_other():
    schedule = Refresh(WEEK)
    now = at("2026-12-28T00:30+01:00")
    due = schedule.due(now, BERLIN, {WEEK.parse("2026-W52")})
    assert [p.name for p in due.editions] == ["2026-W53"]
    assert due.following.name == "2027-W01" and due.on == at("2027-01-03T23:00+00:00")
    assert schedule.due(now, Zone(), ()).editions == (WEEK.parse("2026-W52"),)
    assert schedule.due(now, BERLIN, due.editions).editions == ()
    last = schedule.due(at("9999-12-30T00:00+00:00"), Zone(), ())
    assert last.editions == (WEEK.parse("9999-W52"),) and last.following is last.on is None


def test_a_clock_that_went_back_is_refused():
    last = at("2026-11-28T12:00+01:00")
    assert moment(last, None) == last
    assert moment(last + SKEW, last) == last + SKEW
    assert moment(last - SKEW, last) == last
    assert moment(last - SKEW, last).tzinfo is UTC
    with pytest.raises(
        EnvironmentFailed, match="says 2026-11-28T10:54:59Z, and the ledger"
    ) as error:
        moment(last - SKEW - timedelta(seconds=1), last)
    assert (error.value.code, error.value.of_setup) == ("clock_went_back", True)


def test_a_time_without_an_offset_is_none():
    naive = datetime(2026, 11, 27)
    for ask in (lambda: moment(naive, None), lambda: moment(at("2026-11-27T00:00Z"), naive)):
        with pytest.raises(DomainError, match="a time with an offset"):
            ask()
    with pytest.raises(DomainError, match="instant must be a time with an offset"):
        BERLIN.day_of(naive)


def test_a_period_is_due_anew_so_many_days_after_its_end():
    schedule = Periods(Period.parse("2026-09"), 10, revised=31)
    # The clocks of Berlin are put back on 25 October: the day begins by the other time.
    assert schedule.revised_from(Period.parse("2026-09"), Zone("Europe/Berlin")) == datetime(
        2026, 10, 31, 23, tzinfo=UTC
    )
    assert Periods(Period.parse("2026-09")).revised_from(Period.parse("2026-09"), Zone()) is None
    assert schedule.revised_from(Period.parse("9999-12"), Zone()) is None
    for revised in (10, 3661):
        with pytest.raises(DomainError, match="more than 10 days"):
            Periods(Period.parse("2026-09"), 10, revised)

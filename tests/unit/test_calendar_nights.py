"""A scheduler's years in zones of all kinds: each period once, none too early, none left out."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from random import Random
from zoneinfo import ZoneInfo

import pytest

from policy_engine.calendars import Calendar, Period, Periods, Refresh, Zone, moment
from policy_engine.errors import EnvironmentFailed

#: Clocks put at midnight, by half an hour, across the date line, and by a rule of their own.
ZONES = ("UTC", "Europe/Berlin", "America/Havana", "Australia/Lord_Howe", "Pacific/Apia",
         "Asia/Kathmandu", "America/St_Johns", "Africa/Cairo", "America/Sao_Paulo")  # fmt: skip
#: A leap day, a week 53 over new year, the day that Samoa left out, two changes of clocks.
STARTS = (date(2024, 2, 20), date(2020, 12, 20), date(2011, 12, 20), date(2018, 10, 25),
          date(2026, 3, 25))  # fmt: skip


def runs(random: Random, start: date) -> list[datetime]:
    """When a scheduler comes: most nights, some twice, some not at all, never in order of hours."""
    at, found = datetime(start.year, start.month, start.day, tzinfo=UTC), []
    for _ in range(25):
        at += timedelta(seconds=random.choice([60, 3_600, 43_000, 86_400, 90_000, 260_000]))
        found.append(at)
    return found


def local(zone: str, at: datetime) -> date:
    return at.astimezone(ZoneInfo(zone)).date()


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("start", STARTS, ids=str)
@pytest.mark.parametrize("every", list(Calendar), ids=lambda each: each.value)
def test_each_period_is_drawn_once_when_its_days_have_passed(zone, start, every):
    random = Random(f"{zone} {start} {every}")
    after = random.choice([0, 1, 3])
    revised = after + random.choice([1, 5, 20])
    schedule = Periods(every.period(start - timedelta(40)), after, revised)
    first = schedule.first
    drawn: dict[Period, datetime] = {}
    anew: dict[Period, datetime] = {}
    for at in runs(random, start):
        today = local(zone, at)
        found = schedule.due(at, Zone(zone), drawn)
        assert list(found.editions) == sorted(found.editions, key=lambda each: each.first)
        for period in found.editions:
            assert period.last + timedelta(1 + after) <= today
            drawn[period] = at
        for period, since in drawn.items():
            instant = schedule.revised_from(period, Zone(zone))
            if period not in anew and since < instant <= at:
                assert period.last + timedelta(1 + revised) <= today
                anew[period] = at
        assert found.following not in drawn
        assert at < found.on and local(zone, found.on) > today
        # Nothing that is due is left out: all from the first to the one before what follows.
        assert {*drawn} == {*_between(first, found.following)}
    # Drawn anew is what was drawn before its days had passed, and nothing else.
    for period, since in drawn.items():
        instant = schedule.revised_from(period, Zone(zone))
        assert (period in anew) == (since < instant <= at)


def _between(first: Period, end: Period) -> list[Period]:
    found, period = [], first
    while period != end:
        found.append(period)
        period = period.next()
    return found


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("start", STARTS, ids=str)
@pytest.mark.parametrize("every", list(Calendar), ids=lambda each: each.value)
def test_a_refresh_is_drawn_once_in_each_period_in_which_somebody_comes(zone, start, every):
    random, drawn = Random(f"{start} {every} {zone}"), []
    times = runs(random, start)
    for at in times:
        for period in Refresh(every).due(at, Zone(zone), drawn).editions:
            assert period.first <= local(zone, at) <= period.last
            drawn.append(period)
    assert drawn == list(dict.fromkeys(every.period(local(zone, at)) for at in times))


@pytest.mark.parametrize("start", STARTS, ids=str)
def test_a_clock_that_jumps_back_is_refused_or_moves_nothing(start):
    """What counts never goes back, whatever the machine's clock shows."""
    random, last = Random(str(start)), None
    at = datetime(start.year, start.month, start.day, tzinfo=UTC)
    for _ in range(200):
        at += timedelta(seconds=random.choice([1, 30, 4_000, -1, -2, -30, -7_200]))
        try:
            counts = moment(at, last)
        except EnvironmentFailed as refused:
            assert refused.code == "clock_went_back" and at < last
            at = last
            continue
        assert last is None or counts >= last
        last = counts

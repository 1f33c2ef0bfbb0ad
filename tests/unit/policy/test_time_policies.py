"""Schedules, windows and plans as they are written: what they mean, refuse, and wait for."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from policy_engine.calendars import Calendar, Period, Periods, Refresh, Zone
from policy_engine.errors import PolicyError
from policy_engine.policy.models import PolicyDocument
from policy_engine.policy.project import load_project_text
from policy_engine.policy.project_models import ProjectDocument
from policy_engine.policy.reading import read_document
from policy_engine.policy.time_models import EditionsSpec
from policy_engine.policy.timing import (
    PeriodOf,
    PlannedPolicy,
    WindowTerms,
    most_editions,
    place_of,
    schedule_of,
    schedule_words,
    windows_of,
)

PERIOD = 'period: {column: visit_date, every: month, from: "2026-01", after: 10d}'


IN_PLACE = "release: {file: 'out/{edition}.parquet'}"


def _placed(lines):
    """A policy's lines: one that has a period has a place for each of them."""
    return {"release": IN_PLACE, **lines} if "period" in lines else lines


@pytest.fixture
def document(text):
    return lambda **lines: read_document(
        text(**_placed(lines)), Path("p.yaml"), PolicyDocument, "policy"
    ).result()


def account(said):
    reading = read_document(
        f"accounts:\n  patients: {{{said}}}\n",
        Path("policy-engine.yaml"),
        ProjectDocument,
        "project",
    )
    return windows_of(reading.result().accounts["patients"])


def wrong_account(said):
    with pytest.raises(PolicyError) as caught:
        account(said)
    start = "policy-engine.yaml:2:"
    return [str(each).removeprefix(start).partition(": ")[2] for each in caught.value.problems]


def test_a_policy_says_when_it_is_due(document):
    assert schedule_of(document()) is None
    assert schedule_of(document(refresh="refresh: {every: week}")) == Refresh(Calendar.WEEK)
    schedule = schedule_of(document(period=PERIOD))
    assert schedule == PeriodOf("visit_date", Periods(Period.parse("2026-01"), 10))
    now = datetime(2026, 3, 11, tzinfo=UTC)
    due = schedule.periods.due(now, Zone(), ())
    assert [period.name for period in due.editions] == ["2026-01", "2026-02"]


def test_a_policy_says_when_it_is_drawn_anew(document):
    schedule = schedule_of(document(period=PERIOD, revise="revise: {after: 90d}"))
    assert schedule.periods == Periods(Period.parse("2026-01"), 10, 90)
    assert "10 days after its end, and anew 90 days after it" in schedule_words(schedule)
    year = WindowTerms(Calendar.YEAR)
    of_each = WindowTerms(Calendar.MONTH, "visit_date")
    assert (most_editions(schedule, year), most_editions(schedule, of_each)) == (24, 2)


@pytest.mark.parametrize(
    ("every", "first"),
    [("day", "2026-01-31"), ("week", "2026-W53"), ("quarter", "2026-Q4"), ("year", "2026")],
)
def test_the_first_period_is_one_of_its_calendar(document, every, first):
    said = f'period: {{column: d, every: {every}, from: "{first}"}}'
    assert schedule_of(document(period=said)).periods == Periods(Period.parse(first))


def test_a_guarantee_may_follow_from_an_account(document):
    assert document(guarantee="guarantee: planned").guarantee == "planned"
    said = document(guarantee="guarantee: {editions: 12, neighbours: replace_one}").guarantee
    assert said == EditionsSpec(editions=12, neighbours="replace_one")


def test_the_place_of_an_edition(document):
    release = "release: {file: 'out/visits/edition={edition}/part.parquet'}"
    said = document(release=release, period=PERIOD).release
    assert place_of(said.file, "2026-W05").endswith("edition=2026-W05/part.parquet")
    said = document(release="release: {table: mart.visits, append: true}", period=PERIOD).release
    assert said.append and place_of(said.table, "2026") == "mart.visits"


BROKEN = [
    ({"refresh": "refresh: month"}, [
        "9:10: refresh must be a mapping, found 'month'; as in refresh: {every: month}"]),
    ({"refresh": "refresh: {every: fortnight}"}, [
        "9:18: refresh.every must be day, week, month, quarter or year, found 'fortnight'"]),
    ({"refresh": "refresh: {}"}, ["9:1: refresh.every is missing"]),
    ({"refresh": "refresh: {every: month, from: '2026-01'}"}, [
        "9:25: refresh.from is an unknown key; allowed here: every"]),
    ({"refresh": "refresh: {every: month}", "period": PERIOD}, [
        "10:1: period must not stand beside refresh: a period is released once, and not anew; keep"
        " one of them"]),
    ({"period": "period: {every: month}"}, [
        "9:1: period.column is missing", "9:1: period.from is missing"]),
    ({"period": "period: {column: d, every: month, from: '2026-13'}"}, [
        "9:41: period.from must be a month, as 2026-11, found '2026-13'"]),
    ({"period": "period: {column: d, every: week, from: '2025-W53'}"}, [
        "9:40: period.from must be a week, as 2026-W48, found '2025-W53'"]),
    ({"period": "period: {column: d, every: year, from: 2026}"}, [
        "9:40: period.from must be text, found 2026; put it in quotes"]),
    ({"period": "period: {column: d, every: day, from: '2026-01-01', after: 10}"}, [
        "9:60: period.after must be a number of days from 0d to 3660d, found 10; as in 10d"]),
    ({"period": "period: {column: d, every: day, from: '2026-01-01', after: 3661d}"}, [
        "9:60: period.after must be a number of days from 0d to 3660d, found '3661d'; as in 10d"]),
    ({"revise": "revise: {after: 90d}"}, [
        "9:1: revise is of a period, whose late rows it is for, and there is none; write period, or"
        " remove it: the whole table anew is refresh"]),
    ({"period": PERIOD, "revise": "revise: {after: 10d}"}, [
        "10:17: revise.after must be more than period.after, 10d, found 10d; no edition would be"
        " drawn before that"]),
    ({"period": PERIOD, "revise": "revise: {after: 3 months}"}, [
        "10:17: revise.after must be a number of days from 1d to 3660d, found '3 months'; as in"
        " 90d"]),
    ({"guarantee": "guarantee: {editions: 0}"}, [
        "7:23: guarantee.editions must be at least 1, found 0"]),
    ({"guarantee": "guarantee: {editions: 12, epsilon: 1}"}, [
        "7:27: guarantee.epsilon is an unknown key; allowed here: editions, neighbours"]),
    ({"release": "release: {file: 'out/{edition}.parquet'}"}, [
        "8:17: release.file has {edition}, and the policy has neither refresh nor period; add"
        " one of them, or leave it out"]),
    ({"release": "release: {file: 'out/{month}.parquet'}", "period": PERIOD}, [
        "8:17: release.file has {month}, and nothing but {edition} is filled in; write {edition},"
        " or leave it out"]),
    ({"release": "release: {file: 'out/{{ month }}.parquet'}"}, [
        "8:17: release.file has {{ or {%, and nothing in a policy is a template: it is read as it"
        " stands; write the value itself, or let a program of yours write the policy's file"]),
    ({"release": "release: {file: out/last.parquet}", "period": PERIOD}, [
        "8:17: release.file has no {edition}, so that each period would take the place of the last;"
        ' as in "out/visits-{edition}.parquet"']),
    ({"release": "release: {table: visits}", "period": PERIOD}, [
        "8:18: release.table has no {edition}, so that each period would take the place of the"
        ' last; as in "visits_{edition}", or add append: true']),
    ({"release": "release: {table: 't', append: true}"}, [
        "8:23: release.append is of several editions, and the policy has neither refresh nor"
        " period; add one of them, or leave it out"]),
    ({"release": "release: {file: a/b.parquet, append: true}", "period": PERIOD}, [
        "8:30: release.append is of a table, and this is a file; a folder gets one more file by"
        " file: out/edition={edition}/part.parquet"]),
    ({"release": "release: {table: 't_{edition}', append: true}", "period": PERIOD}, [
        "8:33: release.append adds all editions to one table, and its name has {edition}; keep one"
        " of them"]),
    ({"period": "period: {column: '{{ col }}', every: month, from: '2026-01'}"}, [
        "9:18: period.column has {{ or {%, and nothing in a policy is a template: it is read as it"
        " stands; write the value itself, or let a program of yours write the policy's file"]),
]  # fmt: skip


@pytest.mark.parametrize(("lines", "expected"), BROKEN)
def test_what_is_no_schedule_is_told(problems, lines, expected):
    found = problems(**_placed(lines))
    assert [each for each in found if "is understood" not in each] == expected


def test_a_planned_answer_by_chance_has_the_notion_of_its_account(problems):
    found = problems(
        mechanism="mechanism: randomised_response", sample="", k="",
        recode="recode: {age: {map: {a: b}, other: c}}", guarantee="guarantee: planned",
    )  # fmt: skip
    assert len(found) == 1 and "guarantee follows from the limit of an account" in found[0]


def test_an_account_says_what_its_windows_are_for():
    limit = "epsilon: 1.0, delta: 1.0e-6"
    assert account(limit) == WindowTerms()
    assert account(f"{limit}, each: month, of: visit_date") == WindowTerms(
        Calendar.MONTH, "visit_date"
    )
    assert account(
        f"{limit}, each: year, rest: 0.1, ever: {{epsilon: 3, delta: 3.0e-6}},"
        " plan: {visits: {editions: 12, share: 2}, yearbook: {editions: 1}}"
    ) == WindowTerms(
        Calendar.YEAR,
        plan=(PlannedPolicy("visits", 12, Decimal(2)), PlannedPolicy("yearbook", 1)),
        rest=Decimal("0.1"),
        ever=(Decimal(3), Decimal("3e-6")),
    )
    assert account(f"{limit}, plan: {{visits: {{editions: 5}}}}").rest == 0


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("each: year", ["accounts.patients.each is of an account with a limit; write epsilon and"
                        " delta, or remove it"]),
        ("epsilon: 1, delta: 1.0e-6, of: d", [
            "accounts.patients.of is of windows, and nothing says how long one is; add each:"
            " month"]),
        ("epsilon: 1, delta: 1.0e-6, rest: 0.1", [
            "accounts.patients.rest is what a plan leaves, and there is none; add plan, or remove"
            " it"]),
        ("epsilon: 1, delta: 1.0e-6, ever: {epsilon: 3, delta: 1.0e-5}", [
            "accounts.patients.ever is a limit over all windows, and there is one; add each:"
            " year"]),
        ("epsilon: 1, delta: 1.0e-6, each: year, ever: {epsilon: 0.5, delta: 1.0e-6}", [
            "accounts.patients.ever.epsilon must be at least epsilon, which one window has, 1,"
            " found 0.5"]),
        ("epsilon: 1, delta: 1.0e-6, each: decade", [
            "accounts.patients.each must be day, week, month, quarter or year, found 'decade'"]),
        ("epsilon: 1, delta: 1.0e-6, plan: {}", [
            "accounts.patients.plan must be a mapping of policy: {editions: …}, found an empty"
            " mapping; name a policy, or remove it"]),
        ("epsilon: 1, delta: 1.0e-6, plan: {visits: 12}", [
            "accounts.patients.plan.visits must be a mapping, found 12; as in {editions: 12}"]),
        ("epsilon: 1, delta: 1.0e-6, plan: {visits: {editions: 12, share: 0}}", [
            "accounts.patients.plan.visits.share must be above 0, found 0"]),
        ("epsilon: 1, delta: 1.0e-6, plan: {1st: {editions: 12}}", [
            "accounts.patients.plan.1st is no policy's name: a name must start with a letter and"
            " hold at most 100 letters, digits, _, - and ., found '1st'"]),
        ("epsilon: 1, delta: 1.0e-6, plan: {visits: {editions: 1}}, rest: 1", [
            "accounts.patients.rest must be at least 0 and below 1, found 1"]),
    ],
)  # fmt: skip
def test_what_is_no_window_is_told(said, expected):
    assert wrong_account(said) == expected


def project_problems(text):
    with pytest.raises(PolicyError) as caught:
        load_project_text(text, "policy-engine.yaml", ".")
    return [str(each).removeprefix("policy-engine.yaml:") for each in caught.value.problems]


@pytest.mark.parametrize(
    ("zone", "expected"),
    [
        ("Berlin", "1:7: zone must be a name of the IANA's list of zones, found 'Berlin'; did you"
                   " mean 'Europe/Berlin'?"),
        ("europe/berlin", "1:7: zone must be a name of the IANA's list of zones, found"
                          " 'europe/berlin'; did you mean 'Europe/Berlin'?"),
        ("'+01:00'", "1:7: zone must be a name of the IANA's list of zones, found '+01:00'; as in"
                     " Europe/Berlin"),
        ("1", "1:7: zone must be text, found 1; put it in quotes"),
    ],
)  # fmt: skip
def test_a_zone_has_a_name(zone, expected):
    found = project_problems(f"zone: {zone}\n")
    assert found[0] == expected


def test_a_project_has_one_zone_for_all():
    found = [
        load_project_text(text, "policy-engine.yaml", ".").zone.name
        for text in ("version: 1\n", "zone: Europe/Berlin\n")
    ]
    assert found == ["UTC", "Europe/Berlin"]


def test_an_account_says_how_long_its_limit_is_for():
    limit = "epsilon: 1, delta: 1.0e-6"
    text = f"accounts:\n  a: {{{limit}, each: year, of: seen}}\n  b: {{{limit}}}\n"
    found = load_project_text(text, "policy-engine.yaml", ".").windows
    assert [found["a"].each.value, found["a"].of, found["b"].each] == ["year", "seen", None]

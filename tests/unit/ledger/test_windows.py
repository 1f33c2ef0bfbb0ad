"""Windows of an account in its ledger: which one a release counts in, and what each still pays.

Each window has a filter state of its own, and all together one for ever. A plan is recorded before
the window's first draw; its slots are taken by what they cover, and all else is of the rest.
"""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from random import Random

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from policy_engine.accounting.events import (
    FixedList,
    PureDP,
    Replaced,
    SampledSuppression,
    TableNoise,
)
from policy_engine.accounting.in_words import in_text
from policy_engine.accounting.left import MOST_ALIKE
from policy_engine.accounting.noise import IntegerTable, Statistic
from policy_engine.accounting.plans import PlannedLine, WindowPlan, split
from policy_engine.accounting.shapes import Solved
from policy_engine.accounting.windows import spanning
from policy_engine.attest.signers import KeySigner
from policy_engine.calendars import Calendar, Zone
from policy_engine.errors import (
    BudgetExceeded,
    DomainError,
    InternalError,
    LedgerError,
    UsageError,
)
from policy_engine.kernel.editions import Edition
from policy_engine.ledger import deciding
from policy_engine.ledger.account import Account, Limit, affords, balance_of, effective
from policy_engine.ledger.asked import NONSENSE, event_from_json, event_to_json
from policy_engine.ledger.chain import Draft, Trust, extend, head
from policy_engine.ledger.entry import Charge, Run
from policy_engine.ledger.planned import Planned
from policy_engine.ledger.promises import beginning, promises
from policy_engine.ledger.records import open_records
from policy_engine.ledger.store import Ledger
from policy_engine.ledger.windows import windows_of_charge
from policy_engine.policy.timing import PlannedPolicy, WindowTerms

OURS = KeySigner(Ed25519PrivateKey.from_private_bytes(bytes([1]) * 32))
TRUST = Trust.of(OURS)
ONE, SMALL = Decimal(1), Decimal("1e-6")
YEAR, BY_MONTH = WindowTerms(Calendar.YEAR), WindowTerms(Calendar.MONTH, "visited")
NOON = datetime(2026, 11, 27, 12, tzinfo=UTC)


# Which windows


def of_rows(name, column="visited"):
    return Edition(name, "UTC", column)


def of_all(name):
    return Edition(name, "UTC")


@pytest.mark.parametrize(
    ("terms", "edition", "at", "windows"),
    [
        (WindowTerms(), of_rows("2026-12"), "2027-01-10T12:00", [""]),
        (YEAR, of_rows("2026-12"), "2027-01-10T12:00", ["2026"]),
        (YEAR, of_rows("2026-12"), "2028-05-01T12:00", ["2026"]),
        (YEAR, Edition(), "2027-01-10T12:00", ["2027"]),
        (YEAR, Edition("second", is_asked=True), "2027-01-10T12:00", ["2027"]),
        (YEAR, of_all("2027-01"), "2027-01-10T12:00", ["2027"]),
        # What the whole table says in January tells of those who stand in it in January.
        (YEAR, of_all("2026-12"), "2027-01-10T12:00", ["2027"]),
        (YEAR, of_all("2026-W53"), "2027-01-02T12:00", ["2026"]),
        # One that is longer than a window: of two draws of one day each counts in that day's.
        (WindowTerms(Calendar.MONTH), of_all("2026"), "2026-11-28T12:00", ["2026-11"]),
        (WindowTerms(Calendar.DAY), of_all("2026-W48"), "2026-11-27T12:00", ["2026-11-27"]),
        (YEAR, of_all("2026-W01"), "2025-12-30T12:00", ["2026"]),
        (WindowTerms(Calendar.MONTH), of_all("2028-02-29"), "2028-02-29T01:00", ["2028-02"]),
        (BY_MONTH, of_rows("2026-10"), "2026-11-27", ["2026-10"]),
        (WindowTerms(Calendar.YEAR, "visited"), of_rows("2026-10"), "2026-11-27", ["2026"]),
        (BY_MONTH, of_rows("2025"), "2026-11-27", [f"2025-{month:02}" for month in range(1, 13)]),
        # A week is of the one or two months that its days are in.
        (BY_MONTH, of_rows("2026-W18"), "2026-11-27", ["2026-04", "2026-05"]),
        (BY_MONTH, of_rows("2026-W17"), "2026-11-27", ["2026-04"]),
        (WindowTerms(Calendar.WEEK, "visited"), of_rows("2026-02"), "2026-11-27",
         ["2026-W05", "2026-W06", "2026-W07", "2026-W08", "2026-W09"]),
    ],
)  # fmt: skip
def test_a_release_counts_in_the_windows_of_its_name_or_of_its_day(terms, edition, at, windows):
    moment = datetime.fromisoformat(at).replace(tzinfo=UTC)
    assert windows_of_charge(terms, edition, moment, Zone()) == tuple(windows)


@pytest.mark.parametrize(
    ("zone", "at", "window"),
    [
        ("UTC", "2026-12-31T23:59:59", "2026"),
        ("Europe/Berlin", "2026-12-31T22:59:59", "2026"),
        ("Europe/Berlin", "2026-12-31T23:00:00", "2027"),
        ("Pacific/Apia", "2026-12-31T11:00:00", "2027"),
        ("America/New_York", "2027-01-01T04:59:59", "2026"),
        ("Asia/Kathmandu", "2026-12-31T18:15:00", "2027"),
    ],
)
def test_days_are_those_of_the_projects_zone(zone, at, window):
    moment = datetime.fromisoformat(at).replace(tzinfo=UTC)
    assert windows_of_charge(YEAR, Edition(), moment, Zone(zone)) == (window,)


@pytest.mark.parametrize(
    ("edition", "fault"),
    [
        (Edition(), "period must be of visited"),
        (of_all("2026-11"), "period must be of visited"),
        (of_rows("2026-10", "born"), "period must be of visited"),
    ],
)
def test_what_reads_no_period_of_the_column_counts_in_no_window_of_it(edition, fault):
    with pytest.raises(DomainError, match=fault):
        windows_of_charge(BY_MONTH, edition, NOON, Zone())


@pytest.mark.parametrize("calendar", Calendar)
@pytest.mark.parametrize("every", Calendar)
def test_every_day_of_a_period_is_in_just_one_of_its_windows(calendar, every):
    """By counting days: no row that a release reads is in a window that is not charged."""
    for day in range(0, 800, 37):
        period = every.period((NOON + timedelta(days=day)).date())
        terms = WindowTerms(calendar, "visited")
        at = NOON + timedelta(days=2000)
        found = windows_of_charge(terms, of_rows(period.name), at, Zone())
        length = (period.last - period.first).days + 1
        inside = [period.first + timedelta(days=n) for n in range(length)]
        assert set(found) == {calendar.period(each).name for each in inside}


# What each pays


def charge(epsilon="0.5", window="2026", policy="visits", edition="", delta="0", **more):
    windows = (window,) if isinstance(window, str) else window
    return Charge(
        "people", Decimal(epsilon), Decimal(delta), "add_remove", policy, "p", "c",
        run=Run(edition=edition), windows=windows, unit="id", **more,
    )  # fmt: skip


def limit(epsilon="1", delta="1e-6", each=Calendar.YEAR, **more):
    return Limit(Decimal(epsilon), Decimal(delta), each=each, **more)


class Clock:
    def __init__(self, at=NOON):
        self.at = at

    def __call__(self):
        self.at += timedelta(seconds=1)
        return self.at


@pytest.fixture
def ledger(tmp_path):
    with Ledger(open_records(tmp_path / "ledger.db"), TRUST, Clock()) as found:
        yield found
        again = Ledger(open_records(tmp_path / "ledger.db"), TRUST, Clock())
        again.verify()  # every running state is what its history amounts to


def people(ledger):
    return ledger.read().budget.account("people")


def test_each_window_has_a_limit_of_its_own(ledger):
    for window in ("2026", "2027"):
        for _ in range(2):
            ledger.reserve(charge("0.5", window), limit())
        with pytest.raises(BudgetExceeded, match=f"in {window} none like this"):
            ledger.reserve(charge("0.5", window), limit())
    # December, drawn in January, is the old year's, which has nothing left.
    with pytest.raises(BudgetExceeded, match="in 2026"):
        ledger.reserve(charge("0.1", "2026", edition="2026-12"), limit())
    found = people(ledger)
    assert [(each.name, each.charges, each.sums) for each in found.windows] == [
        ("2026", 2, (ONE, Decimal(0))), ("2027", 2, (ONE, Decimal(0))),
    ]  # fmt: skip
    assert found.charges == 4


def test_a_window_stands_in_the_last_record_that_touched_it(ledger):
    for window in ("2026", "2027", "2027"):
        ledger.reserve(charge("0.1", window), limit())
    told = json.loads(ledger.read().chain.records[-1].payload)["state"]["windows"]
    assert told["2026"] == 2  # the number of a record: behind the first limit
    assert told["2027"]["charges"] == 2


def test_a_charge_that_is_given_back_leaves_its_windows(ledger):
    several = ("2026-10", "2026-11")
    monthly = limit(each=Calendar.MONTH, of="visited")
    first = ledger.reserve(charge("0.4", several), monthly)
    ledger.reserve(charge("0.3", "2026-11"), monthly)
    ledger.cancel(first.id, "nothing ran")
    found = people(ledger)
    assert [(each.charges, each.sums[0]) for each in found.windows] == [
        (0, Decimal(0)), (1, Decimal("0.3")),
    ]  # fmt: skip


def test_what_holds_for_ever_counts_all_windows(ledger):
    terms = limit(ever=(Decimal("1.2"), SMALL))
    for window in ("2026", "2027"):
        ledger.reserve(charge("0.6", window), terms)
    with pytest.raises(BudgetExceeded, match=r"raise 'ever' to ε 1\.8,"):
        ledger.reserve(charge("0.6", "2028"), terms)
    assert people(ledger).remaining(charge().asked, windows=("2028",)).alike == 0


def test_a_release_of_several_windows_is_charged_to_each(ledger):
    monthly = limit(each=Calendar.MONTH, of="visited")
    ledger.reserve(charge("0.8", "2026-11"), monthly)
    with pytest.raises(BudgetExceeded, match="in each of 2026-10 to 2026-12"):
        ledger.reserve(charge("0.3", ("2026-10", "2026-11", "2026-12")), monthly)
    ledger.reserve(charge("0.2", ("2026-10", "2026-11", "2026-12")), monthly)
    assert [each.sums[0] for each in people(ledger).windows] == [
        Decimal("0.2"), ONE, Decimal("0.2"),
    ]  # fmt: skip


@pytest.mark.parametrize("how", ["sums", "spent", "gone", "older"])
def test_a_forged_state_of_a_window_is_found(tmp_path, how):
    path = tmp_path / "ledger.db"
    with Ledger.open(path, TRUST) as made:
        for window in ("2026", "2027", "2026"):
            made.reserve(charge("0.1", window), limit())
        told = json.loads(made.read().chain.records[-1].payload)
        state = told["state"]["windows"]
        match how:
            case "sums":
                state["2026"]["sums"] = ["0.1", "0"]
            case "spent":
                state["2026"]["spent"]["kinds"][0][1] = 1
            case "gone":
                del state["2027"]
            case "older":
                state["2026"] = 2
    records = open_records(tmp_path / "forged.db")
    with Ledger(records, TRUST) as forged, forged.writing() as page:
        for record in made.read().chain.records[:-1]:
            page.append(record)
        draft = Draft("reserve", told, "people")
        page.append(extend(head(made.read().chain.records[:-1]), draft, OURS))
    with Ledger(open_records(tmp_path / "forged.db"), TRUST) as found, pytest.raises(LedgerError):
        found.verify()


# Another limit


def test_a_limit_for_ever_becomes_one_of_windows_by_who_and_why_alone(ledger):
    ledger.reserve(charge("0.7", ""), limit(each=None))
    with pytest.raises(BudgetExceeded, match="changes how long a limit is for"):
        ledger.reserve(charge("0.1"), limit())
    ledger.set_limit("people", limit(), who="Ada", why="a year", window="2026")
    # All that was charged counts in the window of the day.
    with pytest.raises(BudgetExceeded, match="in 2026"):
        ledger.reserve(charge("0.4"), limit())
    ledger.reserve(charge("0.3"), limit())
    ledger.reserve(charge("0.9", "2027"), limit())
    assert [(each.name, each.charges) for each in people(ledger).windows] == [
        ("2026", 2), ("2027", 1),
    ]  # fmt: skip


def test_another_length_of_windows_counts_all_that_was_charged(ledger):
    for window in ("2026-10", "2026-11"):
        ledger.reserve(charge("0.5", window), limit(each=Calendar.MONTH))
    with pytest.raises(BudgetExceeded, match="each year, and the ledger"):
        ledger.reserve(charge("0.1"), limit())
    ledger.set_limit("people", limit("1.2"), who="Ada", why="a year", window="2026")
    [window] = people(ledger).windows
    assert (window.name, window.charges, window.sums[0]) == ("2026", 2, ONE)
    with pytest.raises(BudgetExceeded):
        ledger.reserve(charge("0.3"), limit("1.2"))
    ledger.reserve(charge("0.2"), limit("1.2"))


def test_windows_that_become_one_promise_what_they_add_up_to(ledger):
    """Each month kept (1, 10⁻⁶) given all before it: the year that holds three promises three."""
    monthly = limit(each=Calendar.MONTH)
    for window in ("2026-09", "2026-10", "2026-11"):
        ledger.reserve(charge("0.9", window), monthly)
    ledger.set_limit("people", limit(), who="Ada", why="a year", window="2026")
    one, total = promises(people(ledger))
    assert one.endswith("of one year add to what was known before them: (3, 0.000004) of anybody.")
    assert "(3, 0.000004) of somebody" in total
    assert "(5, 0.000006) for three" in total
    # Never below what was charged, priced as one list, which is the least that it can be.
    [window] = balance_of(people(ledger)).windows
    assert window.price.tight_epsilon == Decimal("2.7")
    assert window.promised == (Decimal(3), 4 * SMALL)
    ledger.reserve(charge("0.9", "2027"), limit())
    assert [each.promised()[0] for each in people(ledger).windows] == [Decimal(3), ONE]


def test_a_limit_for_ever_that_was_changed_is_told_of_the_window_that_follows(ledger):
    ledger.reserve(charge("0.5", ""), limit(each=None))
    ledger.set_limit("people", limit("2", each=None), who="Ada", why="a survey")
    ledger.reserve(charge("0.5", ""), limit("2", each=None))
    ledger.set_limit("people", limit(), who="Ada", why="a year", window="2026")
    assert promises(people(ledger))[0].endswith(": (2, 0.000003) of anybody.")


def test_a_limit_for_ever_that_came_late_promises_what_was_promised_before(ledger):
    """Two years kept (1, 10⁻⁶) each when somebody wrote that all together keep (1, 10⁻⁶)."""
    for window in ("2025", "2026"):
        ledger.reserve(charge("0.9", window), limit())
    late = limit(ever=(ONE, SMALL))
    ledger.set_limit("people", late, who="Ada", why="for ever")
    assert promises(people(ledger))[-1] == "Of all years together, for ever: (2, 0.000003)."
    assert balance_of(people(ledger)).ever == (Decimal(2), 3 * SMALL)
    with pytest.raises(BudgetExceeded):
        ledger.reserve(charge("0.1", "2027"), late)
    # A lower one adds its δ, and takes nothing back; of months that become one year ε stays too.
    lower = limit(ever=(Decimal("0.5"), SMALL))
    ledger.set_limit("people", lower, who="Ada", why="less")
    assert people(ledger).promised_ever(lower) == (Decimal(2), 4 * SMALL)
    ledger.set_limit("people", replace(lower, each=Calendar.MONTH), who="Ada", why="months",
                     window="2026-11")  # fmt: skip
    assert [each.promised() for each in people(ledger).windows] == [(Decimal(2), 2 * SMALL)]


def test_what_windows_add_up_to_is_no_limit_though_it_be_the_same_numbers(ledger):
    """Two months of (½, ½·10⁻⁶) in a year of (1, 10⁻⁶): by another rule, others were charged."""
    monthly = Limit(Decimal("0.5"), SMALL / 2, each=Calendar.MONTH)
    for window in ("2026-10", "2026-11"):
        ledger.reserve(charge("0.4", window), monthly)
    ledger.set_limit("people", limit(), who="Ada", why="a year", window="2026")
    assert people(ledger).promised(limit()) == ((ONE, 2 * SMALL),)
    ledger.reserve(charge("0.1"), limit())
    assert people(ledger).windows[0].promised() == (ONE, 2 * SMALL)


def test_a_return_to_an_earlier_limit_for_ever_adds_nothing(ledger):
    ledger.reserve(charge("0.5", ""), limit("2", each=None))
    for epsilon in ("3", "2", "3", "2"):
        ledger.set_limit("people", limit(epsilon, each=None), who="Ada", why="a survey")
    assert people(ledger).together() == (Decimal(3), 2 * SMALL)
    [told] = promises(people(ledger))
    assert told.startswith(
        "All releases of this account together, so far and later: at most ε 3, δ 0.000002 for any"
    )


def test_a_late_charge_of_a_window_that_became_another_counts_in_that(ledger):
    monthly = Limit(Decimal("0.5"), SMALL / 2, each=Calendar.MONTH)
    ledger.reserve(charge("0.4", "2026-10"), monthly)
    ledger.set_limit("people", limit(), who="Ada", why="a year", window="2026")
    ledger.set_limit("people", monthly, who="Ada", why="months", window="2026-11")
    assert beginning(people(ledger), ["2026-10"]) == ""
    with pytest.raises(BudgetExceeded):
        ledger.reserve(charge("0.4", "2026-10"), monthly)
    ledger.reserve(charge("0.01", "2026-10", edition="2026-10"), monthly)
    [window] = people(ledger).windows
    assert (window.name, window.charges) == ("2026-11", 2)
    counted = [people(ledger).windows_of(entry) for entry in ledger.read().budget.entries()]
    assert counted == [("2026-11",)] * 2
    ledger.reserve(charge("0.4", "2026-12"), monthly)
    assert [each.name for each in people(ledger).windows] == ["2026-11", "2026-12"]


def test_an_account_that_was_charged_nothing_promises_its_limit_alone(ledger):
    ledger.set_limit("people", limit("5"), who="Ada", why="first")
    ledger.set_limit("people", limit(each=Calendar.MONTH), who="Ada", why="months")
    assert promises(people(ledger))[0].endswith(": (1, 0.000001) of anybody.")


def test_an_old_window_promises_what_a_late_release_may_add(ledger):
    """A period's rows are told of late, and count in the window of its name."""
    for window in ("2025", "2026"):
        ledger.reserve(charge("0.1", window), limit())
    high = limit("2")
    ledger.set_limit("people", high, who="Ada", why="a survey")
    assert [each[1] for each in people(ledger).promised(high)] == [2 * SMALL, 2 * SMALL]
    before = promises(people(ledger))
    ledger.reserve(charge("0.5", "2025", edition="2025-12"), high)
    assert promises(people(ledger)) == before


@pytest.mark.parametrize(
    ("first", "then", "fault"),
    [
        (limit(), limit(each=None), "no limit for ever follows them"),
        (limit(of="visited"), limit(each=Calendar.MONTH, of="visited"), "write 'each: year'"),
        (limit(), limit(of="visited"), "which periods of 'visited'"),
        (limit(of="visited"), limit(of="born"), "which periods of 'born'"),
        (limit(each=None), limit(of="visited"), "which periods of 'visited'"),
    ],
)
def test_what_cannot_be_told_of_charges_is_no_limit_of_theirs(ledger, first, then, fault):
    ledger.reserve(charge("0.1", "" if first.each is None else "2026"), first)
    with pytest.raises(UsageError, match=fault):
        ledger.set_limit("people", then, who="Ada", why="else", window="2026")


def test_a_higher_or_missing_limit_for_ever_is_a_raise(ledger):
    ledger.reserve(charge("0.1"), limit(ever=(Decimal(3), SMALL)))
    for ever in (None, (Decimal(4), SMALL), (Decimal(3), 2 * SMALL)):
        with pytest.raises(BudgetExceeded, match="raises a limit"):
            ledger.reserve(charge("0.1"), limit(ever=ever))
    ledger.reserve(charge("0.1"), limit(ever=(Decimal(2), SMALL)))
    assert people(ledger).limit.ever == (Decimal(2), SMALL)


# Plans

PLAN = (PlannedPolicy("visits", 4), PlannedPolicy("yearbook", 1))


def solved(limit, visits="0.15", yearbook="0.3"):
    """4 of ``visits`` and a yearbook: with PureDP the tight sum is nearly the plain one."""
    lines = (
        PlannedLine("visits", 4, Solved(PureDP(visits), ""), 0, 0),
        PlannedLine("yearbook", 1, Solved(PureDP(yearbook), ""), 0, 0),
    )
    return WindowPlan(*split(limit.epsilon, limit.delta, limit.rest), "add_remove", lines)


def planned_limit(**more):
    return limit(plan=PLAN, rest=Decimal("0.1"), **more)


def reserve(ledger, asked, most=None):
    most = most or planned_limit()
    return ledger.reserve(asked, most, solve=lambda: solved(most))


def test_a_plan_is_recorded_before_the_first_draw_and_its_slots_are_taken(ledger):
    for month in range(1, 5):
        assert reserve(ledger, charge("0.15", edition=f"2026-{month:02}")).planned
    kinds = [record.kind for record in ledger.read().chain.records]
    assert kinds == ["limit", "plan", *["reserve"] * 4]
    # A fifth edition, an edition drawn again, and one that says more are of the rest: 0.1.
    for asked in (charge("0.15", edition="2026-05"), charge("0.15", edition="2026-04")):
        with pytest.raises(BudgetExceeded, match="none of 4 visits, 1 of 1 yearbook as planned"):
            reserve(ledger, asked)
    with pytest.raises(BudgetExceeded, match="no slot of the plan because it tells more of some"):
        reserve(ledger, charge("0.31", policy="yearbook", edition="2026"))
    assert not reserve(ledger, charge("0.06", edition="2026-04")).planned
    assert not reserve(ledger, charge("0.04", policy="other")).planned
    with pytest.raises(BudgetExceeded):
        reserve(ledger, charge("0.01", policy="other"))
    assert reserve(
        ledger, charge("0.2", policy="yearbook", edition="2026")
    ).planned  # it is covered
    [window] = people(ledger).windows
    assert [each.left for each in window.planned.left(window.slots)] == [0, 0]
    assert window.charges == 7


def test_a_plan_has_slots_for_what_the_calendar_draws_anew(ledger):
    """Three periods, and three draws anew: no more of either, and none by hand."""
    terms = replace(planned_limit(), plan=(PlannedPolicy("visits", 6),))
    line = PlannedLine("visits", 6, Solved(PureDP("0.15"), ""), 0, 0, revisions=3)

    def drawn(month, *, anew=False):
        asked = charge("0.15", edition=f"2026-{month:02}")
        asked = replace(asked, run=replace(asked.run, is_revision=anew))
        plan = WindowPlan(*split(ONE, SMALL, terms.rest), "add_remove", (line,))
        return ledger.reserve(asked, terms, solve=lambda: plan).planned

    assert drawn(1) and drawn(2)
    assert drawn(1, anew=True)
    for month, anew, why in ((1, True, "has taken its slot"), (2, False, "has taken its slot")):
        with pytest.raises(BudgetExceeded, match=why):
            drawn(month, anew=anew)
    assert drawn(3)
    with pytest.raises(BudgetExceeded, match="all 3 editions that were planned of it are drawn"):
        drawn(4)
    assert drawn(2, anew=True) and drawn(3, anew=True)
    assert [each.left for each in people(ledger).slots_left("2026")] == [0]
    ledger.verify()


def test_the_next_window_takes_the_plan_of_the_project_file_then(ledger):
    reserve(ledger, charge("0.15", edition="2026-01"))
    other = replace(planned_limit(), plan=PLAN[:1], rest=Decimal("0.4"))

    def solve():
        lines = (PlannedLine("visits", 4, Solved(PureDP("0.15"), ""), 0, 0),)
        return WindowPlan(*split(ONE, SMALL, other.rest), "add_remove", lines)

    with pytest.raises(BudgetExceeded, match="another plan of account 'people' than what was"):
        ledger.reserve(charge("0.15", edition="2026-02"), other, solve=solve)
    with pytest.raises(BudgetExceeded, match="another plan of account 'people' than what was"):
        ledger.reserve(charge("0.15", edition="2026-02"), limit())
    ledger.reserve(charge("0.15", "2027", edition="2027-01"), other, solve=solve)
    assert people(ledger).window("2027").planned.rest_epsilon == Decimal("0.4")
    # December of the old year is drawn in January, by that year's plan.
    reserve(ledger, charge("0.15", "2026", edition="2026-12"))


def test_what_was_charged_before_a_plan_is_the_rests(ledger):
    ledger.reserve(charge("0.08", policy="other"), limit())
    reserve(ledger, charge("0.15", edition="2026-01"))
    with pytest.raises(BudgetExceeded):
        reserve(ledger, charge("0.03", policy="other"))
    ledger.reserve(charge("0.2", "2027", policy="other"), limit())
    with pytest.raises(BudgetExceeded, match=r"does not fit the rest of it, ε 0\.1, δ 1e-7"):
        reserve(ledger, charge("0.15", "2027", edition="2027-01"))


def test_a_slot_that_is_given_back_is_free_again(ledger):
    terms = planned_limit(ever=(ONE, SMALL))
    first = reserve(ledger, charge("0.15", edition="2026-01"), terms)
    assert people(ledger).spent.kinds[0].asked.epsilon == Decimal("0.9")
    ledger.cancel(first.id, "nothing ran")
    found = people(ledger)
    # The plan stays in what holds for ever, and enters it no second time.
    assert [kind.times for kind in found.spent.kinds] == [1]
    assert (found.window("2026").slots, found.window("2026").entered) == ((), True)
    assert reserve(ledger, charge("0.15", edition="2026-01"), terms).planned
    assert [each.times for each in people(ledger).spent.kinds] == [1]


def marked(mark, edition):
    asked = charge("0.15", edition=edition)
    return replace(asked, run=replace(asked.run, mark=mark))


def test_who_gives_a_charge_back_gives_back_the_slot_of_no_other_plan(ledger):
    editions = [f"2026-{month:02}" for month in range(1, 5)]
    died = [reserve(ledger, marked("died", each), planned_limit()) for each in editions]
    for numbers in (("0.5", "1e-6"), ("20", "1e-4")):  # below what is planned, so that it ends
        ledger.set_limit("people", limit(*numbers), who="Ada", why="another")
    more = replace(planned_limit(), epsilon=Decimal("20"), delta=Decimal("1e-4"))
    for each in editions[:2]:
        again = marked("drawn", each)
        assert ledger.reserve(again, more, solve=lambda: solved(more)).planned
    for each in died:
        ledger.cancel(each.id, "nothing ran")
    slots = [(each.edition, each.mark) for each in people(ledger).window("2026").slots]
    assert slots == [(each, "drawn") for each in editions[:2]]


def test_an_account_of_rows_tells_of_none_that_another_account_told_of(ledger):
    source = {"place": "a", "key": "k"}
    first = ledger.reserve(charge("0.5", edition="2025", source=source), limit())
    deciding.move(ledger, first.id, "rows", who="Ada", why="windows of rows")
    asked = replace(charge("0.5", "2025", edition="2025", source=source), account="rows")
    with pytest.raises(BudgetExceeded, match="account 'people' was charged for the same rows"):
        ledger.reserve(asked, limit(of="visited"))


def test_for_ever_a_plan_is_one_event_at_its_first_slot(ledger):
    terms = planned_limit(ever=(Decimal("1.9"), 10 * SMALL))
    for window in ("2026", "2027"):
        for month in (1, 2):
            reserve(ledger, charge("0.15", window, edition=f"{window}-{month:02}"), terms)
    kinds = [(type(each.asked.event), each.times) for each in people(ledger).spent.kinds]
    assert kinds == [(FixedList, 2)]
    # Its plan is not recorded yet, and would not fit.
    assert effective(people(ledger), terms).remaining(windows=("2028",)).slots == ()
    with pytest.raises(BudgetExceeded, match="does not fit what the limit has for ever"):
        reserve(ledger, charge("0.15", "2028", edition="2028-01"), terms)
    # Nor once it is.
    recorded = people(ledger).planning("2028", Planned.of(solved(terms), terms.plan_text))
    assert recorded.remaining(windows=("2028",)).slots == ()


def test_a_limit_that_is_changed_ends_the_plan_of_its_windows(ledger):
    reserve(ledger, charge("0.15", edition="2026-01"))
    with pytest.raises(BudgetExceeded, match="another plan"):
        ledger.reserve(charge("0.15"), replace(planned_limit(), epsilon=Decimal("0.9")),
                       solve=lambda: solved(limit("0.9")))  # fmt: skip
    ledger.set_limit("people", limit("0.8"), who="Ada", why="less than what is planned")
    [window] = people(ledger).windows
    assert window.planned is None and window.slots == ()
    ledger.set_limit("people", limit("2"), who="Ada", why="more")
    # All of the plan counts, whatever was drawn of it: nobody looks that up.
    assert people(ledger).remaining(windows=("2026",)).epsilon < Decimal("1.1")
    ledger.verify()


def test_a_plan_stays_while_its_limit_holds_it_and_what_is_more_is_of_the_rest(ledger):
    reserve(ledger, charge("0.15", edition="2026-01"))
    lines = people(ledger).window("2026").planned.lines
    ledger.set_limit("people", limit("2", "3e-6"), who="Ada", why="more")
    more = replace(planned_limit(), epsilon=Decimal("2"), delta=Decimal("3e-6"))
    # Nothing is solved anew: what was recorded before the first draw is what holds.
    second = ledger.reserve(charge("0.15", edition="2026-02"), more, solve=lambda: 1 / 0)
    window = people(ledger).window("2026")
    assert (second.planned, window.planned.lines) == (True, lines)
    assert window.planned.total == (Decimal("2"), Decimal("3e-6"))
    left = effective(people(ledger), more).remaining(windows=("2026",))
    assert (left.epsilon, [each.left for each in left.slots]) == (
        Decimal("2") - window.planned.epsilon, [2, 1]
    )  # fmt: skip
    dear = charge(str(left.epsilon), policy="other")
    assert not ledger.reserve(dear, more, solve=lambda: 1 / 0).planned
    ledger.verify()
    # A lower one takes of the rest, and never of what is planned.
    ledger.set_limit("people", limit("0.95"), who="Ada", why="less")
    assert people(ledger).window("2026").planned.lines == lines
    assert people(ledger).remaining(windows=("2026",)).epsilon is None


def test_a_plan_that_is_more_than_its_limit_is_not_recorded(ledger):
    most = planned_limit()
    with pytest.raises(InternalError, match="not within its limit"):
        ledger.reserve(charge("0.15"), most, solve=lambda: solved(most, "0.3", "0.9"))
    assert ledger.read().chain.records == ()


def test_a_plan_in_a_record_that_is_more_than_its_limit_breaks_the_ledger(tmp_path):
    most = planned_limit()
    with Ledger.open(tmp_path / "ledger.db", TRUST) as made:
        made.reserve(charge("0.15", edition="1"), most, solve=lambda: solved(most))
        records = made.read().chain.records
        told = json.loads(records[1].payload)
        told["state"]["windows"]["2026"]["plan"]["lines"][0]["event"]["epsilon"] = "3"
    store = open_records(tmp_path / "forged.db")
    with Ledger(store, TRUST) as forged, forged.writing() as page:
        page.append(records[0])
        page.append(extend(head(records[:1]), Draft("plan", told, "people"), OURS))
    again = Ledger(open_records(tmp_path / "forged.db"), TRUST)
    with again as found, pytest.raises(LedgerError, match="its plan is not within the limit"):
        found.verify()


@pytest.mark.parametrize(
    "event",
    [
        FixedList(((PureDP("0.1"), 12), (SampledSuppression(20, "0.1"), 1))),
        Replaced(SampledSuppression(20, "0.1")),
        FixedList(((Replaced(PureDP(1)), 2),)),
    ],
)
def test_lists_and_replaced_events_come_back_from_json(event):
    assert event_from_json(json.loads(json.dumps(event_to_json(event)))) == event


@pytest.mark.parametrize(("field", "value"), [("least", True), ("open", 0), ("entries", ["1"])])
def test_of_a_table_that_was_read_before_no_other_kind_of_value_is_taken(field, value):
    event = TableNoise((Statistic(IntegerTable((1 << 58, 3 << 58), least=1)),))
    state = json.loads(json.dumps(event_to_json(event)))
    assert event_from_json(state) == event
    state["statistics"][0][field] = value
    with pytest.raises(NONSENSE):
        event_from_json(state)


# What is offered


def an_account(number: int) -> tuple[Account, Charge]:
    """A random account with windows that has paid for what it could, and what is asked next."""
    random = Random(number)
    rest = random.choice([Decimal(1), Decimal("0.1"), Decimal(0), Decimal("0.37")])
    ever = random.choice([None, (Decimal("1.5"), 2 * SMALL), (Decimal("1.05"), SMALL)])
    most = Limit(ONE, SMALL, each=Calendar.MONTH, of="visited", ever=ever)
    if rest != 1:
        most = replace(most, plan=PLAN, rest=rest)
    account = Account("people", limit=most)
    kinds = [
        charge("0.5", "x", "other", delta="5.3e-11", event=SampledSuppression(20, "0.1")),
        charge(Decimal(random.randint(1, 300)).scaleb(-3), "x", "other"),
        charge(Decimal(random.randint(1, 99)).scaleb(-3), "x", "other", delta="1e-9"),
        charge("0.02", "x", "visits"),
    ]
    wide = spanning(SampledSuppression(20, "0.1"), Decimal("0.5"), Decimal("5.3e-11"), "add_remove")
    kinds.append(charge(wide.epsilon, ("2026-10", "2026-11"), "year", delta=wide.delta,
                        event=wide.event))  # fmt: skip
    asked = []
    for step in range(number % 7 + 1):
        one = random.choice(kinds)
        if len(one.windows) == 1:
            edition = f"{step}"
            one = replace(one, windows=(random.choice(["2026-10", "2026-11"]),),
                          run=Run(edition=edition))  # fmt: skip
        asked.append(one)
    for one in asked:
        for name in one.windows:
            if most.plan and account.window(name).planned is None:
                account = account.planning(name, _plan(most))
        if one is not asked[-1] and affords(account, one):
            account = account.plus(one)
    return account, asked[-1]


def _plan(most):
    part = (1 - most.rest) / Decimal("0.9")
    return Planned.of(solved(most, Decimal("0.15") * part, Decimal("0.3") * part), most.plan_text)


@pytest.mark.parametrize("number", range(60))
def test_what_is_offered_of_a_window_is_admitted_and_one_step_more_is_not(number):
    account, asked = an_account(number)
    left = account.remaining(asked.asked, asked.neighbours, asked.windows)
    after, unplanned = account, replace(asked, policy_name="not planned")
    for _ in range(left.alike):
        assert affords(after, unplanned)
        after = after.plus(unplanned)
    assert left.alike == MOST_ALIKE or not affords(after, unplanned)
    other = replace(unplanned, event=None, delta=Decimal(0))
    if left.epsilon is None:
        assert not affords(account, replace(other, epsilon=Decimal("1e-6")))
    else:
        other = replace(other, epsilon=left.epsilon, delta=left.delta)
        assert left.epsilon > 0 and affords(account, other)
        step = Decimal(1).scaleb(left.epsilon.adjusted() - 2)
        assert not affords(account, replace(other, epsilon=left.epsilon + step))
    for slots in left.slots:
        # As many of its slots as it says, and one more is of the rest.
        window = account.window(asked.windows[0])
        event = next(each.event for each in window.planned.lines if each.name == slots.name)
        one = replace(asked, policy_name=slots.name, event=event, epsilon=event.epsilon,
                      delta=Decimal(0))  # fmt: skip
        after = account
        for place in range(slots.left):
            taken = replace(one, run=Run(edition=f"new {place}"))
            assert after.is_planned(taken) and affords(after, taken)
            after = after.plus(taken)
        assert not after.is_planned(replace(one, run=Run(edition="one more")))


def test_each_limit_under_which_a_window_was_charged_adds_its_delta(ledger):
    """A limit that is changed divides δ anew, by what was seen (accounts.md)."""
    ledger.reserve(charge("0.5", "2026"), limit())
    high = Limit(Decimal("1.5"), limit().delta, each=limit().each)
    ledger.set_limit("people", high, who="Ada", why="a survey")
    assert promises(people(ledger))[0].endswith(": (1.5, 0.000002) of anybody.")
    ledger.reserve(charge("0.1", "2026"), high)
    assert people(ledger).windows[0].promised() == (high.epsilon, 2 * high.delta)
    # Back at the first limit nothing is added.
    ledger.set_limit("people", limit(), who="Ada", why="it is over")
    assert promises(people(ledger))[0].endswith(": (1.5, 0.000002) of anybody.")
    ledger.reserve(charge("0.1", "2027"), limit())
    assert [each[1] for each in people(ledger).promised(limit())] == [2 * high.delta, high.delta]


def test_a_limit_that_was_lowered_does_not_take_back_what_was_promised(ledger):
    """What a window adds is told by the limit under which it was charged, if that was higher."""
    reserve(ledger, charge("0.5", "2026"), limit())
    low = Limit(Decimal("0.1"), limit().delta, each=limit().each)
    told = promises(effective(people(ledger), low))
    highest = max(each.promised()[0] for each in people(ledger).windows)
    assert highest > low.epsilon
    assert f"({in_text(highest)}, " in told[0]

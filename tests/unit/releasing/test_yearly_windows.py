"""A year of releases from one account: windows, a plan and its slots, as release charges them."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

import pytest
from visits_project import Visits, at

from policy_engine.attest.attestation import unverified
from policy_engine.errors import BudgetExceeded, PolicyError
from policy_engine.ledger.promises import promises
from policy_engine.ledger.remaining import Remaining
from policy_engine.policy.loading import load_policy
from policy_engine.policy.project import load_project
from policy_engine.releasing import beginning
from policy_engine.releasing.books import open_ledger, stated_limit
from policy_engine.releasing.job import Job
from policy_engine.releasing.ledger_state import ledger_state
from policy_engine.releasing.preview import preview
from policy_engine.releasing.release import release, restore
from policy_engine.report.evidence import budget_of

_PROJECT = """\
warehouses: {{db: {{type: duckdb, database: db.duckdb}}}}
accounts: {{patients: {{epsilon: 1.0, delta: 1.0e-6, each: {each}{more}}}}}
"""
_PLAN = ", plan: {visits: {editions: 12, share: 2}, yearbook: {editions: 1, share: 1}}, rest: 0.1"
_POLICY = """\
version: 1
name: {name}
source: {{file: visits.parquet}}
privacy_unit: {{column: person, rows: any}}
mechanism: noisy_counts
{schedule}
recode: {{region: keep}}
guarantee: {guarantee}
release: {{file: "out/{name}{edition}.parquet"}}
account: patients
"""
MONTHLY = 'period: {column: visited, every: month, from: "2027-01", after: 10d}'


class Year(Visits):
    """The project of one account with windows, and its policies as files."""

    @classmethod
    def of(cls, folder, each="year", more=""):
        (folder / "policy-engine.yaml").write_text(_PROJECT.format(each=each, more=more))
        made = cls(folder, load_project(folder / "policy-engine.yaml"))
        made.write()
        return made

    def file(self, name="visits", schedule=MONTHLY, guarantee="planned"):
        edition = "-{edition}" if schedule else ""
        text = _POLICY.format(name=name, schedule=schedule, guarantee=guarantee, edition=edition)
        path = self.folder / f"{name}.yaml"
        path.write_text(text)
        return path

    def read(self, *args, **more):
        return load_policy(self.file(*args, **more))

    @property
    def windows(self):
        with open_ledger(self.project) as ledger:
            ledger.verify()
            account = ledger.read().budget.account("patients")
        return {each.name: each.charges for each in account.windows}


@pytest.fixture
def planned(tmp_path):
    year = Year.of(tmp_path, more=_PLAN)
    year.file("yearbook", "")
    return year


def test_december_is_drawn_in_january_and_charged_to_its_own_year(planned, monkeypatch):
    visits = planned.read()
    told = []
    planned.now = at(12, 15, year=2027)
    drawn = planned.due(visits, say=told.append).released
    assert [each.edition for each in drawn] == [f"2027-{month:02}" for month in range(1, 12)]
    [begins] = [line for line in told if "begins for" in line]
    assert begins.startswith("2027 begins for account 'patients': what its releases add to what")
    assert [bool(each.begins) for each in drawn] == [True, *[False] * 10]
    book = planned.release(None, load_policy(planned.folder / "yearbook.yaml"))
    assert (book.windows, book.begins) == (("2027",), "")
    planned.now = at(1, 12, year=2028)
    killed = planned.killed(monkeypatch, Job, "_draw_file", visits)
    assert (killed.run.edition, killed.windows, killed.planned) == ("2027-12", ("2027",), True)
    # A crash that is finished in February is the old year's, and costs nothing more.
    planned.now = at(2, 1, year=2028)
    [december] = planned.due(visits).released
    assert (december.edition, december.entry) == ("2027-12", killed.id)
    assert planned.windows == {"2027": 13}
    assert all(entry.planned for entry in planned.entries)
    # The next year's window begins, by the plan that the project file has then, and says so.
    planned.now = at(2, 12, year=2028)
    [january] = planned.due(visits).released
    assert january.begins.startswith("2028 begins for account 'patients'")
    assert planned.windows == {"2027": 13, "2028": 1}


def test_what_is_left_is_said_by_slots_and_of_the_rest_and_is_so(planned):
    visits = planned.read()
    planned.now = at(2, 15, year=2027)
    [done] = planned.due(visits).released
    left = done.left
    assert [(each.name, each.left) for each in left.slots] == [("visits", 11), ("yearbook", 1)]
    assert (left.windows, left.epsilon, left.delta) == (("2027",), Decimal("0.1"), Decimal("1e-7"))
    assert Remaining.from_json(left.to_json()) == left
    free = planned.read("other", "", "{epsilon: 0.1, delta: 1.0e-7}")
    assert preview(free, planned.project).affordable
    dear = planned.read("other", "", "{epsilon: 0.11, delta: 1.0e-7}")
    found = preview(dear, planned.project)
    assert not found.affordable
    assert (
        "as planned; of the rest none like this, but one release "
        "of another kind with at most ε 0.1 (at"
        " δ 1e-7)" in found.refusal
    )
    # The yearbook's slot is a preview's as well: nothing is recorded by it.
    assert preview(load_policy(planned.folder / "yearbook.yaml"), planned.project).affordable


def test_a_second_draw_of_an_edition_is_of_the_rest(planned):
    visits = planned.read()
    planned.now = at(2, 15, year=2027)
    planned.due(visits)
    with pytest.raises(BudgetExceeded, match="no slot of the plan because edition 2027-01 has"):
        planned.release("2027-01", visits, revise=True, replace=True)


def test_windows_of_rows_are_told_apart_by_the_period_that_is_read(tmp_path):
    year = Year.of(tmp_path, "month", ", of: visited")
    year.now = at(3, 15)
    own = "{epsilon: 0.3, delta: 1.0e-7}"
    monthly = year.read("visits", MONTHLY, own)
    assert [each.windows for each in year.due(monthly).released] == [("2027-01",), ("2027-02",)]
    year.now = at(4, 15)
    every = 'period: {column: visited, every: quarter, from: "2027-Q1"}'
    quarterly = year.read("quarter", every, "{epsilon: 0.1, delta: 1.0e-8}")
    [done] = year.due(quarterly).released
    assert done.windows == ("2027-01", "2027-02", "2027-03")
    assert year.windows == {"2027-01": 2, "2027-02": 2, "2027-03": 1}
    *_, entry = year.entries
    # Charged as one person replaced, which is more than its certificate says.
    assert entry.epsilon > Decimal("0.1")
    assert type(entry.asked.event).__name__ == "Replaced"
    state = ledger_state(year.project)
    [account] = state.accounts
    assert promises(account)[0].startswith("What is ever told of one person's rows of one month,")
    assert state.left(account).windows == ("2027-03",)


@pytest.mark.parametrize(
    ("schedule", "law"),
    [
        ("", "and it has no period: what it shows is of all periods at once; add period"),
        ("refresh: {every: month}", "and it has no period: what it shows is of all periods"),
    ],
)
def test_a_policy_that_does_not_tell_the_windows_apart_is_refused(tmp_path, schedule, law):
    year = Year.of(tmp_path, "month", ", of: visited")
    policy = year.read("visits", schedule, "{epsilon: 0.4, delta: 1.0e-7}")
    with pytest.raises(PolicyError, match=law):
        preview(policy, year.project)


def test_the_day_of_a_release_without_a_calendar_is_that_of_the_projects_zone(tmp_path):
    year = Year.of(tmp_path)
    text = (tmp_path / "policy-engine.yaml").read_text()
    (tmp_path / "policy-engine.yaml").write_text(f"{text}zone: Europe/Berlin\n")
    year.project = load_project(tmp_path / "policy-engine.yaml")
    policy = year.read("book", "", "{epsilon: 0.4, delta: 1.0e-7}")
    late = datetime(2027, 12, 31, 23, 30, tzinfo=UTC)
    done = release(policy, year.project, clock=lambda: late)
    assert done.windows == ("2028",)


def test_what_is_not_due_yet_is_asked_of_the_window_that_it_will_be_in(tmp_path):
    """November's table is drawn, and this year is spent: next year's January can be paid."""
    year = Year.of(tmp_path, more="")
    year.now = at(12, 2)
    policy = year.read("visits", "refresh: {every: month}", "{epsilon: 1.0, delta: 1.0e-6}")
    year.due(policy)
    found = preview(policy, year.project, clock=year.clock)
    assert (found.edition.name, found.charge.windows, found.affordable) == (
        "2028-01", ("2028",), True
    )  # fmt: skip
    assert (found.left.windows, found.left.alike) == (("2028",), 1)
    # By then the year has begun: nothing but the calendar says so.
    year.now = at(12, 31, 23)
    assert preview(policy, year.project, clock=year.clock).charge.windows == ("2028",)
    year.now = at(1, 1, 1, year=2028)
    assert preview(policy, year.project, clock=year.clock).edition.name == "2028-01"


def test_a_page_says_of_every_window_what_was_paid_for(planned):
    """Twelve months of 2027 and the first of 2028: none of them has been paid for alone."""
    visits = planned.read()
    planned.now = at(2, 15, year=2028)
    planned.due(visits)
    paid = {}
    for month in ("2027-03", "2028-01"):
        certificate = planned.folder / "out" / f"visits-{month}.certificate.json"
        found = budget_of(ledger_state(planned.project), unverified(certificate.read_text()))
        paid[month] = found.paid_for, found.charges
    assert paid == {
        "2027-03": ("11 other releases in 2027, and for 1 in other windows", 12),
        "2028-01": ("0 other releases in 2028, and for 12 in other windows", 1),
    }


def test_what_takes_no_slot_is_told_before_it_is_charged(tmp_path):
    """A second draw of January, and a month that tells more than what was planned of it."""
    year = Year.of(tmp_path, more=", plan: {visits: {editions: 12}}, rest: 0.5")
    year.now = at(2, 15)
    visits = year.read()
    year.due(visits)
    told = []
    again = {"revise": True, "replace": True, "say": told.append, "clock": year.clock}
    release(visits, year.project, edition="2027-01", **again)
    rest = "visits is planned, and this release takes no slot of the plan: {}; it is charged to"
    assert told[1].startswith(rest.format("edition 2027-01 has taken its slot") + " the rest of 20")
    assert year.entries[-1].planned is False


SUMS = "measures: {person_sum: {sum: person, bounds: [0, 9]}}\n"


def test_a_planned_policy_keeps_its_numbers_while_its_window_lasts(planned):
    """The yearbook gets another shape in March: the months of 2027 go on as they were planned."""
    planned.now = at(2, 15)
    [first] = planned.due(planned.read()).released
    book = planned.folder / "yearbook.yaml"
    book.write_text(book.read_text() + SUMS)
    visits = load_policy(planned.folder / "visits.yaml")
    planned.now = at(3, 15)
    assert preview(visits, planned.project, clock=planned.clock).policy.noise is not None
    [second] = planned.due(visits).released
    assert [entry.planned for entry in planned.entries] == [True, True]
    assert (first.epsilon, first.delta) == (second.epsilon, second.delta)
    # The yearbook itself has no slot that is so: it is told, and paid from the rest or not.
    yearbook = load_policy(book)
    told = preview(yearbook, planned.project, clock=planned.clock)
    assert told.news == (
        "yearbook is planned, and this release takes no slot of the plan: it tells more of somebody"
        " than what was planned of it before the first draw; it is charged to the rest of 2027",
    )
    assert not told.affordable
    # The next window takes what the project says then.
    planned.now = at(2, 15, year=2028)
    drawn = planned.due(visits).released
    assert drawn[-1].edition == "2028-01" and drawn[-1].epsilon < first.epsilon
    assert {each.epsilon for each in drawn[:-1]} == {first.epsilon}
    assert all(entry.planned for entry in planned.entries)


def test_a_raised_limit_changes_no_number_of_what_is_planned(planned):
    planned.now = at(2, 15)
    [first] = planned.due(planned.read()).released
    file = planned.folder / "policy-engine.yaml"
    file.write_text(file.read_text().replace("epsilon: 1.0", "epsilon: 3.0"))
    planned.project = load_project(file)
    signer = beginning.ledger_writer(planned.project)
    with open_ledger(planned.project, signer) as ledger:
        ledger.set_limit("patients", stated_limit(planned.project, "patients"),
                         who="Ada", why="more")  # fmt: skip
    planned.now = at(3, 15)
    [second] = planned.due(load_policy(planned.folder / "visits.yaml")).released
    assert second.epsilon == first.epsilon and planned.entries[-1].planned
    assert second.left.epsilon > 2
    book = load_policy(planned.folder / "yearbook.yaml")
    assert release(book, planned.project, clock=planned.clock).epsilon < 1
    assert planned.entries[-1].planned
    assert restore(book, planned.project).outcome == "stands"
    planned.now = at(2, 15, year=2028)
    told = []
    visits = load_policy(planned.folder / "visits.yaml")
    third = planned.due(visits, say=told.append).released[-1]
    assert third.epsilon > first.epsilon
    # The policy's file is as it was, and nobody is told to look for what is new in it.
    [news] = [line for line in told if "account 'patients' gives it ε" in line]
    assert f"gives it ε {third.epsilon.normalize()}, δ" in news
    assert f"where it was ε {first.epsilon.normalize()}, δ" in news
    assert not any("new text" in line for line in told)
    with open_ledger(planned.project) as ledger:
        ledger.verify()

"""revise: a period is drawn once more by its calendar, whatever came late, and by nothing else."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import duckdb
import pytest
from visits_project import PERIOD, SIZES, Visits, at

from policy_engine.attest.attestation import unverified
from policy_engine.errors import LedgerError
from policy_engine.ledger import store
from policy_engine.ledger.store import Ledger
from policy_engine.releasing.job import Job
from policy_engine.releasing.placing import Spot
from policy_engine.releasing.preview import preview
from policy_engine.releasing.release import release, restore

REVISED = f"{PERIOD}\nrevise: {{after: 90d}}"
FILES = '{file: "out/{edition}/part.parquet"}'
ADDED = "{table: visits, append: true}"
MOST_NOISE = 30


@pytest.fixture
def lab(tmp_path, monkeypatch):
    """A project whose ledger's clock is its machine's, which runs on by a second a record."""
    lab = Visits.at(tmp_path)
    lab.now = at(2, 15)

    class Clock(datetime):
        @classmethod
        def now(cls, zone=None):
            lab.now += timedelta(seconds=1)
            return lab.now

    monkeypatch.setattr(store, "datetime", Clock)
    return lab


def told(lab):
    return [(entry.run.edition, entry.state) for entry in lab.entries]


def anew(policy, lab):
    """The editions that are due, and whether anew."""
    found = lab.due(policy)
    return [(each.edition, each.is_revision) for each in found.released]


def test_a_period_is_drawn_anew_once_when_its_days_have_passed(lab):
    policy = lab.policy(REVISED)
    assert anew(policy, lab) == [("2027-01", False)]
    lab.write({**SIZES, 1: 900})
    lab.now = datetime(2027, 4, 30, 23, tzinfo=UTC)
    assert anew(policy, lab) == [("2027-02", False), ("2027-03", False)]
    assert abs(lab.people("2027-01") - 100) <= MOST_NOISE
    lab.now = at(5, 2, 0)
    assert anew(policy, lab) == [("2027-01", True)]
    assert abs(lab.people("2027-01") - 900) <= MOST_NOISE
    assert anew(policy, lab) == []
    assert lab.release("2027-01", policy).outcome == "stands"
    assert [edition for edition, _ in told(lab)] == ["2027-01", "2027-02", "2027-03", "2027-01"]


def test_what_was_drawn_after_its_days_is_not_drawn_anew(lab):
    policy, lab.now = lab.policy(REVISED), at(5, 15)
    assert anew(policy, lab) == [(f"2027-0{month}", False) for month in (1, 2, 3, 4)]
    assert anew(policy, lab) == []


def test_what_comes_next_is_the_first_of_both(lab):
    policy = lab.policy(REVISED)
    schedule = lab.due(policy).schedule
    assert (schedule.following.name, schedule.following.is_revision) == ("2027-02", False)
    lab.now = at(4, 15)
    lab.due(policy)
    schedule = lab.due(policy).schedule
    assert (schedule.following.name, schedule.following.is_revision) == ("2027-01", True)
    assert schedule.on == at(5, 2, 0)


def test_its_certificate_says_so_and_rests_on_nobody_who_asked(lab):
    policy = lab.policy(REVISED)
    lab.due(policy)
    lab.now = at(5, 2)
    done = lab.due(policy).released[-1]
    found = unverified(done.certificate.read_text()).predicate
    assert found["edition"]["revision"] is True
    assert "asked" not in found["edition"]
    assert "asked_blind" not in {each["code"] for each in found["assumptions"]}
    by_hand = lab.release("2027-02", policy, revise=True, replace=True)
    found = unverified(by_hand.certificate.read_text()).predicate
    assert "asked_blind" in {each["code"] for each in found["assumptions"]}


def test_a_dry_run_says_what_is_drawn_anew_and_charges_nothing(lab):
    policy = lab.policy(REVISED)
    lab.due(policy)
    lab.now = at(4, 20)
    lab.due(policy)
    lab.now = at(5, 2)
    found = preview(policy, lab.project, clock=lab.clock)
    assert (found.edition.name, found.edition.is_revision) == ("2027-01", True)
    assert found.repeats is None
    assert any("its calendar draws it anew now" in line for line in found.news)
    assert len(lab.entries) == 3


@pytest.mark.parametrize(
    ("place", "owner", "name"),
    [
        (FILES, Job, "begin"),
        (FILES, Job, "draw"),
        (FILES, Job, "_record"),
        (FILES, Spot, "put"),
        (FILES, Spot, "keep"),
        (ADDED, Job, "draw"),
        (ADDED, Job, "_record"),
        (ADDED, Spot, "keep"),
    ],
)
def test_what_a_crash_left_of_one_is_finished_in_its_place_at_no_cost(
    lab, monkeypatch, place, owner, name
):
    duckdb.connect(str(lab.folder / "db.duckdb")).close()
    policy = lab.policy(REVISED, release=place)
    lab.due(policy)
    lab.now = at(4, 20)
    lab.due(policy)
    lab.now = at(5, 2)
    entry = lab.killed(monkeypatch, owner, name, policy)
    assert entry.run.edition == "2027-01"
    [done] = lab.due(policy).released
    assert (done.edition, done.entry) == ("2027-01", entry.id)
    assert told(lab)[-1] == ("2027-01", "committed")
    assert len(lab.entries) == 4
    assert lab.due(policy).released == ()


def test_of_two_runners_one_draws_it_and_both_have_it(lab, monkeypatch):
    """The second has seen the same last entry as the first, which is charged while it waits."""
    policy = lab.policy(REVISED)
    lab.due(policy)
    lab.now = at(4, 20)
    lab.due(policy)
    lab.now = at(5, 2)
    real, others = Ledger.reserve, []

    def reserve(self, charge, *words, **named):
        monkeypatch.setattr(Ledger, "reserve", real)
        others.append(real(self, charge, *words, **named))
        return real(self, charge, *words, **named)

    monkeypatch.setattr(Ledger, "reserve", reserve)
    [done] = lab.due(policy).released
    assert [done.entry] == [each.id for each in others]
    assert len(lab.entries) == 4


def test_of_a_changed_policy_what_a_crash_left_undrawn_is_drawn_by_the_new_text(lab, monkeypatch):
    policy = lab.policy(REVISED)
    lab.due(policy)
    lab.now = at(4, 20)
    lab.due(policy)
    lab.now = at(5, 2)
    lab.killed(monkeypatch, Job, "draw", policy)
    changed = lab.policy(REVISED, epsilon="4")
    assert anew(changed, lab) == [("2027-01", True)]
    assert anew(changed, lab) == []


def test_the_last_draw_is_what_is_put_back(lab):
    policy = lab.policy(REVISED)
    first = lab.due(policy).released[0]
    before = (lab.folder / "out/2027-01/part.parquet").read_bytes()
    lab.now = at(4, 20)
    lab.due(policy)
    lab.now = at(5, 2)
    [second] = lab.due(policy).released
    after = (lab.folder / "out/2027-01/part.parquet").read_bytes()
    assert (first.entry != second.entry, before != after) == (True, True)
    (lab.folder / "out/2027-01/part.parquet").write_bytes(before)
    assert restore(policy, lab.project, edition="2027-01").entry == second.entry
    assert (lab.folder / "out/2027-01/part.parquet").read_bytes() == after


def test_by_hand_nothing_is_replaced_without_the_word(lab):
    policy = lab.policy(REVISED)
    lab.due(policy)
    with pytest.raises(Exception, match="--replace"):
        release(policy, lab.project, edition="2027-01", revise=True, clock=lab.clock)
    assert len(lab.entries) == 1


def test_what_was_charged_meanwhile_for_something_else_charges_nothing(lab, monkeypatch):
    policy = lab.policy(REVISED)
    lab.due(policy)
    lab.now = at(4, 20)
    lab.due(policy)
    lab.now = at(5, 2)
    real = Ledger.reserve

    def reserve(self, charge, *words, **named):
        monkeypatch.setattr(Ledger, "reserve", real)
        another = replace(charge, run=replace(charge.run, of="another text"))
        real(self, another, *words, **named)
        return real(self, charge, *words, **named)

    monkeypatch.setattr(Ledger, "reserve", reserve)
    with pytest.raises(LedgerError, match="charged for visits meanwhile"):
        lab.due(policy)
    assert len(lab.entries) == 4

"""Every open entry is settled by what exists."""

from __future__ import annotations

from decimal import Decimal
from importlib import import_module

import pytest
from small_project import FILE, TABLE, SmallProject

from policy_engine.errors import LedgerError, NotReleasable, WarehouseError
from policy_engine.ledger.entry import Charge
from policy_engine.ledger.store import Ledger
from policy_engine.releasing import publish
from policy_engine.releasing.standing import reconcile

job = import_module("policy_engine.releasing.job")
placing = import_module("policy_engine.releasing.placing")


@pytest.fixture
def lab(tmp_path):
    return SmallProject.at(tmp_path)


def test_where_nothing_is_open_nothing_is_settled(lab):
    lab.release()
    before = lab.entries
    assert reconcile(lab.project) == ()
    assert lab.entries == before


def test_each_open_entry_is_settled_by_what_exists(lab, monkeypatch):
    lab.killed(monkeypatch, Ledger, "commit", TABLE)
    lab.killed(monkeypatch, Ledger, "start")
    lab.killed(monkeypatch, job, "write_parquet", "{file: out/other.parquet}")
    assert lab.states == ["started", "reserved", "started"]
    settled = reconcile(lab.project)
    assert [each.outcome for each in settled] == ["committed", "cancelled", "kept"]
    assert [each.entry for each in settled] == [*lab.entries]
    assert reconcile(lab.project) == ()


def test_a_release_that_stands_is_committed(lab, monkeypatch):
    lab.killed(monkeypatch, Ledger, "commit")
    [settled] = reconcile(lab.project)
    assert (settled.outcome, settled.why) == (
        "committed",
        "its release stands with its certificate",
    )
    [entry] = lab.entries
    assert settled.entry == entry
    assert (entry.release_name, entry.release_digest) == (
        "out/people.parquet",
        publish.file_digest(lab.out),
    )


@pytest.mark.parametrize("target", [FILE, TABLE])
def test_what_never_started_is_given_back(lab, monkeypatch, target):
    lab.killed(monkeypatch, Ledger, "start", target)
    [settled] = reconcile(lab.project)
    assert (settled.outcome, settled.why) == (
        "cancelled",
        "it was never started, so nothing ran",
    )
    assert lab.states == ["cancelled"]


@pytest.mark.parametrize("target", [FILE, TABLE])
def test_what_may_have_been_seen_is_kept(lab, monkeypatch, target):
    lab.killed(monkeypatch, placing.Spot, "envelope", target)
    [settled] = reconcile(lab.project)
    assert (settled.outcome, settled.why) == (
        "kept",
        "it was drawn and does not stand: the same command without --revise puts it there, while"
        " its bytes are kept and the policy is as it was",
    )
    assert lab.states == ["kept"]
    lab.release(target)
    assert lab.states == ["committed"]


@pytest.mark.parametrize("target", [FILE, TABLE])
def test_what_nobody_can_have_seen_is_kept_and_drawn_once_more(lab, monkeypatch, target):
    for told in ("without --revise draws it, at no cost", "says how to draw anew, at a new price"):
        lab.killed(monkeypatch, Ledger, "draw", target)
        [settled] = reconcile(lab.project)
        assert settled.outcome == "kept"
        assert told in settled.why
    with pytest.raises(NotReleasable, match="'policy-engine release --revise' draws anew, at the"):
        lab.release(target)


@pytest.mark.parametrize("target", [FILE, TABLE])
def test_no_draw_is_promised_of_what_a_later_entry_has_superseded(lab, monkeypatch, target):
    """Killed twice with --revise: the last goes before the first, whatever became of that."""
    for moment in ((Ledger, "draw"), (placing.Spot, "envelope"), (Ledger, "draw")):
        lab.killed(monkeypatch, *moment, target, revise=True)
    first, second, last = lab.entries
    settled = reconcile(lab.project)
    assert [each.entry.id for each in settled] == [first.id, second.id, last.id]
    assert [each.outcome for each in settled] == ["kept"] * 3
    stays = f"it stays charged, and nothing comes of it while anything is left of entry {last.id},"
    assert settled[0].why.startswith(stays)
    assert settled[1].why.startswith(stays)
    assert "the same command without --revise draws it, at no cost" in settled[2].why
    assert lab.release(target).entry == last.id
    assert lab.states == ["kept", "kept", "committed"]
    assert lab.release(target).outcome == "stands"
    assert len(lab.entries) == 3


def test_what_a_later_entry_that_never_started_has_not_superseded_is_drawn(lab, monkeypatch):
    first = lab.killed(monkeypatch, Ledger, "draw")
    lab.killed(monkeypatch, Ledger, "start", revise=True)
    settled = reconcile(lab.project)
    assert [each.outcome for each in settled] == ["kept", "cancelled"]
    assert "draws it, at no cost" in settled[0].why
    assert lab.release().entry == first.id


@pytest.mark.parametrize(
    ("moment", "kept"),
    [((Ledger, "draw"), ""), ((placing.Spot, "envelope"), ", while its bytes are kept")],
)
def test_a_new_draw_of_what_was_begun_is_told_that_it_can_be_finished(
    lab, monkeypatch, moment, kept
):
    """At no cost, by the same command without --revise; of what stands nothing is to finish."""
    entry = lab.killed(monkeypatch, *moment)
    [told] = lab.told_of_revision(monkeypatch)
    finished = f"The same command without --revise finishes entry {entry.id}, at no cost{kept}"
    assert told.endswith(finished)
    assert lab.release().entry == entry.id
    assert "without --revise" not in lab.told_of_revision(monkeypatch)[0]


def test_a_charge_without_a_run_stays_open(lab):
    with lab.writing() as ledger:
        ledger.reserve(Charge("people", Decimal(1), Decimal(0), "add_remove", "people", "p", "c"))
    assert reconcile(lab.project) == ()
    assert lab.states == ["reserved"]


def test_a_table_whose_database_is_not_named_any_more_is_not_settled(lab, monkeypatch):
    lab.killed(monkeypatch, Ledger, "commit", TABLE)
    without = SmallProject.at(lab.folder, "accounts: {people: {}}")
    with pytest.raises(WarehouseError) as caught:
        reconcile(without.project)
    assert str(caught.value) == "warehouse duckdb has no database to look for db.main.out in"
    assert lab.states == ["started"]


def test_nothing_is_settled_on_a_ledger_that_has_forgotten(lab, monkeypatch):
    lab.killed(monkeypatch, Ledger, "commit")
    lab.project.ledger.unlink()
    with pytest.raises(LedgerError, match="the ledger is not here: this machine has seen 3 "):
        reconcile(lab.project)

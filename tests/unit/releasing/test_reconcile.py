"""Every open entry is settled by what exists."""

from __future__ import annotations

from decimal import Decimal
from importlib import import_module

import pytest
from small_project import FILE, TABLE, SmallProject

from policy_engine.errors import LedgerError, WarehouseError
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
        "it was drawn and does not stand: 'release' puts it there, while its bytes are kept",
    )
    assert lab.states == ["kept"]
    lab.release(target)
    assert lab.states == ["committed"]


@pytest.mark.parametrize("target", [FILE, TABLE])
def test_what_nobody_can_have_seen_is_kept_and_drawn_once_more(lab, monkeypatch, target):
    for told in ("'release' draws it, at no cost", "'release --revise' draws anew"):
        lab.killed(monkeypatch, Ledger, "draw", target)
        [settled] = reconcile(lab.project)
        assert settled.outcome == "kept"
        assert told in settled.why


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

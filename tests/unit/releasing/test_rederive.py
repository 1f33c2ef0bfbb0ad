"""Whoever may open a secret draws the sample again, and gets the same bytes."""

from __future__ import annotations

from decimal import Decimal

import pytest
from small_project import TABLE, SmallProject

from policy_engine.attest.sealing import generate_sealing_key
from policy_engine.errors import FileError, LedgerError, UsageError
from policy_engine.ledger.entry import Charge
from policy_engine.ledger.store import Ledger
from policy_engine.releasing.job import rederive
from policy_engine.releasing.publish import file_digest
from policy_engine.warehouse.duckdb import DuckDBWarehouse

REVIEWED = """\
warehouses: {db: {type: duckdb, database: db.duckdb}}
sealing: {reviewers: [alice.pub]}
accounts: {people: {}}
"""


@pytest.fixture
def lab(tmp_path):
    """A project with a reviewer."""
    generate_sealing_key(tmp_path / "alice.pem")
    return SmallProject.at(tmp_path, REVIEWED)


@pytest.fixture
def entry(lab):
    lab.release()
    return lab.entries[-1]


def refusal(error, *arguments):
    with pytest.raises(error) as caught:
        rederive(*arguments)
    return str(caught.value)


@pytest.mark.parametrize("key", [None, "alice.pem"])
def test_the_engine_and_a_reviewer_draw_the_same_bytes_again(lab, entry, key):
    found = rederive(lab.policy(), lab.project, entry.id, key and lab.folder / key)
    assert found.same
    assert (found.entry, found.recorded) == (entry.id, file_digest(lab.out))


def test_it_costs_nothing_and_leaves_nothing(lab, entry):
    before = sorted((file, file.stat().st_size) for file in lab.folder.rglob("*"))
    rederive(lab.policy(), lab.project, entry.id)
    assert sorted((file, file.stat().st_size) for file in lab.folder.rglob("*")) == before


def test_a_release_that_is_gone_is_drawn_again_all_the_same(lab, entry):
    lab.out.unlink()
    assert rederive(lab.policy(), lab.project, entry.id).same


def test_another_source_gives_other_bytes(lab, entry):
    lab.write(40)
    found = rederive(lab.policy(), lab.project, entry.id)
    assert not found.same
    # Nothing is told of them: one secret on two states of a source is two releases.
    assert vars(found) == {"entry": entry.id, "recorded": entry.release_digest, "same": False}


def test_of_what_was_never_published_no_sample_is_drawn(lab, monkeypatch):
    entry = lab.killed(monkeypatch, Ledger, "start")
    monkeypatch.setattr(DuckDBWarehouse, "sampled", None)  # drawing would fail
    said = (
        f"entry {entry.id} is {{}}: no release of it was published, so that there is nothing to"
        " compare with"
    )
    assert refusal(UsageError, lab.policy(), lab.project, entry.id) == said.format("reserved")
    with lab.writing() as ledger:
        ledger.start(entry.id)
        assert refusal(UsageError, lab.policy(), lab.project, entry.id) == said.format("started")
        ledger.keep(entry.id, "lost")
    assert refusal(UsageError, lab.policy(), lab.project, entry.id) == said.format("kept")


def test_of_what_was_given_back_no_sample_is_drawn(lab, monkeypatch):
    entry = lab.killed(monkeypatch, Ledger, "start")
    with lab.writing() as ledger:
        ledger.cancel(entry.id, "given back")
    assert "is cancelled: " in refusal(UsageError, lab.policy(), lab.project, entry.id)


def test_the_public_half_of_a_reviewers_key_is_told(lab, entry):
    said = refusal(FileError, lab.policy(), lab.project, entry.id, lab.folder / "alice.pub")
    assert said.endswith(
        "alice.pub: this is the public half; name the private key that belongs to it, which only"
        " its owner has"
    )


def test_a_key_that_it_is_not_sealed_for_opens_nothing(lab, entry):
    generate_sealing_key(lab.folder / "bob.pem")
    said = refusal(LedgerError, lab.policy(), lab.project, entry.id, lab.folder / "bob.pem")
    assert said.startswith("the secret is not sealed for the key ")


def test_a_reviewers_key_that_is_not_there_is_told(lab, entry):
    said = refusal(FileError, lab.policy(), lab.project, entry.id, lab.folder / "bob.pem")
    assert said.endswith("bob.pem: cannot read the key: No such file or directory")


def test_an_entry_that_there_is_not_is_told(lab, entry):
    assert refusal(UsageError, lab.policy(), lab.project, 99) == (
        f"there is no entry 99 in {lab.project.ledger}"
    )


def test_an_entry_of_another_policy_is_told(lab, entry):
    assert refusal(UsageError, lab.policy(name="others"), lab.project, entry.id) == (
        f"entry {entry.id} is of the policy 'people', and not of 'others'"
    )


def test_a_policy_that_has_changed_is_told(lab, entry):
    assert refusal(UsageError, lab.policy(k=3), lab.project, entry.id) == (
        f"entry {entry.id} ran another text than the policy has now; take the policy and the source"
        " as they were"
    )


def test_a_sample_that_the_engine_drew_cannot_be_drawn_again(lab):
    lab.release(method="native")
    [entry] = lab.entries
    assert refusal(UsageError, lab.policy(method="native"), lab.project, entry.id) == (
        f"entry {entry.id} drew its sample by the engine itself (method: native), which keeps no"
        " secret: it cannot be drawn again"
    )


def test_a_table_is_not_drawn_again(lab):
    lab.release(TABLE)
    [entry] = lab.entries
    assert refusal(UsageError, lab.policy(TABLE), lab.project, entry.id) == (
        f"entry {entry.id} is a table; only a release to a file can be drawn again here"
    )


def test_a_charge_without_a_run_is_told(lab, entry):
    with lab.writing() as ledger:
        charge = Charge("people", Decimal(1), Decimal(0), "add_remove", "people", "p", "c")
        entry = ledger.reserve(charge)
    assert refusal(UsageError, lab.policy(), lab.project, entry.id) == (
        f"entry {entry.id} does not say how to run it again"
    )

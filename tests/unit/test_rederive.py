"""Whoever may open a secret draws the sample again, and gets the same bytes."""

from __future__ import annotations

from decimal import Decimal

import pytest
from small_project import TABLE, SmallProject

from policy_engine.attest.sealing import generate_sealing_key
from policy_engine.errors import FileError, LedgerError, UsageError
from policy_engine.ledger.entry import Charge
from policy_engine.ledger.store import Ledger
from policy_engine.publish import file_digest
from policy_engine.rederive import rederive

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
    assert (found.entry, found.digest) == (entry.id, file_digest(lab.out))
    assert found.recorded == entry.release_digest


def test_it_costs_nothing_and_leaves_nothing(lab, entry):
    before = sorted((file, file.stat().st_size) for file in lab.folder.rglob("*"))
    rederive(lab.policy(), lab.project, entry.id)
    assert sorted((file, file.stat().st_size) for file in lab.folder.rglob("*")) == before


def test_a_release_that_is_gone_is_drawn_again_all_the_same(lab, entry):
    lab.out.unlink()
    assert rederive(lab.policy(), lab.project, entry.id).same


def test_another_source_gives_other_bytes(lab, entry):
    lab.write(40)
    assert not rederive(lab.policy(), lab.project, entry.id).same


def test_what_was_never_published_is_drawn_and_is_like_nothing(lab, monkeypatch):
    entry = lab.killed(monkeypatch, Ledger, "start")
    found = rederive(lab.policy(), lab.project, entry.id)
    assert (found.recorded, found.same) == (None, False)


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
        entry = ledger.reserve(charge).entry
    assert refusal(UsageError, lab.policy(), lab.project, entry.id) == (
        f"entry {entry.id} does not say how to run it again"
    )

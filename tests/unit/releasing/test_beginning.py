"""How a ledger begins: what is older, what a crash leaves, and what the project file then says."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from small_project import Killed, SmallProject

from policy_engine.attest.sealing import generate_sealing_key
from policy_engine.attest.signers import signer_of
from policy_engine.errors import FileError, LedgerBroken, NoLedger
from policy_engine.policy.pins import IN_EACH_CHECKOUT, write_pin
from policy_engine.policy.project import default_project, load_project
from policy_engine.releasing import beginning, books
from policy_engine.releasing.beginning import (
    begin,
    certificates_in,
    check_clean,
    ledger_writer,
    older_than,
)
from policy_engine.releasing.books import has_ledger, open_ledger


@pytest.fixture
def lab(tmp_path):
    return SmallProject.at(tmp_path)


def pinned(lab):
    return load_project(lab.folder / "policy-engine.yaml").pin


def quiet(text):
    del text


# What is older.


def test_keys_that_are_older_are_told(lab):
    check_clean(lab.project)
    signer_of(lab.project)
    with pytest.raises(NoLedger) as caught:
        check_clean(lab.project)
    assert str(caught.value) == (
        f"{lab.project.ledger_name}: there is no ledger here, and {lab.project.keyring} has keys:"
        " one that kept the charges of this project may be elsewhere. If so, name its place in"
        " 'ledger' of the project file, or bring it here, and run 'policy-engine join'; if nothing"
        " was ever released, 'policy-engine ledger begin' begins one"
    )
    said = []
    begin(lab.project, anew=False, say=said.append)
    assert said == [
        f"this ledger knows nothing of what was spent before, and {lab.project.keyring} has keys"
    ]
    check_clean(lab.project)


@pytest.mark.parametrize("end", ["pem", "pub"])
def test_a_sealing_key_is_what_only_a_release_leaves(lab, end):
    lab.project.sealing_key.parent.mkdir()
    generate_sealing_key(lab.project.sealing_key)
    for other in {"pem", "pub"} - {end}:
        lab.project.sealing_key.with_suffix(f".{other}").unlink(missing_ok=True)
    if not lab.project.sealing_key.with_suffix(f".{end}").exists():
        lab.project.sealing_key.with_suffix(f".{end}").touch()
    [found] = older_than(lab.project).releases
    assert found == f"{lab.project.sealing_key} is there, which the first release makes"


def test_of_many_certificates_a_few_are_named(lab):
    lab.release()
    [certificate] = lab.out.parent.glob("*.certificate.json")
    for number in range(7):
        (lab.folder / f"{number}.certificate.json").write_bytes(certificate.read_bytes())
    (lab.folder / "none.certificate.json").write_text("{}")
    found = older_than(lab.project).releases
    assert found[-1] == "4 more certificates are there"  # one of them is kept
    assert len([each for each in found if "is the certificate of a release" in each]) == 5
    beside = Path(os.path.relpath(certificate))  # the same one, written otherwise
    assert older_than(lab.project, [beside]).releases[-1] == "4 more certificates are there"


def test_certificates_of_other_projects_and_environments_are_not_looked_for(lab):
    lab.release()
    [certificate] = lab.out.parent.glob("*.certificate.json")
    for place, sign in ((".hidden", ""), ("other", "policy-engine.yaml"), ("env", "pyvenv.cfg")):
        (lab.folder / place).mkdir()
        (lab.folder / place / "a.certificate.json").write_bytes(certificate.read_bytes())
        if sign:
            (lab.folder / place / sign).touch()
    assert [path.name for path in certificates_in(lab.folder)][:1] == [certificate.name]
    assert {path.parent for path in certificates_in(lab.folder)} == {
        certificate.parent,
        certificate.parent / ".released",
    }


def test_a_certificate_where_the_release_goes_tells_wherever_that_is(lab, tmp_path_factory):
    lab.release()
    elsewhere = SmallProject.at(tmp_path_factory.mktemp("elsewhere"))
    [certificate] = lab.out.parent.glob("*.certificate.json")
    check_clean(elsewhere.project)
    with pytest.raises(NoLedger, match="is the certificate of a release"):
        check_clean(elsewhere.project, (certificate,))


def test_a_folder_that_may_not_be_looked_into_tells_nothing(lab, monkeypatch):
    def denied(path, **_):
        raise PermissionError

    bare = default_project(lab.folder / "bare")
    (lab.folder / "bare").mkdir()
    signer_of(lab.project)
    assert "has keys or a ledger of a project" in str(older_than(bare))
    monkeypatch.setattr(Path, "exists", denied)
    assert not beginning._is_left(lab.folder)


def test_a_run_beside_this_one_that_began_is_no_elder(lab, monkeypatch):
    """It makes its ledger first and then its keys: who finds the keys finds the ledger too."""

    def late(project, places=()):
        monkeypatch.undo()
        ledger_writer(project)
        found = older_than(project, places)
        assert found.keys
        return found

    monkeypatch.setattr(beginning, "older_than", late)
    check_clean(lab.project)


# What a crash leaves.


@pytest.mark.parametrize(
    ("owner", "name"),
    [(beginning, "writer_of"), (books.sealing, "generate_sealing_key"), (books, "write_pin")],
)
def test_a_first_release_that_was_killed_is_gone_on_with(lab, monkeypatch, owner, name):
    def kill(*_, **__):
        raise Killed

    monkeypatch.setattr(owner, name, kill)
    with pytest.raises(Killed):
        lab.release()
    monkeypatch.undo()
    # It was charged before the project file named the ledger, and is charged no more.
    assert has_ledger(lab.project) is (name == "write_pin")
    check_clean(lab.project)
    assert lab.release().outcome == "released"
    assert lab.states == ["committed"]
    assert lab.states == ["committed"]
    with open_ledger(lab.project) as ledger:
        assert pinned(lab) == f"sha256:{ledger.begins()}"


def test_a_beginning_anew_that_was_killed_is_gone_on_with(lab, monkeypatch):
    lab.release()
    project = load_project(lab.folder / "policy-engine.yaml")
    for path in (project.ledger, project.witness):
        path.unlink()

    def kill(*_, **__):
        raise Killed

    with pytest.raises(NoLedger):
        begin(project, anew=False, say=quiet)
    for name in ("writer_of", "write_pin"):
        monkeypatch.setattr(beginning, name, kill)
        with pytest.raises(Killed):
            begin(project, anew=True, say=quiet)
        monkeypatch.undo()
        with pytest.raises(LedgerBroken, match=r"this ledger (is empty|begins with)"):
            open_ledger(project)
    assert begin(project, anew=True, say=quiet).begins == pinned(lab) != project.pin


# The line in the project file.


def test_a_project_file_that_names_another_ledger_meanwhile_is_no_place_to_charge(lab):
    with lab.writing() as ledger:
        (lab.folder / "policy-engine.yaml").write_text(f"ledger_begins: sha256:{'1' * 64}\n")
        with pytest.raises(FileError, match="nothing may be charged on it"):
            ledger.begin(anew=False)


def test_a_pin_is_written_once_and_another_only_instead(lab):
    file = lab.folder / "policy-engine.yaml"
    one, other = ("sha256:" + digit * 64 for digit in "12")
    assert write_pin(file, one)
    assert not write_pin(file, one)
    with pytest.raises(FileError, match=f"names the ledger that begins with {one}"):
        write_pin(file, other)
    assert write_pin(file, other, instead=True)
    assert load_project(file).pin == other
    file.write_text(f"ledger_begins: {IN_EACH_CHECKOUT}\n")
    assert not write_pin(file, one)


@pytest.mark.parametrize(
    "text", ["accounts: {a: {}}", "accounts:\n  a: {}\n\n# end\n", "---\ndefault: duckdb\n"]
)
def test_what_else_the_file_says_stays(lab, text):
    file = lab.folder / "policy-engine.yaml"
    file.write_text(text)
    before = load_project(file)
    assert write_pin(file, f"sha256:{'1' * 64}")
    assert file.read_text().startswith(text)
    assert replace(load_project(file), begins="") == before


@pytest.mark.parametrize(
    "text",
    ["{}\n", "{default: duckdb}  # ours\n", "default: duckdb # ours\n...\n", '{"version": 1}'],
)
def test_a_file_that_takes_no_line_is_written_again(lab, text):
    file = lab.folder / "policy-engine.yaml"
    file.write_text(text)
    before = load_project(file)
    assert write_pin(file, f"sha256:{'1' * 64}")
    assert replace(load_project(file), begins="") == before
    assert load_project(file).pin == f"sha256:{'1' * 64}"
    assert ("# ours" in file.read_text()) is ("# ours" in text)


def test_a_project_whose_file_cannot_be_written_is_told_before_anything_is_made(lab, monkeypatch):
    real = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: path != lab.folder and real(path, mode))
    with pytest.raises(FileError, match=r"cannot be written\. Nothing was begun: mend that first"):
        lab.release()
    assert not lab.project.signing_key.parent.exists()


def test_a_line_that_cannot_be_written_leaves_the_charge_to_be_used(lab, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("policy_engine.policy.pins._put", full)
    with pytest.raises(FileError, match="No space left on device; write the line 'ledger_begins: "):
        lab.release()
    monkeypatch.undo()
    assert lab.states == ["reserved"]
    assert lab.release().outcome == "released"

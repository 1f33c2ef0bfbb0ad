"""Only a release that stands, whole and certified by a trusted key, is that of an entry."""

from __future__ import annotations

from importlib import import_module

import duckdb
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from small_project import FILE, TABLE, SmallProject

from policy_engine.attest.attestation import sign, statement
from policy_engine.attest.keys import TrustedKeys
from policy_engine.attest.signers import KeySigner
from policy_engine.errors import LedgerError
from policy_engine.ledger.entry import Charge
from policy_engine.ledger.store import Ledger
from policy_engine.releasing import publish
from policy_engine.releasing.release import release
from policy_engine.releasing.requests import Ends
from policy_engine.releasing.standing import look, mend, settle, table_of

placing = import_module("policy_engine.releasing.placing")


@pytest.fixture
def lab(tmp_path):
    return SmallProject.at(tmp_path)


def trusted(lab):
    with lab.writing() as ledger:
        return TrustedKeys.of(ledger.trust.signer.public_key)


def found(lab, entry, keys=None, ask=mend):
    """The digest of what stands for an entry."""
    run = entry.run
    ends = Ends.of_run(run, lab.folder)
    return ask(run, ends, table_of(lab.project), keys or trusted(lab))


def settled(lab, entry):
    keys = trusted(lab)
    with lab.writing() as ledger:
        return settle(ledger, entry, lab.project, keys)


def hidden(lab):
    return [file.name for file in [*lab.folder.glob(".*.*"), *lab.folder.glob("out/.*")]]


@pytest.mark.parametrize("target", [FILE, TABLE])
def test_a_release_stands_with_its_certificate(lab, target):
    lab.release(target)
    [entry] = lab.entries
    assert found(lab, entry) == entry.release_digest
    if target == FILE:
        assert entry.release_digest == publish.file_digest(lab.out)


def certificate(lab, target):
    return lab.folder / ("out" if target == FILE else "") / "people.certificate.json"


DAMAGES = {
    "gone": lambda path: path.unlink(),
    "empty": lambda path: path.write_text(""),
    "no text": lambda path: path.write_bytes(b"\xff\xfe"),
    "a directory": lambda path: (path.unlink(), path.mkdir()),
    "changed": lambda path: path.write_text(path.read_text().replace("A", "B")),
}


@pytest.mark.parametrize("target", [FILE, TABLE])
@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_without_its_certificate_none_stands(lab, target, damage):
    lab.release(target)
    damage(certificate(lab, target))
    assert found(lab, lab.entries[0]) is None


@pytest.mark.parametrize("target", [FILE, TABLE])
def test_under_a_strangers_certificate_none_stands(lab, target):
    lab.release(target)
    stranger = KeySigner(Ed25519PrivateKey.from_private_bytes(bytes(32)))
    assert found(lab, lab.entries[0], TrustedKeys.of(stranger.public_key)) is None


@pytest.mark.parametrize("damage", ["gone", "empty", "a directory"])
def test_a_file_that_is_not_that_of_its_certificate_does_not_stand(lab, damage):
    lab.release()
    DAMAGES[damage](lab.out)
    assert found(lab, lab.entries[0]) is None


@pytest.mark.parametrize(
    "change",
    [
        "DROP TABLE db.out",
        "DELETE FROM db.out WHERE rowid = 0",
        "COMMENT ON TABLE db.out IS NULL",
        "COMMENT ON TABLE db.out IS '[]'",
        "COMMENT ON TABLE db.out IS '{}'",
    ],
)
def test_a_table_that_is_not_that_of_its_certificate_does_not_stand(lab, change):
    lab.release(TABLE)
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH '{lab.folder / 'db.duckdb'}' AS db")
        connection.execute(change)
    assert found(lab, lab.entries[0]) is None


def test_a_certificate_of_another_run_with_the_same_bytes_is_not_its_own(lab):
    lab.release()
    [entry] = lab.entries
    with lab.writing() as ledger:
        other = {**entry.run.predicate, "time": "2001-01-01T00:00:00Z"}
        text = sign(statement("people.parquet", entry.release_digest, other), ledger.trust.signer)
    certificate(lab, FILE).write_text(text.to_json())
    assert found(lab, entry) is None


def test_a_release_that_replaced_it_is_not_its_own(lab):
    lab.release()
    release(lab.policy(k=3), lab.project, replace=True, revise=True)
    first, second = lab.entries
    assert found(lab, first) is None
    assert found(lab, second) == second.release_digest


@pytest.mark.parametrize("target", [FILE, TABLE])
def test_what_was_never_started_is_given_back_and_its_run_stops(lab, monkeypatch, target):
    entry = lab.killed(monkeypatch, Ledger, "start", target)
    assert settled(lab, entry).outcome == "cancelled"
    with lab.writing() as ledger, pytest.raises(LedgerError, match="is cancelled, so no 'start'"):
        ledger.start(entry.id)


@pytest.mark.parametrize("target", [FILE, TABLE])
def test_what_stands_is_committed(lab, monkeypatch, target):
    entry = lab.killed(monkeypatch, Ledger, "commit", target)
    done = settled(lab, entry)
    assert (done.outcome, done.entry.state) == ("committed", "committed")
    assert done.entry.release_name == entry.run.target
    assert done.entry.release_digest == found(lab, entry)


@pytest.mark.parametrize("target", [FILE, TABLE])
def test_what_was_drawn_and_is_not_there_is_kept(lab, monkeypatch, target):
    entry = lab.killed(monkeypatch, placing, "sign", target)
    done = settled(lab, entry)
    assert (done.outcome, done.entry.state) == ("kept", "kept")
    assert hidden(lab) == []


def test_to_look_writes_nothing_and_to_mend_tidies(lab):
    lab.release()
    [entry] = lab.entries
    left = lab.out.with_name(f".{lab.out.name}.{entry.run.mark}.0")
    left.touch()
    assert found(lab, entry, ask=look) == entry.release_digest
    assert left.exists()
    assert found(lab, entry, ask=mend) == entry.release_digest
    assert not left.exists()


def test_a_certificate_that_a_table_lacks_is_put_in_its_place(lab, monkeypatch):
    lab.release(TABLE)
    path = certificate(lab, TABLE)
    old = path.read_text()

    def replace(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(publish, "_take_place", replace)
        with pytest.raises(KeyboardInterrupt):
            lab.release(TABLE, revise=True)
    assert path.read_text() == old
    assert found(lab, lab.entries[-1], ask=look) is not None
    assert len(hidden(lab)) == 1
    assert settled(lab, lab.entries[-1]).outcome == "committed"
    assert path.read_text() != old
    assert hidden(lab) == []


def test_of_two_entries_of_one_release_one_is_committed(lab, monkeypatch):
    """A certificate tells its time in seconds, so two runs of a second can have one digest."""
    lab.release()
    [entry] = lab.entries
    with lab.writing() as ledger:
        charge = Charge(
            entry.account, entry.epsilon, entry.delta, entry.neighbours, entry.policy_name,
            entry.policy_digest, entry.certificate_digest, request=entry.request, run=entry.run,
        )  # fmt: skip
        twin = ledger.reserve(charge, after=entry.id)
        twin = ledger.start(twin.id)
    assert found(lab, twin) == entry.release_digest
    assert settled(lab, twin).outcome == "kept"


def test_a_project_that_moved_has_its_releases_with_it(lab, tmp_path):
    lab.release()
    [entry] = lab.entries
    moved = tmp_path / "moved"
    moved.mkdir()
    (tmp_path / "out").rename(moved / "out")
    run = entry.run
    of_table = lambda name, facts: None  # noqa: E731
    assert mend(run, Ends.of_run(run, moved), of_table, trusted(lab)) == entry.release_digest

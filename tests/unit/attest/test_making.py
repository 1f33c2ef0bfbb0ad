"""Making and replacing keys: files and keyring say the same, and nothing old is lost."""

import os
import stat
from datetime import UTC, datetime, timedelta

import pytest

from policy_engine.attest.attestation import open_envelope, sign, statement
from policy_engine.attest.keyring import Keyring, change
from policy_engine.attest.keys import (
    SIGNING_KEY_VARIABLE,
    generate_key,
    key_id,
    load_private_key,
    load_public_key,
)
from policy_engine.attest.signers import BEFORE_THE_RING, make_key, rotate, signer_of
from policy_engine.errors import FileError, UsageError, VerificationFailed
from policy_engine.policy.project import default_project, load_project_text

NOW = datetime(2026, 11, 21, 10, tzinfo=UTC)
DAY = timedelta(days=1)


@pytest.fixture(autouse=True)
def no_variable(monkeypatch):
    monkeypatch.delenv(SIGNING_KEY_VARIABLE, raising=False)


@pytest.fixture
def project(tmp_path):
    project = default_project(tmp_path)
    signer_of(project, NOW - DAY)
    return project


def names(project):
    found = {path.name for path in project.signing_key.parent.iterdir()}
    return sorted(found - {".gitignore"})


def test_a_key_is_made_and_entered(tmp_path):
    path, ring = tmp_path / "new" / "ci.pem", tmp_path / "keys.json"
    entry = make_key(path, ring, NOW, expires=NOW + DAY, note="CI")
    assert entry == Keyring.read(ring).entries[0]
    assert (entry.validity.added, entry.validity.expires) == (NOW, NOW + DAY)
    assert entry.note == "CI"
    assert key_id(load_private_key(path).public_key()) == entry.key_id
    assert key_id(load_public_key(tmp_path / "new" / "ci.pub")) == entry.key_id


def test_what_cannot_be_entered_is_not_made(tmp_path, monkeypatch):
    path, ring = tmp_path / "ci.pem", tmp_path / "keys.json"
    with pytest.raises(UsageError, match="--note must be text on one line"):
        make_key(path, ring, NOW, note="a\nb")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(FileError, match="cannot write the keyring: No space left on device"):
        make_key(path, ring, NOW)
    assert [found.name for found in tmp_path.iterdir()] == ["keys.json.lock"]


def test_what_cannot_be_made_is_not_entered(tmp_path):
    (tmp_path / "ci.pem").write_text("mine")
    with pytest.raises(FileError, match=r"ci\.pem: exists, and a key is never overwritten"):
        make_key(tmp_path / "ci.pem", tmp_path / "keys.json", NOW)
    assert not (tmp_path / "keys.json").exists()
    with pytest.raises(FileError, match=r"cannot write the key: Not a directory"):
        make_key(tmp_path / "ci.pem" / "a" / "b.pem", tmp_path / "keys.json", NOW)


def test_a_rotation_keeps_the_old_key_and_what_it_signed(project):
    before = signer_of(project, NOW)
    old_file = project.signing_key.read_bytes()
    done = rotate(project, NOW, expires=NOW + DAY, note="second")
    assert (done.old, done.new) == (before.key_id, signer_of(project, NOW).key_id)
    assert done.old != done.new
    assert done.kept == project.signing_key.with_name(f"signing.{done.old[:8]}.pem")
    assert done.kept.read_bytes() == old_file
    for path in (done.kept, project.signing_key):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(project.public_key.stat().st_mode) == 0o644
    assert key_id(load_public_key(project.public_key)) == done.new
    assert names(project) == sorted(
        ["keys.json", "keys.json.lock", done.kept.name, "signing.pem", "signing.pub"]
    )
    old, new = Keyring.read(project.keyring).entries
    assert (old.key_id, old.validity.added, old.validity.retired) == (done.old, NOW - DAY, NOW)
    assert (new.key_id, new.validity.added, new.validity.expires) == (done.new, NOW, NOW + DAY)
    assert new.note == "second"
    trusted = Keyring.read(project.keyring).trusted()
    then = sign(statement("a", "0" * 64, {"time": "2026-11-20T12:00:00Z"}), before).to_json()
    assert open_envelope(then, trusted).key_id == done.old
    late = sign(statement("a", "0" * 64, {"time": "2026-11-21T10:00:01Z"}), before).to_json()
    with pytest.raises(VerificationFailed, match="was retired on 2026-11-21T10:00:00Z"):
        open_envelope(late, trusted)


def test_a_key_that_signed_before_there_was_a_ring_counts_from_ever(tmp_path):
    project = default_project(tmp_path)
    project.signing_key.parent.mkdir()
    name = generate_key(project.signing_key)
    rotate(project, NOW)
    old = Keyring.read(project.keyring).get(name)
    assert (old.validity.added, old.validity.retired) == (BEFORE_THE_RING, NOW)
    assert old.note == "made before the keyring"


def test_a_key_whose_private_half_is_not_here_is_not_rotated(project):
    name = signer_of(project, NOW).key_id
    project.signing_key.unlink()
    # It may be another machine's, which the rotation would lock out.
    with pytest.raises(FileError, match="in a new clone run 'policy-engine join'"):
        rotate(project, NOW)
    assert Keyring.read(project.keyring).get(name).validity.retired is None


def test_a_key_may_be_rotated_many_times(project):
    done = [rotate(project, NOW + n * DAY) for n in range(3)]
    assert [each.new for each in done[:2]] == [each.old for each in done[1:]]
    assert len({each.kept for each in done}) == 3
    assert len(Keyring.read(project.keyring).entries) == 4


def test_a_revoked_key_is_rotated_out(project):
    name = signer_of(project, NOW).key_id
    change(project.keyring, lambda ring: ring.revoking(name, NOW, "lost"))
    with pytest.raises(FileError, match="was revoked"):
        signer_of(project, NOW)
    done = rotate(project, NOW)
    assert done.old == name
    assert signer_of(project, NOW).key_id == done.new


@pytest.mark.parametrize("step", ["ring", "public", "private"])
def test_a_rotation_that_breaks_off_is_mended_by_the_next(project, monkeypatch, step):
    """Whatever step fails, the old key signs on or signs nothing, and rotating again is whole."""
    old = signer_of(project, NOW).key_id
    real, calls = os.replace, []
    fails = {"ring": 1, "public": 2, "private": 3}[step]

    def failing(*words, **named):
        calls.append(words)
        if len(calls) == fails:
            raise OSError(28, "No space left on device")
        return real(*words, **named)

    monkeypatch.setattr(os, "replace", failing)
    with pytest.raises(FileError, match=r"cannot write the key(ring)?: No space left on device"):
        rotate(project, NOW)
    monkeypatch.undo()
    assert not [name for name in names(project) if name.startswith(".")]
    if step == "ring":
        assert signer_of(project, NOW + DAY).key_id == old
    else:
        with pytest.raises(FileError, match=r"was retired on .*'policy-engine keys rotate'"):
            signer_of(project, NOW + DAY)
    done = rotate(project, NOW + DAY)
    assert done.old == old
    assert signer_of(project, NOW + DAY).key_id == done.new
    assert key_id(load_public_key(project.public_key)) == done.new
    assert key_id(load_private_key(done.kept).public_key()) == old


def test_a_kept_key_is_not_written_over(project):
    name = signer_of(project, NOW).key_id
    kept = project.signing_key.with_name(f"signing.{name[:8]}.pem")
    generate_key(kept)
    before = kept.read_bytes()
    with pytest.raises(FileError) as caught:
        rotate(project, NOW)
    assert str(caught.value) == f"{kept}: holds another key than its name says; move it away"
    assert kept.read_bytes() == before
    assert signer_of(project, NOW).key_id == name


def test_only_a_key_in_a_file_of_the_project_is_rotated(tmp_path, project, monkeypatch):
    nothing = default_project(tmp_path / "other")
    with pytest.raises(UsageError) as caught:
        rotate(nothing, NOW)
    assert str(caught.value) == (
        f"{nothing.signing_key}: there is no key to rotate; 'policy-engine keys generate' makes one"
    )
    commanded = load_project_text("signing: {command: [x], public_key: k.pub}", "p.yaml", tmp_path)
    with pytest.raises(UsageError) as caught:
        rotate(commanded, NOW)
    assert str(caught.value) == (
        "the project signs by a command: make the new key where the command has it, name its"
        " public key in signing.public_key, enter it with 'policy-engine keys add', and retire the"
        " old one with 'keys retire'"
    )
    monkeypatch.setenv(SIGNING_KEY_VARIABLE, "x")
    with pytest.raises(UsageError) as caught:
        rotate(project, NOW)
    assert str(caught.value) == (
        "POLICY_ENGINE_SIGNING_KEY is set and signs: make a new key with 'policy-engine keys"
        " generate --output PATH', put its text there, and retire the old one with 'keys retire'"
    )

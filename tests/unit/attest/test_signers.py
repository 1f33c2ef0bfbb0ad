"""Who signs: a held key, or a command whose every answer is checked; nobody whose key is out."""

import base64
import multiprocessing
import os
import shlex
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from policy_engine.attest.attestation import open_envelope, sign, statement
from policy_engine.attest.keyring import Keyring, change
from policy_engine.attest.keys import (
    SIGNING_KEY_VARIABLE,
    TrustedKeys,
    generate_key,
    key_id,
    pem_of,
)
from policy_engine.attest.signers import (
    CommandSigner,
    KeySigner,
    lost_key,
    public_key_of,
    signer_of,
    writer_of,
)
from policy_engine.errors import FileError, UsageError
from policy_engine.policy.project import default_project, load_project_text

KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
OTHER_KEY = Ed25519PrivateKey.from_private_bytes(bytes(32))
NOW = datetime(2026, 11, 21, 10, tzinfo=UTC)
DAY = timedelta(days=1)
SIGNING = """\
import base64, sys
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
key = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
"""
SIGNED = "print(base64.b64encode(key.sign(sys.stdin.buffer.read())).decode())"


@pytest.fixture(autouse=True)
def no_variable(monkeypatch):
    monkeypatch.delenv(SIGNING_KEY_VARIABLE, raising=False)


def command(tmp_path, script, timeout=30.0):
    """A signer whose command is a Python script."""
    file = tmp_path / "sign.py"
    file.write_text(SIGNING + script)
    return CommandSigner((sys.executable, str(file)), KEY.public_key(), tmp_path, timeout)


def shell(tmp_path, script, timeout=30.0):
    return CommandSigner(("/bin/sh", "-c", script), KEY.public_key(), tmp_path, timeout)


def failure(signer, data=b"data"):
    with pytest.raises(FileError) as caught:
        signer.sign(data)
    return str(caught.value)


# A key that is held


def test_a_held_key_signs_as_itself():
    signer = KeySigner(KEY)
    signer.public_key.verify(signer.sign(b"data"), b"data")
    assert signer.key_id == key_id(KEY.public_key())
    assert "private_bytes" not in repr(signer)


# A command


@pytest.mark.parametrize("data", [b"", b"data", bytes(range(256)) * 4000])
def test_a_command_signs_what_it_is_given(tmp_path, data):
    signer = command(tmp_path, SIGNED)
    KEY.public_key().verify(signer.sign(data), data)
    assert signer.key_id == key_id(KEY.public_key())


def test_an_envelope_by_a_command_is_that_of_the_key(tmp_path):
    made = statement("a", "0" * 64, {})
    envelope = sign(made, command(tmp_path, SIGNED))
    assert envelope == sign(made, KeySigner(KEY))
    assert open_envelope(envelope.to_json(), TrustedKeys.of(KEY.public_key()))


def test_base64_may_have_line_breaks(tmp_path):
    text = base64.b64encode(KEY.sign(b"data")).decode()
    signer = shell(tmp_path, f"printf '%s\\r\\n' {text[:50]} {text[50:]}")
    assert signer.sign(b"data") == KEY.sign(b"data")


def test_it_runs_in_the_project_without_a_shell(tmp_path):
    (tmp_path / "answer").write_bytes(base64.b64encode(KEY.sign(b"data")))
    signer = CommandSigner(("cat", "answer"), KEY.public_key(), tmp_path)
    assert signer.sign(b"data") == KEY.sign(b"data")
    signer = CommandSigner(("echo", "$(cat answer)"), KEY.public_key(), tmp_path)
    assert "found 14 bytes of other text" in failure(signer)


def test_a_command_that_does_not_read_may_sign_all_the_same(tmp_path):
    data = bytes(10_000_000)
    text = base64.b64encode(KEY.sign(data)).decode()
    assert shell(tmp_path, f"echo {text}").sign(data) == KEY.sign(data)


@pytest.mark.parametrize(
    "script",
    [
        "import hashlib; print(base64.b64encode(key.sign(hashlib.sha256(sys.stdin.buffer.read())"
        ".digest())).decode())",
        "other = Ed25519PrivateKey.generate()\n"
        "print(base64.b64encode(other.sign(sys.stdin.buffer.read())).decode())",
        "print(base64.b64encode(bytes(64)).decode())",
    ],
)
def test_no_signature_is_returned_that_does_not_verify(tmp_path, script):
    assert failure(command(tmp_path, script)) == (
        f"signing.command: '{sys.executable}' printed a signature that is not of key"
        f" {key_id(KEY.public_key())}; it must sign its stdin itself, not a digest of it, with the"
        " key of signing.public_key; nothing was signed"
    )


@pytest.mark.parametrize(
    ("answer", "size"),
    [("", 0), ("QUJD", 4), ("*" * 88, 88), ("A" * 87, 87), ("A" * 90, 90), ("é", 2)],
)
def test_an_answer_that_is_no_signature(tmp_path, answer, size):
    assert failure(shell(tmp_path, f"printf %s {shlex.quote(answer)}")) == (
        "signing.command: '/bin/sh' must print the base64 of the 64 bytes of an Ed25519"
        f" signature, found {size} bytes of other text; nothing was signed"
    )


def test_a_command_that_fails_is_quoted_with_its_first_line_only(tmp_path):
    signer = shell(tmp_path, "echo 'denied: \033[31mno' >&2; echo 'token=hunter2' >&2; exit 7")
    assert failure(signer) == (
        "signing.command: '/bin/sh' ended with code 7 and said 'denied: \\x1b[31mno';"
        " nothing was signed"
    )
    long = failure(shell(tmp_path, "printf '%0500d' 0 >&2; exit 1"))
    assert long == (
        f"signing.command: '/bin/sh' ended with code 1 and said '{'0' * 200}'; nothing was signed"
    )
    assert failure(shell(tmp_path, "exit 1")) == (
        "signing.command: '/bin/sh' ended with code 1; nothing was signed"
    )


def test_a_good_signature_of_a_command_that_fails_is_not_taken(tmp_path):
    assert "ended with code 3" in failure(command(tmp_path, f"{SIGNED}; sys.exit(3)"))


def test_neither_arguments_nor_a_name_of_the_environment_are_shown(tmp_path):
    words = """["{{ env_var('C') }}", "--token={{ env_var('T') }}"]"""
    text = f"signing: {{command: {words}, public_key: k.pub}}"
    project = load_project_text(text, "p.yaml", tmp_path, {"C": "/hunter2", "T": "hunter3"})
    (tmp_path / "k.pub").write_bytes(pem_of(KEY)[1])
    told = failure(signer_of(project))
    assert told == (
        "signing.command: the text of an environment variable cannot be run: No such file or"
        " directory; nothing was signed"
    )


@pytest.mark.parametrize(
    ("words", "reason"),
    [(("./none",), "No such file or directory"), ((".",), "Permission denied")],
)
def test_a_command_that_cannot_be_run(tmp_path, words, reason):
    signer = CommandSigner(words, KEY.public_key(), tmp_path)
    assert failure(signer) == (
        f"signing.command: '{words[0]}' cannot be run: {reason}; nothing was signed"
    )


def test_a_command_that_hangs_is_ended_with_its_children(tmp_path):
    signer = shell(tmp_path, "sleep 100 & echo $! > child; wait", timeout=0.5)
    assert failure(signer) == (
        "signing.command: '/bin/sh' has not signed within 0.5 seconds; nothing was signed"
    )
    child = Path(f"/proc/{(tmp_path / 'child').read_text().strip()}/stat")
    for _ in range(1000):
        if not child.exists() or child.read_text().split()[2] == "Z":
            return
        time.sleep(0.01)
    pytest.fail("the child runs on")


def test_an_interrupt_ends_the_command(tmp_path, monkeypatch):
    ended = []
    real = os.killpg
    monkeypatch.setattr(os, "killpg", lambda *words: (ended.append(words), real(*words)))

    def interrupted(self, *_):
        raise KeyboardInterrupt

    monkeypatch.setattr(subprocess.Popen, "communicate", interrupted)
    with pytest.raises(KeyboardInterrupt):
        shell(tmp_path, "sleep 100").sign(b"data")
    assert len(ended) == 1


def test_a_command_that_is_gone_before_it_is_ended(tmp_path, monkeypatch):
    def gone(*_):
        raise ProcessLookupError

    real = os.killpg
    monkeypatch.setattr(os, "killpg", lambda *words: (real(*words), gone()))
    assert "has not signed within" in failure(shell(tmp_path, "sleep 100", timeout=0.1))


# Who signs for a project


def test_the_first_key_is_made_and_entered_as_of_the_statement(tmp_path):
    project = default_project(tmp_path)
    signer = signer_of(project, NOW)
    assert (tmp_path / ".policy-engine/signing.pem").exists()
    [entry] = Keyring.read(tmp_path / ".policy-engine/keys.json").entries
    assert (entry.key_id, entry.validity.added, entry.note) == (signer.key_id, NOW, "")
    assert signer_of(project, NOW).key_id == signer.key_id
    assert len(Keyring.read(project.keyring).entries) == 1


def test_by_default_a_key_counts_from_now(tmp_path):
    before = datetime.now(UTC).replace(microsecond=0)
    project = default_project(tmp_path)
    signer_of(project)
    [entry] = Keyring.read(project.keyring).entries
    assert before <= entry.validity.added <= datetime.now(UTC)
    assert signer_of(project).key_id == entry.key_id


def test_a_public_key_that_a_crash_left_out_is_written(tmp_path):
    project = default_project(tmp_path)
    signer = signer_of(project, NOW)
    project.public_key.unlink()
    assert signer_of(project, NOW).key_id == signer.key_id
    assert key_id(public_key_of(project)) == signer.key_id


def test_a_key_that_is_only_read_signs_without_its_public_half(tmp_path, monkeypatch):
    project = default_project(tmp_path)
    signer = signer_of(project, NOW)
    project.public_key.unlink()

    def read_only(*_):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(os, "link", read_only)
    assert signer_of(project, NOW).key_id == signer.key_id
    assert not project.public_key.exists()


def test_a_key_from_before_the_ring_signs_and_stays_out_of_it(tmp_path):
    project = default_project(tmp_path)
    project.signing_key.parent.mkdir()
    name = generate_key(project.signing_key)
    assert signer_of(project).key_id == name
    assert not project.keyring.exists()


def test_the_variable_wins_and_makes_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv(SIGNING_KEY_VARIABLE, pem_of(KEY)[0].decode())
    project = default_project(tmp_path)
    assert signer_of(project).key_id == key_id(KEY.public_key())
    assert key_id(public_key_of(project)) == key_id(KEY.public_key())
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setenv(SIGNING_KEY_VARIABLE, "junk")
    with pytest.raises(UsageError, match="must hold a private key in PEM form, found none"):
        signer_of(project)


@pytest.fixture
def commanded(tmp_path):
    """A project that signs by a command."""
    (tmp_path / "sign.py").write_text(SIGNING + SIGNED)
    (tmp_path / "kms.pub").write_bytes(pem_of(KEY)[1])
    words = f"[{sys.executable}, sign.py]"
    text = f"signing: {{command: {words}, public_key: kms.pub}}"
    return load_project_text(text, "policy-engine.yaml", tmp_path)


def test_a_project_may_sign_by_a_command(commanded, tmp_path):
    signer = signer_of(commanded)
    KEY.public_key().verify(signer.sign(b"data"), b"data")
    with pytest.raises(InvalidSignature):
        KEY.public_key().verify(signer.sign(b"data"), b"other")
    assert key_id(public_key_of(commanded)) == signer.key_id
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kms.pub", "sign.py"]
    (tmp_path / "kms.pub").unlink()
    for ask in (signer_of, public_key_of):
        with pytest.raises(FileError, match=r"kms\.pub: cannot read the key: No such file"):
            ask(commanded)


def withdrawn(project, how, at=NOW + DAY):
    name = signer_of(project, NOW).key_id
    change(project.keyring, lambda ring: how(ring, name))
    with pytest.raises(FileError) as caught:
        signer_of(project, at)
    return str(caught.value).replace(name, "KEY")


def test_a_key_that_does_not_count_any_more_signs_nothing(tmp_path):
    rotate = "sign with another key: 'policy-engine keys rotate' makes one"
    project = default_project(tmp_path / "a")
    assert withdrawn(project, lambda ring, name: ring.retiring(name, NOW)) == (
        f"{project.keyring}: key KEY was retired on 2026-11-21T10:00:00Z, and this was signed as"
        f" of 2026-11-22T10:00:00Z; {rotate}"
    )
    project = default_project(tmp_path / "b")
    assert withdrawn(project, lambda ring, name: ring.revoking(name, NOW, "lost"), NOW) == (
        f"{project.keyring}: key KEY was revoked on 2026-11-21T10:00:00Z (lost): nothing that it"
        f" signed counts; {rotate}"
    )
    project = default_project(tmp_path / "c")
    assert signer_of(project, NOW).key_id == signer_of(project, NOW - DAY).key_id


# Who writes into a ledger.


def stranger(tmp_path, monkeypatch):
    """A project with a key, and another key in the environment."""
    project = default_project(tmp_path)
    signer_of(project, NOW)
    monkeypatch.setenv(SIGNING_KEY_VARIABLE, pem_of(KEY)[0].decode())
    return project


def test_a_key_that_is_not_in_the_keyring_writes_nothing_into_a_ledger(tmp_path, monkeypatch):
    project = stranger(tmp_path, monkeypatch)
    before = project.keyring.read_bytes()
    with pytest.raises(FileError) as caught:
        writer_of(project)
    name = key_id(KEY.public_key())
    assert str(caught.value) == (
        f"{project.keyring}: the key {name[:8]}, which signs, is not in the keyring: others would"
        " take its records for a stranger's. Nothing was charged; on a second machine run"
        " 'policy-engine join', which prints what to ask for; else enter it with 'policy-engine"
        " keys add PUBLIC_KEY'"
    )
    assert project.keyring.read_bytes() == before
    change(project.keyring, lambda ring: ring.adding(KEY.public_key(), NOW))
    assert writer_of(project).key_id == name


@pytest.mark.parametrize("kind", ["file", "variable", "command"])
def test_the_first_key_of_all_is_entered_by_itself(tmp_path, monkeypatch, commanded, kind):
    project = commanded if kind == "command" else default_project(tmp_path / "own")
    if kind == "file":  # one from before there was a keyring
        project.signing_key.parent.mkdir(parents=True)
        generate_key(project.signing_key)
    elif kind == "variable":
        monkeypatch.setenv(SIGNING_KEY_VARIABLE, pem_of(KEY)[0].decode())
    signer = writer_of(project, NOW)
    [entry] = Keyring.read(project.keyring).entries
    assert (entry.key_id, entry.validity.added) == (signer.key_id, NOW)
    assert writer_of(project).key_id == signer.key_id


def test_the_key_of_a_command_is_named_by_its_file(commanded):
    change(commanded.keyring, lambda ring: ring.adding(OTHER_KEY.public_key(), NOW))
    with pytest.raises(FileError, match=r"enter it with 'policy-engine keys add .*kms\.pub'$"):
        writer_of(commanded)


def test_of_two_first_keys_at_once_one_is_entered(commanded, monkeypatch):
    """The ring is asked again under its lock."""
    empty = Keyring((), str(commanded.keyring))
    change(commanded.keyring, lambda ring: ring.adding(KEY.public_key(), NOW))
    monkeypatch.setattr(Keyring, "at", classmethod(lambda cls, path: empty))
    monkeypatch.setattr(
        "policy_engine.attest.signers.change",
        lambda path, how: how(Keyring.read(path)),
    )
    assert writer_of(commanded).key_id == key_id(KEY.public_key())


def test_a_commands_key_is_asked_of_the_ring_too(commanded):
    change(commanded.keyring, lambda ring: ring.adding(KEY.public_key(), NOW, expires=NOW))
    assert signer_of(commanded, NOW)
    with pytest.raises(FileError, match=r"expired on 2026-11-21T10:00:00Z"):
        signer_of(commanded, NOW + DAY)


def test_a_ring_that_cannot_be_read_stops_before_a_key_is_made(tmp_path):
    project = default_project(tmp_path)
    project.keyring.parent.mkdir()
    project.keyring.write_text("{}")
    with pytest.raises(FileError, match="must be an object with exactly version, keys"):
        signer_of(project)
    assert sorted(p.name for p in project.keyring.parent.glob("signing*")) == []


JOIN = (
    "on a second machine or in a new clone run 'policy-engine join', which makes a key of its own;"
    " else restore it. If it is lost, join makes another one too, and 'policy-engine keys retire"
    " KEYID' ends the lost one"
)


def test_a_lost_key_is_not_replaced_in_silence(tmp_path):
    project = default_project(tmp_path)
    signer_of(project)
    project.signing_key.unlink()
    assert lost(project) == (
        f"{project.signing_key}: the private key is missing, and its public half signing.pub is"
        f" there; {JOIN}"
    )
    project.public_key.unlink()
    assert lost(project) == (
        f"{project.signing_key}: the private key is missing, and {project.keyring} has keys of this"
        f" project; {JOIN}"
    )
    assert len(Keyring.read(project.keyring).entries) == 1


def lost(project):
    with pytest.raises(FileError) as caught:
        signer_of(project)
    assert str(caught.value) == lost_key(project)
    return str(caught.value)


def test_who_signs_otherwise_has_lost_nothing(tmp_path, monkeypatch, commanded):
    assert lost_key(commanded) == lost_key(default_project(tmp_path / "new")) == ""
    project = stranger(tmp_path / "own", monkeypatch)
    project.signing_key.unlink()
    assert lost_key(project) == ""


def test_a_key_that_another_process_made_meanwhile_is_taken(tmp_path, monkeypatch):
    project = default_project(tmp_path)

    def slower(*_words, **_named):
        generate_key(project.signing_key)
        raise FileError("exists")

    project.signing_key.parent.mkdir()
    monkeypatch.setattr("policy_engine.attest.signers.make_key", slower)
    assert signer_of(project).key_id == key_id(public_key_of(project))


def test_the_key_of_a_project_is_its_public_half(tmp_path):
    project = default_project(tmp_path)
    assert public_key_of(project) is None
    signer = signer_of(project)
    assert key_id(public_key_of(project)) == signer.key_id
    project.public_key.unlink()
    assert key_id(public_key_of(project)) == signer.key_id


def _first(folder, start, ids):
    start.wait()
    ids.put(signer_of(default_project(folder), NOW).key_id)


def test_of_many_processes_one_makes_the_first_key(tmp_path):
    context = multiprocessing.get_context("fork")
    start, ids = context.Barrier(8), context.Queue()
    processes = [context.Process(target=_first, args=(tmp_path, start, ids)) for _ in range(8)]
    for process in processes:
        process.start()
    found = {ids.get() for _ in processes}
    for process in processes:
        process.join()
    [entry] = Keyring.read(tmp_path / ".policy-engine/keys.json").entries
    assert found == {entry.key_id}


def test_a_first_key_that_cannot_be_made_is_told(tmp_path, monkeypatch):
    def fail(*arguments):
        raise FileError("the disk is full")

    monkeypatch.setattr("policy_engine.attest.signers.make_key", fail)
    with pytest.raises(FileError, match="the disk is full"):
        signer_of(default_project(tmp_path))

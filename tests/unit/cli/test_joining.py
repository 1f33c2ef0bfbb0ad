"""A second clone obeys what it is told, step by step: it is joined, and nobody is locked out."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from policy_engine.attest.keys import load_public_key

STATE = ".policy-engine"
WORDS = (
    ("release", "a.yaml"),
    ("ledger", "show"),
    ("ledger", "verify"),
    ("ledger", "reconcile"),
    ("ledger", "export"),
    ("ledger", "disown", "1", "--by", "Ada", "--why", "obedient"),
    ("keys", "rotate"),
    ("keys", "generate"),
    ("keys", "list"),
)


def git(*words, folder="."):
    done = subprocess.run(
        ["git", "-C", folder, "-c", "user.name=a", "-c", "user.email=a@b", *words],
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout


@pytest.fixture
def clone(cli, policy, project, tmp_path_factory):
    """A clone of a project that has released once, with its ledger in a file."""
    policy("a")
    assert cli("release", "a.yaml").code == 0
    git("init", "-q")
    git("add", ".")
    git("commit", "-q", "-m", "x")
    kept = [name for name in git("ls-files").split() if name.startswith(STATE)]
    assert kept == [f"{STATE}/.gitignore", f"{STATE}/keys.json"]
    folder = tmp_path_factory.mktemp("clones") / "two"
    git("clone", "-q", str(project), str(folder))
    return folder


def ring_of(folder):
    return (folder / STATE / "keys.json").read_text()


def test_a_clone_is_told_to_join_and_obeys(cli, clone, project, monkeypatch):
    ring = ring_of(project)
    monkeypatch.chdir(clone)
    for words in WORDS:
        said = cli(*words)
        assert "policy-engine join'" in said.out + said.err, words
        assert "keys rotate" not in said.out + said.err, words
    assert ring_of(clone) == ring and sorted(p.name for p in (clone / STATE).iterdir()) == [
        ".gitignore",
        "keys.json",
    ]
    # It does what it is told.
    first = cli("join", "--format", "json")
    assert first.code == 1 and not first.document["joined"]
    key, ledger, sealing = first.document["lacks"]
    assert "policy-engine keys add FILE" in key
    assert ledger.startswith("the ledger: ") and "name that place in 'ledger'" in ledger
    assert "--sealing FILE" in sealing
    assert (clone / STATE / "signing.pub").read_text() == first.document["public_key"]
    file = clone / "policy-engine.yaml"
    file.write_text(file.read_text() + f"ledger: {project / STATE}/ledger.sqlite\n")
    second = cli("join", "--sealing", project / STATE / "sealing.pem")
    assert second.code == 1 and "made" not in second.out
    assert "lacks the key" in second.out and "lacks the ledger" not in second.out
    # What stands asks for no key; what is drawn does.
    assert "a stands" in cli("release", "a.yaml").out
    waits = cli("release", "a.yaml", "--revise", "--replace")
    assert waits.code == 3 and "run 'policy-engine join'" in waits.err
    # Who keeps the keyring enters the key from what was printed.
    Path("printed.pem").write_text(
        "\n".join(line for line in second.out.split("\n") if not line.startswith(("this", "lacks")))
    )
    monkeypatch.chdir(project)
    assert cli("keys", "add", clone / "printed.pem", "--note", "two").code == 0
    monkeypatch.chdir(clone)
    third = cli("join", "--keyring", project / STATE / "keys.json")
    assert third.code == 0 and third.out.endswith(f"{STATE}/ledger.sqlite holds\n")
    again = cli("release", "a.yaml", "--format", "json")
    assert again.code == 0 and again.document["repeated"]
    assert cli("release", "a.yaml", "--revise", "--replace").code == 0
    # The first machine is not locked out, and each builds on what the other has written.
    monkeypatch.chdir(project)
    assert cli("ledger", "verify").code == 0
    assert cli("release", "a.yaml", "--revise", "--replace").code == 0
    monkeypatch.chdir(clone)
    assert cli("ledger", "verify").code == 0
    assert cli("join", "--format", "json").document["lacks"] == []


def test_a_machine_that_was_copied_keeps_the_public_key_aside(cli, clone, project, monkeypatch):
    shutil.copy(project / STATE / "signing.pub", clone / STATE / "signing.pub")
    theirs = (clone / STATE / "signing.pub").read_bytes()
    monkeypatch.chdir(clone)
    assert cli("join").code == 1
    [aside] = (clone / STATE).glob("signing.*.pub")
    assert aside.read_bytes() == theirs != (clone / STATE / "signing.pub").read_bytes()
    load_public_key(clone / STATE / "signing.pub")


def test_it_asks_for_the_keyring_and_takes_it(cli, clone, project, monkeypatch):
    monkeypatch.chdir(clone)
    (clone / STATE / "keys.json").unlink()
    assert "lacks the keyring: " in cli("join").out
    taken = cli("join", "--keyring", project / STATE / "keys.json")
    assert "lacks the keyring" not in taken.out and ring_of(clone) == ring_of(project)
    # One with keys of its own is not replaced by it.
    other = clone / "other.pem"
    assert cli("keys", "add", clone / STATE / "signing.pub").code == 0
    assert cli("join", "--keyring", project / STATE / "keys.json").code == 1
    assert ring_of(clone) == ring_of(project)
    cli("keys", "generate", "--output", other)
    refused = cli("join", "--keyring", project / STATE / "keys.json")
    assert refused.code == 2 and "has keys that" in refused.err


def test_it_does_not_send_whoever_runs_it_to_itself(cli, clone, project, monkeypatch):
    monkeypatch.chdir(clone)
    told = [cli("join").out]
    file = clone / "policy-engine.yaml"
    file.write_text(file.read_text() + f"ledger: {project / STATE}/ledger.sqlite\n")
    told.append(cli("join").out)
    monkeypatch.chdir(project)
    # A key that the clone's keyring has not writes into the ledger.
    assert cli("keys", "rotate").code == 0
    assert cli("release", "a.yaml", "--revise", "--replace").code == 0
    monkeypatch.chdir(clone)
    told.append(cli("join").out)
    assert "lacks a keyring as new as the ledger" in told[-1]
    (clone / STATE / "keys.json").unlink()
    told.append(cli("join").out)
    assert "lacks the keyring: " in told[-1] and "lacks the ledger" not in told[-1]
    for each in told:
        assert "policy-engine join'" not in each and "a stranger's" not in each, each
        lines = each.split("\n")
        assert len(set(lines)) == len(lines), each


def test_another_sealing_key_is_not_taken(cli, clone, project, monkeypatch):
    monkeypatch.chdir(clone)
    file = clone / "policy-engine.yaml"
    file.write_text(file.read_text() + f"ledger: {project / STATE}/ledger.sqlite\n")
    done = ["openssl", "genpkey", "-algorithm", "X25519", "-out", "other.pem"]
    subprocess.run(done, check=True, capture_output=True)
    Path("other.pem").chmod(0o600)
    refused = cli("join", "--sealing", "other.pem")
    assert refused.code == 2 and "does not name the ledger's sources" in refused.err
    assert not (clone / STATE / "sealing.pem").exists()


def test_a_key_that_was_retired_is_told(cli, clone, project, monkeypatch):
    monkeypatch.chdir(clone)
    cli("join")
    assert cli("keys", "add", f"{STATE}/signing.pub").code == 0
    own = cli("join", "--format", "json").document["signs"]
    assert cli("keys", "revoke", own, "--why", "stolen").code == 0
    assert "lacks a key that counts: key" in cli("join").out


def test_where_nothing_was_released_there_is_nothing_to_join(cli, policy, project):
    policy("a")
    refused = cli("join")
    assert refused.code == 2 and "there is nothing to join" in refused.err


def test_who_signs_by_the_environment_needs_no_key(cli, clone, monkeypatch):
    monkeypatch.chdir(clone)
    assert cli("keys", "list").code == 0
    pem = subprocess.run(
        ["openssl", "genpkey", "-algorithm", "ED25519"], check=True, capture_output=True, text=True
    ).stdout
    monkeypatch.setenv("POLICY_ENGINE_SIGNING_KEY", pem)
    found = cli("join", "--format", "json").document
    assert found["made"] is None and not (clone / STATE / "signing.pem").exists()


def test_a_sealing_key_that_comes_before_the_ledger_is_said_to_wait(
    cli, clone, project, monkeypatch
):
    monkeypatch.chdir(clone)
    kept = project / STATE / "sealing.pem"
    early = cli("join", "--sealing", kept)
    assert f"{kept} was not taken because it is held against the ledger" in early.out
    with (clone / "policy-engine.yaml").open("a") as file:
        file.write(f"ledger: {project / STATE / 'ledger.sqlite'}\n")
    assert "lacks the sealing key" not in cli("join", "--sealing", kept).out

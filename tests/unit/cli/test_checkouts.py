"""A clean checkout gets no fresh budget without a word: real clones, and folders that lost things.

Each is tried twice where it matters: as the project file names the ledger, and as a project has it
that is older than that line.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from policy_engine.attest.keys import SIGNING_KEY_VARIABLE
from policy_engine.policy.project import load_project

STATE = ".policy-engine"
LEDGER = f"{STATE}/ledger.sqlite"
READS = (
    ("release", "a.yaml"),
    ("plan", "a.yaml"),
    ("ledger", "show"),
    ("ledger", "verify"),
    ("ledger", "reconcile"),
    ("ledger", "export"),
    ("ledger", "limit", "people", "--epsilon", "2", "--delta", "1e-6", "--by", "A", "--why", "b"),
    ("restore", "a.yaml"),
)


def git(*words, folder="."):
    subprocess.run(["git", "-C", folder, *words], check=True, capture_output=True)


def files(folder="."):
    return sorted(str(path) for path in Path(folder).rglob("*") if ".git" not in path.parts)


@pytest.fixture
def committed(cli, policy, project, monkeypatch):
    """docs/howto/keys.md's recipe for CI: the key in the environment, keys.json in the commit."""
    policy("a")
    assert cli("keys", "generate", "--output", "ci.pem", "--note", "CI").code == 0
    monkeypatch.setenv(SIGNING_KEY_VARIABLE, Path("ci.pem").read_text())
    Path("ci.pem").unlink()
    git("init", "-q")
    commit()
    assert f"{STATE}/keys.json" in listed()
    return project


def commit():
    git("add", ".")
    git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "x")


def listed():
    found = subprocess.run(["git", "ls-files"], check=True, capture_output=True, text=True)
    return found.stdout.splitlines()


@pytest.fixture
def clone(committed, tmp_path_factory, monkeypatch):
    def made():
        folder = tmp_path_factory.mktemp("clone") / "it"
        git("clone", "-q", str(committed), str(folder))
        monkeypatch.chdir(folder)
        return folder

    return made


def unpinned():
    """The project file without the line that names the ledger."""
    lines = Path("policy-engine.yaml").read_text().splitlines(keepends=True)
    Path("policy-engine.yaml").write_text("".join(x for x in lines if "ledger" not in x))


# Clones.


def test_two_clones_with_the_keyring_alone_begin_no_ledger_each(cli, clone):
    """Attack: each released as entry 2."""
    for _ in range(2):
        clone()
        before = files()
        refused = cli("release", "a.yaml")
        assert refused.code == 3
        assert "there is no ledger here, and " in refused.err
        assert f"{STATE}/keys.json has keys: one that kept the charges" in refused.err
        assert "if nothing was ever released, 'policy-engine ledger begin' begins" in refused.err
        assert cli("plan", "a.yaml").code == 3
        shown = cli("ledger", "show").out
        assert "keys.json has keys" in shown and "left: " not in shown
        assert "people: ε 1, δ 0.000001, by the project file alone: no ledger says" in shown
        assert files() == before


def test_a_clone_of_a_project_whose_ledger_is_named_refuses_and_says_how_to_join(
    cli, committed, clone
):
    begun = cli("ledger", "begin")
    assert begun.code == 0
    assert begun.out.startswith(f"{LEDGER}: begins with sha256:")
    assert "policy-engine.yaml names it: commit that, and keys.json" in begun.out
    assert "keys.json has keys" in begun.err
    commit()
    assert cli("release", "a.yaml", "--format", "json").document["ledger"]["entry"] == 3
    folder = clone()
    before = files()
    Path("sealing.pem").write_bytes((committed / STATE / "sealing.pem").read_bytes())
    Path("sealing.pem").chmod(0o600)
    for words in READS:
        refused = cli(*words)
        assert refused.code == 3
        assert "policy-engine.yaml names the one that keeps this" in refused.err
        assert "name that place in 'ledger' of the project file" in refused.err
    Path("sealing.pem").unlink()
    assert files() == before
    # To join it: name its place, and bring the sealing key, as a second machine does.
    with Path("policy-engine.yaml").open("a") as file:
        file.write(f"ledger: {committed / LEDGER}\n")
    shutil.copy(committed / STATE / "sealing.pem", folder / STATE / "sealing.pem")
    lost = cli("release", "a.yaml")
    assert "neither its release nor a copy of those bytes is here" in lost.err
    shutil.copytree(committed / "out/.released", folder / "out/.released")
    joined = cli("release", "a.yaml", "--format", "json")
    assert (joined.code, joined.document["outcome"]) == (0, "put back")


def test_another_ledger_in_its_place_is_refused(cli, committed, clone):
    """Attack: two clones begin a ledger each, and one is put in the other's place."""
    cli("ledger", "begin")
    other = clone()
    assert cli("ledger", "begin").code == 0
    (other / LEDGER).with_name("ledger.sqlite.head").unlink()
    shutil.copy(committed / LEDGER, other / LEDGER)
    for words in (("release", "a.yaml"), ("ledger", "show")):
        refused = cli(*words)
        assert refused.code == 3
        assert ": this ledger begins with sha256:" in refused.err
        assert "does not have that ledger's charges, so nothing was charged" in refused.err
    found = cli("ledger", "verify")
    assert (found.code, "this ledger begins with sha256:" in found.out) == (1, True)


# What a folder has lost.


@pytest.fixture
def used(cli, policy, project):
    """A project that has released: its first release began the ledger."""
    policy("a")
    policy("b")
    first = cli("release", "a.yaml")
    assert first.code == 0
    assert "policy-engine.yaml now names the ledger that keeps" in first.err
    return project


def lose_ledger_and_witness():
    for end in ("", ".head"):
        Path(LEDGER + end).unlink()


def name_another_ledger():
    with Path("policy-engine.yaml").open("a") as file:
        file.write("ledger: other.sqlite\n")


@pytest.mark.parametrize("is_named", [True, False])
@pytest.mark.parametrize("lose", [lose_ledger_and_witness, name_another_ledger])
@pytest.mark.parametrize("command", [("release", "b.yaml"), ("plan", "b.yaml")])
def test_a_ledger_that_is_lost_or_named_otherwise_does_not_begin_anew(
    cli, used, lose, is_named, command
):
    if not is_named:
        unpinned()
    lose()
    before = files()
    refused = cli(*command)
    assert refused.code == 3
    assert ": the ledger is not here: " in refused.err
    told = "names the one that keeps" if is_named else "sealing.pem is there, which the first"
    assert told in refused.err
    assert "'policy-engine ledger begin --anew' begins another one" in refused.err
    assert files() == before
    assert cli("ledger", "begin").code == 3
    assert files() == before


@pytest.mark.parametrize("gone", ["policy-engine.yaml", STATE])
def test_without_its_file_or_folder_a_project_does_not_begin_anew(cli, used, gone, monkeypatch):
    place = Path(gone)
    shutil.rmtree(place) if place.is_dir() else place.unlink()
    Path("deeper").mkdir()
    shutil.copy("people.parquet", "deeper")
    shutil.copy("b.yaml", "deeper")
    monkeypatch.chdir("deeper")
    before = files(used)
    refused = cli("release", "b.yaml")
    assert refused.code == 3
    told = "has keys or a ledger of a project" if gone != STATE else "names the one that keeps"
    assert told in refused.err
    assert files(used) == before


def test_without_both_the_certificate_tells(cli, used):
    Path("policy-engine.yaml").unlink()
    shutil.rmtree(STATE)
    before = files()
    for words in (("release", "a.yaml", "--replace"), ("release", "b.yaml")):
        refused = cli(*words)
        assert refused.code == 3
        assert "a.certificate.json is the certificate of a release" in refused.err
    assert files() == before


def test_a_bare_folder_that_lost_its_project_file_goes_on_with_its_ledger(cli, used):
    Path("policy-engine.yaml").unlink()
    done = cli("release", "b.yaml", "--format", "json")
    assert done.document["ledger"]["entry"] == 6
    assert load_project("policy-engine.yaml").pin


# Beginning.


def test_a_first_release_names_the_ledger_once_and_keeps_the_file(cli, policy, project):
    text = "# ours\r\naccounts:   # who\r\n  people: {epsilon: 1.0,   delta: 1.0e-6}"
    Path("policy-engine.yaml").write_bytes(text.encode())
    Path("policy-engine.yaml").chmod(0o640)
    cli("release", policy("a"))
    after = Path("policy-engine.yaml").read_bytes().decode()
    assert after.startswith(text + "\r\n# The ledger's first record: a checkout")
    assert after.endswith("\r\n") and after.count("ledger_begins: sha256:") == 1
    assert Path("policy-engine.yaml").stat().st_mode & 0o777 == 0o640
    assert cli("release", policy("a", ("k: 20", "k: 21")), "--replace").code == 0
    assert Path("policy-engine.yaml").read_bytes().decode() == after
    assert "now names" not in cli("release", policy("b")).err


def test_a_folder_with_a_policy_alone_releases(cli, policy, project):
    Path("policy-engine.yaml").unlink()
    done = cli("release", policy("a"))
    assert done.code == 0
    assert done.err.startswith("policy-engine.yaml now names the ledger")
    assert cli("release", policy("b")).code == 0
    assert cli("ledger", "verify").code == 0


def test_each_checkout_has_its_own_where_the_project_file_says_so(cli, policy, project):
    text = "ledger_begins: in_each_checkout\n"
    Path("policy-engine.yaml").write_text(text)
    assert cli("release", policy("a")).err == ""
    begun = cli("ledger", "begin")
    assert begun.out.endswith("every checkout of this project begins its own\n")
    assert Path("policy-engine.yaml").read_text() == text


def test_a_first_release_that_is_refused_leaves_nothing(cli, policy, project):
    limits = Path("policy-engine.yaml").read_text()
    Path("policy-engine.yaml").write_text("accounts: {people: {epsilon: 0.01, delta: 1.0e-9}}\n")
    policy("a")
    policy("b", ("k: 20", "k: 2"))
    before = files()
    for name in ("a.yaml", "b.yaml"):
        assert cli("release", name).code == 1
        assert files() == before
    told = cli("ledger", "show").out
    assert told.startswith(f"no ledger at {LEDGER}: nothing was released or charged from here")
    Path("policy-engine.yaml").write_text(limits)
    assert cli("release", "a.yaml").code == 0


def test_begin_says_what_there_is_and_does_it_once(cli, policy, project):
    first = cli("ledger", "begin", "--format", "json").document
    assert first["records"] == 1
    assert first == cli("ledger", "begin", "--format", "json").document
    assert f"begins with {first['begins']}, 1 record; " in cli("ledger", "begin").out
    assert "whole and signed, 1 record, head 1:" in cli("ledger", "verify").out
    assert first["begins"] == load_project("policy-engine.yaml").pin
    refused = cli("ledger", "begin", "--anew")
    assert (refused.code, "does not begin anew while it is there" in refused.err) == (2, True)
    # Entries are numbered as records are: the beginning is one, the limit another.
    assert cli("release", policy("a"), "--format", "json").document["ledger"]["entry"] == 3
    assert cli("ledger", "verify").code == 0


def test_a_ledger_begun_anew_says_what_it_does_not_know(cli, used):
    old = load_project("policy-engine.yaml").pin
    lose_ledger_and_witness()
    begun = cli("ledger", "begin", "--anew", "--format", "json")
    assert begun.code == 0
    assert "this ledger knows nothing of what was spent before, and " in begun.err
    assert "policy-engine.yaml names another ledger; " in begun.err
    assert "a.certificate.json is the certificate of a release" in begun.err
    assert old not in Path("policy-engine.yaml").read_text()
    assert begun.document["begins"] == load_project("policy-engine.yaml").pin
    refused = cli("release", "a.yaml", "--replace")
    assert refused.code == 3
    assert "a.certificate.json is the certificate of a release that this ledger" in refused.err
    assert cli("ledger", "reconcile", "--from-certificates").code == 0
    assert cli("release", "a.yaml", "--replace").code == 0


def test_an_older_copy_of_the_ledger_lacks_what_the_certificates_say(cli, used):
    """A backup was put back, and the witness is gone with the disk."""
    copy = Path(LEDGER).read_bytes()
    cli("release", "b.yaml")
    Path(LEDGER).write_bytes(copy)
    Path(LEDGER + ".head").unlink()
    found = cli("ledger", "verify", "--format", "json")
    assert (found.code, found.document["intact"]) == (1, True)
    assert found.document["not_charged"] == ["out/b.certificate.json"]
    assert "this ledger has not charged: an older copy" in cli("ledger", "verify").out
    again = cli("release", "b.yaml", "--replace")
    assert again.code == 3
    assert "b.certificate.json is the certificate of a release that this ledger" in again.err
    assert cli("ledger", "reconcile", "--from-certificates").code == 0
    assert json.loads(cli("ledger", "verify", "--format", "json").out)["not_charged"] == []

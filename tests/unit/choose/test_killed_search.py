"""A private search that is killed at each of its steps: charged, seen by nobody, drawn once.

Its life is a release's: charged, begun, drawn where nobody else reads, recorded, put in place,
committed. What is drawn before its digest is recorded was seen by nobody, and goes.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import json
import multiprocessing
import os
import signal
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from policy_engine.cli.main import run
from policy_engine.policy.project import load_project
from policy_engine.releasing.books import open_ledger

POLICY = """\
version: 1
name: a
source: {file: people.parquet}
privacy_unit: row
recode:
  age: {levels: [{round: 10, way: down}, {bins: [30, 60]}], level: 1}
  sex: keep
mechanism: noisy_counts
guarantee: {epsilon: 0.5, delta: 1.0e-6}
search: {epsilon: 0.05}
release: {file: out/a.parquet}
account: people
"""
SEARCH = ["search", "a.yaml", "--format", "json"]
TOLD = ("told.out", "told.err")
CHOSEN = b"private choice"
"""What stands in a policy that was chosen, and in none that was not."""

#: The module, the name, whether it is done before the process dies; what is charged and drawn then.
STEPS = {
    "before the charge": ("policy_engine.ledger.store", "Ledger.reserve", False, None, False),
    "charged": ("policy_engine.ledger.store", "Ledger.start", False, "reserved", False),
    "begun": ("policy_engine.choose.candidates", "Candidates.people", False, "started", False),
    "looked": ("policy_engine.choose.safe", "chosen_text", True, "started", False),
    "drawn": ("policy_engine.ledger.store", "Ledger.draw", False, "started", False),
    "recorded": ("policy_engine.ledger.store", "Ledger.draw", True, "started", True),
    "half placed": ("policy_engine.releasing.publish", "os.link", True, "started", True),
    "placed": ("policy_engine.releasing.publish", "publish_file", True, "started", True),
    "kept": ("policy_engine.releasing.copies", "keep", True, "started", True),
    "committed": ("policy_engine.ledger.store", "Ledger.commit", True, "committed", True),
}
#: A server that has loaded what a search needs, and has seen no source, makes the processes.
PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload([__name__, "policy_engine.cli.searching", *sorted(
    {module for module, *_ in STEPS.values()} | {"policy_engine.warehouse.duckdb"}
)])  # fmt: skip


def dies(folder, step):
    """A search in this process, which is killed at a step; what it says stands in files."""
    os.chdir(folder)
    for number, name in enumerate(TOLD, 1):
        os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT), number)
    module, name, is_done, *_ = STEPS[step]
    place = importlib.import_module(module)
    *path, last = name.split(".")
    for part in path:
        place = getattr(place, part)
    real = getattr(place, last)

    @functools.wraps(real)
    def dying(*words, **named):
        is_it = last != "link" or "a.chosen" in str(words[1])
        found = real(*words, **named) if is_done or not is_it else None
        if is_it:
            os.kill(os.getpid(), signal.SIGKILL)
        return found

    setattr(place, last, dying)
    sys.exit(run(SEARCH))


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("POLICY_ENGINE_SIGNING_KEY", raising=False)
    people = {
        "age": [20 + i * 7 % 60 for i in range(900)],
        "sex": ["fm"[i % 2] for i in range(900)],
    }
    pq.write_table(pa.table(people), "people.parquet")
    Path("a.yaml").write_text(POLICY)
    Path("policy-engine.yaml").write_text("accounts: {people: {epsilon: 2.0, delta: 1.0e-4}}\n")
    return tmp_path


def killed(step):
    process = PROCESSES.Process(target=dies, args=(Path.cwd(), step))
    process.start()
    process.join()
    out, err = (Path(name).read_text() for name in TOLD)
    assert process.exitcode == -signal.SIGKILL, err
    assert (out, "Traceback" in err) == ("", False)


def charged():
    """The states of what was charged, and the digests that were recorded."""
    project = load_project(Path("policy-engine.yaml"))
    if not Path(project.ledger).exists():
        return [], []
    with open_ledger(project) as ledger:
        ledger.verify()
        entries = ledger.read().budget.entries()
        records = [json.loads(each.payload) for each in ledger.books.chain.records]
    drawn = [each["release_digest"] for each in records if "release_digest" in each]
    return [entry.state for entry in entries], list(dict.fromkeys(drawn))


def telling():
    """The files that hold what was chosen: outside the private folder, and in it."""
    files = [path for path in sorted(Path().rglob("*")) if path.is_file()]
    found = [path for path in files if CHOSEN in path.read_bytes()]
    private = [path for path in found if path.parts[:2] == (".policy-engine", "drawn")]
    return [path for path in found if path not in private], private


@pytest.mark.parametrize("is_settled", [False, True], ids=["again", "settled first"])
@pytest.mark.parametrize("step", STEPS)
def test_a_search_that_is_killed_is_charged_and_drawn_once(project, capfd, step, is_settled):
    killed(step)
    *_, state, is_recorded = STEPS[step]
    states, digests = charged()
    assert states == ([] if state is None else [state])
    assert len(digests) == is_recorded
    public, private = telling()
    assert is_recorded or public == []
    for path in private:  # its owner alone may look
        assert path.stat().st_mode & 0o077 == path.parent.stat().st_mode & 0o077 == 0
        assert path.parent.parent.stat().st_mode & 0o077 == 0
    if is_settled:
        assert run(["ledger", "reconcile"]) == 0
        assert is_recorded or telling() == ([], [])
    capfd.readouterr()
    assert run(SEARCH) == 0
    outcome = json.loads(capfd.readouterr().out)["outcome"]
    assert outcome == "chosen" if not is_recorded else outcome in {"stands", "put back"}
    after, drawn = charged()
    assert [each for each in after if each != "cancelled"] == ["committed"]
    assert drawn == [hashlib.sha256(Path("a.chosen.yaml").read_bytes()).hexdigest()]
    assert not is_recorded or drawn == digests
    public, private = telling()
    assert Path("a.chosen.yaml") in public
    assert private == [] or state == "committed"  # then it is a copy of what is public
    assert run(["validate", "a.chosen.yaml"]) == 0
    assert run(["verify", "a.chosen.certificate.json", "--release", "a.chosen.yaml"]) == 0


def test_what_a_search_drew_that_had_its_attempts_is_gone(project, capfd):
    for _ in range(2):
        killed("drawn")
        assert len(telling()[1]) == 1
    capfd.readouterr()
    assert run(SEARCH) == 1
    assert "had its attempts" in json.loads(capfd.readouterr().out)["error"]
    assert charged() == (["kept"], [])
    assert telling() == ([], [])

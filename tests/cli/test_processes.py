"""Streams, signals, other directories and two at once: what only a real process shows."""

from __future__ import annotations

import json
import os
import pty
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from subprocess import PIPE
from threading import Thread

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli_project import Project

HEAVY = ("duckdb", "sqlglot", "pydantic", "numpy", "pyarrow", "jinja2", "cryptography", "rich")
CERTIFY = "calculate --k 20 --rate 0.1 --epsilon 0.5"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    for name in ("POLICY_ENGINE_SIGNING_KEY", "POLICY_ENGINE_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    ages = [20 + i % 60 for i in range(4000)]
    sexes = ["female" if i % 7 < 4 else "male" for i in range(4000)]
    pq.write_table(pa.table({"age": ages, "sex": sexes}), tmp_path / "people.parquet")
    (tmp_path / "policy-engine.yaml").write_text(
        "accounts: {people: {epsilon: 1.0, delta: 1.0e-6}}\n"
    )
    return Project(tmp_path)


@pytest.fixture
def as_anyone() -> Callable[..., tuple[str, ...]]:
    """What to put before a command so that file modes bind it, even for root."""

    def prefix() -> tuple[str, ...]:
        if os.geteuid() != 0:
            return ()
        try:
            words = ("setpriv", "--bounding-set=-dac_override,-dac_read_search")
            subprocess.run([*words, "true"], check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError):
            pytest.skip("root without setpriv: file modes bind nobody here")
        return words

    return prefix


@pytest.mark.parametrize("words", [["--help"], ["--version"]])
def test_help_loads_nothing_heavy(words):
    code = (
        "import sys\n"
        "from policy_engine.cli.main import run\n"
        f"code = run({words!r})\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)\n"
        "sys.exit(code)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"


def test_numbers_need_no_warehouse():
    code = (
        "import sys\n"
        "from policy_engine.cli.main import run\n"
        f"run({CERTIFY.split()!r})\n"
        "print([n for n in ('duckdb', 'sqlglot', 'pyarrow') if n in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    ("script", "code", "told"),
    [
        (f"pe {CERTIFY} >&-", 0, ""),
        (f"pe {CERTIFY} > /dev/full", 3, "error: the output failed: No space left on device\n"),
        ("pe schema | head -1 > /dev/null; exit ${PIPESTATUS[1]}", 0, ""),
        (f"pe {CERTIFY} 2>&-", 0, ""),
        ("pe nope 2>&-", 2, ""),
        ("pe certify-sql - <&-", 1, ""),
    ],
)
def test_streams_that_are_closed_or_full(project, script, code, told):
    if "/dev/full" in script and not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    done = project.shell(script)
    assert done.code == code
    assert done.err == told


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("plan", "a.yaml"), 0),
        (("release", "a.yaml"), 0),
        (("release", "a.yaml", "--format", "json"), 0),
        (("validate", "broken.yaml"), 1),
        (("release", "broken.yaml"), 1),
    ],
    ids=lambda given: " ".join(given) if isinstance(given, tuple) else None,
)
def test_a_reader_that_leaves_changes_no_code(project, words, code):
    project.policy()
    (project.root / "broken.yaml").write_text("k: 1\n")
    read, write = os.pipe()
    os.close(read)
    done = project.run(*words, stdout=write)
    os.close(write)
    assert done.code == code
    assert bool(project.released()) == (words[:2] == ("release", "a.yaml"))
    assert ("broken.yaml:1:1: version is missing" in done.err) == (
        words[0:2] == ("release", "broken.yaml")
    )


def test_json_is_alone_on_stdout_and_errors_come_once(project):
    done = project.shell("pe release nope.yaml --format json 2> err; cat err >&2")
    assert json.loads(done.out) == {
        "error": "nope.yaml: the policy file does not exist",
        "code": "file_failed",
    }
    assert done.err == "error: nope.yaml: the policy file does not exist\n"


def test_json_is_utf_8_whatever_the_terminal(project):
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "LC_ALL": "C"}
    text = project.run(*CERTIFY.split(), env=environment)
    assert (text.code, "\\u03b5 = 0.5" in text.out) == (0, True)
    name = "données 😀.yaml"
    (project.root / name).write_text("k: 1\n")
    done = project.run("validate", name, "--format", "json", env=environment)
    assert done.document["files"] == [name]


def test_without_home_and_without_colour(project):
    environment = {key: value for key, value in os.environ.items() if key != "HOME"}
    environment |= {"NO_COLOR": "1", "TERM": "dumb"}
    done = project.run("release", project.policy(), env=environment)
    assert done.code == 0
    assert "\x1b" not in done.out + done.err


def at_a_terminal(start):
    """What a process prints on stdout, and what it shows on the terminal that is its stderr."""
    main, other = pty.openpty()
    process = start(other)
    os.close(other)
    seen: list[bytes] = []

    def read():
        try:
            while chunk := os.read(main, 65536):
                seen.append(chunk)
        except OSError:
            pass  # Linux ends a terminal so

    reader = Thread(target=read)
    reader.start()
    out, _ = process.communicate(timeout=600)
    reader.join()
    os.close(main)
    return process.returncode, out, b"".join(seen).decode()


def test_a_terminal_gets_progress_on_stderr_only(project):
    policy = project.policy()
    code, out, seen = at_a_terminal(
        lambda to: project.start("release", policy, "--format", "json", stderr=to)
    )
    assert code == 0 and 0 < json.loads(out)["groups"] <= 6
    assert "releasing a" in seen
    _, _, seen = at_a_terminal(lambda to: project.start("release", policy, "--quiet", stderr=to))
    assert seen == ""


def test_the_engine_is_not_asked_how_far_it_is_once_its_connection_is_closed(project):
    # What comes after the close takes longer than the time between two questions.
    code = f"""
import sys, time
from policy_engine.warehouse.settings import Spill
remove = Spill.remove
def slowly(spill):
    time.sleep(1)
    remove(spill)
Spill.remove = slowly
sys.argv = ["policy-engine", "release", {project.policy()!r}]
from policy_engine.cli.main import main
main()
"""
    done, out, seen = at_a_terminal(
        lambda to: subprocess.Popen(
            [sys.executable, "-c", code], cwd=project.root, text=True, stdout=PIPE, stderr=to
        )
    )
    assert done == 0 and out.startswith("released a")
    assert "Traceback" not in seen and "releasing a" in seen


def test_any_directory_will_do(project, tmp_path_factory):
    project.policy()
    elsewhere = tmp_path_factory.mktemp("else where é")
    policy = os.path.relpath(project.root / "a.yaml", elsewhere)
    done = project.run("release", policy, cwd=elsewhere)
    assert done.code == 0
    assert project.released() == ["a.certificate.json", "a.parquet"]
    assert list(elsewhere.iterdir()) == []
    certificate = str(project.root / "out" / "a.certificate.json")
    assert project.run("verify", certificate, cwd=elsewhere).code == 2
    key = str(project.root / ".policy-engine" / "signing.pub")
    assert project.run("verify", certificate, "--key", key, cwd=elsewhere).code == 4
    assert project.account()["entries"] == 1


def test_odd_paths(project, tmp_path):
    odd = tmp_path / "a b" / "día %20 #1"
    odd.mkdir(parents=True)
    (odd / "pö licy.yaml").write_text(
        (project.root / project.policy()).read_text().replace("people.p", "../../people.p")
    )
    policy = "a b/día %20 #1/pö licy.yaml"
    done = project.run("release", policy, "--format", "json")
    assert done.code == 0
    release, certificate = done.document["release"], done.document["certificate"]
    assert project.run("verify", certificate, "--release", release).code == 0
    found = project.run("validate", policy, "missing #.yaml", "--format", "sarif").document
    place = found["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "missing%20%23.yaml"


def test_a_plan_creates_nothing_in_the_project(project):
    policy = project.policy()
    before = sorted(project.root.rglob("*"))
    assert project.run("plan", policy).code == 0
    assert sorted(project.root.rglob("*")) == before


def test_a_folder_that_cannot_be_written(project, as_anyone):
    project.policy()
    (project.root / "out").mkdir()
    (project.root / "out").chmod(0o555)
    command = [*as_anyone(), sys.executable, "-m", "policy_engine", "release", "a.yaml"]
    done = subprocess.run(command, cwd=project.root, capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert "could not be written: permission is denied; nothing was published" in done.stderr
    assert not (project.root / ".policy-engine" / "ledger.sqlite").exists()


#: Where a process sends itself a real SIGINT: before the charge, and at each step after it.
MOMENTS = {
    "policy_engine.releasing.planning:compiled": 0,
    "policy_engine.releasing.beginning:ledger_writer": 0,
    "policy_engine.releasing.beginning:writer_of": 0,
    "policy_engine.releasing.books:write_pin": 1,
    "policy_engine.releasing.job:new_secret": 0,
    "policy_engine.releasing.job:secret_of": 1,
    "policy_engine.releasing.job:write_parquet": 1,
    "policy_engine.releasing.placing:sign": 1,
    "policy_engine.releasing.publish:publish_file": 1,
    "policy_engine.releasing.publish:_sync": 1,
    "policy_engine.releasing.publish:_put_in_place": 1,
}


def interrupted_by(project, code):
    code += f"""
sys.argv = ["policy-engine", "release", {project.policy()!r}, "--format", "json"]
from policy_engine.cli.main import main
main()
"""
    return subprocess.run(
        [sys.executable, "-c", code], cwd=project.root, capture_output=True, text=True, check=False
    )


def interrupted_at(project, moment, number):
    module, _, name = moment.partition(":")
    code = f"""
import importlib, os, sys
module = importlib.import_module({module!r})
real = getattr(module, {name!r})
def interrupted(*words, **named):
    os.kill(os.getpid(), {int(number)})
    return real(*words, **named)
setattr(module, {name!r}, interrupted)
"""
    return interrupted_by(project, code)


def check_interrupted(project, moment, charged, number):
    check_stopped(project, interrupted_at(project, moment, number), charged)


def check_stopped(project, done, charged):
    assert done.returncode == 130
    assert "Traceback" not in done.stderr
    assert done.stderr.splitlines()[-1].startswith("error: interrupted;")
    assert json.loads(done.stdout)["error"].startswith("interrupted;")
    assert project.released() == []
    assert project.leftovers() == []
    account = project.account()
    assert (account["entries"], account["reserved"]) == (charged, charged)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_after_the_charge_leaves_nothing_but_the_charge(project, number):
    check_interrupted(project, "policy_engine.releasing.job:secret_of", 1, number)
    # What was charged is drawn now, and charged no more.
    again = project.run("release", "a.yaml", "--format", "json")
    assert (again.code, again.err, again.document["outcome"]) == (0, "", "released")
    account = project.account()
    assert (account["entries"], account["reserved"]) == (1, 0)


def test_an_interrupt_waits_until_a_module_is_imported(project):
    """DuckDB's module aborts the process if anything is raised while it makes its enumerations."""
    code = """
import enum, os, sys
real = enum.EnumType.__prepare__
def interrupted(metaclass, name, bases, **named):
    if name == "ExplainType":
        os.kill(os.getpid(), 2)
    return real(name, bases, **named)
enum.EnumType.__prepare__ = classmethod(interrupted)
"""
    check_stopped(project, interrupted_by(project, code), 0)


@pytest.mark.evidence
@pytest.mark.parametrize(("moment", "charged"), MOMENTS.items())
def test_an_interrupt_at_any_step(project, moment, charged):
    check_interrupted(project, moment, charged, signal.SIGINT)


#: Where a process is killed, and what `ledger reconcile` then makes of its entry.
KILLS = {
    "policy_engine.releasing.copies:drawn": (
        "kept",
        "nothing came out that anybody could have seen",
    ),
    "policy_engine.releasing.publish:_put_in_place": ("kept", "it was drawn and does not stand"),
    "policy_engine.releasing.release:_commit": (
        "committed",
        "its release stands with its certificate",
    ),
}


@pytest.mark.evidence
@pytest.mark.parametrize(("moment", "found"), KILLS.items())
def test_what_a_kill_left_is_settled_by_what_exists(project, moment, found):
    outcome, why = found
    assert interrupted_at(project, moment, signal.SIGKILL).returncode == -signal.SIGKILL
    account = project.account()
    assert (account["entries"], account["reserved"]) == (1, 1)
    settled = project.run("ledger", "reconcile", "--format", "json")
    assert settled.code == 0
    [entry] = settled.document["settled"]
    assert (entry["entry"], entry["outcome"]) == (2, outcome)
    assert entry["why"].startswith(why)
    stands = ["a.certificate.json", "a.parquet"] if outcome == "committed" else []
    assert project.released() == stands
    assert project.leftovers() == []
    assert project.run("ledger", "reconcile").out == "0 settled\n"
    account = project.account()
    assert (account["entries"], account["reserved"]) == (1, 0)
    # What was paid for comes out at last, whatever became of its entry.
    again = project.run("release", "a.yaml", "--format", "json")
    assert (again.code, again.err) == (0, "")
    assert again.document["repeated"] is not why.startswith("nothing came out")
    assert project.account()["entries"] == 1
    verified = project.run("verify", "out/a.certificate.json", "--release", "out/a.parquet")
    assert verified.code == 0
    assert project.run("ledger", "verify").code == 0


def test_what_was_charged_and_never_started_is_given_back(project):
    moment = "policy_engine.ledger.store:follows"
    assert interrupted_at(project, moment, signal.SIGKILL).returncode == -signal.SIGKILL
    assert project.account()["reserved"] == 1
    text = project.run("ledger", "reconcile")
    assert text.out == "1 settled\n     2  cancelled  it was never started, so nothing ran\n"
    account = project.account()
    assert (account["entries"], account["reserved"], account["epsilon_spent"]) == (0, 0, 0)
    done = project.run("release", "a.yaml", "--format", "json")
    assert (done.err, done.document["repeated"]) == ("", False)


@pytest.mark.evidence
@pytest.mark.parametrize("delay", [0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 0.9])
def test_ctrl_c_at_any_time(project, delay):
    process = project.start("release", project.policy())
    time.sleep(delay)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=600)
    # On a busy machine Python itself may not listen yet, and then the signal ends it.
    assert process.returncode in {0, 130, -signal.SIGINT}
    assert "Traceback" not in err
    assert project.leftovers() == []
    account = project.account()
    if project.released():
        assert project.released() == ["a.certificate.json", "a.parquet"]
        assert account["entries"] == 1
    else:
        assert process.returncode == 130
        assert account["entries"] == account["reserved"]


def test_two_releases_of_one_policy_at_once(project):
    (project.root / "policy-engine.yaml").write_text("{}\n")
    assert project.run("release", project.policy("before")).code == 0  # it makes the key
    shutil.rmtree(project.root / "out")
    policy = project.policy()
    both = [project.start("release", policy, "--format", "json") for _ in range(2)]
    outs = [process.communicate(timeout=600) for process in both]
    assert [process.returncode for process in both] == [0, 0]
    documents = [json.loads(out) for out, _ in outs]
    # One release, one charge; which of the two drew it nobody can tell.
    assert len({each["ledger"]["entry"] for each in documents}) == 1
    shown = project.run("ledger", "show", "--format", "json").document["entries"]
    assert [(each["policy"], each["state"]) for each in shown] == [
        ("before", "committed"), ("a", "committed")
    ]  # fmt: skip
    assert project.released() == ["a.certificate.json", "a.parquet"]
    assert project.leftovers() == []
    verified = project.run("verify", "out/a.certificate.json", "--release", "out/a.parquet")
    assert verified.code == 0


def test_two_releases_that_together_cost_too_much(project):
    assert project.run("release", project.policy("before")).code == 0  # it makes the key
    shutil.rmtree(project.root / "out")
    (project.root / "policy-engine.yaml").write_text(
        "accounts: {people: {epsilon: 0.5, delta: 1.5e-10}}\n"
    )
    both = [project.start("release", project.policy(name)) for name in ("a", "b")]
    outs = [process.communicate(timeout=600) for process in both]
    assert sorted(process.returncode for process in both) == [0, 1]
    [told] = [err for (_, err), p in zip(outs, both, strict=True) if p.returncode]
    assert "cannot pay for policy" in told
    assert len(project.released()) == 2
    assert project.account()["entries"] == 2


def test_a_ledger_that_another_holds_is_waited_for(project):
    policy = project.policy()
    project.run("release", policy)
    import sqlite3

    holder = sqlite3.connect(project.root / ".policy-engine/ledger.sqlite", isolation_level=None)
    holder.execute("begin immediate")
    process = project.start("release", project.policy("b"))
    time.sleep(1.2)
    assert process.poll() is None
    holder.execute("rollback")
    holder.close()
    process.communicate(timeout=600)
    assert process.returncode == 0

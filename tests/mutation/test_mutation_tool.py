"""The tool that scores the tests is tested itself: on a room whose every mutant is known."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
sys.path.insert(0, str(SCRIPTS))

from mutation_operators import mutants  # noqa: E402
from mutation_test import EXPLAINED, ROOT, explained_by  # noqa: E402

CODE = '''\
"""A room."""

LIMIT = 3


def bounded(x: int) -> int:
    """At most three."""
    while x > LIMIT:
        x -= 1
    return x
'''
STRONG = """\
from tiny.accounting.steps import bounded


def test_bounded():
    assert [bounded(x) for x in range(6)] == [0, 1, 2, 3, 3, 3]
"""
WEAK = STRONG.replace("[bounded(x) for x in range(6)] == [0, 1, 2, 3, 3, 3]", "bounded(9) <= 3")
SURVIVORS = {"x > LIMIT → x >= LIMIT", "x -= 1 → x -= 2", "LIMIT = 3 → LIMIT = 2"}


@pytest.mark.parametrize(
    ("code", "changed"),
    [
        ("x = a < b", {"x = a <= b", "x = a >= b"}),
        ("x = a == b", {"x = a != b"}),
        ("x = a + b * c", {"x = a - b * c", "x = a + b / c"}),
        ("x = a and b", {"x = a or b", "x = a", "x = b"}),
        ("x = not a", {"x = a"}),
        ("x = 7", {"x = 8", "x = 6"}),
        ("x = True", {"x = False"}),
        ("x = Decimal('1e-30')", {f"x = Decimal('{n}')" for n in ("0", "1E-29", "1E-31")}),
        ("x = 0.5", {"x = 0.0", "x = 5.0", "x = 0.05"}),
        ("x = 0.0", {"x = 1.0"}),
        ("x = min(a, b)", {"x = max(a, b)", "x = a", "x = b"}),
        ("x = math.floor(a)", {"x = math.ceil(a)"}),
        ("x = ROUND_CEILING", {"x = 'ROUND_FLOOR'"}),
        ("x = ROUND_UP", {"x = 'ROUND_DOWN'"}),
        ("x = upward(a, exact=b)", {"x = -upward(-a, exact=b)"}),
        ("if a:\n    b()", {"not a", "pass"}),
        ("a += b", {"pass", "a -= b"}),
        ("a.b = c", {"pass"}),
        ("for _ in a:\n    break", {"pass"}),
        ("raise Wrong(1 + 2)", {"pass"}),
        ('"""Text 1 < 2."""\nx: Literal[1] = y\nx = f"{1 < 2}"', set()),
    ],
)
def test_what_is_changed(code, changed):
    assert {one.after for one in mutants(code)} == changed


def test_a_return_gives_nothing():
    assert {one.after for one in mutants("def f(a):\n    return a")} == {"return None"}


def test_a_change_stays_in_its_place():
    """Signs of several bytes before it, and lines of its own after it, are not moved."""
    code = 'def f(a):\n    g("δ", a < 1)  # ε\n    return None\n'
    [one] = [one for one in mutants(code) if "<=" in one.after]
    assert one.source == code.replace("a < 1", "(a <= 1)")
    assert (one.function, one.line, one.needs) == ("f", 2, (2, 2))


def test_a_default_is_seen_by_whatever_runs_the_function():
    [one] = [one for one in mutants("def f(a=1):\n    b()\n    c()") if one.after == "2"]
    assert one.needs == (2, 3)


def room(folder, test):
    for name, text in {
        "pyproject.toml": "[tool.pytest.ini_options]\n",
        "tiny/__init__.py": "",
        "tiny/accounting/__init__.py": "",
        "tiny/accounting/steps.py": CODE,
        "tests/test_steps.py": test,
    }.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def run(folder, *more):
    """The exit code, and of each mutant what became of it."""
    report = folder.parent / "report.json"
    command = [sys.executable, str(SCRIPTS / "mutation_test.py"), "accounting", "--package=tiny"]
    where = [f"--root={folder}", f"--report={report}", "--tests=tests", "--grace=0.5"]
    done = subprocess.run([*command, *where, *more], capture_output=True, text=True, check=False)
    if not report.exists():
        return done.returncode, done.stderr
    return done.returncode, {
        one["before"] + " → " + one["after"]: one["outcome"]
        for one in json.loads(report.read_text())
    }


@pytest.mark.evidence
def test_strong_tests_kill_all_and_nothing_is_touched(tmp_path):
    folder = room(tmp_path / "room", STRONG)
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    code, outcomes = run(folder)
    assert code == 0
    assert len(outcomes) == len(mutants(CODE))
    assert outcomes.pop("x -= 1 → pass") == "time-out"
    assert set(outcomes.values()) <= {"killed", "time-out"}
    assert before == {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.evidence
def test_weak_tests_let_some_live_until_they_are_explained(tmp_path):
    folder = room(tmp_path / "room", WEAK)
    code, outcomes = run(folder)
    survived = {what for what, outcome in outcomes.items() if outcome == "survived"}
    assert code == 1
    assert survived == SURVIVORS
    page = folder / "contributing/mutation.md"
    page.parent.mkdir(parents=True)
    page.write_text("| accounting/steps.py | | `LIMIT = 3` | `LIMIT = 2` | why |")
    code, outcomes = run(folder, "--function=")
    assert code == 0
    assert outcomes == {"LIMIT = 3 → LIMIT = 4": "killed", "LIMIT = 3 → LIMIT = 2": "explained"}


def test_tests_that_fail_anyway_are_no_evidence(tmp_path):
    folder = room(tmp_path / "room", STRONG.replace("3, 3, 3]", "3, 3, 4]"))
    code, error = run(folder)
    assert code == 3
    assert "the tests of accounting fail without any mutant" in error


def test_a_sample_is_the_seeds(tmp_path):
    folder = room(tmp_path / "room", STRONG)
    command = [sys.executable, str(SCRIPTS / "mutation_test.py"), "accounting", "--package=tiny"]
    chosen = [
        subprocess.check_output(
            [*command, f"--root={folder}", "--list", "--sample=4", f"--seed={seed}"], text=True
        ).splitlines()
        for seed in (1, 1, 2)
    ]
    assert chosen[0] == chosen[1] != chosen[2]
    assert len(chosen[0]) == 4


@pytest.mark.evidence
def test_what_the_page_explains_is_still_a_change_of_the_code():
    """Of code that was rewritten an explanation says nothing."""
    explained = explained_by(ROOT / EXPLAINED)
    assert explained
    for module in {row[0] for row in explained}:
        source = (ROOT / "policy_engine" / module).read_text()
        there = {(module, one.function, one.before, one.after) for one in mutants(source)}
        assert {row for row in explained if row[0] == module} <= there

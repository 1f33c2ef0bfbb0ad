"""Where mutants are judged: which tests see a line, and what these say of a change of it.

All of it runs on a copy of the tree, in the folder that this process works in. Whatever imports the
copy does so in a process of its own, forked from this one.
"""

from __future__ import annotations

import ast
import hashlib
import json
import math
import os
import resource
import signal
import sys
import time
from collections.abc import Callable, Generator, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
from mutation_operators import Mutant

_PYTEST = (
    "-x", "-q", "--no-header", "--tb=short", "-rN", "--doctest-modules", "--hypothesis-seed=0",
    "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:cov", "--hypothesis-profile=mutation",
)  # fmt: skip
_TIMES = 3.0
"""A mutant may use so many times what its tests took before, and ``--grace`` seconds more."""
_MEMORY = 8 * 2**30
_FAILED = (1, 2)
"""pytest's exit codes for a test that failed, and for a module that could not be imported."""
_PASSED = (0, 5)
"""5: none of the tests was there, as their names depend on what was changed."""


@dataclass(frozen=True)
class Facts:
    """What one run of a room's tests on the unchanged copy told."""

    seconds: dict[str, float]
    """By test."""
    lines: dict[str, dict[int, list[str]]]
    """By file and line, the tests that ran it."""


@dataclass(frozen=True)
class Found:
    """What became of one mutant."""

    module: str
    function: str
    line: int
    before: str
    after: str
    outcome: str
    tests: int
    seconds: float


class _Chosen:
    """A pytest plugin: only these tests, in this order."""

    def __init__(self, tests: list[str]) -> None:
        self._place = {test: place for place, test in enumerate(tests)}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = sorted(
            (item for item in items if item.nodeid in self._place),
            key=lambda item: self._place[item.nodeid],
        )


class _Watched:
    """A pytest plugin: how long each test takes, and a context of coverage for each."""

    def __init__(self, switch: Callable[[str], object]) -> None:
        self.seconds: dict[str, float] = {}
        self._switch = switch

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, None, None]:
        self._switch(item.nodeid)
        start = time.process_time()
        yield
        self.seconds[item.nodeid] = time.process_time() - start
        self._switch("")


def facts_of(work: Path, tree: Path, folder: Path, tests: tuple[str, ...]) -> Facts | None:
    """By a run of the test files whose facts no run before has kept; None if a test fails."""
    code = sorted(folder.glob("*.py"))
    kept = {
        path: work / f"facts-{_digest([*code, path, *_helpers(path)])}.json"
        for path in _test_files(tree, tests)
    }
    missing = {path: facts for path, facts in kept.items() if not facts.exists()}
    if missing:
        print(f"{folder.name}: which test runs which line", file=sys.stderr)
        if forked(work, lambda: _run_watched(missing, tree, folder), cpu=3600.0) != 0:
            return None
    found = Facts({}, {})
    for facts in kept.values():
        read = json.loads(facts.read_text())
        found.seconds.update(read["seconds"])
        for module, by_line in read["lines"].items():
            lines = found.lines.setdefault(module, {})
            for line, some in by_line.items():
                lines.setdefault(int(line), []).extend(some)
    return found


def _test_files(tree: Path, tests: tuple[str, ...]) -> list[Path]:
    files = [file for test in tests for file in sorted((tree / test).rglob("*.py"))]
    files += [tree / test for test in tests if test.endswith(".py")]
    return [file for file in files if "tests" not in file.parts or file.name.startswith("test_")]


def _helpers(test: Path) -> list[Path]:
    return [path for path in sorted(test.parent.glob("*.py")) if path.name[:5] != "test_"]


def _digest(paths: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        digest.update(f"{path.name}\0".encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def collect(tests: tuple[str, ...]) -> int:
    """Leave behind the test files as pytest rewrites them, or each mutant would wait for that."""
    sys.dont_write_bytecode = False
    return int(pytest.main([*_PYTEST, "--collect-only", *tests]))


def _run_watched(kept: dict[Path, Path], tree: Path, folder: Path) -> int:
    import coverage

    measured = coverage.Coverage(
        data_file=None, include=[f"{folder}/*"], config_file=False, branch=False
    )
    measured.start()
    watched = _Watched(measured.switch_context)
    code = int(pytest.main([*_PYTEST, *map(str, kept)], plugins=[watched]))
    measured.stop()
    data = measured.get_data()
    ran = {path: data.contexts_by_lineno(path) for path in data.measured_files()}
    for path, facts in kept.items():
        of = f"{path.relative_to(tree)}::"
        seconds = {test: spent for test, spent in watched.seconds.items() if test.startswith(of)}
        lines = {
            Path(module).name: {
                line: [test for test in contexts if test in seconds]
                for line, contexts in by_line.items()
            }
            for module, by_line in ran.items()
        }
        if code == 0:
            facts.write_text(json.dumps({"seconds": seconds, "lines": lines}))
    return code


@dataclass(frozen=True)
class Bench:
    """Where mutants of one room are judged."""

    work: Path
    package: Path
    facts: Facts
    budget: float
    grace: float
    explained: set[tuple[str, ...]]

    def passes(self, path: Path) -> bool:
        """Whether the quickest tests of a file pass without a mutant, run as for a mutant."""
        tests = {test for some in self.facts.lines.get(path.name, {}).values() for test in some}
        return not tests or self._run(self._within(tests, path, self.budget / 4)) == 0

    def judge(self, path: Path, mutant: Mutant) -> Found:
        """Show one mutant to the tests, and put the file back."""
        tests = self._within(_tests_of(mutant, path, self.facts), path, self.budget)
        module = str(path.relative_to(self.package))
        start, original = time.monotonic(), path.read_text()
        path.write_text(mutant.source)
        try:
            outcome = self._outcome(path, tests)
        finally:
            path.write_text(original)
        if outcome == "survived" and key_of(module, mutant) in self.explained:
            outcome = "explained"
        seconds = round(time.monotonic() - start, 1)
        at = (module, mutant.function, mutant.line, mutant.before, mutant.after)
        print(f"{outcome:9} {seconds:5.1f} s {len(tests):4} tests", *at, file=sys.stderr, sep="  ")
        return Found(*at, outcome, len(tests), seconds)

    def _within(self, tests: set[str], path: Path, budget: float) -> list[str]:
        """As many as the budget allows, and one at least: the module's own, then the quickest."""
        chosen: list[str] = []
        spent = 0.0
        seconds = self.facts.seconds
        for test in sorted(tests, key=lambda test: (not _own(test, path), seconds[test], test)):
            spent += seconds[test]
            if chosen and spent > budget:
                break
            chosen.append(test)
        return chosen

    def _outcome(self, path: Path, tests: list[str]) -> str:
        """The module's own tests alone at first: few files to read, and most mutants end there."""
        own = [test for test in tests if _own(test, path)]
        for some in (own, tests[len(own) :]):
            code = self._run(some) if some else 0
            if code is None:
                return "time-out"
            if code in _FAILED:
                return "killed"
            if code not in _PASSED:
                raise RuntimeError(f"pytest ended with {code}:\n{(self.work / 'log').read_text()}")
        return "survived"

    def _run(self, tests: list[str]) -> int | None:
        seconds = sum(self.facts.seconds[test] for test in tests)
        return forked(self.work, lambda: _run_chosen(tests), cpu=self.grace + _TIMES * seconds)


def _own(test: str, path: Path) -> bool:
    return Path(test.partition("::")[0]).name in (f"test_{path.stem}.py", path.name)


def key_of(module: str, mutant: Mutant | Found) -> tuple[str, ...]:
    """What tells a mutant from others, wherever its line has gone."""
    return module, mutant.function, mutant.before, mutant.after


def _tests_of(mutant: Mutant, path: Path, facts: Facts) -> set[str]:
    """The tests that run a line of the mutant, or one that reads a constant it changes.

    Where there are none, what runs with an import, all that run a line of its module.
    """
    lines = facts.lines.get(path.name, {})
    first, last = mutant.needs
    found = {test for line in range(first, last + 1) for test in lines.get(line, ())}
    for other in path.parent.glob("*.py") if mutant.constants else ():
        for line in _reading(other, mutant.constants):
            found.update(facts.lines.get(other.name, {}).get(line, ()))
    return found or {test for tests in lines.values() for test in tests}


def _reading(path: Path, names: tuple[str, ...]) -> set[int]:
    tree = ast.parse(path.read_text())
    return {
        node.lineno
        for node in ast.walk(tree)
        if (isinstance(node, ast.Name) and node.id in names and isinstance(node.ctx, ast.Load))
        or (isinstance(node, ast.Attribute) and node.attr in names)
    }


def _run_chosen(tests: list[str]) -> int:
    files = sorted({test.partition("::")[0] for test in tests})
    return int(pytest.main([*_PYTEST, *files], plugins=[_Chosen(tests)]))


def forked(work: Path, run: Callable[[], int], cpu: float) -> int | None:
    """The exit code of a function in a process of its own; None if it used up its time."""
    child = os.fork()
    if child == 0:
        code = 3
        try:
            os.setpgid(0, 0)
            with (work / "log").open("w") as log:
                os.dup2(log.fileno(), 1)
                os.dup2(log.fileno(), 2)
                resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(cpu), math.ceil(cpu) + 5))
                resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
                code = run()
                sys.stdout.flush()
        finally:
            os._exit(code)
    try:
        # Time on the clock matters only for one that waits for ever.
        status = _waited(child, time.monotonic() + 60 + 10 * cpu)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)  # whatever it has started
    return os.WEXITSTATUS(status) if os.WIFEXITED(status) else None


def _waited(child: int, limit: float) -> int:
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return status
        if time.monotonic() > limit:
            os.killpg(child, signal.SIGKILL)
        time.sleep(0.01)

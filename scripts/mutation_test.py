"""Mutation testing: which small changes of a room's code does no test see?

    python scripts/mutation_test.py accounting --sample 25

The tree is copied, and only the copy is changed. The room's tests run there once, to learn which
test runs which line and for how long. Then each mutant (``mutation_operators``) is written over
its file, and the tests that run its lines are run in a process of their own, the quickest first,
until one fails. A mutant that uses up its processor time counts as killed. Which mutants are
looked at depends on the source and the seed alone.

Survivors that contributing/mutation.md explains are told apart. Exit codes: 0 no
others, 1 others, 2 wrong usage, 3 the room's tests fail on the copy as it is.
"""

from __future__ import annotations

import argparse
import compileall
import fcntl
import json
import os
import py_compile
import random
import shutil
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict
from fnmatch import fnmatch
from functools import partial
from importlib import import_module
from pathlib import Path

import hypothesis
from mutation_bench import Bench, Found, collect, facts_of, forked, key_of
from mutation_operators import Mutant, mutants

ROOT = Path(__file__).resolve().parents[1]
EXPLAINED = Path("contributing/mutation.md")
ROOMS = {
    "accounting": (
        "policy_engine/accounting",
        "tests/unit/accounting",
        "tests/property/test_accounting.py",
    ),
    "attest": ("policy_engine/attest", "tests/unit/attest"),
    "kernel": ("policy_engine/kernel", "tests/unit/kernel"),
}
"""The folders of the package that can be asked for, and the tests that speak of each."""

_LIBRARIES = (
    "cryptography.hazmat.primitives.asymmetric.ed25519", "cryptography.x509",
    "dp_accounting.pld.privacy_loss_distribution", "duckdb", "flint", "jinja2", "jsonschema",
    "mpmath", "numpy", "pyarrow.parquet", "pydantic", "rich.table", "ruamel.yaml", "scipy.stats",
    "sqlglot", "sqlglot.optimizer", "typer.testing",
)  # fmt: skip
"""Loaded once, and not by every mutant's process."""
_NOT_COPIED = shutil.ignore_patterns(".*", "__pycache__", "_build", "out", "dist", "build")
_OUTCOMES = ("killed", "time-out", "explained", "survived")


def main(arguments: list[str]) -> int:
    """Run what the command line asks for; the exit code."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    asked = _parser().parse_args(arguments)
    if asked.list:
        for room in asked.rooms:
            for path, chosen in _sampled(asked, asked.root / asked.package / room):
                for one in chosen:
                    print(f"{path.name}:{one.line} {one.function}: {one.before} → {one.after}")
        return 0
    if asked.work:
        asked.work.mkdir(parents=True, exist_ok=True)
        return _measure(asked, asked.work.resolve())
    with tempfile.TemporaryDirectory(prefix="mutation-") as work:
        return _measure(asked, Path(work).resolve())


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("rooms", nargs="+", choices=sorted(ROOMS), metavar="ROOM")
    parser.add_argument("--module", action="append", help="only files of this name, * is anything")
    parser.add_argument("--function", help="only functions of this name, * is anything")
    parser.add_argument("--sample", type=int, default=0, help="so many a module; 0: all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--budget", type=float, default=20.0, help="seconds of tests a mutant")
    parser.add_argument("--grace", type=float, default=10.0, help=argparse.SUPPRESS)
    parser.add_argument("--again", type=Path, help="only what survived in this report")
    parser.add_argument("--list", action="store_true", help="show the mutants and run nothing")
    parser.add_argument("--work", type=Path, help="a folder that is kept, to start sooner again")
    parser.add_argument("--report", type=Path, help="what was found, as JSON")
    parser.add_argument("--root", type=Path, default=ROOT, help=argparse.SUPPRESS)
    parser.add_argument("--package", default="policy_engine", help=argparse.SUPPRESS)
    parser.add_argument("--tests", action="append", help="instead of the room's own tests")
    return parser


def _measure(asked: argparse.Namespace, work: Path) -> int:
    lock = (work / "lock").open("w")
    fcntl.flock(lock, fcntl.LOCK_EX)  # another run here would change the same copy
    tree = work / "tree"
    shutil.rmtree(tree, ignore_errors=True)
    shutil.copytree(asked.root, tree, ignore=_NOT_COPIED)
    # By the hash of a source, so that a file that changes twice in a second is not taken for
    # what it was.
    by_hash = py_compile.PycInvalidationMode.CHECKED_HASH
    compileall.compile_dir(tree / asked.package, quiet=1, invalidation_mode=by_hash)
    _settle(tree, _LIBRARIES if asked.package == "policy_engine" else ())
    explained = explained_by(tree / EXPLAINED)
    found: list[Found] = []
    for room in asked.rooms:
        folder = tree / asked.package / room
        tests = tuple(asked.tests or ROOMS[room])
        forked(work, partial(collect, tests), cpu=600.0)
        facts = facts_of(work, tree, folder, tests)
        if facts is None:
            return _broken(room, work)
        bench = Bench(work, tree / asked.package, facts, asked.budget, asked.grace, explained)
        for path, chosen in _sampled(asked, folder):
            if not bench.passes(path):
                return _broken(path.name, work)
            found += [bench.judge(path, mutant) for mutant in chosen]
            if not bench.passes(path):
                return _broken(path.name, work)
    _print_table(found, asked)
    if asked.report:
        asked.report.write_text(json.dumps([asdict(one) for one in found], indent=1) + "\n")
    return 1 if any(one.outcome == "survived" for one in found) else 0


def _broken(of: str, work: Path) -> int:
    log = (work / "log").read_text()[-4000:]
    print(f"the tests of {of} fail without any mutant:\n{log}", file=sys.stderr)
    return 3


def _settle(tree: Path, libraries: Iterable[str]) -> None:
    """Make this process one whose children import the copy, at once and alike."""
    os.chdir(tree)
    sys.path.insert(0, str(tree))
    for library in ("OPENBLAS", "OMP", "MKL"):
        os.environ[f"{library}_NUM_THREADS"] = "1"
    os.environ["PYTHONPATH"] = str(tree)
    sys.dont_write_bytecode = True
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    for library in libraries:
        import_module(library)
    # A test that fails is enough; the least example need not be found, nor kept.
    hypothesis.settings.register_profile(
        "mutation",
        database=None,
        deadline=None,
        phases=(hypothesis.Phase.explicit, hypothesis.Phase.generate),
    )


def _sampled(asked: argparse.Namespace, folder: Path) -> Iterable[tuple[Path, list[Mutant]]]:
    """Each file of a room and its mutants, or a sample of them that the seed alone decides."""
    again = None
    if asked.again:
        reported = [Found(**one) for one in json.loads(asked.again.read_text())]
        again = {key_of(one.module, one) for one in reported if one.outcome == "survived"}
    for path in sorted(folder.glob("*.py")):
        if asked.module and not any(fnmatch(path.name, name) for name in asked.module):
            continue
        every = mutants(path.read_text())
        if asked.function is not None:
            every = [one for one in every if fnmatch(one.function, asked.function)]
        if again is not None:
            every = [one for one in every if key_of(f"{folder.name}/{path.name}", one) in again]
        if 0 < asked.sample < len(every):
            name = f"{asked.seed}/{folder.name}/{path.name}"
            places = sorted(random.Random(name).sample(range(len(every)), asked.sample))
            every = [every[place] for place in places]
        if every:
            yield path, every


def explained_by(page: Path) -> set[tuple[str, ...]]:
    """The survivors that a page's tables explain: module, function, before and after."""
    if not page.exists():
        return set()
    rows = [line.replace("\\|", "\0").split("|")[1:-1] for line in page.read_text().splitlines()]
    return {
        tuple(cell.strip().strip("`").replace("\0", "|") for cell in row[:4])
        for row in rows
        if len(row) == 5 and "`" in row[2]
    }


def _print_table(found: list[Found], asked: argparse.Namespace) -> None:
    """The score by module, and every survivor."""
    by_module: dict[str, Counter[str]] = {}
    for one in found:
        by_module.setdefault(one.module, Counter())[one.outcome] += 1
    totals: Counter[str] = sum(by_module.values(), Counter())
    print("| module | mutants | " + " | ".join(_OUTCOMES) + " | killed, of those not explained |")
    print("|---|" + "--:|" * (len(_OUTCOMES) + 2))
    for module, counted in [*by_module.items(), ("all", totals)]:
        cells = [str(counted[outcome]) for outcome in _OUTCOMES]
        killed = counted["killed"] + counted["time-out"]
        judged = killed + counted["survived"]
        share = f"{100 * killed / judged:.1f} %" if judged else "–"
        print(f"| {module} | {counted.total()} | {' | '.join(cells)} | {share} |")
    print(f"\nseed {asked.seed}, sample {asked.sample or 'all'}, budget {asked.budget:g} s")
    for one in found:
        if one.outcome == "survived":
            print(
                f"| {one.module} | {one.function} | `{one.before}` | `{one.after}` | :{one.line} |"
            )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

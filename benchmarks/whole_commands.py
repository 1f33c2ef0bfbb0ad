"""What a whole command costs beside the plain query, each a process of its own.

    python benchmarks/whole_commands.py [--rows 10000000] [--repeats 5]

The plain query counts everybody by the six recoded columns of ``overhead.py`` and writes a Parquet
file: Python, DuckDB, nothing else. Beside it the same query of a sample, and ``release`` by each
mechanism, each in a project that has released nothing yet: start-up, policy, keys, ledger, query
and certificate. They take turns, so that a busy machine slows all of them alike; how busy it was is
printed.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from datetime import date
from pathlib import Path

import duckdb
from overhead import BY_HAND, POLICY, make_people

ROOT = Path(__file__).parents[1]
SAMPLE = " TABLESAMPLE BERNOULLI (10 PERCENT)"
_MEASURED = """
import resource, subprocess, sys, time
began = time.perf_counter()
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
wall, used = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
print(wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)
"""
RELEASE = ["-m", "policy_engine", "release", "policy.yaml"]


def by_hand(query: str) -> list[str]:
    """A program that runs one query and writes its rows into a file."""
    copy = f"COPY ({query}) TO 'out.parquet' (FORMAT parquet)"
    return ["-c", f"import duckdb; duckdb.sql({copy!r})"]


def commands() -> dict[str, tuple[str, list[str]]]:
    """Each command by its name: the policy that stands beside it, and its words."""
    keyed, native = (POLICY.format(method=method) for method in ("keyed", "native"))
    sample = "sample: {rate: 0.1, method: keyed}\nk: 20\n"
    assert sample in keyed and SAMPLE in BY_HAND
    noisy = keyed.replace(sample, "mechanism: noisy_counts\n")
    return {
        "plain query of everybody": ("", by_hand(BY_HAND.replace(SAMPLE, ""))),
        "plain query of a sample": ("", by_hand(BY_HAND)),
        "`release`, noisy counts": (noisy, RELEASE),
        "`release`, keyed sample": (keyed, RELEASE),
        "`release`, native sample": (native, RELEASE),
    }


def used(policy: str, words: list[str], people: Path) -> tuple[float, float, float]:
    """Wall and CPU seconds of one command in a new folder, and the most megabytes it had."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryDirectory(dir=people.parent) as name:
        folder = Path(name)
        os.link(people, folder / "people.parquet")
        (folder / "policy.yaml").write_text(f"{policy}account: people\n")
        (folder / "policy-engine.yaml").write_text(
            "ledger_begins: in_each_checkout\naccounts: {people: {}}\n"
        )
        # By a process between, for a process has at least what the one that began it had.
        command = [sys.executable, "-c", _MEASURED, sys.executable, *words]
        done = subprocess.run(
            command, cwd=folder, env=environment, check=True, capture_output=True, text=True
        )
    wall, cpu, megabytes = map(float, done.stdout.split())
    return wall, cpu, megabytes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    seconds: dict[str, list[tuple[float, float, float]]] = {name: [] for name in commands()}
    with tempfile.TemporaryDirectory() as place:
        people = Path(place) / "people.parquet"
        make_people(people, arguments.rows)
        loads = [os.getloadavg()[0]]
        for turn in range(arguments.repeats + 1):  # the first fills the caches
            for name, (policy, words) in commands().items():
                found = used(policy, words, people)
                if turn:
                    seconds[name].append(found)
            loads.append(os.getloadavg()[0])
    python = sys.version.split(maxsplit=1)[0]
    head = ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"]
    commit = subprocess.run(head, capture_output=True, text=True, check=True).stdout.strip()
    print(
        f"{date.today()}, commit {commit}, {arguments.rows:,} rows × 6 columns,"
        f" DuckDB {duckdb.__version__}, Python {python}, medians of {arguments.repeats};"
        f" load {min(loads):.1f} to {max(loads):.1f} on {os.cpu_count()} processors\n"
    )
    print("| command | wall s | CPU s | CPU ratio | MB |\n|---|---|---|---|---|")
    plain = None
    for name, times in seconds.items():
        wall, cpu, most = (statistics.median(column) for column in zip(*times, strict=True))
        plain = plain or cpu
        print(f"| {name} | {wall:.2f} | {cpu:.2f} | {cpu / plain:.2f} | {most:.0f} |")


if __name__ == "__main__":
    main()

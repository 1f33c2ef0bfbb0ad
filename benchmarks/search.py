"""CPU seconds of `search` on Adult, Census and a million rows; and of k-anonymity alone.

    python benchmarks/search.py [--of WORD] [--repeats 3]

Each command runs in a process of its own; the least of its user and system time together is told.
`k-anonymity` is which of all schemes have it, once the histogram stands, the best of them, and all
k-minimal ones.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import duckdb

from policy_engine.choose.candidates import Candidates
from policy_engine.choose.searching import Anonymity, SchemeSearch, k_minimal, optimal
from policy_engine.policy.loading import load_policy
from policy_engine.releasing.charging import planned
from policy_engine.releasing.planning import project_of

ROOT = Path(__file__).parents[1]
DATA = ROOT.parent / "shared" / "data"
HIERARCHIES = ROOT / "policies" / "adult_hierarchies" / "hierarchies"
ROWS = 1_000_000
POLICY = """version: 1
name: people
source: {{file: people.parquet}}
privacy_unit: row
recode:
{recode}
search:
  epsilon: 0.01
{search}
guarantee: {{epsilon: 1, delta: 1.0e-6, neighbours: add_remove}}
release: {{file: out.parquet, as: counts}}
account: people
"""
ADULT = f"""\
  age: {{levels: [{{round: 5, way: down}}, {{round: 10, way: down}}, {{round: 20, way: down}}], level: 1}}
  workclass: {{levels: [{{map: {{Private: private, Never-worked: none, Without-pay: none}}, other: other}}], level: 1}}
  education: {{hierarchy: {HIERARCHIES}/education.csv, level: 1}}
  marital_status: {{levels: [{{map: {{Married-civ-spouse: spouse, Married-AF-spouse: spouse}}, other: no spouse}}], level: 1}}
  occupation: {{hierarchy: {HIERARCHIES}/occupation.csv, level: 1}}
  native_country: {{hierarchy: {HIERARCHIES}/native_country.csv, level: 1}}
  race: keep
  sex: keep
  income: keep"""  # noqa: E501
CENSUS = f"""\
  age: {{levels: [{{round: 5, way: down}}, {{round: 10, way: down}}, {{round: 20, way: down}}], level: 1}}
  industry_code: {{levels: [{{round: 5, way: down}}, {{round: 10, way: down}}], level: 1}}
  wage_per_hour: {{levels: [{{round: 100, way: down}}, {{round: 500, way: down}}], level: 1}}
  education: keep
  marital_status: {{levels: [{{prefix: 7}}], level: 1}}
  self_birth: {{hierarchy: {HIERARCHIES}/native_country.csv, level: 1}}
  race: keep
  sex: keep"""  # noqa: E501
MADE = """\
  age: {levels: [{round: 5, way: down}, {round: 10, way: down}, {round: 20, way: down}], level: 1}
  zip: {levels: [{prefix: 4}, {prefix: 3}, {prefix: 2}, {prefix: 1}], level: 1}
  job: {levels: [{prefix: 2}, {prefix: 1}], level: 1}
  town: {levels: [{round: 10, way: down}, {round: 100, way: down}], level: 1}
  month: {levels: [{round: 3, way: down}, {round: 12, way: down}], level: 1}
  sex: keep"""

NAMES = [line.split(":")[0].strip() for line in ADULT.splitlines()]
LISTS = ", ".join(f"list({name}) AS {name}" for name in NAMES)
DRAWN = ", ".join(
    f"{name}[1 + (hash(i, {at}) % len({name}))::INT] AS {name}" for at, name in enumerate(NAMES)
)


@dataclass(frozen=True)
class Case:
    """A table, and the levels of its columns."""

    query: str
    recode: str
    search: str = ""


CASES = {
    "adult": Case(
        f"SELECT * FROM '{DATA}/adult.parquet'", ADULT, "  at_most: {native_country: 3}"
    ),
    "census": Case(f"SELECT * FROM '{DATA}/census_income.parquet'", CENSUS),
    "million": Case(
        f"SELECT c.* FROM '{DATA}/adult.parquet' c, range(21) LIMIT {ROWS}", ADULT,
        "  at_most: {native_country: 3}",
    ),
    # Each column of Adult drawn by itself: nearly half of the rows are somebody's alone.
    "distinct": Case(
        f"WITH a AS MATERIALIZED (SELECT {LISTS} FROM '{DATA}/adult.parquet')"
        f" SELECT {DRAWN} FROM range({ROWS}) t(i), a", ADULT, "  at_most: {native_country: 3}",
    ),
    # Other columns, of which every row is alone.
    "all distinct": Case(
        "SELECT 18 + (hash(i, 1) % 70)::INT AS age, (10000 + hash(i, 2) % 80000)::VARCHAR AS zip,"
        " (100 + hash(i, 3) % 800)::VARCHAR AS job, (hash(i, 4) % 1000)::INT AS town,"
        " (hash(i, 5) % 60)::INT AS month, ['f', 'm'][1 + (hash(i, 6) % 2)::INT] AS sex"
        f" FROM range({ROWS}) t(i)", MADE,
    ),
}  # fmt: skip
COMMANDS = {
    "private": (),
    "--public": ("--public",),
    "--public --k 5": ("--public", "--k", "5"),
    "--public --k 5 --suppress 0.05": ("--public", "--k", "5", "--suppress", "0.05"),
    "--public --objective kl": ("--public", "--objective", "kl"),
}


def made(case: Case, place: Path) -> None:
    """The table, the policy and its project, in a folder."""
    duckdb.sql(f"COPY ({case.query}) TO '{place}/people.parquet' (FORMAT parquet)")
    (place / "policy.yaml").write_text(POLICY.format(recode=case.recode, search=case.search))
    project = "ledger_begins: in_each_checkout\naccounts: {people: {epsilon: 100, delta: 0.001}}\n"
    (place / "policy-engine.yaml").write_text(project)


def used(arguments: tuple[str, ...], place: Path, turn: int) -> float:
    """CPU seconds of a search."""
    if not arguments:
        arguments = ("--edition", f"e{turn}", "--output", f"e{turn}.yaml")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "policy_engine", "search", "policy.yaml", *arguments]
    subprocess.run(command, cwd=place, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def alone(place: Path, share: Fraction) -> Callable[[], str]:
    """k-anonymity of all schemes by a histogram that stands."""
    os.chdir(place)
    policy = load_policy(place / "policy.yaml")
    candidates = Candidates.of(policy)
    with planned(policy, project_of(policy)) as plan:
        query = candidates.query(plan.table, plan.warehouse)
        histogram, lattice = candidates.people(query, plan.table, plan.warehouse, named=True)

    def run() -> str:
        model, seconds = Anonymity(5, share), []
        start = time.process_time()
        settled = SchemeSearch(histogram, lattice, model)
        seconds.append(time.process_time() - start)
        optimal(settled.anew())
        seconds.append(time.process_time() - start)
        k_minimal(settled.anew())
        seconds.append(time.process_time() - start)
        of = f"{lattice.size:,} schemes, {len(histogram.people):,} groups"
        told = ", and ".join(f"{each:.2f}" for each in seconds)
        return f"all {told} s with optimal and with all k-minimal ({of})"

    return run


def main() -> None:
    """Print the CPU seconds."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--of", default="")
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    start = time.process_time()
    for _ in range(10_000_000):
        pass
    passes = time.process_time() - start
    print(f"load {os.getloadavg()[0]:.1f}, ten million passes {passes:.3f} s", flush=True)
    for name, case in CASES.items():
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder)
            made(case, place)
            for word, command in COMMANDS.items():
                if arguments.of in f"{name} {word}":
                    times = [used(command, place, turn) for turn in range(arguments.repeats)]
                    print(f"{name} {word}: {min(times):.2f} s", flush=True)
            for share in (Fraction(0), Fraction(1, 20)):
                word = f"{name} k-anonymity, {float(share):.0%} suppressed"
                if arguments.of in word:
                    run = alone(place, share)
                    print(f"{word}: {min(run() for _ in range(arguments.repeats))}", flush=True)


if __name__ == "__main__":
    main()

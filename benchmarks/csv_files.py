"""What `release` of a CSV file costs beside the plain query of it, each a process of its own.

    python benchmarks/csv_files.py [--rows 5000000] [--repeats 3]

The plain query lets DuckDB guess the file's form and types, and counts by two recoded columns. The
file is in three forms: plain, with a text in quotes in every row, and with one row that has a
delimiter too many at its end, which is read row by row.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import date
from pathlib import Path

import duckdb

ROOT = Path(__file__).parents[1]
POLICY = """\
version: 1
name: people
source:
  file: people.csv
  columns: {age: integer, income: double, born: date}
privacy_unit: row
recode: {age: {bins: [18, 30, 45, 60]}, town: keep, born: {truncate: year}}
mechanism: noisy_counts
guarantee: {epsilon: 1, delta: 1.0e-9}
release: {file: out.parquet}
account: people
"""
QUERY = """
    SELECT CASE WHEN age < 18 THEN '<18' WHEN age < 30 THEN '18-29' WHEN age < 45 THEN '30-44'
      WHEN age < 60 THEN '45-59' ELSE '60+' END AS age, town, date_trunc('year', born) AS born,
      count(*) AS n
    FROM read_csv('people.csv') GROUP BY ALL ORDER BY ALL"""
ROWS = """
    SELECT range AS id, 1 + hash(range) % 90 AS age, {town} AS town,
      round(hash(range, 2) % 9000000 / 100, 2) AS income,
      (DATE '1930-01-01' + (hash(range, 3) % 30000)::INTEGER) AS born,
      chr((97 + hash(range, 4) % 26)::INTEGER) AS letter
    FROM range({rows})"""
TOWNS = "(['Ulm', 'Bonn', 'Köln', 'Jena'])[(1 + hash(range, 1) % 4)::INTEGER]"
FORMS = {
    "plain": (TOWNS, "", ""),
    "in quotes": (f"'at, ' || {TOWNS}", ", FORCE_QUOTE (town)", ""),
    "unusual": (TOWNS, "", "0,1,Ulm,1.0,2000-01-01,a,\n"),
}
COPY = f"COPY ({QUERY}) TO 'x.parquet'"
COMMANDS = {
    "plain query": ["-c", f"import duckdb; duckdb.sql({COPY!r})"],
    "`release`": ["-m", "policy_engine", "release", "policy.yaml"],
}


def used(words: list[str], people: Path) -> tuple[float, float]:
    """Wall and CPU seconds of one command in a new folder."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryDirectory(dir=people.parent) as name:
        folder = Path(name)
        os.link(people, folder / "people.csv")
        (folder / "policy.yaml").write_text(POLICY)
        (folder / "policy-engine.yaml").write_text(
            "ledger_begins: in_each_checkout\naccounts: {people: {}}\n"
        )
        before, began = os.times(), time.perf_counter()
        command = [sys.executable, *words]
        subprocess.run(command, cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)  # fmt: skip
        wall, after = time.perf_counter() - began, os.times()
    cpu = after.children_user + after.children_system
    return wall, cpu - before.children_user - before.children_system


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    head = ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"]
    commit = subprocess.run(head, capture_output=True, text=True, check=True).stdout.strip()
    print(f"{date.today()}, commit {commit}, {arguments.rows:,} rows × 6 columns, DuckDB"
          f" {duckdb.__version__}, Python {sys.version.split(maxsplit=1)[0]}, medians of"
          f" {arguments.repeats}\n")  # fmt: skip
    print("| file | command | wall s | CPU s | CPU ratio |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as place:
        for form, (town, options, more) in FORMS.items():
            people = Path(place) / f"{form}.csv"
            rows = ROWS.format(town=town, rows=arguments.rows)
            duckdb.sql(f"COPY ({rows}) TO '{people}' (HEADER{options})")
            with people.open("a", encoding="utf-8") as file:
                file.write(more)
            seconds: dict[str, list[tuple[float, float]]] = {name: [] for name in COMMANDS}
            for turn in range(arguments.repeats + 1):  # the first fills the caches
                for name, words in COMMANDS.items():
                    found = used(words, people)
                    if turn:
                        seconds[name].append(found)
            plain = None
            for name, times in seconds.items():
                wall, cpu = (statistics.median(column) for column in zip(*times, strict=True))
                plain = plain or cpu
                print(f"| {form} | {name} | {wall:.2f} | {cpu:.2f} | {cpu / plain:.2f} |")
            people.unlink()


if __name__ == "__main__":
    main()

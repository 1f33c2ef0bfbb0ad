"""A partitioned Parquet table within a limit of memory: time, peak and what is spilled.

    python benchmarks/partitioned.py [--rows 100000000] [--limit 2GB]

Each size is a folder of files of a million rows, twenty rows a person, released by key in a
process of its own; the peak is the whole process's, as the operating system counts it.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import duckdb

from policy_engine.policy.loading import load_policy
from policy_engine.policy.project import load_project
from policy_engine.releasing.release import release

ROWS = """COPY (
  SELECT (range * 7919) % {people} AS id, (range * 31 % 90)::INTEGER AS age,
         (range * 13 % 97)::VARCHAR AS zip, DATE '2020-01-01' + (range % 2000)::INTEGER AS seen
  FROM range({start}, {stop})
) TO '{file}' (FORMAT parquet)"""
POLICY = """\
version: 1
name: people
source: {file: people}
privacy_unit: {column: id, rows: {first_by: [seen desc]}}
recode: {age: {bins: [18, 40, 65]}, zip: {prefix: 1}, seen: {truncate: year}}
sample: {rate: 0.1}
k: 20
guarantee: {epsilon: 2, delta: 0.01}
release: {file: out.parquet}
"""
PROJECT = "version: 1\nwarehouses:\n  local: {{type: duckdb, memory_limit: {limit}}}\n"
_FILE = 1_000_000


def make(folder: Path, rows: int) -> None:
    """Write the files of a table of ``rows`` rows, partitioned as a warehouse would."""
    for number, start in enumerate(range(0, rows, _FILE)):
        part = folder / "people" / f"part={number % 10}"
        part.mkdir(parents=True, exist_ok=True)
        stop = min(rows, start + _FILE)
        file = part / f"{number}.parquet"
        duckdb.execute(ROWS.format(people=max(rows // 20, 1), start=start, stop=stop, file=file))


def spilled(folder: Path, most: list[int], done: threading.Event) -> None:
    """Watch how much the engine writes to its temporary folder."""
    while not done.wait(0.2):
        sizes = [f.stat().st_blocks * 512 for f in folder.rglob("*") if f.is_file()]
        most[0] = max(most[0], sum(sizes))


def run_alone(folder: Path) -> None:
    """Release once; print seconds, the process's peak memory and the most spilled, in MB."""
    tempfile.tempdir = str(folder / "tmp")
    most, done = [0], threading.Event()
    watch = threading.Thread(target=spilled, args=(folder / "tmp", most, done))
    watch.start()
    start = time.perf_counter()
    release(load_policy(folder / "policy.yaml"), load_project(folder / "policy-engine.yaml"))
    seconds = time.perf_counter() - start
    done.set()
    watch.join()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    peak_mb = peak / (1 << 10 if sys.platform == "linux" else 1 << 20)
    print(seconds, peak_mb, most[0] / (1 << 20))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--rows", type=int, default=100_000_000)
    parser.add_argument("--limit", default="2GB")
    parser.add_argument("--alone", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.alone:
        run_alone(arguments.alone)
        return
    print(f"DuckDB {duckdb.__version__}, memory_limit {arguments.limit}\n")
    print("| rows | seconds | µs a row | peak MB | spilled MB |\n|---|---|---|---|---|")
    for rows in (arguments.rows // 100, arguments.rows // 10, arguments.rows):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "tmp").mkdir()
            (folder / "policy.yaml").write_text(POLICY)
            (folder / "policy-engine.yaml").write_text(PROJECT.format(limit=arguments.limit))
            make(folder, rows)
            command = [sys.executable, __file__, "--alone", name]
            answer = subprocess.run(command, check=True, capture_output=True, text=True)
        seconds, peak, disk = map(float, answer.stdout.split())
        micro = seconds / rows * 1e6
        print(f"| {rows:,} | {seconds:.1f} | {micro:.3f} | {peak:.0f} | {disk:.0f} |")


if __name__ == "__main__":
    main()

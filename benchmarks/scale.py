"""Time and memory of a keyed release as the source grows.

    python benchmarks/scale.py [--rows 100000000]

Each size runs in a process of its own; the peak is the
whole process's, as the operating system counts it.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import duckdb
from overhead import make_people, released


def run_alone(folder: Path) -> None:
    """Release once, print seconds and the process's peak memory in MB."""
    run, end = released(folder, "keyed")
    start = time.perf_counter()
    run()
    seconds = time.perf_counter() - start
    end()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(seconds, peak / (1 << 10 if sys.platform == "linux" else 1 << 20))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--rows", type=int, default=100_000_000)
    parser.add_argument("--alone", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.alone:
        run_alone(arguments.alone)
        return
    print(f"DuckDB {duckdb.__version__}\n\n| rows | seconds | µs a row | peak MB |")
    print("|---|---|---|---|")
    for rows in (arguments.rows // 100, arguments.rows // 10, arguments.rows):
        with tempfile.TemporaryDirectory() as name:
            make_people(Path(name) / "people.parquet", rows)
            command = [sys.executable, __file__, "--alone", name]
            answer = subprocess.run(command, check=True, capture_output=True, text=True)
        seconds, peak = map(float, answer.stdout.split())
        print(f"| {rows:,} | {seconds:.2f} | {seconds / rows * 1e6:.4f} | {peak:.0f} |")


if __name__ == "__main__":
    main()

"""How long a release of what stands takes, for a source of few rows and for one of many.

    python benchmarks/standing.py SMALL.parquet LARGE.parquet [RUNS]

Both have columns patient (a number), visit_date (a date) and ward (a text), with visits in
September and October 2026. ``strace`` watches, where it is there, which file is opened.
"""

from __future__ import annotations

import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROJECT = "accounts: {patients: {epsilon: 14.0, delta: 1.0e-4, each: year}}\n"
POLICY = """\
version: 1
name: visits
source: {file: visits.parquet}
privacy_unit: {column: patient, rows: any}
period: {column: visit_date, every: month, from: "2026-09"}
recode: {ward: keep}
guarantee: {epsilon: 1.0, delta: 1.0e-6}
release: {file: "out/{edition}.parquet"}
account: patients
"""
COMMANDS = (
    "release visits.yaml",
    "release visits.yaml --edition 2026-10",
    "validate visits.yaml",
    "ledger show",
)


def run(folder: Path, *words: str) -> float:
    """The seconds that a command takes."""
    start = time.perf_counter()
    subprocess.run(words, cwd=folder, check=True, capture_output=True)
    return time.perf_counter() - start


def opened(folder: Path, command: str) -> int:
    """How often a command opens a file of the source."""
    trace = folder / "trace"
    watch = ("strace", "-f", "-qq", "-e", "trace=open,openat,openat2", "-o", str(trace))
    run(folder, *watch, "policy-engine", *command.split())
    return sum("visits.parquet" in line for line in trace.read_text("utf-8").splitlines())


def main(sources: list[Path], runs: int) -> None:
    """Print the medians."""
    with tempfile.TemporaryDirectory() as root:
        folders = [Path(root, str(number)) for number, _ in enumerate(sources)]
        for folder, source in zip(folders, sources, strict=True):
            folder.mkdir()
            (folder / "visits.parquet").symlink_to(source.resolve())
            (folder / "policy-engine.yaml").write_text(PROJECT)
            (folder / "visits.yaml").write_text(POLICY)
            run(folder, "policy-engine", "release", "visits.yaml")
        times: dict[tuple[Path, str], list[float]] = {}
        for _ in range(runs):
            for folder in folders:
                for command in COMMANDS:
                    took = run(folder, "policy-engine", *command.split())
                    times.setdefault((folder, command), []).append(took)
        for command in COMMANDS:
            cells = [f"{statistics.median(times[folder, command]):.2f} s" for folder in folders]
            if shutil.which("strace"):
                cells.append(f"source opened {opened(folders[-1], command)} times")
            print(f"{command:40}", *cells, sep="  ")


if __name__ == "__main__":
    small, large, *rest = sys.argv[1:]
    main([Path(small), Path(large)], int(rest[0]) if rest else 11)

"""What a command costs from its first line to its end: the CPU of whole processes.

    python benchmarks/startup.py [--rows 10000000] [--repeats 5]

Each run is a process of its own in a fresh copy of the project, with compiled modules kept between
them, as an installed package has them. User and system time are summed; the median is shown.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from overhead import POLICY, make_people

ROOT = Path(__file__).parents[1]
ADULT = "policies/adult/policy.yaml"


def used(folder: Path, words: list[str]) -> float:
    """The CPU seconds of one command in ``folder``."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "policy_engine", *words]
    subprocess.run(command, cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def fresh(folder: Path, rows: Path | None) -> None:
    """The project as it is before its first release: of the Adult extract, or of ``rows``."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    if rows is None:
        shutil.copy(ROOT / "policy-engine.yaml", folder)
        ignored = shutil.ignore_patterns("out")
        shutil.copytree((ROOT / ADULT).parent, (folder / ADULT).parent, ignore=ignored)
        return
    os.link(rows, folder / "people.parquet")
    (folder / "policy.yaml").write_text(POLICY.format(method="keyed") + "account: people\n")
    (folder / "policy-engine.yaml").write_text(
        "ledger_begins: in_each_checkout\naccounts: {people: {}}\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    print("| command | CPU s | least |\n|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        rows, project = Path(name) / "rows.parquet", Path(name) / "project"
        make_people(rows, arguments.rows)
        for told, source, words in (
            ("`--version`", None, ["--version"]),
            ("`validate` of policies/adult", None, ["validate", ADULT]),
            ("`plan` of policies/adult", None, ["plan", ADULT]),
            ("`release` of policies/adult", None, ["release", ADULT]),
            (f"`release` of {arguments.rows:,} rows", rows, ["release", "policy.yaml"]),
        ):
            seconds = []
            for turn in range(arguments.repeats + 1):
                fresh(project, source)
                found = used(project, words)
                seconds += [found] if turn else []  # the first one compiles
            print(f"| {told} | {statistics.median(seconds):.2f} | {min(seconds):.2f} |")


if __name__ == "__main__":
    main()

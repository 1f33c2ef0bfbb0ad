"""One experiment in a process of its own, which has no threads when it forks; JSON on stdout."""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from crash_disk import full_at, full_disk
from crash_kills import template_of
from crash_races import race_of_releases, races_of_reserves, twins
from crash_world import CASES, warm_up

MEMORY = Path("/dev/shm")


def _run(place: Path, what: str, *arguments: str) -> Any:
    if what == "reserves":
        ledger, epsilon, delta, times = arguments
        return races_of_reserves(ledger or place / "ledger.db", epsilon, delta, int(times))
    if what == "releases":
        return race_of_releases(place / "race")
    case = CASES[arguments[0]]
    if what == "twins":
        return twins(place / "twins", case, int(arguments[1]))
    found = []
    for size in map(int, arguments[1:]):
        if what == "disk":
            told, tally = full_disk(case, 4096, size)
        else:
            told, tally = full_at(template_of(case, place), case, place, size)
        found.append({"told": told, "faults": tally.faults})
    return found


def main() -> None:
    """Run what the arguments say."""
    place = Path(tempfile.mkdtemp(prefix="crash-", dir=MEMORY if MEMORY.is_dir() else None))
    try:
        if sys.argv[1] != "reserves":
            warm_up(place)
        print(json.dumps(_run(place, *sys.argv[1:])))
    finally:
        shutil.rmtree(place)


if __name__ == "__main__":
    main()

"""kill -9 in the middle of releases: is anything under-charged, half published or broken?

    python scripts/kill_test.py random --kills 500 --seed 0
    python scripts/kill_test.py lines --every 1

``random`` kills releases to files and tables, new and replacing ones, at moments spread over the
whole of their time. ``lines`` kills them, and the settling of what they leave, before each line of
the modules that charge, publish and settle. What is asked after each kill, and what came of it:
docs/explanation/how-we-tested.md. Exit codes: 0 no faults, 1 faults.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "crash"))

from crash_kills import FAULTS, Tally, line_jobs, random_jobs, run  # noqa: E402
from crash_world import CASES, RELEASES  # noqa: E402

_MEMORY = Path("/dev/shm")  # a kill loses no page of a file: the disk is not what is tried


def main() -> int:
    """Kill, and print what came of it."""
    options = _options()
    folder = _MEMORY if _MEMORY.is_dir() else None
    place = Path(tempfile.mkdtemp(prefix="kills-", dir=folder))
    start = time.monotonic()
    try:
        if options.how == "random":
            jobs = random_jobs(RELEASES, place, options.kills, options.seed)
        else:
            cases = [CASES[name] for name in options.case or CASES]
            jobs = line_jobs(cases, place, options.every, options.seed)
        tallies = run(jobs, place, options.workers)
    finally:
        shutil.rmtree(place)
    if options.json:
        found = {name: {**t.to_json(), "counts": t.counts} for name, t in tallies.items()}
        print(json.dumps(found))
    else:
        _print(tallies, time.monotonic() - start)
    return int(any(tally.faults for tally in tallies.values()))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("how", choices=["random", "lines"])
    parser.add_argument("--kills", type=int, default=500, help="random kills, in all")
    parser.add_argument("--every", type=int, default=1, help="of how many lines one is taken")
    parser.add_argument("--case", action="append", choices=[*CASES], help="of lines; default all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--json", action="store_true", help="one JSON document, for the tests")
    return parser.parse_args()


def _print(tallies: dict[str, Tally], seconds: float) -> None:
    for name, tally in tallies.items():
        print(f"{name}: {tally.kills} kills, {tally.ended} had ended before")
        for state, times in tally.found.most_common():
            print(f"  {times:5}  {state}")
    counts = {kind: sum(tally.counts[kind] for tally in tallies.values()) for kind in FAULTS}
    kills = sum(tally.kills for tally in tallies.values())
    print(f"{kills} kills in {seconds:.0f} s: " + ", ".join(f"{n} {k}" for k, n in counts.items()))
    for kind, why in (fault for tally in tallies.values() for fault in tally.faults):
        print(f"FAULT {kind}: {why[:1000]}")


if __name__ == "__main__":
    sys.exit(main())

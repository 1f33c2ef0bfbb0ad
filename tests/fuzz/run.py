"""Fuzz ``check`` and the loading of policies for as long as you like.

    python tests/fuzz/run.py --seconds 600 --seed 7 --target check

Prints executions, accepts, the slowest text and every failure; a failing text is minimised and
written, with what is wrong, into a folder. Exit code 1 if anything failed.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import time
from collections import Counter
from pathlib import Path

from fuzz_check import Outcome, check
from fuzz_minimise import minimised
from fuzz_policy import check_policy_text, files, policy_of
from fuzz_stress import timings
from fuzz_texts import text_of


def main(arguments: list[str] | None = None) -> int:
    """Run one target; the exit code says whether anything failed."""
    asked = _asked(arguments)
    if asked.target.startswith("time"):
        return _timings("policy" if asked.target == "time-policy" else "check")
    total: Counter[str] = Counter()
    slowest, slowest_text, number = 0.0, "", asked.first
    until = time.monotonic() + asked.seconds
    while time.monotonic() < until:
        text, outcome = _execute(asked.target, number, asked.seed)
        total.update(executions=1, accepts=outcome.accepted, checked=outcome.checked)
        total.update(f"not checked: {reason}" for reason in outcome.skipped)
        for oracle, found in outcome.failures:
            total[f"FAILED: {oracle}"] += 1
            _report(asked, text, number, oracle, found)
        if outcome.seconds > slowest:
            slowest, slowest_text = outcome.seconds, text
        number += 1
    for name, times in sorted(total.items()):
        print(f"{times:9} {name}")
    print(f"slowest: {slowest:.3f} s CPU for {len(slowest_text)} letters")
    print(f"    {slowest_text[:300]!r}")
    return int(any(name.startswith("FAILED") for name in total))


def _asked(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="the number of the first text")
    targets = ["check", "policy", "time", "time-policy"]
    parser.add_argument("--target", choices=targets, default="check")
    parser.add_argument("--save", type=Path, default=Path("build/fuzz"), help="folder of failures")
    return parser.parse_args(arguments)


def _execute(target: str, number: int, seed: int) -> tuple[str, Outcome]:
    if target == "policy":
        path, text = policy_of(number, seed)
        return text, check_policy_text(path, text, timed=True)
    text = text_of(number, seed)
    return text, check(text, number, timed=True)


def _again(target: str, text: str, number: int) -> Outcome:
    if target == "policy":
        return check_policy_text(files()[0][0], text, timed=True)
    return check(text, number, timed=True)


def _report(asked: argparse.Namespace, text: str, number: int, oracle: str, found: str) -> None:
    def fails(other: str) -> bool:
        return any(kind == oracle for kind, _ in _again(asked.target, other, number).failures)

    # A policy has no tokens of SQL; a slow text would be slow many times.
    small = minimised(text, fails) if asked.target == "check" and oracle != "slow" else text
    name = hashlib.sha256(small.encode(errors="replace")).hexdigest()[:12]
    asked.save.mkdir(parents=True, exist_ok=True)
    suffix = "yaml" if asked.target == "policy" else "sql"
    file = asked.save / f"{oracle}-{name}.{suffix}"
    file.write_bytes(small.encode(errors="surrogatepass"))
    note = f"{found}\n\nseed {asked.seed}, text {number}:\n{text}\n"
    file.with_suffix(".txt").write_bytes(note.encode(errors="surrogatepass"))
    print(f"{oracle}: {found[:300]!r}\n    {small[:600]!r}\n    {file}", flush=True)


def _timings(target: str) -> int:
    late = 0
    for timing in timings(target):
        mark = "  "
        if timing.seconds_a_kilobyte > 1:
            mark, late = "!!", 1
        elif timing.exponent > 1.4:
            mark = "? "
        print(
            f"{mark} {timing.family:34} {timing.size:8} bytes {timing.seconds:7.2f} s"
            f"   ~ n^{timing.exponent:.1f}",
            flush=True,
        )
    return late


if __name__ == "__main__":
    sys.exit(main())

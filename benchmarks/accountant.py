"""How long the accountant takes: one certificate, many releases, many policies, many mechanisms.

.venv/bin/python benchmarks/accountant.py
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable
from functools import cache

from policy_engine.accounting.certificate_numbers import certify_numbers
from policy_engine.accounting.composition import Accountant
from policy_engine.accounting.events import Event, PureDP, SampledSuppression, TableNoise
from policy_engine.accounting.noise import Statistic, delta_of_release
from policy_engine.accounting.noise_laws import gaussian, laplace, place

TURNS = 7


def policies(count: int) -> list[SampledSuppression]:
    """Different policies, always the same ones."""
    chance = random.Random(1)
    return [
        SampledSuppression(chance.randint(15, 60), round(chance.uniform(0.02, 0.2), 4))
        for _ in range(count)
    ]


@cache
def mixed(count: int) -> list[Event]:
    """Sampled suppression, both kinds of noise table, selections: no two events are equal."""
    events: list[Event] = list(policies(count // 4))
    for i in range(count // 4):
        events.append(TableNoise((Statistic(gaussian(100 + i, 7 * (100 + i))),)))
        events.append(TableNoise((Statistic(place(20 + i % 40, f"0.1{i:03d}")),)))
        events.append(PureDP(f"0.0001{i:03d}"))
    return events


QUESTIONS: dict[str, Callable[[], object]] = {
    "one certificate": lambda: certify_numbers(20, "0.1", epsilon="0.5"),
    "one certificate, replace_one": lambda: certify_numbers(
        20, "0.1", epsilon="0.5", neighbours="replace_one"
    ),
    "one count with noise from a table": lambda: delta_of_release([Statistic(laplace(1, 14))], 1),
    "the same of a person in 8 groups, replace_one": lambda: delta_of_release(
        [Statistic(laplace("0.125", 120), groups=8)], 1, "replace_one"
    ),
    "ε of 50 releases": lambda: certify_numbers(20, "0.1", delta="1e-6", releases=50),
    "ε of 1,000 releases": lambda: certify_numbers(20, "0.1", delta="1e-6", releases=1000),
    "δ of 1,000 releases": lambda: certify_numbers(20, "0.1", epsilon="4", releases=1000),
    "ε of 20 policies, 50 times each": lambda: Accountant(
        tuple((event, 50) for event in policies(20))
    ).epsilon("1e-6"),
    "ε of 1,000 different policies": lambda: Accountant.of(policies(1000)).epsilon("1e-6"),
    "ε of 1,000 different events of 4 kinds": lambda: Accountant.of(mixed(1000)).epsilon("1e-6"),
    "δ of 1,000 different events of 4 kinds": lambda: Accountant.of(mixed(1000)).delta(4),
}


def seconds(question: Callable[[], object]) -> float:
    """The time of one answer."""
    start = time.perf_counter()
    question()
    return time.perf_counter() - start


def main() -> None:
    """Print a table of medians."""
    print("| question | seconds |\n|---|---|")
    for name, question in QUESTIONS.items():
        first = seconds(question)
        times = [seconds(question) for _ in range(TURNS)] if first < 10 else [first]
        print(f"| {name} | {statistics.median(times):.4f} |", flush=True)


if __name__ == "__main__":
    main()

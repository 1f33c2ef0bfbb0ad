"""The time of the frontier, how near it is to the truth, and what its pairs are worth on Adult.

    .venv/bin/python benchmarks/frontier.py

Adult is public and serves as an illustration. A policy may not be chosen so: sizes that are
counted in the source tell about the source.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Iterator
from decimal import ROUND_FLOOR, Context, Decimal
from pathlib import Path

import duckdb

from policy_engine.accounting.bounds import delta_lqs
from policy_engine.accounting.calibration import greatest_rate, least_k
from policy_engine.accounting.frontier import SamplePair, frontier
from policy_engine.accounting.prior import Prior, best_pair_for, expected_groups, expected_people

TARGETS = (("1", "1e-6"), ("4", "1e-4"))
EPSILON, DELTA = TARGETS[0]
TURNS = 11
DIGITS = Context(prec=6, rounding=ROUND_FLOOR)
ADULT = Path(__file__).parents[1] / "policies/adult/data/adult.parquet"

# As policies/adult/policy.yaml recodes.
RECODED = """
case when age < 30 then 0 when age < 45 then 30 when age < 60 then 45 else 60 end as age,
case when education = 'HS-grad' then 'high school'
     when education in ('Some-college', 'Assoc-voc', 'Assoc-acdm') then 'some college'
     when education in ('Bachelors', 'Masters', 'Prof-school', 'Doctorate') then 'degree'
     else 'no diploma' end as education,
sex,
case when race in ('White', 'Black') then race else 'other' end as race,
income
"""
RECODINGS = {"policies/adult": RECODED, "and its occupation": f"{RECODED}, occupation"}


def main() -> None:
    """Print the table of times, then a table for each recoding."""
    print("| ε | δ | pairs | seconds, median | slowest | farthest below the greatest rate |")
    print("|---|---|---|---|---|---|")
    for epsilon, delta in TARGETS:
        times = [timed(lambda e=epsilon, d=delta: frontier(e, d)) for _ in range(TURNS)]
        pairs = frontier(epsilon, delta)
        gap = max(share_below(pair, epsilon, delta) for pair in pairs)
        print(
            f"| {epsilon} | {delta} | {len(pairs)} | {statistics.median(times):.2f} "
            f"| {max(times):.2f} | {100 * gap:.4f} % |"
        )
    for name, columns in RECODINGS.items():
        sizes = group_sizes(columns)
        print(f"\nAdult, {name}: {sizes.people} people in {sizes.groups} groups\n")
        print("| k | rate | the pair is | people | groups |")
        print("|---|---|---|---|---|")
        for pair, what in candidates(sizes):
            people = 100 * expected_people(pair.k, pair.rate, sizes) / sizes.people
            groups = expected_groups(pair.k, pair.rate, sizes)
            rate = f"{float(pair.rate):.3g}"
            print(f"| {pair.k} | {rate} | {what} | {people:.1f} % | {groups:.1f} |")


def timed(call: Callable[[], object]) -> float:
    """Seconds."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def share_below(pair: SamplePair, epsilon: str, delta: str) -> float:
    """By which share a rate lies below the greatest of 12 digits, found with decimals alone."""
    greatest = greatest_rate(epsilon, delta, pair.k)
    assert pair.rate == DIGITS.plus(greatest), pair
    return float(1 - pair.rate / greatest)


def group_sizes(columns: str) -> Prior:
    """How many groups of each size a recoding makes of the whole table."""
    groups = f"select {columns}, count(*) as size from '{ADULT}' group by all"
    counted = duckdb.sql(f"select size, count(*) from ({groups}) group by size").fetchall()
    return Prior.of_sizes(dict(counted))


def candidates(sizes: Prior) -> Iterator[tuple[SamplePair, str]]:
    """The pairs to compare, and what each is."""
    # Rounded down, for above it [LQS] says nothing.
    arx = DIGITS.create_decimal(-math.expm1(-float(EPSILON)))
    fifth = Decimal("0.2")
    yield SamplePair(least_k_lqs(arx), arx), "ARX's rate, the least k by [LQS]"
    yield SamplePair(least_k(EPSILON, DELTA, arx), arx), "ARX's rate, the least k by [EXACT]"
    yield SamplePair(least_k_lqs(fifth), fifth), "rate 0.2, the least k by [LQS]"
    yield SamplePair(least_k(EPSILON, DELTA, fifth), fifth), "rate 0.2, the least k by [EXACT]"
    pairs = frontier(EPSILON, DELTA)
    guess = Prior.zipf(50_000, 1_000)
    yield best_pair_for(guess, "people", pairs), "best for 50,000 people in 1,000 groups by Zipf"
    yield (
        best_pair_for(sizes, "people", pairs),
        "best for the real sizes, which a policy cannot use",
    )


def least_k_lqs(rate: Decimal) -> int:
    """The least k that the paper's bound allows."""
    k = 2
    while (bound := delta_lqs(k, rate, EPSILON)) is None or bound.delta > Decimal(DELTA):
        k += 1
    return k


if __name__ == "__main__":
    main()

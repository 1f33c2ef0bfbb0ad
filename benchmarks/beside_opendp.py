"""Our noise tables beside OpenDP: thresholds, δ, the law of the noise, and time.

    uv run --no-sync --with 'opendp[polars]==0.16.0' python benchmarks/beside_opendp.py

OpenDP has 260 MB, so it stands in no group of dependencies; uv puts it beside .venv. It shows what
is above its threshold t, we what is τ = t + 1 or more. Its discrete Laplace noise has no end, ours
ends at B = t. So [TABLE] our δ is its δ times (1 − e^{−ε}) / (1 − 2e^{−ε(B+1)} / (1 + e^{−ε})), but
for its floats and our 60 bits. Exits with 1 where anything differs.
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import duckdb
import opendp.prelude as dp
import polars as pl
from noisy_counts import NOISY, noisy
from overhead import make_people, measure, table
from scipy import stats

from policy_engine.accounting.noise import IntegerTable, Statistic, delta_of_release
from policy_engine.accounting.noise_laws import gaussian, laplace

EPSILONS = ("0.1", "0.25", "0.5", "1", "1.5", "2", "4")
DELTAS = ("1e-4", "1e-6", "1e-9")
DRAWS = 200_000
NEAR, FLOATS = 1e-9, 2**-53
COUNTED = f"""
version: 1
name: counted
source: {{file: people.parquet}}
privacy_unit: row
recode: {{education: keep, region: keep, income: keep}}
{NOISY}
release: {{file: out.parquet}}
"""
KEYS = ("education", "region", "income")


def opendp_delta(epsilon: float, threshold: int) -> float:
    """What OpenDP says δ is of a count that is shown above a threshold."""
    counts = dp.map_domain(dp.atom_domain(T=str), dp.atom_domain(T=int))
    metric = dp.l01inf_distance(dp.absolute_distance(T=int))
    made = dp.m.make_laplace_threshold(counts, metric, scale=1 / epsilon, threshold=threshold)
    return float(made.map((1, 1, 1))[1])


def thresholds() -> bool:
    """Print the least thresholds; whether both say the same, and the same δ."""
    same = True
    print("| ε | δ | OpenDP: n > t | its δ | ours: n ≥ τ | our δ |\n|---|---|---|---|---|---|")
    for epsilon in EPSILONS:
        a = float(epsilon)
        for delta in DELTAS:
            first = math.floor(-math.log(float(delta) * (1 + math.exp(-a))) / a) - 2
            t = next(t for t in range(max(1, first), 10**6) if opendp_delta(a, t) <= float(delta))
            theirs, bound = opendp_delta(a, t), t
            ours = delta_of_release([Statistic(laplace(epsilon, bound))], Decimal(epsilon)).delta
            ends = 1 - 2 * math.exp(-a * (bound + 1)) / (1 + math.exp(-a))
            wanted = theirs * -math.expm1(-a) / ends
            rounded = NEAR * wanted + FLOATS + (bound + 1) * 2**-59
            same &= abs(float(ours) - wanted) < rounded and float(ours) <= theirs
            print(f"| {epsilon} | {delta} | {t} | {theirs:.6e} | {bound + 1} | {ours:.6e} |")
    return same


def same_law(drawn: list[int], ours: IntegerTable) -> float:
    """χ²: the chance that OpenDP's draws, where they are in the table's range, are of its law."""
    seen = Counter(z for z in drawn if ours.least <= z <= ours.largest)
    total = seen.total()
    pairs = [(seen[z], mass / sum(ours.masses) * total)
             for z, mass in enumerate(ours.masses, ours.least)]  # fmt: skip
    often = [pair for pair in pairs if pair[1] > 20]
    often.append((total - sum(x for x, _ in often), total - sum(y for _, y in often)))
    return float(
        stats.chisquare(*zip(*(each for each in often if each[1] > 1), strict=True)).pvalue
    )


def laws() -> bool:
    """Print how likely OpenDP's noise is under our tables, and under tables 3 % off."""
    space = dp.vector_domain(dp.atom_domain(T=int))
    laplaces = dp.m.make_laplace(space, dp.l1_distance(T=int), scale=1.0)
    gaussians = dp.m.make_gaussian(space, dp.l2_distance(T=float), scale=2.0)
    tried: list[tuple[str, list[int], IntegerTable, IntegerTable]] = [
        ("discrete Laplace, ε = 1", laplaces([0] * DRAWS), laplace(1, 14), laplace("1.03", 14)),
        ("discrete Gaussian, σ = 2", gaussians([0] * DRAWS), gaussian(2, 9), gaussian("2.06", 9)),
    ]
    found = True
    print(
        f"\n| {DRAWS:,} draws of OpenDP's | p under our table | under one 3 % off |\n|---|---|---|"
    )
    for name, drawn, ours, off in tried:
        right, wrong = same_law(drawn, ours), same_law(drawn, off)
        found &= right > 1e-9 > wrong
        print(f"| {name} | {right:.3g} | {wrong:.3g} |")
    return found


def opendp_count(path: Path) -> Callable[[], int]:
    """OpenDP's noisy grouped count with Polars, ready to be timed."""
    dp.enable_features("contrib")

    def run() -> int:
        context = dp.Context.compositor(
            data=pl.scan_parquet(path),
            privacy_unit=dp.unit_of(contributions=1),
            privacy_loss=dp.loss_of(epsilon=1.0, delta=1e-6),
            split_evenly_over=1,
        )
        query = context.query().group_by(*KEYS).agg(dp.len())
        return int(query.release().collect().height)

    return run


def times(rows: int, repeats: int) -> None:
    """Print the time of a grouped count: plain in both engines, and noisy."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "people.parquet"
        make_people(path, rows)
        query = f"SELECT {', '.join(KEYS)}, COUNT(*) AS n FROM '{path}' GROUP BY ALL ORDER BY ALL"
        ours, end = noisy(Path(name), COUNTED)
        runs = {
            "DuckDB, plain": lambda: int(duckdb.sql(query).to_arrow_table().num_rows),
            "noisy_counts": ours,
            "Polars, plain": lambda: (
                pl.scan_parquet(path).group_by(*KEYS).agg(pl.len()).collect().height
            ),
            "OpenDP with Polars": opendp_count(path),
        }
        seconds = measure(runs, repeats)
        end()
    print(f"\n{rows:,} rows, DuckDB {duckdb.__version__}, Polars {pl.__version__}\n")
    print(table(seconds, "DuckDB, plain"))


def main() -> int:
    """Print the tables; 1 where OpenDP says something else."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--rows", type=int, default=1_000_000, help="to be timed; 0 for none")
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    dp.enable_features("contrib")
    agreed = [thresholds(), laws()]
    if arguments.rows:
        times(arguments.rows, arguments.repeats)
    print("\nthe same" if all(agreed) else "\nDIFFERENT")
    return 0 if all(agreed) else 1


if __name__ == "__main__":
    sys.exit(main())

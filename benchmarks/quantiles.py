"""Medians beside OpenDP's, on Adult and Census, at the same ε in each group.

    uv run --no-sync --with 'opendp==0.16.0' python benchmarks/quantiles.py

Prints the mean error over groups and over people, and in ranks. A policy at (1, 10⁻⁶) has ε = ½ for
the count and ½ for its median, and shows a group of 28 half of the time. Ours is drawn by the law
of [CHOICE]: utility·ε/2 plus exponential noise has the law of permute-and-flip. OpenDP's scores and
scale are its own, and its noise is of that law; ``--own`` draws with it as well.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import duckdb
import numpy as np
import numpy.typing as npt
import opendp.prelude as dp

DATA = Path(__file__).parents[2] / "shared" / "data"
LEAST, DRAWS, OWN_DRAWS = 28, 4_000, 40
Values = npt.NDArray[np.int64]
Draw = Callable[[Values, Values, float], Values]
"""Draws of one median, from values and candidates, at an ε."""
CHANCE = np.random.default_rng(7)


@dataclass(frozen=True)
class Case:
    """A median of a column by others, among these candidates."""

    name: str
    table: str
    by: str
    column: str
    candidates: range


CASES = (
    Case("hours by education", "adult", "education", "hours_per_week", range(1, 100)),
    Case("age by education × occupation", "adult", "education, occupation", "age", range(17, 91)),
    Case("wage by education", "census_income", "education", "wage_per_hour", range(0, 10_000, 10)),
)


def missed(values: Values, candidates: Values) -> Values:
    """By how many people each candidate misses the median, twice: below 0, it is one of many."""
    ordered = np.sort(values)
    below = np.searchsorted(ordered, candidates, side="left")
    above = len(values) - np.searchsorted(ordered, candidates, side="right")
    most: Values = np.maximum(2 * below - len(values), 2 * above - len(values))
    return most


def ours(values: Values, candidates: Values, epsilon: float) -> Values:
    """By the law of the coins."""
    noise = CHANCE.exponential(size=(DRAWS, len(candidates)))
    return candidates[(noise - missed(values, candidates) * epsilon / 2).argmax(axis=1)]


def _opendp(candidates: Values, epsilon: float) -> tuple[dp.Transformation, float]:
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance()
    scores = dp.t.make_quantile_score_candidates(*space, candidates.tolist(), 0.5)

    def made(scale: float) -> dp.Measurement:
        return scores >> dp.m.then_noisy_max(dp.max_divergence(), scale, negate=True)

    return scores, dp.binary_search_param(made, 1, epsilon)


def opendp(values: Values, candidates: Values, epsilon: float) -> Values:
    """By OpenDP's scores and scale."""
    scores, scale = _opendp(candidates, epsilon)
    found = np.array(scores(values.tolist()), dtype=np.float64)
    noise = CHANCE.exponential(size=(DRAWS, len(candidates)))
    return candidates[(noise - found / scale).argmax(axis=1)]


def opendp_itself(values: Values, candidates: Values, epsilon: float) -> Values:
    """By OpenDP's own draws."""
    scores, scale = _opendp(candidates, epsilon)
    choose = scores >> dp.m.then_noisy_max(dp.max_divergence(), scale, negate=True)
    return candidates[[choose(values.tolist()) for _ in range(OWN_DRAWS)]]


def errors(draw: Draw, case: Case, epsilon: float) -> str:
    """How far draws are off, in the column's own measure and in ranks, a line of a table."""
    place = DATA / f"{case.table}.parquet"
    query = f"SELECT list({case.column}::BIGINT) FROM '{place}' GROUP BY {case.by}"
    candidates, off, ranks, people = np.array(case.candidates), [], [], []
    for (listed,) in duckdb.sql(f"{query} HAVING count(*) >= {LEAST}").fetchall():
        values = np.array([value for value in listed if value is not None])
        values = np.sort(np.clip(values, candidates[0], candidates[-1]))
        drawn = draw(values, candidates, epsilon)
        low, high = values[(len(values) - 1) // 2], values[len(values) // 2]
        off.append(np.maximum(0, np.maximum(low - drawn, drawn - high)).mean())
        ranks.append(np.maximum(0, missed(values, drawn)).mean() / 2)
        people.append(len(values))
    means = np.mean(off), np.average(off, weights=people), np.mean(ranks)
    return " | ".join((f"{len(people)}", *(f"{mean:.3f}" for mean in means)))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--epsilon", type=float, default=0.5)
    parser.add_argument("--own", action="store_true")
    asked = parser.parse_args()
    dp.enable_features("contrib")
    draws = {"ours": ours, "OpenDP": opendp, **({"its own": opendp_itself} if asked.own else {})}
    print("| | by | groups | by groups | by people | ranks |\n|---|---|---|---|---|---|")
    for case in CASES:
        for name, draw in draws.items():
            print(f"| {case.name} | {name} | {errors(draw, case, asked.epsilon)} |")


if __name__ == "__main__":
    main()

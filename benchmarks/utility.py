"""What a reader gets of each mechanism at the same (ε, δ), on real tables: (1, 10⁻⁶).

    python benchmarks/utility.py [--draws 5] [--zipf 10000000]

Each policy is compiled, certified and run by DuckDB as a release runs it, under so many secrets.
Shares of people and errors are means over the draws; errors are of the estimates of the groups
that are shown, and L1 is the sum of all errors, a group that is not shown counting as 0, over all
people. ``certain`` is the share of people in shown groups of at least 20 people for certain.
"""

from __future__ import annotations

import argparse
import tempfile
from contextlib import closing
from itertools import combinations
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from policy_engine.kernel.certificate import Certificate
from policy_engine.policy.loading import load_policy_text
from policy_engine.policy.project import default_project
from policy_engine.policy.resolve import Policy
from policy_engine.releasing.estimating import agreed
from policy_engine.releasing.planning import prepare
from policy_engine.warehouse.drawing import new_secret
from policy_engine.warehouse.duckdb import DuckDBWarehouse

ADULT = Path(__file__).parent.parent / "policies/adult/data/adult.parquet"
CENSUS = Path(__file__).parents[2] / "shared/data/census_income.parquet"
AGE = "age: {bins: [30, 45, 60]}"
DECADES = "age: {bins: [10, 20, 30, 40, 50, 60, 70, 80, 90]}"
WHITE = "race: {map: {White: White}, other: other}"
GROUPINGS = {
    "adult, coarse": (ADULT, ["education: keep", "occupation: keep", "sex: keep"]),
    "adult, fine": (
        ADULT,
        [AGE, "education: keep", "occupation: keep", "sex: keep", WHITE, "income: keep"],
    ),
    "census": (
        CENSUS,
        [DECADES, "education: keep", "marital_status: keep", "race: keep", "sex: keep"],
    ),
}
MECHANISMS = {
    "noisy counts": "mechanism: noisy_counts",
    "noisy counts, k 20": "mechanism: noisy_counts\nk: 20",
    "place": "noise: {distribution: negative_binomial}",
    "sampled suppression": "sample: {rate: auto}\nk: auto",
}
POLICY = """
version: 1
name: utility
source: {{file: {source}}}
privacy_unit: row
recode: {{{recode}}}
{mechanism}
guarantee: {{epsilon: 1, delta: 1.0e-6}}
release: {{file: out.parquet}}
"""

Drawn = tuple[Certificate, list[dict[str, Any]]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--zipf", type=int, default=10_000_000, help="people; 0 leaves it out")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        groupings = {name: each for name, each in GROUPINGS.items() if each[0].exists()}
        if arguments.zipf:
            groupings["zipf, 100,000 groups"] = (zipf(Path(name), arguments.zipf), ["g: keep"])
        print(f"(1, 1e-6), {arguments.draws} draws, DuckDB {duckdb.__version__}\n")
        print("| groups | mechanism | shown | people | median error | 95th percentile | L1 |")
        print("|---|---|---|---|---|---|---|")
        for title, (source, recode) in groupings.items():
            for mechanism, lines in MECHANISMS.items():
                text = POLICY.format(source=source, recode=", ".join(recode), mechanism=lines)
                policy = load_policy_text(text, Path(name) / "policy.yaml", name)
                row(title, mechanism, policy, arguments.draws)
        several(Path(name), arguments.draws)


NINE = [AGE, *(f"{name}: keep" for name in ("workclass", "education", "marital_status",
        "occupation", "relationship", "race", "sex", "income"))]  # fmt: skip
HOURS = (
    "measures: {hours: {mean: hours_per_week, bounds: [0, 99], round_to: 0.01, missing: {as: 0}}}"
)


def several(folder: Path, draws: int) -> None:
    """Means beside counts, and all pairs of nine columns at one price."""
    groups = ["marital_status: keep", "occupation: keep"]
    found = np.mean([mean_error(released(folder, groups, HOURS)) for _ in range(draws)])
    print(f"\nmean hours in 98 groups: a person's group is {found:.3f} h off in the mean")
    names = [each.partition(":")[0] for each in NINE]
    pairs = [list(pair) for pair in combinations(names, 2)]
    draw = [released(folder, NINE, f"marginals: {pairs}") for _ in range(draws)]
    shown = np.mean([l1(each) for each in draw])
    agree = np.mean([l1(made_to_agree(*each)) for each in draw])
    print(
        f"{len(pairs)} two-way marginals of Adult in one budget: L1 {shown:.4f} as they are shown,"
        f" {agree:.4f} made to agree"
    )


def made_to_agree(certificate: Certificate, rows: list[dict[str, Any]]) -> Drawn:
    """What 'policy-engine estimate' makes of the rows: its estimates in place of the counts."""
    cells = agreed(certificate.claim, [tuple(row.values()) for row in rows])
    return certificate, [dict(zip(rows[0], (*cell[:-2], cell[-1]), strict=True)) for cell in cells]


def released(folder: Path, recode: list[str], lines: str) -> Drawn:
    """The certificate of a policy of Adult, and its rows under a fresh secret."""
    text = POLICY.format(source=ADULT, recode=", ".join(recode), mechanism=lines)
    policy = load_policy_text(text, folder / "policy.yaml", folder)
    with closing(DuckDBWarehouse()) as warehouse:
        certificate, table = prepare(policy, default_project(folder), warehouse)
        with warehouse.sampled(policy, table, new_secret()):
            return certificate, warehouse.rows(certificate.query).to_pylist()


def mean_error(found: Drawn) -> float:
    """How far the mean of a group that is shown is off, in the mean over its people."""
    truth = duckdb.sql(
        "SELECT marital_status, occupation, count(*), avg(hours_per_week)"
        f" FROM '{ADULT}' GROUP BY ALL"
    ).fetchall()
    every = {each[:2]: each[2:] for each in truth}
    known = [(each, every[each["marital_status"], each["occupation"]]) for each in found[1]]
    errors = [n * abs(float(each["hours"]) - mean) for each, (n, mean) in known]
    return sum(errors) / sum(n for _, (n, _) in known)


def l1(found: Drawn) -> float:
    """All errors over all people, a group that is not shown counting as 0; of all groupings."""
    certificate, rows = found
    counted = certificate.query[: certificate.query.index(", drawn AS")]
    truth = duckdb.sql(f"{counted} SELECT * FROM grouped").fetchall()
    shown = {tuple(each.values())[:-1]: each["n"] for each in rows}
    there = {each[:-1]: each[-1] for each in truth}
    errors = [abs(shown.get(group, 0) - there.get(group, 0)) for group in {*shown, *there}]
    return sum(errors) / sum(each[-1] for each in truth)


def zipf(folder: Path, people: int) -> Path:
    """People in 100,000 groups, of which the i-th has a size in proportion to 1/i."""
    weights = 1 / np.arange(1, 100_001)
    sizes = np.maximum(1, np.floor(people * weights / weights.sum())).astype(int)
    path = folder / "zipf.parquet"
    duckdb.from_arrow(__import__("pyarrow").table({"g": np.repeat(np.arange(100_000), sizes)})) \
        .write_parquet(str(path))  # fmt: skip
    return path


def row(title: str, mechanism: str, policy: Policy, draws: int) -> None:
    """One line of the table."""
    with closing(DuckDBWarehouse()) as warehouse:
        certificate, table = prepare(policy, default_project(policy.directory), warehouse)
        every = truth(certificate.query, warehouse)
        total = sum(every.values())
        found = []
        for _ in range(draws):
            with warehouse.sampled(policy, table, new_secret()):
                rows = warehouse.rows(certificate.query).to_pylist()
            found.append(measured(rows, every, float(policy.rate)))
        shown, people, median, high, l1 = np.mean(found, axis=0)
    print(
        f"| {title}: {len(every):,} | {mechanism} | {shown:,.0f} | {people / total:.1%} |"
        f" {median:.2%} | {high:.2%} | {l1 / total:.3f} |",
        flush=True,
    )


def truth(query: str, warehouse: DuckDBWarehouse) -> dict[tuple[Any, ...], int]:
    """The true groups: the text's own recoded rows, counted."""
    recoded = query[: query.index(", grouped AS" if ", grouped AS" in query else "\nSELECT")]
    if "sampled" in recoded:
        start, end = recoded.index("\n  WHERE"), recoded.index("\n)")
        recoded = recoded[:start] + recoded[end:]
    how = "SUM(policy_engine_count)" if "policy_engine_count" in recoded else "COUNT(*)"
    listed = "* EXCLUDE (policy_engine_count)" if "policy_engine_count" in recoded else "*"
    rows = warehouse._connection.sql(f"{recoded} SELECT {listed}, {how} FROM recoded GROUP BY ALL")
    return {each[:-1]: int(each[-1]) for each in rows.fetchall()}


def measured(
    rows: list[dict[str, Any]], every: dict[tuple[Any, ...], int], rate: float
) -> tuple[float, float, float, float, float]:
    """Groups shown, people in them, errors of the estimates, and L1."""
    estimates = {tuple(each.values())[:-1]: each["n"] / rate for each in rows}
    errors = np.array(
        [abs(found - every[group]) / every[group] for group, found in estimates.items()]
    )
    people = sum(every[group] for group in estimates)
    l1 = sum(abs(estimates.get(group, 0) - size) for group, size in every.items())
    if not len(errors):
        return 0, 0, 1, 1, l1
    weights = np.array([every[group] for group in estimates], float)
    return len(rows), people, quantile(errors, weights, 0.5), quantile(errors, weights, 0.95), l1


def quantile(values: np.ndarray, weights: np.ndarray, share: float) -> float:
    """The quantile over people: an error of a group is that of each person in it."""
    order = np.argsort(values)
    reached = np.cumsum(weights[order]) / weights.sum()
    return float(values[order][np.searchsorted(reached, share)])


if __name__ == "__main__":
    main()

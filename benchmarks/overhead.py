"""What a certified release costs over the same query written by hand.

    python benchmarks/overhead.py [--rows 10000000] [--repeats 9]

Three queries over one Parquet file of six recoded columns, in the same DuckDB and the same
run: written by hand with TABLESAMPLE BERNOULLI, and released with ``native`` and ``keyed``
sampling. Timed for a release: the draw of the sample and the query, everything that touches
the data. The three take turns, so that a busy machine slows all of them alike.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import duckdb

from policy_engine.policy.loading import load_policy_text
from policy_engine.policy.project import default_project
from policy_engine.releasing.planning import prepare
from policy_engine.warehouse.drawing import new_secret
from policy_engine.warehouse.duckdb import DuckDBWarehouse

POLICY = """
version: 1
name: overhead
source: {{file: people.parquet}}
privacy_unit: row
recode:
  age: {{bins: [18, 30, 45, 60, 75]}}
  education: {{map: {{e1: low, e2: low, e3: low, e4: mid, e5: mid, e6: mid}}, other: high}}
  country: {{map: {{c0: home, c1: near, c2: near}}, other: elsewhere}}
  region: {{prefix: 2}}
  hours: {{round: 10}}
  income: keep
sample: {{rate: 0.1, method: {method}}}
k: 20
guarantee: {{epsilon: 0.5, delta: 1.0e-9}}
release: {{file: out.parquet}}
"""

BY_HAND = """
SELECT age, education, country, region, hours, income, COUNT(*) AS n FROM (
  SELECT
    CASE WHEN age IS NULL THEN NULL WHEN age < 18 THEN '<18' WHEN age < 30 THEN '[18,30)'
      WHEN age < 45 THEN '[30,45)' WHEN age < 60 THEN '[45,60)' WHEN age < 75 THEN '[60,75)'
      ELSE '>=75' END AS age,
    CASE WHEN education IS NULL THEN NULL WHEN education IN ('e1', 'e2', 'e3') THEN 'low'
      WHEN education IN ('e4', 'e5', 'e6') THEN 'mid' ELSE 'high' END AS education,
    CASE WHEN country IS NULL THEN NULL WHEN country IN ('c0') THEN 'home'
      WHEN country IN ('c1', 'c2') THEN 'near' ELSE 'elsewhere' END AS country,
    LEFT(region, 2) AS region,
    TRY_CAST(ROUND(CAST(hours AS DOUBLE) / 10) * 10 AS BIGINT) AS hours,
    income
  FROM read_parquet('people.parquet') TABLESAMPLE BERNOULLI (10 PERCENT)
)
GROUP BY ALL HAVING COUNT(*) >= 20 ORDER BY ALL
"""

Run = Callable[[], int]


def make_people(path: Path, rows: int) -> None:
    """A Parquet file of ``rows`` people with six columns, from a fixed seed."""
    duckdb.execute("SELECT setseed(0.42)")
    duckdb.execute(
        f"""COPY (SELECT 17 + (random() * 73)::INT AS age, 'e' || (random() * 15)::INT AS education,
        'c' || (random() * random() * 41)::INT AS country,
        'r' || (random() * 4)::INT || (random() * 9)::INT AS region,
        (random() * 99)::INT AS hours, ['<=50K', '>50K'][1 + (random() > 0.75)::INT] AS income
        FROM range({rows})) TO '{path}' (FORMAT parquet)"""
    )


def released(folder: Path, method: str) -> tuple[Run, Callable[[], None]]:
    """The part of a release that touches the data, ready to be timed, and its end."""
    policy = load_policy_text(POLICY.format(method=method), folder / "policy.yaml", folder)
    warehouse = DuckDBWarehouse()
    certificate, table = prepare(policy, default_project(folder), warehouse)

    def run() -> int:
        with warehouse.sampled(policy, table, new_secret()) as unchanged:
            rows = warehouse.rows(certificate.query).num_rows
            unchanged()
            return int(rows)

    return run, warehouse.close


def by_hand(folder: Path) -> tuple[Run, Callable[[], None]]:
    """The hand-written query, ready to be timed, and its end."""
    connection = duckdb.connect()
    connection.execute("SET file_search_path = ?", [str(folder)])
    return lambda: int(connection.sql(BY_HAND).to_arrow_table().num_rows), connection.close


def measure(runs: dict[str, Run], repeats: int) -> dict[str, list[tuple[float, float]]]:
    """Wall and CPU seconds of every run, in turns; the first turn warms up and is left out."""
    seconds: dict[str, list[tuple[float, float]]] = {name: [] for name in runs}
    for turn in range(repeats + 1):
        for name, run in runs.items():
            wall, cpu = time.perf_counter(), time.process_time()
            run()
            if turn:
                used = (time.perf_counter() - wall, time.process_time() - cpu)
                seconds[name].append(used)
    return seconds


def table(seconds: dict[str, list[tuple[float, float]]], base: str) -> str:
    """Medians, and their ratios to ``base``. CPU time tells more on a shared machine."""
    lines = ["| query | wall s | CPU s | wall ratio | CPU ratio |", "|---|---|---|---|---|"]
    medians = {
        name: [statistics.median(column) for column in zip(*times, strict=True)]
        for name, times in seconds.items()
    }
    for name, (wall, cpu) in medians.items():
        ratios = f"{wall / medians[base][0]:.3f} | {cpu / medians[base][1]:.3f}"
        lines.append(f"| {name} | {wall:.3f} | {cpu:.3f} | {ratios} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--repeats", type=int, default=9)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_people(folder / "people.parquet", arguments.rows)
        parts = {
            "by hand": by_hand(folder),
            "native": released(folder, "native"),
            "keyed": released(folder, "keyed"),
        }
        seconds = measure({name: run for name, (run, _) in parts.items()}, arguments.repeats)
        for _, end in parts.values():
            end()
    python = sys.version.split(maxsplit=1)[0]
    print(
        f"{arguments.rows:,} rows × 6 columns, DuckDB {duckdb.__version__}, Python {python},"
        f" {arguments.repeats} turns\n"
    )
    print(table(seconds, "by hand"))


if __name__ == "__main__":
    main()

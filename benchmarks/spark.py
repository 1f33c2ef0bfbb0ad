"""What a release costs on Spark: its query against the same predicate written by hand.

A Parquet table of 5 million people in a folder of its own; the median of each query, and ratios of
one run. ``row_key`` is one row a person, ``key`` may be many, of which one is kept.

.venv/bin/python benchmarks/spark.py [--rows 5000000] [--turns 5] [--master local[2]]
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from contextlib import closing
from pathlib import Path

from policy_engine.kernel.mechanisms.sampled_suppression.rate import threshold
from policy_engine.policy.loading import load_policy_text
from policy_engine.policy.project import default_project
from policy_engine.releasing.planning import prepare
from policy_engine.warehouse.spark import SparkWarehouse

POLICY = """\
version: 1
name: bench
source: {{table: people}}
privacy_unit: {unit}
recode: {{age: {{bins: [18, 40, 65]}}, zip: {{prefix: 2}}}}
sample: {{rate: 0.05}}
k: 20
guarantee: {{epsilon: 1, delta: 0.9}}
release: {{file: out.parquet}}
grouping: recoded
"""
PEOPLE = (
    "CREATE TABLE people USING parquet AS SELECT id, CAST(id * 7919 % 100 AS INT) AS age,"
    " lpad(CAST(id * 104729 % 100000 AS STRING), 5, '0') AS zip FROM range({rows})"
)
RECODED = (
    "SELECT CASE WHEN age < 18 THEN '<18' WHEN age < 40 THEN '18-39' WHEN age < 65 THEN '40-64'"
    " ELSE '65+' END AS a, left(zip, 2) AS z FROM people WHERE {}"
)
GROUPED = "SELECT a, z, count(*) FROM ({}) GROUP BY a, z HAVING count(*) >= 20"
KEYED = (
    "sha2((SELECT salt FROM policy_engine_salts WHERE release_id = 'next') || ':u:' ||"
    " CAST(id AS STRING), 256) < '{}'"
)


RANKED = (
    "SELECT age, zip, row_number() OVER (PARTITION BY id ORDER BY age, zip) AS place"
    " FROM people WHERE {}"
)
UNITS = {"row_key": "{column: id, rows: one}", "key": "{column: id, rows: any}"}


def main() -> None:
    """Print a table of seconds."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--master", default="local[2]")
    asked = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="bench-spark-"))
    with closing(SparkWarehouse("bench", asked.master)) as warehouse:
        warehouse.ask("DROP TABLE IF EXISTS people")
        place = f"USING parquet LOCATION '{folder}/people'"
        warehouse.ask(PEOPLE.format(rows=asked.rows).replace("USING parquet", place))
        texts = {"no sample": GROUPED.format(RECODED.format("TRUE"))}
        for unit, written in UNITS.items():
            policy = load_policy_text(POLICY.format(unit=written), folder / "policy.yaml", folder)
            certificate, table = prepare(policy, default_project(folder), warehouse)
            kept = KEYED.format(f"{threshold(policy.rate):015x}")
            one = RECODED.format("place = 1").replace("people", f"({RANKED.format(kept)})")
            by_hand = GROUPED.format(RECODED.format(kept) if unit == "row_key" else one)
            texts[f"{unit}: by hand"] = f"{by_hand} ORDER BY 1, 2"
            texts[f"{unit}: by hand, in no order"] = by_hand
            texts[f"{unit}: release"] = certificate.query
        with warehouse.sampled(policy, table, bytes(range(16))):
            found = _medians(warehouse, texts, asked.turns)
    print(f"Spark {warehouse.engine_version}, {asked.master}, {asked.rows:,} rows")
    print("| query | seconds | ratio |\n|---|---|---|")
    for name, seconds in found.items():
        unit = name.partition(":")[0]
        ratio = f"{seconds / found[f'{unit}: by hand']:.3f}" if unit in UNITS else ""
        print(f"| {name} | {seconds:.2f} | {ratio} |")


def _medians(warehouse: SparkWarehouse, texts: dict[str, str], turns: int) -> dict[str, float]:
    """The median seconds of each text; all are run in every turn, and the first turn warms up."""
    runs: dict[str, list[float]] = {name: [] for name in texts}
    for _ in range(turns + 1):
        for name, sql in texts.items():
            start = time.perf_counter()
            warehouse.rows(sql)
            runs[name].append(time.perf_counter() - start)
    return {name: statistics.median(times[1:]) for name, times in runs.items()}


if __name__ == "__main__":
    main()

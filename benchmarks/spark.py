"""What a release costs on Spark: its query against the same predicate written by hand.

``.venv/bin/python benchmarks/spark.py [rows]`` makes a Parquet table of 5 million people in a
folder of its own, and prints the best of three runs of each; the ratio is of one run of the driver.
"""

from __future__ import annotations

import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

from policy_engine.dialects.base import hex_threshold
from policy_engine.policy.loading import load_policy_text
from policy_engine.policy.project import default_project
from policy_engine.release import prepare
from policy_engine.warehouse.spark import SparkWarehouse

ROWS = 5_000_000
POLICY = """\
version: 1
name: bench
source: {relation: people, unit: {key: id}}
recode: {age: {bins: [18, 40, 65]}, zip: {prefix: 2}}
sample: {rate: 0.05}
k: 20
guarantee: {epsilon: 1, delta: 0.9}
release: {path: out.parquet}
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


def main() -> None:
    """Print a table of seconds."""
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else ROWS
    folder = Path(tempfile.mkdtemp(prefix="bench-spark-"))
    policy = load_policy_text(POLICY, folder / "policy.yaml", folder)
    with closing(SparkWarehouse("bench", "local[2]")) as warehouse:
        warehouse.ask("DROP TABLE IF EXISTS people")
        place = f"USING parquet LOCATION '{folder}/people'"
        warehouse.ask(PEOPLE.format(rows=rows).replace("USING parquet", place))
        certificate, table = prepare(policy, default_project(folder), warehouse)
        by_hand = GROUPED.format(RECODED.format(KEYED.format(hex_threshold(policy.rate))))
        with warehouse.sampled(policy, table, bytes(range(16))):
            texts = {"release": certificate.sql, "by hand": by_hand}
            texts["no sample"] = GROUPED.format(RECODED.format("TRUE"))
            found = {name: _best(warehouse, sql) for name, sql in texts.items()}
    print(f"Spark {warehouse.engine_version}, local[2], {rows:,} rows")
    for name, seconds in found.items():
        print(f"  {name:<10} {seconds:6.2f} s   ×{seconds / found['by hand']:.2f}")


def _best(warehouse: SparkWarehouse, sql: str) -> float:
    """Seconds of the fastest of three runs."""
    runs = []
    for _ in range(3):
        start = time.perf_counter()
        warehouse.rows(sql)
        runs.append(time.perf_counter() - start)
    return min(runs)


if __name__ == "__main__":
    main()

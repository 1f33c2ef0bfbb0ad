"""The time of a release whose hierarchy has many leaves: joined, and as CASE would ask for it.

    python benchmarks/long_map.py --rows 1000000 --leaves 40000

Each leaf stands in the source; a hundred of them are one group. Compiled and run on DuckDB.
"""

import argparse
import tempfile
import time
from pathlib import Path

import duckdb

from policy_engine.compile.compiler import compiled
from policy_engine.kernel import printing
from policy_engine.policy.loading import load_policy
from policy_engine.warehouse.duckdb import DuckDBWarehouse

POLICY = """\
version: 1
name: leaves
source: {file: people.parquet}
privacy_unit: {column: id, rows: any}
recode: {code: {hierarchy: codes.csv, level: 1}}
sample: {rate: 0.999}
k: 20
guarantee: {epsilon: 99, delta: 0.9999}
release: {file: out.parquet}
grouping: recoded
"""


def main() -> None:
    """Print seconds, joined and as CASE."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--leaves", type=int, nargs="+", default=[50, 100, 200, 1000, 40_000])
    asked = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="bench-map-"))
    (folder / "policy.yaml").write_text(POLICY)
    for leaves in asked.leaves:
        duckdb.sql(
            f"COPY (SELECT i AS id, 'c' || hash(i) % {leaves} AS code FROM range({asked.rows})"
            f" AS r(i)) TO '{folder}/people.parquet' (FORMAT parquet)"
        )
        lines = (f"c{leaf};g{leaf // 100}\n" for leaf in range(leaves))
        (folder / "codes.csv").write_text("".join(lines))
        for name, longest in (("joined", 0), ("CASE", leaves)):
            printing.LONG = longest
            started = time.perf_counter()
            groups = _released(folder)
            seconds = time.perf_counter() - started
            print(f"{leaves:>6} leaves {name:>6} {seconds:7.2f} s {groups} groups", flush=True)


def _released(folder: Path) -> int:
    policy = load_policy(folder / "policy.yaml")
    warehouse = DuckDBWarehouse()
    table = warehouse.table(policy.source, folder)
    query = compiled(policy, table, warehouse.dialect)[1]
    with warehouse.sampled(policy, table, bytes(16)):
        found = warehouse.rows(query).num_rows
    warehouse.close()
    return found


if __name__ == "__main__":
    main()

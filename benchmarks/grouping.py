"""When grouping by the raw columns first pays, and when it does not.

    python benchmarks/grouping.py [--rows 5000000] [--repeats 5]

The same policy over the same number of rows, twice: the real Adult extract repeated until it
is long enough, where raw tuples repeat, and rows whose raw tuples are nearly all different.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import duckdb
from overhead import measure, table

from policy_engine.policy.loading import load_policy_text
from policy_engine.policy.project import default_project
from policy_engine.releasing.planning import prepare
from policy_engine.warehouse.drawing import new_secret
from policy_engine.warehouse.duckdb import DuckDBWarehouse

ADULT = Path(__file__).parent.parent / "policies/adult/data/adult.parquet"
POLICY = """
version: 1
name: grouping
source: {{file: {source}}}
privacy_unit: row
recode:
  age: {{bins: [30, 45, 60]}}
  education: {{map: {{Bachelors: degree, Masters: degree, HS-grad: school}}, other: other}}
  sex: keep
  race: {{map: {{White: White, Black: Black}}, other: other}}
  hours_per_week: {{bins: [20, 35, 45]}}
  income: keep
sample: {{rate: 0.1}}
k: 20
guarantee: {{epsilon: 0.5, delta: 1.0e-9}}
release: {{file: out.parquet}}
grouping: {grouping}
"""


def make_sources(folder: Path, rows: int) -> None:
    """``repeated``: Adult again and again; ``different``: wide random ages and hours."""
    columns = "age, education, sex, race, hours_per_week, income"
    copies = rows // 48_842 + 1
    duckdb.execute(
        f"COPY (SELECT {columns} FROM '{ADULT}', range({copies}) LIMIT {rows})"
        f" TO '{folder}/repeated.parquet'"
    )
    wide = columns.replace("age,", "(random() * 1e6)::INT AS age,", 1).replace(
        "hours_per_week", "(random() * 1e6)::INT AS hours_per_week"
    )
    duckdb.execute(
        f"COPY (SELECT {wide} FROM '{ADULT}', range({copies}) LIMIT {rows})"
        f" TO '{folder}/different.parquet'"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_sources(folder, arguments.rows)
        for source in ("repeated", "different"):
            runs, ends = {}, []
            for grouping in ("recoded", "raw_first"):
                text = POLICY.format(source=f"{source}.parquet", grouping=grouping)
                policy = load_policy_text(text, folder / "policy.yaml", folder)
                warehouse = DuckDBWarehouse()
                certificate, found = prepare(policy, default_project(folder), warehouse)

                def run(
                    warehouse=warehouse, policy=policy, found=found, sql=certificate.query
                ) -> int:
                    with warehouse.sampled(policy, found, new_secret()):
                        return int(warehouse.rows(sql).num_rows)

                runs[grouping] = run
                ends.append(warehouse.close)
            print(f"\n{arguments.rows:,} rows, raw tuples {source}, DuckDB {duckdb.__version__}\n")
            print(table(measure(runs, arguments.repeats), "recoded"))
            for end in ends:
                end()


if __name__ == "__main__":
    main()

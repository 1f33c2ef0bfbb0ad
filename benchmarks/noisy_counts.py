"""What noise costs over the plain grouped count, and what 100 million rows need.

    python benchmarks/noisy_counts.py [--rows 10000000] [--repeats 7] [--most 100000000]

Each count is beside the same one written by hand, in the same DuckDB and the same run, in turns:
of six recoded columns, of 100,000 groups whose sizes fall as 1/i, and of persons with ten rows each
who count in three groups at most. Then the first and the last over ``--most`` rows, each in a
process of its own with a memory limit of 3 GB; the peak is the whole process's.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import duckdb
from overhead import BY_HAND, POLICY, Run, make_people, measure, table

from policy_engine.policy.loading import load_policy_text
from policy_engine.policy.project import default_project
from policy_engine.releasing.planning import prepare
from policy_engine.warehouse.drawing import new_secret
from policy_engine.warehouse.duckdb import DuckDBWarehouse

SAMPLED = (
    "sample: {{rate: 0.1, method: {method}}}\nk: 20\nguarantee: {{epsilon: 0.5, delta: 1.0e-9}}"
)
NOISY = "mechanism: noisy_counts\nguarantee: {epsilon: 1, delta: 1.0e-6}"
RECODED = POLICY.replace(SAMPLED, NOISY).replace("{{", "{").replace("}}", "}")
ZIPF = f"""
version: 1
name: zipf
source: {{file: people.parquet}}
privacy_unit: row
recode: {{g: keep}}
{NOISY}
release: {{file: out.parquet}}
"""
PERSONS = f"""
version: 1
name: persons
source: {{file: people.parquet}}
privacy_unit: {{column: id, rows: all}}
recode: {{age: {{bins: [18, 40, 65]}}, town: keep}}
contribution: {{max_groups: 3}}
{NOISY}
release: {{file: out.parquet}}
"""
PLAIN = BY_HAND.replace(" TABLESAMPLE BERNOULLI (10 PERCENT)", "").replace(
    " HAVING COUNT(*) >= 20", ""
)
PLAIN_ZIPF = "SELECT g, COUNT(*) AS n FROM read_parquet('people.parquet') GROUP BY ALL ORDER BY ALL"
PLAIN_PERSONS = """
SELECT CASE WHEN age IS NULL THEN NULL WHEN age < 18 THEN '<18' WHEN age < 40 THEN '[18,40)'
    WHEN age < 65 THEN '[40,65)' ELSE '>=65' END AS age, town, COUNT(DISTINCT id) AS n
FROM read_parquet('people.parquet') WHERE id IS NOT NULL GROUP BY ALL ORDER BY ALL
"""


def make_zipf(path: Path, rows: int) -> None:
    """People in random order, in 100,000 groups of which the i-th has a share in 1/i."""
    draw = "(100000 ** random())::BIGINT AS g"
    duckdb.execute("SELECT setseed(0.42)")
    duckdb.execute(f"COPY (SELECT {draw} FROM range({rows})) TO '{path}' (FORMAT parquet)")


def make_persons(path: Path, rows: int) -> None:
    """Ten rows a person, far from each other, in about four of 400 groups."""
    duckdb.execute(
        f"""COPY (SELECT range % {max(rows // 10, 1)} AS id, (hash(id) % 90)::INTEGER AS age,
        't' || (hash(id) + hash(range) % 4) % 100 AS town FROM range({rows}))
        TO '{path}' (FORMAT parquet)"""
    )


COUNTS: dict[str, tuple[str, str, Callable[[Path, int], None]]] = {
    "six recoded columns": (RECODED, PLAIN, make_people),
    "100,000 groups": (ZIPF, PLAIN_ZIPF, make_zipf),
    "persons, 3 groups each": (PERSONS, PLAIN_PERSONS, make_persons),
}


def noisy(folder: Path, policy_text: str, memory: str | None = None) -> tuple[Run, Run]:
    """A release's part that touches the data, ready to be timed, and its end."""
    policy = load_policy_text(policy_text, folder / "policy.yaml", folder)
    warehouse = DuckDBWarehouse(memory_limit=memory)
    certificate, source = prepare(policy, default_project(folder), warehouse)

    def run() -> int:
        with warehouse.sampled(policy, source, new_secret()) as unchanged:
            rows = warehouse.rows(certificate.query).num_rows
            unchanged()
            return int(rows)

    return run, lambda: warehouse.close() or 0


def plain(folder: Path, query: str) -> tuple[Run, Run]:
    """The query written by hand, ready to be timed, and its end."""
    connection = duckdb.connect()
    connection.execute("SET file_search_path = ?", [str(folder)])
    return lambda: int(
        connection.sql(query).to_arrow_table().num_rows
    ), lambda: connection.close() or 0


def beside(rows: int, repeats: int) -> None:
    """Each count beside the plain one."""
    for title, (policy, query, make) in COUNTS.items():
        with tempfile.TemporaryDirectory() as name:
            make(Path(name) / "people.parquet", rows)
            parts = {"plain": plain(Path(name), query), "noisy": noisy(Path(name), policy)}
            groups = parts["plain"][0]()
            seconds = measure({kind: run for kind, (run, _) in parts.items()}, repeats)
            for _, end in parts.values():
                end()
        print(f"{title}: {rows:,} rows, {groups:,} groups\n\n{table(seconds, 'plain')}\n")


def run_alone(folder: Path, title: str) -> None:
    """Release once; print seconds and the process's peak memory in MB."""
    run, end = noisy(folder, COUNTS[title][0], "3GB")
    start = time.perf_counter()
    run()
    seconds = time.perf_counter() - start
    end()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(seconds, peak / (1 << 10 if sys.platform == "linux" else 1 << 20))


def largest(rows: int, titles: Iterable[str]) -> None:
    """The time and the peak of the largest tables."""
    print("| rows | count | seconds | µs a row | peak MB |\n|---|---|---|---|---|")
    for title in titles:
        with tempfile.TemporaryDirectory() as name:
            COUNTS[title][2](Path(name) / "people.parquet", rows)
            command = [sys.executable, __file__, "--alone", name, "--count", title]
            answer = subprocess.run(command, check=True, capture_output=True, text=True)
        seconds, peak = map(float, answer.stdout.split())
        micro = seconds / rows * 1e6
        print(f"| {rows:,} | {title} | {seconds:.1f} | {micro:.3f} | {peak:.0f} |", flush=True)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--most", type=int, default=100_000_000, help="rows; 0 leaves them out")
    parser.add_argument("--alone", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--count", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.alone:
        run_alone(arguments.alone, arguments.count)
        return
    print(f"(1, 1e-6), DuckDB {duckdb.__version__}, {arguments.repeats} turns\n")
    beside(arguments.rows, arguments.repeats)
    if arguments.most:
        largest(arguments.most, ("six recoded columns", "persons, 3 groups each"))


if __name__ == "__main__":
    main()

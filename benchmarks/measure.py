"""What measuring costs: every categorical model in one statement, beside a plain GROUP BY.

.venv/bin/python benchmarks/measure.py [--rows 100000000] [--memory 4GB]

The table has the people of Adult, each drawn again and again: four quasi-identifiers, and the
occupation as what is to be learnt, with a tree of two levels. Times are of the processor, the least
of five runs, on all threads together; the memory is the process's highest.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
from collections.abc import Callable
from pathlib import Path

from policy_engine.measure.statement import EQUAL, TREE, Distances, Roles, statement
from policy_engine.warehouse.settings import connect

ADULT = Path(__file__).parent.parent / "policies/adult/data/adult.parquet"
KNOWN = ("age", "education", "sex", "race")
ROLES = Roles(KNOWN, "occupation")
PEOPLE = """
COPY (
  SELECT age, education, sex, race, occupation FROM range({rows}) r(i)
  JOIN (SELECT *, row_number() OVER () - 1 AS i FROM '{adult}') a ON hash(r.i) % 30000 = a.i
) TO '{path}' (FORMAT parquet)
"""


def seconds(work: Callable[[], object], turns: int = 5) -> float:
    """The least processor time of some runs."""
    times = []
    for _ in range(turns):
        before = resource.getrusage(resource.RUSAGE_SELF)
        work()
        after = resource.getrusage(resource.RUSAGE_SELF)
        spent = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
        times.append(spent)
    return min(times)


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, nargs="*", default=[100_000, 1_000_000, 10_000_000])
    parser.add_argument("--memory", default="4GB")
    asked = parser.parse_args()
    print(
        "| rows | plain GROUP BY | k, ℓ, t, δ, α | t by all three | ratio |"
    )
    print("|---|---|---|---|---|")
    for rows in asked.rows:
        with tempfile.TemporaryDirectory() as folder:
            measured(rows, Path(folder), asked.memory)
    highest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"\nat most {highest:.2f} GB")


def measured(rows: int, folder: Path, memory: str) -> None:
    """One line."""
    connection = connect(folder, memory)
    path = folder / "people.parquet"
    connection.execute(PEOPLE.format(rows=rows, adult=ADULT, path=path))
    connection.execute(
        f"CREATE TABLE {TREE} AS SELECT s AS value, [place, place % 4] AS nodes FROM"
        " (SELECT s, row_number() OVER (ORDER BY s) AS place"
        f" FROM (SELECT DISTINCT occupation AS s FROM '{ADULT}'))"
    )
    relation = f"read_parquet('{path}')"
    if rows <= 1_000_000:
        connection.execute(f"CREATE TABLE people AS SELECT * FROM {relation}")
        relation = "people"
    columns = ", ".join((*KNOWN, "occupation"))
    group = f"SELECT {columns}, count(*) FROM {relation} GROUP BY ALL"
    texts = [
        f"SELECT count(*) FROM ({group})",
        statement(relation, ROLES, EQUAL),
        statement(relation, ROLES, Distances(ordered=True, levels=2)),
    ]
    turns = 5 if rows <= 10_000_000 else 1
    times = [seconds(lambda text=text: connection.execute(text).fetchall(), turns)
             for text in texts]  # fmt: skip
    line = " | ".join(f"{each:.3f} s" for each in times)
    print(f"| {rows:,} | {line} | {times[2] / times[0]:.2f} |", flush=True)


if __name__ == "__main__":
    main()

"""How long an answer takes: models of 50 to 800 lines, with a schema and without.

.venv/bin/python benchmarks/check.py
"""

from __future__ import annotations

import statistics
import time

from policy_engine.check.answer import answer
from policy_engine.check.schema import Schema

TURNS = 15
RECODE = """    case
      when {0} is null then 'none'
      when {0} < 10 then 'low'
      else 'high'
    end as g{0},"""


def model(lines: int) -> tuple[str, Schema]:
    """A model of about that many lines: a sample, one CASE a column, groups, a threshold."""
    columns = [f"c{number}" for number in range(max(1, (lines - 18) // 5))]
    recodes = "\n".join(RECODE.format(column) for column in columns).rstrip(",")
    names = ", ".join(f"g{column}" for column in columns)
    text = f"""with s as (
  select *
  from main.people tablesample bernoulli (10 percent)
),
recoded as (
  select
{recodes}
  from s
  where c0 > 3
),
counted as (
  select {names}, count(*) as n
  from recoded
  group by all
  having count(*) >= 20
)
select * from counted
order by all"""
    return text, Schema({"main.people": dict.fromkeys(columns, "INTEGER")}, known=True)


def milliseconds(text: str, schema: Schema) -> float:
    """The median time of one answer."""
    times = []
    for _ in range(TURNS):
        start = time.perf_counter()
        found = answer(text, "duckdb", schema)
        times.append(time.perf_counter() - start)
        assert found.canonical
    return 1000 * statistics.median(times)


def main() -> None:
    """Print a table of medians."""
    print("| lines | columns | ms without a schema | ms with one |\n|---|---|---|---|")
    for lines in (50, 100, 200, 400, 800):
        text, schema = model(lines)
        open_, known = milliseconds(text, Schema()), milliseconds(text, schema)
        size, columns = len(text.splitlines()), len(schema.tables["main.people"])
        print(f"| {size} | {columns} | {open_:.0f} | {known:.0f} |", flush=True)


if __name__ == "__main__":
    main()

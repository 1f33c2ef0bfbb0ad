"""The real text on the real engine, drawn many times; and ways to break it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import duckdb

from policy_engine.compile.catalog import Table
from policy_engine.compile.compiler import compiled
from policy_engine.kernel.certificate import ROWS, Certificate, certify
from policy_engine.policy.loading import load_policy_text
from policy_engine.policy.resolve import Policy, terms_of
from policy_engine.warehouse.drawing import new_secret
from policy_engine.warehouse.duckdb import DuckDBWarehouse

POLICY = """\
version: 1
name: law
source: {{table: people}}
privacy_unit: {unit}
recode: {recode}
sample: {{rate: {rate}, method: {method}}}
k: {k}
guarantee: {{epsilon: {epsilon}, delta: 0.999}}
release: {{file: out.parquet}}
grouping: {grouping}
"""

Cells = dict[tuple[object, ...], int]


@dataclass(frozen=True)
class Mechanism:
    """A certified text over a table, ready to be drawn again and again."""

    policy: Policy
    table: Table
    warehouse: DuckDBWarehouse
    certificate: Certificate
    sql: str
    secret: Callable[[], bytes] = new_secret

    def draw(self) -> Cells:
        """One release: its cells with their counts."""
        with self.warehouse.sampled(self.policy, self.table, self.secret()):
            rows = self.warehouse.rows(self.sql).to_pylist()
        return {tuple(row[name] for name in self.policy.columns): row["n"] for row in rows}

    def draws(self, times: int) -> list[Cells]:
        """That many releases, each under a secret of its own."""
        return [self.draw() for _ in range(times)]

    def units(self, column: str) -> list[object]:
        """A column of the step that samples, of one draw."""
        step = self.sql.partition("AS NOT MATERIALIZED (")[2].partition("\n), ")[0]
        with self.warehouse.sampled(self.policy, self.table, self.secret()):
            found = self.warehouse.rows(f'SELECT "{column}" FROM ({step}) ORDER BY 1')
        return found.column(0).to_pylist()

    def but(self, old: str, new: str) -> Mechanism:
        """The mechanism of another text."""
        assert old in self.sql
        return replace(self, sql=self.sql.replace(old, new))


@contextmanager
def mechanism(folder: Path, rows: str, **changes: str) -> Iterator[Mechanism]:
    """The mechanism of a policy over the table that the query ``rows`` makes."""
    parts = {
        "unit": "row", "recode": "{cell: keep}", "rate": "0.3", "method": "keyed", "k": "2",
        "epsilon": "1", "grouping": "auto",
    }  # fmt: skip
    database = folder / "db.duckdb"
    database.unlink(missing_ok=True)
    with duckdb.connect(str(database)) as connection:
        connection.execute(f"CREATE TABLE people AS {rows}")
    policy = load_policy_text(POLICY.format(**{**parts, **changes}), folder / "p.yaml", folder)
    warehouse = DuckDBWarehouse("db", database)
    try:
        table = warehouse.table(policy.source, folder)
        claim, sql = compiled(policy, table, warehouse.dialect)
        certificate = certify(sql, claim, "duckdb", terms_of(policy, ROWS, "2.0.0"))
        yield Mechanism(policy, table, warehouse, certificate, sql)
    finally:
        warehouse.close()

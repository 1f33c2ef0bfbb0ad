"""Run a policy's compiled text with every unit drawn, so that its result is known exactly."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from functools import cache
from pathlib import Path

import duckdb
import pyarrow as pa

from policy_engine.compile.compiler import compiled
from policy_engine.policy.loading import load_policy_text
from policy_engine.policy.resolve import Policy
from policy_engine.warehouse.drawing import sample_relation
from policy_engine.warehouse.duckdb import DuckDBWarehouse

POLICY = """\
version: 1
name: people
source: {source}
recode: {recode}
sample: {sample}
k: {k}
guarantee: {{epsilon: 5, delta: 0.5}}
release: {release}
grouping: {grouping}
"""


def policy_of(folder: Path, recode: str, **changes: str) -> Policy:
    """A policy whose parts are written in YAML."""
    parts = {
        "source": "{file: source.parquet}\nprivacy_unit: row",
        "sample": "{rate: 0.5}",
        "k": "2",
        "release": "{file: out.parquet}",
        "grouping": "auto",
    }
    text = POLICY.format(**{**parts, **changes}, recode=recode)
    return load_policy_text(text, folder / "policy.yaml", folder)


@cache  # to open a database takes longer than to make a table
def _database() -> duckdb.DuckDBPyConnection:
    return duckdb.connect()


def make_table(
    path: Path,
    columns: dict[str, str],
    rows: Sequence[Sequence[str | None]],
    relation: str = "people",
) -> None:
    """A Parquet file, or a table in a DuckDB file, of texts cast to their types."""
    with _database().cursor() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        connection.execute("DETACH DATABASE IF EXISTS db")  # of a test that failed
        names = ['"' + name.replace('"', '""') + '"' for name in columns]
        table, last = "source", [f"COPY source TO '{path}' (FORMAT parquet)"]
        if path.suffix == ".duckdb":
            connection.execute(f"ATTACH '{path}' AS db")
            table, last = f"db.{relation}", ["CHECKPOINT db", "DETACH db"]
        kinds = ", ".join(f"{n} {kind}" for n, kind in zip(names, columns.values(), strict=True))
        temporary = "TEMP" if table == "source" else ""
        connection.execute(f"CREATE {temporary} TABLE {table} ({kinds})")
        if rows:
            texts = [pa.array(column, pa.string()) for column in zip(*rows, strict=True)]
            connection.register(
                "texts", pa.table(texts, names=[f"c{i}" for i in range(len(names))])
            )
            connection.execute(f"INSERT INTO {table} FROM texts")
        for statement in last:
            connection.execute(statement)


def warehouse_of(policy: Policy, folder: Path) -> DuckDBWarehouse:
    """The warehouse ``db`` in the folder where the policy needs one, else one in memory."""
    if policy.source.relation is None:
        return DuckDBWarehouse("db")
    return DuckDBWarehouse("db", folder / "db.duckdb")


def release_to_everyone(policy: Policy, folder: Path) -> list[tuple[str | None, ...]]:
    """What the compiled text makes of the whole source, every value as the engine writes it."""
    with closing(warehouse_of(policy, folder)) as warehouse:
        return release_from(policy, warehouse)


def release_from(policy: Policy, warehouse: DuckDBWarehouse) -> list[tuple[str | None, ...]]:
    """The same, from a warehouse that is open."""
    table = warehouse.table(policy.source, policy.directory)
    sql = compiled(policy, table, warehouse.dialect)[1]
    connection = warehouse._connection
    warehouse._number(policy, table)  # as it does before it draws a sample of rows
    drawn = (
        "SELECT range AS policy_engine_block, repeat('1', 4096)::BIT AS policy_engine_bits"
        " FROM range(25)"
    )
    if policy.source.key is not None:
        source = f"db.main.{table.parts[-1]}" if policy.source.relation else "source.parquet"
        drawn = f'SELECT DISTINCT "{policy.source.key}" AS unit FROM {source}'
    name = sample_relation(policy.rate)
    connection.execute(f"CREATE OR REPLACE TEMP TABLE {name} AS {drawn}")
    return connection.sql(f"SELECT COLUMNS(*)::VARCHAR FROM ({sql})").fetchall()

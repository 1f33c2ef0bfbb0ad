"""DuckDB: a file that is replaced after it was certified, and a table that cannot be replaced."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from alike import policy_of

from policy_engine.errors import WarehouseError
from policy_engine.warehouse.duckdb import DuckDBWarehouse


def test_a_parquet_file_that_is_replaced_after_it_was_certified_is_not_read(tmp_path):
    policy = replace(policy_of("zip_of_view"), directory=tmp_path)
    policy = replace(policy, source=replace(policy.source, relation=None, path="p.parquet"))
    pq.write_table(pa.table({"id": [1, 2], "zip": ["a", "b"]}), tmp_path / "p.parquet")
    with closing(DuckDBWarehouse()) as warehouse:
        table = warehouse.table(policy.source, tmp_path)
        pq.write_table(pa.table({"id": [1.5, 2.5], "zip": ["a", "b"]}), tmp_path / "p.parquet")
        with pytest.raises(WarehouseError, match="was written while it was read"):
            warehouse.hold(policy, table)


def test_keys_that_are_enforced_are_known(tmp_path):
    file = tmp_path / "people.duckdb"
    with duckdb.connect(str(file)) as connection:
        connection.execute(
            "CREATE TABLE people (id BIGINT PRIMARY KEY, a INT UNIQUE, b INT, c INT, UNIQUE (b, c))"
        )
        connection.execute("CREATE VIEW seen AS SELECT id FROM people")
    source = policy_of("row_key").source
    with closing(DuckDBWarehouse("db", file)) as warehouse:
        found = {
            n: warehouse.table(replace(source, relation=n), tmp_path) for n in ("people", "seen")
        }
    assert {name: sorted(table.unique) for name, table in found.items()} == {
        "people": ["a", "id"],
        "seen": [],
    }


def test_a_table_that_a_key_points_to_is_not_replaced(tmp_path):
    file = tmp_path / "people.duckdb"
    with duckdb.connect(str(file)) as connection:
        connection.execute("CREATE TABLE released (n INTEGER PRIMARY KEY)")
        connection.execute("CREATE TABLE free (n INTEGER PRIMARY KEY)")
        connection.execute("CREATE TABLE child (n INTEGER REFERENCES released (n))")
    with closing(DuckDBWarehouse("db", file, writable=True)) as warehouse:
        warehouse.check_replaceable(warehouse.target("free"))
        with pytest.raises(WarehouseError, match="a foreign key of child points to it"):
            warehouse.check_replaceable(warehouse.target("RELEASED"))

"""A measure of a column that is NOT NULL: what its catalog says is used, and asked again."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from policy_engine.policy.loading import load_policy

POLICY = """\
version: 1
name: r
source: {source}
privacy_unit: {{column: p}}
recode: {{g: keep}}
mechanism: noisy_counts
contribution: {{max_groups: 1, max_rows_per_group: 2}}
count: {{people: patients, rows: visits}}
measures: {{cost: {{mean: x, per: row, bounds: [0, 100]{more}}}}}
guarantee: {{epsilon: 20, delta: 1.0e-4}}
release: {{file: out/r.parquet}}
account: people
"""
PROJECT = """\
ledger_begins: in_each_checkout
accounts: {people: {epsilon: 900, delta: 0.1}}
warehouses: {own: {type: %s, database: own.db}}
"""
TOLD = "does not say that 'x' is NOT NULL; remove it: a missing value is left out; or write"


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(source, more, kind="duckdb"):
        Path("policy-engine.yaml").write_text(PROJECT % kind)
        Path("policy.yaml").write_text(POLICY.format(source=source, more=more))

    return write


def _file(*, nullable):
    field = pa.field("x", pa.int32(), nullable=nullable)
    schema = pa.schema([("p", pa.int64()), ("g", pa.string()), field])
    columns = [list(range(1000)) * 2, ["a"] * 2000, [30, 50] * 1000]
    return pa.table(columns, schema=schema)


def test_the_divisor_is_not_paid_twice(project, cli):
    """How many rows there are is drawn already, and is how many values there are."""
    pq.write_table(_file(nullable=False), "p.parquet")
    project("{file: p.parquet}", "")
    paid = load_policy(Path("policy.yaml")).noise.quantities
    project("{file: p.parquet}", ", not_null: true")
    assert len(load_policy(Path("policy.yaml")).noise.quantities) == len(paid) - 1
    assert cli("release", "policy.yaml").code == 0
    [row] = pq.read_table("out/r.parquet").to_pylist()
    assert row["cost"] == pytest.approx(40, abs=2)


@pytest.mark.parametrize("nullable", [True, False])
def test_a_file_says_so_in_its_schema(project, cli, nullable):
    pq.write_table(_file(nullable=nullable), "p.parquet")
    project("{file: p.parquet}", ", not_null: true")
    found = cli("plan", "policy.yaml")
    assert found.code == nullable
    assert (TOLD in found.out + found.err) == nullable


def test_every_file_of_a_folder_says_so(project, cli):
    Path("parts").mkdir()
    pq.write_table(_file(nullable=False), "parts/a.parquet")
    project("{file: parts}", ", not_null: true")
    assert cli("plan", "policy.yaml").code == 0
    pq.write_table(_file(nullable=True), "parts/b.parquet")
    found = cli("plan", "policy.yaml")
    assert found.code == 1
    assert TOLD in found.out + found.err


@pytest.mark.parametrize("kind", ["duckdb", "sqlite"])
def test_a_table_is_asked_again_before_a_release(project, cli, kind):
    module = {"duckdb": duckdb, "sqlite": sqlite3}[kind]
    strict = " STRICT" if kind == "sqlite" else ""
    place = "own.main.visits" if kind == "duckdb" else "visits"
    for command, end, is_filled in (("plan", " NOT NULL", True), ("release", "", False)):
        connection = module.connect("own.db")
        connection.execute("DROP TABLE IF EXISTS visits")
        columns = f"p INTEGER, g TEXT, x INTEGER{end}"
        connection.execute(f"CREATE TABLE visits ({columns}){strict}")
        connection.execute("INSERT INTO visits VALUES (1, 'a', 5), (2, 'a', 6)")
        connection.commit()
        connection.close()
        project(f"{{table: {place}}}", ", not_null: true", kind)
        found = cli(command, "policy.yaml")
        assert (found.code == 0) == is_filled, found.err
        assert (TOLD in found.out + found.err) != is_filled


def test_what_cannot_be_said_of_it_is_refused(project, cli):
    pq.write_table(_file(nullable=False), "p.parquet")
    project("{file: p.parquet}", ", not_null: true, missing: {as: 0}")
    assert "missing must not stand beside not_null" in cli("validate", "policy.yaml").out
    read = "{file: p.parquet, columns: {x: double}}"
    project(read, ", not_null: true")
    assert "'x' is read as another type, and what is no such" in cli("validate", "policy.yaml").out

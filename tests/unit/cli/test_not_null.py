"""A measure of a column that is NOT NULL: what its catalog says is used, and asked again."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import duckdb
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


def _table(end=" NOT NULL"):
    with duckdb.connect("own.db") as connection:
        connection.execute(f"CREATE OR REPLACE TABLE visits (p BIGINT, g TEXT, x INTEGER{end})")
        rows = "SELECT range % 1000, 'a', 30 + 20 * (range // 1000) FROM range(2000)"
        connection.execute(f"INSERT INTO visits {rows}")


def test_the_divisor_is_not_paid_twice(project, cli):
    """How many rows there are is drawn already, and is how many values there are."""
    _table()
    project("{table: own.main.visits}", "")
    paid = load_policy(Path("policy.yaml")).noise.quantities
    project("{table: own.main.visits}", ", not_null: true")
    assert len(load_policy(Path("policy.yaml")).noise.quantities) == len(paid) - 1
    assert cli("release", "policy.yaml").code == 0
    [row] = pq.read_table("out/r.parquet").to_pylist()
    assert row["cost"] == pytest.approx(40, abs=2)


@pytest.mark.parametrize("place", ["p.parquet", "parts"])
def test_no_file_says_so(project, cli, place):
    """DuckDB writes REQUIRED where no row has a NULL, so that one person would decide."""
    Path("parts").mkdir()
    file = Path(place if place.endswith("parquet") else "parts/a.parquet")
    project(f"{{file: {place}}}", ", not_null: true")
    answers = []
    for more in ("", " UNION ALL SELECT 9, 'a', NULL"):
        duckdb.sql(f"COPY (SELECT 1 AS p, 'a' AS g, 5 AS x{more}) TO '{file}' (FORMAT parquet)")
        found = cli("plan", "policy.yaml")
        answers.append((found.code, found.out, found.err))
    assert answers[0] == answers[1]
    assert "'x' is a file's, whose schema may follow from its rows" in answers[0][2]


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
    duckdb.sql("COPY (SELECT 1 AS p, 'a' AS g, 5 AS x) TO 'p.parquet' (FORMAT parquet)")
    project("{file: p.parquet}", ", not_null: true, missing: {as: 0}")
    assert "missing must not stand beside not_null" in cli("validate", "policy.yaml").out
    read = "{file: p.parquet, columns: {x: double}}"
    project(read, ", not_null: true")
    assert "'x' is read as another type, and what is no such" in cli("validate", "policy.yaml").out


@pytest.mark.parametrize("command", ["plan", "validate"])
def test_that_a_mean_pays_for_what_the_catalog_knows_is_said(project, cli, command):
    _table()
    project("{table: own.main.visits}", "")
    done = cli(command, "policy.yaml")
    told = done.out + done.err
    assert done.code == 0
    assert "the catalog of own.main.visits says that 'x' is NOT NULL, and cost pays for" in told
    assert "write not_null: true, and it is more exact at the same price" in told
    for more, end in ((", not_null: true", " NOT NULL"), ("", "")):
        _table(end)
        project("{table: own.main.visits}", more)
        done = cli(command, "policy.yaml")
        assert "write not_null: true" not in done.out + done.err

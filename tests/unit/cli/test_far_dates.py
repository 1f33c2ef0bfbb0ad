"""A release with dates that Python's datetime lacks: every command that reads it reads them."""

from __future__ import annotations

import json

import duckdb
import pyarrow.parquet as pq
import pytest

DAYS = ("10000-01-01", "infinity", "-infinity", "2024-02-29", "0044-03-15 (BC)")
PROJECT = "ledger_begins: in_each_checkout\naccounts:\n  people: {epsilon: 50, delta: 0.01}\n"
POLICY = """
version: 1
name: far
source: {file: p.parquet}
privacy_unit: row
recode: {v: keep, w: keep}
mechanism: noisy_counts
guarantee: {epsilon: 20, delta: 1.0e-4}
release: {file: out/far.parquet}
account: people
"""
ROLLUP = POLICY.replace("far", "rolled").replace("mechanism:", "rollup: {to: [v]}\nmechanism:")


@pytest.fixture
def released(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    days = ", ".join(f"(DATE '{day}')" for day in DAYS)
    rows = f"SELECT v, (range % 2)::INTEGER AS w FROM (VALUES {days}) AS days(v), range(80)"
    duckdb.sql(f"COPY ({rows}) TO '{tmp_path}/p.parquet'")
    (tmp_path / "policy-engine.yaml").write_text(PROJECT)
    (tmp_path / "policy.yaml").write_text(POLICY)
    done = cli("release", "policy.yaml")
    assert done.code == 0, done.err
    return tmp_path / "out/far.parquet"


def test_show_prints_them(cli, released):
    shown = cli("show", "out/far.parquet", "--format", "json")
    assert shown.code == 0, shown.err
    rows = json.loads(shown.out)["rows"]
    assert {row[0] for row in rows} == set(DAYS)
    assert cli("show", "out/far.parquet").code == 0


@pytest.mark.parametrize("audience", ["public", "internal"])
def test_the_page_and_its_json_have_them(cli, released, audience):
    named = ("out/far.certificate.json", "--release", "out/far.parquet", "--audience", audience)
    told = cli("report", *named, "--format", "json")
    assert told.code == 0, told.err
    assert {row[0] for row in json.loads(told.out)["details"]["rows"]["rows"]} == set(DAYS)
    page = cli("report", *named, "--output", "page.html")
    assert page.code == 0, page.err
    assert all(day in (released.parents[1] / "page.html").read_text() for day in DAYS)


@pytest.mark.parametrize(
    "command",
    [
        ("verify", "out/far.certificate.json", "--release", "out/far.parquet"),
        ("assess", "out/far.parquet", "--sensitive", "w"),
        ("attack", "out/far.parquet", "--sensitive", "w"),
    ],
)
def test_every_other_command_reads_them(cli, released, command):
    done = cli(*command)
    assert done.code == 0, done.err


def test_the_tables_of_a_rollup_agree_on_them_and_stay_dates(cli, released):
    (released.parents[1] / "rolled.yaml").write_text(ROLLUP)
    done = cli("release", "rolled.yaml")
    assert done.code == 0, done.err
    done = cli("estimate", "out/rolled.parquet", "--output", "estimated.parquet")
    assert done.code == 0, done.err
    before, after = (
        pq.read_table(released.parents[1] / name).column("v")
        for name in ("out/rolled.parquet", "estimated.parquet")
    )
    assert after.type == before.type
    numbers = [set(column.cast("int32").to_pylist()) for column in (before, after)]
    assert numbers[0] == numbers[1]

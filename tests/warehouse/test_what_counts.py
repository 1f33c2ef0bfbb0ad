"""Visits of many people, released: every number beside what counts, by the printed errors.

What counts is the table as the policy limits it, by the groups and rows that the secret of a
release chose: in 95 of 100 it lies in the interval that is printed of a number, and who is cut is
told within its own. ``WHAT_COUNTS=30`` draws more releases; the bar is 93 of 100.
"""

from __future__ import annotations

import os
import sys
from collections import defaultdict
from contextlib import closing, contextmanager
from datetime import date, timedelta
from pathlib import Path
from random import Random

import duckdb
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

sys.path[:0] = [str(Path(__file__).parents[1] / "kernel")]
from meaning import contributed, gathered, is_cut  # noqa: E402

from policy_engine.accounting.intervals import within as in_95  # noqa: E402
from policy_engine.cli.main import run  # noqa: E402
from policy_engine.releasing.opened import open_release  # noqa: E402
from policy_engine.warehouse.base import Warehouse  # noqa: E402
from policy_engine.warehouse.postgres import PostgresWarehouse  # noqa: E402

RELEASES = int(os.environ.get("WHAT_COUNTS", "1"))
PEOPLE, VISITS = (40_000, 120_000) if RELEASES > 1 else (8_000, 24_000)
POLICY = """\
version: 1
name: visits_{number}
source: {{table: {table}}}
privacy_unit: {{column: person_id}}
contribution: {{max_groups: 4, max_rows_per_group: 3, count_cut: true}}
recode: {{visited: {{truncate: month}}, region: keep, age: {{bins: [18, 65]}}}}
count: {{people: patients, rows: visits}}
measures:
  cost: {{sum: cost, per: row, bounds: [0, 4000], not_null: true}}
  mean_cost: {{mean: cost, per: row, bounds: [0, 4000], not_null: true}}
guarantee: {{epsilon: 3, delta: 1.0e-6}}
release: {{file: "out/visits_{number}.parquet"}}
account: patients
"""
PROJECT = """\
ledger_begins: in_each_checkout
accounts: {{patients: {{epsilon: 1000, delta: 0.1}}}}
warehouses: {{own: {where}}}
"""
MADE = (
    "CREATE TABLE {} (person_id bigint NOT NULL, visited date NOT NULL, region text NOT NULL,"
    " age int NOT NULL, cost int NOT NULL)"
)


def visits():
    """Each person in a region; some come often, to several or many at once, and cost too much."""
    chance, rows = Random(40), []
    people = [(n, chance.choice("NESW"), chance.choice([9, 30, 40, 50, 70])) for n in range(PEOPLE)]
    while len(rows) < VISITS:
        person, region, age = chance.choice(people)
        day = date(2026, 1, 1) + timedelta(chance.randrange(181))
        for _ in range(chance.choice([1, 1, 1, 1, 2, 5])):
            cost = int(chance.lognormvariate(6, 1.2))
            rows.append((person, day, region, age, cost))
    return rows[:VISITS]


@pytest.fixture
def secrets(monkeypatch):
    """The secrets that texts were run under, the last one behind."""
    seen = []
    for kind in (Warehouse, PostgresWarehouse):
        whole = kind.__dict__["bound"]

        @contextmanager
        def bound(self, salt, whole=whole):
            seen.append(salt)
            with whole(self, salt):
                yield

        monkeypatch.setattr(kind, "bound", bound)
    return seen


def what_counts(claim, rows, secret):
    """By group how many people and rows count, and their costs; and how many people are cut."""
    found = defaultdict(lambda: [0, 0, 0])
    for group, own in contributed(claim, claim.unit, rows, secret):
        counted = [min(row["cost"], 4000) for row in own[:3]]
        for place, more in enumerate((1, len(counted), sum(counted))):
            found[group][place] += more
    every = gathered(claim, rows).values()
    return found, [sum(is_cut(claim, cut, own) for own in every) for cut in claim.law.cuts]


@pytest.mark.parametrize("engine", ["duckdb", "postgres"])
def test_numbers_are_within_their_printed_errors_of_what_counts(
    tmp_path, monkeypatch, request, secrets, engine
):
    monkeypatch.chdir(tmp_path)
    rows, names = visits(), ("person_id", "visited", "region", "age", "cost")
    if engine == "duckdb":
        where, table = "{type: duckdb, database: own.duckdb}", "own.main.visits"
        with closing(duckdb.connect("own.duckdb")) as connection:
            connection.execute(MADE.format("visits"))
            columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
            pq.write_table(pa.table(columns), "rows.parquet")
            connection.execute("INSERT INTO visits SELECT * FROM 'rows.parquet'")
    else:
        server = request.getfixturevalue("postgres")
        where = f"{{type: postgres, url: '{server.url}'}}"
        table = "public.visits_counted"
        server.sql(f"DROP TABLE IF EXISTS {table}", MADE.format(table))
        copied = f"COPY {table} FROM STDIN"
        with psycopg.connect(server.url) as own, own.cursor().copy(copied) as copy:
            for row in rows:
                copy.write_row(row)
    Path("policy-engine.yaml").write_text(PROJECT.format(where=where))
    source = [dict(zip(names, row, strict=True)) for row in rows]
    within, cuts_within = defaultdict(list), []
    for number in range(RELEASES):
        secrets.clear()
        Path("policy.yaml").write_text(POLICY.format(table=table, number=number))
        assert run(["release", "policy.yaml"]) == 0
        place = f"out/visits_{number}"
        assert run(["verify", f"{place}.certificate.json", "--release", f"{place}.parquet"]) == 0
        opened = open_release(f"{place}.parquet")
        claim = opened.certificate.claim
        counted, cut = what_counts(claim, source, secrets[-1])
        released = opened.to_arrow(errors=True).to_pylist()
        assert len(released) == 6 * 4 * 3
        for row in released:
            people, many, total = counted[tuple(row[shown.name] for shown in claim.columns)]
            true = {"patients": people, "visits": many, "cost": total, "mean_cost": total / many}
            for name, value in true.items():
                within[name].append(row[f"{name}_low"] <= value <= row[f"{name}_high"])
        error = in_95(claim.law.cut_table)
        for each, people in zip(claim.law.cuts, cut, strict=True):
            cuts_within.append(abs(released[0][each.name] - people) <= error)
    shares = {name: sum(own) / len(own) for name, own in within.items()}
    print(engine, RELEASES, shares, f"cuts {sum(cuts_within)} of {len(cuts_within)}")
    assert min(shares.values()) >= (0.93 if RELEASES > 1 else 0.8), shares
    assert sum(cuts_within) >= (0.9 * len(cuts_within) if RELEASES > 1 else 1)

"""Persons, visits and wards from one policy: each engine releases the same bytes."""

from __future__ import annotations

import os
import sys
from collections import Counter
from contextlib import closing
from datetime import date, timedelta
from pathlib import Path

import engines as engines_module
import pyarrow as pa
import pytest
from alike import differences, rows_of
from engines import opened_engines

from policy_engine.policy.loading import load_policy_text

sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))
sys.path.insert(0, str(Path(__file__).parents[1] / "kernel"))
from meaning import beside, contributed
from meaning import released as meant
from same_bytes import digest

from policy_engine.accounting.noise_laws import deviation
from policy_engine.policy.project import default_project
from policy_engine.releasing.planning import prepare

PEOPLE = 40_000 if os.environ.get("EVIDENCE") else 4_000
SECRET = bytes(range(16))
POLICY = """\
version: 1
name: visits
source:
  table: visits
  join:
    persons: {table: persons, on: person_id, columns: [birth_date, sex]}
    wards: {table: wards, on: {ward_id: id}, columns: [region], public: true}
privacy_unit: {column: person_id}
contribution: {max_groups: 4}
recode: {region: keep, sex: keep, birth_date: {bins: [1950-01-01, 1980-01-01]}}
guarantee: {epsilon: 2, delta: 1.0e-6}
release: {file: out.parquet}
account: patients
"""


def tables(people: int = PEOPLE) -> dict[str, pa.Table]:
    """Visits of whom and where nothing is known among them, two rows of a person, and of a ward."""
    ids, visits = range(people), range(5 * people)
    twice = [*ids, *range(0, people, 50)]
    return {
        "persons": pa.table({
            "person_id": pa.array(twice, pa.int64()),
            "birth_date": pa.array(
                [None if i % 11 == 0 else date(1930, 1, 1) + timedelta(days=i * 37 % 30_000)
                 for i in twice], pa.date32()),
            "sex": ["f" if n % 2 else "m" for n, _ in enumerate(twice)],
        }),
        "visits": pa.table({
            "person_id": pa.array([v * v % (people + people // 9) for v in visits], pa.int64()),
            "ward_id": [None if v % 13 == 0 else f"w{v % 12}" for v in visits],
            "came": pa.array(
                [None if v % 17 == 0 else date(2020, 1, 1) + timedelta(days=v * 7 % 2_000)
                 for v in visits], pa.date32()),
        }),
        "wards": pa.table({
            "id": [*(f"w{n}" for n in range(10)), "w3", None],
            "region": [*("north" if n < 4 else "south" for n in range(10)), "west", "east"],
        }),
    }  # fmt: skip


def load(engine, of: dict[str, pa.Table]) -> None:
    """Make the three tables these."""
    for name, table in of.items():
        engines_module.TABLE = name
        engine.load(table)
    engines_module.TABLE = "people"


def released(engine, folder: Path, text: str = POLICY) -> pa.Table:
    """What a policy releases of the tables that are there."""
    policy = load_policy_text(text, folder / "policy.yaml", folder)
    with closing(engine.warehouse()) as warehouse:
        return rows_of(policy, warehouse, SECRET)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    ["postgres", "clickhouse", "datafusion", "sqlite", "mariadb",
     pytest.param("spark", marks=pytest.mark.evidence)],
)  # fmt: skip
def test_three_tables_are_one_release_of_the_same_bytes(name, tmp_path):
    of, text = tables(), POLICY
    if name == "sqlite":  # it has no dates
        of["persons"] = of["persons"].drop_columns("birth_date")
        of["visits"] = of["visits"].drop_columns("came")
        text = text.replace("[birth_date, sex]", "[sex]").replace(
            ", birth_date: {bins: [1950-01-01, 1980-01-01]}", ""
        )
    with opened_engines(["duckdb", name]) as engines:
        for engine in engines.values():
            load(engine, of)
        wanted = released(engines["duckdb"], tmp_path, text)
        found = released(engines[name], tmp_path, text)
    assert wanted.num_rows > 5
    assert differences(found, wanted) == []
    assert digest(found) == digest(wanted)


@pytest.mark.slow
def test_three_tables_release_what_their_claim_means_within_the_printed_errors(tmp_path):
    """The numbers are the reference's, row for row; 93 of 100 within 1.96 of their deviation."""
    of = tables()
    relations = [of[name].to_pylist() for name in ("persons", "wards")]
    with opened_engines(["duckdb"]) as engines:
        load(engines["duckdb"], of)
        found = released(engines["duckdb"], tmp_path)
        policy = load_policy_text(POLICY, tmp_path / "policy.yaml", tmp_path)
        with closing(engines["duckdb"].warehouse()) as warehouse:
            certificate, _ = prepare(policy, default_project(tmp_path), warehouse)
    claim, visits = certificate.claim, of["visits"].to_pylist()
    secret = SECRET.hex()
    shown = [tuple(row.values()) for row in found.to_pylist()]
    assert shown == meant(claim, visits, secret, relations)
    rows = beside(claim, visits, relations)
    true = Counter(group for group, _ in contributed(claim, claim.unit, rows, secret))
    error = 1.96 * deviation(claim.law.table)
    within = [abs(n - true[tuple(group)]) <= error for *group, n in shown]
    assert sum(within) >= 0.9 * len(within), f"{sum(within)} of {len(within)}"


IN_PUBLIC = """\
version: 1
name: visits
source:
  table: visits
  join:
    persons: {table: persons, on: person_id, columns: [birth_date, sex]}
    wards: {table: wards, on: {ward_id: id}, columns: [region], public: true}
  compute: {age: {of: birth_date, age_at: came}}
privacy_unit: {column: person_id}
contribution: {max_groups: 2, max_rows_per_group: 3}
recode:
  region: {map: {north: north, south: south}, other: other}
  sex: {map: {f: f}, other: m}
  age: {bins: [18, 65]}
count: {people: patients, rows: visits}
public_groups: auto
guarantee: {epsilon: 2, delta: 1.0e-6}
release: {file: out.parquet}
account: patients
"""
FEW = 600


def without(table: pa.Table, person: int, *, keeps: bool = False) -> pa.Table:
    """A table without the rows of a person, or without the first of them where one is kept."""
    rows = table.to_pylist()
    own = [place for place, row in enumerate(rows) if row["person_id"] == person]
    gone = {*(own[:1] if keeps else own)}
    return table.take([place for place in range(len(rows)) if place not in gone])


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    ["duckdb", *(pytest.param(each, marks=pytest.mark.evidence)
                 for each in ("postgres", "clickhouse", "spark", "datafusion", "mariadb"))],
)  # fmt: skip
def test_neighbours_differ_in_one_persons_groups_and_rows(name, tmp_path):
    """Under one secret the noise of public groups is the same: what is left is one person's.

    Who leaves takes all of her rows, of both tables: she was in two groups at most, with three
    visits in each. Whose rows alone are others has left, and come again.
    """
    base = tables(FEW)
    visiting, listed = ({*base[each]["person_id"].to_pylist()} for each in ("visits", "persons"))
    known = sorted(visiting & listed)
    people = known[:: len(known) // (6 if name == "duckdb" else 3)]

    def counts() -> list[tuple[int, int]]:
        table = released(engines[name], tmp_path, IN_PUBLIC)
        return [(row["patients"], row["visits"]) for row in table.to_pylist()]

    with opened_engines([name]) as engines:
        load(engines[name], base)
        before, moved = counts(), 0
        assert len(before) == 4 * 3 * 4
        for person in people:
            own = {each: without(base[each], person) for each in ("persons", "visits")}
            load(engines[name], own)
            fewer = [(n - m, v - w) for (n, v), (m, w) in zip(before, counts(), strict=True)]
            moved += sum(n for n, _ in fewer)
            assert {n for n, _ in fewer} <= {0, 1} and sum(n for n, _ in fewer) <= 2
            assert all(0 <= visits <= 3 * n for n, visits in fewer)
            for table, keeps in (("persons", False), ("persons", True), ("visits", True)):
                load(engines[name], {**base, table: without(base[table], person, keeps=keeps)})
                other = [(n - m, v - w) for (n, v), (m, w) in zip(before, counts(), strict=True)]
                for sign in (1, -1):
                    ways = [(sign * n, sign * v) for n, v in other]
                    assert sum(n for n, _ in ways if n > 0) <= 2
                    assert all(n <= 1 and v <= 3 for n, v in ways)
        assert moved >= len(people)

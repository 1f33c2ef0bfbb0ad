"""Persons, visits and wards from one policy: each engine releases the same bytes."""

from __future__ import annotations

import sys
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
from same_bytes import digest

PEOPLE = 4_000
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
        }),
        "wards": pa.table({
            "id": [*(f"w{n}" for n in range(10)), "w3", None],
            "region": [*("north" if n < 4 else "south" for n in range(10)), "west", "east"],
        }),
    }  # fmt: skip


def released(engine, folder: Path, of: dict[str, pa.Table], without: str = "") -> pa.Table:
    for name, table in of.items():
        engines_module.TABLE = name
        engine.load(table)
    engines_module.TABLE = "people"
    text = POLICY
    if without:  # SQLite has no dates
        text = text.replace("[birth_date, sex]", "[sex]").replace(
            ", birth_date: {bins: [1950-01-01, 1980-01-01]}", ""
        )
    policy = load_policy_text(text, folder / "policy.yaml", folder)
    with closing(engine.warehouse()) as warehouse:
        return rows_of(policy, warehouse, bytes(range(16)))


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    ["postgres", "clickhouse", "datafusion", "sqlite", "mariadb",
     pytest.param("spark", marks=pytest.mark.evidence)],
)  # fmt: skip
def test_three_tables_are_one_release_of_the_same_bytes(name, tmp_path):
    of, without = tables(), "birth_date" if name == "sqlite" else ""
    if without:
        of["persons"] = of["persons"].drop_columns(without)
    with opened_engines(["duckdb", name]) as engines:
        wanted = released(engines["duckdb"], tmp_path, of, without)
        found = released(engines[name], tmp_path, of, without)
    assert wanted.num_rows > 5
    assert differences(found, wanted) == []
    assert digest(found) == digest(wanted)

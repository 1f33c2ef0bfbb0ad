"""``source.compute`` as it is written: ages and times between two dates of a row."""

from __future__ import annotations

from contextlib import closing
from datetime import date, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from policy_engine.compile.compiler import compiled, find_problems
from policy_engine.dialects import dialect_named
from policy_engine.errors import PolicyError
from policy_engine.policy.loading import load_policy_text
from policy_engine.policy.project import load_project_text
from policy_engine.policy.resolve import Policy
from policy_engine.releasing.release import release
from policy_engine.releasing.trying import tried
from policy_engine.warehouse.duckdb import DuckDBWarehouse

AGE = "age: {of: born, age_at: came}"
POLICY = """\
version: 1
name: visits
source:
  file: visits.parquet
  join: {{persons: {{file: persons.parquet, on: person_id, columns: [born]}}}}
  compute: {{{compute}}}
privacy_unit: {{column: person_id}}
contribution: {{max_groups: {groups}}}
recode: {recode}
public_groups: auto
guarantee: {{epsilon: 8, delta: 1.0e-6}}
release: {{file: out.parquet}}
account: patients
"""
ROWS = [
    (date(2004, 2, 29), datetime(2022, 2, 28, 23), 17),  # a birthday that the year has not
    (date(2004, 2, 29), datetime(2022, 3, 1), 18),
    (date(2004, 2, 29), datetime(2024, 2, 29), 20),
    (date(2000, 12, 31), datetime(2020, 12, 30, 23, 59), 19),
    (date(2000, 12, 31), datetime(2020, 12, 31), 20),
    (date(2020, 5, 2), datetime(2020, 5, 1), None),  # born after the visit
    (None, datetime(2020, 5, 1), None),
    (date(2020, 5, 1), None, None),
]  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    born, came, _ = zip(*ROWS, strict=True)
    ids = pa.array(range(len(ROWS)), pa.int64())
    persons = {"person_id": ids, "born": pa.array(born, pa.date32())}
    pq.write_table(pa.table(persons), tmp_path / "persons.parquet")
    visits = {
        "person_id": ids,
        "came": pa.array(came, pa.timestamp("us")),
        "ward": ["a"] * len(ids),
    }
    pq.write_table(pa.table(visits), tmp_path / "visits.parquet")
    return tmp_path


def policy_of(folder: Path, compute: str = AGE, recode: str = "{age: {bins: [18]}}") -> Policy:
    text = POLICY.format(compute=compute, recode=recode, groups=1)
    return load_policy_text(text, folder / "policy.yaml", folder)


def problems_of(folder: Path, compute: str, recode: str = "{ward: {map: {a: b}, other: c}}") -> str:
    policy = policy_of(folder, compute, recode)
    with closing(DuckDBWarehouse()) as warehouse:
        table = warehouse.table(policy.source, policy.directory)
        return "\n".join(map(str, find_problems(policy, table, dialect_named("duckdb"))))


def test_an_age_at_a_visit_is_of_a_joined_birth_date(folder):
    policy = policy_of(folder)
    with closing(DuckDBWarehouse()) as warehouse:
        table = warehouse.table(policy.source, policy.directory)
        _, text = compiled(policy, table, dialect_named("duckdb"))
        step = text[: text.index('"policy_engine_computed" AS')]
        body = text[text.index('"policy_engine_computed" AS') :].split("\n), ")[0]
        of_rows = f"{step.split('WITH ', 1)[1].rstrip().rstrip(',')}, {body}\n)"
        asked = f'WITH {of_rows} SELECT "age" FROM "policy_engine_computed" ORDER BY "person_id"'
        found = warehouse.session.execute(asked).fetchall()
    assert [age for (age,) in found] == [wanted for *_, wanted in ROWS]


def test_every_label_of_an_age_is_a_public_group_and_nobody_is_left_out(folder):
    project = load_project_text("accounts: {patients: {}}", folder / "policy-engine.yaml", folder)
    release(policy_of(folder), project)
    assert pq.read_table(folder / "out.parquet")["age"].to_pylist() == ["<18", ">=18", None]


@pytest.mark.parametrize(
    ("compute", "told"),
    [
        ("age: {of: born, age_at: ward}", "'ward' is none, found text; read it as a date"),
        ("age: {of: birth, age_at: came}", "has no column 'birth'"),
        ("Ward: {of: born, age_at: came}", "is called like the column 'ward'"),
        ("age: {of: born, age_at: came}, older: {of: age, age_at: came}", "has no column 'age'"),
    ],
)
def test_it_is_computed_of_two_dates_that_are_there(folder, compute, told):
    assert told in problems_of(folder, compute)


@pytest.mark.parametrize(
    ("compute", "told"),
    [
        ("age: {of: born}", "must have one of age_at, months_until, days_until, found none"),
        ("age: {of: born, age_at: came, days_until: came}", "found age_at and days_until"),
        ("age: {age_at: came}", "name the earlier date, as in {of: birth_date"),
        ("age: {of: a, age_at: b}, Age: {of: a, age_at: b}", "by more than case"),
    ],
)
def test_it_is_written_in_one_way(folder, compute, told):
    with pytest.raises(PolicyError, match="(?s)" + told.replace("{", r"\{")):
        policy_of(folder, compute)


def test_a_computed_column_that_is_called_like_another_is_told_once(folder):
    found = problems_of(folder, "ward: {of: born, age_at: came}")
    assert "is called like the column 'ward'" in found
    assert "can be the columns" not in found


def test_who_is_one_person_is_not_computed(folder):
    text = POLICY.format(compute=AGE, recode="{ward: {map: {a: b}, other: c}}", groups=1)
    text = text.replace("column: person_id", "column: age").replace("on: person_id", "on: age")
    policy = load_policy_text(text, folder / "policy.yaml", folder)
    with closing(DuckDBWarehouse()) as warehouse:
        table = warehouse.table(policy.source, policy.directory)
        found = "\n".join(map(str, find_problems(policy, table, dialect_named("duckdb"))))
    assert "'age' is one of source.compute" in found


def test_a_row_is_tried_with_what_is_computed(folder):
    project = load_project_text("accounts: {patients: {}}", folder / "policy-engine.yaml", folder)
    assert tried(policy_of(folder), project, "person_id=1,age=17").group == {"age": "<18"}

"""All of a person's tables pay from one account, and of which accounts a joined one is."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from visits_project import PERIOD, Visits

from policy_engine.errors import BudgetExceeded, PolicyError
from policy_engine.policy.loading import load_policy_text
from policy_engine.releasing.release import release

JOINED = (
    "{file: visits.parquet, join: {persons: {file: persons.parquet, on: person, columns: [sex]}}}"
)
OF_ROWS = """\
warehouses: {db: {type: duckdb, database: db.duckdb}}
accounts: {patients: {epsilon: 9, delta: 1.0e-4, each: month, of: visited%s}}
"""


def visits(folder, text=None):
    made = Visits.at(folder) if text is None else Visits.at(folder, text)
    people = {"person": pa.array(range(500), pa.int64()), "sex": ["f", "m"] * 250}
    pq.write_table(pa.table(people), folder / "persons.parquet")
    return made


def test_a_policy_on_what_was_joined_pays_from_the_same_account(tmp_path):
    made = visits(tmp_path, OF_ROWS.split("accounts")[0] + "accounts: {patients: {}, others: {}}\n")
    joined = made.policy("", source=JOINED, recode="{sex: keep}", release="{file: out.parquet}")
    release(joined, made.project)
    text = """\
version: 1
name: people
source: {file: persons.parquet}
privacy_unit: {column: person, rows: any}
recode: {sex: keep}
guarantee: {epsilon: 1, delta: 1.0e-6}
release: {file: people.parquet}
account: %s
"""
    alone = load_policy_text(text % "others", tmp_path / "people.yaml", tmp_path)
    with pytest.raises(BudgetExceeded, match=r"its source is that of entry 1 .*'patients'"):
        release(alone, made.project)
    same = load_policy_text(text % "patients", tmp_path / "people.yaml", tmp_path)
    release(same, made.project)
    assert [each.account for each in made.entries] == ["patients", "patients"]


def test_a_persons_row_lies_in_no_period_unless_the_account_says_so(tmp_path):
    made = visits(tmp_path, OF_ROWS % "")
    policy = made.policy(PERIOD, source=JOINED, recode="{sex: keep}")
    with pytest.raises(PolicyError, match="joins persons, whose rows lie in no month"):
        made.due(policy)


def test_an_account_that_says_m_fold_pays_for_period_after_period(tmp_path):
    made = visits(tmp_path, OF_ROWS % ", joined: m-fold")
    policy = made.policy(PERIOD, source=JOINED, recode="{sex: keep}")
    assert made.drawn(policy) == ["2027-01", "2027-02", "2027-03"]

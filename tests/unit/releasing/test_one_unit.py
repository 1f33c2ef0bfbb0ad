"""What an account is charged for one source is of one unit, by whatever policy."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from small_project import SmallProject

from policy_engine.errors import BudgetExceeded, PolicyError
from policy_engine.ledger import deciding
from policy_engine.ledger.store import Ledger
from policy_engine.policy.loading import load_policy_text
from policy_engine.releasing.books import has_ledger
from policy_engine.releasing.due import make_ready
from policy_engine.releasing.preview import preview
from policy_engine.releasing.recalling import recall
from policy_engine.releasing.release import release
from policy_engine.releasing.validation import check_policies

_PROJECT = (
    "warehouses: {db: {type: duckdb, database: db.duckdb}}\naccounts: {people: {}, others: {}}\n"
)
_POLICY = """\
version: 1
name: %s
source: %s
privacy_unit: %s
recode: {age: {bins: [18]}}
guarantee: {epsilon: 1, delta: 1.0e-6}
release: {file: out/%s.parquet}
account: %s
"""
_PERSON, _ROW = "{column: person, rows: any}", "row"
_FILE = "{file: source.parquet}"


@pytest.fixture
def small(tmp_path, monkeypatch) -> SmallProject:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "policy-engine.yaml").write_text(_PROJECT, "utf-8")
    made = SmallProject.at(tmp_path, _PROJECT)
    with duckdb.connect(str(tmp_path / "db.duckdb")) as connection:
        connection.execute("create table persons (person bigint primary key, age int, ward int)")
        connection.execute("insert into persons select i, i % 40, i % 3 from range(90) r(i)")
    return made


def written(small, unit, name="second", source=_FILE, account="people"):
    path = small.folder / f"{name}.yaml"
    path.write_text(_POLICY % (name, source, unit, name, account), "utf-8")
    return path


def policy(small, unit, name="second", source=_FILE, account="people"):
    path = written(small, unit, name, source, account)
    return load_policy_text(path.read_text("utf-8"), path, small.folder)


def refused(small, unit, **more) -> str:
    """What a policy of another unit is told by validate, by plan and by release: one sentence."""
    before, second = len(small.entries), policy(small, unit, **more)
    with pytest.raises(BudgetExceeded) as caught:
        release(second, small.project)
    assert preview(second, small.project).refusal == str(caught.value)
    [checked] = check_policies([second.file])
    assert [each.message for each in checked.problems] == [str(caught.value)]
    assert len(small.entries) == before
    return str(caught.value)


def test_after_people_an_account_does_not_pay_for_rows_of_the_same_source(small):
    release(policy(small, _PERSON, "first"), small.project)
    assert refused(small, _ROW) == (
        "account 'people' cannot pay for policy 'second': entry 1 (first) was charged to it for the"
        " same source, where one person is each value of person, and here it is each row: what they"
        " tell of somebody does not add up to the account's limit. Write 'privacy_unit: {column:"
        " person}'; else list another account in the project file, write it into the policy, and"
        " run 'policy-engine ledger move 1 ACCOUNT --by NAME --why TEXT': the source is that one's"
        " from then on, and the same people lose the sum of both limits"
    )
    release(policy(small, "{column: person, rows: {first_by: [age]}}", "third"), small.project)


def test_after_rows_an_account_does_not_pay_for_people_and_moving_the_source_is_a_way_on(small):
    release(policy(small, _ROW, "first"), small.project)
    said = refused(small, _PERSON)
    assert "one person is each row, and here it is each value of person" in said
    assert "To count this way from now on, list another account" in said
    with small.writing() as ledger:
        deciding.move(ledger, 1, "others", who="Ada", why="people come more than once")
    release(policy(small, _PERSON, account="others"), small.project)
    assert "each value of person" in refused(small, _ROW, name="third", account="others")


def test_what_was_given_back_says_nothing_of_the_unit(small, monkeypatch):
    entry = small.killed(monkeypatch, Ledger, "start")
    with pytest.raises(BudgetExceeded, match="one person is each value of person"):
        release(policy(small, _ROW), small.project)
    with small.writing() as ledger:
        ledger.cancel(entry.id, "it never began")
    release(policy(small, _ROW), small.project)


def test_a_row_is_a_person_where_the_catalog_says_that_no_two_have_one_key(small):
    table = "{table: db.main.persons}"
    release(policy(small, _ROW, "first", table), small.project)
    one = "{column: person, rows: one}"
    release(policy(small, one, "second", table), small.project)
    said = refused(small, "{column: ward, rows: any}", name="third", source=table)
    assert "one person is each value of person, and here it is each value of ward" in said


def test_a_joined_table_has_the_people_that_its_key_names(small):
    pq.write_table(
        pa.table({"id": pa.array(range(40), pa.int64()), "sex": ["f", "m"] * 20}),
        small.folder / "persons.parquet",
    )
    joined = (
        "{file: source.parquet, join:"
        " {persons: {file: persons.parquet, on: {person: id}, columns: [sex]}}}"
    )
    text = _POLICY.replace("{age: {bins: [18]}}", "{sex: keep}")
    path = small.folder / "first.yaml"
    first = text % ("first", joined, "{column: person, rows: any}", "first", "people")
    release(load_policy_text(first, path, small.folder), small.project)
    alone = text % ("rows", "{file: persons.parquet}", "row", "rows", "people")
    with pytest.raises(BudgetExceeded, match="one person is each value of id"):
        release(load_policy_text(alone, path, small.folder), small.project)
    same = text % ("same", "{file: persons.parquet}", "{column: id, rows: any}", "same", "people")
    release(load_policy_text(same, path, small.folder), small.project)


def test_policies_that_contradict_each_other_are_refused_before_any_is_charged(small):
    paths = [written(small, _PERSON, "first"), written(small, _ROW)]
    first, second = check_policies(paths)
    assert not first.problems
    [problem] = second.problems
    assert problem.line == 4
    assert "person is one person there, and each row here" in problem.message
    with pytest.raises(PolicyError, match="person is one person there, and each row here"):
        make_ready(paths, replace=False)
    assert not has_ledger(small.project)
    apart = written(small, _ROW, "third", account="others")
    assert not [each for checked in check_policies([paths[0], apart]) for each in checked.problems]


def test_a_charge_that_certificates_prove_says_who_was_one_person(small):
    table = "{table: db.main.persons}"
    release(policy(small, _ROW, "zeroth", table, "others"), small.project)
    ledger = small.folder / ".policy-engine/ledger.sqlite"
    with closing(sqlite3.connect(ledger)) as connection:
        connection.execute("vacuum into 'backup.sqlite'")
    release(policy(small, _PERSON, "first"), small.project)
    for beside in ledger.parent.glob("ledger.sqlite*"):
        beside.unlink()
    shutil.copy("backup.sqlite", ledger)
    recall(small.project, "people")
    assert "one person is each value of person" in refused(small, _ROW)

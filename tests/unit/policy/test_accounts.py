"""An account has one name; what the project file calls it says where its limit is, and no more."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from policy_engine.errors import PolicyError
from policy_engine.policy.accounts import (
    account_of,
    check_account,
    listed_as,
    nearest,
    plain_name,
    twin_of,
)
from policy_engine.policy.project import Project, load_project_text

RELATION = "source: {table: %s}\nprivacy_unit: row"


@pytest.fixture
def project(tmp_path):
    """A project of some accounts; db is a DuckDB, pg a server, and the default is named."""

    def make(*accounts: str, default: str = "db") -> Project:
        listed = "\n".join(f"  {name}: {{}}" for name in accounts)
        text = (
            "warehouses: {db: {type: duckdb}, pg: {type: postgres, url: 'postgresql://h/d'}}\n"
            f"default: {default}\n" + (f"accounts:\n{listed}\n" if accounts else "")
        )
        file = tmp_path / "policy-engine.yaml"
        file.write_text(text)
        return load_project_text(text, file, tmp_path)

    return make


def refusal(act, *arguments):
    with pytest.raises(PolicyError) as caught:
        act(*arguments)
    return str(caught.value)


# The one name.


@pytest.mark.parametrize("written", ["adult", "main.adult", "Main.ADULT", "db.main.adult"])
@pytest.mark.parametrize("listed", [(), ("adult",), ("main.adult",), ("db.main.adult",)])
def test_a_relation_pays_under_its_full_name_whatever_the_project_file_lists(
    load, project, written, listed
):
    policy = load(source=RELATION % written)
    assert account_of(policy, project(*listed), ("db", "main", "Adult")) == "db.main.adult"


def test_a_relation_of_another_engine_pays_under_the_schema_that_the_engine_found(load, project):
    policy, others = load(source=RELATION % "adult"), project(default="pg")
    assert account_of(policy, others, ("staff", "adult")) == "pg.staff.adult"
    assert account_of(policy, others, ("cat", "staff", "adult")) == "pg.cat.staff.adult"
    assert account_of(policy, others, ("pg", "adult")) == "pg.pg.adult"


def test_an_account_that_a_policy_names_stays_as_it_is(load, project):
    for budget in ("census", "adult", "Main.Adult"):
        policy = load(source=RELATION % "adult", budget=f"account: {budget}")
        assert account_of(policy, project("adult"), ("db", "main", "adult")) == budget


def test_a_file_pays_under_its_path_from_the_project(load, project, tmp_path):
    found = replace(load(), directory=tmp_path / "policies")
    found = replace(found, source=replace(found.source, path="../data/./s.parquet"))
    assert account_of(found, project(), ()) == "data/s.parquet"


# What the project file calls it.


@pytest.mark.parametrize("name", ["adult", "Main.Adult", "DB.main.adult"])
def test_a_relation_is_listed_under_any_name_of_it(project, name):
    assert listed_as("db.main.adult", project("others", name)) == name


def test_a_relation_of_another_schema_or_warehouse_is_another(project):
    listed = project("adult", "pg.main.adult", "staff.adult")
    assert listed_as("db.staff.adult", listed) == "staff.adult"
    assert listed_as("db.main.adult", listed) == "adult"
    assert listed_as("db.main.others", listed) is None
    assert listed_as("census", listed) is None


@pytest.mark.parametrize("name", ["./s.parquet", "data/../s.parquet", "s.parquet"])
def test_a_file_is_listed_under_any_path_to_it(project, name):
    assert listed_as("s.parquet", project(name)) == name
    absolute = project(name).directory / "s.parquet"
    assert listed_as("s.parquet", project(str(absolute))) == str(absolute)


@pytest.mark.parametrize(
    ("account", "names"),
    [
        ("db.main.adult", ("main.adult", "adult")),
        ("db.main.adult", ("db.main.adult", "ADULT")),
        ("s.parquet", ("s.parquet", "./s.parquet")),
    ],
)
def test_an_account_is_listed_once(project, account, names):
    first, second = names
    found = project(*names)
    assert refusal(listed_as, account, found) == (
        f"{found.file}:5:3: accounts must list an account once, found {first!r} and {second!r}:"
        f" both are {account}; keep one of them"
    )


def test_a_table_alone_is_no_account_where_the_engine_decides_on_its_schema(project):
    found = project("adult", default="pg")
    assert listed_as("pg.staff.adult", found, "Adult") == "adult"
    for relation in (None, "staff.adult"):
        assert refusal(listed_as, "pg.staff.adult", found, relation).endswith(
            "accounts.adult may be the account pg.staff.adult or one of another schema;"
            " list pg.staff.adult by this name"
        )
    both = project("adult", "pg.staff.adult", default="pg")
    assert listed_as("pg.staff.adult", both) == "pg.staff.adult"


# One account under two names.


@pytest.mark.parametrize(
    ("account", "known"),
    [
        ("db.main.adult", "adult"),
        ("db.main.adult", "main.adult"),
        ("adult", "db.main.adult"),
        ("main.adult", "db.main.adult"),
        ("db.main.adult", "old.main.adult"),
        ("hr", "HR"),
        ("hr", "hŕ"),
        ("café", "cafe\u0301"),
        ("hr", "ｈｒ"),
    ],
)
def test_an_account_under_another_name_is_told(project, account, known):
    assert twin_of(account, ["else", known], project()) == known


@pytest.mark.parametrize(
    ("account", "known"),
    [
        ("db.main.adult", "pg.main.adult"),
        ("db.main.adult", "db.staff.adult"),
        ("db.main.adult", "staff.adult"),
        ("db.staff.adult", "adult"),
        ("census", "census2"),
    ],
)
def test_another_account_is_another(project, account, known):
    assert twin_of(account, [known], project()) is None


@pytest.mark.parametrize("text", ["STRASSE", "straße ", "stra\u0301sse", "ＳＴＲＡＳＳＥ"])
def test_names_that_look_the_same_are_the_same(text):
    assert plain_name(text) == "strasse"


# Mistyped names.


def test_one_of_two_names_that_look_the_same_is_itself():
    assert nearest("hr", ["HR", "hr"]) is nearest("HR", ["HR", "hr"]) is None
    assert nearest("hr", ["HR"]) == "HR"


@pytest.mark.parametrize("written", ["HR", "hŕ", "'hr '", "cafe\\u0301", "CAFÉ", "censsus"])
def test_a_budget_that_is_nearly_an_account_is_refused(load, project, written):
    text = written if written.startswith("'") else f'"{written}"'
    found = project("hr", "café", "census")
    said = refusal(check_account, load(budget=f"account: {text}"), found)
    assert f"account must be one of {found.file}, found " in said
    assert "did you mean " in said


@pytest.mark.parametrize("written", ["hr", "café", "visits"])
def test_an_account_and_a_name_of_its_own_are_taken(load, project, written):
    opened = replace(project("hr", "café", "census"), accounts_open=True)
    check_account(load(budget=f"account: {written}"), opened)
    check_account(load(source=RELATION % "hR"), project("hr"))


def test_where_accounts_are_listed_there_are_no_others(load, project):
    found = project("census", "data")
    said = refusal(check_account, load(budget="account: hospital"), found)
    assert f"account must be one of {found.file}, found 'hospital'; known: census, data" in said
    said = refusal(check_account, load(), found)
    assert "without it the source pays for itself, as 'a.parquet', which is none of them" in said
    undeclared = load(source=RELATION % "people")
    check_account(undeclared, found)  # what it is called, the warehouse says
    said = refusal(check_account, undeclared, found, "db.main.people")
    assert "as 'db.main.people'" in said
    check_account(undeclared, project("people"), "db.main.people")


def test_a_project_without_accounts_knows_no_mistakes(load, project):
    check_account(load(budget="account: hr"), project())
    assert isinstance(project().directory, Path)

"""Views that a policy names: their columns are the source's own, and so are their persons."""

from dataclasses import replace

import pytest

from policy_engine.syntax.ddl import parse_schema
from policy_engine.verify.proof import prove

FIRST = "select * from people qualify row_number() over (partition by id order by age) = 1"
PEOPLE = "create table people (id bigint, household bigint, sex text, age integer);"
SQL = (
    "select sex, count(*) as n from v where sha256($s || ':u:' || {}) < '19' group by sex"
    " having count(*) >= 20"
)


def of_view(columns, body=FIRST):
    schema = parse_schema(f"{PEOPLE} create view v as select {columns} from ({body})", "duckdb")
    return replace(schema, source="v")


def unique(key):
    return f"{key} is unique in v"


@pytest.mark.parametrize(
    ("columns", "key"),
    [("id, sex", "id"), ("id as person, sex", "person"), ("id as household, sex", "household")],
)
def test_a_view_of_one_row_a_person_names_the_person(columns, key):
    proof = prove(SQL.format(key), of_view(columns))
    assert (proof.shape.source, proof.shape.table) == ("v", "people")
    assert (proof.shape.unit, proof.shape.one_row) == (key, True)
    assert unique(key) not in proof.assumptions


def test_a_name_that_the_view_gives_to_another_is_no_person():
    swapped = of_view("household as id, id as household, sex")
    (finding,) = prove(SQL.format("id"), swapped).findings
    assert finding.code == "V10"
    assert "one row a household from a sample of each id" in finding.message
    assert prove(SQL.format("household"), swapped).shape.unit == "household"


@pytest.mark.parametrize("columns", ["household, sex", "id as a, id as b, household, sex"])
def test_a_view_that_shows_no_person_or_two_names_of_one_has_several_rows_of_any(columns):
    proof = prove(SQL.format("household"), of_view(columns))
    assert proof.shape.one_row is False
    assert unique("household") in proof.assumptions


def test_a_view_without_one_row_a_person_and_its_filters():
    schema = of_view("*", "select * from people where age > 17")
    proof = prove(SQL.format("id"), schema)
    assert (proof.shape.one_row, proof.shape.filtered) == (False, False)
    assert unique("id") in proof.assumptions
    looked_through = prove(SQL.format("id"), replace(schema, source=""))
    assert (looked_through.shape.source, looked_through.shape.filtered) == ("people", True)


def test_parts_of_a_view_are_apart_by_its_own_columns():
    schema = of_view("*", "select * from people where age > 17")
    sql = (
        "select sex, count(*) as n from (select sex from v where age < 30 union all select sex"
        " from v where age {} 30) tablesample bernoulli (10%) group by sex having count(*) >= 20"
    )
    assert prove(sql.format(">="), schema).shape.source == "v"
    (finding,) = prove(sql.format("<="), schema).findings
    assert finding.code == "V13"

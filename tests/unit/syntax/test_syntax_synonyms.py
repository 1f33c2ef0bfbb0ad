"""Other names of what the kernel knows are the same text to it, and the same to DuckDB."""

import duckdb
import pytest
import sqlglot

from policy_engine.syntax.grammar import in_one_word
from policy_engine.verify.proof import prove

TABLE = (
    "(select date '2024-02-29' as d, 'abc' as s, ['a', 'b'] as l"
    " union all select date '1999-12-31', '', [])"
)


def exchanged(sql):
    return in_one_word(sqlglot.parse_one(sql, read="duckdb")).sql("duckdb")


@pytest.mark.parametrize(
    ("expression", "written"),
    [
        ("weekday(d)", "DAYOFWEEK(d)"),
        ("prefix(s, 'a')", "STARTS_WITH(s, 'a')"),
        ("suffix(s, 'c')", "ENDS_WITH(s, 'c')"),
        ("list_contains(l, 'a')", "CONTAINS(l, 'a')"),
        ("date_part('month', d)", "EXTRACT(month FROM d)"),
        ("datepart('isodow', d)", "EXTRACT(isodow FROM d)"),
        ("isoyear(d)", "EXTRACT(isoyear FROM d)"),
        ("century(d)", "EXTRACT(century FROM d)"),
        ("era(d)", "EXTRACT(era FROM d)"),
        ("count_star()", "COUNT(*)"),
    ],
)
def test_synonyms_mean_the_same_to_duckdb(expression, written):
    sql = f"select {expression} from {TABLE} order by all"
    assert exchanged(f"select {expression}") == f"SELECT {written}"
    assert duckdb.sql(sql).fetchall() == duckdb.sql(sql.replace(expression, written)).fetchall()


@pytest.mark.parametrize(
    "expression", ["weekday(d, 1)", "prefix(s)", "date_part(s, d)", "isoyear(d, d)", "other(d)"]
)
def test_what_is_no_synonym_stays_what_it_is(expression):
    assert exchanged(f"select {expression}").lower() == f"select {expression}"


def test_a_variable_is_a_parameter_by_its_name():
    made = in_one_word(sqlglot.parse_one("select getvariable('salt')", read="duckdb"))
    assert isinstance(made.expressions[0], sqlglot.exp.Placeholder)
    other = in_one_word(sqlglot.parse_one("select getvariable(salt)", read="duckdb"))
    assert isinstance(other.expressions[0], sqlglot.exp.Anonymous)
    sql = (
        "select sex, count(*) as n from people where sha256(getvariable('salt') || ':u:' || id)"
        " < '19' group by sex having count(*) >= 20"
    )
    assert prove(sql).shape.method == "keyed"


VISITS = "(values (1, 'b', 2), (1, 'a', 1), (2, 'c', 3), (2, 'd', 4)) as visits(person, ward, day)"


@pytest.mark.parametrize(
    "select",
    [
        "distinct on (person) ward from {} order by day",
        "distinct on (person) ward from {} order by person, day desc",
        "distinct on (visits.person) person, ward from {} order by ward",
    ],
)
def test_the_first_of_each_person_is_what_duckdb_takes(select):
    sql = f"select {select}"
    made = exchanged(sql.format("visits"))
    assert "QUALIFY ROW_NUMBER() OVER (PARTITION BY" in made
    assert "DISTINCT" not in made
    rows = duckdb.sql(sql.format(VISITS)).fetchall()
    again = duckdb.sql(made.replace("FROM visits", f"FROM {VISITS}")).fetchall()
    assert sorted(rows) == sorted(again)


@pytest.mark.parametrize(
    "sql",
    [
        "select distinct ward from visits",
        "select distinct on (person, ward) * from visits",
        "select distinct on (person) * from visits qualify row_number() over () = 1",
        "select distinct on (p) person as p from visits",
        "select distinct on (person) ward as day from visits order by day",
        "select distinct on (1) person from visits",
        "select distinct on (person) ward from visits order by 1",
    ],
)
def test_what_duckdb_could_read_otherwise_stays_a_distinct(sql):
    assert "DISTINCT" in exchanged(sql)
    assert "V12" in {finding.code for finding in prove(sql).findings}

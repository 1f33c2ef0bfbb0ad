"""Names that are no columns: functions without parentheses, rows, the engine's own relations."""

import pytest

from policy_engine.syntax.ddl import parse_schema
from policy_engine.syntax.schema import Schema
from policy_engine.verify.proof import prove

KEYED = "sha256($salt || ':u:' || CAST({} AS VARCHAR)) < '0cccccccccccccc'"
FUNCTIONS = (
    "current_catalog", "current_date", "current_role", "current_schema", "current_time",
    "current_timestamp", "current_user", "filename", "localtime", "localtimestamp", "session_user",
    "user",
)  # fmt: skip


def text(column="zip", key="id", table="people"):
    return (
        f"SELECT {column}, COUNT(*) AS n FROM {table} WHERE {KEYED.format(key)}"
        f" GROUP BY {column} HAVING COUNT(*) >= 20 ORDER BY {column}"
    )


def proof(**parts):
    return prove(text(**parts))


def test_the_release_itself_is_proved():
    assert proof().findings == ()


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("part", ["column", "key"])
def test_a_column_hides_a_function(name, part):
    """In quotes too it is a function where there is no such column: that there is, is assumed."""
    assumed = f"people has a column of its own called {name}"
    plain = proof(**{part: name})
    assert assumed in plain.assumptions or "V14" in {finding.code for finding in plain.findings}
    assert assumed in proof(**{part: f'"{name}"'}).assumptions


def test_a_column_that_the_schema_has_is_no_function():
    schema = parse_schema("CREATE TABLE people (id BIGINT PRIMARY KEY, user VARCHAR)", "duckdb")
    found = prove(text(column="user"), schema)
    assert found.shape is not None
    assert not any("of its own" in assumption for assumption in found.assumptions)


def test_a_name_that_the_query_gives_is_no_function():
    given = (
        "WITH s AS (SELECT id, LEFT(zip, 2) AS user FROM people) SELECT user, COUNT(*) AS n FROM s"
        f" WHERE {KEYED.format('id')} GROUP BY user HAVING COUNT(*) >= 20 ORDER BY user"
    )
    found = prove(given)
    assert found.shape is not None
    assert not any("of its own" in assumption for assumption in found.assumptions)


def test_the_name_of_a_query_of_all_columns_is_looked_through():
    given = (
        f"WITH s AS (SELECT * FROM people WHERE {KEYED.format('id')})"
        " SELECT user, COUNT(*) AS n FROM s GROUP BY user HAVING COUNT(*) >= 20 ORDER BY user"
    )
    assert "people has a column of its own called user" in prove(given).assumptions


def test_the_name_of_a_table_is_a_whole_row():
    assumed = proof(column="people").assumptions
    assert "people has a column of its own called people" in assumed


def test_a_lookups_column_is_not_the_sources():
    schema = parse_schema('{"tables": {}, "public": {"towns": "zip"}}', "duckdb")
    joined = (
        "SELECT t.region, COUNT(*) AS n FROM people AS p TABLESAMPLE BERNOULLI (10 PERCENT)"
        " JOIN towns AS t ON t.zip = p.zip GROUP BY t.region HAVING COUNT(*) >= 20 ORDER BY 1"
    )
    found = prove(joined, schema)
    assert not any("of its own" in assumption for assumption in found.assumptions)


@pytest.mark.parametrize(
    "name",
    ["pg_class", "information_schema.tables", "pg_catalog.pg_class", "system.main.people",
     "duckdb_tables", "main.sqlite_master", "people.csv"],
)  # fmt: skip
def test_these_are_no_base_tables(name):
    found = proof(table=name)
    assert found.shape is None
    assert "V16" in {finding.code for finding in found.findings}


@pytest.mark.parametrize("name", ["s.people", "sys.people", "other.pg_people", "d.s.people"])
def test_these_are_base_tables(name):
    assert proof(table=name).findings == ()


def test_a_table_that_the_schema_has_is_one():
    schema = parse_schema('{"pg_people": {"id": "BIGINT", "zip": "VARCHAR"}}', "duckdb")
    assert prove(text(table="pg_people"), schema).findings == ()


def test_columns_that_differ_by_case_only_are_refused():
    types = {"people": {"id": "BIGINT", "zip": "VARCHAR", "Zip": "VARCHAR"}}
    found = prove(text(), Schema(types, known=True)).findings
    assert "people with the columns zip and Zip" in str(found[0])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("GROUP BY zip", "GROUP BY (zip AS id)"),
        ("GROUP BY zip", "GROUP BY ((zip) AS id)"),
        ("COUNT(*) AS n", "(COUNT(*) AS id) AS n"),
        ("COUNT(*) AS n", "((COUNT(*)) AS id)"),
        ("SELECT zip", "SELECT (zip AS id)"),
        ("SELECT zip", "SELECT ((zip AS id)) AS zip"),
        ("HAVING COUNT(*)", "HAVING (COUNT(*) AS id)"),
        ("WHERE ", "WHERE (zip AS id) = zip AND "),
        ("ORDER BY zip", "ORDER BY zip, (zip AS id)"),
    ],
)
def test_a_name_inside_an_expression_is_refused(old, new):
    whole = text()
    assert old in whole
    assert prove(whole.replace(old, new, 1)).shape is None


def test_a_star_with_a_name_gives_every_column_that_name():
    """In DuckDB ``sex`` is then the first column, here the key, and not the column ``sex``."""
    given = text(column="sex", key="who", table="(SELECT id AS who, * sex FROM people)")
    assert any("found the name sex of every column" in f.message for f in prove(given).findings)


def test_a_number_drawn_among_texts_is_no_sample():
    given = text().replace(KEYED.format("id"), "RANDOM() IN ('F')")
    assert "V06" in {finding.code for finding in prove(given).findings}

"""What another engine's text rests on that DuckDB's does not."""

from __future__ import annotations

import pytest

from policy_engine.kernel.assumptions import of_its_sample, randomness
from policy_engine.syntax.schema import Schema
from policy_engine.verify.proof import prove

SQL = """
SELECT "zip", COUNT(*) AS "n" FROM "people" WHERE
sha256(convert_to(current_setting('policy_engine.salt') || ':u:' || CAST("id" AS TEXT), 'UTF8'))
  < decode('1999999999999990', 'hex')
GROUP BY "zip" HAVING COUNT(*) >= 20 ORDER BY "zip" COLLATE "C"
"""
TELLS = "no two columns of people differ by the case of their letters only"


def test_columns_that_differ_by_case_only_are_refused():
    types = {"people": {"id": "BIGINT", "zip": "VARCHAR", "Zip": "VARCHAR"}}
    found = prove(SQL, "postgres", Schema(types, known=True)).findings
    assert "people with the columns zip and Zip" in str(found[0])


def test_without_a_schema_that_is_an_assumption():
    assert TELLS in prove(SQL, "postgres").assumptions
    known = Schema({"people": {"id": "BIGINT", "zip": "VARCHAR"}}, known=True)
    assert TELLS not in prove(SQL, "postgres", known).assumptions


@pytest.mark.parametrize(
    ("method", "unit", "words"),
    [
        ("native", "row", "TABLESAMPLE BERNOULLI of the engine"),
        ("random", "row", "random() of the engine"),
        ("drawn", "row", "AES-128 of each unit"),
        ("drawn", "id", "SHA-256 of a secret of 128 bits and each unit"),
        ("keyed", "id", "SHA-256 of a secret of 128 bits and each unit"),
    ],
)
def test_what_decides_who_is_in(method, unit, words):
    assert randomness(method, unit).startswith(words)


def test_what_decides_which_row():
    whole = randomness("drawn", "id", draws_a_row=True)
    assert whole.startswith(randomness("drawn", "id") + "; of each unit's rows one is kept")


def test_what_a_sample_assumes_is_the_engines_own():
    [duckdb] = of_its_sample("native", "row", "duckdb")
    [snowflake] = of_its_sample("native", "row", "snowflake")
    assert "DuckDB 2.0" in duckdb
    assert "nobody here has measured" in snowflake
    assert of_its_sample("native", "row", "postgres") == (duckdb,)
    assert len(of_its_sample("keyed", "id", "postgres")) == 2

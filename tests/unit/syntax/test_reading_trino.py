"""Trino's SQL, as the kernel reads it: what passes, and what must not."""

from __future__ import annotations

from fractions import Fraction

import pytest
from reading_texts import Engine

from policy_engine.engines import ENGINES
from policy_engine.syntax.readings import READINGS

SECRET = '(SELECT "salt" FROM "policy_engine_salts" WHERE "release_id" = \'next\')'
ENGINE = Engine(
    "trino",
    f"LOWER(TO_HEX(SHA256(TO_UTF8({SECRET} || ':u:' || CAST({{person}} AS VARCHAR)))))"
    " < '400000000000000'",
    SECRET,
)
COUNTED = 'SELECT "age", COUNT(*) AS "n" FROM "main"."people" {} GROUP BY "age" HAVING COUNT(*) >= 5 ORDER BY "age"'  # noqa: E501


def test_the_release_is_proved():
    shape = ENGINE.proof(ENGINE.text()).shape
    assert (shape.rate, shape.k, shape.unit, shape.method) == (Fraction(1, 4), 5, "person", "keyed")


def test_who_can_read_the_secret_is_assumed():
    assert set(ENGINES["trino"].assumes) <= set(ENGINE.proof(ENGINE.text()).assumptions)


@pytest.mark.parametrize(
    "value",
    [
        "{zip}",
        "SUBSTR({zip}, 1, 3)",
        "{married}",
        "CASE WHEN CAST({married} AS VARCHAR) IN ('true') THEN 'it''s' ELSE 'a ' END",
        "CASE WHEN IS_NAN({weight}) THEN NULL WHEN {weight} < 5 THEN 'a' ELSE 'b' END",
        "CASE WHEN {born} BETWEEN CAST('0001-01-01' AS DATE) AND CAST('9999-12-31' AS DATE)"
        " THEN CAST(DATE_TRUNC('WEEK', {born}) AS DATE) END",
        "CAST(AT_TIMEZONE({moved}, 'UTC') AS TIMESTAMP(6))",
    ],
)
def test_these_values_pass(value):
    assert ENGINE.proof(ENGINE.text(value)).findings == ()


def test_its_own_sample_is_certified_as_documented():
    proof = ENGINE.proof(COUNTED.format("TABLESAMPLE BERNOULLI (12.5)"))
    assert proof.shape.rate == Fraction(1, 8)
    assert any("nobody here has measured" in each for each in proof.assumptions)


@pytest.mark.parametrize(
    "clause", ["TABLESAMPLE SYSTEM (25)", "TABLESAMPLE BERNOULLI (5 + 5)", "CROSS JOIN t"]
)
def test_no_other_sample_is(clause):
    assert ENGINE.proof(COUNTED.format(clause)).findings


@pytest.mark.parametrize("name", ENGINE.tampered())
def test_what_is_tampered_with_is_refused(name):
    assert ENGINE.proof(ENGINE.tampered()[name]).findings


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("LOWER(TO_HEX(", "((" + "TO_HEX("),
        ("LOWER(", "UPPER("),
        ("SHA256(", "SHA512("),
        ("SHA256(", "XXHASH64("),
        ("TO_UTF8(", "FROM_HEX("),
        ('CAST("person" AS VARCHAR)', 'CAST("person" AS VARCHAR(1))'),
        ('CAST("person" AS VARCHAR)', 'CAST("person" AS CHAR(1))'),
        ("'child'", "U&'child'"),
        ("'child'", "X'41'"),
        ("'child'", "'a\\b'"),
        (SECRET, "current_user"),
        ('FROM "main"."people"', 'FROM "main"."people" FOR VERSION AS OF 1'),
        ('FROM "main"."people"', 'FROM "main"."people" WITH ORDINALITY'),
        ('GROUP BY "x"', 'GROUP BY ROLLUP ("x")'),
    ],
)
def test_what_trino_reads_otherwise_is_refused(old, new):
    text = ENGINE.text()
    assert old in text
    assert ENGINE.proof(text.replace(old, new)).findings


@pytest.mark.parametrize(
    "value",
    [
        "SUBSTR({zip}, 2, 3)",
        "SUBSTR({zip}, 1)",
        "CAST({zip} AS CHAR(3))",
        "CAST({seen} AS TIMESTAMP(3))",
        "CAST({seen} AS TIMESTAMP)",
        "CAST({income} AS REAL)",
        "TRY_CAST({zip} AS BIGINT)",
        "TRY({age})",
        "AT_TIMEZONE({moved}, 'America/New_York')",
        "DATE_TRUNC('second', {seen})",
        "UUID()",
        "REGEXP_REPLACE({zip}, 'a')",
    ],
)
def test_values_without_a_known_meaning_are_refused(value):
    assert not ENGINE.accepts(value)


@pytest.mark.parametrize(
    ("native", "kind"),
    [("varchar(20)", "VARCHAR"), ("char(3)", "OTHER CHAR(3)"), ("timestamp(6)", "TIMESTAMP"),
     ("timestamp(9)", "OTHER TIMESTAMP(9)"), ("decimal(10,2)", "DECIMAL(10,2)")],
)  # fmt: skip
def test_types_have_their_meaning(native, kind):
    assert READINGS["trino"].type_of(native) == kind

"""Snowflake's SQL, as the kernel reads it: what passes, and what must not."""

from __future__ import annotations

from fractions import Fraction

import pytest
from reading_texts import Engine

from policy_engine.engines import ENGINES
from policy_engine.syntax.readings import READINGS

ENGINE = Engine(
    "snowflake",
    "SHA2($policy_engine_salt || ':u:' || CAST({person} AS VARCHAR), 256) < '400000000000000'",
    "$policy_engine_salt",
)
SECRETS = '(SELECT "salt" FROM "policy_engine_salts" WHERE "release_id" = \'next\')'


def test_the_release_is_proved():
    shape = ENGINE.proof(ENGINE.text()).shape
    assert (shape.rate, shape.k, shape.unit, shape.method) == (Fraction(1, 4), 5, "person", "keyed")


def test_what_the_session_decides_is_assumed():
    assumed = ENGINE.proof(ENGINE.text()).assumptions
    assert set(ENGINES["snowflake"].assumes) <= set(assumed)
    assert any("WEEK_START" in text for text in assumed)


def test_the_secret_may_come_from_a_secrets_relation():
    text = ENGINE.text().replace("$policy_engine_salt", SECRETS)
    assert ENGINE.proof(text).shape is not None


@pytest.mark.parametrize(
    "value",
    [
        "{zip}",
        "LEFT({zip}, 3)",
        "COLLATE({town}, '')",
        "LEFT(COLLATE({town}, ''), 2)",
        "CAST({married} AS VARCHAR)",
        "{born}",
        "CASE WHEN {weight} = CAST('NaN' AS DOUBLE) THEN NULL WHEN {weight} < 5 THEN 'a' END",
        "CASE WHEN {born} BETWEEN CAST('0001-01-01' AS DATE) AND CAST('9999-12-31' AS DATE)"
        " THEN CAST(DATE_TRUNC('WEEK', {born}) AS DATE) END",
        "CASE WHEN {age} < 18 THEN 'it\\'s' ELSE 'a\\\\b' END",
    ],
)
def test_these_values_pass(value):
    assert ENGINE.proof(ENGINE.text(value)).findings == ()


@pytest.mark.parametrize(("percent", "rate"), [("25", Fraction(1, 4)), ("12.5", Fraction(1, 8))])
def test_its_own_sample_is_certified_as_documented(percent, rate):
    text = (
        f'SELECT "age", COUNT(*) AS "n" FROM "main"."people" TABLESAMPLE BERNOULLI ({percent})'
        ' GROUP BY "age" HAVING COUNT(*) >= 5 ORDER BY "age" ASC'
    )
    proof = ENGINE.proof(text)
    assert proof.shape.rate == rate
    assert any("nobody here has measured" in each for each in proof.assumptions)


@pytest.mark.parametrize(
    "clause",
    [
        "TABLESAMPLE SYSTEM (25)",
        "TABLESAMPLE BLOCK (25)",
        "SAMPLE BERNOULLI (25 ROWS)",
        "SAMPLE BERNOULLI (25) SEED (7)",
        "SAMPLE BERNOULLI (25) REPEATABLE (7)",
    ],
)
def test_no_other_sample_is(clause):
    text = (
        f'SELECT "age", COUNT(*) AS "n" FROM "main"."people" {clause}'
        ' GROUP BY "age" HAVING COUNT(*) >= 5 ORDER BY "age" ASC'
    )
    assert ENGINE.proof(text).findings


@pytest.mark.parametrize("name", ENGINE.tampered())
def test_what_is_tampered_with_is_refused(name):
    assert ENGINE.proof(ENGINE.tampered()[name]).findings


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("SHA2(", "SHA2_BINARY("),
        (", 256)", ", 224)"),
        (", 256)", ")"),
        ("$policy_engine_salt", "$another_variable"),
        ("$policy_engine_salt", "GETVARIABLE('X')"),
        ('CAST("person" AS VARCHAR)', 'CAST("person" AS VARCHAR(1))'),
        ('CAST("person" AS VARCHAR)', 'CAST("person" AS CHAR)'),
        ("'child'", "$$child$$"),
        ("'child'", "'\\x41'"),
        ("'child'", "'a\\'"),
        ("< 18", "// 18"),
        ('FROM "main"."people"', 'FROM "main"."people" AT (OFFSET => -60)'),
        ('FROM "main"."people"', "FROM @stage"),
        ('"seen" ASC', '"seen" ASC NULLS FIRST, RANDOM()'),
        ("HAVING", "QUALIFY TRUE HAVING"),
    ],
)
def test_what_only_snowflake_has_is_refused(old, new):
    text = ENGINE.text()
    assert old in text
    assert ENGINE.proof(text.replace(old, new)).findings


@pytest.mark.parametrize(
    "value",
    ["CAST({zip} AS CHAR)", "CAST({income} AS REAL)", "{zip}::INT", "TRY_CAST({zip} AS INT)",
     "COLLATE({zip}, 'en-ci')", "COLLATE({town}, 'upper')", "DATE_TRUNC('SECOND', {seen})",
     "CAST({seen} AS TIMESTAMP)", "CONVERT_TIMEZONE('America/New_York', {moved})",
     "TO_CHAR({born}, 'YYYY')", "IFNULL({zip}, 'a')", "{zip} || RANDSTR(1, RANDOM())"],
)  # fmt: skip
def test_values_without_a_known_meaning_are_refused(value):
    assert not ENGINE.accepts(value)


@pytest.mark.parametrize(
    ("native", "kind"),
    [("NUMBER(38,0)", "BIGINT"), ("NUMBER(10,2)", "DECIMAL(10,2)"), ("VARCHAR(20)", "VARCHAR"),
     ("TIMESTAMP_NTZ(9)", "TIMESTAMP"), ("VARIANT", "OTHER VARIANT")],
)  # fmt: skip
def test_types_have_their_meaning(native, kind):
    assert READINGS["snowflake"].type_of(native) == kind


def test_a_whole_number_is_a_number_without_decimal_places():
    told = READINGS["snowflake"].told
    assert (told("DECIMAL(38,0)"), told("DECIMAL(10,2)")) == ("BIGINT", "DECIMAL(10,2)")

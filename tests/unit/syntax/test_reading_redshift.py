"""Redshift's SQL, as the kernel reads it: what passes, and what must not."""

from __future__ import annotations

from fractions import Fraction

import pytest
from reading_texts import Engine

from policy_engine.engines import ENGINES
from policy_engine.policy.recodings import Keep, Lookup, Prefix
from policy_engine.syntax.readings import READINGS

SECRET = '(SELECT "salt" FROM "policy_engine_salts" WHERE "release_id" = \'next\')'
ENGINE = Engine(
    "redshift",
    f"SHA2({SECRET} || ':u:' || CAST({{person}} AS VARCHAR(MAX)), 256) < '400000000000000'",
    SECRET,
)


def test_the_release_is_proved():
    shape = ENGINE.proof(ENGINE.text()).shape
    assert (shape.rate, shape.k, shape.unit, shape.method) == (Fraction(1, 4), 5, "person", "keyed")


def test_what_the_database_decides_is_assumed():
    assert set(ENGINES["redshift"].assumes) <= set(ENGINE.proof(ENGINE.text()).assumptions)


@pytest.mark.parametrize(
    "value",
    [
        "{age}",
        "{income}",
        "CASE WHEN {married} THEN 'true' WHEN NOT {married} THEN 'false' END",
        "CASE WHEN CAST({age} AS VARCHAR(MAX)) IN ('1', '2') THEN 'it''s' ELSE ' a' END",
        "CASE WHEN {born} BETWEEN CAST('0001-01-01' AS DATE) AND CAST('9999-12-31' AS DATE)"
        " THEN CAST(DATE_TRUNC('WEEK', CAST({born} AS TIMESTAMP)) AS DATE) END",
    ],
)
def test_these_values_pass(value):
    assert ENGINE.proof(ENGINE.text(value)).findings == ()


TRIMMED = "RTRIM(COLLATE(CAST({zip} AS VARCHAR(MAX)), 'case_sensitive'))"


@pytest.mark.parametrize(
    ("value", "recoding"),
    [
        (TRIMMED, Keep()),
        (f"RTRIM(LEFT({TRIMMED}, 3))", Prefix(3)),
        (
            f"CASE WHEN {TRIMMED} IS NULL THEN NULL WHEN {TRIMMED} IN ('10115') THEN 'a'"
            " ELSE 'b' END",
            Lookup((("10115", "a"),), "b"),
        ),
    ],
)
def test_a_text_is_shown_without_the_blanks_at_its_end(value, recoding):
    proof = ENGINE.proof(ENGINE.text(value))
    assert (proof.findings, proof.shape.columns[0].recoding) == ((), recoding)


def test_a_comparison_by_the_columns_own_collation_is_no_recoding():
    (column,) = ENGINE.proof(ENGINE.text("CASE WHEN {zip} = 'x' THEN 'a' END")).shape.columns
    assert (column.recoding, column.values) == (None, None)


@pytest.mark.parametrize(
    "value",
    [
        "COLLATE(CAST({zip} AS VARCHAR(MAX)), 'case_sensitive')",
        "RTRIM(CAST({zip} AS VARCHAR(MAX)))",
        "RTRIM(COLLATE(CAST({zip} AS VARCHAR(MAX)), 'case_insensitive'))",
        "RTRIM(COLLATE(CAST({zip} AS VARCHAR(8)), 'case_sensitive'))",
        "LTRIM(COLLATE(CAST({zip} AS VARCHAR(MAX)), 'case_sensitive'))",
        "RTRIM(COLLATE(CAST({zip} AS VARCHAR(MAX)), 'case_sensitive'), 'x')",
        f"LEFT({TRIMMED}, 3)",
        f"RTRIM(LEFT({TRIMMED}, -3))",
        f"RTRIM(LEFT({TRIMMED}, {{age}}))",
        "RTRIM(LEFT({zip}, 3))",
        f"CASE WHEN {TRIMMED} IN ('a ') THEN 'a' ELSE 'b' END",
    ],
)
def test_texts_that_could_be_equal_and_look_different_are_refused(value):
    assert not ENGINE.accepts(value)


@pytest.mark.parametrize("name", ENGINE.tampered())
def test_what_is_tampered_with_is_refused(name):
    assert ENGINE.proof(ENGINE.tampered()[name]).findings


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("VARCHAR(MAX)", "VARCHAR"),
        ("VARCHAR(MAX)", "VARCHAR(8)"),
        (", 256)", ", 224)"),
        ("SHA2(", "FUNC_SHA1("),
        ('CAST("person"', 'CAST("code"'),
        ("'child'", "'child '"),
        ("'child'", "'it\\'s'"),
        ("'child'", "E'child'"),
        (SECRET, "current_setting('app.salt')"),
        (SECRET, "$1"),
        ('FROM "main"."people"', 'FROM "main"."people" TABLESAMPLE BERNOULLI (25)'),
        ("HAVING", "QUALIFY 1 = 1 HAVING"),
        ("SELECT", "SELECT TOP 5"),
    ],
)
def test_what_redshift_reads_otherwise_is_refused(old, new):
    text = ENGINE.text()
    assert old in text
    assert ENGINE.proof(text.replace(old, new, 1)).findings


@pytest.mark.parametrize(
    "value",
    [
        "{zip}",
        "LEFT({zip}, 3)",
        "CAST({zip} AS VARCHAR(MAX))",
        "COLLATE({zip}, 'case_sensitive')",
        '{zip} COLLATE "C"',
        "CASE WHEN {weight} < 5 THEN 'a' ELSE 'b' END",
        "CAST({weight} AS BIGINT)",
        "CAST({age} AS VARCHAR)",
        "CAST('a ' AS VARCHAR(MAX))",
        "CASE WHEN {age} < 18 THEN 'a' ELSE 'a ' END",
        "DECODE({age}, 1, 'a', 'b')",
        "TRY_CAST({zip} AS BIGINT)",
    ],
)
def test_values_without_a_known_meaning_are_refused(value):
    assert not ENGINE.accepts(value)


@pytest.mark.parametrize(
    ("native", "kind"),
    [("numeric(10,2)", "DECIMAL(10,2)"), ("character varying(20)", "VARCHAR"),
     ("double precision", "OTHER DOUBLE PRECISION"), ("super", "OTHER SUPER")],
)  # fmt: skip
def test_types_have_their_meaning(native, kind):
    assert READINGS["redshift"].type_of(native) == kind

"""BigQuery's SQL, as the kernel reads it: what passes, and what must not."""

from __future__ import annotations

from fractions import Fraction

import pytest
from reading_texts import Engine, steps

from policy_engine.engines import ENGINES
from policy_engine.syntax.readings import READINGS

SECRET = "(SELECT `salt` FROM `policy_engine_salts` WHERE `release_id` = 'next')"
ENGINE = Engine(
    "bigquery",
    f"TO_HEX(SHA256({SECRET} || ':u:' || CAST({{person}} AS STRING))) < '400000000000000'",
    SECRET,
    quotes="``",
    last="{} ASC NULLS LAST",
)
GUARD = "CASE WHEN {born} BETWEEN CAST('0001-01-01' AS DATE) AND CAST('9999-12-31' AS DATE) THEN "
VALUE = "CAST({income} AS FLOAT64)"
ROUNDED = (
    f"CAST(CASE WHEN ABS({VALUE}) < 1000000 THEN CAST({steps(VALUE, '_s', '0.025')} AS INT64)"
    " * CAST(_s AS NUMERIC) END AS NUMERIC)"
)
WHOLE = ROUNDED.replace("0.025", "1").replace("_s", "10")


def test_the_release_is_proved():
    shape = ENGINE.proof(ENGINE.text()).shape
    assert (shape.rate, shape.k, shape.unit, shape.method) == (Fraction(1, 4), 5, "person", "keyed")


def test_who_can_read_the_secret_is_assumed():
    assert set(ENGINES["bigquery"].assumes) <= set(ENGINE.proof(ENGINE.text()).assumptions)


@pytest.mark.parametrize(
    "value",
    [
        "{zip}",
        "LEFT({zip}, 3)",
        "COLLATE({town}, '')",
        "CASE WHEN {married} THEN 'true' WHEN NOT {married} THEN 'false' END",
        "CASE WHEN FORMAT('%d', {age}) IN ('1', '2') THEN 'it\\'s' ELSE 'a\\\\b' END",
        "CASE WHEN IS_NAN({weight}) THEN NULL WHEN {weight} < 5 THEN 'a' ELSE 'b' END",
        GUARD + "CAST(DATETIME_TRUNC(CAST({born} AS DATETIME), ISOWEEK) AS DATE) END",
        ROUNDED.replace("_s", "0.25"),
        WHOLE,
    ],
)
def test_these_values_pass(value):
    assert ENGINE.proof(ENGINE.text(value)).findings == ()


def test_rounding_is_read_with_the_places_of_its_step():
    [column] = ENGINE.proof(ENGINE.text(ROUNDED.replace("_s", "0.25"))).shape.columns
    assert str(column.recoding) == "Round(step=Decimal('0.25'))"


@pytest.mark.parametrize("name", ENGINE.tampered())
def test_what_is_tampered_with_is_refused(name):
    assert ENGINE.proof(ENGINE.tampered()[name]).findings


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("TO_HEX(SHA256(", "(SHA256(("),
        ("SHA256(", "SHA512("),
        ("SHA256(", "MD5("),
        (SECRET, "@policy_engine_salt"),
        (SECRET, "'secret'"),
        (SECRET, SECRET.replace("`salt`", "`release_id`")),
        (SECRET, SECRET.replace("`policy_engine_salts`", "`main`.`people`")),
        (SECRET, SECRET.replace("WHERE", "WHERE TRUE OR")),
        ("'child'", '"child"'),
        ("'child'", "'''child'''"),
        ("'child'", "r'child'"),
        ("'child'", "b'child'"),
        ("'child'", "'\\x41'"),
        ("'child'", "'a\nb'"),
        ("'adult'", "'adult' # a comment\n"),
        ("`main`.`people`", "`main`.`people` TABLESAMPLE SYSTEM (25 PERCENT)"),
        ("`main`.`people`", "`main`.`people` FOR SYSTEM_TIME AS OF '2020-01-01'"),
        ("`main`.`people`", "`main`.`people*`"),
        ("`main`.`people`", "UNNEST([1])"),
        ("`sampled`", "`a\\`b`"),
        ("SELECT `x`", "SELECT AS STRUCT `x`"),
        ("SELECT `x`", "SELECT WITH DIFFERENTIAL_PRIVACY `x`"),
    ],
)
def test_what_only_bigquery_has_is_refused(old, new):
    text = ENGINE.text()
    assert old in text
    assert ENGINE.proof(text.replace(old, new)).findings


@pytest.mark.parametrize(
    "value",
    [
        "CAST({income} AS STRING)",
        "CAST({born} AS STRING)",
        "SAFE_CAST({zip} AS INT64)",
        "COLLATE({zip}, 'und:ci')",
        "FORMAT('%s', {zip})",
        "FORMAT('%d %d', {age}, {age})",
        "DATETIME_TRUNC(CAST({born} AS DATETIME), WEEK)",
        "DATE_TRUNC({born}, MONTH)",
        "DATETIME({moved}, 'America/New_York')",
        ROUNDED.replace("_s", "0.0000000001"),
        ROUNDED.replace("CAST(_s AS NUMERIC)", "_s").replace("_s", "0.25"),
        WHOLE.replace("1000000", "100000000000000000000"),
        WHOLE.replace(">= 0.5", "> 0.5"),
        "ROUND({income})",
    ],
)
def test_values_without_a_known_meaning_are_refused(value):
    assert not ENGINE.accepts(value)


@pytest.mark.parametrize(
    ("native", "kind"),
    [("INT64", "BIGINT"), ("STRING(20)", "VARCHAR"), ("DATETIME", "TIMESTAMP"),
     ("TIMESTAMP", "TIMESTAMP WITH TIME ZONE"), ("BIGNUMERIC", "OTHER BIGNUMERIC")],
)  # fmt: skip
def test_types_have_their_meaning(native, kind):
    assert READINGS["bigquery"].type_of(native) == kind

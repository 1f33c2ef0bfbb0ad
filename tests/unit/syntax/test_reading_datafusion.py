"""DataFusion's SQL, as the kernel reads it: what passes, and what must not."""

from __future__ import annotations

from fractions import Fraction

import pytest
from reading_texts import Engine, steps

from policy_engine.engines import ENGINES

ENGINE = Engine(
    "datafusion",
    "encode(sha256($salt || ':u:' || CAST({person} AS VARCHAR)), 'hex') < '400000000000000'",
    "$salt",
)
MICROS = "'Timestamp(Microsecond, None)'"
DAYS = "CASE WHEN {} BETWEEN CAST('0001-01-01' AS DATE) AND CAST('9999-12-31' AS DATE) THEN {} END"
TIMES = (
    "CASE WHEN {{seen}} BETWEEN arrow_cast('0001-01-01 00:00:00', 'Timestamp(Microsecond, None)')"
    " AND arrow_cast('9999-12-31 00:00:00', 'Timestamp(Microsecond, None)') THEN {} END"
)
YEAR = "make_date(extract(year from {born}), 1, 1)"
VALUE = "CAST({income} AS DOUBLE)"
ROUNDED = (
    f"TRY_CAST(CASE WHEN ABS({VALUE}) < 10000000000000000 THEN"
    f" TRY_CAST({steps(VALUE, '0.5', '0.05')} AS BIGINT) * CAST('0.5' AS DECIMAL(18, 1)) END"
    " AS DECIMAL(18, 1))"
)


def test_the_release_is_proved():
    shape = ENGINE.proof(ENGINE.text()).shape
    assert (shape.rate, shape.k, shape.unit, shape.method) == (Fraction(1, 4), 5, "person", "keyed")


def test_how_tables_are_opened_is_assumed():
    assert set(ENGINES["datafusion"].assumes) <= set(ENGINE.proof(ENGINE.text()).assumptions)


@pytest.mark.parametrize(
    "value",
    [
        "{zip}",
        "LEFT({zip}, 3)",
        "CAST({married} AS VARCHAR)",
        "{born}",
        f"arrow_cast({{moved}}, {MICROS})",
        "CASE WHEN isnan({weight}) THEN NULL WHEN {weight} < 5 THEN 'a' ELSE 'b' END",
        f"CASE WHEN {{seen}} < arrow_cast('2020-01-01 00:00:00', {MICROS}) THEN 'a' ELSE 'b' END",
        DAYS.format("{born}", YEAR),
        TIMES.format(
            "arrow_cast(make_date(extract(year from CAST({seen} AS DATE)), 1, 1),"
            " 'Timestamp(Microsecond, None)')"
        ),
        ROUNDED,
        "CASE WHEN {income} < CAST('0.5' AS DECIMAL(18, 1)) THEN 'a' ELSE 'b' END",
    ],
)
def test_these_values_pass(value):
    assert ENGINE.proof(ENGINE.text(value)).findings == ()


@pytest.mark.parametrize(
    "value",
    [
        "LEFT({zip}, -3)",
        "LEFT({zip}, {age})",
        YEAR,  # fails on a day far away
        "date_trunc('year', {born})",  # counted in nanoseconds
        DAYS.format("{born}", "date_trunc('year', {born})"),
        DAYS.format("{seen}", "make_date(extract(year from {born}), 1, 1)"),
        "CAST({seen} AS DATE)",
        "CAST({age} AS INTEGER)",
        "CAST({zip} AS DATE)",
        "TRY_CAST({zip} AS DATE)",
        "arrow_cast({zip}, 'Int64')",
        "arrow_cast({age}, 'Timestamp(Nanosecond, None)')",
        "CAST('2020-02-31' AS DATE)",
        ROUNDED.replace("10000000000000000", "100000000000000000"),
        ROUNDED.replace("CAST('0.5'", "CAST('0.6'"),
        ROUNDED.replace("CAST('0.5' AS DECIMAL(18, 1))", "0.5"),
        ROUNDED.replace("TRY_CAST", "CAST"),
        "{age} / 5",
        "uuid()",
        "now()",
        "E'a\\n'",
        "$$a$$",
        "$other",
        "unnest(make_array(1, 2))",
        "{zip} LIKE 'a%'",
    ],
)
def test_these_values_do_not(value):
    assert ENGINE.proof(ENGINE.text(value)).shape is None


@pytest.mark.parametrize("name", ENGINE.tampered())
def test_what_is_tampered_with_is_refused(name):
    assert ENGINE.proof(ENGINE.tampered()[name]).shape is None


@pytest.mark.parametrize(
    "sample",
    [
        "sha256($salt || ':u:' || CAST({person} AS VARCHAR)) < '400000000000000'",  # raw bytes
        "encode(sha256($salt || ':u:' || CAST({person} AS VARCHAR)), 'base64') < '400000000000000'",
        "encode(sha224($salt || ':u:' || CAST({person} AS VARCHAR)), 'hex') < '400000000000000'",
        "encode(sha256($salt || ':u:' || CAST({person} AS VARCHAR)), 'hex') <= '400000000000000'",
        "encode(sha256(concat($salt, ':u:', {person})), 'hex') < '400000000000000'",  # NULL as ''
        "encode(sha256($salt || ':u:' || CAST({weight} AS VARCHAR)), 'hex') < '400000000000000'",
        "encode(sha256($1 || ':u:' || CAST({person} AS VARCHAR)), 'hex') < '400000000000000'",
        "md5({person}) < '4'",
    ],
)
def test_no_other_sample_passes(sample):
    assert ENGINE.proof(ENGINE.text(sample=sample)).shape is None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('FROM "main"."people"', 'FROM "main"."people" TABLESAMPLE BERNOULLI (25)'),
        ('FROM "main"."people"', "FROM 'people.parquet'"),
        ('FROM "main"."people"', "FROM generate_series(1, 9)"),
        ('ORDER BY "x" ASC', 'ORDER BY "x" ASC FETCH FIRST 5 ROWS ONLY'),
        ('GROUP BY "x"', 'GROUP BY ROLLUP("x")'),
        ("'child'", "'chi' 'ld'"),
        ("'child'", "E'child'"),
        ("'child'", "U&'child'"),
        ('"age" < 18', '"age" < 18 --OR 1\n'),
        ('"age" < 18', '"age" < 18 # OR 1\n'),
        ('AS "x"', 'AS "x" -- \x0b'),
        ("COUNT(*)", "COUNT(DISTINCT *)"),
    ],
)
def test_what_only_this_engine_says_is_refused(old, new):
    text = ENGINE.text()
    assert text.replace(old, new, 1) != text
    assert ENGINE.proof(text.replace(old, new, 1)).shape is None

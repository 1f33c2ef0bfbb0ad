"""ClickHouse's SQL, as the kernel reads it: what passes, and what must not."""

from __future__ import annotations

from fractions import Fraction

import pytest
from reading_texts import Engine, steps

from policy_engine.engines import ENGINES

SECRET = "{{salt:String}}"
ENGINE = Engine(
    "clickhouse",
    f"lower(hex(SHA256({SECRET} || ':u:' || toString({{person}})))) < '400000000000000'",
    "{salt:String}",
)
GUARD = "CASE WHEN {} BETWEEN toDate32('0001-01-01') AND toDate32('9999-12-31') THEN {} END"
VALUE = "toFloat64({income})"
BELOW = f"CASE WHEN abs({VALUE}) < 10000000000000000 THEN "
COUNTED = f"{BELOW}{steps(VALUE, '0.5', '0.05')} ELSE 0 END"
ROUNDED = f"{BELOW}toInt64({COUNTED}) * toDecimal64('0.5', 1) END"
EXACT = "CASE WHEN {income} IS NULL THEN NULL WHEN {income} < _c THEN 'a' ELSE 'b' END"


def test_the_release_is_proved():
    shape = ENGINE.proof(ENGINE.text()).shape
    assert (shape.rate, shape.k, shape.unit, shape.method) == (Fraction(1, 4), 5, "person", "keyed")


def test_who_may_read_the_parameters_is_assumed():
    assert set(ENGINES["clickhouse"].assumes) <= set(ENGINE.proof(ENGINE.text()).assumptions)


@pytest.mark.parametrize(
    "value",
    [
        "{zip}",
        "leftUTF8({zip}, 3)",
        "toString({married})",
        "{born}",
        "toTimeZone({moved}, 'UTC')",
        "CASE WHEN {age} < 18 THEN 'it\\'s' ELSE 'a\\\\b' END",
        "CASE WHEN isNaN({weight}) THEN NULL WHEN {weight} < 5 THEN 'a' ELSE 'b' END",
        "CASE WHEN {seen} < toDateTime64('2020-01-01 00:00:00', 6, 'UTC') THEN 'a' ELSE 'b' END",
        GUARD.format("{born}", "makeDate32(toYear({born}), toQuarter({born}) * 3 - 2, 1)"),
        GUARD.format("{born}", "subtractDays(toDate32({born}), toDayOfWeek({born}) - 1)"),
        GUARD.format(
            "{seen}",
            "addHours(toDateTime64(toDate32({seen}, 'UTC'), 6, 'UTC'), toHour({seen}, 'UTC'))",
        ),
        ROUNDED,
        EXACT.replace("_c", "toDecimal128('-0.5', 1)"),
        EXACT.replace("_c", "toDecimal128('0.000000000000000001', 18)"),
    ],
)
def test_these_values_pass(value):
    assert ENGINE.proof(ENGINE.text(value)).findings == ()


@pytest.mark.parametrize(
    "value",
    [
        "left({zip}, 3)",  # bytes
        "leftUTF8({zip}, -3)",
        "leftUTF8({zip}, {age})",
        "CAST({age} AS String)",  # fails on NULL
        "{age}::String",
        "toInt64({zip})",
        "toDate32({zip})",
        GUARD.format("{zip}", "toDate32({zip})"),
        GUARD.format("{seen}", "toDate32({zip})"),
        "makeDate32(toYear({born}), 1, 1)",
        "toFloat64({zip})",
        "toStartOfYear({born})",  # a day of 1970
        "date_trunc('year', {born})",
        "toDate32('1930-02-31')",  # a day of March
        "CASE WHEN {born} < toDate32('1930-02-31') THEN 'a' ELSE 'b' END",
        "toDateTime64({seen}, 6, 'Asia/Tokyo')",
        ROUNDED.replace("'0.5', 1", "'0.51', 1"),
        ROUNDED.replace("'0.5', 1", "'0.5', 0"),
        ROUNDED.replace("toDecimal64('0.5', 1)", "toDecimal64(0.5, 1)"),
        ROUNDED.replace("10000000000000000", "100000000000000000"),
        ROUNDED.replace(f"toInt64({COUNTED})", f"toInt64({steps(VALUE, '0.5', '0.05')})"),
        ROUNDED.replace("< 0.05 THEN 0", "< 0.5 THEN 0"),
        ROUNDED.replace("< 0.05 THEN 0", "< 0.00000000005 THEN 0"),
        EXACT.replace("_c", "toDecimal128('0.55', 1)"),
        EXACT.replace("_c", "toDecimal128('x', 1)"),
        EXACT.replace("_c", "toDecimal128('1000000000000000000', 1)"),
        EXACT.replace("_c", "toDecimal128(0.5, 1)"),
        EXACT.replace("_c", "toDecimal128('0.5', 19)"),
        "transform({age}, [1], [2], 3)",
        "{age} // 5",
        "[{age}]",
        "rand()",
        "now()",
        "arrayJoin([1, 2])",
        "if({age} < 18, 'a', 'b') || hostName()",
        "CASE WHEN {age} < 18 THEN 'a\\x41' ELSE 'b' END",
        "CASE WHEN {age} < 18 THEN $$a$$ ELSE 'b' END",
        "CASE WHEN {age} IN (SELECT 1) THEN 'a' ELSE 'b' END",
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
        f"SHA256({SECRET} || ':u:' || toString({{person}})) < '400000000000000'",  # raw bytes
        f"hex(SHA256({SECRET} || ':u:' || toString({{person}}))) < '400000000000000'",  # capitals
        f"lower(hex(SHA512({SECRET} || ':u:' || toString({{person}})))) < '400000000000000'",
        f"lower(hex(SHA256({SECRET} || ':u:' || toString({{person}})))) <= '400000000000000'",
        f"lower(hex(SHA256(concat({SECRET}, ':u:', toString({{person}}))))) < '400000000000000'",
        f"lower(hex(SHA256({SECRET} || ':u:' || toString({{person}} + 1)))) < '400000000000000'",
        "lower(hex(SHA256({{other:String}} || ':u:' || toString({person})))) < '400000000000000'",
        "sipHash64({person}) < 5",
        "rand() < 5",
        "{person} % 4 = 0",
    ],
)
def test_no_other_sample_passes(sample):
    assert ENGINE.proof(ENGINE.text(sample=sample)).shape is None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('FROM "main"."people"', 'FROM "main"."people" SAMPLE 0.25'),
        ('FROM "main"."people"', 'FROM "main"."people" FINAL'),
        ('FROM "main"."people"', "FROM url('http://elsewhere')"),
        (' WHERE "rank"', ' PREWHERE "rank"'),
        ("GROUP BY", "GROUP BY ALL --x\nBY"),
        ('GROUP BY "x"', 'GROUP BY "x" WITH TOTALS'),
        ('ORDER BY "x" ASC', 'ORDER BY "x" ASC LIMIT 1 BY "x"'),
        ('ORDER BY "x" ASC', 'ORDER BY "x" ASC SETTINGS limit = 5'),
        ('ORDER BY "x" ASC', "ORDER BY \"x\" ASC INTO OUTFILE '/tmp/x'"),
        ('ORDER BY "x" ASC', 'ORDER BY "x" ASC FORMAT Null'),
        ('AS "x"', 'AS "x\\""'),
        ("'child'", "‘child’"),
        ('"age" < 18', '"age" < 18 # OR 1'),
        ('"age" < 18', '"age" < 18 // OR 1\n'),
        ('"age" < 18', '"age" < 18 --OR 1\n'),
        ("'child'", "'chi\\'ld"),
    ],
)
def test_what_only_this_engine_says_is_refused(old, new):
    text = ENGINE.text()
    assert text.replace(old, new, 1) != text
    assert ENGINE.proof(text.replace(old, new, 1)).shape is None


def test_a_name_that_is_read_beside_a_column_of_that_name_is_refused():
    """An alias wins over a column here, in the list that gives it too."""
    text = ENGINE.text().replace(
        '"sampled" AS (\n  SELECT "age"', '"sampled" AS (\n  SELECT 1 AS "person", "age"'
    )
    assert '1 AS "person"' in text
    assert ENGINE.proof(text).shape is None

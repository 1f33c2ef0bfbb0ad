"""Spark's and Databricks' SQL, as the kernel reads it: what passes, and what must not."""

from __future__ import annotations

from fractions import Fraction

import pytest
from reading_texts import Engine, steps

from policy_engine import engines
from policy_engine.syntax.readings import READINGS

SECRET = "(SELECT `salt` FROM `policy_engine_salts` WHERE `release_id` = 'next')"
SAMPLE = f"SHA2({SECRET} || ':u:' || CAST({{person}} AS STRING), 256) < '400000000000000'"
ENGINES = {
    name: Engine(name, SAMPLE, SECRET, quotes="``", last="{} ASC NULLS LAST")
    for name in ("spark", "databricks")
}
SPARK = ENGINES["spark"]
GUARD = "CASE WHEN {born} BETWEEN CAST('0001-01-01' AS DATE) AND CAST('9999-12-31' AS DATE) THEN "
VALUE = "CAST({income} AS DOUBLE)"
COUNTED = f"LEAST(ABS({VALUE}), 1000000)"
ROUNDED = (
    f"CAST(CASE WHEN ABS({VALUE}) < 1000000 THEN"
    f" CAST({steps(VALUE, '_s', '0.025', COUNTED)} AS DECIMAL(19, 0)) * _s END AS DECIMAL(18, 2))"
)
WHOLE = ROUNDED.replace("0.025", "1").replace("_s", "10").replace("(18, 2)", "(18, 0)")


@pytest.mark.parametrize("name", ENGINES)
def test_the_release_is_proved(name):
    proof = ENGINES[name].proof(ENGINES[name].text())
    shape = proof.shape
    assert proof.findings == ()
    assert (shape.rate, shape.k, shape.unit, shape.method) == (Fraction(1, 4), 5, "person", "keyed")
    assert set(engines.ENGINES[name].assumes) <= set(proof.assumptions)


@pytest.mark.parametrize(
    "value",
    [
        "{zip}",
        "LEFT({zip}, 3)",
        "{town} COLLATE UTF8_BINARY",
        "CASE WHEN CAST({married} AS STRING) IN ('true') THEN 'it\\'s' ELSE 'a\\\\b\\n' END",
        "CASE WHEN ISNAN({weight}) THEN NULL WHEN {weight} < 5 THEN 'a' ELSE '$1 {{x}}' END",
        GUARD + "CAST(DATE_TRUNC('QUARTER', {born}) AS DATE) END",
        GUARD.replace("born", "seen") + "CAST(DATE_TRUNC('WEEK', {seen}) AS TIMESTAMP_NTZ) END",
        "CAST({moved} AS TIMESTAMP_NTZ)",
        ROUNDED.replace("_s", "0.25"),
        WHOLE,
    ],
)
def test_these_values_pass(value):
    assert SPARK.proof(SPARK.text(value)).findings == ()


def test_rounding_is_read_with_the_places_of_its_step():
    [column] = SPARK.proof(SPARK.text(ROUNDED.replace("_s", "0.25"))).shape.columns
    assert str(column.recoding) == "Round(step=Decimal('0.25'))"


@pytest.mark.parametrize("engine", ENGINES.values(), ids=list(ENGINES))
@pytest.mark.parametrize("name", SPARK.tampered())
def test_what_is_tampered_with_is_refused(engine, name):
    assert engine.proof(engine.tampered()[name]).findings


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (", 256)", ", 512)"),
        (", 256)", ", 224)"),
        ("SHA2(", "UNHEX(SHA2("),
        ("SHA2(", "CRC32("),
        (" < '4", " <= '4"),
        (" < '4", " < X'4"),
        (SECRET, ":salt"),
        (SECRET, "?"),
        (SECRET, "'00112233445566778899aabbccddeeff'"),
        (SECRET, '"secret"'),
        (SECRET, "${salt}"),
        (SECRET, SECRET.replace("`salt`", "`release_id`")),
        (SECRET, SECRET.replace("`policy_engine_salts`", "`main`.`people`")),
        (SECRET, SECRET.replace("WHERE", "WHERE TRUE OR")),
        ("CAST(`person` AS STRING)", "CAST(`person` AS VARCHAR(3))"),
        ("CAST(`person` AS STRING)", "CAST(`person` AS CHAR(3))"),
        ("CAST(`person` AS STRING)", "CAST(`person` AS STRING COLLATE UNICODE_CI)"),
        ("CAST(`person` AS STRING)", "TRY_CAST(`person` AS STRING)"),
        ("CAST(`person` AS STRING)", "COALESCE(CAST(`person` AS STRING), '')"),
        ("'child'", '"child"'),
        ("'child'", "'${env:HOME}'"),
        ("'child'", "'\\u0041'"),
        ("'child'", "'\\101'"),
        ("'child'", "'\\%'"),
        ("'child'", "r'child'"),
        ("'child'", "X'41'"),
        ("'child'", "'chi' 'ld'"),
        ("'child'", "'chi''ld'"),
        ("HAVING", "-- a comment \\\nHAVING"),
        ("HAVING", "-- ${x}\nHAVING"),
        ("HAVING", "/* ${x} */ HAVING"),
        ("HAVING", "/* /* */ HAVING COUNT(*) >= 5 */ HAVING"),
        ("SELECT `x`", "SELECT /*+ BROADCAST(recoded) */ `x`"),
        ("SELECT `x`", "SELECT /* + */ TRANSFORM(`x`) USING 'cat' AS `x`"),
        ("`main`.`people`", "`main`.`people` TABLESAMPLE (25 PERCENT)"),
        ("`main`.`people`", "`main`.`people` VERSION AS OF 1"),
        ("`main`.`people`", "`main`.`people` TIMESTAMP AS OF '2020-01-01'"),
        ("`main`.`people`", "parquet.`/data/people.parquet`"),
        ("`main`.`people`", "`main`.`people` LATERAL VIEW EXPLODE(ARRAY(1, 2)) v AS w"),
        ("`main`.`people`", "RANGE(10)"),
        ("ORDER BY `x`", "SORT BY `x`"),
        ("ORDER BY `x`", "DISTRIBUTE BY `x` ORDER BY `x`"),
        ("GROUP BY `x`", "GROUP BY `x` WITH CUBE"),
        ("GROUP BY `x`", "GROUP BY ALL"),
        ("`sampled`", "`a${x}`"),
        ("= 1", "<=> 1"),
    ],
)
def test_what_only_spark_has_is_refused(old, new):
    text = SPARK.text()
    assert old in text
    assert SPARK.proof(text.replace(old, new)).findings


@pytest.mark.parametrize(
    "value",
    [
        "CAST({weight} AS BIGINT)",
        "CAST({income} AS BIGINT)",
        "CAST({zip} AS DATE)",
        "CAST({zip} AS TIMESTAMP)",
        "{town} COLLATE UNICODE_CI",
        "CAST({moved} AS STRING)",
        "CAST(DATE_TRUNC('WEEK', {moved}) AS STRING)",
        "TRUNC({born}, 'YEAR')",
        "DATE_TRUNC('MONTH', {seen})",
        "ROUND({income})",
        "FLOOR({weight})",
        "{age} DIV 0",
        "SUBSTRING({zip}, 0, 2)",
        "{zip} RLIKE '('",
        "INPUT_FILE_NAME()",
        "MONOTONICALLY_INCREASING_ID()",
        "IF({age} < 18, 'a')",
        ROUNDED.replace(COUNTED, f"ABS({VALUE})").replace("_s", "0.25"),
        ROUNDED.replace("AS DECIMAL(19, 0)", "AS BIGINT").replace("_s", "0.25"),
        WHOLE.replace("1000000", "100000000000000000000"),
        WHOLE.replace(">= 0.5", "> 0.5"),
    ],
)
def test_values_without_a_known_meaning_are_refused(value):
    assert not SPARK.accepts(value)


NATIVE = """\
SELECT `age`, COUNT(*) AS `n` FROM (SELECT `age` FROM `main`.`people` {sample}) AS `s`
GROUP BY `age` HAVING COUNT(*) >= 5 ORDER BY `age` ASC NULLS LAST
"""


@pytest.mark.parametrize("name", ENGINES)
def test_sampling_of_its_own_is_by_rows_and_said_to_be_documented(name):
    proof = ENGINES[name].proof(NATIVE.format(sample="TABLESAMPLE (25 PERCENT)"))
    assert proof.findings == ()
    assert (proof.shape.rate, proof.shape.unit) == (Fraction(1, 4), "row")
    assert any("this is documented, and was not measured by us" in a for a in proof.assumptions)


@pytest.mark.parametrize(
    "sample",
    [
        "TABLESAMPLE (25 ROWS)",
        "TABLESAMPLE (25 PERCENT) REPEATABLE (7)",
        "TABLESAMPLE SYSTEM (25 PERCENT)",
        "TABLESAMPLE (BUCKET 1 OUT OF 4)",
        "TABLESAMPLE (1G)",
    ],
)
def test_another_sampling_is_refused(sample):
    assert SPARK.proof(NATIVE.format(sample=sample)).findings


@pytest.mark.parametrize(
    ("native", "kind"),
    [("int", "INTEGER"), ("decimal(10,2)", "DECIMAL(10,2)"), ("varchar(20)", "VARCHAR"),
     ("timestamp", "TIMESTAMP WITH TIME ZONE"), ("timestamp_ntz", "TIMESTAMP"),
     ("char(5)", "OTHER CHAR(5)"), ("float", "OTHER FLOAT"), ("binary", "OTHER BINARY"),
     ("string collate UNICODE_CI", "OTHER STRING COLLATE UNICODE_CI")],
)  # fmt: skip
def test_types_have_their_meaning(native, kind):
    assert READINGS["spark"].type_of(native) == kind

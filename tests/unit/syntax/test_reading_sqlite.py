"""SQLite's SQL, as the kernel reads it: what passes, and what must not."""

from __future__ import annotations

from fractions import Fraction

import pytest
from reading_texts import Engine, steps

from policy_engine.engines import ENGINES

HASHED = "policy_engine_sha256(CAST(:salt || ':u:' || CAST({person} AS TEXT) AS BLOB))"
ENGINE = Engine(
    "sqlite", f"{HASHED} < '400000000000000'", ":salt", quotes="``", last="{} NULLS LAST"
)
VALUE = "CAST({age} AS REAL)"
COUNTED = steps(VALUE, "10", "1")
ROUNDED = f"CASE WHEN ABS({VALUE}) < 1000000000000000000 THEN CAST({COUNTED} AS INTEGER) * 10 END"
FIRST = "CASE WHEN INSTR({zip}, CHAR(0)) = 0 THEN SUBSTR({zip}, 1, 3) END"


def proof(text):
    """Without the columns that no STRICT table has."""
    for name in ("born", "seen", "moved", "income", "married"):
        text = text.replace(f"`{name}`, ", "").replace(f"`{name}`", "`age`")
    return ENGINE.proof(text)


def test_the_release_is_proved():
    shape = proof(ENGINE.text()).shape
    assert (shape.rate, shape.k, shape.unit, shape.method) == (Fraction(1, 4), 5, "person", "keyed")


def test_what_the_connection_defines_is_assumed():
    assert set(ENGINES["sqlite"].assumes) <= set(proof(ENGINE.text()).assumptions)


@pytest.mark.parametrize(
    "value",
    [
        "{zip}",
        FIRST,
        "{town} COLLATE BINARY",
        FIRST.replace("{zip}", "{town} COLLATE BINARY"),
        "CASE WHEN {weight} <> {weight} THEN NULL WHEN {weight} < 5 THEN 'a' ELSE 'b' END",
        "CASE WHEN CAST({age} AS TEXT) IN ('17') THEN 'it''s' ELSE 'b' END",
        ROUNDED,
    ],
)
def test_these_values_pass(value):
    assert proof(ENGINE.text(value)).findings == ()


@pytest.mark.parametrize(
    "value",
    [
        "SUBSTR({zip}, 1, 3)",  # stops at a NUL
        FIRST.replace("1, 3", "2, 3"),
        FIRST.replace("1, 3", "1, -3"),
        FIRST.replace("SUBSTR({zip}", "SUBSTR({code}"),
        "SUBSTR({zip}, -1)",
        "{town} COLLATE NOCASE",
        "{town} COLLATE RTRIM",
        "CAST({zip} AS INTEGER)",  # reads 'x' as 0
        "CAST({weight} AS INTEGER)",  # saturates
        "CAST({zip} AS REAL)",
        ROUNDED.replace("1000000000000000000", "1000000000000000001"),
        ROUNDED.replace("/ 10", "/ 0.5").replace("* 10", "* 0.5").replace("< 1 ", "< 0.05 "),
        "date({zip})",
        "strftime('%Y', {zip})",
        "{age} / 5",
        "ROUND({weight})",
        "random()",
        "abs({age})",
        "{zip} GLOB 'a*'",
        "iif({age} < 18, 'a', 'b') || sqlite_version()",
        "x'41'",
        "'a\\b'",
        "'child' \"age\"",
        '"agee"',  # a text, where no column has this name
        "?1",
        "@salt",
        "load_extension('x')",
    ],
)
def test_these_values_do_not(value):
    assert proof(ENGINE.text(value)).shape is None


@pytest.mark.parametrize("name", ENGINE.tampered())
def test_what_is_tampered_with_is_refused(name):
    assert proof(ENGINE.tampered()[name]).shape is None


@pytest.mark.parametrize(
    "sample",
    [
        "RANDOM() < 0.25",  # half
        "RANDOM() / 18446744073709551616.0 + 0.5 < 0.25",
        f"{HASHED} <= '400000000000000'",
        f"HEX({HASHED}) < '400000000000000'",
        "sha256(CAST(:salt || ':u:' || CAST({person} AS TEXT) AS BLOB)) < '400000000000000'",
        "policy_engine_sha256(:salt || ':u:' || CAST({person} AS TEXT)) < '400000000000000'",
        "policy_engine_sha256(CAST(:other || ':u:' || CAST({person} AS TEXT) AS BLOB)) < '4'",
        "policy_engine_sha256(CAST(:salt || ':u:' || CAST(\"persn\" AS TEXT) AS BLOB)) < '4'",
        f"{HASHED} < 400000000000000",
        f"{HASHED} < x'40'",
    ],
)
def test_no_other_sample_passes(sample):
    assert proof(ENGINE.text(sample=sample)).shape is None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("FROM `main`.`people`", "FROM `main`.`people` INDEXED BY `i`"),
        ("FROM `main`.`people`", "FROM pragma_table_info('people')"),
        ("FROM `main`.`people`", "FROM `sqlite_schema`"),
        ("FROM `main`.`people`", 'FROM "main"."people"'),
        ("GROUP BY `x`", "GROUP BY `x` COLLATE NOCASE"),
        ("GROUP BY `x`", 'GROUP BY "x"'),
        ("`age` < 18", "`age` < 18 --OR 1\n"),
        ("`age` < 18", "`age` IS NOT DISTINCT FROM 18"),
        ("`age` < 18", "`age` IS TRUE"),
        ("'child'", '"child"'),
        ("ORDER BY `x`", "ORDER BY random(), `x`"),
        ("COUNT(*) >= 5", "COUNT(*) FILTER (WHERE 1) >= 5"),
    ],
)
def test_what_only_this_engine_says_is_refused(old, new):
    text = ENGINE.text()
    assert text.replace(old, new, 1) != text
    assert proof(text.replace(old, new, 1)).shape is None

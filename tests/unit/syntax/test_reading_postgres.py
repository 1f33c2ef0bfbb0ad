"""What is PostgreSQL's alone: a NaN among decimals, and decimals of any length."""

from __future__ import annotations

import pytest
from reading_texts import Engine, steps

from policy_engine.syntax.readings import READINGS

ENGINE = Engine(
    "postgres",
    "sha256(convert_to(current_setting('policy_engine.salt') || ':u:' || CAST({person} AS TEXT),"
    " 'UTF8')) < decode('4000000000000000', 'hex')",
    "current_setting('policy_engine.salt')",
    last="{} NULLS LAST",
)
NUMBER = (
    "CASE WHEN {income} < CAST('NaN' AS DECIMAL) THEN {income}"
    " ELSE CAST(NULL AS DECIMAL(10, 2)) END"
)
VALUE = "CAST({weight} AS DOUBLE PRECISION)"
COUNTED = steps(VALUE, "1000", "100")
ROUNDED = (
    f"CAST(CASE WHEN ABS({VALUE}) < 100000000000000000 THEN CAST({COUNTED} AS BIGINT) * 1000 END"
    " AS DECIMAL(18, 0))"
)


@pytest.mark.parametrize("value", [NUMBER, ROUNDED])
def test_these_values_pass(value):
    assert ENGINE.proof(ENGINE.text(value)).findings == ()


def test_a_number_that_is_none_is_kept_as_null():
    [column] = ENGINE.proof(ENGINE.text(NUMBER)).shape.columns
    assert str(column.recoding) == "Keep()"


@pytest.mark.parametrize(
    "value",
    [
        NUMBER.replace("CAST(NULL AS DECIMAL(10, 2))", "0"),
        NUMBER.replace("CAST(NULL AS", "CAST({zip} AS"),
        NUMBER.replace("NULL AS DECIMAL(10, 2)", "NULL AS TEXT"),
        NUMBER.replace("NaN", "5"),
        # Divided before it is compared: of 5e-324 that is an error.
        ROUNDED.replace(f"ABS({VALUE}) < 100 THEN 0 WHEN ", ""),
        ROUNDED.replace(f"ABS({VALUE}) < 100000000000000000", f"ABS({VALUE}) / 1000 < 100000"),
        ROUNDED.replace("< 100 THEN", "< 1000 THEN"),
    ],
)
def test_these_values_do_not(value):
    assert ENGINE.proof(ENGINE.text(value)).findings


@pytest.mark.parametrize(
    ("native", "known"),
    [
        ("numeric(38,0)", "DECIMAL(38,0)"),
        ("numeric(39,0)", "OTHER NUMERIC(39,0)"),
        ("numeric(400,2)", "OTHER NUMERIC(400,2)"),
    ],
)
def test_a_decimal_beyond_a_double_has_no_meaning(native, known):
    assert READINGS["postgres"].type_of(native) == known

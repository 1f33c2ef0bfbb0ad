"""What a plain word means: YAML 1.2, numbers exact."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

import pytest

from policy_engine.policy.recode_models import cut_text
from policy_engine.policy.scalars import EnvironmentText, plain_scalar, show


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("~", None),
        ("Null", None),
        ("True", True),
        ("FALSE", False),
        ("yes", "yes"),
        ("NO", "NO"),
        ("1_000", "1_000"),
        ("1:30", "1:30"),
        ("+5", 5),
        ("-0", 0),
        (".5", Decimal("0.5")),
        ("5.", Decimal(5)),
        ("1.0e-9", Decimal("1.0e-9")),
        ("0e999999", Decimal(0)),
        ("-.inf", Decimal("-inf")),
        ("2020-01-31", date(2020, 1, 31)),
        ("2020-01-31T10:00", datetime(2020, 1, 31, 10)),
        ("2020-13-31", "2020-13-31"),
        ("2020-01-31T10:00Z", "2020-01-31T10:00Z"),
        ("٣", "٣"),
    ],
)
def test_a_plain_word(text, value):
    found = plain_scalar(text)
    assert (type(found), found) == (type(value), value)


@pytest.mark.parametrize("text", ["007", "-01", "01.5", "00", "0x1F", "0o17"])
def test_a_word_with_two_readings(text):
    with pytest.raises(ValueError, match=f"can be read as a number or as text, found {text}"):
        plain_scalar(text)


@pytest.mark.parametrize("text", ["1e309", "1e-309", "1e9999999", "9" * 61])
def test_a_number_that_is_too_long_to_write_out(text):
    with pytest.raises(ValueError, match=r"must be (0 or )?a number.*, found"):
        plain_scalar(text)


def test_digits_are_kept():
    digits = "0." + "123456789" * 6
    assert str(plain_scalar(digits)) == digits


def test_a_message_shows_one_line_and_no_secret():
    assert show("a\nb") == "'a\\nb'"
    assert show(EnvironmentText("hunter2")) == "the text of an environment variable"
    assert show(None) == "null"
    assert show([1]) == "a list"
    assert show(date(2020, 1, 31)) == "2020-01-31"


def test_the_text_of_a_cut():
    assert cut_text(Decimal("1E-7")) == "0.0000001"
    assert cut_text(datetime(2020, 1, 31, 10)) == "2020-01-31T10:00:00"

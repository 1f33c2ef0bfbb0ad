"""What is refused, and with which words."""

from __future__ import annotations

from collections.abc import Callable
from decimal import ROUND_HALF_EVEN, Decimal, DivisionByZero, InvalidOperation, Overflow
from fractions import Fraction
from typing import Any

import pytest

from policy_engine.accounting import bounds, domain, in_words
from policy_engine.errors import DomainError

RATE = "rate must be a number strictly between 0 and 1 (by at least 1e-300), found "
K = "k must be an integer from 2 to 1000000000, found "
LEAST = "epsilon must be 0 or at least 1E-300, found "
EPSILON = "epsilon must be a finite number from 0 to 1000000000, found "
REAL = "epsilon must be a finite number from -1000000000 to 1000000000, found "
DELTA = "delta must be a number strictly between 0 and 1, found "


@pytest.mark.parametrize(
    ("check", "value", "message"),
    [
        *[(domain.threshold, value, K + repr(value)) for value in (1, True, 2.0, "5", 10**9 + 1)],
        *[(domain.sampling_rate, value, RATE + str(value)) for value in (0, 1, -1, "1e-301")],
        (domain.sampling_rate, True, RATE + "True"),
        (domain.sampling_rate, "half", RATE + "'half'"),
        (domain.sampling_rate, None, RATE + "None"),
        (domain.sampling_rate, float("nan"), RATE + "NaN"),
        (domain.sampling_rate, "0." + "1" * 601, RATE + "0." + "1" * 601),
        (domain.sampling_rate, Fraction(5, 4), RATE + "5/4"),
        *[(domain.nonnegative_epsilon, value, EPSILON + str(value)) for value in (-1, 2e9)],
        (domain.nonnegative_epsilon, "1e-301", LEAST + "1e-301"),
        (domain.nonnegative_epsilon, "inf", EPSILON + "Infinity"),
        *[(domain.real_epsilon, value, REAL + str(value)) for value in (-2e9, 2e9, "-1e-301")],
        *[(domain.probability, value, DELTA + str(value)) for value in (0, 1, -0.5)],
        (
            domain.neighbour_notion,
            "both",
            "neighbours must be add_remove or replace_one, found 'both'",
        ),
    ],
)
def test_refused(check: Callable[[Any], object], value: object, message: str) -> None:
    with pytest.raises(DomainError) as caught:
        check(value)
    assert str(caught.value) == message


@pytest.mark.parametrize("value", [0, True, 1.0])
def test_refused_count(value: object) -> None:
    with pytest.raises(DomainError, match="group must be an integer of at least 1, found"):
        domain.count("group", value)


def test_numbers_are_what_was_written() -> None:
    assert domain.sampling_rate(0.1) == Decimal("0.1") == domain.sampling_rate(Fraction(1, 10))
    third = domain.sampling_rate(Fraction(1, 3))
    assert 0 < Fraction(third) - Fraction(1, 3) < Fraction(1, 10**60)


@pytest.mark.parametrize(
    ("check", "value"),
    [
        *[(domain.threshold, value) for value in (2, 10**9)],
        *[(domain.sampling_rate, value) for value in ("1e-300", "0." + "1" * 600, "0.999999999")],
        *[(domain.nonnegative_epsilon, value) for value in (0, "1e-300", 10**9)],
        *[(domain.real_epsilon, value) for value in (-(10**9), "-1e-300", 0, "1e-300", 10**9)],
        *[(domain.probability, value) for value in ("1e-400", "0.999999999")],
    ],
)
def test_the_ends_of_a_domain_belong_to_it(check: Callable[[Any], object], value: object) -> None:
    assert check(value) == Decimal(value)  # type: ignore[arg-type]


def test_one_is_a_count() -> None:
    assert domain.count("group", 1) == 1


def test_a_fraction_is_rounded_up_at_60_digits_more_than_it_is_written_with() -> None:
    # 63 digits: 60, 1 for the numerator, 2 for the denominator.
    found = domain.sampling_rate(Fraction(1, 11))
    assert found == Decimal("0.0" + "90" * 30 + "910")
    assert len(found.as_tuple().digits) == 63
    assert Fraction(found) > Fraction(1, 11)


@pytest.mark.parametrize(
    ("numbers", "room", "digits"),
    [
        ((), 0, 60),
        (("0",), 0, 61),
        (("7",), 0, 61),
        (("0.123",), 0, 64),
        (("1e-10", "0.25"), 0, 72),
        (("1e10",), 0, 61),
        (("1e-300", "0.5"), 40, 401),
    ],
)
def test_digits_of_the_arithmetic(numbers: tuple[str, ...], room: int, digits: int) -> None:
    """60, those that were written, and one for each place that 1 − β or e^ε − 1 may lose."""
    with domain.arithmetic(*map(Decimal, numbers), room=room) as context:
        assert context.prec == digits
        assert context.rounding == ROUND_HALF_EVEN
        for trap in (InvalidOperation, DivisionByZero, Overflow):
            assert context.traps[trap]


# What is computed may be below the truth by a 1e-30 share at most, what is exact by nothing.
@pytest.mark.parametrize(
    ("value", "exact", "rounded"),
    [
        ("0.5", True, "0.5"),
        ("0.5", False, "0.500000000001"),
        ("0.49999999999999999999999999999951", False, "0.500000000001"),
        ("0.4999999999999999999999999999949", False, "0.5"),
        ("0.1234567890121", True, "0.123456789013"),
        ("-0.1234567890129", True, "-0.123456789012"),
        ("0." + "1" * 12 + "0" * 150 + "1", True, "0.111111111112"),
    ],
)
def test_rounded_up(value: str, exact: bool, rounded: str) -> None:
    assert domain.upward(Decimal(value), exact=exact) == Decimal(rounded)


def test_rounded_down() -> None:
    assert bounds.downward(Decimal("0.1234567890129")) == Decimal("0.123456789012")
    assert bounds.downward(Decimal("0.5")) == Decimal("0.5")
    assert bounds.part_of(Decimal("0.1"), 1) == Decimal("0.1")
    assert bounds.part_of(Decimal("0.12345678901299"), 1) == Decimal("0.12345678901299")
    assert bounds.part_of(Decimal(1), 3) == Decimal("0.333333333333")
    assert bounds.part_of(Decimal(2), 3) == Decimal("0.666666666666")


def test_a_claim_stands_above_its_bound_by_a_share() -> None:
    assert domain.claimed(Decimal("0.25")) == Decimal("0.250000000025")
    assert domain.claimed(Decimal(1)) == 1
    assert domain.claimed(Decimal("0.99999999999")) == 1


@pytest.mark.parametrize(
    ("number", "text"),
    [
        ("0.000001", "0.000001"), ("0.0000001", "1e-7"), ("123.450", "123.45"),
        ("1E9", "1000000000"), ("1E16", "1e+16"), ("2.63178346650E-11", "2.6317834665e-11"),
    ],
)  # fmt: skip
def test_a_number_in_text_reads_well(number, text):
    assert in_words.in_text(Decimal(number)) == text

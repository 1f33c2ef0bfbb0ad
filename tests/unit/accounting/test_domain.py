"""What is refused, and with which words."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from policy_engine.accounting import domain
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

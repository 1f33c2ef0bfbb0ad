"""The least point at which a falling number is no more than another, by few looks at it."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.accounting.bisection import least_integer
from policy_engine.accounting.crossing import least_below

MOST = 10**12


def looked_at(last, at, most):
    """What is found, and where it was looked."""
    looks = []

    def seen(n):
        looks.append(n)
        return at(n)

    return least_below(last, seen, most), looks


@pytest.mark.parametrize("floor", ["0", "1e-9"])
@pytest.mark.parametrize("rate", ["1e-10", "3e-10", "2e-9"])
@pytest.mark.parametrize("most", ["1e-2", "1e-7", "1.5e-9"])
def test_of_what_falls_exponentially_it_looks_at_half_as_many(floor, rate, most):
    def at(n):
        return (-Decimal(rate) * n).exp() + Decimal(floor)

    found, looks = looked_at(MOST, at, Decimal(most))
    assert found == least_integer(-1, MOST, lambda n: at(n) <= Decimal(most))
    assert len(looks) <= 24


@given(
    st.lists(st.integers(0, 50), min_size=1, max_size=300),
    st.integers(0, 50),
)
def test_it_is_what_halving_finds(numbers, most):
    """Of whatever does not rise; by at most three looks more."""
    falling = sorted(numbers, reverse=True)
    last = len(falling) - 1
    most = max(most, falling[last])
    found, looks = looked_at(last, lambda n: Decimal(falling[n]), Decimal(most))
    assert found == next(n for n, number in enumerate(falling) if number <= most)
    assert len(looks) <= last.bit_length() + 3


def test_what_is_found_was_looked_at_whatever_the_number_does():
    """So the bound holds there even of a number that rises."""
    found, looks = looked_at(1000, lambda n: Decimal(n * 7919 % 1001), Decimal(500))
    assert found in looks and found * 7919 % 1001 <= 500


def test_where_no_point_lowers_it_further_the_first_such_is_found():
    assert least_below(MOST, lambda n: Decimal(max(10**6 - n, 0)), Decimal(0)) == 10**6
    assert least_below(MOST, lambda n: Decimal(1), Decimal(1)) == 0

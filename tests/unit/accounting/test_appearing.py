"""What is seen of a group: against sums of exact fractions, outcome by outcome."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from math import comb, isqrt

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policy_engine.accounting.comparison import chance_shown, count_error, half_shown
from policy_engine.accounting.prior import Prior, expected_groups
from policy_engine.errors import DomainError

RATES = st.integers(5, 95).map(lambda cents: Fraction(cents, 100))


def tail(k: int, rate: Fraction, size: int) -> Fraction:
    """Pr[Bin(size, β) ≥ k], exactly."""
    chances = (comb(size, j) * rate**j * (1 - rate) ** (size - j) for j in range(min(k, size + 1)))
    return 1 - sum(chances, Fraction(0))


@settings(deadline=None)
@given(st.integers(2, 12), RATES, st.integers(1, 120))
def test_the_chance_that_a_group_is_shown_is_the_tail_of_the_binomial_law(k, rate, size):
    found, true = Fraction(chance_shown(k, rate, size)), tail(k, rate, size)
    assert abs(found - true) <= min(true, max(1 - true, Fraction(1, 10**40))) / 10**11


@settings(deadline=None)
@given(st.integers(2, 12), RATES)
def test_half_shown_is_the_least_size_that_is(k, rate):
    size = half_shown(k, rate)
    assert tail(k, rate, size) >= Fraction(1, 2)
    assert size == k or tail(k, rate, size - 1) < Fraction(1, 2)


@pytest.mark.parametrize("k", [2, 1000, 10**6])
def test_sizes_that_nobody_can_sum_over_agree_with_the_prior(k):
    size = half_shown(k, "0.01")
    assert abs(expected_groups(k, "0.01", Prior.of_sizes({size: 1})) - 0.5) < 2e-1 / k**0.5 + 1e-5
    assert chance_shown(k, "0.01", size - 1) < Decimal("0.5") <= chance_shown(k, "0.01", size)


@settings(deadline=None)
@given(RATES, st.integers(1, 60))
def test_the_error_of_a_count_is_the_root_of_its_variance(rate, size):
    chances = [comb(size, j) * rate**j * (1 - rate) ** (size - j) for j in range(size + 1)]
    variance = sum((j / rate - size) ** 2 * chance for j, chance in enumerate(chances))
    assert abs(Fraction(count_error(rate, size)) ** 2 - variance) <= variance / 10**10


def test_a_square_is_exact():
    assert count_error("0.5", 49) == isqrt(49)


@pytest.mark.parametrize(("k", "rate", "size"), [(1, "0.1", 5), (2, "1", 5), (2, "0.1", 0)])
def test_what_is_no_k_rate_or_size_is_refused(k, rate, size):
    with pytest.raises(DomainError):
        chance_shown(k, rate, size)

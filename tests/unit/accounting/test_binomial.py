"""Factorials and one-sided sums: how far from the truth, and on which side."""

from __future__ import annotations

from decimal import Decimal

import mpmath
import pytest

from policy_engine.accounting import binomial, groups
from policy_engine.accounting.binomial import log_factorial
from policy_engine.accounting.domain import arithmetic


@pytest.mark.parametrize("z", [0, 5, 999, 1000, 1001, 10**6, 10**12])
def test_log_factorial(z: int) -> None:
    with mpmath.workdps(90), arithmetic(Decimal(1), room=30):
        true = mpmath.loggamma(z + 1)
        assert abs(mpmath.mpf(str(log_factorial(z))) - true) <= mpmath.mpf("1e-70") * (1 + true)


def test_the_series_errs_by_the_first_term_left_out() -> None:
    with mpmath.workdps(140), arithmetic(Decimal(1), room=80):
        error = mpmath.loggamma(1001) - mpmath.mpf(str(log_factorial(1000)))
        left_out = mpmath.bernoulli(32) / (32 * 31 * mpmath.mpf(1000) ** 31)
        assert abs(error / left_out - 1) < mpmath.mpf("1e-4")


@pytest.mark.parametrize(("j", "n"), [(0, 7), (7, 7), (999, 10**6), (1000, 10**6), (10**6, 10**7)])
def test_a_point_is_the_binomial_law_s(j: int, n: int) -> None:
    rate = Decimal("0.1")
    with mpmath.workdps(90), arithmetic(rate):
        beta = mpmath.mpf("0.1")
        true = mpmath.binomial(n, j) * beta**j * (1 - beta) ** (n - j)
        assert abs(mpmath.mpf(str(binomial.point(j, n, rate))) / true - 1) <= mpmath.mpf("1e-50")


@pytest.mark.parametrize("step", [0, 1])
def test_a_sum_is_above_by_less_than_what_groups_take_off(
    step: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rate, n = Decimal("0.1"), 10**9
    with arithmetic(rate, room=40):
        upper = binomial.sum_from(n // 10, n, rate, Decimal(1), step)
        lower = binomial.sum_to(n // 10, n, rate, Decimal(1), step)
        monkeypatch.setattr(binomial, "_SHARE", Decimal("1e-45"))
        for found, true in (
            (upper, binomial.sum_from(n // 10, n, rate, Decimal(1), step)),
            (lower, binomial.sum_to(n // 10, n, rate, Decimal(1), step)),
        ):
            assert true <= found
            assert found * groups._BELOW <= true

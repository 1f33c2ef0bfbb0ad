"""ln δ in double precision beside the decimal curve, and the search for a crossing."""

from __future__ import annotations

import math
from decimal import Decimal

import pytest

from policy_engine.accounting.exact import delta_exact
from policy_engine.accounting.frontier import crossing, log_delta, log_point, stirling_error

KS = [2, 3, 5, 14, 100, 1000, 10_000]
RATES = ["0.000001", "0.0003", "0.01", "0.1", "0.3", "0.5", "0.8", "0.95", "0.999"]
EPSILONS = ["0", "0.001", "0.03", "0.3", "1", "2.5", "7", "20"]


@pytest.mark.parametrize("k", KS)
def test_it_is_the_curve_to_a_share_of_1e_10(k: int) -> None:
    for rate in RATES:
        for epsilon in EPSILONS:
            true = delta_exact(k, rate, epsilon).delta.ln()
            found = log_delta(k, float(rate), float(epsilon))
            assert abs(Decimal(found) - true) < Decimal("1e-10"), (rate, epsilon)


@pytest.mark.parametrize("k", [2, 20])
def test_it_holds_beside_the_end_of_the_add_direction(k: int) -> None:
    for rate in ("0.001", "0.2", "0.9"):
        end = -(1 - Decimal(rate)).ln()
        for share in ("0.5", "0.99", "0.9999", "1", "1.01"):
            epsilon = end * Decimal(share)
            true = delta_exact(k, rate, epsilon).delta.ln()
            assert abs(Decimal(log_delta(k, float(rate), float(epsilon))) - true) < Decimal("1e-9")


def test_it_holds_at_the_ends_of_the_domain() -> None:
    assert log_delta(7, 0.1, 1e9) == 7 * math.log(0.1)
    for epsilon in (0.0, 1e-300, 1.0):
        assert -1500 < log_delta(2, 1e-300, epsilon) < -600
        assert math.isfinite(log_delta(10_000, 1e-300, epsilon))
        assert -1e-3 < log_delta(2, 0.999999, epsilon) < 0


@pytest.mark.parametrize("n", [2, 15, 16, 17, 1000])
def test_the_point_probabilities_add_up(n: int) -> None:
    inner = math.fsum(math.exp(log_point(j, n, 0.3)) for j in range(1, n))
    assert inner + 0.3**n + 0.7**n == pytest.approx(1, abs=1e-13)


def test_stirlings_error_is_that_of_the_factorial() -> None:
    for n in (1, 15, 16, 40, 170):
        formula = (n + 0.5) * math.log(n) - n + 0.5 * math.log(2 * math.pi)
        assert stirling_error(n) == pytest.approx(math.lgamma(n + 1) - formula, abs=1e-12)
        assert 1 / (12 * n + 1) < stirling_error(n) < 1 / (12 * n)


@pytest.mark.parametrize("start", [-100.0, -3.0, 1.9, 2.0, 2.3, 100.0])
@pytest.mark.parametrize(
    "rising",
    [lambda x: x - 2, lambda x: 50 * (x - 2), lambda x: x - 2 + (x - 2) ** 3, lambda x: x**3 - 8],
)
def test_a_crossing_is_found(rising, start: float) -> None:
    assert abs(crossing(rising, start, 1.0, 50.0, 1e-9) - 2) <= 1e-9


def test_a_jump_is_a_crossing() -> None:
    found = crossing(lambda x: x + (9 if x > 2 else -9), 0.5, -50.0, 50.0, 1e-6)
    assert abs(found - 2) <= 1e-6


@pytest.mark.parametrize("slope", [0.7, 3.0, 40.0])
def test_a_guess_at_the_slope_may_be_wrong(slope: float) -> None:
    for start in (-3.0, 1.0, 2.5, 9.0):
        found = crossing(lambda x: 3 * (x - 2), start, -9.0, 50.0, 1e-9, slope=slope)
        assert abs(found - 2) <= 1e-9


def test_a_function_that_rises_too_slowly_ends_the_search() -> None:
    assert crossing(lambda x: x / 2, 8.0, -50.0, 50.0, 1e-9) == 2


def test_without_a_crossing_it_is_an_end() -> None:
    assert crossing(lambda x: x + 90, 0.0, -5.0, 5.0, 1e-9) == -5
    assert crossing(lambda x: x - 90, 0.0, -5.0, 5.0, 1e-9) == 5
    assert crossing(lambda x: x - 90, 7.0, -5.0, 5.0, 1e-9) == 5

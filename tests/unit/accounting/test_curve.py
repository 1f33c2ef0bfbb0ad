"""The closed forms against direct summation, the reference values, and wide-range arithmetic."""

from __future__ import annotations

import random
from decimal import Decimal
from fractions import Fraction
from typing import Any

import mpmath
import pytest

from policy_engine.accounting.curve import delta_add, delta_remove
from policy_engine.accounting.events import SampledSuppression
from policy_engine.accounting.exact import delta_exact

from .brute import both_directions, reference_values


def close(bound: Decimal, true: mpmath.mpf, share: str = "1e-10") -> bool:
    """From above, and by no more than the share."""
    value = mpmath.mpf(str(bound))
    return bool(
        true <= value * (1 + mpmath.mpf("1e-25")) and value <= true * (1 + mpmath.mpf(share))
    )


@pytest.mark.parametrize("row", reference_values(), ids=str)
def test_reference_values(row: dict[str, Any]) -> None:
    remove = delta_remove(row["k"], row["beta"], row["epsilon"])
    add = delta_add(row["k"], row["beta"], row["epsilon"])
    # The file's floats carry an error of their own, up to 6e-11.
    assert float(remove.delta) == pytest.approx(row["delta_exact_remove"], rel=1e-9, abs=0)
    assert float(add.delta) == pytest.approx(row["delta_exact_add"], rel=1e-9, abs=1e-75)
    assert remove.at_n == row["remove_at_n"]
    if row["add_at_n"] is not None:
        assert add.at_n == row["add_at_n"]
    assert delta_exact(row["k"], row["beta"], row["epsilon"]).delta == max(remove.delta, add.delta)


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("rate", ["0.15", "0.4", "0.75"])
@pytest.mark.parametrize("epsilon", ["-0.9", "-0.3", "-0.1", "0", "0.1", "0.3", "0.6", "2"])
def test_both_directions_by_direct_summation(k: int, rate: str, epsilon: str) -> None:
    with mpmath.workdps(40):
        remove, add = both_directions(k, rate, epsilon, most=45)
        for bound, true in ((delta_remove, remove), (delta_add, add)):
            found = bound(k, rate, epsilon)
            if found.at_n is not None and found.at_n > 45:
                assert mpmath.mpf(str(found.delta)) >= true
            elif true:
                assert close(found.delta, true), (found, true)
            else:
                assert found.delta == 0


def exact_sums(k: int, rate: str, epsilon: str, n: int) -> tuple[mpmath.mpf, mpmath.mpf]:
    """S_k(n) − a·S_k(n−1) and F_{n−1}(k−1) − a·F_n(k−1) from the incomplete beta function."""
    share, scale = mpmath.mpf(rate), mpmath.exp(mpmath.mpf(epsilon))

    def below(size: int) -> mpmath.mpf:
        return sum(
            mpmath.binomial(size, j) * share**j * (1 - share) ** (size - j) for j in range(k)
        )

    less, more = below(n - 1), below(n)
    return (1 - more) - scale * (1 - less), less - scale * more


def test_wide_grid_against_high_precision() -> None:
    chance = random.Random(7)
    checked = 0
    with mpmath.workdps(700):
        for _ in range(40):
            k = chance.choice([2, 3, 10, 50, 200])
            rate = f"{10 ** chance.uniform(-6, -0.0005):.9f}"
            epsilon = f"{10 ** chance.uniform(-3, 1):.6f}"
            remove, add = delta_remove(k, rate, epsilon), delta_add(k, rate, epsilon)
            if remove.delta > Decimal("1e-600"):
                assert close(remove.delta, exact_sums(k, rate, epsilon, remove.at_n or 0)[0])
                checked += 1
            if add.at_n is not None and add.delta > Decimal("1e-600"):
                assert close(add.delta, exact_sums(k, rate, epsilon, add.at_n)[1])
    assert checked > 20


@pytest.mark.parametrize(
    ("k", "rate", "epsilon"),
    [(10_000, "0.5", "0.001"), (10_000, "0.001", "0.00005"), (10_000, "0.999", "0.5")],
)
def test_large_k_against_high_precision(k: int, rate: str, epsilon: str) -> None:
    found = delta_remove(k, rate, epsilon)
    with mpmath.workdps(60):
        n, share, scale = found.at_n, mpmath.mpf(rate), mpmath.exp(mpmath.mpf(epsilon))
        assert n is not None
        term = mpmath.binomial(n, k) * share**k * (1 - share) ** (n - k)
        total = mpmath.mpf(0)
        for j in range(k, n + 1):
            total += term * (1 - scale * mpmath.mpf(n - j) / (n * (1 - share)))
            term *= mpmath.mpf(n - j) * share / ((j + 1) * (1 - share))
            if term < mpmath.mpf("1e-50"):
                break
        assert close(found.delta, total)


def test_no_underflow() -> None:
    assert 0 < delta_exact(200, "1e-6", "1").delta < Decimal("1e-900")
    # Where even decimal exponents end, the bound is a positive number above the truth.
    nearly_one = Decimal("0.10536051565782630122750098083931279830612037298327407")
    assert 0 < delta_add(20, "0.1", nearly_one).delta < Decimal("1e-99999")


def test_no_cancellation_at_extremes() -> None:
    assert delta_exact(2, "1e-290", "1e-290").delta > 0
    assert delta_exact(20, Fraction(1, 3), 0).delta == delta_exact(20, "0." + "3" * 70, 0).delta


def test_a_power_that_ends_is_not_rounded_past() -> None:
    assert delta_exact(20, "0.1", "9").delta == Decimal("1e-20")
    assert delta_exact(2, Fraction(1, 3), "9").delta == Decimal("0.111111111112")


def test_tie_of_two_sizes() -> None:
    # (k−1)/γ = 4/0.5 and J/c = 4/0.5 are integers: two sizes attain the supremum.
    with mpmath.workdps(40):
        remove, add = both_directions(5, "0.5", "0", most=20)
        assert close(delta_remove(5, "0.5", "0").delta, remove)
        assert close(delta_add(5, "0.5", 0).delta, add)


def test_events_hold_what_was_written() -> None:
    event = SampledSuppression(20, 0.1)
    assert event == SampledSuppression(20, Decimal("0.1"))
    assert hash(event) == hash(SampledSuppression(20, "0.10"))

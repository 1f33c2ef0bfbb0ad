"""The closed forms beside the curve."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import mpmath
import pytest

from policy_engine.accounting.bounds import (
    amplify,
    amplify_fixed_size,
    compose_basic,
    delta_lqs,
    delta_safe,
    epsilon_lqs,
    group,
    randomised_response,
)
from policy_engine.accounting.exact import delta_exact
from policy_engine.errors import DomainError

from .brute import reference_values


@pytest.mark.parametrize("row", reference_values(), ids=str)
def test_lqs_reference_values(row: dict[str, Any]) -> None:
    found = delta_lqs(row["k"], row["beta"], row["epsilon"])
    if row["delta_lqs"] is None:
        assert found is None
    else:
        assert found is not None
        assert float(found.delta) == pytest.approx(row["delta_lqs"], rel=1e-9, abs=0)
        assert found.at_n == row["lqs_at_n"]
        assert found.delta >= delta_exact(row["k"], row["beta"], row["epsilon"]).delta


@pytest.mark.parametrize(("k", "rate", "epsilon"), [(2, "0.3", "0.5"), (4, "0.2", "0.3")])
def test_lqs_by_direct_summation(k: int, rate: str, epsilon: str) -> None:
    share, scale = mpmath.mpf(rate), mpmath.exp(mpmath.mpf(epsilon))
    gamma = (scale - 1 + share) / scale
    true = max(
        sum(
            mpmath.binomial(n, j) * share**j * (1 - share) ** (n - j)
            for j in range(n + 1)
            if j > gamma * n
        )
        for n in range(int(mpmath.ceil(k / gamma - 1)), 60)
    )
    found = delta_lqs(k, rate, epsilon)
    assert found is not None
    assert (
        true * (1 - mpmath.mpf("1e-14"))
        <= mpmath.mpf(str(found.delta))
        <= true * (1 + mpmath.mpf("1e-10"))
    )


def test_amplification() -> None:
    epsilon, delta = amplify("1", "0", "0.5")
    assert delta == 0
    assert float(epsilon) == pytest.approx(float(mpmath.log((1 + mpmath.e) / 2)), rel=1e-11)
    assert amplify(0, 1, "0.25") == (0, Decimal("0.25"))


def test_group() -> None:
    assert group(0, "1e-3", 4) == (0, Decimal("0.00400000000001"))
    assert group("5", "0.1", 3) == (15, 1)
    assert group("0.7", "1e-9", 1)[0] == Decimal("0.7")


def test_basic_composition() -> None:
    assert compose_basic([]) == (0, 0)
    assert compose_basic([(1, "0.7"), (2, "0.7")]) == (3, 1)


def test_refused() -> None:
    with pytest.raises(DomainError, match=r"^delta must be a number from 0 to 1, found 2$"):
        amplify(1, 2, "0.5")


def test_amplification_from_one_rate_to_a_smaller_one() -> None:
    whole = amplify("2", "1e-6", "0.02")
    half = amplify("2", "1e-6", "0.5")
    again = amplify(half[0], half[1], "0.02", drawn_at="0.5")
    assert again[0] == pytest.approx(whole[0], rel=Decimal("1e-10"))
    assert again[0] >= whole[0]
    assert again[1] == whole[1]
    with pytest.raises(DomainError, match=r"drawn_at must be a number above rate = 0\.5, up to 1"):
        amplify("1", 0, "0.5", drawn_at="0.5")
    with pytest.raises(DomainError, match="drawn_at must be a number above rate"):
        amplify("1", 0, "0.5", drawn_at="1.1")


def test_amplification_of_a_sample_of_fixed_size() -> None:
    found = amplify_fixed_size("1", "0.1")
    with mpmath.workdps(40):
        inside = 1 + mpmath.mpf("0.1") * (mpmath.e - 1)
        for value, true in (
            (found.epsilon, mpmath.log(inside)),
            (found.epsilon_clifton, mpmath.log(inside / mpmath.mpf("0.9"))),
        ):
            assert true <= mpmath.mpf(str(value)) <= true * (1 + mpmath.mpf("2e-11"))
    assert amplify_fixed_size(0, "0.3").epsilon == 0
    with pytest.raises(DomainError, match="rate must be a number strictly between 0 and 1"):
        amplify_fixed_size("1", "1")


def test_tight_constant_for_a_sample_of_fixed_size_by_enumeration() -> None:
    """Randomised response of one unit drawn out of three, one of which is replaced."""
    with mpmath.workdps(30):
        epsilon = mpmath.mpf("1.3")
        stay = 1 / (1 + mpmath.exp(-epsilon))
        old, new = (0, 0, 0), (1, 0, 0)
        law = [
            {
                told: sum(stay if told == value else 1 - stay for value in table) / 3
                for told in (0, 1)
            }
            for table in (old, new)
        ]
        loss = max(abs(mpmath.log(law[0][told] / law[1][told])) for told in (0, 1))
        third = str(mpmath.mpf(1) / 3)
        assert loss <= mpmath.mpf(str(amplify_fixed_size("1.3", third).epsilon))


def test_a_safe_choice_of_the_recoding() -> None:
    found = delta_safe(20, "0.1", "0.75", "0.25")
    assert found.delta == delta_exact(20, "0.1", "0.5").delta
    assert found.delta_lqs == delta_lqs(20, "0.1", "0.5").delta  # type: ignore[union-attr]
    assert delta_safe(20, "0.1", "0.75", "0.7").delta_lqs is None
    assert delta_safe(20, "0.1", "0.7", "0.7").delta == delta_exact(20, "0.1", 0).delta
    with pytest.raises(DomainError, match=r"selection must be a number from 0 to epsilon = 0\.5"):
        delta_safe(20, "0.1", "0.5", "0.6")


def test_epsilon_by_the_papers_bound() -> None:
    found = epsilon_lqs(20, "0.1", "2e-8")
    assert found is not None
    bound = delta_lqs(20, "0.1", found)
    assert bound is not None
    assert bound.delta <= Decimal("2e-8") < delta_lqs(20, "0.1", found - Decimal("1e-8")).delta  # type: ignore[union-attr]
    assert epsilon_lqs(20, "0.1", "1e-21") is None
    # Where the border of the theorem is what stands in the way.
    border = epsilon_lqs(20, "0.5", "0.9")
    assert border is not None
    assert Decimal("0.693147180") <= border <= Decimal("0.693147182")


def test_randomised_response() -> None:
    assert randomised_response("0.5", 2, "replace_one") == Decimal("1.09861228867")
    with pytest.raises(DomainError, match="neighbours must be replace_one for randomised resp"):
        randomised_response("0.5", 2, "add_remove")
    with pytest.raises(DomainError, match="truth must be a number strictly between 0 and 1"):
        randomised_response("1", 2, "replace_one")


@pytest.mark.parametrize(("nearer", "defined"), [("5e-16", True), ("5e-15", False)])
def test_how_near_the_border_of_the_theorem_counts_as_on_it(nearer: str, defined: bool) -> None:
    border = Decimal("0.69314718055994530941723212145818")  # ln 2
    assert (delta_lqs(20, "0.5", border - Decimal(nearer)) is not None) == defined


def test_a_choice_costs_no_less_than_nothing() -> None:
    for selection in ("-1", "-0.5", "-1e-9"):
        with pytest.raises(DomainError, match=r"a number from 0 to epsilon = 0\.5"):
            delta_safe(20, "0.1", "0.5", selection)


def test_a_choice_that_cost_nothing() -> None:
    assert delta_safe(20, "0.1", "0.5", 0).delta == delta_exact(20, "0.1", "0.5").delta
    assert delta_safe(20, "0.1", 0, 0).delta == delta_exact(20, "0.1", 0).delta


def test_a_share_that_is_above_a_short_number_by_next_to_nothing() -> None:
    """(x + 1)(x² − x + 1) = x³ + 1: more digits of a product than any arithmetic here has."""
    x = 10**100
    rate, delta = Fraction(x + 1, 10 * x), Fraction(x * x - x + 1, 10 * x * x)
    found = amplify(0, delta, rate)[1]
    assert Fraction(found) >= rate * delta > Fraction(1, 100)
    assert found == Decimal("0.0100000000001")

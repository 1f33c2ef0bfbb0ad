"""[PK]: the numeric bound is never below the truth, and the closed forms never below it."""

from __future__ import annotations

import itertools
from decimal import Decimal
from math import comb

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policy_engine.accounting.domain import arithmetic
from policy_engine.accounting.partial_knowledge import (
    _Tilt,
    count_numbers,
    delta_blanket,
    delta_chernoff,
    delta_count,
    least_uncertainty,
    proposition_27,
    unknown_records,
)
from policy_engine.errors import DomainError


def hockey_stick(one, two, ratio):
    return mpmath.fsum(max(mpmath.mpf(0), p - ratio * q) for p, q in zip(one, two, strict=True))


def expectation(unknown, floor, epsilon):
    """The formula of the theory, term by term."""
    with mpmath.workdps(60):
        rate, ratio = 2 * mpmath.mpf(floor), mpmath.exp(mpmath.mpf(epsilon))
        total = mpmath.mpf(0)
        for coins in range(unknown):
            weight = comb(unknown - 1, coins) * rate**coins * (1 - rate) ** (unknown - 1 - coins)
            # From the middle on: before it, the law of 1 + Bin is the smaller one.
            middle = coins // 2
            law = [mpmath.mpf(comb(coins, j)) / 2**coins for j in range(middle, coins + 1)]
            before = mpmath.mpf(comb(coins, middle - 1) if middle else 0) / 2**coins
            total += weight * hockey_stick([before, *law], [*law, 0], ratio)
        return total


def count_law(probabilities):
    """The law of a sum of independent records."""
    law = [mpmath.mpf(1)]
    for p in probabilities:
        law = [a * (1 - p) + b * p for a, b in zip([*law, 0], [0, *law], strict=True)]
    return law


def true_divergences(probabilities, epsilon):
    """Both directions, for one record more that is 1 or 0."""
    law, ratio = count_law(probabilities), mpmath.exp(mpmath.mpf(epsilon))
    one, zero = [0, *law], [*law, 0]
    return hockey_stick(one, zero, ratio), hockey_stick(zero, one, ratio)


def exact(value):
    return mpmath.mpf(str(value))


@pytest.mark.parametrize("unknown", [1, 2, 3, 8, 47, 90])
@pytest.mark.parametrize("floor", ["1e-20", "0.01", "0.1", "0.3", "0.49999", "0.5"])
@pytest.mark.parametrize("epsilon", ["0", "1e-300", "0.05", "1", "4.6", "100",
                                     *(pytest.param(e, marks=pytest.mark.evidence)
                                       for e in ("1e-9", "0.5", "3"))])  # fmt: skip
def test_the_window_is_the_whole_expectation_from_above(unknown, floor, epsilon):
    with mpmath.workdps(60):
        wanted, found = expectation(unknown, floor, epsilon), delta_count(unknown, floor, epsilon)
        assert wanted * (1 - mpmath.mpf("1e-45")) <= exact(found) <= wanted * (1 + 2e-11)
        assert exact(delta_chernoff(unknown, floor, epsilon)) >= min(1, wanted)


def test_windows_that_end_before_the_sizes_do():
    # 400 records: at these rates the window leaves out both ends, one, or none.
    with mpmath.workdps(60):
        for floor, epsilon in (("0.25", "0.3"), ("0.02", "1"), ("0.4999", "0.1")):
            wanted, found = expectation(400, floor, epsilon), delta_count(400, floor, epsilon)
            assert wanted <= exact(found) <= wanted * (1 + 2e-11)


@pytest.mark.parametrize("floor", ["0.05", "0.2", "0.4"])
@pytest.mark.parametrize("epsilon", ["0", "0.1", "0.5", "1", "2"])
def test_it_bounds_every_sum_of_records_that_are_not_alike(floor, epsilon):
    with mpmath.workdps(40):
        low, half = mpmath.mpf(floor), mpmath.mpf("0.5")
        corners_and_inside = [low, half, 1 - low, (low + half) / 2]
        for others in range(6):
            # Where the bound is attained, rounding may tell the two apart.
            bound = exact(delta_count(others + 1, floor, epsilon)) * (1 + mpmath.mpf("1e-35"))
            for each in itertools.combinations_with_replacement(corners_and_inside, others):
                assert max(true_divergences(each, epsilon)) <= bound


def test_it_is_attained_where_every_record_is_a_fair_coin():
    for others in (1, 2, 7, 40):
        for epsilon in ("0", "0.3", "1"):
            truth = true_divergences([mpmath.mpf("0.5")] * others, epsilon)
            assert truth[0] == pytest.approx(truth[1], rel=1e-12)
            found = float(delta_count(others + 1, "0.5", epsilon))
            assert found == pytest.approx(float(truth[0]), rel=1e-10)


def test_proposition_27_as_printed_is_below_what_is_true():
    # The docs say so. All fair coins: its third moment is 0 and its second 1/4.
    printed = proposition_27(1000, "0.5", "1")
    assert printed is not None
    with mpmath.workdps(60):
        truth = true_divergences([mpmath.mpf("0.5")] * 999, "1")[0]
        assert exact(printed) * 100 < truth
    assert (f"{printed:.1e}", f"{float(truth):.1e}") == ("6.5e-55", "1.3e-52")


def test_where_proposition_27_says_something():
    assert proposition_27(10**6, "0.3", "0") is None
    assert proposition_27(10**6, "0.3", "1.01") is None
    assert proposition_27(100, "0.3", "0.5") is None
    # 1.12·μ₃/(√n·μ₂³)·(1 + e^ε), where the other term is nothing.
    second = 0.3 * 0.7
    third = second * 0.4
    expected = 1.12 * third / (1000 * second**3) * (1 + 2.718281828459045)
    assert float(proposition_27(10**6, "0.3", "1")) == pytest.approx(expected, rel=1e-9)


def test_a_histogram_of_three_options_has_the_same_bound():
    # One record's option a is replaced by b; every option of the others has p >= 0.2.
    floor, epsilon, others = "0.2", "0.4", 4
    ratio = mpmath.exp(mpmath.mpf(epsilon))
    bound = exact(delta_count(others + 1, floor, epsilon))
    for laws in itertools.product([(0.2, 0.2, 0.6), (0.6, 0.2, 0.2), (0.4, 0.4, 0.2)],
                                  repeat=others):  # fmt: skip
        histogram: dict[tuple[int, ...], float] = {}
        for values in itertools.product(range(3), repeat=others):
            chance = 1.0
            for law, value in zip(laws, values, strict=True):
                chance *= law[value]
            key = tuple(values.count(option) for option in range(3))
            histogram[key] = histogram.get(key, 0) + chance
        with_a = {(a + 1, b, c): p for (a, b, c), p in histogram.items()}
        with_b = {(a, b + 1, c): p for (a, b, c), p in histogram.items()}
        keys = sorted(with_a.keys() | with_b.keys())
        for one, two in ((with_a, with_b), (with_b, with_a)):
            found = hockey_stick(
                [one.get(k, 0) for k in keys], [two.get(k, 0) for k in keys], ratio
            )
            assert found <= bound


@given(
    st.integers(1, 400),
    st.decimals("0.001", "0.499", places=3),
    st.decimals("0", "3", places=2),
)
@settings(max_examples=60, deadline=None)
def test_more_that_is_unknown_never_costs(unknown, floor, epsilon):
    found = delta_count(unknown, floor, epsilon)
    slack = 1 + Decimal("2e-11")
    assert delta_count(unknown + 1, floor, epsilon) <= found * slack
    assert delta_count(unknown, floor + Decimal("0.001"), epsilon) <= found * slack
    assert delta_count(unknown, floor, epsilon + Decimal("0.1")) <= found * slack
    assert found <= delta_chernoff(unknown, floor, epsilon) * slack


@pytest.mark.parametrize("unknown", [200, 1000, 10_000, 1_000_000])
@pytest.mark.parametrize("floor", ["0.01", "0.1", "0.3", "0.5"])
@pytest.mark.parametrize("epsilon", ["0.001", "0.05", "0.3", "1"])
def test_it_is_below_the_closed_forms(unknown, floor, epsilon):
    found = delta_count(unknown, floor, epsilon)
    assert found <= delta_chernoff(unknown, floor, epsilon)
    blanket = delta_blanket(unknown, floor, epsilon)
    assert blanket is None or found <= blanket


def test_the_closed_form_of_balle_et_al_where_it_says_something():
    # 2λ ≥ 28·ln(2/δ)/((N−1)ε²), solved for δ.
    found = delta_blanket(1001, "0.1", "1")
    assert found is not None
    needed = 28 * (Decimal(2) / found).ln() / 1000
    assert needed == pytest.approx(Decimal("0.2"), rel=Decimal("1e-10"))
    assert needed <= Decimal("0.2")
    # 2λ ≥ 54/((N−1)ε): at the border, and just below it (where δ ≤ 1 too).
    assert delta_blanket(271, "0.1", "1") is not None
    assert delta_blanket(270, "0.1", "1") is None
    # ε outside (0, 1], no other record, and a δ above 1.
    for unknown, epsilon in ((10**6, "0"), (10**6, "1.01"), (1, "1"), (1001, "0.3")):
        assert delta_blanket(unknown, "0.1", epsilon) is None
    assert delta_blanket(2001, "0.1", "0.15") is None


def test_numbers_at_the_ends_of_the_domain():
    assert delta_count(1, "0.3", "5") == 1
    assert delta_count(3, "0.1", "9") == Decimal("0.81")
    assert delta_count(2000, "0.49", "1000000000") < Decimal("1e-580")
    tiny = delta_count(10**6, "0.1", "0.5")
    assert Decimal("1.5e-2607") < tiny < Decimal("1.6e-2607")
    assert delta_count(100, "1e-300", "0.5") == 1
    near = "0.4" + "9" * 400
    half = delta_count(300, "0.5", "0.1")
    assert half <= delta_count(300, near, "0.1") <= half * (1 + Decimal("4e-11"))
    # 1/2 is what a tie of r + s and 1 would be; ε = 0 has one at every other size.
    assert delta_count(2, "0.5", "0") == Decimal("0.5")


def test_a_power_that_ends_is_not_rounded_past():
    assert delta_count(2, "0.25", "1") == Decimal("0.75")
    assert delta_count(5, "0.1", "100") == Decimal("0.6561")
    assert delta_count(40, "0.1", "100") > Decimal("0.9") ** 39


@pytest.mark.parametrize(("unknown", "most"), [(1000, 500), (10**6, 10_000), (10**8, 100_000)])
def test_the_work_grows_with_the_root_of_the_records(unknown, most):
    """A term for each size in the window, and no clock to be late by."""
    with arithmetic(Decimal("0.1")):
        low, high = _Tilt.of(unknown - 1, Decimal("0.1"), Decimal("0.01")).window()
    assert 0 < high - low < most


def test_the_numbers_together():
    found = count_numbers(1000, 0.1, 0.5)
    assert (found.unknown, found.floor, found.epsilon) == (1000, Decimal("0.1"), Decimal("0.5"))
    assert delta_count(1000, "0.1", "0.5") < found.delta <= found.delta_chernoff
    assert found.delta_blanket is not None
    assert count_numbers(1000, "0.1", "2").delta_blanket is None
    # Where the closed form and the claim are one number, the closed form is not below it.
    same = count_numbers(100, "0.1", "1000")
    assert same.delta == same.delta_chernoff


@pytest.mark.parametrize("found", [0, -1, 10**9 + 1, True, 1.5, "10", None])
def test_records_that_no_count_has(found):
    with pytest.raises(DomainError) as error:
        unknown_records(found)
    assert str(error.value).startswith("unknown must be an integer from 1 to 1000000000, found ")
    with pytest.raises(DomainError, match="unknown must be"):
        count_numbers(found, "0.1", "1")


@pytest.mark.parametrize(
    "found", ["0", "0.51", "-0.1", "1e-301", "nan", "x", True, None, "0.1" + "1" * 600]
)
def test_uncertainty_that_no_record_has(found):
    with pytest.raises(DomainError) as error:
        least_uncertainty(found)
    assert error.value.parameter == "lambda"
    assert "a number above 0 (by at least 1e-300) and at most 1/2, found " in str(error.value)
    with pytest.raises(DomainError, match="lambda must be"):
        delta_blanket(10, found, "1")


def test_epsilon_is_not_below_zero():
    for function in (delta_count, delta_chernoff, delta_blanket, count_numbers):
        with pytest.raises(DomainError, match="epsilon must be a finite number from 0"):
            function(10, "0.1", "-1")


@pytest.mark.parametrize("floor", ["1e-300", "0.5", "0." + "1" * 600])
def test_the_ends_of_the_domain_belong_to_it(floor):
    assert least_uncertainty(floor) == Decimal(floor)
    assert [unknown_records(n) for n in (1, 10**9)] == [1, 10**9]


def test_chernoff_at_both_ends_is_the_chance_itself():
    with arithmetic(Decimal("0.3")):
        tilt = _Tilt(50, Decimal("0.3"), Decimal(1))
        for size, true in ((0, Decimal("0.7") ** 50), (50, Decimal("0.3") ** 50)):
            assert abs(tilt._chernoff(size) / true - 1) < Decimal("1e-50")
        # Between them it is above the tail: Pr[Bin ≤ 5], Pr[Bin ≥ 30].
        law = [comb(50, j) * Decimal("0.3") ** j * Decimal("0.7") ** (50 - j) for j in range(51)]
        assert sum(law[:6]) < tilt._chernoff(5) < 10 * sum(law[:6])
        assert sum(law[30:]) < tilt._chernoff(30) < 10 * sum(law[30:])


def test_what_lies_outside_a_window_is_counted_on_either_side():
    with arithmetic(Decimal("0.3")):
        tilt = _Tilt(50, Decimal("0.3"), Decimal("0.5"))
        assert tilt.outside(0, 50) == 0
        assert tilt.outside(1, 50) == tilt._chernoff(0) / 2
        assert tilt.outside(6, 50) == tilt._chernoff(5) / 2
        assert tilt.outside(0, 49) == tilt._chernoff(50) / 2
        assert tilt.outside(6, 29) == (tilt._chernoff(5) + tilt._chernoff(30)) / 2


@pytest.mark.parametrize(
    ("unknown", "floor", "epsilon"), [(10**7, "0.1", "0.001"), (10**8, "0.3", "0.0004")]
)
def test_proposition_27_where_both_its_terms_count(unknown, floor, epsilon):
    p, eps = mpmath.mpf(floor), mpmath.mpf(epsilon)
    second, third = p * (1 - p), p * (1 - p) * (1 - 2 * p)
    normal = mpmath.mpf("1.25") * mpmath.exp(-unknown * second * eps**2 / 2)
    rest = mpmath.mpf("1.12") * third / (mpmath.sqrt(unknown) * second**3) * (1 + mpmath.exp(eps))
    assert normal > mpmath.mpf("1e-3")
    assert rest > mpmath.mpf("1e-3")
    found = mpmath.mpf(str(proposition_27(unknown, floor, epsilon)))
    assert found == pytest.approx(normal + rest, rel=1e-10)

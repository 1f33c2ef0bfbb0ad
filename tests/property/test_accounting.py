"""Laws of the curve over random policies."""

from __future__ import annotations

from decimal import Decimal

from hypothesis import given, settings
from hypothesis import strategies as st

from policy_engine.accounting.bounds import compose_basic
from policy_engine.accounting.calibration import greatest_rate, least_k
from policy_engine.accounting.curve import delta_add, delta_remove
from policy_engine.accounting.exact import delta_exact

KS = st.integers(2, 60)
RATES = st.integers(1, 999).map(lambda n: Decimal(n) / 1000)
EPSILONS = st.integers(0, 3000).map(lambda n: Decimal(n) / 1000)
# How far a bound may be above the true value: equal values may round differently.
SHARE = 1 + Decimal("2e-11")
DELTAS = st.integers(2, 30).map(lambda n: Decimal(10) ** -n)


@settings(deadline=None)
@given(KS, RATES, EPSILONS, EPSILONS)
def test_falls_in_epsilon(k: int, rate: Decimal, one: Decimal, other: Decimal) -> None:
    for curve in (delta_remove, delta_add):
        low, high = curve(k, rate, min(one, other) - 1), curve(k, rate, max(one, other) - 1)
        assert high.delta <= low.delta * SHARE


@settings(deadline=None)
@given(KS, KS, RATES, EPSILONS)
def test_falls_in_k(one: int, other: int, rate: Decimal, epsilon: Decimal) -> None:
    for curve in (delta_remove, delta_add):
        smaller, larger = sorted((one, other))
        assert curve(larger, rate, epsilon).delta <= curve(smaller, rate, epsilon).delta


@settings(deadline=None)
@given(KS, RATES, RATES, EPSILONS)
def test_rises_in_rate_at_least_in_proportion(
    k: int, one: Decimal, other: Decimal, epsilon: Decimal
) -> None:
    low, high = sorted((one, other))
    more = delta_exact(k, high, epsilon).delta * low / high
    assert delta_exact(k, low, epsilon).delta <= more * (1 + Decimal("1e-10"))


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 20), RATES, RATES, EPSILONS)
def test_replace_one_is_above_add_remove_and_rises(
    k: int, one: Decimal, other: Decimal, epsilon: Decimal
) -> None:
    low, high = (delta_exact(k, r, epsilon, "replace_one").delta for r in sorted((one, other)))
    assert delta_exact(k, min(one, other), epsilon).delta <= low
    assert low <= high * Decimal("1.001")


@settings(deadline=None)
@given(st.lists(st.tuples(EPSILONS, DELTAS), max_size=5), EPSILONS, DELTAS)
def test_composition_only_adds(
    spent: list[tuple[Decimal, Decimal]], epsilon: Decimal, delta: Decimal
) -> None:
    before, after = compose_basic(spent), compose_basic([*spent, (epsilon, delta)])
    assert after[0] >= before[0]
    assert after[1] >= max(before[1], delta)
    assert after[1] >= sum(share for _, share in spent) + delta


@settings(max_examples=25, deadline=None)
@given(RATES.map(lambda r: r * Decimal("0.9")), EPSILONS.map(lambda e: e + Decimal("0.2")), DELTAS)
def test_least_k_and_greatest_rate_agree(rate: Decimal, epsilon: Decimal, delta: Decimal) -> None:
    k = least_k(epsilon, delta, rate)
    assert delta_exact(k, rate, epsilon).delta <= delta
    assert k == 2 or delta_exact(k - 1, rate, epsilon).delta > delta
    assert greatest_rate(epsilon, delta, k) >= rate

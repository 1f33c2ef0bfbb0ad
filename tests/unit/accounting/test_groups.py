"""Groups against direct summation, in one cell and spread over several."""

from __future__ import annotations

import math
from decimal import Decimal
from functools import cache
from typing import Any

import mpmath
import numpy as np
import pytest
from scipy.stats import nbinom

from policy_engine.accounting.bounds import group as generic
from policy_engine.accounting.curve import larger_direction
from policy_engine.accounting.domain import arithmetic
from policy_engine.accounting.events import SampledSuppression
from policy_engine.accounting.exact import delta_exact, epsilon_exact
from policy_engine.accounting.groups import _add, _missed, _reached, delta_group
from policy_engine.accounting.losses import Composition
from policy_engine.accounting.pairs import pairs_of
from policy_engine.errors import DomainError

from .brute import Law, cells, divergence, law


def both(p: Any, q: Any, epsilon: mpmath.mpf) -> mpmath.mpf:
    return max(divergence(p, q, epsilon), divergence(q, p, epsilon))


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("rate", ["0.15", "0.4", "0.75"])
@pytest.mark.parametrize("epsilon", ["0", "0.3", "3", *(
    pytest.param(each, marks=pytest.mark.evidence) for each in ("0.05", "1"))])  # fmt: skip
@pytest.mark.parametrize("units", [2, 3])
def test_one_cell_by_direct_summation(k: int, rate: str, epsilon: str, units: int) -> None:
    share, eps = mpmath.mpf(rate), mpmath.mpf(epsilon)
    found = delta_group(k, rate, epsilon, units)
    most = 45
    if found.at_n is not None and found.at_n <= most:
        laws = [law(k, n, share) for n in range(most + 1)]
        true = max(both(laws[n], laws[n - units], eps) for n in range(units, most + 1))
        value = mpmath.mpf(str(found.delta))
        assert true <= value * (1 + mpmath.mpf("1e-14"))
        assert value <= true * (1 + mpmath.mpf("2e-11"))


@pytest.mark.parametrize("rate", ["0.2", "0.6"])
@pytest.mark.parametrize("epsilon", ["0", "0.1", "0.4", "1.2"])
@pytest.mark.parametrize("others", [(0, 0, 0), (1, 3, 0), (4, 2, 6), (7, 7, 7)])
def test_no_arrangement_over_cells_is_worse(
    rate: str, epsilon: str, others: tuple[int, ...]
) -> None:
    share, eps = mpmath.mpf(rate), mpmath.mpf(epsilon)
    for k in (2, 3):
        for spread in ((2, 1, 0), (1, 1, 1), (2, 0, 1)):
            inside = cells([law(k, n + m, share) for n, m in zip(others, spread, strict=True)])
            outside = cells([law(k, n, share) for n in others])
            bound = mpmath.mpf(str(delta_group(k, rate, epsilon, 3).delta))
            assert both(inside, outside, eps) <= bound * (1 + mpmath.mpf("1e-14"))


def test_between_one_unit_and_the_generic_bound() -> None:
    for units in (2, 5, 40):
        each = delta_exact(20, "0.1", Decimal(1) / units).delta
        found = delta_group(20, "0.1", "1", units).delta
        assert larger_direction(20, "0.1", "1").delta < found
        assert found <= generic(Decimal(1) / units, each, units)[1]


def test_one_unit_is_the_curve() -> None:
    assert delta_group(20, "0.1", "0.5", 1) == delta_exact(20, "0.1", "0.5")


def test_add_can_be_the_larger() -> None:
    # By symmetry both are equal at ε = 0; what is above it comes from remove.
    found = delta_group(3, "0.5", "0.001", 4)
    assert found.at_n is not None
    assert delta_group(3, "0.999", "25", 2).delta > 0


def test_groups_of_replaced_units() -> None:
    together = delta_exact(20, "0.1", "0.5", "replace_one", 3)
    assert together.at_n is None
    assert delta_group(20, "0.1", "0.5", 3).delta < together.delta
    each = Decimal("0.5") / 3
    single = delta_exact(20, "0.1", each, "replace_one").delta
    assert together.delta <= generic(each, single, 3)[1] * Decimal("1.000001")


@pytest.mark.parametrize("neighbours", ["add_remove", "replace_one"])
def test_epsilon_of_a_group(neighbours: str) -> None:
    found = epsilon_exact(20, "0.1", "1e-6", neighbours, 2)
    assert delta_exact(20, "0.1", found, neighbours, 2).delta <= Decimal("1e-6")


def test_what_no_epsilon_lowers() -> None:
    with pytest.raises(DomainError, match=r"delta must be at least 5\.74743600001E-12, which no"):
        epsilon_exact(8, "0.03", "1e-12", group=2)


@pytest.mark.parametrize("units", [0, 10_001, True, "2"])
def test_domain(units: object) -> None:
    with pytest.raises(DomainError, match="group must be an integer"):
        delta_group(20, "0.1", "0.5", units)  # type: ignore[arg-type]


@cache
def first_laws(rate: str) -> list[Law]:
    return [law(3, n, mpmath.mpf(rate)) for n in range(60)]


@pytest.mark.parametrize("rate", ["0.25", "0.4", "0.75"])
@pytest.mark.parametrize("epsilon", ["0", "0.05", "0.2", "0.9"])
@pytest.mark.parametrize("units", [2, 3])
def test_the_add_direction_alone(rate: str, epsilon: str, units: int) -> None:
    """Nowhere is it seen to be the larger, so only this tells whether it is right."""
    share, eps = Decimal(rate), Decimal(epsilon)
    with arithmetic(share, eps, room=40):
        found = _add(3, share, eps.exp(), units)
    scale = mpmath.mpf(epsilon)
    laws = first_laws(rate)
    true = max(divergence(laws[n - units], laws[n], scale) for n in range(units, 60))
    if found.at_n is None:
        assert found.delta == 0
        assert true == 0
    else:
        assert found.at_n < 60
        value = mpmath.mpf(str(found.delta))
        assert true <= value * (1 + mpmath.mpf("1e-14"))
        assert value <= true * (1 + mpmath.mpf("2e-11"))


@pytest.mark.parametrize(("k", "rate", "epsilon"), [(3, 0.4, 0.3), (5, 0.2, 0.0), (2, 0.6, 1.0)])
def test_replaced_units_by_the_product_of_places(k: int, rate: float, epsilon: float) -> None:
    """(T, T+2) for the units that leave and (T+2, T) for those that come, outcome by outcome."""
    at = np.arange(k, 300)
    present, absent = nbinom.pmf(at - k, k, rate), nbinom.pmf(at - 2 - k, k, rate)
    before, after = np.outer(present, absent), np.outer(absent, present)
    true = np.maximum(before - math.exp(epsilon) * after, 0.0).sum()
    pairs = pairs_of(SampledSuppression(k, str(rate)), "replace_one", 2)
    found = float(Composition((pair, 1) for pair in pairs).delta(Decimal(str(epsilon))))
    assert true * (1 - 1e-9) <= found <= true * 1.001


@pytest.mark.parametrize("rate", ["0.4", "0.9"])
def test_the_least_cell_that_can_be_reached(rate: str) -> None:
    share = Decimal(rate)
    with arithmetic(share, room=40):
        assert 0 <= _reached(3, share, 3) / share**3 - 1 < Decimal("1e-25")
        assert _reached(3, share, 2) == 0
        assert _missed(3, share, 2) == 1
        assert 0 <= _missed(3, share, 3) / (1 - share**3) - 1 < Decimal("1e-25")


def test_a_delta_is_at_most_one() -> None:
    assert delta_group(2, "0.999", 9, 50).delta == 1
    assert delta_group(2, "0.999", 0, 50).delta == 1

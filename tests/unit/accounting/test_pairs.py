"""The dominating pairs themselves: their masses under both laws, and the block of far places."""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np
import pytest
from scipy.stats import nbinom

from policy_engine.accounting import pairs
from policy_engine.accounting.binomial import point
from policy_engine.accounting.domain import ADD_REMOVE, REPLACE_ONE, arithmetic
from policy_engine.accounting.events import (
    ApproximateDP,
    DiscreteLaplace,
    Event,
    PureDP,
    RandomisedResponse,
    SampledSuppression,
)

ROOM = 3 * pairs.GUARD


def masses(pair: pairs.Pair) -> tuple[float, float]:
    """All of it under the first law, and under the second."""
    first = np.exp(pair.log_masses)
    second = np.exp(pair.log_masses - pair.losses)
    return first.sum() + float(pair.only_first), second.sum() + float(pair.only_second)


def divergence(pair: pairs.Pair, epsilon: float) -> float:
    beyond = np.exp(pair.log_masses) * -np.expm1(-np.maximum(pair.losses - epsilon, 0.0))
    return float(beyond.sum()) + float(pair.only_first)


@pytest.mark.parametrize(
    "event",
    [
        PureDP("0.7"),
        PureDP(0),
        ApproximateDP("0.7", "0.01"),
        *[DiscreteLaplace("1.5", sensitivity) for sensitivity in (1, 2, 3, 7)],
        *[RandomisedResponse("0.3", values) for values in (2, 3, 9)],
        SampledSuppression(2, "0.9"),
        SampledSuppression(20, "0.1"),
    ],
    ids=repr,
)
def test_both_laws_are_laws(event: Event) -> None:
    for pair in pairs.pairs_of(event, REPLACE_ONE):
        for turned in (pair, pair.reversed()):
            for mass in masses(turned):
                assert abs(mass - 1) <= ROOM


@pytest.mark.parametrize("group", [1, 2, 5])
@pytest.mark.parametrize(("k", "rate"), [(2, 0.6), (3, 0.05), (8, 0.3)])
@pytest.mark.parametrize("most", [None, 40])
def test_places_beside_those_of_scipy(
    k: int, rate: float, group: int, most: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From above with whatever is left in one block, and with nothing left to a 1e-8 share."""
    if most:
        monkeypatch.setattr(pairs, "_REACHES", ((690.0, most), (100.0, most)))
    [pair] = pairs.pairs_of(SampledSuppression(k, str(rate)), ADD_REMOVE, group)
    for mass in masses(pair):
        assert abs(mass - 1) <= ROOM
    at = np.arange(k, k + 4000)
    present, absent = nbinom.pmf(at - k, k, rate), nbinom.pmf(at - group - k, k, rate)
    for turned, one, other in ((pair, present, absent), (pair.reversed(), absent, present)):
        for epsilon in (-0.2, 0.0, 0.1, 0.5, 2.0):
            true = np.maximum(one - math.exp(epsilon) * other, 0.0).sum()
            assert divergence(turned, epsilon) >= true - 1e-13
            if not most:
                assert divergence(turned, epsilon) <= true * (1 + 1e-8) + ROOM


def test_what_is_certain_is_that_all_who_are_left_are_too_few() -> None:
    """The k-th sampled copy is one of the first k+m−1: with m fewer there is none."""
    for group in (1, 2, 3):
        [pair] = pairs.pairs_of(SampledSuppression(3, "0.4"), ADD_REMOVE, group)
        true = Decimal(str(nbinom.cdf(group - 1, 3, 0.4)))
        assert abs(pair.only_first / true - 1) < Decimal("1e-12")
        assert pair.only_second == 0


@pytest.mark.parametrize(("k", "rate"), [(2, "0.3"), (20, "0.001"), (500, "0.01")])
def test_the_guard_is_ten_times_what_the_masses_err_by(k: int, rate: str) -> None:
    [pair] = pairs.pairs_of(SampledSuppression(k, rate), ADD_REMOVE)
    assert abs(masses(pair)[0] - 1 - pairs.GUARD * math.exp(pair.log_masses[-1])) < 1e-10
    with arithmetic(Decimal(rate), room=40):
        logs = pairs._log_law(k, Decimal(rate), 60 * k)
        for place in (k, k + 1, 2 * k, 17 * k, 60 * k):
            true = point(k - 1, place - 1, Decimal(rate)) * Decimal(rate)
            error = abs(Decimal(math.exp(logs[place - k])) / true - 1) if true > 1e-300 else 0
            assert 10 * error < Decimal("1e-9") <= Decimal(pairs.GUARD) * Decimal("1.000001")

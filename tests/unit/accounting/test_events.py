"""What may be charged: the ends of each domain, and one step beyond them."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

import pytest

from policy_engine.accounting.events import (
    ApproximateDP,
    DiscreteLaplace,
    Partitioned,
    PureDP,
    RandomisedResponse,
    SampledSuppression,
)
from policy_engine.errors import DomainError


@pytest.mark.parametrize(
    ("scale", "sensitivity"), [("1e-6", 1), ("0.001", 1000), ("1e9", 10**5), ("0.1", 10**5), (1, 1)]
)
def test_noise_at_the_ends(scale: str, sensitivity: int) -> None:
    made = DiscreteLaplace(scale, sensitivity)
    assert (made.scale, made.sensitivity) == (Decimal(scale), sensitivity)


@pytest.mark.parametrize(
    ("scale", "sensitivity", "message"),
    [
        ("9e-10", 1, "scale must be a number from 1e-9 to 1e9, found 9e-10"),
        ("1000000001", 1, "scale must be a number from 1e-9 to 1e9, found 1000000001"),
        ("1e9", 10**5 + 1, "sensitivity must be an integer from 1 to 100000, found 100001"),
        (1, 0, "sensitivity must be an integer of at least 1, found 0"),
        ("1e-9", 1, "sensitivity must be at most 1000000 times the scale, found 1"),
        ("0.001", 1001, "sensitivity must be at most 1000000 times the scale, found 1001"),
    ],
)
def test_noise_beyond_them(scale: str, sensitivity: int, message: str) -> None:
    with pytest.raises(DomainError) as caught:
        DiscreteLaplace(scale, sensitivity)
    assert str(caught.value) == message


@pytest.mark.parametrize(("truth", "values"), [("1e-9", 2), ("0.999999999", 10**9)])
def test_an_answer_at_the_ends(truth: str, values: int) -> None:
    made = RandomisedResponse(truth, values)
    assert (made.truth, made.values) == (Decimal(truth), values)


@pytest.mark.parametrize(
    ("truth", "values", "message"),
    [
        ("9e-10", 2, "truth must be a number from 1e-9 to 1 - 1e-9, found 9e-10"),
        ("0.9999999991", 2, "truth must be a number from 1e-9 to 1 - 1e-9, found 0.9999999991"),
        ("0.5", 1, "values must be an integer from 2 to 1000000000, found 1"),
        ("0.5", 10**9 + 1, "values must be an integer from 2 to 1000000000, found 1000000001"),
    ],
)
def test_an_answer_beyond_them(truth: str, values: int, message: str) -> None:
    with pytest.raises(DomainError) as caught:
        RandomisedResponse(truth, values)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    "make",
    [
        lambda: SampledSuppression(1, "0.1"),
        lambda: SampledSuppression(2, 1),
        lambda: PureDP(-1),
        lambda: ApproximateDP(-1, "0.1"),
        lambda: ApproximateDP(1, 0),
        lambda: Partitioned(()),
        lambda: Partitioned(((PureDP(1),), ())),
    ],
)
def test_refused(make: Callable[[], object]) -> None:
    with pytest.raises(DomainError):
        make()


def test_events_keep_decimals_whatever_was_given() -> None:
    assert DiscreteLaplace(2) == DiscreteLaplace("2", 1)
    assert PureDP(0.5).epsilon == Decimal("0.5")
    assert PureDP(0).epsilon == 0
    given = ApproximateDP(0.5, 1e-9)
    assert (given.epsilon, given.delta) == (Decimal("0.5"), Decimal("1e-9"))
    assert repr(given) == repr(ApproximateDP("0.5", Decimal("1e-9")))
    assert Partitioned([[PureDP(1)]]) == Partitioned(((PureDP(1),),))  # type: ignore[list-item,arg-type]
    assert hash(Partitioned([[PureDP(1)]]))  # type: ignore[list-item,arg-type]

"""The curve against ball arithmetic over a wide random grid, and its supremum over n."""

from __future__ import annotations

import random
from collections.abc import Iterator
from decimal import Decimal

import pytest
from flint import arb, ctx

from policy_engine.accounting.curve import Bound, delta_add, delta_remove
from policy_engine.accounting.groups import delta_group

POINTS = 120
"""k from 2 to 10,000, β from 10⁻⁶ to 0.999, ε from 10⁻³ to 20, both signs."""


@pytest.fixture(autouse=True)
def _precision() -> Iterator[None]:
    before, ctx.prec = ctx.prec, 500
    yield
    ctx.prec = before


def grid() -> list[tuple[int, str, str]]:
    chance = random.Random(20261121)
    return [
        (
            round(2 * 5000 ** chance.random()),
            f"{10 ** chance.uniform(-6, -0.000435):.12f}",
            f"{10 ** chance.uniform(-3, 1.30103):.12f}",
        )
        for _ in range(POINTS)
    ]


def summed(j: int, n: int, beta: arb, step: int) -> arb:
    """Σ of the binomial point probabilities from j upwards or downwards, as a ball."""
    log = arb(n + 1).lgamma() - arb(j + 1).lgamma() - arb(n - j + 1).lgamma()
    term = (log + j * beta.log() + (n - j) * (1 - beta).log()).exp()
    odds, total = beta / (1 - beta), arb(0)
    while 0 <= j <= n:
        total += term
        ratio = odds * (n - j) / (j + 1) if step > 0 else arb(j) / (odds * (n - j + 1))
        term *= ratio
        j += step
        if ratio < 1 and term < total * arb("1e-60"):
            # The ratio only falls, so what is left is below a geometric series.
            return total + arb(0).union(term / (1 - ratio))
    return total


def missed(k: int, n: int, beta: arb) -> arb:
    """Pr[Bin(n, β) < k]."""
    if n < k:
        return arb(1)
    return summed(k - 1, n, beta, -1) if beta * n > k else 1 - summed(k, n, beta, 1)


def reached(k: int, n: int, beta: arb) -> arb:
    """Pr[Bin(n, β) ≥ k]."""
    if n < k:
        return arb(0)
    return 1 - summed(k - 1, n, beta, -1) if beta * n > k else summed(k, n, beta, 1)


def remove(k: int, n: int, beta: arb, ratio: arb, group: int = 1) -> arb:
    return reached(k, n, beta) - ratio * reached(k, n - group, beta)


def add(k: int, n: int, beta: arb, ratio: arb, group: int = 1) -> arb:
    return missed(k, n - group, beta) - ratio * missed(k, n, beta)


def above(bound: Decimal, ball: arb, share: str = "3e-11") -> bool:
    """The bound is certainly not below the ball, and above it by less than the share."""
    value = arb(str(bound))
    return bool(value >= ball.lower() and value <= ball.upper() * (1 + arb(share)))


@pytest.mark.parametrize("point", grid(), ids=str)
def test_within_3e_11_and_never_below(point: tuple[int, str, str]) -> None:
    k, rate, epsilon = point
    beta, ratio = arb(rate), arb(epsilon).exp()
    for bound, direction in ((delta_remove, remove), (delta_add, add)):
        found = bound(k, rate, epsilon)
        if found.at_n is None:
            assert found.delta == 0
            assert ratio * (1 - beta) >= 1
            continue
        true = direction(k, found.at_n, beta, ratio)
        if not true > 0:  # more digits cancel than these balls have
            assert found.delta < Decimal("1e-50")
            continue
        assert above(found.delta, true)
        assert found.delta > 0
        # The supremum over n: no other size is worse, near or far.
        for n in sizes(k, found):
            assert not direction(k, n, beta, ratio) > arb(str(found.delta))


def sizes(k: int, found: Bound) -> list[int]:
    n = found.at_n or k
    return [max(k, n + step) for step in (-1000, -10, -2, -1, 1, 2, 10, 1000)] + [2 * n]


@pytest.mark.parametrize("point", grid()[::4], ids=str)
def test_negative_epsilon(point: tuple[int, str, str]) -> None:
    """H_a of P against Q for a < 1, at the size that is worst for the dual."""
    k, rate, epsilon = point
    beta, ratio = arb(rate), (-arb(epsilon)).exp()
    found = delta_remove(k, rate, f"-{epsilon}")
    if found.at_n is None:
        assert above(found.delta, 1 - ratio)
    else:
        true = 1 - ratio + ratio * add(k, found.at_n, beta, 1 / ratio)
        assert above(found.delta, true)


@pytest.mark.parametrize("point", grid()[1::4], ids=str)
@pytest.mark.parametrize("group", [2, 50])
def test_groups(point: tuple[int, str, str], group: int) -> None:
    k, rate, epsilon = point
    found = delta_group(k, rate, epsilon, group)
    n = found.at_n
    assert n is not None
    beta, ratio = arb(rate), arb(epsilon).exp()
    there = [direction(k, n, beta, ratio, group) for direction in (remove, add)]
    assert any(not ball > 0 or above(found.delta, ball) for ball in there)
    assert not any(ball > arb(str(found.delta)) for ball in there)
    for near in (n - 2, n - 1, n + 1, n + 2):
        for direction in (remove, add):
            assert not direction(k, near, beta, ratio, group) > arb(str(found.delta))

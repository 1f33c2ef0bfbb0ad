"""Sums of losses on a grid beside what they are by definition."""

from __future__ import annotations

import random
from decimal import Decimal

import pytest

from policy_engine.accounting import powers
from policy_engine.accounting.domain import arithmetic
from policy_engine.accounting.noise import WHOLE, Statistic
from policy_engine.accounting.noise_laws import gaussian, laplace
from policy_engine.accounting.powers import GridLaw, compose

_UNIT = 10**32


def _written_out(law: GridLaw, epsilon: Decimal) -> Decimal:
    """δ of a law by every pair of points of its two parts."""
    with arithmetic(epsilon):
        total = Decimal(0)
        for i, mass in enumerate(law.left.masses, law.left.first):
            for j, other in enumerate(law.right.masses, law.right.first):
                if (loss := (i + j) * law.step) > epsilon:
                    total += Decimal(mass * other) / _UNIT**2 * (1 - (epsilon - loss).exp())
        return total + law.certain


@pytest.mark.parametrize("times", [1, 2, 3, 5])
@pytest.mark.parametrize("steps", [Statistic(laplace("0.4", 20)).steps(), [(1, 0), (9, 1), (2, 6)]])
def test_delta_is_that_of_every_pair_of_points(steps, times) -> None:
    law = compose([(steps, times)], sum(p for p, _ in steps), 24)
    assert (len(law.right.masses) > 1) == (times > 1)
    for epsilon in ("0", "0.1", "0.4", "1", "1.6", "3", "40"):
        found, true = law.delta(Decimal(epsilon)), _written_out(law, Decimal(epsilon))
        assert true <= found <= true * (1 + Decimal("1e-11"))


def test_of_several_factors_each_counts_as_often_as_it_is_there() -> None:
    pairs = [(Statistic(gaussian(3, 11)).steps(), 5), (Statistic(laplace("0.2", 40)).steps(), 3)]
    law = compose(pairs, WHOLE, 64)
    assert law.left.times + law.right.times == 8
    alone = [compose([each], WHOLE, 64) for each in pairs]
    assert law.certain >= max(each.certain for each in alone)
    for epsilon in (Decimal(0), Decimal("0.5"), Decimal(2)):
        assert law.delta(epsilon) >= max(each.delta(epsilon) for each in alone)


def test_a_place_is_the_exact_one_next_to_a_point_too() -> None:
    seeded = random.Random(19)
    for _ in range(300):
        p, q = seeded.randrange(1, WHOLE), seeded.randrange(1, WHOLE)
        loss = powers._loss(p, q)
        parts = seeded.choice([1, 3, 1000, 12345])
        for grid in (loss / parts, loss / parts * (1 + 1e-15), loss / parts * (1 - 1e-15), 0.01):
            with arithmetic(Decimal(1)):
                step = Decimal(abs(grid))
                found = powers._place((p, q), loss / float(step), step)
                assert found * step <= (Decimal(p) / q).ln() < (found + 1) * step


@pytest.mark.parametrize(("p", "q"), [(1, WHOLE), (WHOLE - 1, WHOLE), (7, 7), (3, 1), (WHOLE, 1)])
def test_a_loss_is_right_next_to_0_too(p, q) -> None:
    with arithmetic(Decimal(1)):
        true = (Decimal(p) / q).ln()
        assert abs(Decimal(powers._loss(p, q)) - true) <= Decimal("1e-15") * abs(true)


def test_what_is_heavy_does_not_lie_just_above_a_point() -> None:
    """It lies on it, or a little below; just above, a share of it would be beyond the largest."""
    for bound in range(20, 60):
        steps = Statistic(laplace(Decimal(bound) / 97, 30)).steps()
        both = [(p, q) for p, q in steps if p and q]
        losses = [powers._loss(p, q) for p, q in both]
        step = powers._step([(both, 1)], [losses], WHOLE, 128)
        place = abs(losses[max(range(len(both)), key=both.__getitem__)]) / float(step)
        assert -1e-12 < place - round(place) <= 0

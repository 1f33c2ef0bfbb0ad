"""The second route to δ of many numbers: bounds that hold every outcome's sum, and lie near it."""

from __future__ import annotations

import random
from decimal import Decimal
from fractions import Fraction
from itertools import product
from math import prod

import pytest

from policy_engine.accounting.noise import Statistic, delta_of_release
from policy_engine.accounting.noise_laws import gaussian, laplace, place, tilted
from policy_engine.second_route import brute_product as module
from policy_engine.second_route.brute_force import brute_noise
from policy_engine.second_route.brute_product import APART, NoisyNumber, brute_product

WHOLE = 1 << 60
NOTIONS = pytest.mark.parametrize("replaces", [False, True])
MOVES = {(1, 0): "up", (0, 1): "down", (1, 1): "either"}


def summed(pairs, epsilon):
    """H at e^ε of the product, outcome by outcome, the larger of both directions."""
    scale, ways = Fraction(Decimal(epsilon).exp()), []
    for way in (pairs, [[(q, p) for p, q in pair] for pair in pairs]):
        excess = Fraction(0)
        for outcome in product(*way):
            p, q = (prod(step[at] for step in outcome) for at in (0, 1))
            excess += max(0, p - scale * q)
        ways.append(excess / WHOLE ** len(pairs))
    return max(ways)


def bounds(numbers, epsilon, *, replaces=False):
    found = brute_product(numbers, Decimal(epsilon), replaces=replaces)
    assert found is not None
    assert found.whole
    return found.delta * (1 - found.error), found.delta


@pytest.mark.parametrize("epsilon", ["0", "0.4", "1", "3"])
@NOTIONS
def test_the_sum_of_all_outcomes_lies_between(epsilon, replaces):
    chance = random.Random(5)
    for _ in range(8):
        entries = [tuple(sorted(chance.sample(range(1, WHOLE), 5))) for _ in range(2)]
        true = brute_noise(entries, Decimal(epsilon), is_open=False, replaces=replaces)
        low, high = bounds([*map(NoisyNumber, entries)], epsilon, replaces=replaces)
        assert low <= true.delta <= high


@pytest.mark.parametrize("sides", [(1, 0), (0, 1), (1, 1)])
def test_a_count_and_a_sum_go_their_own_ways(sides):
    """One-sided tables: what goes down is not what goes up."""
    table, turned = (4 << 57, 7 << 57), (1 << 57, 4 << 57)
    up, down = sides
    low, high = bounds([NoisyNumber(table), NoisyNumber(turned, up, down)], "0.5")
    moved = [[*zip((0, *masses(table)), (*masses(table), 0), strict=True)]]
    ways = []
    for there in ([(0, *masses(turned)), (*masses(turned), 0)],) * up + (
        [(*masses(turned), 0), (0, *masses(turned))],
    ) * down:
        ways.append(summed([*moved, [*zip(*there, strict=True)]], "0.5"))
    assert Fraction(low) <= max(ways) <= Fraction(high)


def masses(entries):
    return [high - low for low, high in zip((0, *entries), (*entries, WHOLE), strict=True)]


REAL = [
    ([Statistic(laplace("0.25", 60), groups=4)], "1"),
    ([Statistic(gaussian(20, 100), groups=10)], "1"),
    ([Statistic(place(20, "0.1"), groups=3)], "1"),
    ([Statistic(laplace("0.1", 150)), Statistic(laplace("0.025", 300), 20, 1, "either")], "0.7"),
    ([Statistic(laplace("0.1", 150), groups=3), Statistic(laplace("0.025", 400), 20, 3)], "2"),
    (
        [
            Statistic(tilted(1, 13, "1e-6"), groups=2),
            Statistic(laplace("0.5", 50), 2, 1, moves="down"),
        ],
        "2.5",
    ),
    ([Statistic(laplace("0.01", 3000), groups=60)], "1"),
]


@pytest.mark.parametrize("number", range(len(REAL)))
@NOTIONS
def test_the_accountant_lies_between_or_little_above(number, replaces):
    """Both routes, which share no code, of what policies ask for."""
    statistics, epsilon = REAL[number]
    numbers = []
    for each in statistics:
        up = each.shift if each.moves != "down" else 0
        down = each.shift if each.moves != "up" else 0
        is_open = each.table.is_open
        numbers.append(NoisyNumber(each.table.entries, up, down, each.groups, is_open))
    found = brute_product(numbers, Decimal(epsilon), replaces=replaces)
    assert found.error < Decimal("0.005")
    times = sum(each.groups for each in statistics) * (1 + replaces)
    assert found.sizes.startswith(f"the product of {times} numbers, between bounds that lie ")
    notion = "replace_one" if replaces else "add_remove"
    delta = delta_of_release(statistics, epsilon, notion).delta
    assert found.delta * (1 - found.error) <= delta <= found.delta * Decimal("1.00001")


def test_laws_that_have_nothing_in_common_give_all_away():
    low, high = bounds([NoisyNumber((1 << 59,), up=2)], "1")
    assert (round(low, 6), high) == (1, 1)
    assert bounds([NoisyNumber((1 << 59,), up=2), NoisyNumber((1 << 59,))], "1")[1] == 1


def test_a_grid_alone_lies_between_too(monkeypatch):
    monkeypatch.setattr(module, "_MOST_OUTCOMES", -1)
    assert bounds([NoisyNumber((1 << 59,), up=2), NoisyNumber((1 << 59,))], "1")[1] == 1


def test_what_cannot_be_told(monkeypatch):
    entries = laplace(1, 14).entries
    assert brute_product([NoisyNumber(entries)], Decimal(601), replaces=False) is None
    assert brute_product([NoisyNumber(entries, up=10**6)], Decimal(1), replaces=False) is None
    monkeypatch.setattr(module, "_MOST_WORK", 1)
    monkeypatch.setattr(module, "_MOST_OUTCOMES", 1)
    assert brute_product([NoisyNumber(entries)], Decimal(1), replaces=False) is None


def test_bounds_that_lie_far_apart_say_nothing(monkeypatch):
    numbers = [NoisyNumber(gaussian(20, 100).entries, times=10)]
    monkeypatch.setattr(module, "_POINTS", (16, 32, 64))
    assert brute_product(numbers, Decimal(1), replaces=False) is None
    assert APART < 1


def test_outcomes_beyond_the_grid_are_raised(monkeypatch):
    """A grid that is much too narrow still gives an upper bound."""
    monkeypatch.setattr(module, "_ABOVE", -0.2)
    numbers = [NoisyNumber(gaussian(2, 10).entries, times=3)]
    factors = [module._factor(module._pair(each, 1), each.times) for each in numbers]
    grid = module._Grid(0.01, -5, 60)
    delta = delta_of_release([Statistic(gaussian(2, 10), groups=3)], "0.5").delta
    assert module._split(factors, grid, 0.5) >= float(delta) >= module._merged(factors, grid, 0.5)


def test_what_lies_just_at_epsilon_is_not_lifted_above_it():
    """Numbers whose greatest losses are ε together: a grid alone was twice too high."""
    counts = [NoisyNumber(laplace(e, n).entries) for e, n in (("0.1250031", 130), ("0.125", 100))]
    sums = NoisyNumber(laplace("0.0125", 1000).entries, 10, 10)
    low, high = bounds([*counts, sums], "0.375")
    assert 0 < low <= high <= low / (1 - APART)
    # Of noise that mirrors itself the two ways of the sum are one.
    up = bounds([*counts, NoisyNumber(sums.entries, 10)], "0.375")
    assert [*map(float, up)] == pytest.approx([float(low), float(high)], rel=1e-3)


@pytest.mark.parametrize(
    ("scale", "bound", "epsilon"), [("0.16666668", 124, "0.5"), ("0.3333334", 67, "1")]
)
def test_what_lies_just_above_epsilon_is_not_merged_with_what_lies_below(scale, bound, epsilon):
    """Three groups of Laplace at a small δ: a tenth of all mass lies 10⁻⁸ above ε, half of δ."""
    low, high = bounds([NoisyNumber(laplace(scale, bound).entries, times=3)], epsilon)
    assert 0 < low <= high <= low / (1 - APART)
    true = delta_of_release([Statistic(laplace(scale, bound), groups=3)], epsilon).delta
    assert low <= true <= high * Decimal("1.0001")

"""What takes a slot: against every test there is, in whole numbers, and both ways."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from random import Random

import pytest

from policy_engine.accounting.composition import Question, Tight
from policy_engine.accounting.covering import covers, is_below
from policy_engine.accounting.events import (
    ApproximateDP,
    DiscreteLaplace,
    FixedList,
    PureDP,
    RandomisedResponse,
    SampledSuppression,
    TableNoise,
    Unbounded,
)
from policy_engine.accounting.exact import delta_of_event, epsilon_of_event
from policy_engine.accounting.noise import IntegerTable, Statistic, by_ratio
from policy_engine.accounting.noise_laws import gaussian, laplace, place, tilted
from policy_engine.errors import DomainError

NOTIONS = ["add_remove", "replace_one"]


def noisy(*statistics):
    return TableNoise(tuple(statistics))


def count(table, groups=1):
    return Statistic(table, groups=groups)


def divergences(pair):
    """H_a(P‖Q) and H_a(Q‖P) at every a where one of them has a corner, as fractions of one."""
    size = sum(p for p, _ in pair)

    def at(a):
        ways = pair, [(q, p) for p, q in pair]
        return [sum(max(Fraction(0), p - a * q) for p, q in way) / size for way in ways]

    return at


def everywhere(one, other):
    """All a at which a comparison of the two could change its sense: the ratios of both."""
    ratios = {Fraction(p, q) for pair in (one, other) for p, q in pair if q and p}
    return {Fraction(0), Fraction(1), *ratios, *(1 / ratio for ratio in ratios)}


@pytest.mark.parametrize("number", range(150))
def test_a_pair_is_below_where_no_test_is_better(number):
    """By Blackwell: just where no divergence is larger, of random pairs and of coarser ones."""
    random = Random(number)
    size, coarse = random.randint(2, 6), random.random() < 0.5
    other = [(random.randint(0, 5), random.randint(0, 5)) for _ in range(size)]
    other[0] = other[0][0] + 1, other[0][1]
    other[-1] = other[-1][0], other[-1][1] + 1
    whole = sum(p for p, _ in other), sum(q for _, q in other)
    other = [(p * whole[1], q * whole[0]) for p, q in other]
    if coarse:  # a function of the outcome, by chance
        pair = [[0, 0] for _ in range(3)]
        for p, q in other:
            weights = [random.randint(0, 3) for _ in pair]
            weights[0] += 1
            for at, weight in enumerate(weights):
                share = Fraction(weight, sum(weights))
                pair[at][0] += p * share
                pair[at][1] += q * share
        unit = 5040
        pair = [(int(p * unit), int(q * unit)) for p, q in pair]
    else:
        pair = [(random.randint(0, 5), random.randint(0, 5)) for _ in range(size)]
        pair = [(p + 1, q + 1) for p, q in pair]
        whole = sum(p for p, _ in pair), sum(q for _, q in pair)
        pair = [(p * whole[1], q * whole[0]) for p, q in pair]
    expected = all(
        mine <= theirs
        for a in everywhere(pair, other)
        for mine, theirs in zip(divergences(pair)(a), divergences(other)(a), strict=True)
    )
    assert is_below(by_ratio(pair), by_ratio(other)) == expected
    assert expected or not coarse


LAWS = [
    count(gaussian(3, 20)), count(gaussian(4, 30)), count(gaussian(4, 25)), count(laplace(1, 14)),
    count(laplace("0.7", 20)), count(tilted(1, 13, "1e-6")), count(place(14, "0.253735")),
    Statistic(gaussian(30, 200), 10), Statistic(gaussian(30, 200), 10, moves="down"),
    Statistic(gaussian(30, 200), 9), Statistic(gaussian(30, 200), 10, moves="either"),
    Statistic(tilted(1, 13, "1e-6"), moves="down"),
    Statistic(tilted(1, 13, "1e-6"), moves="either"),
]  # fmt: skip


@pytest.mark.parametrize("slot", range(len(LAWS)))
def test_what_is_covered_costs_no_more_at_any_epsilon_and_the_same_way_round(slot):
    for law in LAWS:
        answer = covers(noisy(LAWS[slot]), noisy(law), "add_remove")
        assert answer == is_below(law.steps(), LAWS[slot].steps())
        if answer:
            one, other = law.steps(), LAWS[slot].steps()
            for a in (Fraction(1, 3), Fraction(1), Fraction(2), Fraction(5)):
                pairs = zip(divergences(one)(a), divergences(other)(a), strict=True)
                assert all(mine <= theirs for mine, theirs in pairs)


def test_noise_that_is_asymmetric_covers_what_moves_one_way():
    up, down, either = (
        Statistic(tilted(1, 13, "1e-6"), moves=way) for way in ("up", "down", "either")
    )
    assert not covers(noisy(up), noisy(down), "add_remove")
    assert not covers(noisy(down), noisy(up), "add_remove")
    assert all(covers(noisy(either), noisy(each), "add_remove") for each in (up, down, either))
    symmetric = [Statistic(laplace(1, 14), moves=way) for way in ("up", "down")]
    assert covers(noisy(symmetric[0]), noisy(symmetric[1]), "add_remove")


def test_fewer_groups_and_less_noisy_numbers_are_what_counts():
    fine, coarse = gaussian(5, 40), gaussian(8, 66)
    slot = noisy(count(fine, 3), count(coarse, 1))
    for event, answer in [
        (slot, True),
        (noisy(count(coarse, 1), count(fine, 3)), True),
        (noisy(count(fine, 2)), True),
        (noisy(count(coarse, 4)), True),
        (noisy(count(coarse, 2), count(fine, 2)), True),
        (noisy(count(fine, 4)), False),
        (noisy(count(coarse, 5)), False),
        (noisy(count(fine, 3), count(coarse, 2)), False),
        (noisy(count(gaussian(4, 32))), False),
    ]:
        for notion in NOTIONS:
            assert covers(slot, event, notion) == answer
            if answer:
                costs = [
                    Tight().delta(((e, 1),), Decimal("0.2"), Question(notion))
                    for e in (event, slot)
                ]
                assert costs[0] <= costs[1] * Decimal("1.001")


@pytest.mark.parametrize("notion", NOTIONS)
def test_a_sample_is_covered_by_one_that_says_more(notion):
    slot = SampledSuppression(20, "0.1")
    for k, rate, answer in [
        (20, "0.1", True), (21, "0.1", True), (20, "0.05", True), (25, "0.01", True),
        (19, "0.1", False), (20, "0.11", False), (30, "0.2", False),
    ]:  # fmt: skip
        assert covers(slot, SampledSuppression(k, rate), notion) == answer
    assert not covers(slot, noisy(count(laplace(1, 14))), notion)
    assert not covers(noisy(count(laplace(1, 14))), slot, notion)


def test_what_is_known_by_its_certificate_covers_what_meets_it():
    event = noisy(count(gaussian(8, 60)))
    delta = Decimal("1e-6")
    epsilon = epsilon_of_event(event, delta)
    assert delta_of_event(event, epsilon) <= delta
    assert covers(ApproximateDP(epsilon, delta), event, "add_remove")
    assert not covers(ApproximateDP(epsilon * Decimal("0.99"), delta), event, "add_remove")
    assert not covers(PureDP(5), event, "add_remove")
    assert covers(PureDP("0.5"), PureDP("0.5"), "add_remove")
    assert covers(PureDP("0.5"), DiscreteLaplace(4, 2), "add_remove")
    assert not covers(PureDP("0.5"), DiscreteLaplace(3, 2), "add_remove")
    assert not covers(PureDP("0.5"), ApproximateDP("0.5", "1e-9"), "add_remove")
    assert covers(ApproximateDP("0.5", "1e-9"), PureDP("0.5"), "add_remove")
    assert covers(ApproximateDP(1, "1e-6"), FixedList(((PureDP("0.3"), 3),)), "add_remove")
    assert not covers(ApproximateDP(1, "1e-6"), Unbounded(), "add_remove")
    answers = FixedList(((RandomisedResponse("0.1", 2), 1),))
    assert not covers(ApproximateDP(1, "1e-6"), answers, "add_remove")
    assert covers(ApproximateDP(1, "1e-6"), answers, "replace_one")
    assert not covers(DiscreteLaplace(3), PureDP("0.1"), "add_remove")


def test_answers_by_chance():
    slot = RandomisedResponse("0.5", 4)
    for truth, values, answer in [
        ("0.5", 4, True), ("0.4", 4, True), ("0.51", 4, False), ("0.5", 5, False), ("0.3", 2, True),
    ]:  # fmt: skip
        event = RandomisedResponse(truth, values)
        assert covers(slot, event, "replace_one") == answer
        assert not covers(slot, event, "add_remove")
    assert covers(PureDP("1.7"), slot, "replace_one") and not covers(
        PureDP("1.6"), slot, "replace_one"
    )
    certain = IntegerTable((1 << 58,), least=0)
    assert not covers(slot, noisy(count(certain)), "replace_one")


def test_an_unknown_notion_is_refused():
    with pytest.raises(DomainError, match="neighbours must be"):
        covers(PureDP(1), PureDP(1), "replace_two")

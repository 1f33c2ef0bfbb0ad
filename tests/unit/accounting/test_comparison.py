"""Mechanisms beside one another: the known sizes, chances as drawn, and reasons of what cannot."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest

from policy_engine.accounting.comparison import SAMPLED, Candidate, Comparison, compare
from policy_engine.accounting.frontier import SamplePair
from policy_engine.accounting.noise import WHOLE
from policy_engine.accounting.noise_laws import laplace, place
from policy_engine.accounting.tables import LAWS, Aim

ONE, MILLIONTH = Decimal(1), Decimal("1e-6")


def by_law(found: Comparison) -> dict[str, Candidate]:
    return {each.law: each for each in found.candidates}


def test_one_release_at_one_and_a_millionth():
    found = compare(Aim(ONE, MILLIONTH))
    each = by_law(found)
    assert list(each) == [*LAWS, SAMPLED]
    assert {law: one.half for law, one in each.items()} == {
        "truncated_laplace": 14, "discrete_gaussian": 23, "negative_binomial": 54, SAMPLED: 54,
    }  # fmt: skip
    assert each["truncated_laplace"].certain == (-13, 14)
    assert each[SAMPLED].certain is None
    assert [one.least for one in each.values()] == [1, 1, 14, 14]
    assert [one.true_rows for one in each.values()] == [False, False, False, True]
    assert (found.auto, found.refused) == ("truncated_laplace", ())


@pytest.mark.evidence
def test_from_about_twenty_releases_a_place_shows_smaller_groups_with_a_larger_error():
    for releases, smaller in ((10, "discrete_gaussian"), (20, "negative_binomial")):
        found = compare(Aim(ONE, MILLIONTH, releases=releases))
        each = by_law(found)
        assert min(LAWS, key=lambda law: each[law].half) == smaller
        assert each["negative_binomial"].error > each["discrete_gaussian"].error
        assert found.auto == "discrete_gaussian"


def test_whoever_is_shown_is_one_of_at_least_so_many():
    each = by_law(compare(Aim(ONE, MILLIONTH, at_least=30)))
    assert {one.least for one in each.values()} == {30}
    assert each["truncated_laplace"].half == 14 + 29
    table = each["truncated_laplace"].by
    assert each["truncated_laplace"].chance(30) * WHOLE == pytest.approx(Decimal(table.masses[-1]))
    assert all(one.chance(29) == 0 for one in each.values())


def test_public_keys_are_all_shown_and_no_sample_shows_them():
    found = compare(Aim(ONE, MILLIONTH, listed=True))
    each = by_law(found)
    assert {(one.half, one.least, one.chance(0)) for one in each.values()} == {(0, 0, Decimal(1))}
    assert dict(found.refused)[SAMPLED] == "it shows no key that few people have"
    assert found.auto == min(each, key=lambda law: each[law].error)


@pytest.mark.parametrize("candidate", [
    Candidate("truncated_laplace", laplace(1, 14)),
    Candidate("truncated_laplace", laplace(1, 14), 20),
    Candidate("negative_binomial", place(14, "0.253735")),
    Candidate(SAMPLED, SamplePair(14, Decimal("0.253735"))),
])  # fmt: skip
def test_half_and_error_are_those_of_draws(candidate):
    """Beside 200,000 draws of numpy at the size that is shown half of the time."""
    half, draws, rng = candidate.half, 200_000, np.random.default_rng(7)
    assert candidate.chance(half) >= Decimal("0.5") > candidate.chance(half - 1)
    if isinstance(candidate.by, SamplePair):
        sample = rng.binomial(half, float(candidate.by.rate), draws)
        shown, estimates = sample >= candidate.by.k, sample / float(candidate.by.rate)
    elif candidate.by.is_open:
        drawn = rng.negative_binomial(14, 0.253735, draws) + 14
        shown, estimates = drawn <= half, half - drawn
    else:
        drawn = rng.geometric(1 - np.exp(-1), draws) - rng.geometric(1 - np.exp(-1), draws)
        shown, estimates = half + drawn >= 14 + candidate.at_least, half + drawn
    assert abs(shown.mean() - float(candidate.chance(half))) < 0.006
    assert abs(estimates.std() / float(candidate.error) - 1) < 0.02


def test_a_person_in_several_groups_is_counted_by_no_sample():
    found = compare(Aim(ONE, MILLIONTH, groups=2))
    assert dict(found.refused) == {SAMPLED: "it counts a person once, and has no sums"}
    assert found.auto == "truncated_laplace"


@pytest.mark.evidence
def test_a_person_in_more_groups_than_a_place_can_have():
    refused = dict(compare(Aim(ONE, MILLIONTH, groups=11)).refused)
    assert refused == {
        "negative_binomial": "the numbers that one person is in must be at most 10 for"
        " negative_binomial, found 11",
        SAMPLED: "it counts a person once, and has no sums",
    }


def test_a_delta_out_of_reach_of_every_table():
    tiny = compare(Aim(ONE, Decimal("1e-19")))
    assert [law for law, _ in tiny.refused] == list(LAWS)
    assert [each.law for each in tiny.candidates] == [SAMPLED]
    assert tiny.auto is None

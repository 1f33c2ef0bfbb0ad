"""Public beliefs: the sizes they mean, and what is expected to be released under them."""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from policy_engine.accounting.frontier import SamplePair, frontier
from policy_engine.accounting.prior import (
    Prior,
    best_pair_for,
    expected_groups,
    expected_people,
)
from policy_engine.errors import DomainError


@settings(max_examples=150, deadline=None)
@given(
    k=st.integers(2, 3000),
    rate=st.floats(1e-7, 1 - 1e-7),
    sizes=st.dictionaries(st.integers(1, 10**9), st.integers(1, 1000), min_size=1, max_size=8),
    near=st.lists(st.floats(-6, 6), max_size=6),
)
def test_what_is_expected_is_the_binomial_law(k, rate, sizes, near) -> None:
    # Sizes at which it is open whether the group appears, and those beside k.
    for off in near:
        size = (k + off * math.sqrt(k)) / rate
        sizes[min(10**9, max(1, int(size)))] = 1
    sizes |= {k: 1, k + 1: 2, k - 1: 3}
    prior = Prior.of_sizes(sizes)
    n, groups = np.array(prior.sizes, dtype=float).T
    appears = binom.sf(k - 1, n, rate)
    assert expected_groups(k, rate, prior) == pytest.approx(
        float(groups @ appears), abs=1e-6 * prior.groups
    )
    assert expected_people(k, rate, prior) == pytest.approx(
        float((n * groups) @ appears), abs=1e-6 * prior.people
    )


def test_the_ends_of_the_rate() -> None:
    prior = Prior.of_sizes({2: 1, 5: 10, 10**9: 1})
    assert expected_groups(2, "1e-300", prior) == pytest.approx(0, abs=1e-12)
    assert expected_groups(3, "0." + "9" * 40, prior) == pytest.approx(11)
    assert expected_people(6, "0.5", Prior.of_sizes({5: 7})) == 0
    assert expected_groups(5, "0.5", Prior.of_sizes({5: 7})) == pytest.approx(7 / 32)


def test_zipfs_law() -> None:
    prior = Prior.zipf(48842, 900)
    assert (prior.people, prior.groups) == (48842, 900)
    largest = 48842 / sum(1 / i for i in range(1, 901))
    assert [size for size, _ in prior.sizes[-3:]] == [round(largest / i) for i in (3, 2, 1)]
    assert Prior.zipf(100, 4, 0).sizes == ((25, 4),)
    assert Prior.zipf(10, 3, "0").sizes == ((3, 2), (4, 1))


@given(
    people=st.integers(1, 10**9),
    share=st.floats(0, 1),
    exponent=st.floats(0, 10),
)
@settings(max_examples=50, deadline=None)
def test_every_person_is_in_a_group(people: int, share: float, exponent: float) -> None:
    groups = max(1, int(min(people, 10**5) * share))
    prior = Prior.zipf(people, groups, exponent)
    assert prior.people == people
    # Groups that are too small for one person are left out.
    assert 1 <= prior.groups <= groups
    assert prior.sizes[0][0] >= 1


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: Prior.zipf(0, 1), "people must be an integer from 1 to 1000000000, found 0"),
        (lambda: Prior.zipf(True, 1), "people must be an integer from 1 to 1000000000, found True"),
        (lambda: Prior.zipf(5, 0), "groups must be an integer from 1 to 1000000, found 0"),
        (
            lambda: Prior.zipf(10**9, 10**6 + 1),
            "groups must be an integer from 1 to 1000000, found",
        ),
        (lambda: Prior.zipf(5, 6), "people must be at least groups = 6, found 5"),
        (lambda: Prior.zipf(5, 2, "10.1"), "exponent must be a number from 0 to 10, found 10.1"),
        (lambda: Prior.zipf(5, 2, "x"), "exponent must be a number from 0 to 10, found 'x'"),
        (lambda: Prior.of_sizes({}), "sizes must be at least one size of a group, found none"),
        (
            lambda: Prior.of_sizes({0: 1}),
            "size of a group must be an integer from 1 to 1000000000, found 0",
        ),
        (
            lambda: Prior.of_sizes({1: 2.5}),
            "number of groups must be an integer from 1 to 1000000000",
        ),
        (lambda: expected_groups(1, "0.5", Prior.zipf(5, 2)), "k must be an integer from 2"),
        (lambda: expected_people(2, "1", Prior.zipf(5, 2)), "rate must be a number strictly"),
    ],
)
def test_the_domains(call, said: str) -> None:
    with pytest.raises(DomainError) as caught:
        call()
    assert str(caught.value).startswith(said)


def test_the_best_pair_is_best() -> None:
    pairs = frontier("1", "1e-6", most_k=60)
    # Many groups of 40: what they are worth decides, however few people they have.
    prior = Prior.of_sizes({40: 1000, 60: 10, 100_000: 5})
    for goal, expected in (("people", expected_people), ("groups", expected_groups)):
        best = best_pair_for(prior, goal, pairs)
        worth = [expected(pair.k, pair.rate, prior) for pair in pairs]
        assert expected(best.k, best.rate, prior) == max(worth)


def test_the_two_goals_can_differ() -> None:
    prior = Prior.of_sizes({3: 1000, 5000: 1})
    pairs = [SamplePair(2, Decimal("0.3")), SamplePair(3, Decimal("0.31"))]
    assert best_pair_for(prior, "groups", pairs).k == 2
    pairs = [SamplePair(2, Decimal("0.0001")), SamplePair(40, Decimal("0.5"))]
    assert best_pair_for(Prior.of_sizes({3: 9, 5000: 1}), "people", pairs).k == 40


def test_ties_go_to_the_smaller_k() -> None:
    pairs = [SamplePair(k, Decimal("0.5")) for k in (9, 5, 7)]
    assert best_pair_for(Prior.of_sizes({10**6: 1}), "people", pairs).k == 5
    # Nothing is expected to appear at all.
    assert best_pair_for(Prior.of_sizes({1: 1}), "groups", pairs).k == 5


def test_the_goal_and_the_pairs() -> None:
    with pytest.raises(DomainError, match="goal must be people or groups, found 'rows'"):
        best_pair_for(Prior.zipf(5, 2), "rows", [])  # type: ignore[arg-type]
    with pytest.raises(DomainError, match="pairs must be at least one pair, found none"):
        best_pair_for(Prior.zipf(5, 2), "people", [])

"""What (ε, δ) means to somebody who guesses."""

from __future__ import annotations

import math
from decimal import Decimal

import pytest
from scipy import stats

from policy_engine.accounting.bounds import delta_lqs
from policy_engine.accounting.exact import delta_exact
from policy_engine.accounting.odds import guessed_right, odds_sentence
from policy_engine.errors import DomainError


def law(n: int, k: int, rate: float) -> dict[int, float]:
    """What is shown of n people alike: their count in the sample, 0 for fewer than k."""
    found = {j: float(stats.binom.pmf(j, n, rate)) for j in range(k, n + 1)}
    return {**found, 0: float(stats.binom.cdf(k - 1, n, rate))}


@pytest.mark.parametrize(("k", "rate", "epsilon"), [(2, 0.5, 0.1), (5, 0.4, 0.5), (3, 0.2, 1.0)])
def test_no_guess_is_right_more_often(k, rate, epsilon):
    delta = delta_exact(k, str(rate), str(epsilon)).delta
    most = guessed_right(str(epsilon), delta)
    for n in range(1, 60):
        one, other = law(n, k, rate), law(n - 1, k, rate)
        right = sum(max(one.get(j, 0), other.get(j, 0)) for j in {*one, *other}) / 2
        assert right <= float(most)


def test_the_mechanism_that_attains_it():
    # Gives itself away with probability δ, else answers at random with odds e^ε: the bound is met.
    epsilon, delta = 0.7, 0.05
    tell = delta + (1 - delta) * math.exp(epsilon) / (1 + math.exp(epsilon))
    assert float(guessed_right("0.7", "0.05")) == pytest.approx(tell)


def test_delta_is_not_the_chance_that_the_odds_move_further():
    # [LQS] is that chance at k = 20; the certified δ is 61 times smaller.
    exact, moved = delta_exact(20, "0.1", "0.5").delta, delta_lqs(20, "0.1", "0.5")
    assert moved is not None and moved.delta > 60 * exact


@pytest.mark.parametrize(
    ("epsilon", "delta", "told"),
    [
        ("0", "0", "at most 50.0 % of the time."),
        ("0", "1e-999999", "at most 50.1 % of the time."),
        ("0.5", "2.6e-11", "at most 62.3 % of the time."),
        ("5", "1e-6", "at most 99.331 % of the time."),
        ("0.5", "1", "may be right nearly all of the time."),
        ("1e9", "1e-9", "may be right nearly all of the time."),
    ],
)
def test_the_words_are_rounded_up(epsilon, delta, told):
    said = odds_sentence(epsilon, delta)
    assert said.endswith(told)
    if "at most" in said:
        factor = Decimal(epsilon).exp()
        truth = (factor + Decimal(delta)) / (1 + factor)
        assert (
            truth <= Decimal(said.split("at most ")[1].split()[0]) / 100 < truth + Decimal("0.0011")
        )
    assert guessed_right(epsilon, delta) <= 1


def test_numbers_outside_the_domain_are_refused():
    with pytest.raises(DomainError):
        guessed_right("-1", "0.1")

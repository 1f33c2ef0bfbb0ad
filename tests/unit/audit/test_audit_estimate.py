"""The estimator against scipy, and against mechanisms whose ε is known."""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np
import pytest
from scipy import stats

from policy_engine.accounting.certified import EpsilonDelta
from policy_engine.audit.verdict import (
    Hits,
    at_least,
    at_most,
    epsilon_at_least,
    error_of,
    judge,
)
from policy_engine.errors import UsageError

ERROR = Decimal("1e-7")


@pytest.mark.parametrize("runs", [1, 7, 500, 3000])
@pytest.mark.parametrize("share", [0, 0.003, 0.5, 0.98, 1])
@pytest.mark.parametrize("error", ["0.05", "1e-9"])
def test_bounds_are_clopper_and_pearsons(runs, share, error):
    seen = round(runs * share)
    low = stats.beta.ppf(float(error), seen, runs - seen + 1) if seen else 0.0
    high = stats.beta.isf(float(error), seen + 1, runs - seen) if seen < runs else 1.0
    found = float(at_least(Hits(seen, runs), Decimal(error)))
    found_above = float(at_most(Hits(seen, runs), Decimal(error)))
    assert low - 2.1e-9 <= found <= low + 1e-12
    assert high - 1e-12 <= found_above <= high + 2.1e-9


def test_bounds_cover_the_truth_as_often_as_they_say():
    # The probability of a miss is a sum over the binomial law, so nothing is drawn.
    n, error = 60, Decimal("0.05")
    bounds = [float(at_least(Hits(seen, n), error)) for seen in range(n + 1)]
    for p in (0.02, 0.3, 0.77):
        missed = sum(stats.binom.pmf(x, n, p) for x in range(n + 1) if bounds[x] > p)
        assert missed <= 0.05


def test_delta_is_taken_off_before_the_ratio():
    one, other = Hits(900, 1000), Hits(100, 1000)
    low, high = at_least(one, ERROR / 2), at_most(other, ERROR / 2)
    for delta in ("0", "0.1", "0.5"):
        wanted = math.log((float(low) - float(delta)) / float(high))
        found = float(epsilon_at_least(one, other, Decimal(delta), ERROR))
        assert wanted - 1e-9 <= found <= wanted
    assert epsilon_at_least(one, other, Decimal("0.8"), ERROR) == 0
    assert epsilon_at_least(other, one, Decimal(0), ERROR) == 0


def responses(truth: float, value: int, runs: int, seed: int) -> list[dict[str, int]]:
    """Randomised response over two values: the truth with probability ``truth``, else a coin."""
    random = np.random.default_rng(seed)
    told = np.where(random.random(runs) < truth, value, random.integers(0, 2, runs))
    return [{"answer": int(answer)} for answer in told]


@pytest.mark.parametrize("truth", [0.3, 0.6, 0.9])
def test_randomised_response_is_bounded_below_its_epsilon_and_near_it(truth):
    epsilon = math.log(1 + 2 * truth / (1 - truth))
    one, other = (responses(truth, value, 12_000, seed=value) for value in (1, 0))
    claim = EpsilonDelta(Decimal(repr(epsilon)), Decimal(0))
    found = judge(one, other, claim, ERROR)
    assert not found.broken
    assert 0.6 * epsilon < float(found.epsilon) < epsilon


def test_a_claim_below_the_truth_is_refuted():
    one, other = (responses(0.9, value, 4_000, seed=value) for value in (1, 0))
    truth = Decimal(repr(math.log(19)))
    assert judge(one, other, EpsilonDelta(truth / 2, Decimal(0)), ERROR).broken
    assert not judge(one, other, EpsilonDelta(truth, Decimal(0)), ERROR).broken


def test_the_event_is_chosen_on_one_half_and_judged_on_the_other():
    # Every run is an outcome of its own: what was chosen is never met again.
    one = [{"outcome": f"one {i}"} for i in range(2000)]
    other = [{"outcome": f"other {i}"} for i in range(2000)]
    found = judge(one, other, EpsilonDelta(Decimal("0.1"), Decimal(0)), Decimal("0.01"))
    assert found.epsilon == 0 and found.one.runs == 1000


def test_each_direction_is_tried():
    rare, never = [{"n": i % 2} for i in range(4000)], [{"n": 0}] * 4000
    claim = EpsilonDelta(Decimal("0.5"), Decimal("1e-9"))
    # Pairs of runs: the parity of the half must not be that of the value.
    rare = [{"n": (i // 2) % 2} for i in range(4000)]
    assert judge(rare, never, claim, ERROR).direction == "remove"
    assert judge(never, rare, claim, ERROR).direction == "add"


@pytest.mark.parametrize("confidence", ["1", "0", "1.5", "-1", "NaN"])
def test_a_confidence_is_a_probability(confidence):
    with pytest.raises(UsageError, match="--confidence must be"):
        error_of(Decimal(confidence), 3)

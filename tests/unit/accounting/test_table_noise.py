"""Releases with noise from tables in every rule of an account, and many different events."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest

from policy_engine.accounting import composition, losses
from policy_engine.accounting.adaptive import CertifiedEvent, cost_of, holds_chain, plan_for
from policy_engine.accounting.composition import Accountant, Basic, Optimal, Question, Tight
from policy_engine.accounting.events import PureDP, SampledSuppression, TableNoise
from policy_engine.accounting.exact import delta_of_event, epsilon_of_event, has_curve
from policy_engine.accounting.noise import ReleaseCurve, Statistic
from policy_engine.accounting.noise_laws import gaussian, laplace, place
from policy_engine.accounting.pairs import GUARD, pairs_of
from policy_engine.errors import DomainError

COUNT = Statistic(laplace(1, 14))
SUM = Statistic(laplace("0.025", 300), shift=20, moves="either")
PLACE = Statistic(place(14, "0.253735"))
NOTIONS = pytest.mark.parametrize("neighbours", ["add_remove", "replace_one"])


@NOTIONS
@pytest.mark.parametrize("statistic", [COUNT, SUM, PLACE], ids=["count", "sum", "place"])
def test_both_laws_are_laws(statistic, neighbours):
    found = pairs_of(TableNoise((statistic, COUNT)), neighbours)
    assert len(found) == (2 if neighbours == "add_remove" else 4)
    for pair in found:
        for turned in (pair, pair.reversed()):
            total = np.exp(turned.log_masses).sum() + float(turned.only_first)
            assert abs(total - 1) < GUARD


@NOTIONS
@pytest.mark.parametrize("statistic", [COUNT, SUM, PLACE], ids=["count", "sum", "place"])
@pytest.mark.parametrize("epsilon", ["0.9", "2.5"])
def test_rules_lie_above_the_exact_curve(statistic, neighbours, epsilon):
    """Two releases are one for a person in two groups."""
    event, who, at = TableNoise((statistic,)), Question(neighbours), Decimal(epsilon)
    twice = Statistic(statistic.table, statistic.shift, 2, statistic.moves)
    curve = ReleaseCurve.of([twice], neighbours)
    # On the grid, for the sum under replace_one, it is above itself.
    exact = curve.delta(at).delta * (1 if curve.halves else 1 - Decimal("1e-5"))
    charges = ((event, 2),)
    tight = Tight().delta(charges, at, who)
    assert exact <= tight <= exact * Decimal("1.001")
    basic, optimal = Basic().delta(charges, at, who), Optimal().delta(charges, at, who)
    assert basic is not None
    assert optimal is not None
    assert exact <= min(basic, optimal)
    assert Basic().epsilon(charges, basic, who) <= at + Decimal("1e-9")
    assert Optimal().epsilon(charges, Decimal("0.5"), who) is not None


def test_next_to_the_largest_loss_the_accountant_is_tight():
    """Two Laplace tables at twice their own ε: all that is left are the ends."""
    exact = ReleaseCurve.of([Statistic(laplace(1, 14), groups=2)]).delta(2).delta
    tight = Tight().delta(((TableNoise((COUNT,)), 2),), Decimal(2), Question())
    assert exact <= tight <= exact * Decimal("1.001")


@NOTIONS
def test_the_least_epsilon(neighbours):
    event, delta = TableNoise((COUNT,)), Decimal("1e-6")
    epsilon = epsilon_of_event(event, delta, neighbours)
    assert delta_of_event(event, epsilon, neighbours) <= delta
    assert delta_of_event(event, epsilon - Decimal("1e-12"), neighbours) > delta
    with pytest.raises(DomainError, match=r"delta must be at least .* which no epsilon lowers"):
        epsilon_of_event(event, Decimal("1e-9"), neighbours)


def test_what_has_a_curve():
    assert has_curve(TableNoise((COUNT,)))
    assert not has_curve(PureDP(1))
    for call in (delta_of_event, epsilon_of_event):
        for event, group in ((PureDP(1), 1), (TableNoise((COUNT,)), 2)):
            with pytest.raises(DomainError, match="event must be one with a curve"):
                call(event, Decimal("0.1"), group=group)
    with pytest.raises(DomainError, match="group must be 1, unless all events are Samp"):
        pairs_of(TableNoise((COUNT,)), "add_remove", 2)


def test_a_mixed_account_is_tight():
    """Sampled, place, table with a sum, selection: below the sum of certificates."""
    events = [SampledSuppression(20, "0.1"), TableNoise((PLACE,)),
              TableNoise((Statistic(laplace("0.1", 150)), SUM)), PureDP("0.1")]  # fmt: skip
    found = Accountant.of(events).epsilons("1e-3")
    assert found["tight"] < found["basic"] * Decimal("0.95")
    assert Accountant.of(events).certain >= Accountant.of(events[1:2]).certain


@NOTIONS
def test_the_filter_counts_every_group(neighbours):
    one, three = (TableNoise((Statistic(gaussian(10, 50), groups=n),)) for n in (1, 3))
    first = CertifiedEvent(one, Decimal(1), delta_of_event(one, Decimal(1), neighbours))
    plan = plan_for(first, Decimal(4), Decimal("1e-4"), neighbours)
    assert holds_chain(first, 3, plan, neighbours)
    costs = [cost_of(event, plan, neighbours) for event in (one, three)]
    assert costs[1].mass <= 3 * costs[0].mass
    assert all(high <= 3 * low for low, high in zip(costs[0].scales, costs[1].scales, strict=True))
    assert costs[1].scales[0] > 2 * costs[0].scales[0]


def test_many_different_events_are_convolved_two_by_two(monkeypatch):
    events = [SampledSuppression(20 + i, Decimal(50 + 3 * i).scaleb(-3)) for i in range(9)]
    charges = (*((event, 1) for event in events), (TableNoise((PLACE,)), 2))
    asked = Decimal("1.5"), Question()
    found = Tight().delta(charges, *asked)
    least = Tight().epsilon(charges, Decimal("1e-7"), Question())
    monkeypatch.setattr(losses, "_MANY", 10**9)
    other = Tight().delta(charges, *asked)
    assert abs(found / other - 1) < Decimal("1e-3")
    assert abs(least / Tight().epsilon(charges, Decimal("1e-7"), Question()) - 1) < Decimal("1e-3")


def test_basic_says_nothing_of_very_many_curves(monkeypatch):
    monkeypatch.setattr(composition, "_MOST_CURVES", 2)
    events = tuple((SampledSuppression(k, "0.1"), 1) for k in (20, 21, 22))
    for charges, says in ((events[:2], True), (events, False)):
        assert (Basic().delta(charges, Decimal(1), Question()) is not None) is says
        assert (Basic().epsilon(charges, Decimal("1e-6"), Question()) is not None) is says

"""What is offered is admitted, and one step more is not, by all the rules that decide."""

from __future__ import annotations

from decimal import Decimal
from random import Random

import pytest

from policy_engine.accounting.events import ApproximateDP, PureDP, SampledSuppression
from policy_engine.accounting.left import (
    MOST_ALIKE,
    SlotsLeft,
    most_of_another_kind,
    times_admitted,
)
from policy_engine.accounting.plans import PlanLine, certified, planned
from policy_engine.accounting.shapes import NoisyShape
from policy_engine.errors import DomainError
from policy_engine.ledger.account import Limit
from policy_engine.ledger.asked import Asked
from policy_engine.ledger.pricing import Spent, fits

SMALL = Decimal("1e-6")


class Window:
    """The rest of a window with a plan, and a limit for ever that has the plan as one event."""

    def __init__(self, number):
        random = Random(number)
        plan = planned([PlanLine("visits", NoisyShape(), 4)], 1, SMALL, "add_remove", rest="0.3")
        ever = Limit(Decimal(random.choice(["1.05", "1.5", "4"])), Decimal("2e-6"))
        rest = Limit(plan.rest_epsilon, plan.rest_delta)
        whole = Asked(plan.event, plan.epsilon, plan.delta)
        self.states = [Spent.none("add_remove"), Spent.none("add_remove").plus(whole, ever)]
        self.limits = [rest, ever]
        self.like = self.kind(random)
        for _ in range(number % 4):
            asked = self.kind(random)
            if self.admits(asked):
                self.charge(asked)

    def kind(self, random):
        if random.random() < 0.5:
            once = certified(SampledSuppression(random.randint(15, 40), "0.05"), Decimal("1e-9"),
                             "add_remove")  # fmt: skip
            return Asked(once.event, once.epsilon, once.delta)
        return other(Decimal(random.randint(1, 99)).scaleb(-3), Decimal(0))

    def admits(self, asked, times=1):
        both = zip(self.states, self.limits, strict=True)
        return all(fits(state, asked, limit, times) for state, limit in both)

    def charge(self, asked):
        both = zip(self.states, self.limits, strict=True)
        self.states = [state.plus(asked, limit) for state, limit in both]


def other(epsilon, delta):
    return Asked(ApproximateDP(epsilon, delta) if delta else PureDP(epsilon), epsilon, delta)


@pytest.mark.parametrize("number", range(16))
def test_what_is_offered_is_admitted_by_the_rest_and_for_ever(number):
    window = Window(number)
    alike = times_admitted(lambda times: window.admits(window.like, times))
    offered = most_of_another_kind(
        lambda epsilon, delta: window.admits(other(epsilon, delta)),
        window.limits[0].epsilon,
        window.limits[0].delta,
    )
    if offered is None:
        assert not window.admits(other(window.limits[0].epsilon.scaleb(-6), Decimal(0)))
    else:
        epsilon, delta = offered
        assert window.admits(other(epsilon, delta))
        step = Decimal(1).scaleb(epsilon.adjusted() - 2)
        assert not window.admits(other(epsilon + step, delta))
    for _ in range(alike):
        assert window.admits(window.like)
        window.charge(window.like)
    assert alike == MOST_ALIKE or not window.admits(window.like)


def test_nothing_is_offered_where_nothing_is_admitted():
    assert times_admitted(lambda times: False) == 0
    assert most_of_another_kind(lambda epsilon, delta: False, Decimal(1), SMALL) is None


def test_without_delta_none_is_offered():
    found = most_of_another_kind(lambda epsilon, delta: not delta, Decimal(1), Decimal(0))
    assert found == (Decimal("9.99"), 0)


def test_slots_are_counted_down():
    assert [SlotsLeft("yearbook", 1, drawn).words() for drawn in (0, 1)] == [
        "1 of 1 yearbook", "none of 1 yearbook",
    ]  # fmt: skip
    for editions, drawn in ((12, 13), (12, -1), (0, 0)):
        with pytest.raises(DomainError):
            SlotsLeft("visits", editions, drawn)

"""What a target asks of one (k, rate): a δ that is just reached is reached."""

from __future__ import annotations

from decimal import Decimal

import pytest

from policy_engine.accounting.calibration import Joint
from policy_engine.accounting.composition import Question, Tight
from policy_engine.accounting.domain import ADD_REMOVE, REPLACE_ONE
from policy_engine.accounting.events import SampledSuppression
from policy_engine.accounting.exact import delta_exact

RATE = Decimal("0.1")


@pytest.mark.parametrize("neighbours", [ADD_REMOVE, REPLACE_ONE])
def test_a_delta_that_is_just_reached(neighbours: str) -> None:
    epsilon = Decimal("0.5")
    delta = delta_exact(5, RATE, epsilon, neighbours).delta
    target = Joint(epsilon, delta, neighbours)
    assert target.met(5, RATE) is True
    assert target.spent(5, RATE) == delta
    assert Joint(epsilon, delta.next_minus(), neighbours).met(5, RATE) is False


def test_replaced_units_are_not_asked_about_as_if_they_left() -> None:
    epsilon = Decimal("0.5")
    left = delta_exact(5, RATE, epsilon).delta
    replaced = delta_exact(5, RATE, epsilon, REPLACE_ONE).delta
    between = (left + replaced) / 2
    assert left < between < replaced
    assert Joint(epsilon, between).met(5, RATE) is True
    assert Joint(epsilon, between, REPLACE_ONE).met(5, RATE) is False


@pytest.mark.parametrize("neighbours", [ADD_REMOVE, REPLACE_ONE])
def test_several_releases_are_asked_of_the_tight_rule(neighbours: str) -> None:
    epsilon, charges = Decimal(1), ((SampledSuppression(9, RATE), 2),)
    spent = Tight().delta(charges, epsilon, Question(neighbours))
    target = Joint(epsilon, spent, neighbours, 2)
    assert target.spent(9, RATE) == spent
    assert target.met(9, RATE) is True
    assert Joint(epsilon, spent * Decimal("0.99"), neighbours, 2).met(9, RATE) is False
    assert delta_exact(9, RATE, epsilon).delta < spent * Decimal("0.99")


def test_what_has_a_closed_form() -> None:
    one = (Decimal(1), Decimal("1e-6"))
    assert Joint(*one).exact is True
    assert Joint(*one, releases=2).exact is False
    assert Joint(*one, REPLACE_ONE).exact is False
    assert Joint(*one, REPLACE_ONE, 2).exact is False

"""What is printed instead of what is left: it is admitted if it is asked next, and no more is.

Tried through ``affords``, one charge after the other, as a ledger does it.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from random import Random

import pytest

from policy_engine.accounting.events import (
    DiscreteLaplace,
    DrawnChoice,
    PureDP,
    RandomisedResponse,
    SampledSuppression,
    Unbounded,
)
from policy_engine.accounting.left import MOST_ALIKE
from policy_engine.ledger.account import Account, Limit, affords
from policy_engine.ledger.entry import Charge
from policy_engine.ledger.remaining import Remaining

SAMPLED = SampledSuppression(20, "0.1")


def charge(epsilon, delta, event=None, part=None, notion="add_remove"):
    amounts = Decimal(epsilon), Decimal(delta)
    return Charge("census", *amounts, notion, "adult", "p", "c", event=event, part=part, unit="id")


def paid(limit: Limit | None, *charges: Charge) -> Account:
    found = Account("census", limit=limit)
    for each in charges:
        assert affords(found, each)
        found = found.plus(each)
    return found


def random_charge(random: Random, notion: str) -> Charge:
    """Any kind: known by its certificate alone, or by its law."""
    epsilon = Decimal(random.randint(1, 400)).scaleb(-3)
    delta = Decimal(random.randint(1, 99)).scaleb(-random.randint(8, 14))
    part = random.choice([None, None, ("halves", random.choice(["left", "right"]))])
    return random.choice(
        [
            charge(epsilon, 0, None, part, notion),
            charge(epsilon, delta, None, part, notion),
            charge("0.5", "5.3e-11", SAMPLED, part, notion),
            charge("0.5", 0, RandomisedResponse("0.2", 2), part, notion)
            if notion == "replace_one"
            else charge("0.1", 0, DiscreteLaplace(10), part, notion),
        ]
    )


def an_account(number: int) -> tuple[Account, Charge]:
    """A random account that has paid for what it could, and what is asked of it next."""
    random = Random(number)
    notion = random.choice(["add_remove", "replace_one"])
    epsilon = Decimal(random.choice(["0.05", "0.37", "1", "3", "12.5"]))
    limit = Limit(epsilon, Decimal(random.choice(["0", "1e-9", "1e-6", "0.01"])))
    account, kinds = Account("census", limit=limit), random.randint(1, 3)
    asked = [random_charge(random, notion) for _ in range(kinds)]
    for _ in range(number % 6):
        one = random.choice(asked)
        if affords(account, one):
            account = account.plus(one)
    return account, random.choice(asked)


# Of the last two a larger ε is admitted at the larger δ that is offered beside it.
@pytest.mark.parametrize("number", [*range(36), 1063, 1067])
def test_what_is_offered_is_admitted_and_one_step_more_is_not(number):
    account, asked = an_account(number)
    left = account.remaining(asked.asked, asked.neighbours)
    assert left is not None and left.alike is not None
    after = account
    for _ in range(left.alike):
        assert affords(after, asked)
        after = after.plus(asked)
    assert left.alike == MOST_ALIKE or not affords(after, asked)
    if left.epsilon is None:
        least = account.limit.epsilon.scaleb(-6)
        assert not affords(account, charge(least, 0, notion=asked.neighbours))
        return
    other = charge(left.epsilon, left.delta, notion=asked.neighbours)
    assert left.epsilon > 0
    assert affords(account, other)
    step = Decimal(1).scaleb(left.epsilon.adjusted() - 2)
    assert not affords(account, replace(other, epsilon=left.epsilon + step))


def test_as_many_as_are_looked_for_may_be_more():
    account = paid(Limit(Decimal(1), Decimal("1e-6")))
    left = account.remaining(charge("0.5", "2.64e-11", SAMPLED).asked)
    assert left is not None and (left.alike, left.or_more) == (MOST_ALIKE, True)
    assert left.words() == (
        f"{MOST_ALIKE} or more like this, or one release "
        f"of another kind with at most ε 1 (at δ 0.000001)"
    )


def test_a_sum_that_is_not_reached_is_not_offered():
    """1 - 0.95 = 0.05 of ε is not spent, and no δ is for what is not like the first."""
    limit = Limit(Decimal(1), Decimal("1e-6"))
    account = paid(limit, charge("0.95", "9e-7"))
    left = account.remaining(charge("0.05", "1e-8").asked)
    assert left == Remaining(0, None, None) or affords(account, charge(left.epsilon, left.delta))
    assert not affords(account, charge("0.05", "1e-6"))


def test_after_a_choice_the_rest_of_epsilon_is_offered_and_admitted():
    account = paid(Limit(Decimal(1), Decimal("1e-6")), charge("0.1", 0, DrawnChoice("0.1")))
    found = account.remaining()
    assert found is not None and (found.epsilon, found.delta) == (Decimal("0.9"), Decimal("1e-6"))
    assert affords(account, charge("0.9", "1e-6")) and not affords(account, charge("0.901", 0))
    whole = account.plus(charge("0.9", 0, DrawnChoice("0.9"))).remaining()
    assert whole is not None and whole.epsilon is None


def test_without_a_limit_nobody_can_say():
    assert paid(None, charge("5", "0.1")).remaining() is None


def test_of_an_account_with_a_release_without_bound_nothing_is_left():
    account = Account("census", limit=Limit(Decimal(1), Decimal(0)))
    account = account.plus(charge("0", "1", Unbounded()))
    assert account.remaining() == Remaining(None, None, None)
    assert account.remaining(charge("0.1", "0").asked) == Remaining(0, None, None)


def test_of_a_limit_of_nothing_nothing_is_left():
    account = paid(Limit(Decimal(0), Decimal(0)))
    left = account.remaining(charge("0.1", "0", PureDP("0.1")).asked)
    assert left is not None and left.words() == "none like this, and no release of another kind"
    assert account.remaining().words("the last") == "nothing"


def test_the_kind_that_is_asked_about_has_a_name():
    account = paid(Limit(Decimal(1), Decimal(0)), charge("0.5", 0))
    assert account.remaining(charge("0.4", 0).asked).words("the last") == (
        "1 more like the last, or one release of another kind with at most ε 0.5 (at δ 0)"
    )
    assert account.remaining().words() == "at most ε 0.5 (at δ 0) in one release"

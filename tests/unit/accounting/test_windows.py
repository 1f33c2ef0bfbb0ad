"""Several windows of an account: against brute force of what is composed, in adaptive order too."""

from __future__ import annotations

import itertools
from decimal import Decimal
from fractions import Fraction

import pytest

from policy_engine.accounting.events import ApproximateDP, FixedList, PureDP
from policy_engine.accounting.plans import PlanLine, planned
from policy_engine.accounting.shapes import NoisyShape
from policy_engine.accounting.windows import ToldOf, odometer, told_by_plan, told_of
from policy_engine.errors import DomainError
from policy_engine.ledger.account import Limit
from policy_engine.ledger.asked import Asked
from policy_engine.ledger.pricing import Spent, fits

ONE, SMALL = Decimal(1), Decimal("1e-6")

# Everything below is in whole numbers: e^ε is a power of 2 here, and ε is counted in logarithms.
LN2 = Decimal("0.6931471805599453094172321214581765680755001343602552541206800095")


def randomised(power, delta):
    """The worst (ε, δ)-private pair, e^ε = 2^power: masses of its outcomes under both laws."""
    a = 2**power
    rest = 1 - delta
    return [
        (delta, Fraction(0)), (rest * Fraction(a, a + 1), rest * Fraction(1, a + 1)),
        (rest * Fraction(1, a + 1), rest * Fraction(a, a + 1)), (Fraction(0), delta),
    ]  # fmt: skip


def worst(windows, power, first=Fraction(1), second=Fraction(1)):
    """δ at e^ε = 2^power of the best strategy: in each window any of its lists, by what was seen.

    A window is the lists that its filter admits; a list is pairs, drawn one after the other.
    """
    if not windows:
        return max(Fraction(0), first - 2**power * second)
    found = Fraction(0)
    for pairs in windows[0]:
        total = Fraction(0)
        for draws in itertools.product(*pairs):
            p, q = first, second
            for one, other in draws:
                p, q = p * one, q * other
            total += worst(windows[1:], power, p, q)
        found = max(found, total)
    return found


@pytest.mark.parametrize("m", [1, 2, 3])
@pytest.mark.parametrize("delta", [Fraction(0), Fraction(1, 50), Fraction(1, 10)])
def test_windows_that_are_chosen_by_what_was_seen_add_up(m, delta):
    """In each window one release of the whole limit, or two of half, or nothing but the δ."""
    half = randomised(1, delta / 2)
    window = [[randomised(2, delta)], [half, half], [randomised(0, delta)]]
    told = told_of([(2 * LN2, Decimal(delta.numerator) / delta.denominator)], m)
    assert told.windows == m and told.epsilon == 2 * m * LN2
    power = 2 * m
    true = worst([window] * m, power)
    assert true <= Fraction(told.delta)
    if delta:
        assert true > Fraction(told.delta) * Fraction(9, 10)
        # With less than the sum of ε it does not hold.
        assert worst([window] * m, power - 1) > Fraction(told.delta)


def test_a_release_that_spans_two_periods_is_charged_to_both_and_told_of_once():
    """Two months, and a yearbook of both, priced as one person replaced: any of their rows go.

    Geometric noise with e^ε = 2; of a replaced person one number moves up and another down.
    """
    law = {z: Fraction(1, 3) / 2 ** abs(z) for z in range(-6, 7)}
    law[-6] = law[6] = Fraction(2, 3) / 2**6
    added = [(law.get(z - 1, Fraction(0)), law.get(z, Fraction(0))) for z in range(-6, 8)]
    removed = [(q, p) for p, q in added]
    end = law[-6]
    # A month's filter was charged with its own release, and with the yearbook: 3 ends, 3·ln 2.
    limit = 3 * LN2, Decimal((3 * end).numerator) / (3 * end).denominator
    stays, goes = [added, added, removed], [added, added, added]
    for windows, drawn in [(1, stays), (2, goes)]:
        told = told_of([limit], windows)
        assert worst([[drawn]], 3 * windows) <= Fraction(told.delta)
    # Priced as one person who comes or goes it would not hold of whoever loses one month's rows.
    assert worst([[stays]], 2) > 2 * end


def test_the_dearest_windows_count_and_of_each_number_for_itself():
    limits = [(ONE, Decimal("1e-6")), (Decimal(3), Decimal(0)), (Decimal(2), Decimal("0.7"))]
    assert told_of(limits, 1) == ToldOf(1, Decimal(3), Decimal("0.7"))
    assert told_of(limits, 2) == ToldOf(2, Decimal(5), Decimal("0.700001"))
    assert told_of([limits[2]], 5) == ToldOf(5, Decimal(10), ONE)
    for chosen in itertools.combinations(limits, 2):
        assert sum(e for e, _ in chosen) <= told_of(limits, 2).epsilon
        assert sum(d for _, d in chosen) <= told_of(limits, 2).delta
    for windows, given in [(4, limits), (0, limits), (1, [])]:
        with pytest.raises(DomainError, match="windows must be"):
            told_of(given, windows)


def test_plans_of_several_years_tell_less_than_their_limits():
    plan = planned([PlanLine("visits", NoisyShape(), 12)], ONE, SMALL, "add_remove")
    years = [told_by_plan(plan.charges, m, SMALL, "add_remove").epsilon for m in (1, 3)]
    assert ONE * Decimal("0.98") < years[0] <= 1 < years[1] < 2


def test_the_odometer_is_below_what_can_be_told():
    """The two lists of the design, either within δ(1) = 0.1114: chosen by the outcome, 0.153."""
    limit = Decimal("0.11137")
    for second in (PureDP("0.8"), ApproximateDP("1e-9", "0.1113")):
        charges = ((PureDP("0.5"), 1), (second, 1))
        assert odometer(charges, limit, "add_remove") <= Decimal("1.0001")


def test_what_holds_for_ever_is_charged_with_a_plan_as_one_event():
    """Six years of a plan at (1, 1e-6) fit a limit of 3 for ever: their sum would be 6."""
    plan = planned([PlanLine("visits", NoisyShape(), 12)], ONE, SMALL, "add_remove")
    assert plan.event == FixedList(plan.charges)
    asked, limit = Asked(plan.event, plan.epsilon, plan.delta), Limit(Decimal(3), Decimal("3e-6"))
    state, years = Spent.none("add_remove"), 0
    while fits(state, asked, limit):
        state, years = state.plus(asked, limit), years + 1
    assert years >= 6
    opaque = Asked(ApproximateDP(plan.epsilon, plan.delta), plan.epsilon, plan.delta)
    assert fits(Spent.none("add_remove"), opaque, limit, 3)
    assert not fits(Spent.none("add_remove"), opaque, limit, 4)

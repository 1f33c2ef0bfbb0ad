"""Several windows of an account: against brute force of what is composed, in adaptive order too."""

from __future__ import annotations

import itertools
from decimal import Decimal
from fractions import Fraction

import pytest

from policy_engine.accounting.events import (
    ApproximateDP,
    DiscreteLaplace,
    FixedList,
    PureDP,
    RandomisedResponse,
    Replaced,
    TableNoise,
    Unbounded,
)
from policy_engine.accounting.exact import delta_of_event, epsilon_of_event, has_curve
from policy_engine.accounting.noise import WHOLE, IntegerTable, Statistic
from policy_engine.accounting.pairs import pairs_of
from policy_engine.accounting.plans import PlanLine, planned
from policy_engine.accounting.shapes import NoisyShape
from policy_engine.accounting.windows import ToldOf, spanning, told_of
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


# A release that spans windows


def moved(law, steps):
    """Masses of n + z where a neighbour moves n by so many steps, and where it does not."""
    values = sorted({*law, *(z + steps for z in law)})
    return [(law.get(z - steps, Fraction(0)), law.get(z, Fraction(0))) for z in values]


def hockey(pairs, epsilon):
    """δ at ε of independent numbers, outcome by outcome; e^ε is taken from below."""
    scale = Fraction(Decimal(str(epsilon)).exp().next_minus())
    total = Fraction(0)
    for draws in itertools.product(*pairs):
        p = q = Fraction(1)
        for one, other in draws:
            p, q = p * one, q * other
        total += max(Fraction(0), p - scale * q)
    return total


COIN = IntegerTable(tuple(WHOLE * each // 64 for each in (1, 2, 4, 8, 16, 48, 56, 60, 62, 63)), -5)


def law_of(table):
    return {table.least + place: Fraction(m, WHOLE) for place, m in enumerate(table.masses)}


@pytest.mark.parametrize("groups", [1, 2])
def test_who_loses_the_rows_of_a_period_is_replaced_in_what_spans_it(groups):
    """The person stays with other rows: leaves one group, and enters another, in each of theirs."""
    event = TableNoise((Statistic(COIN, groups=groups),))
    found = spanning(event, ONE, Decimal("0.1"), "add_remove")
    up, down = moved(law_of(COIN), 1), [(q, p) for p, q in moved(law_of(COIN), 1)]
    true = hockey([up, down] * groups, found.epsilon)
    assert true <= Fraction(found.delta)
    assert true > Fraction(found.delta) * Fraction(9, 10)
    assert found.event == Replaced(event)
    # Priced as one who comes or goes it would not hold.
    alone = epsilon_of_event(event, found.delta, "add_remove")
    assert hockey([up, down] * groups, alone) > Fraction(found.delta)


def test_where_another_has_rows_of_the_period_instead_two_people_are_replaced():
    """Both may leave one group and enter another: two pairs of one step do not cover that."""
    masses = (1, 8, 64, 960, 1016, 1023)
    table = IntegerTable(tuple(WHOLE * each // 1024 for each in masses), -3)
    event, epsilon = TableNoise((Statistic(table),)), Decimal("5.6")
    found = spanning(event, epsilon, delta_of_event(event, epsilon, "replace_one"), "replace_one")
    assert (found.epsilon, type(found.event)) == (Decimal("11.2"), ApproximateDP)
    up, down = moved(law_of(table), 2), [(q, p) for p, q in moved(law_of(table), 2)]
    true = hockey([up, down], found.epsilon)
    assert true <= Fraction(found.delta)
    one, other = moved(law_of(table), 1), [(q, p) for p, q in moved(law_of(table), 1)]
    assert hockey([one, one, other, other], found.epsilon) < true


def test_a_filter_of_a_window_admits_what_spans_it_as_it_would_any_event():
    """A month's own releases, and a yearbook: every order ends within the limit, by brute force."""
    own = TableNoise((Statistic(COIN),))
    wide = spanning(own, ONE, Decimal("0.1"), "add_remove")
    limit = Limit(Decimal(6), Decimal("0.9"))
    month, year = Asked(own, ONE, Decimal("0.1")), Asked(wide.event, wide.epsilon, wide.delta)
    up = moved(law_of(COIN), 1)
    down = [(q, p) for p, q in up]
    for asked in itertools.product([month, year], repeat=2):
        spent, pairs = Spent.none("add_remove"), []
        for each in asked:
            if fits(spent, each, limit):
                spent = spent.plus(each, limit)
                pairs += [up] if each is month else [up, down]
        assert hockey(pairs, limit.epsilon) <= Fraction(limit.delta)


@pytest.mark.parametrize(
    ("event", "epsilon", "delta"),
    [
        (PureDP("0.7"), "0.7", "0"),
        (ApproximateDP("0.5", "1e-7"), "0.5", "1e-7"),
        (RandomisedResponse("0.5", 2), "1.09861228867", "0"),
        (DiscreteLaplace(2), "0.500000000001", "0"),
    ],
)
def test_what_is_known_by_two_numbers_has_those_of_the_one_who_is_replaced(event, epsilon, delta):
    found = spanning(event, Decimal(9), Decimal("0.5"), "add_remove")
    assert (found.epsilon, found.delta) == (Decimal(epsilon), Decimal(delta))
    assert found.event == Replaced(event)


def test_what_has_no_pair_spans_nothing():
    assert spanning(Unbounded(), ONE, ONE, "add_remove").event == Unbounded()
    assert spanning(PureDP(400), Decimal(400), Decimal("0.9"), "replace_one").event == Unbounded()
    with pytest.raises(DomainError, match="large enough for one unit that is replaced"):
        spanning(TableNoise((Statistic(COIN),)), ONE, Decimal("1e-9"), "add_remove")
    for event in (Unbounded(), Replaced(PureDP(1)), FixedList(((PureDP(1), 1),))):
        with pytest.raises(DomainError, match="one event of a pair"):
            Replaced(event)
    with pytest.raises(DomainError, match="add_remove where a unit is replaced"):
        pairs_of(Replaced(PureDP(1)), "replace_one")
    assert has_curve(Replaced(PureDP(1)))

"""Pairs of finitely many outcomes: ε and δ against exact sums and the accountant's rules."""

from decimal import Decimal
from fractions import Fraction
from itertools import product
from math import exp, log, prod

import pytest

from policy_engine.accounting.composition import Accountant
from policy_engine.accounting.events import RandomisedResponse
from policy_engine.accounting.finite import WHOLE, delta_of, presence, response
from policy_engine.accounting.pure_shares import epsilon_of, least_share

FLIP = response(2, 1 << 58)
WIDE = response(7, 1 << 55)
TUPLE = presence(3 << 58, 1 << 57)
SETS = {
    "one": [FLIP],
    "two": [FLIP, WIDE],
    "a tuple": [TUPLE],
    "a tuple for another": [TUPLE, tuple((q, p) for p, q in TUPLE)],
}  # fmt: skip


def outcomes(factors):
    return [tuple(map(prod, zip(*chosen, strict=True))) for chosen in product(*factors)]


def exact(factors, scale):
    """δ where e^ε is the fraction ``scale``."""
    both = outcomes(factors)
    ways = (sum(max(Fraction(0), p - scale * q) for p, q in way)
            for way in (both, [(q, p) for p, q in both]))  # fmt: skip
    return max(ways) / WHOLE ** len(factors)


def test_masses_sum_to_one():
    for factor in (FLIP, WIDE, presence(5, 3)):
        assert [sum(side) for side in zip(*factor, strict=True)] == [WHOLE, WHOLE]


@pytest.mark.parametrize("name", SETS)
def test_epsilon_is_the_greatest_loss(name):
    greatest = max(abs(log(p / q)) for p, q in outcomes(SETS[name]))
    found = epsilon_of(SETS[name])
    assert float(found) == pytest.approx(greatest, rel=1e-11)
    assert delta_of(SETS[name], found) == 0
    assert delta_of(SETS[name], found * Decimal("0.999")) > 0


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("epsilon", ["0", "0.1", "0.9"])
def test_delta_is_the_sum_and_not_below(name, epsilon):
    found = Fraction(delta_of(SETS[name], Decimal(epsilon)))
    wanted = exact(SETS[name], Fraction(Decimal(epsilon).exp()))
    assert wanted * (1 - Fraction(1, 10**25)) <= found <= wanted * (1 + Fraction(2, 10**11))


def test_what_tells_for_certain_has_no_epsilon():
    certain = [((WHOLE, 0), (0, WHOLE))]
    assert epsilon_of(certain) is None
    assert delta_of(certain, Decimal(50)) == 1
    assert epsilon_of([((WHOLE, WHOLE), (0, 0))]) == 0


def test_the_accountants_event_is_the_same_pair():
    truth = Decimal(WHOLE - 7 * (1 << 55)) / WHOLE
    account = Accountant.of([RandomisedResponse(truth, 7)], "replace_one")
    for epsilon in ("0.5", "2"):
        found = delta_of([WIDE], Decimal(epsilon))
        assert found <= account.delta(epsilon) <= found * (1 + Decimal("1e-3"))
    assert delta_of([WIDE], epsilon_of([WIDE])) == 0


@pytest.mark.parametrize("values", [2, 3, 10, 1000])
@pytest.mark.parametrize("epsilon", ["0.001", "1", "3.7", "20"])
def test_a_share_is_the_least(values, epsilon):
    epsilon = Decimal(epsilon)
    share = least_share(values, epsilon)
    assert delta_of([response(values, share)], epsilon) == 0
    assert delta_of([response(values, share - 1)], epsilon) > 0
    assert share / WHOLE == pytest.approx(1 / (exp(epsilon) + values - 1), rel=1e-9)


def test_shares_have_ends():
    assert least_share(2, Decimal("1e-19")) is None
    assert least_share(3, Decimal("1e-300")) is None
    assert least_share(4, Decimal(10**9)) == 1

"""[CHOICE] Coin tables, their law and their price, beside brute force over small utilities."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from itertools import product

import pytest

from policy_engine.accounting import choice
from policy_engine.accounting.choice import (
    CUT,
    CoinTable,
    coin_table,
    delta_of_choice,
    step_of,
)
from policy_engine.accounting.choice_law import law_of_choice
from policy_engine.accounting.noise import WHOLE
from policy_engine.base_errors import DomainError


def by_orders(coins: list[int]) -> tuple[Fraction, ...]:
    """The law from its definition: who is asked next is uniform among those who wait."""

    @cache
    def among(waiting: frozenset[int]) -> tuple[Fraction, ...]:
        law = [Fraction(0)] * len(coins)
        for one in waiting:
            coin = Fraction(coins[one], WHOLE)
            after = among(waiting - {one}) if coin < 1 and len(waiting) > 1 else law[:0]
            law[one] += coin / len(waiting)
            for other, chance in enumerate(after):
                law[other] += (1 - coin) * chance / len(waiting)
        return tuple(law)

    return among(frozenset(range(len(coins))))


def exp_from_below(epsilon: str) -> Fraction:
    with localcontext(prec=80) as context:
        return Fraction(context.next_minus(Decimal(epsilon).exp()))


def worst(
    table: CoinTable, epsilon: str, candidates: int, most: int, moves: tuple[int, ...]
) -> Fraction:
    """The largest δ at ε over all utilities up to a most, and all that one unit makes of them."""
    scale, laws = exp_from_below(epsilon), {}

    def law(utilities: tuple[int, ...]) -> tuple[Fraction, ...]:
        # The law knows differences alone.
        distances = tuple(max(utilities) - utility for utility in utilities)
        if distances not in laws:
            laws[distances] = law_of_choice([table.coin(distance) for distance in distances])
        return laws[distances]

    found = Fraction(0)
    for utilities in product(range(most + 1), repeat=candidates):
        for moved in product(moves, repeat=candidates):
            first = law(utilities)
            second = law(tuple(u + by for u, by in zip(utilities, moved, strict=True)))
            for one, other in ((first, second), (second, first)):
                excess = sum(
                    max(Fraction(0), p - scale * q) for p, q in zip(one, other, strict=True)
                )
                found = max(found, excess)
    return found


def test_the_law_is_that_of_its_definition():
    table = coin_table("1.5")
    for distances in product((0, 1, 3, 7, 60), repeat=3):
        coins = [table.coin(each) for each in (0, *distances)]
        assert law_of_choice(coins) == by_orders(coins)
        assert sum(law_of_choice(coins)) == 1


@pytest.mark.parametrize("epsilon", ["0.004", "0.25", "1", "7"])
def test_each_coin_is_its_power_rounded_down(epsilon):
    table, step = coin_table(epsilon, 3), step_of(epsilon, 3)
    with localcontext(prec=200):
        for place in range(0, len(table.entries) + 1, max(1, len(table.entries) // 97)):
            power = (-(Decimal(step.numerator) / step.denominator) * place).exp() * WHOLE
            assert table.coin(place) == (int(power) if power >= CUT else 0)
        last = (-(Decimal(step.numerator) / step.denominator) * len(table.entries)).exp() * WHOLE
    assert last < CUT <= table.entries[-1]


# ε = 9: a coin falls by e^4.5 a step, so that the cut lies within these utilities.
@pytest.mark.parametrize(
    ("epsilon", "candidates", "most"), [("0.5", 4, 3), ("2", 3, 9), ("9", 3, 9)]
)
def test_no_neighbours_are_further_apart_than_is_claimed(epsilon, candidates, most):
    found = worst(coin_table(epsilon), epsilon, candidates, most, (-1, 0, 1))
    assert 0 < found <= Fraction(delta_of_choice(epsilon, candidates))


@pytest.mark.parametrize(("epsilon", "candidates", "most"), [("0.5", 4, 3), ("9", 3, 9)])
def test_utilities_that_move_one_way_cost_half(epsilon, candidates, most):
    table = coin_table(epsilon, monotone=True)
    assert table.entries == coin_table(2 * Decimal(epsilon)).entries
    assert worst(table, epsilon, candidates, most, (0, 1)) <= Fraction(
        delta_of_choice(epsilon, candidates)
    )


def test_what_is_priced_as_if_it_moved_one_way_is_found():
    found = worst(coin_table("0.5", monotone=True), "0.5", 2, 3, (-1, 0, 1))
    assert found > Fraction(1, 10)


def test_a_larger_sensitivity_is_in_the_coins():
    table = coin_table("2", 2)
    assert worst(table, "2", 3, 5, (-2, 0, 2)) <= Fraction(delta_of_choice("2", 3))
    assert worst(coin_table("2", 1), "2", 3, 5, (-2, 0, 2)) > Fraction(1, 100)


def test_the_price_is_of_candidates_and_of_their_orders():
    with localcontext(prec=60):
        differs = (Decimal(60) * (CUT + 1) + Decimal(61) * 30) / WHOLE
        wanted = (1 + Decimal("0.25").exp()) * differs
    assert wanted <= delta_of_choice("0.25", 61) <= wanted * (1 + Decimal("1e-11"))
    assert delta_of_choice(3, 1) == 0
    assert delta_of_choice(30, 10**7) == 1


@pytest.mark.parametrize(
    ("made", "law"),
    [
        (lambda: coin_table(0), "above 0"),
        (lambda: coin_table("0.0009"), "at least 30.5/65536"),
        (lambda: coin_table(1, 0), "at least 1"),
        (lambda: CoinTable(()), "from 1 to 65536"),
        (lambda: CoinTable((WHOLE, 1.0)), "from 1 to 65536"),
        (lambda: CoinTable((WHOLE - 1,)), "do not rise"),
        (lambda: CoinTable((WHOLE, 5)), "none below"),
        (lambda: CoinTable((WHOLE, WHOLE // 4, WHOLE // 2)), "do not rise"),
        (lambda: law_of_choice([]), "one of them"),
        (lambda: law_of_choice([5]), "one of them"),
        (lambda: law_of_choice([WHOLE, -1]), "one of them"),
        (lambda: delta_of_choice(1, 0), "from 1"),
    ],
)
def test_what_is_no_table_or_no_price_is_refused(made, law):
    with pytest.raises(DomainError, match=law):
        made()


def test_an_entry_next_to_a_whole_number_is_computed_with_more_digits():
    """2⁶⁰·e^−x is next to a whole number where x is next to a logarithm: 60 digits of it here."""
    for whole in (70_001, 3 << 40):
        with localcontext(prec=80):
            exponent = Fraction((Decimal(1 << 60) / whole).ln().quantize(Decimal(1).scaleb(-60)))
        assert choice._floor(exponent) in (whole - 1, whole)

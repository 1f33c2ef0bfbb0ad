"""Noise tables: exact prices beside sums of fractions and balls, and what is no table."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise, product
from math import prod

import pytest
from flint import arb, ctx

from policy_engine.accounting import noise
from policy_engine.accounting.composition import Accountant, Question, Tight
from policy_engine.accounting.domain import ADD_REMOVE, Number
from policy_engine.accounting.events import SampledSuppression, TableNoise
from policy_engine.accounting.noise import (
    WHOLE,
    IntegerTable,
    ReleaseCurve,
    Statistic,
    delta_of_release,
)
from policy_engine.accounting.noise_laws import gaussian, laplace, place, tilted
from policy_engine.accounting.powers import aligned, compose
from policy_engine.errors import DomainError

Law = dict[object, Fraction]


def law(table: IntegerTable, shift: int = 0) -> Law:
    """Every value's chance, counted off the entries as the SQL does."""
    ends = [0, *table.entries, WHOLE]
    values: Law = {}
    for number, (low, high) in enumerate(pairwise(ends)):
        nothing = table.is_open and number == len(table.entries)
        value = "nothing" if nothing else table.least + number + shift
        values[value] = values.get(value, Fraction(0)) + Fraction(high - low, WHOLE)
    return values


def divergence(pairs: list[tuple[Law, Law]], epsilon: str) -> arb:
    """H of the product of the first laws against that of the second, outcome by outcome."""
    scale, total = arb(epsilon).exp(), arb(0)
    for outcome in product(*({*one, *other} for one, other in pairs)):
        p = prod(one.get(x, Fraction(0)) for (one, _), x in zip(pairs, outcome, strict=True))
        q = prod(other.get(x, Fraction(0)) for (_, other), x in zip(pairs, outcome, strict=True))
        gain = ball(p) - scale * ball(q)
        total += gain if gain > 0 else 0
    return total


def ball(number: Fraction) -> arb:
    return arb(number.numerator) / arb(number.denominator)


def brute(statistics: Iterable[Statistic], epsilon: str, neighbours: str) -> arb:
    """The worst over the shifts that each group can have, of both directions."""
    moves = []
    for each in statistics:
        # Of an open table what is shown is n less what is drawn.
        up = -1 if each.table.is_open else 1
        sides = {"up": (up,), "down": (-up,), "either": (1, -1)}[each.moves]
        times = each.groups * (1 + (neighbours == "replace_one"))
        for number in range(times):
            back = -1 if number >= each.groups else 1
            moves.append([(each.table, back * s * side)
                          for s in range(1, each.shift + 1) for side in sides])  # fmt: skip
    worst = arb(0)
    for chosen in product(*moves):
        pairs = [(law(table), law(table, shift)) for table, shift in chosen]
        for way in (pairs, [(other, one) for one, other in pairs]):
            found = divergence(way, epsilon)
            worst = found if found > worst else worst
    return worst


@pytest.fixture(autouse=True)
def _precision() -> None:
    before, ctx.prec = ctx.prec, 400
    yield
    ctx.prec = before


def tables(seed: int, size: int) -> list[IntegerTable]:
    """Entries all over, next to each other, equal, and at the ends."""
    chance = random.Random(seed)
    found = []
    for _ in range(size):
        most = chance.choice([12, 10**6, WHOLE - 1])
        entries = sorted(chance.randint(1, most) for _ in range(chance.randint(1, 6)))
        if chance.random() < 0.3:
            entries = [WHOLE - entry for entry in reversed(entries)]
        found.append(IntegerTable(tuple(entries), chance.randint(-5, 5), chance.random() < 0.4))
    return found


def is_exact(bound: Decimal, true: arb) -> bool:
    """Not below the truth, and above it by less than a 1e-11 share."""
    return bool(arb(str(bound)) >= true.lower()) and bool(
        arb(str(bound)) <= true.upper() * (1 + arb("1.1e-11"))
    )


@pytest.mark.parametrize("neighbours", ["add_remove", "replace_one"])
@pytest.mark.parametrize("epsilon", ["0", "0.1", "0.6931471805599453", "1", "3", "41.5", "1e9"])
def test_one_number_is_exact(neighbours, epsilon) -> None:
    for table in tables(1, 20):
        found = delta_of_release([Statistic(table)], epsilon, neighbours)
        true = brute([Statistic(table)], min(epsilon, "100", key=float), neighbours)
        assert is_exact(found.delta, true), table
        assert found.at_n is None


@pytest.mark.parametrize("epsilon", ["0.2", "1.5"])
def test_several_groups_and_statistics_are_exact(epsilon) -> None:
    for one, other in zip(tables(2, 8), tables(3, 8), strict=True):
        parts = [Statistic(one, groups=2), Statistic(other)]
        assert is_exact(delta_of_release(parts, epsilon).delta, brute(parts, epsilon, "add_remove"))


@pytest.mark.parametrize("moves", [("up", "up"), ("up", "down"), ("down", "down")])
@pytest.mark.parametrize("epsilon", ["0.2", "1.5"])
def test_numbers_that_go_the_same_way_or_not_are_composed_as_they_go(moves, epsilon) -> None:
    """One-sided tables: a count that rises beside a sum that falls is no pair of counts."""
    for one, other in zip(tables(5, 30), tables(6, 30), strict=True):
        parts = [
            Statistic(table, moves="up" if table.is_open else way)
            for table, way in zip((one, other), moves, strict=True)
        ]
        assert is_exact(delta_of_release(parts, epsilon).delta, brute(parts, epsilon, "add_remove"))


def test_a_sum_that_moves_down_is_not_priced_as_one_that_moves_up() -> None:
    """The count and the sum of values from -1 to 0, with noise that tails off on one side."""
    table, turned = IntegerTable((4 << 57, 7 << 57), 0), IntegerTable((1 << 57, 4 << 57), -2)
    priced = [Statistic(table), Statistic(turned, moves="down")]
    found = delta_of_release(priced, "0.5").delta
    assert is_exact(found, brute(priced, "0.5", "add_remove"))
    assert found > delta_of_release([Statistic(table), Statistic(turned)], "0.5").delta


def test_a_tilted_count_beside_a_sample_is_composed_the_same_way_round() -> None:
    """Each is there with the person or is not: certified was 2.48e-5 where 5.29e-5 is true."""
    counted, sampled = tilted(1, 13, "1e-6"), place(10, "0.1")
    true = brute([Statistic(counted), Statistic(sampled)], "1.2", "add_remove")
    events = [TableNoise((Statistic(counted),)), SampledSuppression(10, "0.1")]
    found = Accountant.of(events).delta("1.2")
    assert true.lower() <= arb(str(found)) <= true.upper() * arb("1.001")


@pytest.mark.parametrize("moves", ["up", "down", "either"])
@pytest.mark.parametrize("shift", [2, 3, 9])
def test_the_worst_shift_is_exact_for_one_number_and_dominates_for_more(shift, moves) -> None:
    closed = [table for table in tables(4, 16) if not table.is_open]
    for table in closed:
        for epsilon in ("0", "0.3", "2"):
            one = Statistic(table, shift, moves=moves)
            found = delta_of_release([Statistic(table, shift, moves=moves)], epsilon).delta
            assert is_exact(found, brute([one], epsilon, "add_remove"))
    for table in closed[:4]:
        two = Statistic(table, min(shift, 3), 2, moves)
        found = delta_of_release([two], "0.3").delta
        assert arb(str(found)) >= brute([two], "0.3", "add_remove").lower()


def of_one(
    table: IntegerTable, epsilon: Number, neighbours: str = ADD_REMOVE, shift: int = 1
) -> Decimal:
    return delta_of_release([Statistic(table, shift)], epsilon, neighbours).delta


def test_check_values_of_the_theory() -> None:
    assert of_one(laplace(1, 14), 1) == Decimal("3.84263859726E-7")
    assert of_one(place(14, "0.253735"), 1) == Decimal("9.99957544580E-7")
    assert of_one(laplace("0.025", 600), "0.5", shift=20) < Decimal("1e-7")


def multiplied_out(pairs: list[tuple[list[tuple[int, int]], int]], most: int) -> bool:
    """Whether both halves are small enough, by multiplying all of them out."""
    halves: list[set[tuple[int, int]]] = [{(1, 1)}, {(1, 1)}]
    for steps, times in sorted(pairs, key=lambda pair: -len(pair[0])):
        for _ in range(times):
            halves.sort(key=len)
            if len(halves[0]) * len(steps) > most:
                return False
            halves[0] = {(p * r, q * s) for p, q in halves[0] for r, s in steps} - {(0, 0)}
    return True


def test_a_product_is_known_to_be_too_large_where_it_is(monkeypatch) -> None:
    """Only where it is: a few steps of it are looked at, and those that are equal are one."""
    monkeypatch.setattr(noise, "_MOST_STEPS", 3000)
    choose, fits = random.Random(7), Counter[bool]()
    for _ in range(150):
        pairs = []
        for _ in range(choose.randint(1, 3)):
            entries = tuple(sorted(choose.sample(range(1, WHOLE), choose.randint(2, 40))))
            strict = IntegerTable(entries, 0)
            even = laplace(Decimal(choose.randint(1, 9)) / 10, choose.randint(2, 30))
            steps = Statistic(choose.choice([strict, even])).steps()
            pairs.append((steps, choose.randint(1, 6)))
        is_small = multiplied_out(pairs, 3000)
        assert (noise._halves(pairs) is not None) == is_small
        fits[is_small] += 1
    assert min(fits.values()) > 20


def test_the_grid_lies_little_above_the_halves(monkeypatch) -> None:
    cases = [
        (Statistic(laplace(1, 14), groups=2), ("1", "1.5", "2")),
        (Statistic(laplace("0.1", 150), groups=2), ("0.05", "0.2")),
        (Statistic(gaussian(5, 25), groups=3), ("0.5", "1", "4")),
        (Statistic(place(14, "0.253735"), groups=2), ("0.5", "1.5", "60")),
    ]
    for statistic, epsilons in cases:
        for neighbours in ("add_remove", "replace_one")[: 2 if statistic.groups < 3 else 1]:
            exact = [delta_of_release([statistic], at, neighbours).delta for at in epsilons]
            with monkeypatch.context() as patch:
                patch.setattr(noise, "_MOST_STEPS", 1)
                curve = ReleaseCurve.of([statistic], neighbours)
            for at, true in zip(epsilons, exact, strict=True):
                found = curve.delta(at).delta
                assert true <= found <= true * (1 + Decimal("1e-4")), (statistic.groups, at)


def test_many_groups_beside_the_floats_of_the_accountant() -> None:
    """Two ways without common code: long decimals, and tilted FFTs."""
    for table, groups, epsilon in (
        (laplace("0.5", 60), 30, "6"),
        (gaussian(20, 100), 50, "1"),
        (place(20, "0.1"), 40, "1"),
    ):
        statistic = Statistic(table, groups=groups)
        curve = ReleaseCurve.of([statistic])
        assert curve.laws and not curve.halves
        other = Tight().delta(((TableNoise((statistic,)), 1),), Decimal(epsilon), Question())
        assert abs(curve.delta(epsilon).delta / other - 1) < Decimal("1e-3")


@pytest.mark.parametrize("neighbours", ["add_remove", "replace_one"])
def test_numbers_with_one_law_are_one_power_however_they_are_listed(neighbours) -> None:
    table, other = gaussian(20, 100), laplace("0.1", 150)
    listed = [Statistic(table), Statistic(other, groups=4)] * 6
    once = [Statistic(other, groups=24), Statistic(table, groups=6)]
    asked = (ReleaseCurve.of(each, neighbours).delta(2).delta for each in (listed, once))
    assert abs(next(asked) / next(asked) - 1) < Decimal("1e-5")
    lists = [Statistic(table)] * 9, [Statistic(table, groups=9)]
    asked = (delta_of_release(each, 1, neighbours) for each in lists)
    assert next(asked) == next(asked)


@pytest.mark.parametrize("number", [4, 5, 6])
@pytest.mark.parametrize(
    "table", [gaussian("1.6", 8), gaussian(8, 40), laplace(1, 14), place(14, "0.253735")]
)
def test_halves_that_are_too_large_are_refused_before_they_are_made(table, number) -> None:
    """A few steps of two factors tell it; what they do not tell is made, and is no larger."""
    pair = Statistic(table).steps()
    found = noise._halves([(pair, number)])
    made: list[list[tuple[int, int]]] = [[(1, 1)], [(1, 1)]]
    for _ in range(number):
        made.sort(key=len)
        if len(made[0]) * len(pair) > noise._MOST_STEPS:
            assert found is None
            return
        both = Counter((p * r, q * s) for p, q in made[0] for r, s in pair)
        made[0] = [(p * n, q * n) for (p, q), n in both.items() if p or q]
    assert found is not None
    assert sorted(map(len, found)) == sorted(map(len, made))


def test_laws_without_a_common_value_give_all_away() -> None:
    disjoint = Statistic(IntegerTable((1 << 59,), 0), shift=2)
    assert delta_of_release([disjoint], 5).delta == 1
    assert compose([(disjoint.steps(), 3)], WHOLE).delta(Decimal(5)) == 1
    assert Accountant.of([TableNoise((disjoint,))]).delta(5) == 1


def test_rare_losses_go_to_infinity_or_up() -> None:
    """Half of it is infinite, so what is rarer than 1e-6 of that does not count."""
    steps = [(WHOLE // 2, 0), (9, 1), (WHOLE // 2 - 20, WHOLE - 41), (11, 40)]
    grid = compose([(steps, 1)], WHOLE)
    assert len(grid.left.masses) == 1
    assert grid.certain > Decimal("0.5")
    assert Decimal("0.5") <= grid.delta(Decimal(3)) < Decimal("0.500001")


@pytest.mark.parametrize(
    ("step", "losses", "wanted"),
    [
        (0.3, [], 0.3),
        (0.3, [0.0], 0.3),
        (0.3, [1.0, 0.5], 0.25),
        (2e-4, [0.1, 0.1 * 2**0.5], 2e-4),
        (0.3, [0.1], 0.3),
    ],
)
def test_a_step_that_divides_what_is_heavy(step, losses, wanted) -> None:
    assert abs(aligned(step, losses) - wanted) < 1e-2 * wanted


OPEN = IntegerTable((5, 9), 3, is_open=True)


def test_what_a_table_says_of_itself() -> None:
    assert (OPEN.masses, OPEN.largest) == ((5, 4), 4)
    assert OPEN.tail == WHOLE - 9
    closed = IntegerTable((5, 9), 3)
    assert (closed.masses, closed.largest, closed.tail) == ((5, 4, WHOLE - 9), 5, 0)
    assert IntegerTable([5, 9], 3) == closed  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: IntegerTable((), 0), "entries must be from 1 to 65536 integers, found 0"),
        (lambda: IntegerTable((1.0,), 0), "entries must be from 1 to 65536 integers, found 1"),
        (lambda: IntegerTable((True,), 0), "entries must be from 1 to 65536 integers, found 1"),
        (lambda: IntegerTable((1,) * 65537, 0), "entries must be from 1 to 65536 integers"),
        (
            lambda: IntegerTable((2, 1), 0),
            "entries must be integers that ascend, above 0 and below",
        ),
        (
            lambda: IntegerTable((0, 1), 0),
            "entries must be integers that ascend, above 0 and below",
        ),
        (lambda: IntegerTable((WHOLE,), 0), "entries must be integers that ascend, above 0 and"),
        (
            lambda: IntegerTable((1,), 0.5),
            "least must be an integer of at most 1000000000, found 0.5",
        ),
        (lambda: IntegerTable((1,), 10**9 + 1), "least must be an integer of at most 1000000000"),
        (lambda: IntegerTable((1,), 0, 1), "is_open must be true or false, found 1"),
        (lambda: Statistic(OPEN, 0), "shift must be an integer of at least 1, found 0"),
        (lambda: Statistic(OPEN, 1, 0), "groups must be an integer of at least 1, found 0"),
        (lambda: Statistic(OPEN, 1001), "shift must be at most 1000, and at most 100000 groups"),
        (lambda: Statistic(OPEN, 1, 100001), "shift must be at most 1000, and at most 100000"),
        (lambda: Statistic(OPEN, 1, 1, "on"), "moves must be up, down or either, found 'on'"),
        (lambda: Statistic(OPEN, 2), "shift must be 1 and up, for a table that is open"),
        (lambda: Statistic(OPEN, moves="either"), "shift must be 1 and up, for a table that"),
        (lambda: ReleaseCurve.of([]), "statistics must be at least one, found none"),
        (
            lambda: of_one(OPEN, -1),
            "epsilon must be a finite number from 0 to 1000000000",
        ),
        (
            lambda: of_one(OPEN, 1, "all"),
            "neighbours must be add_remove or replace_one",
        ),
        (lambda: TableNoise(()), "statistics must be at least one statistic, found ()"),
        (lambda: TableNoise((OPEN,)), "statistics must be at least one statistic, found"),
    ],
)
def test_what_is_no_table(make, message) -> None:
    with pytest.raises(DomainError) as caught:
        make()
    assert str(caught.value).startswith(message)


def test_the_largest_tables_and_shifts_are_taken() -> None:
    table = IntegerTable(tuple(range(1, 65537)), -(10**9))
    assert Statistic(table, 1000, 10**5).groups == 10**5
    assert IntegerTable((1, WHOLE - 1), 10**9).largest == 10**9 + 2

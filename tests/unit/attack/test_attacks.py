"""Each attack finds the victim that was planted for it, and nobody where there is none."""

from __future__ import annotations

import random
from collections import Counter
from decimal import Decimal
from itertools import product
from math import prod

import pytest

from policy_engine.accounting.events import ApproximateDP, PureDP
from policy_engine.accounting.noise_laws import laplace
from policy_engine.accounting.odds import guessed_right
from policy_engine.attack import attacks
from policy_engine.attack.attacks import PublishedTable, classes_of
from policy_engine.audit.verdict import Hits, at_least
from policy_engine.measure.subjects import Promise

EVEN = [(("a",), "flu", 3), (("a",), "cough", 3), (("a",), "cold", 3),
        (("b",), "flu", 4), (("b",), "cough", 4), (("b",), "cold", 4)]  # fmt: skip
KINDS = {"flu": "breath", "cough": "breath", "cold": "breath", "ulcer": "belly"}


def table(*rows, name: str = "t", single: bool = False) -> PublishedTable:
    shown = tuple((key, value) for key, value, _ in rows) if single else ()
    return PublishedTable(name, ("zip",), "illness", classes_of(rows), shown)


CLEAN = table(*EVEN)


@pytest.mark.parametrize(
    ("attack", "planted", "people"),
    [
        (attacks.homogeneity, ("c", "flu", 7), 7),
        (attacks.homogeneity, (None, None, 2), 2),
        (attacks.skewness, ("c", "ulcer", 5), 5),
    ],
)
def test_a_planted_class_is_found(attack, planted, people) -> None:
    key, value, n = planted
    found = attack(table(*EVEN, ((key,), value, n)))
    assert (found.victims, len(found.learned)) == (people, 1)
    assert found.learned[0].startswith(f"zip {'NULL' if key is None else key}: illness is ")
    assert attack(CLEAN).victims == 0


def test_who_can_exclude_one_of_two_knows_the_other() -> None:
    found = attacks.background(table(*EVEN, (("c",), "flu", 2), (("c",), "ulcer", 2)))
    assert found.victims == 4 and "flu or ulcer" in found.learned[0]
    assert attacks.background(CLEAN).victims == 0


def test_values_of_one_kind_tell_the_kind() -> None:
    mixed = table((("a",), "flu", 1), (("a",), "ulcer", 1), (("b",), "flu", 2), (("b",), "cold", 2))
    found = attacks.similarity(mixed, KINDS)
    assert (found.victims, found.learned) == (4, ("zip b: illness is some breath",))
    unknown = table((("b",), "gout", 2), (("b",), "rash", 2))
    assert attacks.similarity(unknown, KINDS).victims == 0


def test_a_known_person_is_linked_where_alone_or_alike() -> None:
    planted = table(*EVEN, (("c",), "ulcer", 1), (("d",), "flu", 9))
    known = [{"zip": zip_, "name": "x"} for zip_ in ("a", "c", "d", "elsewhere")]
    found = attacks.linkage(planted, known, "voters")
    assert found.victims == 2
    assert found.learned[0] == "row 2 of voters is alone in a class: illness is ulcer"
    assert found.learned[1].startswith("row 3 of voters is in a class of one value")
    assert attacks.linkage(CLEAN, known, "voters").victims == 0


def test_one_who_came_or_left_is_the_difference_of_two_tables() -> None:
    came = table(*EVEN, (("a",), "ulcer", 1), name="later")
    assert attacks.differencing(CLEAN, came).learned == ("zip a: who came has illness ulcer",)
    assert attacks.differencing(came, CLEAN).learned == ("zip a: who left has illness ulcer",)
    assert attacks.differencing(CLEAN, CLEAN).victims == 0
    two = table(*EVEN, (("a",), "ulcer", 1), (("a",), "flu", 1))
    assert attacks.differencing(CLEAN, two).victims == 0


def test_two_recodings_in_one_order_are_joined_by_their_places() -> None:
    keys, illnesses = ["a", "a", "b", "b"], ["flu", "cough", "cold", "ulcer"]
    one = table(*(((k,), s, 1) for k, s in zip(keys, illnesses, strict=True)), single=True)
    ages = ["young", "old", "young", "old"]
    other = table(*(((k,), s, 1) for k, s in zip(ages, illnesses, strict=True)), single=True)
    found = attacks.unsorted_matching(one, other)
    assert found.victims == 4 and "illness is flu" in found.learned[0]
    shuffled = table(*(((k,), s, 1) for k, s in zip(ages, illnesses[::-1], strict=True)),
                     single=True)  # fmt: skip
    assert attacks.unsorted_matching(one, shuffled).victims == 0


def test_the_difference_of_certified_counts_is_within_the_bound() -> None:
    """2,000 coins: a person came or did not. Of exact counts the attack is always right."""
    epsilon, error = Decimal(1), Decimal("1e-6")
    noise, chance = laplace(epsilon, 14), random.Random(9)
    values = range(noise.least, noise.largest + 1)
    right, by_sign = {"exact": 0, "noisy": 0}, 0
    for _ in range(2_000):
        came = chance.random() < 0.5
        for kind in right:
            z = [0, 0] if kind == "exact" else chance.choices(values, noise.masses, k=2)
            before = table((("a",), "flu", 100 + z[0]))
            after = table((("a",), "flu", 100 + came + z[1]))
            guess = bool(attacks.differencing(before, after).victims)
            right[kind] += guess == came
        by_sign += (came + z[1] > z[0]) == came  # the best guess there is from the noisy two
    bound = guessed_right(epsilon, Decimal("1e-6"))
    assert right["exact"] == 2_000
    assert at_least(Hits(right["noisy"], 2_000), error) <= bound
    assert at_least(Hits(by_sign, 2_000), error) <= bound
    assert by_sign > 1_000  # it does learn, and no more than the bound allows
    assert at_least(Hits(right["exact"], 2_000), error) > bound


def promise(epsilon, delta, unit="row", notion="add_remove", event=None) -> Promise:
    known = event or ApproximateDP(epsilon, delta)
    return Promise("a", Decimal(epsilon), Decimal(delta), unit, notion, known)


def test_what_bounds_every_attack_is_said_with_its_numbers() -> None:
    told = attacks.membership(promise("0.5", "1e-9")).bound
    assert "at most 62.3 % of the time" in told and "ε = 0.5 and δ = 1e-9 (unit: row)" in told
    of_two = attacks.membership(promise("0.5", "1e-9", notion="replace_one")).bound
    assert "which of two sets of data is a given person's" in of_two


def right_at_most(told: str) -> Decimal:
    return Decimal(told.partition("at most ")[2].split()[0]) / 100


def test_two_releases_are_bounded_by_what_both_say_together() -> None:
    """Two answers, each true with chance e^ε/(1 + e^ε): both are seen, and the guess is by both."""
    one = promise(1, 0, event=PureDP(1))
    told = attacks.membership(one, promise("0.3", 0, event=PureDP("0.3"))).bound
    chances = [Decimal(each).exp() / (1 + Decimal(each).exp()) for each in ("1", "0.3")]
    truth = Decimal(0)
    for answers in product((True, False), repeat=2):
        if_in = prod(p if a else 1 - p for p, a in zip(chances, answers, strict=True))
        if_out = prod(1 - p if a else p for p, a in zip(chances, answers, strict=True))
        truth += max(if_in, if_out) / 2
    # Below what the sum of both ε says, and not below the truth.
    assert truth <= right_at_most(told) <= truth + Decimal("0.002")
    assert right_at_most(told) < guessed_right("1.3", 0)
    assert "both together, ε = 1 and δ = 0 (unit: row) and ε = 0.3 and δ = 0 (unit: row)" in told
    alone = right_at_most(told.partition("alone")[2])
    assert chances[0] <= alone <= chances[0] + Decimal("0.002")


def test_what_both_say_together_is_not_below_what_one_says_alone() -> None:
    """Of one the sentence is by (ε, δ), of both by the curve, which may be less."""
    noisy = promise("0.5", "1e-7", event=ApproximateDP("0.1", "1e-7"))
    told = attacks.membership(noisy, noisy).bound
    together, alone = right_at_most(told), right_at_most(told.partition("alone")[2])
    assert alone <= together < right_at_most(attacks.membership(noisy).bound)


@pytest.mark.parametrize("other", [{"unit": "id"}, {"notion": "replace_one"}])
def test_of_what_does_not_compose_nothing_is_said(other) -> None:
    told = attacks.membership(promise("0.5", "1e-9"), promise("0.5", "1e-9", **other)).bound
    assert told.startswith("nothing bounds every attack on both together")


@pytest.mark.parametrize(
    ("rows", "above"),
    [
        ([((), "HIV", 999), ((), "none", 1)], 1000),
        ([(("a",), "HIV", 49), (("a",), "none", 1), (("b",), "HIV", 1), (("b",), "none", 1)], 50),
        ([(("a",), "HIV", 8), (("a",), "none", 2), (("b",), "flu", 7), (("b",), "none", 3)], 10),
        ([(("a",), "HIV", 7), (("a",), "none", 3)], 0),
    ],
)
def test_the_best_guess_is_right_as_often_as_is_said(rows, above) -> None:
    """Nothing was said of them: nobody is twice as frequent in a class as in the table."""
    shown = PublishedTable("t", ("zip",) if rows[0][0] else (), "illness", classes_of(rows))
    found = attacks.best_guess(shown)
    assert (found.victims, found.is_guess) == (above, True)
    assert bool(found.learned) is bool(above)
    # The guess is made of each person, one by one, and counted.
    best = {}
    for key, value, people in rows:
        best[key] = max((people, value), best.get(key, (0, "")))
    people = [(key, value) for key, value, number in rows for _ in range(number)]
    right = sum(best[key][1] == value for key, value in people)
    commonest = Counter(value for _, value in people).most_common(1)[0][1]
    assert f"right of {100 * right / len(people):.1f} % of the people shown" in found.measured
    assert f"everybody is right of {100 * commonest / len(people):.1f} %" in found.measured


def test_of_a_table_of_nobody_nothing_is_guessed() -> None:
    assert attacks.best_guess(table()).nothing == "the table shows nobody"


def test_what_is_not_learnt_is_said_as_it_is_true_of_the_table() -> None:
    found = attacks.skewness(table(("a", "HIV", 999), ("a", "none", 1)))
    assert not found.learned
    assert found.nothing == "no class has a value of illness 2 times as often as the table"


def test_counters_keep_null() -> None:
    assert classes_of([((None,), None, 2)]) == {(None,): Counter({None: 2})}

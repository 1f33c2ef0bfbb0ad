"""A desk that refuses small counts tells them all the same; what it tells of a release is that."""

from __future__ import annotations

from collections import Counter

import pytest

from policy_engine.attack.attacks import PublishedTable, classes_of
from policy_engine.attack.trackers import SizeControl, double, general, individual, trackers

ROWS = [
    ((zip_, age), illness, people)
    for zip_, age, people in (("a", "20", 9), ("a", "30", 8), ("b", "20", 7), ("b", "30", 9))
    for illness in ("flu", "cough")
]
VICTIM = (("b", "40"), "ulcer", 1)
BOB = {"zip": "b", "age": "40"}
NAMES = ("individual tracker", "general tracker", "double tracker")


def desk(*rows, least: int = 5) -> SizeControl:
    return SizeControl(PublishedTable("t", ("zip", "age"), "illness", classes_of(rows)), least)


def test_the_desk_refuses_small_counts_and_what_leaves_few() -> None:
    asked = desk(*ROWS, VICTIM)
    bob = frozenset({(("b", "40"), "ulcer")})
    assert asked.answer(bob) is None and asked.answer(asked.everybody - bob) is None
    assert asked.answer(frozenset({(("a", "20"), "flu")})) == 9


def test_each_tracker_finds_the_planted_victim() -> None:
    found = {each.name: each for each in trackers(desk(*ROWS, VICTIM), [BOB], "voters")}
    assert tuple(found) == NAMES
    for each in found.values():
        assert each.learned == ("row 1 of voters: illness is ulcer",), each.name
        assert "noisy_counts" in each.remedy and "5 people or more" in each.needed


@pytest.mark.parametrize("maker", [general, double])
def test_a_tracker_counts_exactly(maker) -> None:
    asked = desk(*ROWS, VICTIM, (("b", "40"), "flu", 2))
    count = maker(asked)
    for cell, people in ((("b", "40"), "ulcer"), 1), ((("b", "40"), "flu"), 2):
        assert count(frozenset({cell})) == people
    person = individual(asked, ("b", "40"))
    assert person is not None and person(frozenset({(("b", "40"), "flu")})) == 2


def test_where_the_desk_speaks_of_too_few_no_tracker_works() -> None:
    found = list(trackers(desk(*ROWS, VICTIM, least=34), [BOB], "voters"))
    assert [each.victims for each in found] == [0, 0, 0]


def test_nothing_new_is_learnt_of_a_class_that_the_desk_speaks_of() -> None:
    found = trackers(desk(*ROWS, (("c", "20"), "flu", 6)), [{"zip": "c", "age": "20"}], "voters")
    assert [each.victims for each in found] == [0, 0, 0]


def test_of_two_values_or_of_nobody_no_value_is_learnt() -> None:
    people = [BOB, {"zip": "elsewhere", "age": "20"}]
    two = desk(*ROWS, VICTIM, (("b", "40"), "flu", 1))
    assert [each.victims for each in trackers(two, people, "voters")] == [0, 0, 0]


def test_an_unknown_value_is_learnt_too() -> None:
    found = trackers(desk(*ROWS, (("b", "40"), None, 1)), [BOB], "voters")
    assert {each.learned for each in found} == {("row 1 of voters: illness is NULL",)}


def test_the_padding_is_of_one_column() -> None:
    groups = list(desk(*ROWS).groups())
    assert Counter(map(len, groups)) == {4: 3, 8: 3}  # the first value, and both, three times

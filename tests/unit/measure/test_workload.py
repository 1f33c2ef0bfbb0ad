"""What a release is good for: errors of counting queries, and what a tree learns from it."""

from __future__ import annotations

import itertools
import sys

import pytest

from policy_engine.errors import UsageError
from policy_engine.measure.workload import QUERIES, workload

AGES, SEXES = ("<30", "[30,60)", ">=60"), ("f", "m", None)
SOURCE = {
    (age, sex, "high" if age == "[30,60)" else "low"): 40 + 20 * n
    for n, (age, sex) in enumerate(itertools.product(AGES, SEXES))
}
COLUMNS = ("age", "sex", "pay")


def test_the_table_itself_has_no_error_and_teaches_all_that_there_is() -> None:
    found = workload(COLUMNS, SOURCE, ["pay"], SOURCE, {"age": AGES})
    assert found.errors == {"mean": 0, "median": 0, "p90": 0, "p99": 0}
    (learnt,) = found.learnt
    assert learnt.own == learnt.sanitised == learnt.best == 1
    assert 0.5 < (learnt.base or 0) < 0.8 and found.queries == QUERIES
    assert not found.is_public


def test_a_release_with_half_of_the_people_is_off_by_half_in_every_query() -> None:
    half = {key: n / 2 for key, n in SOURCE.items()}
    found = workload(COLUMNS, half, ["pay"], SOURCE)
    assert found.errors is not None
    assert found.errors["median"] == found.errors["p99"] == pytest.approx(0.5)


def test_ranges_follow_the_order_that_is_given_and_null_is_last() -> None:
    """All error is in the greatest value: in another order a range of two could leave it out."""
    wrong = {key: n * (3 if key[0] == ">=60" else 1) for key, n in SOURCE.items()}
    by_age = {(age,): sum(n for key, n in wrong.items() if key[0] == age) for age in AGES}
    real = {(age,): sum(n for key, n in SOURCE.items() if key[0] == age) for age in AGES}
    ordered = workload(["age"], by_age, [], real, {"age": AGES}).errors
    middle = workload(["age"], by_age, [], real, {"age": ("<30", ">=60", "[30,60)")}).errors
    assert ordered is not None and middle is not None
    assert ordered["mean"] < middle["mean"]


def test_what_is_not_in_the_release_is_not_learnt_and_the_release_alone_is_public() -> None:
    blind = {(age, sex, pay): 50 for age in AGES for sex in SEXES for pay in ("high", "low")}
    alone = workload(COLUMNS, blind, ["pay"])
    assert alone.is_public and alone.errors is None and alone.learnt[0].sanitised is None
    assert alone.learnt[0].own == pytest.approx(0.5, abs=0.1)
    beside = workload(COLUMNS, blind, ["pay"], SOURCE).learnt[0]
    assert (beside.sanitised or 0) < (beside.best or 0) == 1


@pytest.mark.parametrize("empty", [{}, {("<30", "f", "low"): 0}])
def test_of_nobody_nothing_is_learnt(empty) -> None:
    (learnt,) = workload(COLUMNS, empty, ["pay"], SOURCE).learnt
    assert learnt.own is learnt.commonest is learnt.sanitised is None


def test_without_scikit_learn_it_says_what_to_install(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.tree", None)
    with pytest.raises(UsageError, match="--workload needs scikit-learn"):
        workload(COLUMNS, SOURCE, ["pay"])

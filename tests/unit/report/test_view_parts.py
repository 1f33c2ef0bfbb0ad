"""The parts of a report: chances, promise, questions, groups that are alike, clauses."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from policy_engine.accounting.comparison import SAMPLED, Candidate, per_cent
from policy_engine.accounting.frontier import SamplePair
from policy_engine.kernel.certificate import Terms, vouched
from policy_engine.kernel.claim import Claim, Shown
from policy_engine.kernel.mechanisms import Native
from policy_engine.kernel.promise import Bounded
from policy_engine.kernel.recodes import Keep
from policy_engine.kernel.sources import Column, Relation, Rows
from policy_engine.kernel.types import Type
from policy_engine.report.mechanism import clauses
from policy_engine.report.promise import promise, published, risks

COLUMNS = tuple(Shown(name, Column(name, Type("text")), Keep()) for name in ("town", "ill"))
CLAIM = Claim(Relation(("main", "t")), Rows(), Native(Decimal("0.1"), 20), COLUMNS)
CERTIFICATE = vouched(
    'SELECT 1\nFROM "\u202et"',
    CLAIM,
    "duckdb",
    Terms("p", "", "t", Bounded(Decimal(1), Decimal("0.01"))),
)


def test_the_chances_of_the_issue():
    own = Candidate(SAMPLED, SamplePair(20, Decimal("0.1")))
    shown = [per_cent(own.chance(size)) for size in (20, 50, 100, 200)]
    assert shown == ["0 %", "0 %", "0.2 %", "53 %"]


def test_the_odds_are_rounded_up_and_stand_with_delta_and_unit():
    found = promise(CERTIFICATE)
    # (e + 0.01) / (1 + e) = 0.73375…
    assert "at most 73.4 % of the time" in found.sentence
    assert found.right == 74
    assert found.numbers == "ε = 1, δ = 0.01, unit: row"


def test_each_published_epsilon_has_its_unit_and_they_stand_in_order():
    found = published()
    assert len(found) == 22
    assert all(each.unit and each.what for each in found)
    numbers = [Decimal(each.epsilon) for each in found]
    assert numbers == sorted(numbers)
    assert [each.at for each in found] == sorted(each.at for each in found)


def test_groups_that_are_alike_are_counted_from_the_release():
    lines = (("a", "yes", "20"), ("a", "no", "30"), ("b", "yes", "25"), ("c", None, "21"))
    found = risks(CERTIFICATE, lines)
    town, ill = found.alike
    # Of 'ill' = no and of a missing one there is one town each.
    assert (town.combinations, town.known, town.people, town.of_people) == (
        3,
        2,
        51,
        96,
    )
    # In b and c everybody has the same.
    assert (ill.combinations, ill.known, ill.people) == (3, 2, 46)


def test_of_rows_each_line_is_one_person():
    lines = (("a", "yes"),) * 3 + (("b", "no"),) * 2
    town, _ = risks(replace(CERTIFICATE, claim=replace(CLAIM, count=None)), lines).alike
    assert (town.known, town.people, town.of_people) == (2, 5, 5)


@pytest.mark.parametrize(
    ("columns", "lines", "why"),
    [(COLUMNS[:1], (("x", "20"),), "one column"), (COLUMNS, None, "was not given")],
)
def test_what_is_not_counted_says_why(columns, lines, why):
    found = risks(replace(CERTIFICATE, claim=replace(CLAIM, columns=columns)), lines)
    assert found.alike is None
    assert why in found.not_counted


def test_an_assumption_becomes_a_question_that_keeps_its_words():
    questions = risks(CERTIFICATE, None).questions
    asked = {each.assumption: each.question for each in questions}
    assert asked["t does not change while it is read"] == "Did t stay unchanged while it was read?"
    assert asked["one row of t is one person"] == "Is it true that one row of t is one person?"
    assert len(asked) == len(CERTIFICATE.assumptions)


def test_a_text_is_shown_as_what_it_is():
    lines = [line for clause in clauses(CERTIFICATE) for line in clause.lines]
    assert lines == ["SELECT 1", 'FROM "\\u202et"']

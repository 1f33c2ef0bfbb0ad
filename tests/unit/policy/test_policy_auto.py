"""`auto`: which question is put to the accounting, and what is made of its answer."""

from __future__ import annotations

import sys
from decimal import Decimal
from types import SimpleNamespace

import pytest

import policy_engine.accounting
from policy_engine.errors import DomainError
from policy_engine.policy.auto import Guarantee, NoSolution, solve_auto

GUARANTEE = Guarantee(Decimal("0.5"), Decimal("1e-9"), "replace_one")
GIVEN = (Decimal("0.5"), Decimal("1e-9"))


@pytest.fixture
def asked(monkeypatch):
    """Answers in place of the accounting's, and a list of the questions."""
    questions = []

    def least_k(*question):
        questions.append(("least_k", *question))
        return 42

    def greatest_rate(*question):
        questions.append(("greatest_rate", *question))
        return Decimal("0.123456789012345")

    def best_pair(*question):
        questions.append(("best_pair", *question))
        return 50, Decimal("0.2")

    answers = SimpleNamespace(least_k=least_k, greatest_rate=greatest_rate, best_pair=best_pair)
    monkeypatch.setattr(policy_engine.accounting, "calibration", answers, raising=False)
    monkeypatch.setitem(sys.modules, "policy_engine.accounting.calibration", answers)
    return questions


def test_nothing_is_asked_where_nothing_is_open(asked):
    assert solve_auto(GUARANTEE, 20, Decimal("0.1")) == (20, Decimal("0.1"))
    assert asked == []


def test_the_least_k_is_asked_at_the_rate_of_the_population(asked):
    rate = Decimal("0.1")
    assert solve_auto(GUARANTEE, None, rate, Decimal("0.01")) == (42, rate)
    assert asked == [("least_k", *GIVEN, Decimal("0.001"), "replace_one")]


def test_the_greatest_rate_is_rounded_down(asked):
    assert solve_auto(GUARANTEE, 20, None) == (20, Decimal("0.123456789012"))
    assert asked == [("greatest_rate", *GIVEN, 20, "replace_one")]


def test_a_sampled_source_may_be_sampled_at_more(asked):
    k, rate = solve_auto(GUARANTEE, 20, None, Decimal("0.7"))
    assert (k, rate) == (20, Decimal("0.176366841446"))
    assert rate * Decimal("0.7") <= Decimal("0.123456789012345")


def test_a_rate_stays_below_one(asked):
    assert solve_auto(GUARANTEE, 20, None, Decimal("0.01")) == (20, Decimal("0.999999999999"))


def test_the_best_pair(asked):
    assert solve_auto(GUARANTEE, None, None) == (50, Decimal("0.2"))
    assert asked == [("best_pair", *GIVEN, "replace_one")]


def test_k_is_asked_again_where_the_best_rate_is_out_of_reach(asked):
    assert solve_auto(GUARANTEE, None, None, Decimal("0.1")) == (42, Decimal("0.999999999999"))
    assert asked[1] == ("least_k", *GIVEN, Decimal("0.0999999999999"), "replace_one")


def test_no_solution_is_a_problem_where_auto_is_written(monkeypatch, problems):
    def none(*_):
        raise DomainError("delta", "at least 1e-40", "1e-50")

    answers = SimpleNamespace(least_k=none, greatest_rate=none, best_pair=none)
    monkeypatch.setattr(policy_engine.accounting, "calibration", answers, raising=False)
    monkeypatch.setitem(sys.modules, "policy_engine.accounting.calibration", answers)
    end = (
        "is auto, but nothing gives this guarantee: delta must be at least 1e-40, found 1e-50; "
        "'policy-engine calculate' shows what is possible"
    )
    assert problems(k="k: auto") == [f"6:4: k {end}"]
    assert problems(sample="sample: {rate: auto}") == [f"5:16: sample.rate {end}"]
    with pytest.raises(NoSolution, match="delta must be at least"):
        solve_auto(GUARANTEE, None, None)


def test_a_rate_of_zero_is_no_solution(asked, monkeypatch):
    monkeypatch.setattr(
        policy_engine.accounting.calibration, "greatest_rate", lambda *_: Decimal(0)
    )
    with pytest.raises(NoSolution, match="no rate is small enough"):
        solve_auto(GUARANTEE, 20, None)


def test_the_accountings_own_answers(load):
    from policy_engine.accounting import calibration

    rate, auto = Decimal("0.1"), "sample: {rate: auto}"
    assert load(k="k: auto").k == calibration.least_k(*GIVEN, rate)
    assert load(sample=auto).rate == calibration.greatest_rate(*GIVEN, 20)
    both = load(k="k: auto", sample=auto)
    assert (both.k, both.rate) == calibration.best_pair(*GIVEN)


def test_the_rate_of_a_sampled_source_keeps_the_guarantee(load):
    from policy_engine.accounting import calibration

    source = "source: {file: a.csv, sampled_at: 0.3}\nprivacy_unit: row"
    policy = load(source=source, sample="sample: {rate: auto}")
    greatest = calibration.greatest_rate(*GIVEN, 20)
    assert greatest - Decimal("1e-12") < policy.effective_rate <= greatest


def test_the_languages_bounds_are_those_of_the_accounting():
    from policy_engine.accounting import prior
    from policy_engine.policy import fields

    assert (fields.MOST_GROUPS, fields.MAX_INTEGER) == (prior.MOST_GROUPS, prior.MOST_PEOPLE)
    assert prior.GREATEST_EXPONENT == 10


def chosen(load, goal="people", prior="{sizes: {40: 9, 2000: 2}}", sampled_at="1.0", **lines):
    return load(
        **{
            "source": f"source: {{file: a.csv, sampled_at: {sampled_at}}}\nprivacy_unit: row",
            "sample": "sample: {rate: auto}",
            "k": "k: auto",
            "guarantee": "guarantee: {epsilon: 1, delta: 1.0e-6}",
            "auto": f"auto: {{maximise: {goal}, prior: {prior}}}",
            **lines,
        }
    )


def pairs():
    from policy_engine.accounting.frontier import frontier

    return [(pair.k, pair.rate) for pair in frontier("1", "1e-6")]


def test_a_pair_of_the_frontier_is_chosen_for_a_goal(load):
    from policy_engine.accounting.prior import Prior, expected_groups, expected_people

    prior = Prior.of_sizes({40: 9, 2000: 2})
    for goal, expected in (("people", expected_people), ("groups", expected_groups)):
        policy = chosen(load, goal)
        assert (policy.k, policy.rate) in pairs()
        worth = [expected(k, rate, prior) for k, rate in pairs()]
        assert expected(policy.k, policy.rate, prior) >= max(worth) * (1 - 1e-9)


def test_the_prior_decides(load):
    few = chosen(load, prior="{sizes: {30: 9}}")
    many = chosen(load, prior="{people: 1000000, groups: 3, exponent: 0}")
    assert few.k > many.k
    # Groups that all appear anyway: the smallest k of all that do.
    assert many.effective_rate * 300_000 > 5 * many.k


def test_a_choice_keeps_the_guarantee_of_a_sampled_source(load):
    from policy_engine.accounting.exact import delta_exact

    whole = chosen(load)
    most = chosen(load, sampled_at="0.9")
    known = dict(pairs())
    assert most.rate * Decimal("0.9") <= known[most.k] < most.rate
    assert delta_exact(most.k, most.effective_rate, "1").delta <= Decimal("1e-6")
    # The prior is of the source, which is sampled at more.
    assert whole.rate < most.rate < 1
    native = chosen(load, sampled_at="0.9", sample="sample: {rate: auto, method: native}")
    assert native.k == most.k
    assert most.rate - native.rate == pytest.approx(Decimal(2) ** -32, abs=Decimal("1e-12"))


def test_a_source_sampled_at_less_than_every_rate_keeps_the_smallest_k(load):
    policy = chosen(load, sampled_at="0.0005")
    assert (policy.k, policy.rate) == (2, Decimal("0.999999999999"))
    policy = chosen(load, sampled_at="0.05")
    assert policy.rate < 1
    largest = min(k for k, rate in pairs() if rate >= Decimal("0.05"))
    assert policy.k <= largest


def test_no_pair_for_the_engines_grain(load, problems):
    lines = {
        "source": "source: {file: a.csv}\nprivacy_unit: row",
        "sample": "sample: {rate: auto, method: native}",
        "k": "k: auto",
        "auto": "auto: {maximise: people, prior: {people: 9, groups: 2}}",
    }
    (found,) = problems(**lines, guarantee="guarantee: {epsilon: 1e-15, delta: 1e-300}")
    assert found.startswith("6:4: k is auto, but nothing gives this guarantee: no rate is small")


def test_a_guarantee_out_of_reach(problems):
    (found,) = problems(k="k: auto", guarantee="guarantee: {epsilon: 1e-300, delta: 1e-300}")
    assert found.startswith("6:4: k is auto, but nothing gives this guarantee: ")


def test_a_policy_can_leave_one_of_the_two_open(asked, load):
    assert load(k="k: auto").k == 42
    assert load(sample="sample: {rate: auto}").rate == Decimal("0.123456789012")

"""`mechanism: randomised_response` and `ab_insertion`: what a policy says, and must not."""

from decimal import Decimal

import pytest

from policy_engine.errors import PolicyError
from policy_engine.kernel.claim import Shown
from policy_engine.kernel.laws import ClaimError
from policy_engine.kernel.mechanisms import Inserted, Randomised
from policy_engine.kernel.recodes import Bins, Keep
from policy_engine.kernel.sources import Column
from policy_engine.kernel.types import Type
from policy_engine.policy.loading import load_policy_text
from policy_engine.policy.mechanisms.common import LawParts
from policy_engine.policy.mechanisms.randomised_response import Answers

ANSWERS = """
version: 1
name: answers
source: {file: p.parquet}
privacy_unit: row
recode: {sex: {map: {f: F}, other: M}, age: {bins: [18, 65]}}
mechanism: randomised_response
guarantee: {epsilon: 2, delta: 0, neighbours: replace_one}
release: {file: out.parquet}
"""
TUPLES = (
    ANSWERS.replace("randomised_response", "ab_insertion")
    .replace(", neighbours: replace_one", "")
    .replace("out.parquet", "out.parquet, as: rows")
)
AGE = Shown("age", Column("age", Type("integer")), Bins((18,), ("<18", ">=18")))


def load(text):
    return load_policy_text(text, "policy.yaml", ".")


def law_of(policy, *shown):
    return policy.noise.kernel_law(LawParts(policy, shown, (), (), None, False, ()))


def problems(text):
    with pytest.raises(PolicyError) as caught:
        load(text)
    return [f"{p.message}; {p.remedy}" for p in caught.value.problems]


def test_epsilon_is_shared_by_the_columns():
    found = load(ANSWERS)
    assert (found.k, found.rate, found.guarantee.delta) == (1, 1, 0)
    assert found.noise == Answers(Decimal(1))
    assert found.noise.words == "randomised response"
    law = law_of(found, AGE, AGE)
    assert isinstance(law, Randomised)
    share = Decimal(law.responses[0].share) / 2**60
    assert float(share) == pytest.approx(float(1 / (Decimal(1).exp() + 2)))
    assert law.responses[0].values == ("<18", ">=18", None)


def test_epsilon_is_of_one_tuple_or_of_two():
    one, two = load(TUPLES), load(TUPLES.replace("delta: 0", "delta: 0, neighbours: replace_one"))
    assert (one.noise.each, two.noise.each) == (2, 1)
    assert one.noise.words == "αβ insertion"
    law = law_of(one, AGE)
    assert isinstance(law, Inserted)
    assert law.shown + law.inserted == 1 << 60
    assert law.inserted / (1 << 60) == pytest.approx(float(1 / (1 + Decimal(2).exp())))


@pytest.mark.parametrize("text", [ANSWERS, TUPLES])
def test_a_column_tells_its_values(text):
    with pytest.raises(ClaimError, match="binned or mapped"):
        law_of(load(text), Shown("age", AGE.column, Keep()))


@pytest.mark.parametrize("text", [ANSWERS, TUPLES])
@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("recode: {sex: {map: {f: F}, other: M}", "recode: {sex: keep"),
         "recode.sex must be bins, map or hierarchy"),
        (("recode: {sex: {map: {f: F}, other: M}", "recode: {sex: {prefix: 1}"),
         "recode.sex must be bins, map or hierarchy"),
        (("recode: {sex: {map: {f: F}, other: M}", "recode: {sex: {}"), "recode.sex must be"),
        (("delta: 0", "delta: 0.001"), "guarantee.delta must be 0 for"),
        (("release:", "k: 5\nrelease:"), "k must not stand beside mechanism:"),
        (("release:", "sample: {rate: 0.1}\nrelease:"), "sample must not stand beside mechanism:"),
        (("release:", "noise: {distribution: auto}\nrelease:"), "noise must not stand beside"),
        (("release:", "contribution: {max_groups: 2}\nrelease:"), "contribution must not stand"),
        (("privacy_unit: row", "privacy_unit: {column: id, rows: all}"), "privacy_unit.rows must"),
        (("}\nprivacy_unit: row", ", sampled_at: 0.5}\nprivacy_unit: row"), "source.sampled_at"),
        (("epsilon: 2", "epsilon: 1.0e-18"), "guarantee is met by no chance: ε is too small"),
    ],
)  # fmt: skip
def test_what_is_of_another_mechanism_is_refused(text, change, told):
    assert change[0] in text
    found = problems(text.replace(*change))
    assert any(each.startswith(told) for each in found), found


@pytest.mark.parametrize(
    ("text", "change", "told"),
    [
        (ANSWERS, (", neighbours: replace_one", ""), "guarantee.neighbours must be replace_one"),
        (ANSWERS, ("replace_one", "add_remove"), "guarantee.neighbours must be replace_one"),
        (ANSWERS, ("release:", "filter: {age: {in: [7]}}\nrelease:"), "filter must not stand"),
        (ANSWERS, ("file: p.parquet", "table: v, view: rowwise"), "source.view must not"),
        (TUPLES, (", as: rows", ""), "release.as must be rows for ab_insertion"),
    ],
)
def test_what_a_mechanism_does_not_hide_or_show(text, change, told):
    assert change[0] in text
    found = problems(text.replace(*change))
    assert [each for each in found if each.startswith(told)], found


def test_elsewhere_delta_is_above_0():
    noisy = ANSWERS.replace("randomised_response", "noisy_counts")
    assert problems(noisy) == ["guarantee.delta must be above 0 and below 1, found 0; "]
    missing = ANSWERS.replace("delta: 0, ", "")
    assert problems(missing)[0].startswith("guarantee.delta is missing")


def test_tuples_may_be_of_who_meets_a_filter():
    assert load(TUPLES + "filter: {age: {in: ['7']}}\n").noise is not None

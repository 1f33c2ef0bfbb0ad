"""The language of `guarantee: none`, who takes it, and which attacks it leaves open."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from policy_engine.errors import PolicyError, UsageError
from policy_engine.kernel.mechanisms.whole_classes.meaning import still_works
from policy_engine.kernel.models import LDiversity, TCloseness
from policy_engine.policy.loading import load_policy_text
from policy_engine.policy.mechanisms.whole_classes import UNMET, Suppression
from policy_engine.policy.project import load_project_text
from policy_engine.policy.resolve import Policy, loaded

BARE = {"sample": "", "guarantee": "guarantee: none"}


def policy_of(text, folder: Path, **lines: str) -> Policy:
    return load_policy_text(text(**{**BARE, **lines}), "p.yaml", folder, unpromised=True)


def test_it_has_a_guarantee_that_nothing_meets(text, tmp_path: Path) -> None:
    policy = policy_of(
        text,tmp_path, models="models: {l_diversity: {of: age, l: 2}}",
                       recode="recode: {age: keep, sex: keep}")  # fmt: skip
    assert policy.is_unpromised and policy.guarantee == UNMET and policy.k == 20
    assert policy.noise == Suppression(("age",)) and policy.noise.words
    assert (UNMET.epsilon, UNMET.delta) == (0, 0)


def test_it_is_taken_by_those_alone_who_say_so(text, tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match="guarantee is none, and this is of"):
        load_policy_text(text(**BARE), "p.yaml", tmp_path)
    policy = policy_of(text, tmp_path)
    assert loaded(policy, unpromised=True) is policy
    with pytest.raises(UsageError, match="is needed, and p has none"):
        loaded(policy)


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ({"sample": "sample: {rate: 0.1}"}, "sample is of a release with (ε, δ)"),
        ({"k": "k: auto"}, "k is auto, and there is no guarantee"),
        ({"k": ""}, "guarantee is none, and nothing says by which model"),
        ({"release": "release: {table: b}"}, "which is for files"),
        (
            {"source": "source: {file: a.parquet}\nprivacy_unit: {column: id, rows: all}"},
            "counts once",
        ),
        ({"models": "models: {l_diversity: {of: age, l: 2}}"}, "no column tells classes apart"),
        ({"models": "models: {l_diversity: {of: [age], l: 2}}"}, "of must be text, found a list"),
        (
            {"noise": "noise: {distribution: negative_binomial}"},
            "noise is of a release with (ε, δ)",
        ),
        ({"rollup": "rollup: {to: [age]}"}, "rollup is of a release with (ε, δ)"),
        ({"guarantee": "guarantee: syntaktic"}, "must be a mapping with epsilon and delta, or"),
    ],
)
def test_what_it_cannot_have(problems, lines: dict[str, str], told: str) -> None:
    found = problems(**{**BARE, **lines})
    assert any(told in each for each in found), found


def test_an_account_without_a_limit_says_that_it_takes_such_releases() -> None:
    text = "accounts: {a: {guarantee: none}, b: {}, c: {epsilon: 1, delta: 1e-6}}"
    project = load_project_text(text, "policy-engine.yaml", ".")
    assert project.unpromised == {"a"} and project.accounts["a"] is None
    with pytest.raises(PolicyError, match="cannot stand beside a limit"):
        load_project_text(
            "accounts: {a: {epsilon: 1, delta: 1e-6, guarantee: none}}", "policy-engine.yaml", "."
        )


DIVERSE, CLOSE = LDiversity("pay", Decimal(2)), TCloseness("pay", Decimal("0.2"))
ORDERED = TCloseness("pay", Decimal("0.2"), ("low", "high"))
ALWAYS = {"background knowledge", "differencing", "membership"}


@pytest.mark.parametrize(
    ("k", "models", "left"),
    [
        (3, (), {"homogeneity", "skewness", "similarity"}),
        (1, (CLOSE,), {"linkage", "homogeneity", "similarity"}),
        (3, (DIVERSE,), {"skewness", "similarity"}),
        (3, (CLOSE,), {"homogeneity", "similarity"}),
        (3, (DIVERSE, CLOSE), {"similarity"}),
        (3, (DIVERSE, ORDERED), set()),
        # A model of one column stops nothing in another.
        (3, (LDiversity("job", Decimal(2)), ORDERED), {"homogeneity", "skewness", "similarity"}),
    ],
)
def test_what_still_works_follows_from_the_models(k, models, left) -> None:
    assert {name for name, _ in still_works(k, models)} == ALWAYS | left

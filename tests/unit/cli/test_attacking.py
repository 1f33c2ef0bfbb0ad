"""attack: what it needed, what it learnt, the remedy; and never of what nobody said is public."""

from __future__ import annotations

from pathlib import Path

import pytest

from policy_engine.cli.attacking import NO_PROOF
from policy_engine.policy.loading import load_policy
from policy_engine.releasing.release import release

from .conftest import Cli, Policies

PATIENTS = "zip,age,illness\n" + "476,2*,heart\n" * 3 + "479,4*,flu\n479,4*,heart\n479,4*,cancer\n"


@pytest.fixture
def patients(project: Path) -> Path:
    Path("patients.csv").write_text(PATIENTS)
    return project


def test_a_published_table_is_attacked(cli: Cli, patients: Path) -> None:
    Path("voters.csv").write_text("name,zip,age\nBob,476,2*\nCarl,479,4*\n")
    words = ("patients.csv", "--sensitive", "illness", "--published", "--knowing", "voters.csv")
    shown = cli("attack", *words)
    assert (shown.code, shown.err) == (0, "")
    lines = shown.out.splitlines()
    assert lines[:4] == [
        "homogeneity: learns of 3 people",
        "  it needed  the table, and zip, age of a person who is in it",
        "  it learnt  zip 476, age 2*: illness is heart",
        "  remedy     models: {l_diversity: {of: illness, l: 2}}",
    ]
    assert "linkage: learns of 1 person" in lines and lines[-1] == NO_PROOF
    document = cli("attack", *words, "--format", "json").document
    assert [each["people"] for each in document["attacks"]] == [3, 0, 3, 1]


def test_kinds_and_another_publication(cli: Cli, patients: Path) -> None:
    Path("kinds.csv").write_text("heart;body;*\nflu;body;*\ncancer;body;*\n")
    Path("later.csv").write_text(PATIENTS + "476,2*,flu\n")
    words = ("--sensitive", "illness", "--published", "--format", "json")
    more = ("--hierarchy", "kinds.csv", "--with", "later.csv")
    found = cli("attack", "patients.csv", *words, *more).document["attacks"]
    learned = {each["attack"]: each["learned"] for each in found}
    assert learned["similarity"] == ["zip 479, age 4*: illness is some body"]
    assert learned["differencing"] == ["zip 476, age 2*: who came has illness flu"]
    assert learned["unsorted matching"] == []


def test_raw_data_is_not_attacked_unasked(cli: Cli, patients: Path) -> None:
    shown = cli("attack", "patients.csv", "--sensitive", "illness")
    assert shown.code == 2 and "is no release" in shown.err and "heart" not in shown.err


def test_of_a_release_the_bound_is_said(cli: Cli, policy: Policies) -> None:
    change = ("sample: {rate: 0.1}\nk: 20", "mechanism: noisy_counts")
    release(load_policy(policy("a", change)))
    found = cli("attack", "out/a.parquet", "--sensitive", "sex", "--format", "json").document
    assert "at most 62.3 times in 100" in found["attacks"][-1]["bound"]

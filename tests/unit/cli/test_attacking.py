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
    first = lines.index("homogeneity: learns of 3 people")
    assert lines[first : first + 4] == [
        "homogeneity: learns of 3 people",
        "  it needed  the table, and zip, age of a person who is in it",
        "  it learnt  zip 476, age 2*: illness is heart",
        "  remedy     models: {l_diversity: {of: illness, l: 2}}",
    ]
    assert "linkage: learns of 1 person" in lines and lines[-1] == NO_PROOF
    document = cli("attack", *words, "--format", "json").document
    assert [each["people"] for each in document["attacks"]] == [3, 3, 0, 3, 1]


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
    assert "at most 62.3 % of the time" in found["attacks"][-1]["bound"]


def test_a_desk_that_refuses_small_counts_is_asked_by_trackers(cli: Cli, project: Path) -> None:
    crowd = [f"{zip_},{age},flu\n" for zip_ in "ab" for age in (20, 30) for _ in range(9)]
    Path("raw.csv").write_text("zip,age,illness\n" + "".join(crowd) + "b,40,ulcer\n")
    Path("voters.csv").write_text("name,zip,age\nBob,b,40\n")
    words = ("attack", "raw.csv", "--sensitive", "illness", "--size-limit", "5")
    shown = cli(*words, "--knowing", "voters.csv")
    lines = shown.out.splitlines()
    assert shown.code == 0 and lines[0].startswith("confidential: ")
    for kind in ("individual", "general", "double"):
        assert f"{kind} tracker: learns of 1 person" in lines
    assert lines.count("  it learnt  row 1 of voters.csv: illness is ulcer") == 3
    assert cli(*words).code == 2
    assert cli(*words[:-1], "0", "--knowing", "voters.csv").code == 2


def test_a_table_of_counts_is_attacked_by_its_counts(cli: Cli, project: Path) -> None:
    Path("counts.csv").write_text("zip,illness,n\n476,heart,3\n479,flu,2\n479,heart,2\n")
    words = ("attack", "counts.csv", "--sensitive", "illness", "--count", "n", "--published")
    found = cli(*words, "--format", "json").document["attacks"]
    assert [each["people"] for each in found] == [3, 3, 4, 0]


def test_a_graph_without_names_is_attacked(cli: Cli, project: Path) -> None:
    Path("edges.csv").write_text("a,b\n1,2\n2,3\n3,1\n3,4\n4,5\n5,6\n")
    Path("mine.csv").write_text("a,b\nx,y\ny,z\nz,x\nz,ann\nann,bob\n")
    Path("seeds.csv").write_text("name,node\nx,1\ny,2\nz,3\n")
    words = ("attack", "edges.csv", "--edges", "a,b", "--with", "mine.csv")
    more = ("--knowing", "seeds.csv", "--published")
    shown = cli(*words, *more)
    assert (shown.code, shown.err) == (0, "")
    assert shown.out.splitlines()[0] == "seed and propagate: learns of 2 people"
    assert "  it learnt  ann is 4" in shown.out
    assert cli(*words[:4], *more).code == 2
    assert cli(*words, "--knowing", "seeds.csv").code == 2
    assert cli(*words, *more, "--sensitive", "a").code == 2
    assert cli("attack").code == 2


def test_membership_is_tried_on_releases_of_a_policy(cli: Cli, policy: Policies) -> None:
    path = policy("a", ("sample: {rate: 0.1}\nk: 20", "mechanism: noisy_counts"))
    shown = cli("attack", "--policy", path, "--runs", "100")
    assert (shown.code, shown.err) == (0, "")
    first, _, measured, *_ = shown.out.splitlines()
    assert first.startswith("membership by runs: Someone who tries to tell")
    assert "at most 62.3 % of the time" in first and "of 50 coins" in measured
    assert cli("attack", "--policy", path, "--runs", "99").code == 2


def test_of_a_release_what_is_learnt_is_a_guess(cli: Cli, policy: Policies) -> None:
    release(load_policy(policy("a", ("sample: {rate: 0.1}\nk: 20", "mechanism: noisy_counts"))))
    words = ("out/a.parquet", "--sensitive", "sex", "--with", "out/a.parquet")
    lines = cli("attack", *words).out.splitlines()
    assert any(line.startswith("background knowledge: guesses of ") for line in lines)

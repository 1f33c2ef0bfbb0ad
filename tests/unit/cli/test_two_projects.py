"""A policy is charged to its own project's ledger, wherever the command is run."""

from __future__ import annotations

import shutil

import pytest

from .conftest import PROJECT


@pytest.fixture
def other(project, policy, cli, monkeypatch):
    """The working directory: another project beside that of a policy which has been released."""
    (project / "own").mkdir()
    for name in ("people.parquet", "policy-engine.yaml", policy("a")):
        shutil.move(project / name, project / "own" / name)
    monkeypatch.chdir(project / "own")
    assert cli("release", "a.yaml").code == 0
    folder = project / "other"
    folder.mkdir()
    (folder / "policy-engine.yaml").write_text(PROJECT)
    monkeypatch.chdir(folder)
    return folder


def told(project):
    own = project / "own"
    return (
        f"../own/a.yaml: its project file is {own}/policy-engine.yaml, and the one in use is"
        " policy-engine.yaml: each has a ledger of its own, which does not know of the"
        f" other's charges; run it from its own project, as with -C {own}, where it is a.yaml"
    )


@pytest.mark.parametrize(
    "words",
    [
        ("release",), ("release", "--replace"), ("release", "--revise"), ("plan",), ("compile",),
        ("audit",), ("restore",),
    ],
    ids=lambda words: " ".join(map(str, words)),
)  # fmt: skip
def test_a_policy_of_another_project_is_refused(cli, other, project, words):
    result = cli(*words, "../own/a.yaml")
    assert (result.code, result.out, result.err) == (1, "", f"error: {told(project)}\n")
    assert [each.name for each in other.iterdir()] == ["policy-engine.yaml"]


def test_validate_says_it_too_beside_what_else_is_wrong(cli, other, project):
    file = project / "own" / "a.yaml"
    assert cli("validate", "../own/a.yaml").out == f"{told(project)}\n"
    file.write_text(file.read_text().replace("delta: 1.0e-9", "delta: 1.0e-15"))
    found = cli("validate", "../own/a.yaml")
    assert found.code == 1
    assert told(project) in found.out and "guarantee.delta must be at least" in found.out


def test_several_policies_are_each_of_the_project_in_use(cli, other, project):
    shutil.copy(project / "own" / "a.yaml", other / "a.yaml")
    shutil.copy(project / "own" / "people.parquet", other / "people.parquet")
    result = cli("release", "a.yaml", "../own/a.yaml")
    assert (result.code, result.err) == (1, f"error: {told(project)}\n")
    assert not (other / "out").exists()


def test_it_runs_from_its_own_project_and_from_where_there_is_none(
    cli, other, project, monkeypatch
):
    assert cli("release", "-C", project / "own", "a.yaml").out.startswith("a stands; its source")
    monkeypatch.chdir(project)
    assert cli("release", "own/a.yaml").out.startswith("a stands; its source")


def test_a_policy_without_a_project_is_of_the_one_in_use(cli, other, project):
    (project / "loose").mkdir()
    for name in ("a.yaml", "people.parquet"):
        shutil.copy(project / "own" / name, project / "loose" / name)
    assert cli("release", "../loose/a.yaml").code == 0
    assert cli("ledger", "show").out.count("committed") == 1


def test_a_link_to_its_folder_does_not_hide_its_project(cli, other, project):
    (other / "link").symlink_to(project / "own")
    result = cli("release", "link/a.yaml")
    assert result.code == 1 and f"its project file is {project}/own/policy-engine" in result.err


def test_a_copied_policy_does_not_sell_another_projects_people(cli, other, project):
    """Attack: the policy is copied, and the data stays where it is."""
    text = (
        (project / "own" / "a.yaml").read_text().replace("people.parquet", "../own/people.parquet")
    )
    (other / "a.yaml").write_text(text)
    for command in ("release", "plan", "validate"):
        result = cli(command, "a.yaml")
        assert result.code == 1
        assert "source.file lies in another project" in result.err + result.out
    assert not (other / "out").exists()

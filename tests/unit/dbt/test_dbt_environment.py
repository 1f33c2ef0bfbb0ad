"""The commands of ``policy-engine dbt`` under dbt's own environment variables."""

import json
import sys

import pytest
from dbt_sync_world import World
from typer.testing import CliRunner

from policy_engine.cli.app import app
from policy_engine.dbt.targets import VARIABLE, Dbt
from policy_engine.errors import UsageError, WarehouseError


@pytest.fixture
def world(tmp_path, monkeypatch) -> World:
    folder = tmp_path / "project"
    monkeypatch.setenv("DBT_PROJECT_DIR", str(folder))
    monkeypatch.delenv("DBT_PROFILES_DIR", raising=False)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    made = World.at(folder)
    made.policy()
    return made


def run(*words: str):
    return CliRunner().invoke(app, ["dbt", *words])


@pytest.mark.parametrize("command", ["reserve", "attest", "status"])
def test_the_project_and_the_target_are_those_of_the_environment(world, monkeypatch, command):
    monkeypatch.setenv("DBT_TARGET", "dev")
    done = run(command)
    assert done.exit_code == 0, done.output
    assert "nothing is released in the target dev" in done.output
    monkeypatch.setenv("DBT_TARGET", "nowhere")
    done = run(command)
    assert isinstance(done.exception, UsageError)
    assert "has no target nowhere; it has dev, prod" in str(done.exception)
    assert "in the target dev" in run(command, "-t", "dev").output


def test_sync_writes_one_text_whatever_target_a_shell_is_set_to(world, monkeypatch):
    assert run("sync").exit_code == 0
    monkeypatch.setenv("DBT_TARGET", "nowhere")
    assert "nothing to change" in run("sync").output


@pytest.mark.parametrize(
    ("words", "variables", "told"),
    [
        (["--", "--empty"], {}, "--empty"),
        (["--", "--sample=1 day"], {}, "--sample"),
        ([], {"DBT_EMPTY": "1"}, "DBT_EMPTY"),
        ([], {"DBT_SAMPLE": "1 day"}, "DBT_SAMPLE"),
        ([], {"DBT_ENGINE_EMPTY": "true", "DBT_EMPTY": "no"}, "DBT_ENGINE_EMPTY"),
    ],
)
def test_a_release_is_built_whole(world, monkeypatch, words, variables, told):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    done = run("build", "--target", "prod", *words)
    assert isinstance(done.exception, UsageError)
    assert str(done.exception) == f"a release is not built with {told} in the target prod"


def test_a_release_is_of_the_projects_own_profile(tmp_path, monkeypatch):
    shown = tmp_path / "dbt"
    shown.write_text(
        f"#!{sys.executable}\nimport json, os\nprint(json.dumps([dict(os.environ)]))\n"
    )
    shown.chmod(0o755)
    monkeypatch.setenv(VARIABLE, str(shown))
    monkeypatch.setenv("DBT_PROFILE", "another")
    monkeypatch.setenv("DBT_ENGINE_PROFILE", "another")
    monkeypatch.setenv("DBT_DEFER", "1")
    [found] = json.loads(Dbt(tmp_path).run("parse"))
    assert not {"DBT_PROFILE", "DBT_ENGINE_PROFILE"} & found.keys()
    assert found["DBT_DEFER"] == "1"


@pytest.mark.parametrize("code", [0, 1])
def test_what_dbt_says_comes_without_the_signs_of_a_terminal(tmp_path, monkeypatch, code):
    shown = tmp_path / "dbt"
    said = "\x1b[0m12:00 \x1b[38;5;9mDone\x1b[0m \x1b]8;;https://x\x07link\x1b]8;;\x07\x1b(B"
    shown.write_text(f"#!{sys.executable}\nprint({said!r})\nraise SystemExit({code})\n")
    shown.chmod(0o755)
    monkeypatch.setenv(VARIABLE, str(shown))
    if code:
        with pytest.raises(WarehouseError) as caught:
            Dbt(tmp_path).run("parse")
        assert str(caught.value) == "dbt parse failed:\n  12:00 Done link"
    else:
        assert Dbt(tmp_path).run("parse") == "12:00 Done link\n"

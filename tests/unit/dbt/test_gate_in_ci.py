"""The GitHub action and the hook of pre-commit run what they say."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from dbt_manifests import shop
from ruamel.yaml import YAML

ROOT = Path(__file__).parents[3]


def read(name: str) -> Any:
    return YAML(typ="safe", pure=True).load((ROOT / name).read_text("utf-8"))


def test_the_hook_of_pre_commit_is_a_command_of_ours(tmp_path) -> None:
    [hook] = read(".pre-commit-hooks.yaml")
    shop().exposure("board", "people").write(tmp_path)
    words = hook["entry"].split()
    assert words[0] == "policy-engine" and hook["pass_filenames"] is False
    command = [Path(sys.executable).parent / words[0], *words[1:]]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "G01 exposure board" in done.stdout, done.stderr


@pytest.fixture
def runner(tmp_path) -> Path:
    """What stands in RUNNER_TEMP after the first step: an environment with the command."""
    commands = tmp_path / "temp/policy-engine/bin"
    commands.mkdir(parents=True)
    (commands / "policy-engine").write_text(
        f'#!/bin/sh\nexec "{Path(sys.executable).parent / "policy-engine"}" "$@"\n'
    )
    (commands / "policy-engine").chmod(0o755)
    return tmp_path / "temp"


def gate_step(runner: Path, folder: Path, **given: str) -> subprocess.CompletedProcess[str]:
    """Run the second step of the action, as GitHub fills its inputs in."""
    action = read("action.yml")
    inputs = {name: str(each["default"]) for name, each in action["inputs"].items()} | given
    step = action["runs"]["steps"][1]
    filled = {
        name: inputs[value.removeprefix("${{ inputs.").removesuffix(" }}")]
        for name, value in step["env"].items()
    }
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=folder,
        env={
            **os.environ, **filled, "RUNNER_TEMP": str(runner),
            "GITHUB_STEP_SUMMARY": str(runner / "summary.md"),
        },
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_the_action_stops_at_a_finding_and_writes_its_report(runner, tmp_path) -> None:
    folder = tmp_path / "a shop; rm -rf x"
    shop().exposure("board", "people").write(folder)
    done = gate_step(runner, tmp_path, **{"project-dir": folder.name, "report": "gate.sarif"})
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("::error file=a shop; rm -rf x/models/schema.yml::G01 exposure")
    assert '"ruleId": "G01"' in (tmp_path / "gate.sarif").read_text()
    assert (runner / "summary.md").read_text().startswith("## dbt gate\n\n1 finding;")


def test_the_action_passes_a_clean_project_and_tells_it_from_an_unchecked_one(
    runner, tmp_path
) -> None:
    shop().write(tmp_path)
    assert gate_step(runner, tmp_path).returncode == 0
    (tmp_path / "target/manifest.json").write_text("{}")
    assert gate_step(runner, tmp_path, manifest="target/manifest.json").returncode == 3


def test_the_action_installs_what_it_lies_in() -> None:
    step = read("action.yml")["runs"]["steps"][0]
    assert step["env"]["ACTION_PATH"] == "${{ github.action_path }}"
    assert "${{" not in step["run"], "an input in a script could be a script"
    assert all("${{" not in each["run"] for each in read("action.yml")["runs"]["steps"])

"""What every command understands and promises: help, quiet, another folder, codes, completion."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_command

from policy_engine.cli import app as commands_of
from policy_engine.cli import main
from policy_engine.cli.main import run

COUNT = ("calculate", "--unknown", "1000", "--lambda", "0.1", "--epsilon", "0.5")


def leaves(command, words=()):
    inner = getattr(command, "commands", None)
    if inner is None:
        return {words: command}
    found = {}
    for name, child in inner.items():
        found |= leaves(child, (*words, name))
    return found


PROGRAM = get_command(commands_of.app)
COMMANDS = leaves(PROGRAM)
every_command = pytest.mark.parametrize("words", COMMANDS, ids=" ".join)


def needed(command):
    """The words without which it is not called."""
    for param in command.params:
        if param.required:
            yield from [] if param.param_type_name == "argument" else [param.opts[0]]
            yield "1"


@every_command
def test_h_is_help(cli, words):
    result = cli(*words, "-h")
    assert result == cli(*words, "--help") and (result.code, result.err) == (0, "")
    for option in ("-q, --quiet", "-C DIR", "-h, --help"):
        assert option in result.out


@every_command
def test_what_writes_a_file_calls_it_output(words):
    names = [set(param.opts) for param in COMMANDS[words].params if not getattr(param, "hidden", 0)]
    assert not {"--out", "--plot", "--certificate", "--output-file"} & set().union(*names)
    assert all("-o" in each for each in names if "--output" in each)


@pytest.mark.parametrize(
    ("error", "code"), [(RuntimeError("age 37"), 70), (KeyboardInterrupt(), 130)]
)
@every_command
def test_a_bug_is_70_and_an_interrupt_130(cli, monkeypatch, words, error, code):
    def broken(**given):
        raise error

    monkeypatch.setattr(COMMANDS[words], "callback", broken)
    monkeypatch.setattr(commands_of, "command_of", lambda names: PROGRAM)
    told = main.run([*words, *needed(COMMANDS[words])])
    assert told == code


@every_command
def test_every_command_answers_in_json(cli, words):
    assert re.search(r"--format <[^>]*\bjson\b", cli(*words, "-h").out)


def test_another_folder_is_worked_in(cli, policy, project, monkeypatch):
    policy("a")
    (project / "below").mkdir()
    monkeypatch.chdir(project / "below")
    (project / "below" / "b.yaml").write_text("k: 1\n")
    assert cli("-C", "..", "validate", "a.yaml").out == "a.yaml: valid\n"
    assert Path.cwd() == project
    assert cli("validate", "-C", "below", "b.yaml").code == 1
    assert Path.cwd() == project / "below"
    assert cli("-C", project, "-C", "below", "validate", "b.yaml").code == 1
    assert Path.cwd() == project / "below"
    assert cli("-C", project, "validate", "-C", "below", "-C", "..", "a.yaml").code == 0
    assert Path.cwd() == project
    missing = cli("-C", "no/such", "ledger", "show")
    assert (missing.code, missing.err) == (
        3, "error: -C no/such could not be entered: No such file or directory\n"
    )  # fmt: skip


def test_quiet_prints_errors_and_answers_alone(cli, policy, project):
    path = policy("a")
    for words in (
        ("release", path, "-q"), ("-q", "release", path), ("validate", path, "--quiet"),
        ("verify", "out/a.certificate.json", "--release", "out/a.parquet", "-q"),
        ("ledger", "verify", "-q"), ("ledger", "reconcile", "-q"), ("keys", "-q", "rotate"),
        ("ledger", "export", "-o", "ledger.json", "-q"),
        ("init", "people.parquet", "-o", "new.yaml", "-q"),
    ):  # fmt: skip
        result = cli(*words)
        assert (result.code, result.out, result.err) == (0, "", ""), words
    assert cli("compile", path, "-q").out.startswith("-- policy: a")
    assert cli("calculate", "--k", 20, "--rate", 0.1, "--epsilon", 0.5, "-q").out.startswith(
        "k = 20"
    )
    assert "census" not in cli("ledger", "show", "-q").out and cli("ledger", "show", "-q").out
    assert cli("release", path, "-q", "--format", "json").document["repeated"] is True
    assert (
        cli("release", "none.yaml", "-q").err
        == "error: none.yaml: the policy file does not exist\n"
    )
    broken = policy("b", k="1")
    assert cli("validate", broken, path, "-q").out.startswith("b.yaml:9:4: k must be")
    assert cli("release", path).out.startswith("a stands; its source was not")


@pytest.mark.parametrize(
    "words", ["certify", "calibrate", "check", "measure", "serve", "dbt gate --output-file g.xml",
              "keys export --out k.json", "ledger export --out l.json"],
)  # fmt: skip
def test_what_had_another_name_before_is_unknown(cli, words):
    result = cli(*words.split())
    assert result.code == 2
    assert "no such" in result.err.lower()


@pytest.mark.parametrize(
    ("now", "before"),
    [
        ("file: people.parquet", "path: people.parquet"),
        ("privacy_unit: row", "unit: row"),
        ("account: people", "budget: people"),
    ],
)
def test_a_key_that_had_another_name_before_is_unknown(cli, policy, now, before):
    path = policy("a")
    text = Path(path).read_text()
    assert now in text
    Path(path).write_text(text.replace(now, before))
    result = cli("validate", path)
    assert result.code == 1
    assert f"{before.partition(':')[0]} is an unknown key" in result.out


@pytest.mark.parametrize(
    "line",
    ["keys: auto", "public: [age]", "contribution: {groups: 4}", "noise: {law: geometric}"],
)
def test_a_key_of_noise_that_had_another_name_before_is_unknown(cli, policy, line):
    path = policy("a")
    Path(path).write_text(Path(path).read_text() + line + "\n")
    result = cli("validate", path)
    assert result.code == 1
    assert "is an unknown key" in result.out


def test_every_command_stands_in_one_group_of_the_help(cli):
    told = cli("--help").out
    grouped = [name for names in commands_of.GROUPS.values() for name in names]
    assert sorted(grouped) == sorted(commands_of.COMMANDS)
    assert all(f"{title}:" in told for title in commands_of.GROUPS)


def test_a_statement_that_is_written_is_told_in_json(cli, policy, project):
    assert cli("release", policy("a")).code == 0
    document = cli("ledger", "export", "-o", "l.json", "--format", "json").document
    assert document == {"statement": "l.json", "entries": 1, "accounts": 1}
    assert json.loads(Path("l.json").read_text())["payload"]


def bash(script, folder):
    """A bash that has completion of the program loaded, as a user's has."""
    bin_ = folder / "bin"
    bin_.mkdir()
    program = bin_ / "policy-engine"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m policy_engine "$@"\n')
    program.chmod(0o755)
    path = {"PATH": f"{bin_}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-c", f"source <(policy-engine --show-completion bash)\n{script}"],
        env={**os.environ, **path}, cwd=folder, stdout=subprocess.PIPE, text=True, check=True,
    )  # fmt: skip
    return done.stdout.split()


def test_bash_completes_commands_and_options(tmp_path):
    script = """
tab() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _policy_engine_completion "$1"; }
tab policy-engine ledger rec; echo "${COMPREPLY[@]}"
tab policy-engine release --re; echo "${COMPREPLY[@]}"
complete -p policy-engine
"""
    found = bash(script, tmp_path)
    assert found[:2] == ["reconcile", "--replace"]
    assert found[-2:] == ["_policy_engine_completion", "policy-engine"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "powershell"])
def test_completion_is_shown_for_each_shell(capsys, shell):
    assert run(["--show-completion", shell]) == 0
    assert "_POLICY_ENGINE_COMPLETE" in capsys.readouterr().out

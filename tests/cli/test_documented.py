"""Every command that a page of the project names is one that there is."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path

import pytest
from typer.main import get_command

from policy_engine.cli.app import app

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted(ROOT.glob("policies/**/README.md")),
         *sorted(ROOT.glob("docs/**/*.md"))]  # fmt: skip
CALL = re.compile(r"policy-engine ((?:[a-z]+(?:-[a-z]+)* ?)+)")
GROUPS = {"dbt", "keys", "ledger", "review"}


@cache
def commands() -> set[str]:
    found = set()
    for name, command in get_command(app).commands.items():
        inner = getattr(command, "commands", None)
        found |= {name} if inner is None else {f"{name} {below}" for below in inner}
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_exist(page):
    text = page.read_text("utf-8")
    quoted = "\n".join(re.findall(r"`(policy-engine [^`]*)`", text))
    shown = "\n".join(re.findall(r"^(?:\$ |    )(policy-engine .*)$", text, re.MULTILINE))
    known = commands() | GROUPS
    for call in CALL.findall(f"{quoted}\n{shown}"):
        words = call.split()
        name = " ".join(words[:2]) if words[0] in GROUPS else words[0]
        assert name in known, f"policy-engine {call}"


def test_the_readme_names_every_extra_and_nothing_is_installed_from_an_index():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    table = (ROOT / "README.md").read_text("utf-8").split("| extra | for |")[1].split("\n\n")[0]
    assert set(re.findall(r"^\| `(\w+)`", table, re.MULTILINE)) == {
        *extras["optional-dependencies"]
    }
    told = [*PAGES, *sorted(ROOT.glob("policy_engine/**/*.py"))]
    found = re.compile(r"pip install '?policy[-_]engine\b")
    assert [str(page) for page in told if found.search(page.read_text("utf-8"))] == []


def test_no_page_calls_delta_a_chance():
    false = re.compile(
        r"except (with (a )?probability|for δ)|but for (an exception|a chance)|how improbable", re.I
    )
    told = [*PAGES, *sorted(ROOT.glob("examples/**/*.yml")),
            *sorted(ROOT.glob("policy_engine/**/*.py")),
            ROOT / "policy_engine/policy/schemas/v1.json"]  # fmt: skip
    found = {str(page): false.search(" ".join(page.read_text("utf-8").split())) for page in told}
    assert {page: hit[0] for page, hit in found.items() if hit} == {}

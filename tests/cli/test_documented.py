"""Every command that a page of the project names is one that there is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.main import get_command

from policy_engine.cli.app import app

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted(ROOT.glob("policies/**/README.md")),
         *sorted(ROOT.glob("docs/**/*.md"))]  # fmt: skip
CALL = re.compile(r"policy-engine ((?:[a-z]+(?:-[a-z]+)* ?)+)")
GROUPS = {"keys", "ledger"}
#: Commands of issues to come; pages may announce them.
TO_COME = {"diff", "measure", "search", "attack", "report", "dbt"}


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
        assert name in known | TO_COME, f"policy-engine {call}"

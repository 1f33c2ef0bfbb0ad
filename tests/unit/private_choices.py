"""What the commands of a private choice answer, and what its account was charged."""

from __future__ import annotations

import json

import pytest

from policy_engine.cli.main import run

Capfd = pytest.CaptureFixture[str]


def answered(capfd: Capfd, *words: str, code: int = 0) -> dict[str, object]:
    """The document that a command answers."""
    capfd.readouterr()
    found = run([*words, "--format", "json"])
    out, err = capfd.readouterr()
    assert "Traceback" not in err
    assert found == code, out + err
    document: dict[str, object] = json.loads(out)
    return document


def charged(capfd: Capfd) -> list[tuple[str, str]]:
    """What the account was charged for, and what became of it."""
    capfd.readouterr()
    assert run(["ledger", "show", "--format", "json"]) == 0
    entries = json.loads(capfd.readouterr().out)["entries"]
    return [(each["policy"], each["state"]) for each in entries if each.get("policy")]

"""Where in the project's files a finding stands, and what dbt's last run was asked for."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from policy_engine.dbt.manifest import mapping
from policy_engine.dbt.project import DbtProject
from policy_engine.dbt.rules import GateFinding

_KINDS = ("exposure ", "test ", "metric ", "saved query ", "semantic model ", "unit test ")


def placed(findings: Iterable[GateFinding], project: DbtProject | None) -> list[GateFinding]:
    """The findings, each once, with their lines where the files are there; by file and line."""
    found = dict.fromkeys(findings)
    lined = [_placed(each, project) if project is not None else each for each in found]
    return sorted(lined, key=lambda each: (each.code, each.file, each.line, each.message))


def _placed(found: GateFinding, project: DbtProject) -> GateFinding:
    if found.line or not found.file:
        return found
    return replace(found, line=_line(found, _text(project.directory / found.file)))


@lru_cache(maxsize=512)
def _text(file: Path) -> str:
    try:
        return file.read_text("utf-8", errors="replace")
    except OSError:
        return ""


def _line(found: GateFinding, text: str) -> int:
    """The line that a finding speaks of; 0 where none can be told."""
    if found.code == "G07" and text.count("store_failures") == 1:
        return _first("store_failures", text)
    if found.file.endswith((".yml", ".yaml")):
        kind = next((each for each in _KINDS if found.message.startswith(each)), "")
        name = found.message.removeprefix(kind)
        wanted = re.split(r"[ :]", name.strip())[0].rpartition(".")[2]
        return _first(rf"^\s*-?\s*name:\s*['\"]?{re.escape(wanted)}['\"]?\s*(?:#.*)?$", text)
    if found.code in {"G08", "G09"} and len(found.path) > 1:
        wanted = found.path[-2] if found.code == "G08" else found.path[0]
        last = wanted.split(" ")[0].rpartition(".")[2].strip("\"'`[]")
        return _first(rf"(?<!\w){re.escape(last)}(?!\w)", text, re.IGNORECASE) if last else 0
    return 1 if text else 0


def _first(pattern: str, text: str, flags: int = 0) -> int:
    """The line of the first word of what a pattern finds; 0 where it finds nothing."""
    match = re.search(pattern, text, re.MULTILINE | flags)
    if match is None:
        return 0
    start = match.start() + len(match[0]) - len(match[0].lstrip())
    return text.count("\n", 0, start) + 1


def stores_failures(project: DbtProject | None) -> bool:
    """Whether dbt was asked to store failures, by its last run's options or the environment."""
    for name in ("DBT_STORE_FAILURES", "DBT_ENGINE_STORE_FAILURES"):
        if os.environ.get(name, "").strip().lower() in {"1", "true", "t", "yes", "y"}:
            return True
    if project is None:
        return False
    try:
        found = json.loads((project.target / "run_results.json").read_bytes())
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(found, dict) and mapping(found, "args").get("store_failures") is True

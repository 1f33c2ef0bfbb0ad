"""Problems of policy files, in the formats that people and other tools read."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from policy_engine.cli.output import json_text
from policy_engine.errors import Problem

if TYPE_CHECKING:
    from policy_engine.validation import Checked

_SARIF = "https://json.schemastore.org/sarif-2.1.0.json"
_RULES = {
    "policy": "A policy is valid, fits its source and can be certified.",
    "unchecked": "The policy could not be checked against its warehouse or source.",
}


def report(checked: Sequence[Checked], form: str) -> str:
    """What was found, as text, json, sarif or github annotations."""
    return {"json": _json, "sarif": _sarif, "github": _github}.get(form, _text)(checked)


def all_problems(checked: Sequence[Checked]) -> list[Problem]:
    """Every problem once: files may share a project file or a hierarchy."""
    return list(dict.fromkeys(problem for each in checked for problem in each.problems))


def shown_path(path: str | Path) -> str:
    """A path as other tools need it: relative to the working directory where it lies below.

    >>> shown_path(Path.cwd() / "policies" / "policy.yaml")
    'policies/policy.yaml'
    """
    absolute = os.path.abspath(path)  # noqa: PTH100 - links are not followed
    relative = Path(os.path.relpath(absolute))
    return absolute if relative.parts[:1] == (os.pardir,) else relative.as_posix()


def _text(checked: Sequence[Checked]) -> str:
    lines = [str(problem) for problem in all_problems(checked)]
    for each in checked:
        if not each.problems and each.unchecked:
            lines.append(
                f"{each.file}: valid by itself; not checked against its warehouse or source"
            )
        elif not each.problems:
            lines.append(f"{each.file}: valid")
    return "\n".join(lines)


def _json(checked: Sequence[Checked]) -> str:
    problems = all_problems(checked)
    return json_text(
        {
            "valid": not problems,
            "files": [str(each.file) for each in checked],
            "problems": [vars(problem) for problem in problems],
            "unchecked": [
                {"file": str(each.file), "message": each.unchecked}
                for each in checked
                if each.unchecked
            ],
        }
    )


def _message(problem: Problem) -> str:
    return problem.message + (f"; {problem.remedy}" if problem.remedy else "")


def _github(checked: Sequence[Checked]) -> str:
    lines = [
        _annotation("error", problem.file, _message(problem), problem.line, problem.column)
        for problem in all_problems(checked)
    ]
    lines += [_annotation("warning", str(c.file), c.unchecked) for c in checked if c.unchecked]
    return "\n".join(lines)


def _annotation(level: str, file: str, message: str, line: int = 0, column: int = 0) -> str:
    """A workflow command.

    >>> _annotation("error", "policy.yaml", "k must be at least 2", 3, 1)
    '::error file=policy.yaml,line=3,col=1::k must be at least 2'
    """
    place = f",line={line},col={column}" if line else ""
    name = _escaped(shown_path(file)).replace(":", "%3A").replace(",", "%2C")
    return f"::{level} file={name}{place}::{_escaped(message)}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _sarif(checked: Sequence[Checked]) -> str:
    results = [
        _result("policy", "error", p.file, _message(p), (p.line, p.column))
        for p in all_problems(checked)
    ]
    results += [
        _result("unchecked", "warning", str(c.file), c.unchecked) for c in checked if c.unchecked
    ]
    rules = [{"id": name, "shortDescription": {"text": text}} for name, text in _RULES.items()]
    driver = {"name": "policy-engine", "rules": rules}
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return json_text({"$schema": _SARIF, "version": "2.1.0", "runs": [run]})


def _result(
    rule: str, level: str, file: str, message: str, place: tuple[int, int] = (0, 0)
) -> dict[str, object]:
    shown = shown_path(file)
    uri = Path(shown).as_uri() if os.path.isabs(shown) else quote(shown)  # noqa: PTH117
    where: dict[str, object] = {"artifactLocation": {"uri": uri}}
    if place[0]:
        where["region"] = {"startLine": place[0], "startColumn": place[1]}
    return {
        "ruleId": rule,
        "level": level,
        "message": {"text": message},
        "locations": [{"physicalLocation": where}],
    }

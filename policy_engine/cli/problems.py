"""Problems of policy files, in the formats that people and other tools read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from policy_engine.cli.formats import Entry, annotation, sarif
from policy_engine.cli.output import json_text
from policy_engine.errors import Problem

if TYPE_CHECKING:
    from policy_engine.validation import Checked

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
    return "\n".join(annotation(entry) for entry in _entries(checked))


def _sarif(checked: Sequence[Checked]) -> str:
    return sarif(_RULES, _entries(checked))


def _entries(checked: Sequence[Checked]) -> list[Entry]:
    """What was found, and what could not be looked at."""
    found = [
        Entry("policy", "error", p.file, _message(p), p.line, p.column)
        for p in all_problems(checked)
    ]
    unseen = [c for c in checked if c.unchecked]
    return found + [Entry("unchecked", "warning", str(c.file), c.unchecked) for c in unseen]

"""Problems of policy files, in the formats that people and other tools read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from policy_engine.cli.formats import Entry, annotation, sarif
from policy_engine.cli.output import emit_json, emit_lines
from policy_engine.errors import Problem

if TYPE_CHECKING:
    from policy_engine.releasing.validation import Checked

_RULES = {
    "policy": "A policy is valid, fits its source and can be certified.",
    "unchecked": "The policy could not be checked against its warehouse or source.",
}


def report(checked: Sequence[Checked], form: str) -> None:
    """Print what was found, as text, json, sarif or github annotations."""
    if form == "json":
        emit_json(_document(checked))
    elif form == "sarif":
        emit_json(sarif(_RULES, _entries(checked)))
    else:
        emit_lines(_annotations(checked) if form == "github" else _text(checked))


def all_problems(checked: Sequence[Checked]) -> list[Problem]:
    """Every problem once: files may share a project file or a hierarchy."""
    return list(dict.fromkeys(problem for each in checked for problem in each.problems))


def _warning(problem: Problem) -> Problem:
    return replace(problem, message=f"warning: {problem.message}")


def _warnings(checked: Sequence[Checked]) -> list[Problem]:
    return [problem for each in checked for problem in each.warnings]


def _text(checked: Sequence[Checked]) -> list[str]:
    lines = [str(problem) for problem in all_problems(checked)]
    lines += [str(_warning(problem)) for problem in _warnings(checked)]
    for each in checked:
        if not each.problems and each.unchecked:
            lines.append(
                f"{each.file}: valid by itself; not checked against its warehouse or source"
            )
        elif not each.problems:
            lines.append(f"{each.file}: valid")
    return lines


def _document(checked: Sequence[Checked]) -> dict[str, Any]:
    problems = all_problems(checked)
    return {
        "valid": not problems,
        "files": [str(each.file) for each in checked],
        "problems": [vars(problem) for problem in problems],
        "warnings": [vars(problem) for problem in _warnings(checked)],
        "unchecked": [
            {"file": str(each.file), "message": each.unchecked}
            for each in checked
            if each.unchecked
        ],
    }


def _message(problem: Problem) -> str:
    return problem.message + (f"; {problem.remedy}" if problem.remedy else "")


def _annotations(checked: Sequence[Checked]) -> list[str]:
    return [annotation(entry) for entry in _entries(checked)]


def _entries(checked: Sequence[Checked]) -> list[Entry]:
    """What was found, and what could not be looked at."""
    told = [("error", each) for each in all_problems(checked)]
    told += [("warning", each) for each in _warnings(checked)]
    found = [Entry("policy", how, p.file, [_message(p)], p.line, p.column) for how, p in told]
    unseen = [c for c in checked if c.unchecked]
    return found + [Entry("unchecked", "warning", str(c.file), [c.unchecked]) for c in unseen]

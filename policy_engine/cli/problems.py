"""Problems of policy files, in the formats that people and other tools read."""

from __future__ import annotations

import json
from collections.abc import Sequence

from policy_engine.errors import Problem

_SARIF = "https://json.schemastore.org/sarif-2.1.0.json"


def report(problems: Sequence[Problem], files: Sequence[str], form: str) -> str:
    """``problems`` as text, json, sarif or github annotations.

    >>> problem = Problem("policy.yaml", 3, 1, "k", "k must be at least 2, found 1")
    >>> report([problem], ["policy.yaml"], "github")
    '::error file=policy.yaml,line=3,col=1::k must be at least 2, found 1'
    """
    if form == "json":
        document = {
            "valid": not problems,
            "files": list(files),
            "problems": [vars(problem) for problem in problems],
        }
        return json.dumps(document, ensure_ascii=False, indent=2)
    if form == "sarif":
        return json.dumps(_sarif(problems), ensure_ascii=False, indent=2)
    if form == "github":
        return "\n".join(_annotation(problem) for problem in problems)
    if problems:
        return "\n".join(str(problem) for problem in problems)
    return "\n".join(f"{file}: valid" for file in files)


def _message(problem: Problem) -> str:
    return problem.message + (f"; {problem.remedy}" if problem.remedy else "")


def _annotation(problem: Problem) -> str:
    text = _message(problem).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return f"::error file={problem.file},line={problem.line},col={problem.column}::{text}"


def _sarif(problems: Sequence[Problem]) -> dict[str, object]:
    results = [
        {
            "ruleId": "policy",
            "level": "error",
            "message": {"text": _message(problem)},
            "locations": [
                {
                    "physicalLocation": {
                        "artifactLocation": {"uri": problem.file},
                        "region": {
                            "startLine": max(problem.line, 1),
                            "startColumn": max(problem.column, 1),
                        },
                    }
                }
            ],
        }
        for problem in problems
    ]
    driver = {"name": "policy-engine", "rules": [{"id": "policy"}]}
    return {
        "version": "2.1.0",
        "$schema": _SARIF,
        "runs": [{"tool": {"driver": driver}, "results": results}],
    }

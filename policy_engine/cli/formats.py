"""Findings and problems in the formats that people and other tools read: SARIF, GitHub, JUnit."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from policy_engine.cli.output import emit_json, emit_lines, text_of
from policy_engine.errors import Problem
from policy_engine.policy.escapes import escaped
from policy_engine.values import frozen

if TYPE_CHECKING:
    from policy_engine.releasing.validation import Checked

_SARIF = "https://json.schemastore.org/sarif-2.1.0.json"
_NAME = "policy-engine"


@frozen
class Remark:
    """One finding: the rule that it breaks, how bad that is, where it is, what is said of it.

    ``fingerprint`` is the same wherever it stands; '' where nothing is known that is.
    """

    rule: str
    level: str
    file: str
    lines: list[str] | tuple[str, ...]
    line: int = 0
    column: int = 0
    fingerprint: str = ""

    @property
    def message(self) -> str:
        """The lines as one text."""
        return text_of(self.lines)


def shown_path(path: str | Path) -> str:
    """A path as other tools need it: relative to the working directory where it lies below.

    >>> shown_path(Path.cwd() / "policies" / "policy.yaml")
    'policies/policy.yaml'
    """
    absolute = os.path.abspath(path)  # noqa: PTH100 - links are not followed
    relative = Path(os.path.relpath(absolute))
    return absolute if relative.parts[:1] == (os.pardir,) else relative.as_posix()


def annotation(entry: Remark) -> str:
    """A workflow command of GitHub.

    >>> annotation(Remark("policy", "error", "policy.yaml", ["k must be at least 2"], 3, 1))
    '::error file=policy.yaml,line=3,col=1::k must be at least 2'
    """
    places = []
    if entry.file:
        name = _escaped(shown_path(entry.file)).replace(":", "%3A").replace(",", "%2C")
        places.append(f"file={name}")
    if entry.line:
        places.append(f"line={entry.line}")
        places += [f"col={entry.column}"] if entry.column else []
    where = f" {','.join(places)}" if places else ""
    return f"::{entry.level}{where}::{_escaped(entry.message)}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def sarif(rules: Mapping[str, str], entries: Iterable[Remark]) -> dict[str, object]:
    """A run in SARIF 2.1.0; ``rules`` are sentences by the id of the rule."""
    shown = [{"id": name, "shortDescription": {"text": text}} for name, text in rules.items()]
    run = {
        "tool": {"driver": {"name": _NAME, "rules": shown}},
        "columnKind": "unicodeCodePoints",
        "results": list(map(_result, entries)),
    }
    return {"$schema": _SARIF, "version": "2.1.0", "runs": [run]}


def _result(entry: Remark) -> dict[str, object]:
    found: dict[str, object] = {
        "ruleId": entry.rule,
        "level": entry.level,
        "message": {"text": entry.message},
    }
    if entry.file:
        shown = shown_path(entry.file)
        uri = Path(shown).as_uri() if os.path.isabs(shown) else quote(shown)  # noqa: PTH117
        where: dict[str, object] = {"artifactLocation": {"uri": uri}}
        if entry.line:
            column = {"startColumn": entry.column} if entry.column else {}
            where["region"] = {"startLine": entry.line, **column}
        found["locations"] = [{"physicalLocation": where}]
    if entry.fingerprint:
        found["partialFingerprints"] = {f"{_NAME}/v1": entry.fingerprint}
    return found


def junit(
    suite: str, rules: Mapping[str, str], entries: Sequence[Remark], skipped: str = ""
) -> list[str]:
    """A test suite in JUnit's XML: one test a rule, which fails with everything that breaks it.

    With ``skipped`` no rule was looked at, and that is why.
    """
    broken = {entry.rule for entry in entries}
    counts = f'tests="{len(rules)}" failures="{len(broken)}"'
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f"<testsuites {counts}>",
        f"  <testsuite name={_attribute(suite)} {counts}"
        f' errors="0" skipped="{len(rules) if skipped else 0}">',
    ]
    for rule, text in rules.items():
        of_rule = [entry for entry in entries if entry.rule == rule]
        lines += _case(suite, f"{rule} {text}", of_rule, skipped)
    return [*lines, "  </testsuite>", "</testsuites>"]


def _case(suite: str, name: str, entries: Sequence[Remark], skipped: str) -> list[str]:
    head = f"    <testcase classname={_attribute(suite)} name={_attribute(name)}"
    if skipped:
        return [f"{head}><skipped message={_attribute(skipped)}/></testcase>"]
    if not entries:
        return [f"{head}/>"]
    from xml.sax.saxutils import escape

    body = [escape(line) for entry in entries for line in _placed(entry)]
    return [
        f"{head}>",
        f"      <failure message={_attribute(entries[0].lines[0])}>{body[0]}",
        *body[1:],
        "      </failure>",
        "    </testcase>",
    ]


def _placed(entry: Remark) -> list[str]:
    """The lines of a finding, the first with its place."""
    line = f":{entry.line}" if entry.line else ""
    place = f"{shown_path(entry.file)}{line}: " if entry.file else ""
    return [f"{place}{entry.lines[0]}", *entry.lines[1:]]


def _attribute(text: str) -> str:
    from xml.sax.saxutils import quoteattr

    # What is not printable has no place in XML either.
    return quoteattr(escaped(text))


_RULES = {
    "policy": "A policy is valid, fits its source and can be certified.",
    "unchecked": "The policy could not be checked against its warehouse or source.",
}


def report(checked: Sequence[Checked], form: str) -> None:
    """Print what was found, as text, json, sarif or github annotations."""
    # Every problem once: files may share a project file or a hierarchy.
    problems = list(dict.fromkeys(each for c in checked for each in c.problems))
    warnings = [each for c in checked for each in c.warnings]
    unseen = [each for each in checked if each.unchecked]
    entries = [_entry("error", each) for each in problems]
    entries += [_entry("warning", each) for each in warnings]
    entries += [Remark("unchecked", "warning", str(c.file), [c.unchecked]) for c in unseen]
    if form == "json":
        emit_json(
            {
                "valid": not problems,
                "files": [each.file for each in checked],
                "problems": list(map(vars, problems)),
                "warnings": list(map(vars, warnings)),
                "unchecked": [{"file": c.file, "message": c.unchecked} for c in unseen],
            }
        )
    elif form == "sarif":
        emit_json(sarif(_RULES, entries))
    elif form == "github":
        emit_lines(list(map(annotation, entries)))
    else:
        lines = [*map(str, problems)]
        for warning in warnings:
            lines.append(str(replace(warning, message=f"warning: {warning.message}")))
        emit_lines([*lines, *_valid(checked)])


def _entry(level: str, problem: Problem) -> Remark:
    remedy = f"; {problem.remedy}" if problem.remedy else ""
    message = f"{problem.message}{remedy}"
    return Remark("policy", level, problem.file, [message], problem.line, problem.column)


def _valid(checked: Sequence[Checked]) -> Iterator[str]:
    unseen = " by itself; not checked against its warehouse or source"
    for each in checked:
        if not each.problems:
            yield f"{each.file}: valid{unseen if each.unchecked else ''}"

"""Nodes that are switched off where this manifest was made, and may be switched on elsewhere.

A manifest keeps a disabled node with its template, and not whether it is disabled for good: dbt
resolves ``enabled`` first. So a way out that is switched off counts as one, unless a literal
``false`` is found for it. What a variable switches on, who gives it by hand, is only said.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from policy_engine.dbt.manifest import Manifest, Node, mapping, text
from policy_engine.dbt.marks import Marks
from policy_engine.dbt.project import DbtProject
from policy_engine.dbt.sinks import ways_out

_IN_SQL = re.compile(r"\benabled\s*=\s*(?P<value>(?:var\([^)]*\)|[^,)\s])+)", re.IGNORECASE)
_BY_A_VARIABLE = re.compile(r"var\(\s*(['\"])[\w.]+\1\s*,\s*['\"]?false['\"]?\s*\)(?:\s*\|\s*\w+)?")
_IN_YAML = re.compile(r"\benabled:\s*(?P<value>[^\n#]*)")


@dataclass(frozen=True)
class SwitchedOff:
    """Ways out that are disabled here: some for this target, some until a variable is given."""

    elsewhere: tuple[Node, ...] = ()
    by_variable: tuple[Node, ...] = ()


def switched_off(
    manifest: Manifest, marks: Mapping[str, Marks], project: DbtProject | None, dialect: str
) -> SwitchedOff:
    """The ways out that are disabled, and not for good."""
    found: dict[str, list[Node]] = {"": [], _VARIABLE: [], _FOR_GOOD: []}
    for node in manifest.disabled:
        if node.id not in manifest.nodes and any(ways_out(node, marks.get(node.id), dialect)):
            found[_why(node, project)].append(node)
    return SwitchedOff(tuple(found[""]), tuple(found[_VARIABLE]))


_FOR_GOOD, _VARIABLE = "for good", "by a variable"


def _why(node: Node, project: DbtProject | None) -> str:
    """Why a node is disabled, as far as its texts say so; '' where a target may enable it."""
    values = [_bare(each) for each in _values(node, project)]
    if not any(each == "false" or _BY_A_VARIABLE.fullmatch(each) for each in values):
        return ""
    if all(each in {"true", "false"} for each in values):
        return _FOR_GOOD
    known = all(each in {"true", "false"} or _BY_A_VARIABLE.fullmatch(each) for each in values)
    return _VARIABLE if known else ""


def _values(node: Node, project: DbtProject | None) -> Iterator[str]:
    """What is written for ``enabled`` in the texts that may say so."""
    found = mapping(node.data, "unrendered_config").get("enabled")
    if isinstance(found, str):
        yield found.removeprefix("=")
    yield from (each["value"] for each in _IN_SQL.finditer(node.raw))
    patch = text(node.data, "patch_path").partition("://")[2]
    own = node.file if node.file.endswith((".yml", ".yaml")) else ""
    files = [each for each in ("dbt_project.yml", patch, own) if each]
    for file in files if project is not None else ():
        try:
            written = (project.directory / file).read_text("utf-8") if project else ""
        except (OSError, UnicodeDecodeError):
            continue
        yield from (each["value"] for each in _IN_YAML.finditer(written))


def _bare(value: str) -> str:
    """A value without its quotes and braces.

    >>> _bare("{{ var('x', false) }}"), _bare("false")
    ("var('x', false)", 'false')
    """
    bare = value.strip().strip("\"'").strip()
    return bare.removeprefix("{{").removesuffix("}}").strip().lower()

"""Nodes that are switched off where this manifest was made, and may be switched on elsewhere.

A manifest keeps a disabled node with its template, and not whether it is disabled for good: dbt
resolves ``enabled`` first. So a way out that is switched off counts as one, unless a literal
``false`` is found for it. What a variable switches on, who gives it by hand, is only said.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from policy_engine.dbt.manifest import Manifest, Node, mapping, text
from policy_engine.dbt.marks import Marks
from policy_engine.dbt.project import DbtProject
from policy_engine.dbt.sinks import ways_out
from policy_engine.dbt.texts import read

_IN_SQL = re.compile(r"\benabled\s*=\s*(?P<value>(?:var\([^)]*\)|[^,)\s])+)", re.IGNORECASE)
_BY_A_VARIABLE = re.compile(r"var\(\s*(['\"])[\w.]+\1\s*,\s*['\"]?false['\"]?\s*\)(?:\s*\|\s*\w+)?")
_IN_YAML = re.compile(r"\benabled:\s*(?P<value>[^\n#]*)")


def switched_off(
    manifest: Manifest, marks: Mapping[str, Marks], project: DbtProject | None, dialect: str
) -> tuple[tuple[Node, ...], tuple[Node, ...]]:
    """The ways out that are disabled here: those that another target or a variable may enable.

    What is switched off for good is in neither.
    """
    elsewhere, by_variable = [], []
    for node in manifest.disabled:
        if node.id in manifest.nodes or not any(ways_out(node, marks.get(node.id), dialect)):
            continue
        values = {_bare(each) for each in _values(node, project)}
        others = values - {"true", "false"}
        asking = {each for each in others if _BY_A_VARIABLE.fullmatch(each)}
        if others != asking or not ("false" in values or asking):
            elsewhere.append(node)
        elif asking:
            by_variable.append(node)
    return tuple(elsewhere), tuple(by_variable)


def _values(node: Node, project: DbtProject | None) -> Iterator[str]:
    """What is written for ``enabled`` in the texts that may say so."""
    found = mapping(node.data, "unrendered_config").get("enabled")
    if isinstance(found, str):
        yield found.removeprefix("=")
    yield from (each["value"] for each in _IN_SQL.finditer(node.raw))
    patch = text(node.data, "patch_path").partition("://")[2]
    own = node.file if node.file.endswith((".yml", ".yaml")) else ""
    if project is None:
        return
    for file in filter(None, ("dbt_project.yml", patch, own)):
        yield from (each["value"] for each in _IN_YAML.finditer(read(project.directory / file)))


def _bare(value: str) -> str:
    """A value without its quotes and braces.

    >>> _bare("{{ var('x', false) }}"), _bare("false")
    ("var('x', false)", 'false')
    """
    bare = value.strip().strip("\"'").strip()
    return bare.removeprefix("{{").removesuffix("}}").strip().lower()

"""Whether a manifest is of the files that are there now.

A manifest has no digest of a macro's file, but it has the macro's text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from fnmatch import fnmatch
from pathlib import Path

from policy_engine.dbt.foreign import OURS
from policy_engine.dbt.manifest import Manifest, Node, leaves
from policy_engine.dbt.project import DbtProject, read_settings
from policy_engine.dbt.rules import GateFinding, finding
from policy_engine.dbt.texts import on_one_line, read

_TEXTS = ("model", "snapshot", "analysis", "test")
_COMMENT = re.compile(r"\{#.*?#\}", re.DOTALL)
_BLOCK = re.compile(r"\{%-?\s*(?P<kind>macro|test|data_test)\s+(?P<name>\w+)")


def stale(manifest: Manifest, project: DbtProject) -> Iterator[GateFinding]:
    """The files whose text is not the one that the manifest has."""
    for node in manifest.of_kind(*_TEXTS):
        # The text of a snapshot in YAML is dbt's own.
        if node.package == manifest.project and node.file.endswith((".sql", ".py")) and node.raw:
            yield from _changed_node(node, project.directory / node.file)
    every = (*manifest.nodes.values(), *manifest.disabled)
    known = {node.file for node in every if node.package == manifest.project}
    lines = read(project.directory / ".dbtignore").splitlines()
    ignored = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    for file in project.files(project.models, ".sql", ".py"):
        shown = project.shown(file)
        if shown not in known and not any(_matches(shown, pattern) for pattern in ignored):
            yield finding("G40", "the manifest does not know this model", shown)
    names = set()
    for macro in manifest.macros.values():
        is_shipped = manifest.is_internal(macro.package) or macro.package == OURS
        if not is_shipped and macro.file and macro.raw.strip():
            names.add(macro.name)
            is_own = macro.package == manifest.project
            folder = project.directory if is_own else project.packages / macro.package
            for said in _changed_macro(macro, folder / macro.file, is_own=is_own):
                yield finding("G40", said, manifest.file_of(macro), names=(macro.name,))
    settings = read_settings(project.directory / "dbt_project.yml")
    named = leaves(settings.get("macro-paths", "macros"))
    folders = tuple(project.directory / each for each in named)
    for file in project.files(folders, ".sql"):
        for found in _BLOCK.finditer(_COMMENT.sub(" ", read(file))):
            name = found["name"] if found["kind"] == "macro" else f"test_{found['name']}"
            if name not in names:
                said = f"the manifest does not know the macro {found['name']}"
                yield finding("G40", said, project.shown(file), names=(found["name"],))
    hooks = leaves([settings.get("on-run-start"), settings.get("on-run-end")])
    own = (node for node in manifest.of_kind("operation") if node.package == manifest.project)
    known_hooks = [on_one_line(node.raw) for node in own if node.file == "dbt_project.yml"]
    if sorted(on_one_line(each) for each in hooks if each.strip()) != sorted(known_hooks):
        said = "the on-run hooks were changed after the manifest was made"
        yield finding("G40", said, "dbt_project.yml")


def _changed_node(node: Node, file: Path) -> Iterator[GateFinding]:
    if not file.is_file():
        yield finding("G40", f"the manifest has {node.label}, and its file is gone", node.file)
        return
    known, text = on_one_line(node.raw), on_one_line(read(file))
    # The text of a snapshot is what stands within its block.
    is_part = node.kind == "snapshot" or "{% test" in text or "{% snapshot" in text
    if known != text and not (is_part and known in text):
        yield finding("G40", f"{node.label} was changed after the manifest was made", node.file)


def _changed_macro(macro: Node, file: Path, *, is_own: bool) -> Iterator[str]:
    if file.is_file() and on_one_line(macro.raw) not in on_one_line(read(file)):
        yield f"the macro {macro.name} was changed after the manifest was made"
    elif is_own and not file.is_file():  # the packages may be elsewhere
        yield f"the manifest has the macro {macro.name}, and its file is gone"


def younger_files(manifest: Manifest, project: DbtProject) -> Iterator[str]:
    """The properties files that were written after the manifest; their text is not in it."""
    try:
        made = datetime.fromisoformat(manifest.generated_at.replace("Z", "+00:00")).timestamp()
    except ValueError:
        return
    for file in (project.directory / "dbt_project.yml", *project.properties()):
        try:
            is_younger = file.stat().st_mtime > made + 1
        except OSError:
            continue
        if is_younger:
            yield project.shown(file)


def _matches(shown: str, pattern: str) -> bool:
    """Whether a path is one that .dbtignore names."""
    bare = pattern.strip("/")
    if pattern.endswith("/") or "." not in bare.rpartition("/")[2]:
        return f"/{bare}/" in f"/{shown}" if "/" not in bare else shown.startswith(f"{bare}/")
    return fnmatch(shown, bare) or fnmatch(Path(shown).name, bare)

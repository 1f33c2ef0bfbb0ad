"""Whether a manifest is of the files that are there now.

A manifest has no digest of a macro's file, but it has the macro's text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from fnmatch import fnmatch
from functools import lru_cache
from pathlib import Path
from typing import Any

from policy_engine.dbt.foreign import OURS
from policy_engine.dbt.manifest import Macro, Manifest, Node
from policy_engine.dbt.project import DbtProject
from policy_engine.dbt.rules import GateFinding, finding

_TEXTS = ("model", "snapshot", "analysis", "test")
_COMMENT = re.compile(r"\{#.*?#\}", re.DOTALL)
_BLOCK = re.compile(r"\{%-?\s*(?P<kind>macro|test|data_test)\s+(?P<name>\w+)")


def stale(manifest: Manifest, project: DbtProject) -> Iterator[GateFinding]:
    """The files whose text is not the one that the manifest has."""
    read = lru_cache(maxsize=None)(_read)
    for node in manifest.of_kind(*_TEXTS):
        # The text of a snapshot in YAML is dbt's own.
        if node.package == manifest.project and node.file.endswith((".sql", ".py")) and node.raw:
            yield from _changed_node(node, read(project.directory / node.file))
    every = (*manifest.nodes.values(), *manifest.disabled)
    known = {node.file for node in every if node.package == manifest.project}
    ignored = _ignored(project)
    for file in project.files(project.models, ".sql", ".py"):
        shown = project.shown(file)
        if shown not in known and not any(_matches(shown, pattern) for pattern in ignored):
            yield finding("G40", "the manifest does not know this model", shown)
    names = set()
    for macro in manifest.macros.values():
        is_shipped = manifest.is_internal(macro.package) or macro.package == OURS
        if not is_shipped and macro.file and macro.sql.strip():
            names.add(macro.name)
            is_own = macro.package == manifest.project
            folder = project.directory if is_own else project.packages / macro.package
            text = read(folder / macro.file)
            yield from _changed_macro(macro, text, is_own, manifest.file_of_macro(macro))
    settings = _settings(project)
    for file in project.files(_macro_folders(settings, project), ".sql"):
        for found in _BLOCK.finditer(_COMMENT.sub(" ", read(file) or "")):
            name = found["name"] if found["kind"] == "macro" else f"test_{found['name']}"
            if name not in names:
                said = f"the manifest does not know the macro {found['name']}"
                yield finding("G40", said, project.shown(file))
    if settings and _hooks(settings) != _known_hooks(manifest):
        said = "the on-run hooks were changed after the manifest was made"
        yield finding("G40", said, "dbt_project.yml")


def _read(file: Path) -> str | None:
    """The text of a file but for its blanks; None where it is gone."""
    try:
        return _plain(file.read_text("utf-8", errors="replace"))
    except OSError:
        return None


def _plain(text: str) -> str:
    return " ".join(text.split())


def _changed_node(node: Node, text: str | None) -> Iterator[GateFinding]:
    if text is None:
        yield finding("G40", f"the manifest has {node.label}, and its file is gone", node.file)
        return
    # The text of a snapshot is what stands within its block.
    is_part = node.kind == "snapshot" or "{% test" in text or "{% snapshot" in text
    known = _plain(node.raw)
    if known != text and not (is_part and known in text):
        yield finding("G40", f"{node.label} was changed after the manifest was made", node.file)


def _changed_macro(
    macro: Macro, text: str | None, is_own: bool, shown: str
) -> Iterator[GateFinding]:
    if text is not None and _plain(macro.sql) not in text:
        said = f"the macro {macro.name} was changed after the manifest was made"
        yield finding("G40", said, shown)
    elif text is None and is_own:  # the packages may be elsewhere
        said = f"the manifest has the macro {macro.name}, and its file is gone"
        yield finding("G40", said, shown)


def _settings(project: DbtProject) -> Mapping[str, Any]:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        text = (project.directory / "dbt_project.yml").read_text("utf-8")
        found = YAML(typ="safe", pure=True).load(text)
    except (OSError, UnicodeDecodeError, YAMLError):
        return {}
    return found if isinstance(found, dict) else {}


def _macro_folders(settings: Mapping[str, Any], project: DbtProject) -> tuple[Path, ...]:
    given = settings.get("macro-paths", ["macros"])
    named = [each for each in given if isinstance(each, str)] if isinstance(given, list) else []
    return tuple(project.directory / each for each in named)


def _hooks(settings: Mapping[str, Any]) -> list[str]:
    """What on-run-start and on-run-end are now."""
    given = [settings.get(key) or [] for key in ("on-run-start", "on-run-end")]
    listed = [each for part in given for each in (part if isinstance(part, list) else [part])]
    return sorted(_plain(each) for each in listed if isinstance(each, str) and each.strip())


def _known_hooks(manifest: Manifest) -> list[str]:
    """What they are in the manifest."""
    own = (node for node in manifest.of_kind("operation") if node.package == manifest.project)
    return sorted(_plain(node.raw) for node in own if node.file == "dbt_project.yml")


def younger_files(manifest: Manifest, project: DbtProject) -> Iterator[str]:
    """The properties files that were written after the manifest; their text is not in it."""
    try:
        made = datetime.fromisoformat(manifest.generated_at.replace("Z", "+00:00")).timestamp()
    except ValueError:
        return
    folders = (*project.models, *project.seeds, *project.snapshots)
    for file in [project.directory / "dbt_project.yml", *project.files(folders, ".yml", ".yaml")]:
        try:
            is_younger = file.stat().st_mtime > made + 1
        except OSError:
            continue
        if is_younger:
            yield project.shown(file)


def _ignored(project: DbtProject) -> list[str]:
    """The patterns of .dbtignore."""
    try:
        lines = (project.directory / ".dbtignore").read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return []
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]


def _matches(shown: str, pattern: str) -> bool:
    """Whether a path is one that .dbtignore names.

    >>> _matches("models/old/a.sql", "models/old/"), _matches("models/a.sql", "*.py")
    (True, False)
    """
    bare = pattern.strip("/")
    if pattern.endswith("/") or "." not in bare.rpartition("/")[2]:
        return f"/{bare}/" in f"/{shown}" if "/" not in bare else shown.startswith(f"{bare}/")
    return fnmatch(shown, bare) or fnmatch(Path(shown).name, bare)

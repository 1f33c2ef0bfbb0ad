"""Whether a manifest is of the files that are there now."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from fnmatch import fnmatch
from pathlib import Path

from policy_engine.dbt.manifest import Manifest, Node
from policy_engine.dbt.project import DbtProject
from policy_engine.dbt.rules import GateFinding, finding

_TEXTS = ("model", "snapshot", "analysis", "test")
_BLANKS = re.compile(r"\s+")


def changed_files(manifest: Manifest, project: DbtProject) -> Iterator[GateFinding]:
    """The files whose text is not the one that the manifest has."""
    known = {n.file for n in (*manifest.nodes.values(), *manifest.disabled) if _is_own(n, manifest)}
    for node in manifest.of_kind(*_TEXTS):
        # The text of a snapshot in YAML is dbt's own.
        if _is_own(node, manifest) and node.file.endswith((".sql", ".py")) and node.raw:
            yield from _changed(node, project)
    ignored = _ignored(project)
    for file in project.files(project.models, ".sql", ".py"):
        shown = project.shown(file)
        if shown not in known and not any(_matches(shown, pattern) for pattern in ignored):
            yield finding("G40", "the manifest does not know this model", shown)


def _is_own(node: Node, manifest: Manifest) -> bool:
    return node.package == manifest.project


def _changed(node: Node, project: DbtProject) -> Iterator[GateFinding]:
    try:
        text = (project.directory / node.file).read_text("utf-8", errors="replace")
    except OSError:
        yield finding("G40", f"the manifest has {node.label}, and its file is gone", node.file)
        return
    # The text of a snapshot is what stands within its block.
    is_part = node.kind == "snapshot" or "{% test" in text or "{% snapshot" in text
    known, there = _plain(node.raw), _plain(text)
    if known != there and not (is_part and known in there):
        yield finding("G40", f"{node.label} was changed after the manifest was made", node.file)


def _plain(text: str) -> str:
    return _BLANKS.sub(" ", text).strip()


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

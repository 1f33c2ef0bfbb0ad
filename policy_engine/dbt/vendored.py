"""The files that a dbt project needs beside its models: our package, its entry, and .dbtignore."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from policy_engine.dbt.project import DbtProject
from policy_engine.dbt.writing import Change, changed, read
from policy_engine.dbt.yaml_items import YamlItems
from policy_engine.errors import FileError

NAME = "policy_engine"
FOLDER = "packages/policy_engine"
IGNORED = "*.privacy.yml"
_TARGETS = "macros/targets.sql"
_SOURCE = Path(__file__).parent / "package"
_OWN = re.compile(rf"^name:\s*[\"']?{NAME}[\"']?\s*(#.*)?$", re.MULTILINE)
_IGNORE_WORDS = "# Policies of policy-engine, which dbt would read as properties."
_PACKAGES = "packages.yml"
_DEPENDENCIES = "dependencies.yml"


def environment(project: DbtProject, targets: tuple[str, ...]) -> list[Change]:
    """What is still missing for dbt to understand a release model; ``targets`` have releases.

    Raises:
        FileError: something of somebody else's stands in the way.
    """
    found = [*_package(project, targets), _entry(project), _ignored(project)]
    return [change for change in found if change is not None]


def files() -> Iterator[tuple[str, str]]:
    """The files of the package: where each stands in it, and its text."""
    for path in sorted(_SOURCE.rglob("*")):
        if path.is_file() and path.suffix in {".sql", ".yml", ".md"}:
            yield path.relative_to(_SOURCE).as_posix(), path.read_text(encoding="utf-8")


def left_over(project: DbtProject) -> list[Path]:
    """Files in the package's folder that are no part of it (any more)."""
    folder = project.directory / FOLDER
    ours = {folder / name for name, _ in files()}
    found = sorted(path for path in folder.rglob("*") if path.is_file())
    return [path for path in found if path not in ours]


def is_installed(project: DbtProject) -> bool:
    """Whether ``dbt deps`` has put the package, with its targets, where dbt looks for it."""
    installed = read(project.packages / NAME / _TARGETS)
    return installed is not None and installed == read(project.directory / FOLDER / _TARGETS)


def _package(project: DbtProject, targets: tuple[str, ...]) -> Iterator[Change | None]:
    folder = project.directory / FOLDER
    described = read(folder / "dbt_project.yml")
    if described is None and folder.exists() and any(folder.iterdir()):
        raise FileError(f"{folder} is in the way: it is no dbt package; move it elsewhere")
    if described is not None and not _OWN.search(described):
        raise FileError(f"{folder} is in the way: it is another dbt package; move it elsewhere")
    listed = ", ".join(f"'{target}'" for target in targets)
    for name, text in files():
        own = text.replace("return([])", f"return([{listed}])") if name == _TARGETS else text
        yield changed(folder / name, own)


def _entry(project: DbtProject) -> Change | None:
    """The package's entry in packages.yml, or in dependencies.yml where packages stand there."""
    path = project.directory / _PACKAGES
    text = read(path)
    if text is None:
        other = project.directory / _DEPENDENCIES
        told = read(other)
        if told is not None and "packages" in YamlItems(told).sections:
            path, text = other, told
    items = YamlItems(text or "")
    if not items.is_sliceable("packages"):
        raise FileError(f"{path}: write packages: as a list with a line an entry")
    for item in items.items("packages"):
        where = item.data.get("local")
        if isinstance(where, str) and Path(where) == Path(FOLDER):
            return None
    return changed(path, items.added("packages", f"local: {FOLDER}").text)


def _ignored(project: DbtProject) -> Change | None:
    """The line of .dbtignore that keeps dbt from reading policies as its own YAML."""
    path = project.directory / ".dbtignore"
    text = read(path) or ""
    if IGNORED in (line.strip() for line in text.split("\n")):
        return None
    gap = "" if not text or text.endswith("\n") else "\n"
    return changed(path, f"{text}{gap}{_IGNORE_WORDS}\n{IGNORED}\n")

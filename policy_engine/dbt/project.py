"""A dbt project as its files: dbt_project.yml, and where it says that things are."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from policy_engine.errors import FileError, PolicyError, Problem
from policy_engine.policy.environment import filled

FILE = "dbt_project.yml"
POLICY = ".privacy.yml"
"""What the name of a policy's file ends in, in a dbt project."""
MISSPELT = ".privacy.yaml"


@dataclass(frozen=True)
class DbtProject:
    """Where the things of a dbt project are; every path is below ``directory``."""

    directory: Path
    name: str
    profile: str
    models: tuple[Path, ...]
    seeds: tuple[Path, ...]
    snapshots: tuple[Path, ...]
    target: Path
    packages: Path

    @property
    def manifest(self) -> Path:
        """What dbt knows of the project, once it has parsed it."""
        return self.target / "manifest.json"

    @property
    def catalog(self) -> Path:
        """What dbt knows of the warehouse, after ``dbt docs generate``."""
        return self.target / "catalog.json"

    def shown(self, path: Path) -> str:
        """A path as dbt shows it: from the project's folder."""
        return Path(os.path.relpath(path, self.directory)).as_posix()

    def files(self, folders: tuple[Path, ...], *ends: str) -> list[Path]:
        """The files below some folders whose names have one of these ends, in order."""
        found = {
            folder / name
            for start in folders
            for folder, names in _walked(start)
            for name in names
            if name.lower().endswith(ends)
        }
        return sorted(found)

    def policies(self) -> tuple[Path, ...]:
        """The policies below the paths of models.

        Raises:
            PolicyError: a file's name ends in .privacy.yaml, which dbt would read as its own.
        """
        wrong = self.files(self.models, MISSPELT)
        if wrong:
            remedy = f"rename it to {POLICY}: .dbtignore keeps dbt from reading those alone"
            message = f"the name of a policy ends in {POLICY} in a dbt project, found {MISSPELT}"
            raise PolicyError(tuple(Problem(str(f), 0, 0, "", message, remedy) for f in wrong))
        return tuple(self.files(self.models, POLICY))


def _walked(start: Path) -> Iterator[tuple[Path, list[str]]]:
    """Every folder below ``start`` with its files, links followed, each folder once."""
    seen: set[str] = set()
    for folder, inner, names in os.walk(start, followlinks=True):
        real = os.path.realpath(folder)
        if real in seen:
            inner.clear()
            continue
        seen.add(real)
        yield Path(folder), names


def find_dbt_project(start: Path) -> Path | None:
    """The folder with a dbt_project.yml, at ``start`` or above it; None where there is none."""
    start = start.absolute()
    return next((f for f in (start, *start.parents) if (f / FILE).is_file()), None)


def open_dbt_project(
    directory: Path | None = None, environ: Mapping[str, str] | None = None
) -> DbtProject:
    """The dbt project in a folder; without one, as dbt finds it: here, or above.

    Raises:
        FileError: there is none, or its file cannot be read.
        PolicyError: what it says is not what dbt takes.
    """
    folder = find_dbt_project(Path.cwd()) if directory is None else directory.absolute()
    if folder is None or not (folder / FILE).is_file():
        where = f"in {folder}" if folder is not None else "here or above"
        raise FileError(f"there is no {FILE} {where}; name the project with --project-dir")
    return read_dbt_project(folder / FILE, os.environ if environ is None else environ)


def read_dbt_project(file: Path, environ: Mapping[str, str]) -> DbtProject:
    """The project that a file describes; ``environ`` stands in for the environment.

    Raises:
        FileError: the file cannot be read.
        PolicyError: what it says is not what dbt takes.
    """
    reading = _Reading(file, _mapping(file), environ)
    folder = file.parent
    target = environ.get("DBT_TARGET_PATH") or reading.text("target-path", "target")
    return DbtProject(
        directory=folder,
        name=reading.text("name"),
        profile=reading.text("profile", "default"),
        models=reading.paths("model-paths", "models"),
        seeds=reading.paths("seed-paths", "seeds"),
        snapshots=reading.paths("snapshot-paths", "snapshots"),
        target=folder / target,
        packages=folder / reading.text("packages-install-path", "dbt_packages"),
    )


def _mapping(file: Path) -> Mapping[str, Any]:
    try:
        found = YAML(typ="safe", pure=True).load(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise FileError(f"{file} could not be read: {error.strerror}") from None
    except (UnicodeDecodeError, YAMLError) as error:
        mark = getattr(error, "problem_mark", None)
        place = (mark.line + 1, mark.column + 1) if mark is not None else (0, 0)
        raise PolicyError((Problem(str(file), place[0], place[1], "", "it is not YAML"),)) from None
    if not isinstance(found, dict):
        message = "it must be a mapping with name, profile and model-paths"
        raise PolicyError((Problem(str(file), 1, 1, "", message),))
    return found


@dataclass(frozen=True)
class _Reading:
    """The values of a dbt_project.yml, as the environment fills them."""

    file: Path
    data: Mapping[str, Any]
    environ: Mapping[str, str]

    def text(self, key: str, default: str | None = None) -> str:
        """A text; the default where the key is missing."""
        return self._filled(key, self.data.get(key, default))

    def paths(self, key: str, default: str) -> tuple[Path, ...]:
        """A list of folders."""
        found = self.data.get(key, [default])
        if not isinstance(found, list):
            raise self._refused(key, f"must be a list of folders, as in [{default}]")
        return tuple(self.file.parent / self._filled(key, each) for each in found)

    def _filled(self, key: str, found: object) -> str:
        if not isinstance(found, str) or not found.strip():
            what = "is missing" if found is None else f"must be text, found {found!r}"
            raise self._refused(key, what)

        def refuse(wrong: str, remedy: str) -> None:
            raise self._refused(key, wrong, remedy)

        return filled(found, self.environ, refuse)

    def _refused(self, key: str, what: str, remedy: str = "") -> PolicyError:
        return PolicyError((Problem(str(self.file), 0, 0, key, f"{key} {what}", remedy),))

"""A dbt project as its files: dbt_project.yml, where it says that things are, and what lies there.

Changes of files are worked out first, shown as a diff, and put in place one by one, each whole.

The files stand in for the manifest, so that dbt has to parse nothing before: a model is called as
its file is, and a properties file that speaks of it has its name in it.
"""

from __future__ import annotations

import difflib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from policy_engine.dbt.manifest import Manifest, mapping, sequence, strings, text
from policy_engine.dbt.yaml_items import Item, YamlItems
from policy_engine.errors import FileError, PolicyError, Problem
from policy_engine.opening import bytes_in, text_in
from policy_engine.policy.project import filled
from policy_engine.policy.within import apart, policies_within
from policy_engine.values import frozen

FILE = "dbt_project.yml"
POLICY = ".privacy.yml"
"""What the name of a policy's file ends in, in a dbt project."""
MISSPELT = ".privacy.yaml"
CHOSEN = ("chosen", "suggested")
"""What follows in the name of the file of what was chosen for a policy, by which command."""
_SNAPSHOT = re.compile(r"\{%-?\s*snapshot\s+([A-Za-z_]\w*)")
_NO_END = "\\ No newline at end of file"


def stem_of(policy: Path) -> str:
    """The name of a policy's file without its ending; of one within a file its own.

    >>> stem_of(Path("models/towns.privacy.yml")), stem_of(Path("models/schema.yml#ages"))
    ('towns', 'ages')
    """
    return apart(policy)[1] or policy.name[: -len(POLICY)]


def chosen_file(policy: Path, word: str, edition: str) -> Path:
    """Where a choice for a policy of a dbt project is written: as a policy beside it."""
    return policy.with_name(".".join(filter(None, (stem_of(policy), word, edition))) + POLICY)


@frozen
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
        found: set[Path] = set()
        for start in folders:
            seen: set[str] = set()
            for folder, inner, names in os.walk(start, followlinks=True):
                if (real := os.path.realpath(folder)) in seen:  # a link to it, or in a circle
                    inner.clear()
                    continue
                seen.add(real)
                found |= {Path(folder, name) for name in names if name.lower().endswith(ends)}
        return sorted(found)

    def policies(self) -> tuple[Path, ...]:
        """The policies: files below the paths of models, and those within properties files.

        Raises PolicyError: a file's name ends in .privacy.yaml, which dbt would read as its own; or
            a policy is within a properties file of no models.
        """
        wrong = self.files(self.models, MISSPELT)
        if wrong:
            remedy = f"rename it to {POLICY}: .dbtignore keeps dbt from reading those alone"
            message = f"the name of a policy ends in {POLICY} in a dbt project, found {MISSPELT}"
            raise PolicyError(tuple(Problem(str(f), 0, 0, "", message, remedy) for f in wrong))
        within = [each for file in self.properties() for each in policies_within(file)]
        for file in within:
            if not {*self.models} & {*file.parents}:
                message = "a policy stands below a path of models: its model is written beside it"
                remedy = f"write it into a properties file in {self.shown(self.models[0])}"
                raise PolicyError((Problem(str(file), 0, 0, "", message, remedy),))
        found = (*self.files(self.models, POLICY), *within)
        stems = {file: file.with_name(stem_of(file)) for file in found}
        chosen = [str(stem) for stem in stems.values()]
        # What was chosen for a policy has its release, and stands for it.
        return tuple(
            file for file, stem in stems.items()
            if not any(each.startswith(f"{stem}.{word}") for each in chosen for word in CHOSEN)
        )  # fmt: skip

    def properties(self) -> tuple[Path, ...]:
        """The properties files."""
        found = self.files((*self.models, *self.seeds, *self.snapshots), ".yml", ".yaml")
        return tuple(path for path in found if not path.name.lower().endswith(POLICY))


@dataclass
class ProjectFiles:
    """What lies below the paths of a project, each read at most once.

    Texts have plain line ends, whatever the file has.
    """

    project: DbtProject
    _texts: dict[Path, str] = field(default_factory=dict)
    _items: dict[Path, YamlItems] = field(default_factory=dict)

    @cached_property
    def models(self) -> Mapping[str, list[Path]]:
        """The files of models by name; a name that has several is a mistake that dbt will tell."""
        found: dict[str, list[Path]] = {}
        for path in self.project.files(self.project.models, ".sql", ".py"):
            found.setdefault(path.stem, []).append(path)
        return found

    @cached_property
    def seeds(self) -> frozenset[str]:
        """The names of seeds."""
        return frozenset(path.stem for path in self.project.files(self.project.seeds, ".csv"))

    @cached_property
    def snapshots(self) -> frozenset[str]:
        """The names of snapshots."""
        files = self.project.files(self.project.snapshots, ".sql")
        found = (name for path in files for name in _SNAPSHOT.findall(self.text(path)))
        return self.names("snapshots") | frozenset(found)

    @cached_property
    def yaml(self) -> tuple[Path, ...]:
        """The properties files."""
        return self.project.properties()

    def text(self, path: Path) -> str:
        """The text of a file; raises as ``read``."""
        if path not in self._texts:
            self._texts[path] = read(path) or ""
        return self._texts[path]

    def items(self, path: Path) -> YamlItems:
        """A properties file, as its items."""
        if path not in self._items:
            self._items[path] = YamlItems(self.text(path))
        return self._items[path]

    def speaking_of(self, word: str, section: str) -> Iterator[tuple[Path, Item]]:
        """The items of a list in properties files in which a word stands."""
        for path in self.yaml:
            if word in self.text(path):
                yield from ((path, item) for item in self.items(path).items(section))

    def entry(self, section: str, name: str) -> tuple[Path, Item] | None:
        """The entry of a name in a list of a properties file, and which file that is."""
        found = self.speaking_of(name, section)
        return next((pair for pair in found if pair[1].name == name), None)

    def names(self, section: str) -> frozenset[str]:
        """The names of every entry of a kind."""
        items = (item for path in self.yaml for item in self.items(path).items(section))
        return frozenset(item.name for item in items if item.name)


def find_dbt_project(start: Path) -> Path | None:
    """The folder with a dbt_project.yml, at ``start`` or above it; None where there is none."""
    start = start.absolute()
    return next((f for f in (start, *start.parents) if (f / FILE).is_file()), None)


def open_dbt_project(directory: Path | None = None) -> DbtProject:
    """The dbt project in a folder; without one, as dbt finds it: here, or above.

    Raises:
        FileError: there is none, or its file cannot be read.
        PolicyError: what it says is not what dbt takes.
    """
    folder = find_dbt_project(Path.cwd()) if directory is None else directory.absolute()
    if folder is None or not (folder / FILE).is_file():
        where = f"in {folder}" if folder is not None else "here or above"
        raise FileError(f"there is no {FILE} {where}; name the project with --project-dir")
    return read_dbt_project(folder / FILE, os.environ)


def read_dbt_project(file: Path, environ: Mapping[str, str]) -> DbtProject:
    """The project that a file describes; ``environ`` stands in for the environment.

    Raises:
        FileError: the file cannot be read.
        PolicyError: what it says is not what dbt takes.
    """
    data, folder = read_settings(file), file.parent

    def refused(key: str, what: str, remedy: str = "") -> PolicyError:
        return PolicyError((Problem(str(file), 0, 0, key, f"{key} {what}", remedy),))

    def checked(key: str, found: object) -> str:
        def refuse(wrong: str, remedy: str) -> None:
            raise refused(key, wrong, remedy)

        if not isinstance(found, str) or not found.strip():
            what = "is missing" if found is None else f"must be text, found {found!r}"
            raise refused(key, what)
        return filled(found, environ, refuse)

    def text(key: str, default: str | None = None) -> str:
        return checked(key, data.get(key, default))

    def paths(key: str, default: str) -> tuple[Path, ...]:
        found = data.get(key, [default])
        if not isinstance(found, list):
            raise refused(key, f"must be a list of folders, as in [{default}]")
        return tuple(folder / checked(key, each) for each in found)

    return DbtProject(
        directory=folder,
        name=text("name"),
        profile=text("profile", "default"),
        models=paths("model-paths", "models"),
        seeds=paths("seed-paths", "seeds"),
        snapshots=paths("snapshot-paths", "snapshots"),
        target=folder / (environ.get("DBT_TARGET_PATH") or text("target-path", "target")),
        packages=folder / text("packages-install-path", "dbt_packages"),
    )


def read_settings(
    file: Path, what: str = "name, profile and model-paths", remedy: str = ""
) -> Mapping[str, object]:
    """What a dbt_project.yml says, as it is written; or another file, a mapping of ``what``.

    Raises:
        FileError: it cannot be read.
        PolicyError: it is no YAML, or no mapping.
    """
    try:
        found = YAML(typ="safe", pure=True).load(text_in(file))
    except OSError as error:
        raise FileError(f"{file} could not be read: {error.strerror}") from None
    except (UnicodeDecodeError, YAMLError) as error:
        mark = getattr(error, "problem_mark", None)
        place = (mark.line + 1, mark.column + 1) if mark is not None else (0, 0)
        problem = Problem(str(file), place[0], place[1], "", "it is not YAML", remedy)
        raise PolicyError((problem,)) from None
    if not isinstance(found, dict):
        message = f"it must be a mapping of {what}"
        raise PolicyError((Problem(str(file), 1, 1, "", message, remedy),))
    return found


def told_in(file: Path) -> Mapping[str, object]:
    """What one of dbt's JSON files says; nothing where it cannot be read."""
    with suppress(OSError, ValueError, RecursionError):
        found = json.loads(bytes_in(file))
        return found if isinstance(found, dict) else {}
    return {}


def last_run(project: DbtProject | None) -> Mapping[str, object]:
    """What dbt's last run says of itself in run_results.json."""
    return {} if project is None else told_in(project.target / "run_results.json")


def before_dbt(project: DbtProject | None) -> frozenset[str]:
    """The packages whose macros dbt takes in the place of its own, as the project says."""
    settings = {} if project is None else read_settings(project.directory / FILE)
    found: dict[str, tuple[str, ...]] = {"dbt": ()}
    for rule in sequence(settings, "dispatch"):
        if isinstance(rule, dict):
            found[text(rule, "macro_namespace")] = strings(rule, "search_order")
    return frozenset(found["dbt"])


def variables_of(manifest: Manifest, project: DbtProject | None) -> Mapping[str, object]:
    """The variables of a project, as dbt was given them for this manifest."""
    found: dict[str, object] = {}
    if project is None:
        return found
    for file in (project.directory / FILE, project.directory / "vars.yml"):
        found |= mapping(read_settings(file), "vars") if file.exists() else {}
    run = last_run(project)
    if text(mapping(run, "metadata"), "invocation_id") == manifest.invocation != "":
        found |= mapping(mapping(run, "args"), "vars")
    return found


@frozen
class Change:
    """A file before and after; None where it is not there. Texts have plain line ends."""

    path: Path
    before: str | None
    after: str | None

    @property
    def kind(self) -> str:
        """What is done to the file."""
        if self.before is None:
            return "new"
        return "removed" if self.after is None else "changed"

    def diff(self, name: str) -> str:
        """The change as a unified diff."""
        old, new = ((text or "").splitlines(keepends=True) for text in (self.before, self.after))
        before = "/dev/null" if self.before is None else f"a/{name}"
        after = "/dev/null" if self.after is None else f"b/{name}"
        lines = difflib.unified_diff(old, new, before, after)
        ended = (line if line.endswith("\n") else f"{line}\n{_NO_END}\n" for line in lines)
        return "".join(ended)


def changed(path: Path, after: str | None) -> Change | None:
    """The change that makes a file say ``after``; None where it does.

    Raises FileError: what stands there cannot be read, or is no file.
    """
    before = read(path)
    return None if before == after else Change(path, before, after)


def read(path: Path) -> str | None:
    """The text of a file with plain line ends; None where there is none.

    Raises FileError: it cannot be read, or is no file of text.
    """
    try:
        return text_in(path, "utf-8-sig")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        raise FileError(f"{path} could not be read: it is not UTF-8 text") from None
    except OSError as error:
        raise FileError(f"{path} could not be read: {error.strerror}") from None


def apply(changes: Iterable[Change]) -> None:
    """Make the changes; where one fails, those that were made are taken back.

    Raises FileError: a file cannot be written or removed.
    """
    done: list[tuple[Path, bytes | None]] = []
    try:
        for change in changes:
            path = change.path
            content = bytes_in(path) if change.before is not None else None
            if change.after is None:
                path.unlink()
            else:
                ends = "\r\n" if content is not None and b"\r\n" in content else "\n"
                put(path, change.after.replace("\n", ends).encode())
            done.append((path, content))
    except OSError as error:
        for path, content in reversed(done):
            with suppress(OSError):
                path.unlink() if content is None else put(path, content)
        where = error.filename or "a file"
        message = f"{where} could not be written: {error.strerror}; nothing was changed"
        raise FileError(message) from None


def put(path: Path, content: bytes) -> None:
    """Write a file whole: beside its place first, with the rights of the one that it replaces."""
    from policy_engine.attest.keys import put_file  # with a library that takes long to load

    path = path.resolve()
    path.parent.mkdir(parents=True, exist_ok=True)
    rights = path.stat().st_mode & 0o777 if path.exists() else None
    put_file(path, content, 0o666 if rights is None else rights)
    if rights is not None:  # whatever the umask took of them
        path.chmod(rights)

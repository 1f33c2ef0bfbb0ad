"""What a dbt project needs beside its models: a project file, our package, a starter policy.

A starter is written from the names and types of a model's columns, never from its values. What is
there already is kept: a second run changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from policy_engine.compile.catalog import Table, fresh
from policy_engine.dbt.project import POLICY, Change, DbtProject, apply, changed, read
from policy_engine.dbt.room import Room, open_room
from policy_engine.dbt.sources import SourceNode, read_wanted
from policy_engine.dbt.targets import read_targets
from policy_engine.dbt.types import table_of
from policy_engine.dbt.yaml_items import YamlItems
from policy_engine.errors import EnvironmentFailed, FileError, PolicyEngineError, UsageError
from policy_engine.policy.places import PROJECT_FILE
from policy_engine.policy.project import find_project, load_project
from policy_engine.releasing import starter
from policy_engine.values import frozen

NAME = "policy_engine"
FOLDER = "packages/policy_engine"
IGNORED = "*.privacy.yml"
_TARGETS = "macros/targets.sql"
_SOURCE = Path(__file__).parent / "package"
_OWN = re.compile(rf"^name:\s*[\"']?{NAME}[\"']?\s*(#.*)?$", re.MULTILINE)
_IGNORE_WORDS = "# Policies of policy-engine, which dbt would read as properties."

_LIMIT = "{epsilon: 1.0, delta: 1.0e-6}"
_PROJECT = f"""\
# Found upwards from the dbt project. Paths are relative to this file.
# An account limits what one group of people can lose in total. A release about them is charged.
accounts:
  people: {_LIMIT}
"""
_NO_ACCOUNT = (
    " lists no account, so that nothing limits releases: add a line such as"
    f" 'accounts: {{people: {_LIMIT}}}'"
)
_SECTION = """\
dbt:
  release_targets: [{target}]  # elsewhere the models of releases are empty
"""
_NO_TARGET = """\
dbt:
  # release_targets: [prod]  # those of profiles.yml in which models are released
  access: public
"""

_POLICY = """\
version: 1
name: {name}
description: Say what is released, and for whom
source:
  table: {relation}
{unit}
# Uncomment the columns to release, and choose how coarse each is before you look at the data.
recode:                    # a column that is not named here is not released
{columns}
mechanism: noisy_counts    # everybody is counted, and each count gets noise
guarantee: {{epsilon: 0.5, delta: 1.0e-7}}
release:
  table: {name}{count}
account: {budget}
"""
_EXAMPLE = "  # age: {bins: [18, 30, 45, 60, 75]}\n  # sex: keep"


@frozen
class Started:
    """What was written, what was there and is kept, and what is to be known."""

    project: DbtProject
    changes: tuple[Change, ...]
    kept: tuple[Path, ...]
    notes: tuple[str, ...]
    policy: Path | None = None


def start(project: DbtProject, model: str | None = None, profiles: Path | None = None) -> Started:
    """Write what is missing for releases of a dbt project, and a starter policy for a model.

    Raises:
        UsageError: dbt does not know the model.
        FileError: something of somebody else's stands in the way.
        PolicyError: the project file has problems.
    """
    notes: list[str] = []
    kept: list[Path] = []
    found: list[Change | None] = []
    file = find_project(project.directory) or project.directory / PROJECT_FILE
    text = read(file)
    if text is not None and "dbt" in YamlItems(text).sections:
        kept.append(file)
        targets = load_project(file).dbt.release_targets
    else:
        likely = _target(project, profiles, notes)
        targets = () if likely is None else (likely,)
        section = _SECTION.format(target=starter._scalar(likely)) if likely else _NO_TARGET
        found.append(changed(file, f"{_whole(_PROJECT if text is None else text)}{section}"))
    if text is not None and not load_project(file).accounts:
        notes.append(f"{project.shown(file)}{_NO_ACCOUNT}")
    path = None
    if model is not None:
        path, policy = _policy(project, model, profiles, notes)
        if path.exists():
            kept.append(path)
        else:
            found.append(changed(path, policy))
    found += environment(project, targets)
    changes = tuple(change for change in found if change is not None)
    apply(changes)
    return Started(project, changes, tuple(kept), (*notes, *needs(project)), path)


def _whole(text: str) -> str:
    """A text whose last line is ended, so that more may follow."""
    return text if not text or text.endswith("\n") else f"{text}\n"


def _target(project: DbtProject, profiles: Path | None, notes: list[str]) -> str | None:
    try:
        targets = read_targets(project, profiles)
    except (EnvironmentFailed, UsageError) as error:
        notes.append(f"no release target was written: {error}")
        return None
    target = targets.likely()
    if target is None:
        listed = ", ".join(targets.known) or "none"
        notes.append(
            f"no release target was written: {targets.profile} has {listed}; name those in which"
            f" models are released in {PROJECT_FILE}, under dbt.release_targets"
        )
    return target


def _policy(
    project: DbtProject, model: str, profiles: Path | None, notes: list[str]
) -> tuple[Path, str]:
    try:
        room = open_room(project, profiles)
    except (EnvironmentFailed, UsageError):
        room = open_room(project, needs_target=False)
    wanted = read_wanted(model)
    node = room.sources.find(wanted)
    if node is None:
        near = room.sources.near(wanted)
        remedy = (
            f"did you mean {near}?" if near else "name a model, a seed, or source('raw', 'people')"
        )
        raise UsageError(f"there is no {model} in the dbt project {project.name}; {remedy}")
    name = f"{node.name.rpartition('.')[2]}_public"
    folder = node.file.parent if node.file is not None else project.models[0]
    return folder / f"{name}{POLICY}", _text(room, node, name, notes)


def _text(room: Room, node: SourceNode, name: str, notes: list[str]) -> str:
    try:
        columns = room.columns(node, ("*",))
        table = table_of(columns, room.dialect, (node.name,)) if room.target else Table(())
    except PolicyEngineError:  # what is not known of the columns is no reason to fail
        table = Table(())
    names = [column.name for column in table.columns]
    many = starter._keyed(table)
    counted = fresh("n", names)
    # A release of dbt has counts of people alone.
    unit = starter._unit(table) if many is None else starter._all_rows(table, *many, of_rows=False)
    count = "" if counted == "n" else f"\ncount: {{people: {counted}}}        # n is a column"
    accounts = list(room.settings.accounts) or ["people"]
    if not names:
        likely = room.targets.likely() if room.targets is not None else None
        target = next(iter(room.settings.dbt.release_targets), likely) or "prod"
        notes.append(
            f"the columns of {node.label} are not known, so that those of the starter are examples:"
            f" declare its columns with their data_type, or {node.built_in(target)}; then remove"
            " the starter and run this again"
        )
    manifest = room.sources.manifest
    known = manifest.nodes if manifest else {}
    is_view = node.id in known and known[node.id].materialized == "view"
    return _POLICY.format(
        name=name,
        relation=node.call + starter._OF_A_VIEW * is_view,
        unit=unit,
        columns="\n".join(starter._lines(table)) if names else _EXAMPLE,
        count=count,
        budget=starter._scalar(accounts[0])
        if len(accounts) == 1
        else '""  # an account of policy-engine.yaml',
    )


def environment(project: DbtProject, targets: tuple[str, ...]) -> list[Change | None]:
    """What is missing for dbt to understand a release model: our package, its entry, .dbtignore.

    ``targets`` have releases.

    Raises FileError: something of somebody else's stands in the way.
    """
    folder = project.directory / FOLDER
    described = read(folder / "dbt_project.yml")
    if described is None and folder.exists() and any(folder.iterdir()):
        raise FileError(f"{folder} is in the way: it is no dbt package; move it elsewhere")
    if described is not None and not _OWN.search(described):
        raise FileError(f"{folder} is in the way: it is another dbt package; move it elsewhere")
    listed = ", ".join(f"'{target}'" for target in targets)
    found = []
    for name, text in package():
        own = text.replace("return([])", f"return([{listed}])") if name == _TARGETS else text
        found.append(changed(folder / name, own))
    ignoring = project.directory / ".dbtignore"
    ignored = read(ignoring) or ""
    if IGNORED not in map(str.strip, ignored.split("\n")):
        ignored = f"{_whole(ignored)}{_IGNORE_WORDS}\n{IGNORED}\n"
    return [*found, _entry(project), changed(ignoring, ignored)]


def package() -> Iterator[tuple[str, str]]:
    """The files of the package: where each stands in it, and its text."""
    for path in sorted(_SOURCE.rglob("*")):
        if path.is_file():
            yield path.relative_to(_SOURCE).as_posix(), path.read_text(encoding="utf-8")


def left_over(project: DbtProject) -> list[Path]:
    """Files in the package's folder that are no part of it (any more)."""
    folder = project.directory / FOLDER
    ours = {folder / name for name, _ in package()}
    return sorted(path for path in folder.rglob("*") if path.is_file() and path not in ours)


def needs(project: DbtProject) -> list[str]:
    """What is to be run before dbt finds the package, with its targets."""
    installed = read(project.packages / NAME / _TARGETS)
    if installed is not None and installed == read(project.directory / FOLDER / _TARGETS):
        return []
    return ["run 'dbt deps', which installs the package that the models call"]


def _entry(project: DbtProject) -> Change | None:
    """The package's entry in packages.yml, or in dependencies.yml where packages stand there."""
    path, other = (project.directory / name for name in ("packages.yml", "dependencies.yml"))
    text = read(path)
    told = read(other) if text is None else None
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

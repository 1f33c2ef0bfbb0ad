"""What a dbt project needs for its first release: a project file, our package, a starter policy.

A starter is written from the names and types of a model's columns, never from its values. What is
there already is kept: a second run changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from policy_engine.compile.catalog import TIMES, Kind, Table, fresh
from policy_engine.dbt import vendored
from policy_engine.dbt.project import POLICY, DbtProject
from policy_engine.dbt.sources import SourceNode, read_wanted
from policy_engine.dbt.sync import Room, open_room
from policy_engine.dbt.targets import dialect_of_target, read_targets
from policy_engine.dbt.types import Known, table_of
from policy_engine.dbt.writing import Change, apply, changed, read
from policy_engine.dbt.yaml_items import YamlItems
from policy_engine.errors import EnvironmentFailed, PolicyEngineError, UsageError
from policy_engine.policy.project import PROJECT_FILE, find_project, load_project
from policy_engine.releasing import starter

_PROJECT = """\
# Found upwards from the dbt project. Paths are relative to this file.
# An account is what one group of people can lose in total; a release about them pays into it.
accounts:
  people: {epsilon: 1.0, delta: 1.0e-6}
"""
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
  relation: {relation}
  unit:                    # whose row it is, and which of a person's rows speaks for them
    key: {key}{example}
    keep: {{order_by: [{order}]}}{example}
# Uncomment the columns to release, and choose how coarse each is before you look at the data.
recode:                    # a column that is not named here is not released
{columns}
mechanism: noisy_counts    # everybody is counted, and each count gets noise
guarantee: {{epsilon: 0.5, delta: 1.0e-7}}
release:
  relation: {name}{count}
budget: {budget}
"""
_EXAMPLE = "  # age: {bins: [18, 30, 45, 60, 75]}\n  # sex: keep"


@dataclass(frozen=True)
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
    if _has_section(file):
        kept.append(file)
        targets = load_project(file).dbt.release_targets
    else:
        likely = _target(project, profiles, notes)
        targets = () if likely is None else (likely,)
        found.append(_project_file(file, likely))
    path = None
    if model is not None:
        path, text = _policy(project, model, profiles, notes)
        if path.exists():
            kept.append(path)
        else:
            found.append(changed(path, text))
    found += vendored.environment(project, targets)
    changes = tuple(change for change in found if change is not None)
    apply(changes)
    if not vendored.is_installed(project):
        notes.append("run 'dbt deps', which installs the package that the models call")
    return Started(project, changes, tuple(kept), tuple(notes), path)


def _has_section(file: Path) -> bool:
    """Whether the project file has a section for dbt."""
    text = read(file)
    return text is not None and "dbt" in YamlItems(text).sections


def _project_file(file: Path, target: str | None) -> Change | None:
    """The project file with a dbt section of this release target."""
    text = read(file)
    section = _NO_TARGET if target is None else _SECTION.format(target=starter._scalar(target))
    before = _PROJECT if text is None else text
    gap = "" if not before or before.endswith("\n") else "\n"
    return changed(file, f"{before}{gap}{section}")


def _target(project: DbtProject, profiles: Path | None, notes: list[str]) -> str | None:
    """The target to release in, if the profile leaves no doubt."""
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
    """The place and the text of a starter policy."""
    room = _room(project, profiles, notes)
    wanted = read_wanted(model)
    node = room.sources.find(wanted) if wanted is not None else None
    if node is None:
        near = room.sources.near(wanted) if wanted is not None else ""
        remedy = (
            f"did you mean {near}?" if near else "name a model, a seed, or source('raw', 'people')"
        )
        raise UsageError(f"there is no {model} in the dbt project {project.name}; {remedy}")
    name = f"{node.name.rpartition('.')[2]}_public"
    folder = node.file.parent if node.file is not None else project.models[0]
    return folder / f"{name}{POLICY}", _text(room, node, name, notes)


def _room(project: DbtProject, profiles: Path | None, notes: list[str]) -> Room:
    try:
        return open_room(project, profiles)
    except (EnvironmentFailed, UsageError):
        return open_room(project, needs_target=False)


def _text(room: Room, node: SourceNode, name: str, notes: list[str]) -> str:
    table = _table(room, node)
    names = [column.name for column in table.columns]
    counted = fresh("n", names)
    accounts = list(room.settings.accounts) if room.settings.file is not None else ["people"]
    if not names:
        likely = room.targets.likely() if room.targets is not None else None
        target = next(iter(room.settings.dbt.release_targets), likely) or "prod"
        notes.append(
            f"the columns of {node.label} are not known, so that those of the starter are examples:"
            f" declare its columns with their data_type, or {node.built_in(target)}; then remove"
            " the starter and run this again"
        )
    return _POLICY.format(
        name=name,
        relation=node.call,
        key=starter._scalar(_key(names)),
        order=starter._scalar(_order(table, _key(names))),
        example="" if names else "    # an example: the columns are not known",
        columns="\n".join(starter._lines(table)) if names else _EXAMPLE,
        count="" if counted == "n" else f"\n  count_as: {counted}            # n is a column",
        budget=starter._scalar(accounts[0])
        if len(accounts) == 1
        else '""  # an account of policy-engine.yaml',
    )


def _table(room: Room, node: SourceNode) -> Table:
    """What is known of the node's columns; nothing of it is a reason to fail."""
    known = Known(room.project, room.targets, room.target)
    try:
        columns = known.columns(node, ("*",), lambda: room.sources.twin(node))
        dialect = dialect_of_target(room.target) if room.target is not None else None
    except PolicyEngineError:
        return Table(())
    return Table(()) if dialect is None else table_of(columns, dialect, (node.name,))


def _order(table: Table, key: str) -> str:
    """The last row of a person, by the first column of days or times; else by another one."""
    others = [column for column in table.columns if column.name != key]
    days = [column for column in others if column.kind in TIMES | {Kind.DATE}]
    return next((f"{column.name} desc" for column in (*days, *others)), "visited desc")


def _key(names: list[str]) -> str:
    """The column that most likely says who a row is about, by its name alone."""
    folded = {name.lower(): name for name in names}
    for wanted in ("person_id", "patient_id", "customer_id", "user_id", "id"):
        if wanted in folded:
            return folded[wanted]
    return next((name for name in names if name.lower().endswith("_id")), "person_id")

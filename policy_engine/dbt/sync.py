"""Policies → files of a dbt project: models, their properties, and the package that they call.

Everything is worked out before the first file is written, every problem of every policy is told at
once, and a second run changes nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path

from policy_engine.dbt import vendored
from policy_engine.dbt.files import ProjectFiles
from policy_engine.dbt.manifest import Manifest, read_manifest
from policy_engine.dbt.outdated import OUTDATED, REMEDY, outdated
from policy_engine.dbt.project import DbtProject
from policy_engine.dbt.property_files import PropertyFiles
from policy_engine.dbt.release_model import (
    STAND_IN,
    ReleaseModel,
    broken_laws,
    broken_length,
    broken_settings,
    release_model,
)
from policy_engine.dbt.release_text import MARKS
from policy_engine.dbt.releases import ONE_PROJECT_FILE, model_name
from policy_engine.dbt.sources import SourceNode, Sources, read_wanted
from policy_engine.dbt.targets import Target, Targets, dialect_of_target, read_targets
from policy_engine.dbt.types import Columns, Known, needed
from policy_engine.dbt.writing import Change, apply, changed
from policy_engine.dialects import Engine
from policy_engine.errors import FileError, NotCertifiable, PolicyError, Problem
from policy_engine.policy.accounts import check_account, check_own_project
from policy_engine.policy.loading import load_policy
from policy_engine.policy.project import Project, default_project, find_project, load_project
from policy_engine.policy.reading import located
from policy_engine.policy.resolve import Policy
from policy_engine.policy.scalars import show


@dataclass(frozen=True)
class Synced:
    """What a sync found: the releases, the changes it made or would make, and what is left over.

    ``stale`` are files, and entries of files, that are ours and have no policy any more.
    """

    project: DbtProject
    releases: tuple[ReleaseModel, ...]
    changes: tuple[Change, ...]
    stale: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    target: Target | None = None

    @property
    def diff(self) -> str:
        """All changes as one unified diff."""
        shown = self.project.shown
        return "".join(change.diff(shown(change.path)) for change in self.changes)


@dataclass
class Room:
    """A dbt project as a sync sees it: its files, its profile's targets, its project file."""

    project: DbtProject
    settings: Project
    files: ProjectFiles
    sources: Sources
    targets: Targets | None
    target: Target | None
    notes: list[str] = field(default_factory=list)

    @property
    def dialect(self) -> Engine:
        """The dialect of the target that releases go to."""
        assert self.target is not None
        return dialect_of_target(self.target)


def sync(
    project: DbtProject,
    *,
    profiles: Path | None = None,
    target: str | None = None,
    manifest: Path | None = None,
    prune: bool = False,
    dry_run: bool = False,
) -> Synced:
    """Write the models of a project's policies, their properties and the package.

    ``manifest`` is where sources are looked up as well. With ``prune`` what is ours and has no
    policy any more is removed, with ``dry_run`` nothing is written.

    Raises:
        PolicyError: with every problem of every policy; nothing was written.
        FileError: a file cannot be read or written; nothing was changed.
        UsageError: the profile does not have the target, or its engine is not known.
    """
    with named_from_here():
        policies = project.policies()
        room = open_room(project, profiles, target, manifest, needs_target=bool(policies))
        releases = _releases(room, policies)
        properties = PropertyFiles(room.files, room.settings.dbt)
        _raise([*_standing_in_the_way(room, releases), *properties.plan(releases)])
    stale = [*_stale_models(room, releases), *vendored.left_over(project)]
    moved = {release.file.name for release in releases}
    removed = [path for path in stale if prune or path.name in moved]
    named = [project.shown(path) for path in stale if path not in removed]
    named += properties.prune() if prune else properties.stale()
    found: list[Change | None] = []
    found += vendored.environment(project, room.settings.dbt.release_targets)
    found += [changed(release.file, release.text) for release in releases]
    found += properties.changes()
    found += [changed(path, None) for path in removed]
    changes = tuple(change for change in found if change is not None)
    if not dry_run:
        apply(changes)
    if not vendored.is_installed(project):
        room.notes.append("run 'dbt deps', which installs the package that the models call")
    return Synced(project, releases, changes, tuple(named), tuple(room.notes), room.target)


def open_room(
    project: DbtProject,
    profiles: Path | None = None,
    target: str | None = None,
    manifest: Path | None = None,
    *,
    needs_target: bool = True,
) -> Room:
    """A project with all that a sync reads of it but its policies.

    Raises:
        PolicyError: the project file has problems.
        FileError: a file cannot be read.
        UsageError: the profile does not have the target.
    """
    found = find_project(project.directory)
    settings = load_project(found) if found is not None else default_project(project.directory)
    if found is not None:
        broken = (Problem(str(found), 0, 0, *law) for law in broken_settings(settings.dbt))
        _raise(located(tuple(broken), found))
    targets, chosen = None, None
    if needs_target:
        targets = read_targets(project, profiles)
        chosen = targets.of_releases(settings.dbt.release_targets, target)
    files = ProjectFiles(project)
    sources = Sources(files, _asked(project, manifest))
    room = Room(project, settings, files, sources, targets, chosen)
    if targets is not None and not set(settings.dbt.release_targets) & set(targets.known):
        _note_unknown(room, targets)
    if needs_target and not settings.dbt.release_targets:
        room.notes.append(
            "no target is a release target, so that the models stay empty everywhere; name one in"
            f" policy-engine.yaml: dbt: {{release_targets: [{chosen.name if chosen else 'prod'}]}}"
        )
    return room


def _note_unknown(room: Room, targets: Targets) -> None:
    """Say which release targets the profile lacks: another machine has them, or it is a slip."""
    for name in room.settings.dbt.release_targets:
        room.notes.append(
            f"nothing is released by the profile {targets.profile} as it is here: it has no target"
            f" {name}, which dbt.release_targets names, and has {', '.join(targets.known)}"
        )


def _asked(project: DbtProject, named: Path | None) -> Callable[[], Manifest | None]:
    """What reads the manifest: the one that was named, else dbt's own where that can be read."""

    def ask() -> Manifest | None:
        try:
            return read_manifest(named or project.manifest)
        except FileError:
            if named is not None:
                raise
            return None

    return ask


def _releases(room: Room, paths: Sequence[Path]) -> tuple[ReleaseModel, ...]:
    """The release of every policy; every problem of all of them is raised together."""
    problems: list[Problem] = []
    releases: list[ReleaseModel] = []
    known = Known(room.project, room.targets, room.target, room.notes)
    for path in paths:
        try:
            releases.append(_release(room, known, path))
        except PolicyError as error:
            problems += error.problems
    problems += _twice(releases)
    _raise(problems)
    return tuple(sorted(releases, key=lambda each: (each.model, each.version)))


def _release(room: Room, known: Known, path: Path) -> ReleaseModel:
    policy = load_policy(path)
    broken = [*broken_laws(policy), *broken_length(policy, room.dialect)]
    if broken:
        problems = tuple(Problem(str(path), 0, 0, *law) for law in broken)
        raise PolicyError(located(problems, path))
    check_own_project(policy, room.settings.file, ONE_PROJECT_FILE)
    check_account(policy, room.settings)
    for file in outdated(policy):
        version, shown = policy.release.version, room.project.shown(file)
        law = OUTDATED.format(version=version, file=shown)
        remedy = REMEDY.format(version=version + 1, file=shown)
        raise _refused(policy, law, remedy, key="release")
    node = _source(room.sources, policy)
    columns = known.columns(node, needed(policy), lambda: room.sources.twin(node))
    if columns.missing:
        raise _untyped(policy, node, columns, room)
    try:
        return release_model(policy, node, columns, room.dialect, room.settings.dbt)
    except PolicyError as error:
        own = tuple(
            replace(problem, message=_named(problem.message, node)) for problem in error.problems
        )
        raise PolicyError(located(own, path)) from None
    except NotCertifiable:  # by its guarantee, which is all that a print can lack
        from policy_engine.releasing.validation import check_guarantee

        check_guarantee(policy)
        raise


def _named(message: str, node: SourceNode) -> str:
    """A problem of the compiler's with the node in the place of its stand-in."""
    return message.replace(f"{STAND_IN}.{STAND_IN}", node.label)


def _source(sources: Sources, policy: Policy) -> SourceNode:
    """The node of a policy's source.

    Raises:
        PolicyError: dbt knows none, or one that a release cannot read.
    """
    written = policy.source.relation or ""
    wanted = read_wanted(written)
    node = sources.find(wanted) if wanted is not None else None
    law = "source.relation must be a node of this dbt project"
    if node is None or wanted is None:
        near = sources.near(wanted) if wanted is not None else ""
        remedy = (
            f"did you mean {near}?"
            if near
            else "as in ref('stg_people') or source('raw', 'people')"
        )
        raise _refused(policy, f"{law}, found {show(written)}", remedy)
    if node.is_ephemeral:
        remedy = "materialize it as a table or a view: a release is proved over a relation"
        raise _refused(
            policy, f"{law} with a relation, found {node.label}, which is ephemeral", remedy
        )
    if node.name.lower() == model_name(policy).lower() and node.kind != "source":
        message = f"release.relation must not be the source itself, found {node.name}"
        raise _refused(policy, message, "name the release otherwise", key="release.relation")
    return node


def _refused(
    policy: Policy, message: str, remedy: str, key: str = "source.relation"
) -> PolicyError:
    problem = Problem(str(policy.file), 0, 0, key, message, remedy)
    return PolicyError(located((problem,), policy.file))


def _untyped(policy: Policy, node: SourceNode, columns: Columns, room: Room) -> PolicyError:
    """That the types of columns are not known, and how they are made known."""
    names, failures = ", ".join(columns.missing), "; ".join(columns.failures)
    where = room.project.shown(room.project.catalog)
    message = (
        f"the types of {names} of {node.label} are not known: its properties, {where} and the"
        " warehouse do not have them"
    ) + (f" ({failures})" if failures else "")
    entry = f"columns: [{{name: {columns.missing[0]}, data_type: …}}]"
    near = get_close_matches(columns.missing[0], columns.types, n=1)
    remedy = (f"did you mean {near[0]}? If not, " if near else "") + (
        f"declare them in its properties, as in {entry}, or"
        f" {node.built_in(room.target.name if room.target is not None else 'prod')}"
    )
    return _refused(policy, message, remedy)


def _twice(releases: Sequence[ReleaseModel]) -> list[Problem]:
    """Policies that are the same version of the same model."""
    first: dict[str, ReleaseModel] = {}
    found: list[Problem] = []
    for each in releases:
        known = first.setdefault(each.release.lower(), each)
        if known is not each:
            message = (
                f"release.version must differ from that of {_from_here(str(known.policy.file))},"
                f" found version {each.version} of {each.model} twice"
            )
            found += _problem(each, message, "give one of them another version")
    return found


def _standing_in_the_way(room: Room, releases: Sequence[ReleaseModel]) -> list[Problem]:
    """Files of somebody's own where one of ours would stand, or that dbt would take for it."""
    found: list[Problem] = []
    for release in releases:
        stems = (release.release, release.model)
        known = [path for stem in stems for path in room.files.models.get(stem, ())]
        more = [release.file] if release.file.exists() else []
        for path in dict.fromkeys((*known, *more)):
            if not is_ours(path):
                shown = room.project.shown(path)
                message = f"release.relation makes {release.release}: {shown} is in the way"
                found += _problem(release, message, "it is not ours: rename it, or the release")
    return found


def _problem(release: ReleaseModel, message: str, remedy: str) -> tuple[Problem, ...]:
    """A problem of what a release is called."""
    file = release.policy.file
    return located((Problem(str(file), 0, 0, "release.relation", message, remedy),), file)


def is_ours(path: Path) -> bool:
    """Whether a model's file is one that a sync wrote."""
    try:
        with path.open("rb") as file:
            return file.read(max(map(len, MARKS))).startswith(tuple(map(str.encode, MARKS)))
    except OSError:
        return False


def _stale_models(room: Room, releases: Sequence[ReleaseModel]) -> list[Path]:
    """Model files of ours that no policy stands behind any more."""
    wanted = {release.file for release in releases}
    paths = (path for found in room.files.models.values() for path in found)
    return sorted(path for path in paths if path not in wanted and is_ours(path))


def _raise(problems: Iterable[Problem]) -> None:
    """Raise problems, each once, if there are any."""
    found = tuple(dict.fromkeys(problems))
    if found:
        raise PolicyError(found)


@contextmanager
def named_from_here() -> Iterator[None]:
    """Name files in problems as they are found from the working directory."""
    try:
        yield
    except PolicyError as error:
        raise PolicyError(
            tuple(replace(each, file=_from_here(each.file)) for each in error.problems)
        ) from None


def _from_here(file: str) -> str:
    relative = os.path.relpath(file)
    return file if relative.startswith(os.pardir) else relative

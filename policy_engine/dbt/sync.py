"""Policies → files of a dbt project: models, their properties, and the package that they call.

Everything is worked out before the first file is written, every problem of every policy is told at
once, and a second run changes nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path

from policy_engine.dbt.project import Change, DbtProject, apply, changed
from policy_engine.dbt.properties import is_by_hand
from policy_engine.dbt.property_files import property_files
from policy_engine.dbt.release_model import (
    MARK,
    ReleaseModel,
    broken_laws,
    check_filled,
    release_model,
    stand_in,
)
from policy_engine.dbt.releases import (
    ONE_PROJECT_FILE,
    in_oldest_plan,
    model_name,
    outdated,
    sources_in,
)
from policy_engine.dbt.room import Room, open_room
from policy_engine.dbt.sources import SourceNode, read_wanted
from policy_engine.dbt.starter import environment, left_over, needs
from policy_engine.dbt.types import Columns, needed
from policy_engine.errors import NotCertifiable, PolicyError, Problem
from policy_engine.opening import opened
from policy_engine.policy.accounts import check_account, check_own_project
from policy_engine.policy.loading import load_policy
from policy_engine.policy.reading import located, refused
from policy_engine.policy.resolve import Policy, Source
from policy_engine.policy.scalars import show
from policy_engine.policy.timing import is_revised
from policy_engine.values import frozen


@frozen
class Synced:
    """What a sync found: the releases, the changes it made or would make, and what is left over.

    ``stale`` are files that are ours and have no policy any more.
    """

    project: DbtProject
    releases: tuple[ReleaseModel, ...]
    changes: tuple[Change, ...]
    stale: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def diff(self) -> str:
        """All changes as one unified diff."""
        shown = self.project.shown
        return "".join(change.diff(shown(change.path)) for change in self.changes)


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
    try:
        policies = project.policies()
        room = open_room(project, profiles, target, manifest, needs_target=bool(policies))
        files, settings = room.sources.files, room.settings.dbt
        releases = _releases(room, policies)
        properties = property_files(files, settings, releases)
        wrong = [*_standing_in_the_way(room, releases), *_without_policy(room, releases)]
        _raise([*wrong, *properties.problems])
    except PolicyError as error:
        named = (replace(each, file=_from_here(each.file)) for each in error.problems)
        raise PolicyError(tuple(named)) from None
    wanted = {file: text for release in releases for file, text in release.files.items()}
    wanted |= properties.texts
    paths = sorted(path for found in files.models.values() for path in found)
    ours = [path for path in paths if path not in wanted and is_ours(path)]
    stale = [*sorted((*ours, *properties.left)), *left_over(project)]
    moved = {file.name for file in wanted}
    removed = [path for path in stale if prune or path.name in moved]
    left = [project.shown(path) for path in stale if path not in removed]
    found = [
        *environment(project, settings.release_targets),
        *(changed(file, text) for file, text in wanted.items()),
        *(changed(path, None) for path in removed),
    ]
    changes = tuple(change for change in found if change is not None)
    if not dry_run:
        apply(changes)
    notes = (*room.notes, *needs(project))
    return Synced(project, releases, changes, tuple(left), notes)


def _releases(room: Room, paths: Sequence[Path]) -> tuple[ReleaseModel, ...]:
    """The release of every policy; every problem of all of them is raised together."""
    problems: list[Problem] = []
    releases: dict[str, ReleaseModel] = {}
    for path in paths:
        try:
            made = _release(room, path)
        except PolicyError as error:
            problems += error.problems
            continue
        first = releases.setdefault(made.release.lower(), made)
        if first is not made:
            message = (
                f"release.version must differ from that of {_from_here(str(first.policy.file))},"
                f" found version {made.version} of {made.model} twice"
            )
            remedy = "give one of them another version"
            problems += refused(path, "release.table", message, remedy).problems
    _raise(problems)
    return tuple(sorted(releases.values(), key=lambda each: (each.model, each.version)))


def _release(room: Room, path: Path) -> ReleaseModel:
    policy = in_oldest_plan(load_policy(path), room.settings)
    broken = tuple(Problem(str(path), 0, 0, *law) for law in broken_laws(policy, room.dialect))
    if broken:
        raise PolicyError(located(broken, path))
    check_own_project(policy, room.settings.file, ONE_PROJECT_FILE)
    check_account(policy, room.settings)
    for file in outdated(policy):
        version, shown = policy.release.version, room.project.shown(file)
        law = (
            f"the policy must be as it was when version {version} was released ({shown}), for a"
            " release never changes"
        )
        remedy = (
            f"put it back, and write the change into a policy of its own with version:"
            f" {version + 1}; if the release was never shown to anybody and its table is dropped,"
            f" remove {shown}"
        )
        raise refused(path, "release", law, remedy)
    if is_revised(policy.schedule):
        law = "revise must not stand in a policy of a dbt project: dbt draws each edition once"
        remedy = "remove it, or release the policy without dbt, by 'policy-engine release'"
        raise refused(path, "revise", law, remedy)
    named = sources_in(policy)
    nodes = [_source(room, policy, key, each) for key, each in named]
    check_filled(policy, nodes[0])
    columns = [room.columns(*each) for each in zip(nodes, needed(policy), strict=True)]
    for (key, _), node, known in zip(named, nodes, columns, strict=True):
        if known.missing:
            raise _untyped(policy, key, node, known, room)
    try:
        return release_model(policy, nodes, columns, room.dialect, room.settings.dbt)
    except PolicyError as error:
        # The compiler's words, with each node in the place of its stand-in, the longer names first.
        own = []
        for problem in error.problems:
            message = problem.message
            for number, node in reversed([*enumerate(nodes)]):
                message = message.replace(".".join(stand_in(number)), node.label)
            own.append(replace(problem, message=message))
        raise PolicyError(located(tuple(own), path)) from None
    except NotCertifiable:  # by its guarantee, which is all that a print can lack
        from policy_engine.releasing.validation import check_guarantee

        check_guarantee(policy)
        raise


def _source(room: Room, policy: Policy, key: str, source: Source) -> SourceNode:
    """The node of what a policy reads, which stands at ``key``.

    Raises PolicyError: dbt knows none, or one that a release cannot read.
    """
    written, sources = source.relation or "", room.sources
    wanted = read_wanted(written)
    node = sources.find(wanted)
    law = f"{key} must be a node of this dbt project"
    if node is None:
        near = sources.near(wanted)
        as_in = "as in ref('stg_people') or source('raw', 'people')"
        remedy = f"did you mean {near}?" if near else as_in
        raise refused(policy.file, key, f"{law}, found {show(written)}", remedy)
    if node.is_ephemeral:
        law = f"{law} with a relation, found {node.label}, which is ephemeral"
        remedy = "materialize it as a table or a view: a release is certified over a relation"
        raise refused(policy.file, key, law, remedy)
    if node.name.lower() == model_name(policy).lower() and node.kind != "source":
        law = f"release.table must not be the source itself, found {node.name}"
        raise refused(policy.file, "release.table", law, "name the release otherwise")
    return node


def _untyped(
    policy: Policy, key: str, node: SourceNode, columns: Columns, room: Room
) -> PolicyError:
    """That the types of columns are not known, and how they are made known."""
    names, failures = ", ".join(columns.missing), "; ".join(columns.failures)
    where = room.project.shown(room.project.catalog)
    message = (
        f"the types of {names} of {node.label} are not known: its properties, {where} and the"
        " warehouse do not have them"
    ) + (f" ({failures})" if failures else "")
    near = get_close_matches(columns.missing[0], columns.types, n=1)
    remedy = (f"did you mean {near[0]}? If not, " if near else "") + (
        f"declare them in its properties, as in columns: [{{name: {columns.missing[0]}, data_type:"
        f" …}}], or {node.built_in(room.target.name if room.target is not None else 'prod')}"
    )
    return refused(policy.file, key, message, remedy)


def _standing_in_the_way(room: Room, releases: Sequence[ReleaseModel]) -> list[Problem]:
    """Files of somebody's own where one of ours would stand, or that dbt would take for it."""
    found: list[Problem] = []
    models = room.sources.files.models
    for release in releases:
        names = {release.release, release.model, release.drawn}
        known = [path for name in sorted(names) for path in models.get(name, ())]
        known += [file for file in release.files if file.exists()]
        for path in dict.fromkeys(known):
            if not is_ours(path):
                shown = room.project.shown(path)
                law = f"release.table makes {release.release}: {shown} is in the way"
                remedy = "it is not ours: rename it, or the release"
                found += refused(release.policy.file, "release.table", law, remedy).problems
    return found


def _without_policy(room: Room, releases: Sequence[ReleaseModel]) -> list[Problem]:
    """Models that properties files call releases, and that no policy makes."""
    found: list[Problem] = []
    made = {release.model for release in releases}
    for path, item in room.sources.files.speaking_of("release", "models"):
        if item.name not in made and is_by_hand(item.data):
            law = f"the model {item.name} is marked as a release and has no policy"
            remedy = (
                f"run 'policy-engine dbt adopt {item.name}', which writes a"
                " policy from the model's SQL. Or remove release: true"
            )
            found.append(Problem(str(path), item.start + 1, 1, "models", law, remedy))
    return found


def is_ours(path: Path) -> bool:
    """Whether a model's file is one that a sync wrote."""
    try:
        with opened(path) as file:
            return file.read(len(MARK)) == MARK.encode()
    except OSError:
        return False


def _raise(problems: Iterable[Problem]) -> None:
    if found := tuple(dict.fromkeys(problems)):
        raise PolicyError(found)


def _from_here(file: str) -> str:
    """A file as it is found from the working directory."""
    relative = os.path.relpath(file)
    return file if relative.startswith(os.pardir) else relative

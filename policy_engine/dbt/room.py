"""A dbt project as a sync sees it: its files, its profile's targets, its project file.

The types of a source's columns are looked up here, wherever they are known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from policy_engine.compile.catalog import meant
from policy_engine.dbt.manifest import mapping
from policy_engine.dbt.project import DbtProject, ProjectFiles, told_in
from policy_engine.dbt.release_model import broken_settings
from policy_engine.dbt.sources import SourceNode, SourceNodes
from policy_engine.dbt.targets import (
    Dbt,
    Target,
    Targets,
    read_targets,
    shown_columns,
    warehouse_of,
)
from policy_engine.dbt.types import Columns
from policy_engine.dialects import Engine
from policy_engine.engines.base import NameCase
from policy_engine.engines.sql_rules import rules_of
from policy_engine.errors import PolicyEngineError, PolicyError, Problem, WarehouseError
from policy_engine.policy.project import Project, project_at
from policy_engine.policy.reading import located
from policy_engine.policy.resolve import Source
from policy_engine.warehouse.connecting import connected, is_connected_to

_Types = Mapping[str, str]


@dataclass
class Room:
    """A dbt project with all that a sync reads of it but its policies."""

    project: DbtProject
    settings: Project
    sources: SourceNodes
    targets: Targets | None = None
    target: Target | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def dialect(self) -> Engine:
        """The dialect of the target that releases go to."""
        assert self.target is not None
        return self.target.dialect

    def columns(self, node: SourceNode, wanted: Iterable[str]) -> Columns:
        """The types of a node's columns: as declared, else as the catalog or warehouse has them.

        Only what is still missing is asked of the next: nothing is connected to for nothing.
        """
        found: dict[str, str] = {}
        failures: list[str] = []
        missing = tuple(wanted)
        for ask in self._who_may_know(node):
            try:
                told = ask()
            except PolicyEngineError as error:
                failures.append(str(error))
                continue
            case: NameCase = "folded" if self.dialect.case == "folded" else "exact"
            declared = [*found]
            found |= {n: kind for n, kind in told.items() if not meant(n, declared, case)}
            missing = tuple(n for n in missing if not meant(n, found, self.dialect.case))
            if not missing:
                break
        return Columns(found, missing, tuple(failures))

    def _who_may_know(self, node: SourceNode) -> Iterator[Callable[[], _Types]]:
        """Those who may know a node's columns; each is asked in its turn."""
        adapter = self.target.adapter if self.target is not None else ""
        yield lambda: node.spelled(adapter)
        twin = self.sources.twin(node)
        if twin is not None:
            yield lambda: twin.spelled(adapter)
        yield lambda: self._catalogued(node)
        if self.targets is None or self.target is None:
            return
        target = self.target
        yield lambda: self._built(target, node, twin or node)
        # Where 'init' has read it: the source is often built there first.
        other = self.targets.known.get(self.targets.default)
        if other not in (None, target) and other.adapter == adapter:
            yield lambda: self._elsewhere(other, node)

    def _elsewhere(self, target: Target, node: SourceNode) -> _Types:
        """The types of a node in another target, which may be others than where it is released."""
        # The manifest names the relation of one target; by its schema it is found in the other.
        found = self._built(target, node, node)
        self.notes.append(
            f"{node.label} is not built in the target releases are written for: its types are those"
            f" of the target {target.name}; the release is refused where they are others"
        )
        return found

    def _built(self, target: Target, node: SourceNode, twin: SourceNode) -> _Types:
        """By a connection of ours, else by dbt's own; the ``twin`` names the table best."""
        assert self.targets is not None
        schema = (target.schema,) if target.schema else ()
        name = twin.relation[-1] if twin.relation else twin.name
        parts = twin.relation if len(twin.relation) > 1 else (*schema, name)
        try:
            with closing(
                connected(warehouse_of(self.project, self.targets, target.name))
            ) as warehouse:
                table = warehouse.table(Source(None, ".".join(parts)), self.project.directory)
                names = rules_of(warehouse.dialect.name).native
        except PolicyEngineError as error:
            # A model that does not stand yet has no columns: dbt, slow to start, is not asked.
            if node.kind != "source" and is_connected_to(target.adapter):
                raise
            first = error
        else:
            kinds = ((column.name, names.get(column.type, column.type)) for column in table.columns)
            # A type as the engine writes it.
            return {
                name: kind.removeprefix("OTHER ").lower() if kind.startswith("OTHER ") else kind
                for name, kind in kinds
            }
        try:
            dbt = Dbt(self.project.directory, self.targets.file.parent, target.name)
            return shown_columns(dbt, node, target.adapter)
        except PolicyEngineError as error:
            raise WarehouseError(f"{first}; {error}") from None

    @cached_property
    def _catalog(self) -> Mapping[str, object]:
        told = told_in(self.project.catalog)
        return {**mapping(told, "nodes"), **mapping(told, "sources")}

    def _catalogued(self, node: SourceNode) -> _Types:
        return {
            str(column["name"]): str(column["type"])
            for column in mapping(mapping(self._catalog, node.id), "columns").values()
            if isinstance(column, dict) and column.get("name") and column.get("type")
        }


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
    settings = project_at(project.directory)
    if settings.file is not None:
        broken = (Problem(str(settings.file), 0, 0, *law) for law in broken_settings(settings.dbt))
        if problems := tuple(dict.fromkeys(located(tuple(broken), settings.file))):
            raise PolicyError(problems)
    room = Room(project, settings, SourceNodes(ProjectFiles(project), manifest))
    if not needs_target:
        return room
    released_in, targets = settings.dbt.release_targets, read_targets(project, profiles)
    room.targets, room.target = targets, targets.of_releases(released_in, target)
    # Another machine has them, or it is a slip.
    for name in () if set(released_in) & set(targets.known) else released_in:
        room.notes.append(
            f"nothing is released by the profile {targets.profile} as it is here: it has no target"
            f" {name}, which dbt.release_targets names, and has {', '.join(targets.known)}"
        )
    if not released_in:
        room.notes.append(
            "no target is a release target, so that the models stay empty everywhere; name one in"
            f" policy-engine.yaml: dbt: {{release_targets: [{room.target.name}]}}"
        )
    return room

"""Opening the desk at which releases are reserved and attested: dbt, its target, the books."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from policy_engine.compile.catalog import Table
from policy_engine.dbt.manifest import Manifest, mapping, read_manifest, sequence
from policy_engine.dbt.project import DbtProject, last_run, open_dbt_project
from policy_engine.dbt.reading import NodeReader
from policy_engine.dbt.releases import (
    ONE_PROJECT_FILE,
    DbtRelease,
    Texts,
    drawn_model,
    named_by,
    nodes_of,
    parts_of,
    releases_of,
)
from policy_engine.dbt.targets import Dbt, read_targets, warehouse_of
from policy_engine.errors import FileError, UsageError, WarehouseError
from policy_engine.ledger.entry import Entry
from policy_engine.policy.accounts import check_own_project
from policy_engine.policy.loading import load_policy
from policy_engine.policy.project import ListedWarehouse as Named
from policy_engine.policy.project import Project, project_at
from policy_engine.policy.resolve import Policy, Source
from policy_engine.releasing import requests
from policy_engine.releasing.editions import Schedule
from policy_engine.releasing.standing import digest_of_lines
from policy_engine.values import frozen
from policy_engine.warehouse.base import EDITION, Warehouse
from policy_engine.warehouse.connecting import connected


@frozen
class Place:
    """A dbt project, its target, and the project that pays for what is released there."""

    dbt: Dbt
    files: DbtProject
    target: str
    named: Named
    project: Project

    def chooses(self, file: Path) -> tuple[Policy, Project]:
        """A policy and its project, as a private choice reads its source in this target.

        Raises PolicyError: the policy has problems, or its source is no node of the project.
        """
        policy, named = load_policy(file), self.named
        check_own_project(policy, self.project.file, ONE_PROJECT_FILE)
        nodes = nodes_of(policy, self.parsed())
        names = [".".join(full_name(named, parts_of(each))) for each in nodes]
        read = replace(policy, source=named_by(policy.source, names))
        project = replace(self.project, warehouses={named.name: named}, default=named.name)
        return read, project

    @property
    def is_released_in(self) -> bool:
        """Whether models are released in the target; in any other they are empty."""
        return self.target in self.project.dbt.release_targets

    @cached_property
    def policies(self) -> tuple[Policy, ...]:
        """The project's policies."""
        found = tuple(load_policy(file) for file in self.files.policies())
        for policy in found:
            check_own_project(policy, self.project.file, ONE_PROJECT_FILE)
        return found

    def manifest(self) -> Manifest:
        """The project as dbt saw it last, in whatever target that was."""
        return read_manifest(self.files.manifest)

    def parsed(self) -> Manifest:
        """The project as dbt sees it now, in this target: names depend on it."""
        self._run("parse", "--quiet")
        return self.manifest()

    def _run(self, *words: str) -> None:
        """Run a command of dbt; once more without what dbt 1.x remembers, which can be wrong.

        It still asks for a removed version's unit test, say.
        """
        try:
            self.dbt.run(*words)
        except WarehouseError as failed:
            try:
                self.dbt.run(*words, "--no-partial-parse")
            except WarehouseError:
                raise failed from None

    def releases(self, manifest: Manifest) -> tuple[DbtRelease, ...]:
        """The releases of the project's policies."""
        return releases_of(self.policies, manifest, self.target)

    def compiled(self) -> Texts:
        """Every release with its text, as dbt compiles it now."""
        names = sorted({drawn_model(policy) for policy in self.policies})
        if not names:
            raise UsageError(f"{self.files.directory} has no policy: a file *.privacy.yml")
        self._run("compile", "--quiet", "--select", *names)
        found = self.built(self.manifest())
        for release, text in found:
            if not text:
                raise FileError(f"dbt compiled {release.model.file} and wrote no text of it")
        return found

    def rebuilt(self) -> Mapping[str, datetime]:
        """When each relation was made that dbt's last run has made, by its run results alone."""
        found: dict[str, datetime] = {}
        with suppress(ValueError, KeyError, TypeError):
            told = last_run(self.files)
            is_made = mapping(told, "args").get("which") in _MAKES
            for each in sequence(told, "results") if is_made else ():
                ends = [step["completed_at"] for step in each["timing"] if step.get("completed_at")]
                if each.get("status") == "success" and ends:
                    found[str(each["relation_name"])] = datetime.fromisoformat(max(ends))
        return found

    def built(self, manifest: Manifest) -> Texts:
        """Every release with the text that dbt compiled of it last; empty where there is none."""
        reader = NodeReader(manifest, self.files.target, self.files.directory)
        found = self.releases(manifest)
        return tuple((each, reader.compiled(each.model) or "") for each in found)


def place_of(
    project_dir: Path | None,
    profiles_dir: Path | None,
    target: str | None,
    variables: str | None = None,
) -> Place:
    """Where dbt runs, as its own options say.

    Raises:
        FileError, UsageError, PolicyError, WarehouseError: a project, profile or target is missing.
    """
    files = open_dbt_project(project_dir)
    targets = read_targets(files, profiles_dir)
    one = targets.one(target)
    named = warehouse_of(files, targets, one.name)
    dbt = Dbt(files.directory, targets.file.parent, one.name, variables)
    return Place(dbt, files, one.name, named, project_at(files.directory))


_MAKES = {"build", "retry", "run", "seed", "snapshot"}

Outcome = Literal[
    "absent", "attested", "built", "certified", "changed", "due", "gone", "not due",
    "not reserved", "outdated", "refused", "reserved", "stands", "waits",
]  # fmt: skip
"""What is found of a release, or becomes of it.

``built``: nothing says yet that it is what was reserved. ``changed``: other rows or columns stand
than were released. ``outdated``: its policy was changed since. ``refused``: no certificate speaks
of what stands. ``due``: an edition of its calendar is not drawn yet; ``not due``: none is to be.
"""


@frozen
class Told:
    """What is told of a release: the entry that paid for it last, and how many ``rows`` stand.

    ``why`` says what is wrong, and what to do; else empty. ``schedule`` is what its calendar says.
    """

    release: DbtRelease
    outcome: Outcome
    entry: Entry | None = None
    why: str = ""
    rows: int = 0
    schedule: Schedule | None = None

    @property
    def is_good(self) -> bool:
        """Whether it stands as it was signed for, or nothing of it is due."""
        return self.outcome in {"attested", "certified", "not due", "stands"}


def full_name(named: Named, parts: tuple[str, ...]) -> tuple[str, ...]:
    """A full name, of as many parts as names have in a warehouse."""
    return parts[-2:] if named.type == "postgres" else parts[-3:]


@frozen
class Desk:
    """What reserving and attesting need: the project's books, and a connection."""

    project: Project
    named: Named
    warehouse: Warehouse

    def name(self, parts: tuple[str, ...]) -> tuple[str, ...]:
        """A full name, of as many parts as names have in the warehouse."""
        return full_name(self.named, parts)

    def stands(self, parts: tuple[str, ...]) -> bool:
        """Whether there is a relation of this full name."""
        return self.warehouse.exists(self.name(parts))

    def table(self, policy: Policy, parts: tuple[str, ...]) -> Table:
        """A relation that stands, as the warehouse has it."""
        source = Source(None, ".".join(self.name(parts)))
        return self.warehouse.table(source, policy.directory)

    def sources(self, release: DbtRelease) -> Iterator[Table | None]:
        """All that is read, as the warehouse has it; None where dbt has not made it yet."""
        for parts in release.reads:
            yield self.table(release.policy, parts) if self.stands(parts) else None

    def is_reached(self, parts: tuple[str, ...]) -> bool:
        """Whether the database of a full name is the one that is connected to."""
        if self.named.type != "duckdb" or len(parts) < 3:
            return True
        known = self.warehouse.rows(
            "SELECT database_name FROM duckdb_databases() WHERE path IS NOT NULL"
        )
        return parts[0].lower() in {str(name).lower() for name in known.column(0).to_pylist()}

    def lines(self, release: DbtRelease) -> Iterator[tuple[Any, ...]]:
        """The rows of the table that stands in the place of a release."""
        return self.warehouse.release_lines(self.name(release.parts))

    def shown_lines(self, release: DbtRelease) -> Iterator[tuple[Any, ...]]:
        """The rows of an edition in the table that is read."""
        name = self.name(release.shown_parts)
        return self.warehouse.release_lines(name, release.appended)

    def other_shape(self, release: DbtRelease) -> str:
        """Why what stands is not a table of the released columns; empty where it is."""
        return self._other_columns(release, release.parts, release.columns)

    def other_shown(self, release: DbtRelease) -> str:
        """Why nothing can be put into what is read; empty where it can, or it is not made."""
        if not self.stands(release.shown_parts):
            return ""
        beside = (EDITION,) if release.written.release.append else ()
        return self._other_columns(release, release.shown_parts, (*beside, *release.columns))

    def shows(self, release: DbtRelease, digest: str | None) -> bool:
        """Whether the rows of this digest are what is read of a release, or of its edition."""
        stands = self.stands(release.shown_parts) and not self.other_shown(release)
        return stands and digest_of_lines(self.shown_lines(release))[0] == digest

    def _other_columns(
        self, release: DbtRelease, parts: tuple[str, ...], wanted: tuple[str, ...]
    ) -> str:
        found = self.table(release.policy, parts)
        if found.view is not None:
            return (
                "a view stands in its place, which is drawn or read anew whenever somebody asks,"
                " and no release"
            )
        names = tuple(column.name for column in found.columns)
        if names == wanted:
            return ""
        return (
            f"{'.'.join(parts)} has the columns {', '.join(names)}, and released are"
            f" {', '.join(wanted)}:"
            " a materialization or a hook made others of them, or the table was altered"
        )

    def ends(self, release: DbtRelease) -> requests.Ends:
        """Where a release and its certificate stand."""
        return requests.Ends.of_table(release.relation, release.certificate, self.project.directory)

    def place(self, release: DbtRelease) -> str:
        """What all releases of one table and edition have in common, whatever the policy's name."""
        ends = self.ends(release)
        # Each target has its own: of a calendar's edition the place says nothing of where it goes.
        return requests.place_of(release.relation, ends, release.written.edition)


@contextmanager
def open_desk(place: Place, *, writable: bool = True) -> Iterator[Desk]:
    """A connection to a target's warehouse, with the project's books beside it."""
    named = place.named
    if writable and named.type == "duckdb" and named.database and not named.database.exists():
        import duckdb  # dbt has not made it yet

        named.database.parent.mkdir(parents=True, exist_ok=True)
        duckdb.connect(str(named.database)).close()
    with closing(connected(named, writable=writable)) as warehouse:
        yield Desk(place.project, named, warehouse)

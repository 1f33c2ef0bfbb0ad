"""Opening the desk at which releases are reserved and attested: dbt, its target, the books."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from policy_engine.compile.catalog import Table
from policy_engine.dbt.manifest import Manifest, read_manifest
from policy_engine.dbt.project import DbtProject, open_dbt_project
from policy_engine.dbt.releases import ONE_PROJECT_FILE, DbtRelease, model_name, releases_of
from policy_engine.dbt.runner import Dbt
from policy_engine.dbt.targets import read_targets, warehouse_of
from policy_engine.errors import FileError, UsageError, WarehouseError
from policy_engine.policy.accounts import check_own_project
from policy_engine.policy.loading import load_policy
from policy_engine.policy.project import Project, default_project, find_project, load_project
from policy_engine.policy.project import Warehouse as Named
from policy_engine.policy.resolve import Policy
from policy_engine.warehouse.base import Warehouse
from policy_engine.warehouse.connecting import connected


@dataclass(frozen=True)
class Place:
    """A dbt project, its target, and the project that pays for what is released there."""

    dbt: Dbt
    files: DbtProject
    target: str
    named: Named
    project: Project

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

    def compiled(self) -> tuple[tuple[DbtRelease, str], ...]:
        """Every release with its text, as dbt compiles it now."""
        names = sorted({model_name(policy) for policy in self.policies})
        if not names:
            raise UsageError(f"{self.files.directory} has no policy: a file *.privacy.yml")
        self._run("compile", "--quiet", "--select", *names)
        found = self.built(self.manifest())
        for release, text in found:
            if not text:
                raise FileError(f"dbt compiled {release.model.file} and wrote no text of it")
        return found

    def built(self, manifest: Manifest) -> tuple[tuple[DbtRelease, str], ...]:
        """Every release with the text that dbt compiled of it last; empty where there is none."""
        return tuple((each, self._text(each, manifest)) for each in self.releases(manifest))

    def _text(self, release: DbtRelease, manifest: Manifest) -> str:
        if release.model.compiled is not None:
            return release.model.compiled
        file = self.files.target / "compiled" / manifest.project / release.model.file
        try:
            return file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            return ""


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
    found = find_project(files.directory)
    project = load_project(found) if found else default_project(files.directory)
    named = warehouse_of(files, targets, one.name)
    dbt = Dbt(files.directory, targets.file.parent, one.name, variables)
    return Place(dbt, files, one.name, named, project)


@dataclass(frozen=True)
class Desk:
    """What reserving and attesting need: the project's books, and a connection."""

    project: Project
    named: Named
    warehouse: Warehouse
    secrets: str

    @property
    def depth(self) -> int:
        """How many parts a name has in the warehouse."""
        return 2 if self.named.type == "postgres" else 3

    def stands(self, parts: tuple[str, ...]) -> bool:
        """Whether there is a relation of this full name."""
        return self.warehouse.exists(parts[-self.depth :])

    def table(self, policy: Policy, parts: tuple[str, ...]) -> Table:
        """A relation that stands, as the warehouse has it."""
        relation = ".".join(parts[-self.depth :])
        return self.warehouse.table(replace(policy.source, relation=relation), policy.directory)

    def is_reached(self, parts: tuple[str, ...]) -> bool:
        """Whether the database of a full name is the one that is connected to."""
        if self.named.type != "duckdb" or len(parts) < self.depth:
            return True
        known = self.warehouse.rows(
            "SELECT database_name FROM duckdb_databases() WHERE path IS NOT NULL"
        )
        return parts[0].lower() in {str(name).lower() for name in known.column(0).to_pylist()}


@contextmanager
def open_desk(place: Place, *, writable: bool = True) -> Iterator[Desk]:
    """A connection to a target's warehouse, with the project's books beside it."""
    if writable:
        _make_database(place.named)
    with closing(connected(place.named, writable=writable)) as warehouse:
        yield Desk(place.project, place.named, warehouse, place.project.dbt.secrets)


def _make_database(named: Named) -> None:
    """The database of DuckDB where dbt has not made it yet."""
    if named.type == "duckdb" and named.database is not None and not named.database.exists():
        import duckdb

        named.database.parent.mkdir(parents=True, exist_ok=True)
        duckdb.connect(str(named.database)).close()

"""The targets of a project's profile: which warehouse a release goes to, and its dialect.

Only the names and the types are read here: no password is looked up, so that a project can be
synced where the warehouse is out of reach.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path

from policy_engine.dbt.naming import dialect_of
from policy_engine.dbt.project import DbtProject
from policy_engine.dialects import ENGINES, Engine, dialect_named
from policy_engine.errors import FileError, UsageError
from policy_engine.policy.project import Profile, Warehouse, filled
from policy_engine.warehouse.connecting import FILE, profiles_in, resolved


@dataclass(frozen=True)
class Target:
    """A target of a profile: its adapter, and the schema that it builds in."""

    name: str
    adapter: str
    schema: str

    @property
    def dialect(self) -> Engine:
        """The dialect that its adapter speaks.

        Raises UsageError: none is known.
        """
        name = dialect_of(self.adapter)
        if name not in ENGINES:
            raise UsageError(
                f"the target {self.name} is of type {self.adapter or 'nothing'}, whose SQL is not"
                f" written; known: {', '.join(ENGINES)}"
            )
        return dialect_named(name)


@dataclass(frozen=True)
class Targets:
    """The targets of a project's profile; ``default`` is the one that dbt takes by itself."""

    file: Path
    profile: str
    default: str
    known: Mapping[str, Target]

    def one(self, name: str | None = None) -> Target:
        """The target of a name, or the default.

        Raises UsageError: the profile has none of that name.
        """
        wanted = name or self.default
        if wanted not in self.known:
            listed = ", ".join(self.known) or "none"
            raise UsageError(
                f"{self.file}: the profile {self.profile} has no target {wanted}; it has {listed}"
            )
        return self.known[wanted]

    def of_releases(self, released_in: tuple[str, ...], asked: str | None = None) -> Target:
        """The target whose dialect a release is written in.

        It is the one that was asked for, else the first release target that the profile has, else
        the default: a machine that builds nothing for real may know another target alone.

        Raises UsageError: release targets are of several dialects.
        """
        here = [self.known[name] for name in released_in if name in self.known]
        adapters = {dialect_of(target.adapter) for target in here}
        if len(adapters) > 1:
            found = ", ".join(f"{target.name}: {target.adapter}" for target in here)
            raise UsageError(
                f"release_targets must be of one dialect, for a model has one text; found {found}"
            )
        if asked is not None or not here:
            return self.one(asked)
        return here[0]

    def likely(self) -> str | None:
        """The target to release in, as far as names tell: ``prod``, or the only one."""
        if "prod" in self.known:
            return "prod"
        return next(iter(self.known)) if len(self.known) == 1 else None


def read_targets(project: DbtProject, folder: Path | None = None) -> Targets:
    """The targets of the project's profile, from where dbt would read them.

    Raises:
        FileError: there is no profiles.yml, or it cannot be read.
        UsageError: it does not have the project's profile.
    """
    given = folder or os.environ.get("DBT_PROFILES_DIR")
    folders = [Path(given)] if given else [Path.cwd(), project.directory, Path.home() / ".dbt"]
    file = next((each / FILE for each in folders if (each / FILE).is_file()), None)
    if file is None:
        looked = " and ".join(dict.fromkeys(str(each) for each in folders))
        raise FileError(f"there is no {FILE} in {looked}; name its folder with --profiles-dir")
    profiles = profiles_in(file)
    found = profiles.get(project.profile)
    outputs = found.get("outputs") if isinstance(found, dict) else None
    if not isinstance(found, dict) or not isinstance(outputs, dict):
        listed = ", ".join(str(name) for name in profiles if name != "config") or "none"
        raise UsageError(f"{file} has no profile {project.profile}; it has {listed}")
    known = {}
    for name, output in outputs.items():
        values = output if isinstance(output, dict) else {}
        adapter = _filled(values.get("type"))
        schema = _filled(values.get("schema") or values.get("dataset"))
        default = "main" if adapter == "duckdb" else ""
        known[str(name)] = Target(str(name), adapter, schema or default)
    return Targets(file, project.profile, _filled(found.get("target", "default")), known)


def _filled(value: object) -> str:
    # What the environment does not have is none of our business here: dbt will tell.
    return filled(str(value or ""), os.environ, lambda wrong, remedy: None)


def warehouse_of(project: DbtProject, targets: Targets, target: str) -> Warehouse:
    """The warehouse of a target, by its connection in profiles.yml.

    Raises FileError, WarehouseError: it cannot be connected to from here.
    """
    profile = Profile(targets.profile, target, targets.file.parent, project.directory)
    # dbt runs in the project's folder, and a path in the profile starts there.
    with chdir(project.directory):
        return resolved(Warehouse(target, "dbt", profile=profile))

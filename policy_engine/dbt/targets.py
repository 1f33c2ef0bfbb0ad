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

PRODUCTION = "prod"


@dataclass(frozen=True)
class Target:
    """A target of a profile: its adapter, and the schema that it builds in."""

    name: str
    adapter: str
    schema: str


@dataclass(frozen=True)
class Targets:
    """The targets of a project's profile; ``default`` is the one that dbt takes by itself."""

    file: Path
    profile: str
    default: str
    known: Mapping[str, Target]

    def one(self, name: str | None = None) -> Target:
        """The target of a name, or the default.

        Raises:
            UsageError: the profile has none of that name.
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

        Raises:
            UsageError: release targets are of several dialects.
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
        if PRODUCTION in self.known:
            return PRODUCTION
        return next(iter(self.known)) if len(self.known) == 1 else None


def read_targets(
    project: DbtProject, folder: Path | None = None, environ: Mapping[str, str] | None = None
) -> Targets:
    """The targets of the project's profile, from where dbt would read them.

    Raises:
        FileError: there is no profiles.yml, or it cannot be read.
        UsageError: it does not have the project's profile.
    """
    environ = os.environ if environ is None else environ
    file = profiles_file(project, folder, environ)
    profiles = profiles_in(file)
    found = profiles.get(project.profile)
    outputs = found.get("outputs") if isinstance(found, dict) else None
    if not isinstance(found, dict) or not isinstance(outputs, dict):
        listed = ", ".join(str(name) for name in profiles if name != "config") or "none"
        raise UsageError(f"{file} has no profile {project.profile}; it has {listed}")
    default = _filled(found.get("target", "default"), environ)
    known = {str(name): _target(str(name), output, environ) for name, output in outputs.items()}
    return Targets(file, project.profile, default, known)


def profiles_file(project: DbtProject, folder: Path | None, environ: Mapping[str, str]) -> Path:
    """The profiles.yml that dbt would read.

    Raises:
        FileError: there is none.
    """
    given = folder or environ.get("DBT_PROFILES_DIR")
    folders = [Path(given)] if given else [Path.cwd(), project.directory, Path.home() / ".dbt"]
    for each in folders:
        if (each / FILE).is_file():
            return each / FILE
    looked = " and ".join(dict.fromkeys(str(each) for each in folders))
    raise FileError(f"there is no {FILE} in {looked}; name its folder with --profiles-dir")


def _target(name: str, output: object, environ: Mapping[str, str]) -> Target:
    values = output if isinstance(output, dict) else {}
    adapter = _filled(values.get("type", ""), environ)
    schema = next((values[key] for key in ("schema", "dataset") if values.get(key)), "")
    default = "main" if adapter == "duckdb" else ""
    return Target(name, adapter, _filled(schema, environ) or default)


def _filled(value: object, environ: Mapping[str, str]) -> str:
    # What the environment does not have is none of our business here: dbt will tell.
    return filled(str(value or ""), environ, lambda wrong, remedy: None)


def dialect_of_target(target: Target) -> Engine:
    """The dialect that a target's adapter speaks.

    Raises:
        UsageError: none is known.
    """
    name = dialect_of(target.adapter)
    if name not in ENGINES:
        known = ", ".join(ENGINES)
        raise UsageError(
            f"the target {target.name} is of type {target.adapter or 'nothing'}, whose SQL is not"
            f" written; known: {known}"
        )
    return dialect_named(name)


def warehouse_of(project: DbtProject, targets: Targets, target: str) -> Warehouse:
    """The warehouse of a target, by its connection in profiles.yml.

    Raises:
        FileError, WarehouseError: it cannot be connected to from here.
    """
    profile = Profile(targets.profile, target, targets.file.parent, project.directory)
    # dbt runs in the project's folder, and a path in the profile starts there.
    with chdir(project.directory):
        return resolved(Warehouse(target, "dbt", profile=profile))

"""The targets of a project's profile, and dbt itself, which is run in one of them.

Of targets only the names and the types are read: no password is looked up, so that a project can be
synced where the warehouse is out of reach.

dbt is a subprocess: nothing of it is imported, so that every version of it will do. It is asked for
columns where nothing here connects to the warehouse, or where dbt alone knows what a source is: an
attached database, a file behind ``external_location``. dbt logs the text and the types, no value.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import chdir
from pathlib import Path
from typing import TYPE_CHECKING

from policy_engine.dbt.manifest import mapping
from policy_engine.dbt.naming import dialect_of
from policy_engine.dbt.project import DbtProject
from policy_engine.dialects import Engine, dialect_named
from policy_engine.engines import OURS
from policy_engine.errors import FileError, UsageError, WarehouseError
from policy_engine.policy.project import ListedWarehouse, Profile, filled
from policy_engine.values import frozen
from policy_engine.warehouse.connecting import profiles_file, profiles_in, resolved

if TYPE_CHECKING:
    from policy_engine.dbt.sources import SourceNode

VARIABLE = "POLICY_ENGINE_DBT"
"""The environment variable that names the dbt to run; the default is ``dbt`` on PATH."""

# A release is made in the project's own profile, which is where the targets are read.
_PROFILE = ("DBT_PROFILE", "DBT_ENGINE_PROFILE")
_LAST_LINES = 12


@frozen
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
        if name not in OURS:
            raise UsageError(
                f"the target {self.name} is of type {self.adapter or 'nothing'}, whose SQL is not"
                f" written; known: {', '.join(OURS)}"
            )
        return dialect_named(name)


@frozen
class Targets:
    """The targets of a project's profile; ``default`` is the one that dbt takes by itself."""

    file: Path
    profile: str
    default: str
    known: Mapping[str, Target]

    def one(self, name: str | None) -> Target:
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

    def of_releases(self, released_in: tuple[str, ...], asked: str | None) -> Target:
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
                "release_targets must be of one dialect because a model has one text;"
                f" found {found}"
            )
        if asked is not None or not here:
            return self.one(asked)
        return here[0]

    def likely(self) -> str | None:
        """The target to release in, as far as names tell: ``prod``, or the only one."""
        if "prod" in self.known:
            return "prod"
        return next(iter(self.known)) if len(self.known) == 1 else None


def read_targets(project: DbtProject, folder: Path | None) -> Targets:
    """The targets of the project's profile, from where dbt would read them.

    Raises:
        FileError: there is no profiles.yml, or it cannot be read.
        UsageError: it does not have the project's profile.
    """
    given = folder or os.environ.get("DBT_PROFILES_DIR")
    remedy = "name its folder with --profiles-dir"
    file = profiles_file(given, [Path.cwd(), project.directory], remedy)
    profiles = profiles_in(file)
    found = mapping(profiles, project.profile)
    outputs = found.get("outputs")
    if not isinstance(outputs, dict):
        listed = ", ".join(str(name) for name in profiles if name != "config") or "none"
        raise UsageError(f"{file} has no profile {project.profile}; it has {listed}")
    known = {}
    for name in outputs:
        values = mapping(outputs, name)
        adapter = _filled(values.get("type"))
        schema = _filled(values.get("schema") or values.get("dataset"))
        default = "main" if adapter == "duckdb" else ""
        known[str(name)] = Target(str(name), adapter, schema or default)
    return Targets(file, project.profile, _filled(found.get("target", "default")), known)


def _filled(value: object) -> str:
    # What the environment does not have is none of our business here: dbt will tell.
    return filled(str(value or ""), os.environ, lambda wrong, remedy: None)


def warehouse_of(project: DbtProject, targets: Targets, target: str) -> ListedWarehouse:
    """The warehouse of a target, by its connection in profiles.yml.

    Raises FileError, WarehouseError: it cannot be connected to from here.
    """
    profile = Profile(targets.profile, target, targets.file.parent, project.directory)
    # dbt runs in the project's folder, and a path in the profile starts there.
    with chdir(project.directory):
        return resolved(ListedWarehouse(target, "dbt", profile=profile))


@frozen
class Dbt:
    """How dbt is run: the folder of its project, and what is named as dbt names it.

    ``profiles`` and ``target`` are None where dbt's own rule finds them. ``variables`` are YAML.
    """

    project: Path
    profiles: Path | None = None
    target: str | None = None
    variables: str | None = None

    def run(self, *words: str, shown_on: int | None = None) -> str:
        """Run a command of dbt in its project, and return what it wrote.

        ``shown_on``: what it writes goes to that open file, and is not returned.

        Raises:
            FileError: there is no dbt.
            WarehouseError: the command failed; the message has the end of what it wrote.
        """
        command = [executable(), *words, "--project-dir", str(self.project.resolve())]
        if self.profiles is not None:
            command += ["--profiles-dir", str(self.profiles.resolve())]
        if self.target is not None:
            command += ["--target", self.target]
        if self.variables is not None:
            command += ["--vars", self.variables]
        try:
            done = subprocess.run(
                command,
                cwd=self.project,
                env={name: value for name, value in os.environ.items() if name not in _PROFILE},
                check=False,
                text=True,
                encoding="utf-8",
                errors="replace",
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE if shown_on is None else shown_on,
                stderr=subprocess.STDOUT if shown_on is None else None,
            )
        except OSError as error:
            raise FileError(f"{command[0]} cannot be run: {error.strerror}") from None
        said = _ESCAPES.sub("", done.stdout or "")
        if done.returncode != 0:
            raise _failed(words, said)
        return said

    def rows(self, template: str) -> tuple[Mapping[str, object], ...]:
        """The rows of a query, by the connection of the profile; the text is a template of dbt's.

        Neither the text nor the rows may hold a secret or a value of the source: dbt logs both.

        Raises FileError, WarehouseError: as ``run`` does; or dbt wrote no rows.
        """
        words = ("show", "--quiet", "--output", "json", "--limit", "-1", "--inline", template)
        said = self.run(*words)
        decoder = json.JSONDecoder()
        for place in (number for number, sign in enumerate(said) if sign in "[{"):
            try:
                found, _ = decoder.raw_decode(said, place)
            except ValueError:
                continue
            # A list, which dbt 1.x puts into a mapping.
            rows = found.get("show") if isinstance(found, dict) else found
            if isinstance(rows, list) and all(isinstance(row, dict) for row in rows):
                return tuple(rows)
        raise _failed(words, said)


def executable() -> str:
    """The dbt to run.

    Raises FileError: there is none.
    """
    named = os.environ.get(VARIABLE, "").strip()
    found = shutil.which(named or "dbt")
    if found is None:
        wanted = f"{VARIABLE} names {named}, which" if named else "dbt is not on PATH, so it"
        raise FileError(
            f"{wanted} cannot be run: activate the environment that has dbt, or set {VARIABLE} to"
            " its path"
        )
    return found


# Colours and links of a terminal (ECMA-48): dbt writes them into a pipe, too.
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-Z^-~])")
_BACKTRACE = re.compile(r"\s*(stack )?backtrace\b|\s*\d+: (0x[0-9a-f]+|<)|\s*at /", re.IGNORECASE)


def _failed(words: Sequence[str], said: str) -> WarehouseError:
    """A failed command, told by the end of what it wrote, without dbt v2's backtrace."""
    lines = [line for line in said.splitlines() if line.strip() and not _BACKTRACE.match(line)]
    if not lines:
        return WarehouseError(f"dbt {words[0]} failed")
    return WarehouseError(f"dbt {words[0]} failed:", *[f"  {e}" for e in lines[-_LAST_LINES:]])


# A name or a type with a quote is left out, for engines escape it differently: it stays unknown.
_QUESTION = """\
{{%- set relation = {call} -%}}
{{%- if execute -%}}
  {{%- for column in adapter.get_columns_in_relation(relation) -%}}
    {{%- set said = column.name ~ column.dtype ~ column.data_type -%}}
    {{%- if "'" not in said and "\\\\" not in said %}}
select '{{{{ column.name }}}}' as name, '{{{{ column.dtype }}}}' as kind, \
'{{{{ column.data_type }}}}' as type union all
    {{%- endif -%}}
  {{%- endfor -%}}
{{%- endif %}}
select '' as name, '' as kind, '' as type"""
_OF_DUCKDB = """\
select column_name as name, column_type as kind, column_type as type
from (describe select * from {call})"""


def shown_columns(dbt: Dbt, node: SourceNode, adapter: str) -> dict[str, str]:
    """The columns of a node's table with their types, by ``dbt show``; empty where it has none.

    Of the two names that dbt has for a type it is the one with digits, but as short for texts.

    Raises FileError, WarehouseError: there is no dbt, or it failed.
    """
    found = {}
    for row in dbt.rows(question(node.call, adapter)):
        told = {name.lower(): str(value or "") for name, value in row.items()}
        if told.get("name"):
            is_text = "char" in told["type"].lower()
            found[told["name"]] = told["kind" if is_text else "type"]
    return found


def question(call: str, adapter: str) -> str:
    """What dbt is asked: a query of its own Jinja, that is the same for nearly every adapter.

    >>> print(question("source('raw', 'people')", "duckdb"))
    select column_name as name, column_type as kind, column_type as type
    from (describe select * from {{ source('raw', 'people') }})
    """
    if adapter == "duckdb":
        # Its own macro cannot describe a file.
        return _OF_DUCKDB.format(call=f"{{{{ {call} }}}}")
    return _QUESTION.format(call=call)

"""dbt as a subprocess: nothing of it is imported, so that every version of it will do.

It is asked for columns where nothing here connects to the warehouse, or where dbt alone knows what
a source is: an attached database, a file behind ``external_location``. dbt logs the text and the
types, no value.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from policy_engine.errors import FileError, WarehouseError

if TYPE_CHECKING:
    from policy_engine.dbt.sources import SourceNode

VARIABLE = "POLICY_ENGINE_DBT"
"""The environment variable that names the dbt to run; the default is ``dbt`` on PATH."""

# A release is made in the project's own profile, which is where the targets are read.
_PROFILE = ("DBT_PROFILE", "DBT_ENGINE_PROFILE")
_LAST_LINES = 12


@dataclass(frozen=True)
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
        if done.returncode != 0:
            raise WarehouseError(*_failed(words, done.stdout or ""))
        return done.stdout or ""

    def rows(self, template: str) -> tuple[Mapping[str, Any], ...]:
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
        raise WarehouseError(*_failed(words, said))


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


_BACKTRACE = re.compile(r"\s*(stack )?backtrace\b|\s*\d+: (0x[0-9a-f]+|<)|\s*at /", re.IGNORECASE)


def _failed(words: Sequence[str], said: str) -> tuple[str, ...]:
    """What a failed command is told as: the end of what it wrote, without dbt v2's backtrace.

    >>> _failed(("parse",), "error: no model\\nstack backtrace:\\n   0: 0x5f3a\\n")
    ('dbt parse failed:', '  error: no model')
    """
    lines = [line for line in said.splitlines() if line.strip() and not _BACKTRACE.match(line)]
    if not lines:
        return (f"dbt {words[0]} failed",)
    return (f"dbt {words[0]} failed:", *[f"  {line}" for line in lines[-_LAST_LINES:]])


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

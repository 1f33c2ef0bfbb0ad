"""A starter policy and project file, from a source's schema and never from its values."""

from __future__ import annotations

import json
import os
import re
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from policy_engine.compile.catalog import (
    INSTEAD_OF_A_VIEW,
    NO_VIEW,
    NUMBERS,
    TIMES,
    Column,
    Kind,
    Table,
    fresh,
)
from policy_engine.errors import FileError, UsageError, WarehouseError
from policy_engine.policy.models import CSV_FILES, SOURCE_FILES
from policy_engine.policy.project import (
    PROJECT_FILE,
    Project,
    default_project,
    find_project,
    load_project,
)
from policy_engine.policy.resolve import Source
from policy_engine.policy.scalars import plain_scalar
from policy_engine.warehouse.connecting import connected
from policy_engine.warehouse.profiles import resolved

if TYPE_CHECKING:
    from policy_engine.warehouse.duckdb import DuckDBWarehouse

_PROJECT = """\
# Found upwards from the working directory. Paths are relative to this file.
# An account is what one group of people can lose in total; a release about them pays into it.
accounts:
  people: {epsilon: 1.0, delta: 1.0e-6}
# For tables of a DuckDB file; then  policy-engine init TABLE
# warehouses:
#   own: {type: duckdb, database: own.duckdb}
"""

_POLICY = """\
version: 1
name: {name}
description: Say what is released, and for whom
source:
  {source}
  {unit}
{recode}
sample: {{rate: 0.1}}
k: auto                    # the least k that gives the guarantee
guarantee: {{epsilon: 0.5, delta: 1.0e-9}}
release:
  path: out/{name}.parquet{count}
{budget}
"""
_ROWS = "unit: row                # one row is one person; else  unit: {key: person_id}"
_KEYED = (
    "unit: {key: person_id}   # the column that says whose row it is: files have no row numbers"
)
_EMPTY = """\
# Uncomment the columns to release, and choose how coarse each is before you look at the data.
recode:                    # a column that is not named here is not released
{columns}"""
_EXAMPLE = """\
recode:                    # a column that is not named here is not released
  age: {bins: [18, 30, 45, 60, 75]}
  sex: keep"""
_DATABASES = (".duckdb", ".ddb", ".db")
_NAME_IT = "name it under 'warehouses:' in policy-engine.yaml, then init TABLE"
_PLAIN = re.compile(r"[^\W\d][\w./-]*")
_LONGEST_NAME = 100


def write_starter(source: str | None, output: Path) -> tuple[Path, ...]:
    """Write the policy, and a project file where there is none; never over a file.

    Raises:
        FileError: the policy is there already, or the source cannot be read.
        WarehouseError: the source is a table that the warehouse does not have.
        PolicyError: there is a project file and it has problems.
        UsageError: the source's name is blank, or it is a database or a view.
    """
    if os.path.lexists(output):
        raise FileError(f"{output} exists; name another file with --output")
    folder = Path(os.path.abspath(output)).parent  # noqa: PTH100 - it may not exist yet
    found = find_project(folder)
    project = load_project(found) if found is not None else default_project(folder)
    text = _policy(source, folder, project)
    files = {output: text} if found else {output: text, output.parent / PROJECT_FILE: _PROJECT}
    _write_new(files)
    return tuple(files)


def _write_new(files: dict[Path, str]) -> None:
    """Write all of these files, none of which may exist, or none."""
    written: list[Path] = []
    for path, text in files.items():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("x", encoding="utf-8") as file:
                written.append(path)
                file.write(text)
        except OSError as error:
            for done in written:
                done.unlink(missing_ok=True)
            is_file = path.parent.exists() and not path.parent.is_dir()
            reason = "a part of its path is a file" if is_file else error.strerror
            raise FileError(f"{path} could not be written: {reason}") from None


def _policy(source: str | None, folder: Path, project: Project) -> str:
    name, place, recode, count = "my_release", "path: data/people.parquet", _EXAMPLE, ""
    unit = _ROWS
    if source is not None:
        if not source.strip():
            raise UsageError("the source has no name; name a file or a table, or leave it out")
        table = _table(source, project)
        if table.view is not None:
            raise UsageError(f"{table.name} {NO_VIEW}; {INSTEAD_OF_A_VIEW}")
        is_file = table.path is not None
        name = _name(Path(source).stem if is_file else source.rpartition(".")[2])
        place = f"path: {_scalar(_relative(source, folder))}" if is_file else f"relation: {source}"
        if table.is_folder:
            unit = _KEYED
        recode = _EMPTY.format(columns="\n".join(_lines(table)))
        counted = fresh("n", [column.name for column in table.columns])
        count = "" if counted == "n" else f"\n  count_as: {counted}            # n is a column"
    return _POLICY.format(
        name=name, source=place, unit=unit, recode=recode, count=count, budget=_budget(project)
    )


def _budget(project: Project) -> str:
    if project.file is None or len(project.accounts) == 1:
        account = next(iter(project.accounts), "people")
        return f"budget: {_scalar(account):<18} # an account of policy-engine.yaml"
    named = ", ".join(project.accounts) or "none yet"
    return f"# budget: the account that pays, of policy-engine.yaml ({named}); default: the source"


def _table(source: str, project: Project) -> Table:
    """The source's columns: of a file, or of a table where no file has that name."""
    from policy_engine.warehouse.duckdb import DuckDBWarehouse

    path, named = Path(source), project.warehouse
    is_server = named.type != "duckdb" and not path.exists()
    if is_server and path.suffix.lower() not in SOURCE_FILES:
        with closing(connected(named)) as server:
            return server.table(Source(None, source), project.directory)
    is_file = path.exists() or path.suffix.lower() in SOURCE_FILES or named.database is None
    if is_file and path.suffix.lower() in _DATABASES:
        raise UsageError(f"{source} is a database: {_NAME_IT}")
    if not is_file:
        resolved(named)
    with closing(DuckDBWarehouse(named.name, None if is_file else named.database)) as warehouse:
        if is_file:
            return _of_file(warehouse, path)
        try:
            return warehouse.table(Source(None, source), project.directory)
        except WarehouseError as error:
            raise WarehouseError(f"{error}; there is no file {source} either") from None


def _of_file(warehouse: DuckDBWarehouse, path: Path) -> Table:
    try:
        return warehouse.table(Source(path.name, None), path.absolute().parent)
    except FileError as error:
        if path.exists() or path.suffix.lower() in SOURCE_FILES:
            raise
        remedy = f"if it is a table, find its database and {_NAME_IT}"
        raise FileError(f"{error}; {remedy}") from None


def _relative(source: str, folder: Path) -> str:
    """The path from the policy's folder, through no link that another folder lies behind."""
    path = Path(source).absolute()
    start = folder.resolve()
    return Path(os.path.relpath(path.parent.resolve() / path.name, start)).as_posix()


def _name(stem: str) -> str:
    """A policy's name made of a file's: plain letters, digits and underscores."""
    plain = re.sub(r"[^A-Za-z0-9]+", "_", stem).strip("_")
    return (plain if plain[:1].isalpha() else f"release_{plain}".rstrip("_"))[:_LONGEST_NAME]


def _scalar(text: str) -> str:
    """A YAML scalar that reads as this text; JSON strings are YAML.

    >>> _scalar("age"), _scalar("null"), _scalar("a: b")
    ('age', '"null"', '"a: b"')
    """
    if _PLAIN.fullmatch(text) and plain_scalar(text) == text:
        return text
    return json.dumps(text, ensure_ascii=not text.isprintable())


def _lines(table: Table) -> list[str]:
    """A commented suggestion a column: whoever writes the policy must choose each."""
    lines = [_line(column) for column in table.columns]
    if table.path is not None and table.path.lower().endswith(CSV_FILES):
        typed = "# CSV is read as text; for bins of numbers or dates name the types, in source:"
        lines += [f"  {typed}", "  #   columns: {age: integer, born: date}"]
    return lines


def _line(column: Column) -> str:
    if not column.name.isprintable() or not column.name.strip():
        return f"  # {json.dumps(column.name)} cannot be released under this name: rename it"
    kind = " ".join(column.type.split("(")[0].split())[:40]
    return f"  # {_scalar(column.name)}: {_suggestion(column.kind)}    # {kind}"


def _suggestion(kind: Kind) -> str:
    """A recoding that takes the kind; its cuts and labels are placeholders, never values."""
    if kind in NUMBERS:
        return "{bins: [10, 20, 30]}"
    if kind in TIMES or kind is Kind.DATE:
        return "{truncate: year}"
    if kind in {Kind.BOOLEAN, Kind.TIME}:
        return "keep"
    if kind in {Kind.TEXT, Kind.LABEL}:
        return "{map: {some value: some label}, other: other}"
    return '{constant: "*"}'

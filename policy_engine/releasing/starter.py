"""A starter policy and project file, from a source's schema and never from its values."""

from __future__ import annotations

import json
import os
import re
from contextlib import closing
from decimal import ROUND_FLOOR, Context, Decimal
from pathlib import Path
from typing import TYPE_CHECKING

from policy_engine.accounting.in_words import in_text
from policy_engine.attest.confidential import KEPT, make_folder
from policy_engine.compile.catalog import TIMES, Column, Kind, Table, fresh
from policy_engine.errors import FileError, UsageError, WarehouseError
from policy_engine.policy.csv_models import is_csv
from policy_engine.policy.project import (
    PROJECT_FILE,
    Limit,
    Project,
    default_project,
    find_project,
    load_project,
)
from policy_engine.policy.resolve import Source
from policy_engine.policy.scalars import plain_scalar
from policy_engine.policy.schema import json_schema, project_schema, text_of
from policy_engine.policy.source_models import SOURCE_FILES
from policy_engine.releasing.suggestions import by_name, person_key, suggestion
from policy_engine.warehouse.connecting import connected, resolved

if TYPE_CHECKING:
    from policy_engine.warehouse.duckdb import DuckDBWarehouse

_SCHEMA = "# yaml-language-server: $schema={}\n"
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
mechanism: noisy_counts    # everybody is counted, and each count gets noise
# k: 10                    # then each group that is shown has at least 10 people, for certain
guarantee: {{epsilon: {epsilon}, delta: {delta}}}
release:
  path: out/{name}.parquet{count}
{budget}
"""
_ROWS = "unit: row                # one row is one person"
_EPSILON, _DELTA = Decimal("0.5"), Decimal("1e-7")
_EMPTY = """\
# Uncomment the columns to release, and choose how coarse each is before you look at the data.
recode:                    # a column that is not named here is not released
{columns}"""
_EXAMPLE = """\
recode:                    # a column that is not named here is not released
  age: {bins: [18, 30, 45, 65]}
  sex: keep"""
_MORE = (
    '# csv may say more: {decimal: ",", thousands: ".", dates: "%d.%m.%Y", true: [ja],'
    " false: [nein], nulls: [NA]}"
)
_TYPES = "# columns: {age: integer, born: date}   # what is no text: integer, double, date, boolean"
_NAMED = "# its first line names the columns; of a row: {header: false, columns: [age, sex]}"
_UNNAMED = (
    "# the first line looks like a row, or names two columns alike: name the columns here, and in",
    "# recode; and if it is a header, it is no person: write header: true",
)
_CHOICES = (
    "  # keep, {prefix: 2} or {map: {a: b}, other: other}; with a type in source.columns also"
    "\n  # {bins: [18, 65]}, {round: 10} of numbers, {truncate: year} of dates"
)
_LEAVE_OUT = "seems to name one person or row, leave it out"
_DATABASES = (".duckdb", ".ddb", ".db")
_POLICY_SCHEMA = f"{KEPT}/policy.schema.json"
_PROJECT_SCHEMA = f"{KEPT}/project.schema.json"
_NAME_IT = "name it under 'warehouses:' in policy-engine.yaml, then init TABLE"
_PLAIN = re.compile(r"[^\W\d][\w./-]*")
_LONGEST_NAME = 100


def write_starter(source: str | None, output: Path) -> tuple[Path, ...]:
    """Write the policy, a project file where there is none, and their schemas for editors.

    Never over a file, but of the schemas, which are the engine's own.

    Raises:
        FileError: the policy is there already, or the source cannot be read.
        WarehouseError: the source is a table that the warehouse does not have.
        PolicyError: there is a project file and it has problems.
        UsageError: the source's name is blank, or it is a database.
    """
    if os.path.lexists(output):
        raise FileError(f"{output} exists; name another file with --output")
    folder = Path(os.path.abspath(output)).parent  # noqa: PTH100 - it may not exist yet
    found = find_project(folder)
    project = load_project(found) if found is not None else default_project(folder)
    start = found.parent if found is not None else output.parent
    own = Path(os.path.relpath(project.directory.resolve() / _POLICY_SCHEMA, folder.resolve()))
    files = {output: _SCHEMA.format(own.as_posix()) + _policy(source, folder, project)}
    if found is None:
        files[start / PROJECT_FILE] = _SCHEMA.format(_PROJECT_SCHEMA) + _PROJECT
    schemas = {
        start / _POLICY_SCHEMA: text_of(json_schema()),
        start / _PROJECT_SCHEMA: text_of(project_schema()),
    }
    _write_new(files | {path: text for path, text in schemas.items() if not path.exists()})
    for path, text in schemas.items():
        if path.read_text("utf-8") != text:  # of another version of the engine
            path.write_text(text, "utf-8")
    return tuple(files)


def _write_new(files: dict[Path, str]) -> None:
    """Write all of these files, none of which may exist, or none."""
    written: list[Path] = []
    for path, text in files.items():
        try:
            if path.parent.name == KEPT:
                make_folder(path.parent)
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
    unit = f"{_ROWS}; else  unit: {{key: person_id, keep: any}}"
    if source is not None:
        if not source.strip():
            raise UsageError("the source has no name; name a file or a table, or leave it out")
        table = _table(source, project)
        is_file = table.path is not None
        name = _name(Path(table.path).stem if table.path else source.rpartition(".")[2])
        place = f"path: {_scalar(_relative(source, folder))}" if is_file else f"relation: {source}"
        if is_file and is_csv(source):
            place += _csv_lines(Path(source))
        unit = _unit(table)
        recode = _EMPTY.format(columns="\n".join(_lines(table)))
        counted = fresh("n", [column.name for column in table.columns])
        count = "" if counted == "n" else f"\n  count_as: {counted}            # n is a column"
    epsilon, delta = _numbers(project)
    return _POLICY.format(
        name=name, source=place, unit=unit, recode=recode, epsilon=in_text(epsilon),
        delta=f"{delta:.1e}", count=count, budget=_budget(project),
    )  # fmt: skip


def _numbers(project: Project) -> tuple[Decimal, Decimal]:
    """ε and δ that leave room: the least account pays for four by the plain sum alone."""
    of_starter = Limit(Decimal(1), Decimal("1e-6"))  # as _PROJECT says
    accounts = project.accounts if project.file else {"people": of_starter}
    limits = [limit for limit in accounts.values() if limit is not None]
    epsilon = min([_EPSILON, *(_digit(limit.epsilon / 4) for limit in limits)])
    return epsilon, min([_DELTA, *(_digit(limit.delta / 10) for limit in limits)])


def _digit(value: Decimal) -> Decimal:
    """A number's first digit, rounded down.

    >>> _digit(Decimal("0.25")), _digit(Decimal("0.1"))
    (Decimal('0.2'), Decimal('0.1'))
    """
    return Context(prec=1, rounding=ROUND_FLOOR).plus(value)


def _unit(table: Table) -> str:
    """Whose row it is: a row is a person, unless a column seems to say whose it is.

    Files of a folder have no row numbers, and rows of a view no place: they need such a column.
    """
    columns = [column for column in table.columns if column.name.isprintable()]
    key = person_key(columns)
    when = next((each for each in columns if each.kind in {*TIMES, Kind.DATE}), None)
    last = f"{when.name} desc" if when else ""
    term = last if when and _scalar(when.name) == when.name else json.dumps(last)
    keep = f", keep: {{order_by: [{term}]}}" if when else ", keep: any"
    unit = f"unit: {{key: {_scalar(key.name) if key else 'person_id'}{keep}}}"
    which = f", of which {'the last' if when else 'any one'} is kept"
    if table.is_folder or table.view is not None:
        return f"{unit}   # the column that says whose row it is"
    if key is not None:  # its name says that a person may have many rows
        return f"{unit}   # whose row it is; a person may have many{which}\n  # {_ROWS}"
    return f"{_ROWS}\n  # {unit}   # if a person has many rows{which}"


def _budget(project: Project) -> str:
    if project.file is None or len(project.accounts) == 1:
        account = next(iter(project.accounts), "people")
        return f"budget: {_scalar(account):<18} # an account of policy-engine.yaml"
    named = ", ".join(project.accounts) or "none yet"
    default = "; default: the source" if project.accounts_open else ""
    return f"# budget: the account that pays, of policy-engine.yaml ({named}){default}"


def _table(source: str, project: Project) -> Table:
    """The source's columns: of a file, or of a table where no file has that name."""
    from policy_engine.warehouse.duckdb import DuckDBWarehouse

    path, named = Path(source), project.warehouse
    is_server = named.type != "duckdb" and not path.exists()
    if is_server and not source.lower().endswith(SOURCE_FILES):
        with closing(connected(named)) as server:
            return server.table(Source(None, source), project.directory)
    is_file = path.exists() or source.lower().endswith(SOURCE_FILES) or named.database is None
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
    from policy_engine.warehouse.csv_files import options_in
    from policy_engine.warehouse.files import check_file

    path = Path(os.path.abspath(path))  # noqa: PTH100 - "." has no name, and a link keeps its own
    try:
        if is_csv(path.name):
            check_file(path, path.name)
            _, names = options_in(path, path.name)
            return Table(tuple(Column(n, "VARCHAR") for n in names if n), path=path.name)
        return warehouse.table(Source(path.name, None), path.absolute().parent)
    except FileError as error:
        if path.exists() or path.name.lower().endswith(SOURCE_FILES):
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


def _csv_lines(path: Path) -> str:
    """How a CSV file is read, by its first line alone, and where types are named."""
    from policy_engine.warehouse.csv_files import options_in, shown

    options, _ = options_in(path, path.name)
    lines = [f"csv: {shown(options)}"] if options else []
    lines[:0] = _UNNAMED if "columns" in options else (_NAMED,)
    return "".join(f"\n  {line}" for line in (*lines, _MORE, _TYPES))


def _lines(table: Table) -> list[str]:
    """A commented suggestion a column: whoever writes the policy must choose each."""
    is_text = table.path is not None and is_csv(table.path)
    lines = [_CHOICES] if is_text else []
    for column in table.columns:
        remark, cuts = " ".join(column.type.split("(")[0].split())[:40], by_name(column.name)
        if is_text:  # what it may be cut to once its type is named
            remark = f"or as integer {cuts}" if cuts and suggestion(column) == "keep" else ""
        lines.append(_line(column, remark))
    return lines


def _line(column: Column, remark: str) -> str:
    if not column.name.isprintable() or not column.name.strip():
        return f"  # {json.dumps(column.name)} cannot be released under this name: rename it"
    recoding, name = suggestion(column), _scalar(column.name)
    told = f"{name}: {recoding}" if recoding else f"{name} {_LEAVE_OUT}"
    return f"  # {told}    # {remark}" if remark else f"  # {told}"

"""What a policy makes of one row that somebody types.

Of the source its first line or its catalog is looked at, and no row: the row that is typed is read
and recoded by the policy's own printed steps, in a database in memory that holds nothing else. So
it costs nothing, whoever asks and however often.
"""

from __future__ import annotations

import csv
import gzip
import io
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from policy_engine.compile.catalog import Table
from policy_engine.compile.claims import claim_of
from policy_engine.compile.compiler import find_unknown
from policy_engine.errors import FileError, PolicyError, UsageError
from policy_engine.kernel.claim import Claim
from policy_engine.kernel.filters import within
from policy_engine.kernel.fragments import read_as_typed
from policy_engine.kernel.printing import printed
from policy_engine.kernel.recodes.meanings import recode_meaning
from policy_engine.kernel.sources import Column, Files, Relation, Rows
from policy_engine.kernel.types import Type
from policy_engine.policy.csv_models import CsvSpec, default_delimiter, is_csv
from policy_engine.policy.mechanisms.whole_classes import EVERY_CLASS
from policy_engine.policy.project import Project
from policy_engine.policy.resolve import Policy
from policy_engine.releasing.naming import in_some_edition
from policy_engine.releasing.planning import open_warehouse, table_read, tables_read
from policy_engine.values import frozen
from policy_engine.warehouse.csv_files import names_in
from policy_engine.warehouse.duckdb import DuckDBWarehouse
from policy_engine.warehouse.quoting import quoted

_PLACE = ("temp", "main", "typed_row")
_TYPES = {
    "integer": "BIGINT", "wide_integer": "HUGEINT", "double": "DOUBLE", "boolean": "BOOLEAN",
    "date": "DATE", "time": "TIME", "timestamp": "TIMESTAMP", "timestamp_zoned": "TIMESTAMPTZ",
    "timestamp_other": "TIMESTAMP_NS", "uuid": "UUID",
}  # fmt: skip
_LAWS = {
    "integer": "a whole number is digits with a sign, and no other mark unless source.csv says it",
    "double": "a number has no other marks than source.csv says: decimal, thousands, units",
    "date": "a date is as 2026-03-31, or as dates of source.csv says",
    "timestamp": "a time is as 2026-03-31 12:30:00, or as dates of source.csv says",
    "boolean": "a truth value is true or false, or as true and false of source.csv say",
}
"""How a text is written that is a value of a type."""


@frozen
class Value:
    """A value of the row: as it was typed, and as it is ``read``, None where that is NULL.

    ``law`` says how a value is written that is none of its type; empty where it is read.
    """

    column: str
    typed: str
    read: str | None
    law: str = ""


@frozen
class Tried:
    """What becomes of a row: its values, and the group in which it counts.

    ``left_out`` says why it counts in none.
    """

    values: tuple[Value, ...]
    group: Mapping[str, str | None] | None
    left_out: str = ""


def tried(policy: Policy, project: Project, row: str) -> Tried:
    """What ``policy`` makes of a row: ``a;b;c`` as a line of a CSV file, or ``age=42,town=Ulm``.

    Raises:
        UsageError: it is no such row.
        FileError, WarehouseError, PolicyError: as of a release.
    """
    policy = in_some_edition(policy, project)
    path = str(policy.source.path or "")
    for word, is_there in (("join", policy.source.joins), ("compute", policy.source.computed)):
        if is_csv(path) and is_there:
            law = "a row of a CSV file is tried by itself, and the policy has columns beside it"
            remedy = f"try a copy of the policy without source.{word} and those columns"
            raise UsageError(f"{law}: {remedy}")
    if is_csv(path):
        return _of_csv(policy, policy.directory / path, path, row)
    with closing(open_warehouse(policy, project, writes=False)) as warehouse:
        table = warehouse.table(policy.source, policy.directory)
        tables_read(policy, table)
        found = _claim(policy, table, warehouse.dialect.name)
        claim = replace(found, joins=(), computed=())  # these are typed beside it
    typed = _pairs(row, [column.name for column in table.all_columns])
    with closing(DuckDBWarehouse()) as place:
        columns = _columns(claim)
        cast = ", ".join(f"TRY_CAST(? AS {_type(c.type)}) AS {quoted(c.name)}" for c in columns)
        place.session.execute(
            f"CREATE TEMP TABLE {quoted(_PLACE[-1])} AS SELECT {cast}",
            [typed.get(column.name) for column in columns],
        )
        return _answer(place, replace(claim, source=Relation(_PLACE)), typed)


def _claim(policy: Policy, table: Table, engine: str) -> Claim:
    """The claim of a policy whose names are columns of the table; PolicyError where one is none."""
    if unknown := find_unknown(policy, table):
        raise PolicyError(unknown)
    return claim_of(policy, table, engine)


def _of_csv(policy: Policy, path: Path, name: str, row: str) -> Tried:
    """Of a CSV file: the row alone, behind the file's own first line, by the reader of releases."""
    spec = policy.source.csv or CsvSpec()
    delimiter = spec.delimiter or default_delimiter(name)
    names = names_in(path, name, spec)
    named = [each for each in names if each is not None]
    line = row
    if _is_pairs(row, named):
        given = _pairs(row, named)
        line = _line([given.get(each or "", "") for each in names], delimiter, spec)
    with tempfile.TemporaryDirectory() as folder, closing(DuckDBWarehouse()) as place:
        copy = Path(folder) / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        head = [] if spec.header is False else [_line([n or "" for n in names], delimiter, spec)]
        lines = [*["-"] * spec.skip, *head, line, *["-"] * spec.skip_last]
        text = "".join(f"{each}\n" for each in lines).encode(spec.encoding)
        copy.write_bytes(gzip.compress(text) if copy.suffix == ".gz" else text)
        try:
            table: Table = place.table(replace(policy.source, csv=spec), Path(folder))
        except FileError:
            raise UsageError(
                f"--row is no line of {path}: it has {len(names)} fields, divided by"
                f" {delimiter!r}; or write --row '{policy.columns[0]}=…'"
            ) from None
        table_read(policy, table)
        claim = _claim(policy, table, place.dialect.name)
        fields = next(csv.reader([line], delimiter=delimiter, quotechar=spec.quote or None))
        typed = {n: f for n, f in zip(names, fields, strict=False) if n is not None}
        return _answer(place, claim, typed)


def _answer(place: DuckDBWarehouse, claim: Claim, typed: Mapping[str, str]) -> Tried:
    alone = replace(claim, unit=Rows(), law=EVERY_CLASS, count=_count(claim))
    columns = _columns(claim)
    texts = ", ".join(read_as_typed("duckdb", column) for column in columns)
    source = quoted(*_PLACE) if isinstance(claim.source, Relation) else _loaded(claim)
    [found] = place.ask(f"SELECT COLUMNS(*)::VARCHAR FROM (SELECT {texts} FROM {source})")
    is_text = isinstance(claim.source, Files)
    values = []
    for column, read in zip(columns, found, strict=True):
        given = typed.get(column.name, "")
        law = _LAWS.get(column.seen.kind, "") if read is None and given and is_text else ""
        values.append(Value(column.name, given, read, law))
    keys = {key.name for key in claim.unit.keys}
    nobodys = [each.column for each in values if each.column in keys and each.read is None]
    if nobodys:
        return Tried(tuple(values), None, f"{nobodys[0]} is NULL: who is nobody is in no group")
    groups = _groups(place, alone)
    if groups:
        names = [shown.name for shown in claim.columns]
        return Tried(tuple(values), dict(zip(names, groups[0], strict=False)))
    if not _groups(place, replace(alone, period=None)):
        of = [each for each in alone.filter if not _groups(place, replace(alone, filter=(each,)))]
        left_out = [each.column.name for each in of if each.column is not None]
        return Tried(tuple(values), None, f"the filter leaves it out, by {' and '.join(left_out)}")
    return Tried(tuple(values), None, _outside(place, alone, values))


def _outside(place: DuckDBWarehouse, alone: Claim, values: Sequence[Value]) -> str:
    """Why a row is not in the first period: which side of it the row is on, or that it has none."""
    period = alone.period
    assert period is not None and period.column is not None
    name = period.column.name
    if any(each.column == name and each.read is None for each in values):
        return f"its {name} is NULL, so it is in no period"
    since = within(period.column, recode_meaning(period.recode).members[0])
    if _groups(place, replace(alone, period=None, filter=(since,))):
        return f"its {name} is after the first period, so it counts in a later one"
    return f"its {name} is before the first period, so it counts in none"


def _groups(place: DuckDBWarehouse, claim: Claim) -> list[tuple[str | None, ...]]:
    text = printed(claim, "duckdb")
    return [tuple(row) for row in place.ask(f"SELECT COLUMNS(*)::VARCHAR FROM ({text})")]


def _columns(claim: Claim) -> list[Column]:
    """All that is read of a row, each column once."""
    keys = [key for key in claim.unit.keys if key.name not in {c.name for c in claim.read}]
    return [*keys, *claim.read]


def _count(claim: Claim) -> str:
    """A name for the count that no column has."""
    taken = {shown.name.casefold() for shown in claim.columns}
    names = ("n", *(f"n{number}" for number in range(len(taken) + 1)))
    return next(name for name in names if name not in taken)


def _loaded(claim: Claim) -> str:
    return quoted("temp", "main", str(claim.source.path))  # type: ignore[union-attr]


def _type(kind: Type) -> str:
    if kind.kind == "decimal":
        return f"DECIMAL({kind.digits}, {kind.scale})"
    return _TYPES.get(kind.kind, "VARCHAR")


def _line(fields: list[str], delimiter: str, spec: CsvSpec) -> str:
    """Fields as a line of the file.

    >>> _line(["a", "b;c"], ";", CsvSpec())
    'a;"b;c"'
    """
    made = io.StringIO()
    writer = csv.writer(
        made, delimiter=delimiter, quotechar=spec.quote or None, escapechar=spec.escape,
        quoting=csv.QUOTE_MINIMAL if spec.quote else csv.QUOTE_NONE, lineterminator="",
    )  # fmt: skip
    writer.writerow(fields)
    return made.getvalue()


def _is_pairs(row: str, names: list[str]) -> bool:
    return row.partition("=")[0].strip() in names and "=" in row


def _pairs(row: str, names: list[str]) -> dict[str, str]:
    """The values of ``age=42,town=Ulm``; what is behind a comma and has no = goes on with a value.

    >>> _pairs('age=42,"town=Ulm, a=b"', ["age", "town"]), _pairs("fee=12,50", ["fee"])
    ({'age': '42', 'town': 'Ulm, a=b'}, {'fee': '12,50'})
    """
    found: dict[str, str] = {}
    last = None
    for piece in next(csv.reader([row]), []):
        name, sign, value = piece.partition("=")
        if sign and name.strip() in names:
            last = name.strip()
            found[last] = value
        elif last is not None and not sign:  # a comma within a value, as in 12,50
            found[last] += f",{piece}"
        else:
            wrong = (
                f"{name.strip()!r} is no column of the source" if sign else f"{piece!r} has no ="
            )
            raise UsageError(
                f"--row must be as '{names[0]}=…', and {wrong}; its columns are {', '.join(names)}"
            )
    return found

"""The rows of a release, as they were certified: columns, groups of at least k, canonical order.

Of a release into a table the certificate has the digest of its rows: each as one line of JSON, an
array of the texts that the engine writes for the values, null for NULL, in the table's order. The
table as it stands, and a Parquet or CSV copy in the same order, have the same lines, whatever else
is in the file.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import groupby, repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any

from policy_engine.attest.certificates import added_edition
from policy_engine.attest.claimed_values import misfits, mistyped, untruncated
from policy_engine.attest.keys import explained
from policy_engine.attest.parquet_file import read_csv_texts, read_parquet
from policy_engine.attest.results import Results
from policy_engine.attest.values import comparable_values, each_once
from policy_engine.engines.installed import engine_named
from policy_engine.kernel.certificate import Certificate
from policy_engine.kernel.claim import Claim
from policy_engine.kernel.mechanisms.checks import rows_of
from policy_engine.kernel.mechanisms.rows import RowsChecked
from policy_engine.names import fold
from policy_engine.opening import opened
from policy_engine.values import frozen

if TYPE_CHECKING:
    import pyarrow as pa

_HOW = "export the table in {order}: {command}, and name that file with --release"
_POSTGRES = (
    "COPY ({rows} ORDER BY {order}) TO STDOUT (FORMAT csv, HEADER), which psql writes into"
    " release.csv"
)
_BY_TEXTS = "the order of each value's text, byte by byte"
BESIDE = (
    "whether {} holds anything beside those rows: there are many ways to export a table, so nothing"
    " to compare its bytes with; hand on the rows, not the file"
)
ORDER_OF_CSV = "the order of the rows: a CSV file has no types to sort by, and the digest fixes it"
Key = tuple[tuple[bool, Any], ...]
"""What a row shows, as it sorts."""
_PIECE = 1 << 16
_PLAIN = (
    "boolean", "integer", "decimal", "string", "large_string", "date32", "time32", "time64",
    "timestamp", "null",
)  # fmt: skip
_COUNT = re.compile(r"-?[0-9]{1,18}")
_Line = tuple[str | None, ...]


def check_rows(
    certificate: Certificate, table: pa.Table, same: Callable[[str], str] = str
) -> Results:
    """Columns, types, counts and order of a release's rows; names are compared as ``same`` says."""
    try:
        return _check_rows(certificate.claim, table, same)
    except UnicodeDecodeError:
        return Results.refused("the release holds text that is not UTF-8")


def _check_rows(claim: Claim, table: pa.Table, same: Callable[[str], str]) -> Results:
    own, width = rows_of(claim), len(claim.released)
    certified = _check_columns(claim, table.column_names, same)
    if certified.reasons:
        return certified
    keys = table.select(range(width))
    if wrong := _not_plain(keys) or _not_numbers(claim, table):
        return Results.refused(wrong)
    groups: Iterable[tuple[Key, int]]
    if own.is_set:
        groups = zip(_keys(keys), repeat(1), strict=False)
    elif claim.count is None:
        groups = ((key, sum(1 for _ in rows)) for key, rows in groupby(_keys(keys)))
    else:
        groups = zip(_keys(keys), _values(table.column(width)), strict=True)
    certified += _of(own.check_values(comparable_values(each_once(c)) for c in keys.columns))
    certified += _of(own.check_keys(_rows(keys)))
    certified += _check_values(claim, table)
    if certified.reasons:
        return certified
    return certified + _check_groups(groups, own.least, claim.law.k)


def _check_values(claim: Claim, table: pa.Table) -> Results:
    """That every value is one that the claim can give."""
    if wrong := mistyped(claim, table):
        return Results.refused(f"of another type than is certified: {', '.join(wrong)}")
    released = table.columns[: len(claim.released)]
    late = untruncated(claim, table)
    found = _check_plain(claim, [[*_values(each_once(column))] for column in released], late)
    if found.reasons:
        return found
    return found + _check_beside(claim, zip(*map(_values, table.columns), strict=True))


def _check_plain(claim: Claim, columns: list[list[Any]], late: tuple[str, ...] = ()) -> Results:
    """Labels, first characters and multiples; ``late`` are columns that are wrong by themselves."""
    if wrong := misfits(claim, columns) + late:
        return Results.refused(
            f"values that the certified claim cannot give stand in: {', '.join(wrong)}"
        )
    return Results.held("its values are those that the claim can give")


def _check_beside(claim: Claim, rows: Iterable[Sequence[Any]]) -> Results:
    """What the numbers of a row, and its grouping, can be."""
    wrong = rows_of(claim).wrong_row(rows)
    return Results.refused(wrong) if wrong else Results()


def _columns_of(claim: Claim) -> list[str]:
    """The names of the columns of a release, in their order."""
    return [*claim.released, *([claim.count] if claim.count else []), *claim.law.beside]


def _check_columns(claim: Claim, found: list[str], same: Callable[[str], str] = fold) -> Results:
    """The names of the columns; ASCII letters compare without case, as an engine's names do."""
    wanted = _columns_of(claim)
    if [*map(same, found)] != [*map(same, wanted)]:
        return Results.refused(
            f"the columns are {', '.join(found)}, certified are {', '.join(wanted)}"
        )
    return Results.held("it has the stated columns and no other")


def _not_plain(keys: pa.Table) -> str:
    """Why a type cannot be checked: two of its values may look like one, or hold others."""
    import pyarrow as pa

    kinds = keys.schema.types
    if any(pa.types.is_floating(kind) for kind in kinds):
        return (
            "a released column holds floating-point numbers, of which 0.0 and -0.0, and NaNs, are"
            " one group with several values"
        )
    tests = [getattr(pa.types, f"is_{name}") for name in _PLAIN]
    if not all(any(test(kind) for test in tests) for kind in kinds):
        return "a released column is not of a plain type"
    return ""


def _not_numbers(claim: Claim, table: pa.Table) -> str:
    """Why people cannot be counted, or what stands beside their counts is no sum and no mean."""
    import pyarrow as pa

    if claim.count is None:
        return ""
    column, *others = table.columns[len(claim.released) :]
    if not pa.types.is_integer(column.type) or column.null_count:
        return "the count column does not hold whole numbers"
    # Of nobody there is no mean and no quantile: whether it may be so is told row by row.
    may_be_empty = {each.name for each in claim.law.measures if each.is_mean}
    may_be_empty |= {each.name for each in claim.law.quantiles}
    for name, column in zip(claim.law.beside, others, strict=True):
        is_number = pa.types.is_integer(column.type) or pa.types.is_decimal(column.type)
        is_number = is_number or pa.types.is_null(column.type)
        if not is_number or (column.null_count and name not in may_be_empty):
            return f"the column {name} does not hold sums or means"
    return ""


def _keys(keys: pa.Table) -> Iterator[Key]:
    """What each row shows, as it sorts; a column at a time would be too large to hold."""
    return zip(*(map(_sort_key, _values(column)) for column in keys.columns), strict=True)


def _sort_key(value: Any) -> tuple[bool, Any]:
    """NULL last, text by its UTF-8 bytes, as the certified ORDER BY has it."""
    if isinstance(value, str):
        return (False, value.encode())
    return (value is None, 0 if value is None else value)


def _values(column: pa.ChunkedArray) -> Iterator[Any]:
    """The values of a column, dates and times as the numbers that they are.

    Python's know no year before 1.
    """
    import pyarrow as pa

    for start in range(0, len(column), _PIECE):
        piece = column.slice(start, _PIECE)
        if pa.types.is_date32(column.type) or pa.types.is_time32(column.type):
            piece = piece.cast(pa.int32())
        elif pa.types.is_timestamp(column.type) or pa.types.is_time64(column.type):
            piece = piece.cast(pa.int64())
        yield from piece.to_pylist()


def _rows(groups: pa.Table) -> Iterator[tuple[object, ...]]:
    """What each row shows, to be compared with keys of a claim."""
    return zip(*map(comparable_values, groups.columns), strict=True)


def _of(checked: RowsChecked) -> Results:
    if checked.wrong:
        return Results.refused(checked.wrong)
    return Results.held(checked.holds) if checked.holds else Results()


def _check_groups(groups: Iterable[tuple[Key, int]], least: int, k: int) -> Results:
    """Sizes, order and repeats, of groups as they come: each is behind the one before."""
    count = small = 0
    is_sorted, repeats, last = True, False, None
    for key, size in groups:
        count, small = count + 1, small + (size < least)
        is_sorted = is_sorted and (last is None or last <= key)
        repeats = repeats or last == key
        last = key
    if repeats:
        return Results.refused("a group stands in two rows")
    found = _sizes(count, small, least, k)
    if not is_sorted:
        return found + Results.refused("the rows are not sorted by the released columns")
    return found + Results.held("its rows are sorted by what they show")


def _sizes(count: int, small: int, least: int, k: int) -> Results:
    """Every group has at least k people; a release may have no group at all."""
    if small and least != k:
        return Results.refused(f"{small} of {count} groups are shown with less than {least}")
    if small:
        return Results.refused(f"{small} of {count} groups have fewer than k = {k}")
    if least == 1:
        return Results.held(f"it shows {count} groups")
    if least != k:
        return Results.held(f"every one of {count} groups is shown with {least} or more")
    return Results.held(f"every one of {count} groups has at least {k}")


def check_classes(claim: Claim, table: pa.Table) -> Results:
    """That every class has k people and more; nothing of a law without classes."""
    k, count, columns = claim.law.k, claim.count, rows_of(claim).classes
    if columns is None:
        return Results()
    total, how = (f"{count}_sum", (count, "sum")) if count else ("count_all", ([], "count_all"))
    sizes = table.group_by([*columns]).aggregate([how]).column(total).to_pylist()
    if any(size < k for size in sizes):
        return Results.refused(f"a class has {min(sizes)} people, and k is {k}")
    return Results.held(f"every class has at least {k} people")


# A release in a table


@frozen
class TableRows:
    """The rows of a table as they stand, in their order, each value as the engine writes it."""

    name: str
    columns: tuple[str, ...]
    lines: tuple[_Line, ...]


def check_table(certificate: Certificate, digest: str, subject: str, table: TableRows) -> Results:
    """The rows of a table, against the digest of the release and then as any release's rows."""
    if fold(table.name) != fold(subject):
        return Results.refused(f"the table is {table.name}, certified is {subject}")
    if digest_of_lines(table.lines) != digest:
        return Results.refused(
            f"{table.name} does not hold the certified rows: their digest is another"
        )
    claim = certificate.claim
    held = Results.held(f"{table.name} holds the certified rows, in their order")
    columns = _check_columns(claim, [*table.columns], str)
    return held + (columns if columns.reasons else columns + _groups(claim, table.lines))


def how_to_export(certificate: Certificate, table: str) -> str:
    """How somebody gets the rows of a table: of several editions, those of one.

    The text is one of the engine that has the table. Where that writes no Parquet file, a value is
    exported as its text, and by these the rows are sorted: so they were digested.
    """
    edition, engine = added_edition(certificate), engine_named(certificate.engine)
    assert engine is not None  # by the certificate's law
    if engine.name == "duckdb":
        of = f" WHERE edition = '{edition}'" if edition else ""
        others = "SELECT * EXCLUDE (edition) " if edition else ""
        command = f"COPY ({others}FROM {table}{of}) TO 'release.parquet'"
        return _HOW.format(order="its own order", command=command)
    where = f" WHERE {engine.identifier('edition')} = '{edition}'" if edition else ""
    names = [engine.identifier(name) for name in _columns_of(certificate.claim)]
    is_postgres = engine.name == "postgres"
    shown = [f'{name}::text COLLATE "C" AS {name}' if is_postgres else name for name in names]
    place = ".".join(map(engine.identifier, table.split(".")))
    rows = f"SELECT {', '.join(shown)} FROM {place}{where}"
    command = f"the rows of {rows}, as CSV in which an empty field without quotes is NULL"
    if is_postgres:
        order = ", ".join(str(at) for at in range(1, len(names) + 1))
        command = _POSTGRES.format(rows=rows, order=order)
    return _HOW.format(order=_BY_TEXTS, command=command)


def check_export(certificate: Certificate, digest: str, subject: str, release: Path) -> Results:
    """The exported rows of a table, by digest and as any release's; FileError if unreadable."""
    is_csv, how = release.suffix.lower() == ".csv", how_to_export(certificate, subject)
    with explained(f"{release} could not be read"):
        with opened(release) as file:
            is_parquet = file.read(4) == b"PAR1"
        found = _lines_of(release, is_csv=is_csv) if is_csv or is_parquet else None
    if found is None:
        name = release.name
        return Results.refused(f"{name} is no Parquet or CSV file with the rows of a table; {how}")
    names, lines = found
    if digest_of_lines(lines) != digest:
        return Results.refused(
            f"{release.name} does not hold the rows of {subject}: their digest is another; {how}"
        )
    held = Results.held(f"{release.name} holds the certified rows of {subject}, in their order")
    held += Results((), (), (BESIDE.format(release.name),))
    if not is_csv:
        return held + check_rows(certificate, read_parquet(release), fold)
    claim, left = certificate.claim, Results((), (), (ORDER_OF_CSV,))
    columns = _check_columns(claim, names)
    return held + (columns if columns.reasons else columns + left + _groups(claim, lines))


def digest_of_lines(lines: Iterable[_Line]) -> str:
    """SHA-256 of rows as lines of JSON, in hex.

    >>> digest_of_lines([("a", None)]) == hashlib.sha256(b'["a", null]\\n').hexdigest()
    True
    """
    digest = hashlib.sha256()
    for line in lines:
        digest.update(json.dumps(line, ensure_ascii=False).encode() + b"\n")
    return digest.hexdigest()


def _lines_of(path: Path, *, is_csv: bool) -> tuple[list[str], list[_Line]] | None:
    """The names and rows of a file, each value as the engine writes it; None of another kind.

    Of CSV a field without quotes and text is NULL.
    """
    import duckdb
    import pyarrow as pa

    try:
        if is_csv:
            table = read_csv_texts(path)
            columns = (column.to_pylist() for column in table.columns)
            return table.column_names, list(zip(*columns, strict=True))
        table = read_parquet(path)
        with duckdb.connect(config={"autoinstall_known_extensions": "false"}) as connection:
            connection.execute("SET TimeZone = 'UTC'")
            connection.register("exported", table)
            found = connection.execute("SELECT COLUMNS(*)::VARCHAR FROM exported")
            return table.column_names, found.fetchall()
    except (pa.ArrowException, duckdb.Error, UnicodeDecodeError):
        return None


def _groups(claim: Claim, lines: Collection[_Line]) -> Results:
    """Groups and counts of rows that are texts."""
    width, own = len(claim.released), rows_of(claim)
    left = _of(own.check_values(zip(*(line[:width] for line in lines), strict=True)))
    if claim.count is None:
        sizes = Counter(lines)
        twice = own.is_set and len(sizes) != len(lines)
        people = list(sizes.values())
    else:
        counts = [line[width] or "" for line in lines]
        if not all(_COUNT.fullmatch(count) for count in counts):
            return Results.refused("the count column does not hold whole numbers")
        twice = len({line[:width] for line in lines}) != len(lines)
        people = [*map(int, counts)]
    if twice:
        return Results.refused("a group stands in two rows")
    left += _check_plain(claim, [[*{line[at] for line in lines}] for at in range(width)])
    left += _check_beside(claim, lines)
    small = sum(size < own.least for size in people)
    return left + _sizes(len(people), small, own.least, claim.law.k)

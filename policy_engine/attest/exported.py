"""A release in a table, checked on its rows as they stand or on a copy that somebody exported.

The certificate of such a release has the digest of its rows: each as one line of JSON, an array of
the texts that the engine writes for the values, null for NULL, in the table's order. A Parquet or
CSV copy in the same order has the same lines, whatever else is in the file.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

from policy_engine.attest.facts import Facts
from policy_engine.attest.public_values import check_public, is_set
from policy_engine.attest.results import Results
from policy_engine.attest.rows import check_columns, check_rows, least_shown, sizes
from policy_engine.attest.tables import read_csv_texts, read_parquet
from policy_engine.errors import FileError
from policy_engine.syntax.names import fold

HOW = (
    "export the table in its own order: COPY (FROM {table}) TO 'release.parquet', and name that"
    " file with --release"
)
BESIDE = (
    "whether {} holds anything beside those rows: there are many ways to export a table, so nothing"
    " to compare its bytes with; hand on the rows, not the file"
)
ORDER_OF_CSV = "the order of the rows: a CSV file has no types to sort by, and the digest fixes it"

_COUNT = re.compile(r"-?[0-9]{1,18}")
_Line = tuple[str | None, ...]


@dataclass(frozen=True)
class TableRows:
    """The rows of a table as they stand, in their order, each value as the engine writes it."""

    name: str
    columns: tuple[str, ...]
    lines: tuple[_Line, ...]


def check_table(facts: Facts, digest: str, subject: str, table: TableRows) -> Results:
    """The rows of a table, against the digest of the release and then as any release's rows."""
    if fold(table.name) != fold(subject):
        return Results.refused(f"the table is {table.name}, certified is {subject}")
    if digest_of_lines(table.lines) != digest:
        return Results.refused(
            f"{table.name} does not hold the certified rows: their digest is another"
        )
    held = Results.held(f"{table.name} holds the certified rows, in their order")
    columns = check_columns(facts, [*table.columns], str)
    return held + columns + (Results() if columns.reasons else _groups(facts, [*table.lines]))


def check_export(facts: Facts, digest: str, subject: str, release: Path) -> Results:
    """The exported rows of a table release, against its digest and then as any release's rows.

    Raises:
        FileError: the file cannot be read.
    """
    is_csv = release.suffix.lower() == ".csv"
    try:
        with release.open("rb") as file:
            magic = file.read(4)
        if not is_csv and magic != b"PAR1":
            return Results.refused(_NO_EXPORT.format(release.name, HOW.format(table=subject)))
        names, lines = _of_csv(release) if is_csv else _of_parquet(release)
    except OSError as error:
        raise FileError(f"{release} could not be read: {error.strerror}") from None
    except _Unreadable:
        return Results.refused(_NO_EXPORT.format(release.name, HOW.format(table=subject)))
    if digest_of_lines(lines) != digest:
        return Results.refused(
            f"{release.name} does not hold the rows of {subject}: their digest is another;"
            f" {HOW.format(table=subject)}"
        )
    held = Results.held(f"{release.name} holds the certified rows of {subject}, in their order")
    held += Results((), (), (BESIDE.format(release.name),))
    if not is_csv:
        return held + check_rows(facts, read_parquet(release))
    left = Results((), (), (ORDER_OF_CSV,))
    columns = check_columns(facts, names)
    return held + columns + (Results() if columns.reasons else left + _groups(facts, lines))


_NO_EXPORT = "{} is no Parquet or CSV file with the rows of a table; {}"


class _Unreadable(Exception):
    """A file that is not of its kind."""


def digest_of_lines(lines: Iterable[_Line]) -> str:
    """SHA-256 of rows as lines of JSON, in hex.

    >>> digest_of_lines([("a", None)]) == hashlib.sha256(b'["a", null]\\n').hexdigest()
    True
    """
    digest = hashlib.sha256()
    for line in lines:
        digest.update(json.dumps(line, ensure_ascii=False).encode() + b"\n")
    return digest.hexdigest()


def _of_parquet(path: Path) -> tuple[list[str], list[_Line]]:
    """The names and rows of a Parquet file, each value as the engine writes it."""
    import duckdb
    import pyarrow as pa

    try:
        table = read_parquet(path)
        with duckdb.connect(config={"autoinstall_known_extensions": "false"}) as connection:
            connection.execute("SET TimeZone = 'UTC'")
            connection.register("exported", table)
            found = connection.execute("SELECT COLUMNS(*)::VARCHAR FROM exported")
            return table.column_names, found.fetchall()
    except (pa.ArrowException, duckdb.Error, UnicodeDecodeError):
        raise _Unreadable from None


def _of_csv(path: Path) -> tuple[list[str], list[_Line]]:
    """The names and rows of a CSV file; a field without quotes and text is NULL."""
    import pyarrow as pa

    try:
        table = read_csv_texts(path)
        return table.column_names, list(
            zip(*(column.to_pylist() for column in table.columns), strict=True)
        )
    except (pa.ArrowException, UnicodeDecodeError):
        raise _Unreadable from None


def _groups(facts: Facts, lines: list[_Line]) -> Results:
    """Groups and counts of rows that are texts."""
    shown = zip(*(line[: len(facts["columns"])] for line in lines), strict=True)
    left = check_public(facts, shown)
    if facts["form"] == "rows":
        if is_set(facts) and len(set(lines)) != len(lines):
            return Results.refused("a group stands in two rows")
        return left + _sizes(Counter(lines).values(), facts)
    place = len(facts["columns"])
    counts = [line[place] or "" for line in lines] if facts["count"] else []
    if not facts["count"] or not all(_COUNT.fullmatch(count) for count in counts):
        return Results.refused("the count column does not hold whole numbers")
    groups = [line[:place] for line in lines]
    if len(set(groups)) != len(groups):
        return Results.refused("a group stands in two rows")
    return left + _sizes([*map(int, counts)], facts)


def _sizes(found: Collection[int], facts: Facts) -> Results:
    least = least_shown(facts)
    return sizes(len(found), sum(size < least for size in found), least, facts["k"])

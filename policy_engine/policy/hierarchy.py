"""Hierarchies in CSV files: `value;level 1;level 2…`, UTF-8, no heading.

A hierarchy is public: it is written before the data is looked at. Every value has every level.
"""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Iterator
from pathlib import Path

from policy_engine.policy.reading import read_bytes
from policy_engine.values import frozen

MAX_BYTES = 16_000_000
MAX_PROBLEMS = 10


@frozen
class Hierarchy:
    """The rows of a file, each a value and its levels, and the digest of the file's bytes."""

    rows: tuple[tuple[str, ...], ...]
    digest: str

    @property
    def height(self) -> int:
        """How many levels there are above the values."""
        return len(self.rows[0]) - 1

    @property
    def has_root(self) -> bool:
        """Whether all values are alike at the last level."""
        return len({row[-1] for row in self.rows}) == 1

    def table(self, level: int) -> tuple[tuple[str, str], ...]:
        """Every value and what it is at ``level``, sorted by value.

        >>> Hierarchy((("b", "x", "*"), ("a", "y", "*")), "").table(1)
        (('a', 'y'), ('b', 'x'))
        """
        return tuple(sorted((row[0], row[level]) for row in self.rows))


class CsvError(Exception):
    """A file is no table of this kind: reasons, each with its line (0: the file as a whole)."""

    def __init__(self, *reasons: tuple[int, str]) -> None:
        super().__init__("; ".join(reason for _, reason in reasons))
        self.reasons = reasons


def read_hierarchy(path: Path) -> Hierarchy:
    """The hierarchy in a file, or ``CsvError`` with what is wrong in which line."""
    content, reason = read_bytes(path, MAX_BYTES + 1)
    if reason:
        raise CsvError((0, reason))
    return parse_hierarchy(content)


def parse_hierarchy(content: bytes) -> Hierarchy:
    r"""The hierarchy that the bytes of a file write, or ``CsvError``.

    >>> parse_hierarchy(b"Bachelors;higher;*\n9th;school;*\n").table(1)
    (('9th', 'school'), ('Bachelors', 'higher'))
    """
    numbered = rows_of(text_of(content), ";")
    reasons = list(_reasons(numbered))
    if (more := len(reasons) - MAX_PROBLEMS) > 0:
        reasons[MAX_PROBLEMS:] = [(0, f"has {more} more problems like these")]
    if reasons:
        raise CsvError(*reasons)
    rows = tuple(tuple(row) for _, row in numbered)
    return Hierarchy(rows, "sha256:" + hashlib.sha256(content).hexdigest())


def text_of(content: bytes) -> str:
    """The text that the bytes of a file write, or ``CsvError``."""
    if len(content) > MAX_BYTES:
        raise CsvError((0, f"must be at most {MAX_BYTES} bytes"))
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise CsvError((line, "is not UTF-8 text")) from None


def rows_of(text: str, delimiter: str) -> list[tuple[int, list[str]]]:
    """Every row that is not blank, with the line it starts in, or ``CsvError``."""
    if "\0" in text:
        raise CsvError((text[: text.index("\0")].count("\n") + 1, "holds the character NUL"))
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows, line = [], 1
    try:
        for row in reader:
            if row:
                rows.append((line, row))
            line = reader.line_num + 1
    except csv.Error as error:
        raise CsvError((line, f"is not CSV: {error}")) from None
    return rows


def _reasons(rows: list[tuple[int, list[str]]]) -> Iterator[tuple[int, str]]:
    if not rows:
        yield 0, "holds no rows"
        return
    first_line, first = rows[0]
    if len(first) < 2:
        yield first_line, "has one column: a row is value;level 1;…, separated by ;"
        return
    seen: dict[str, int] = {}
    for line, row in rows:
        if len(row) != len(first):
            yield line, f"has {len(row)} columns here but {len(first)} in line {first_line}"
        elif "" in row:
            yield line, f"has nothing in column {row.index('') + 1}"
        elif row[0] in seen:
            yield line, f"has the value of line {seen[row[0]]} again"
        seen.setdefault(row[0], line)

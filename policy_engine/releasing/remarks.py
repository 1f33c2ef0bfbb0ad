"""What a release itself shows that its author may not have meant: post-processing, and free."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

_SLICE = 1000
_MANY = 20
"""Per cent of the people shown: of so many without a value it is said, for nobody may mean it."""

_NOT_READ = (
    "if the source has values there, they were not read, or no group of them is large enough; see"
    " source.columns and source.csv"
)
_NULL = "{} is NULL in every row that is shown: {}"
_PARTLY = "{} % of the people shown have no value in {}: {}"
_ALIKE = "{} has the same value in every row that is shown, and tells no two groups apart"


@dataclass(frozen=True)
class _Seen:
    """Of a release: its people, those of them without a value by column, and columns all alike."""

    people: int
    without: tuple[int, ...]
    alike: frozenset[int]

    @classmethod
    def of(cls, width: int, lines: Iterable[tuple[Any, ...]], *, counted: bool) -> _Seen:
        people, without = 0, [0] * width
        alike, first = frozenset(range(width)), None
        for line in lines:
            first = line if first is None else first
            count = int(line[width]) if counted else 1
            people += count
            for place in range(width):
                if line[place] is None:
                    without[place] += count
            if alike:
                alike = frozenset(place for place in alike if line[place] == first[place])
        return cls(people, tuple(without), alike)


def remarks(
    columns: Sequence[str | None], lines: Iterable[tuple[Any, ...]], *, counted: bool
) -> tuple[str, ...]:
    """A sentence for every column that lacks many values, or has one value in several groups.

    ``columns`` name the fields of ``lines``, from the first on; None for one that is constant by
    the policy. ``counted``: the field behind them counts people; else each line is one person.

    >>> remarks(["age", "sex"], [(None, "f", 5), (None, "m", 7)], counted=True)[0].partition(":")[0]
    'age is NULL in every row that is shown'
    >>> remarks(["pay"], [("<30", 5), (None, 7)], counted=True)[0].partition(":")[0]
    '58 % of the people shown have no value in pay'
    >>> remarks(["age", "sex"], [("<30", "f"), ("<30", "m")], counted=False)[0].partition(",")[0]
    'age has the same value in every row that is shown'
    >>> remarks(["age"], [("<30", 5)], counted=True)
    ()
    """
    seen = _Seen.of(len(columns), lines, counted=counted)
    named = [place for place, column in enumerate(columns) if column is not None]
    some_differ = any(place not in seen.alike for place in named)
    told = []
    for place in named:
        if lacking := _lacking(columns[place] or "", seen.without[place], seen.people):
            told.append(lacking)
        elif place in seen.alike and some_differ:
            told.append(_ALIKE.format(columns[place]))
    return tuple(told)


def lacking(
    columns: Sequence[str], lines: Iterable[tuple[Any, ...]], *, counted: bool
) -> tuple[str, ...]:
    """Of `remarks` those about columns that lack values: they need nothing of the policy.

    >>> lacking(["age"], [("<30", 5), ("<30", 2)], counted=True)
    ()
    """
    seen = _Seen.of(len(columns), lines, counted=counted)
    told = (_lacking(*each, seen.people) for each in zip(columns, seen.without, strict=True))
    return tuple(filter(None, told))


def _lacking(column: str, without: int, people: int) -> str:
    """That many of the people shown have no value in a column; else empty."""
    if not people or without == people:
        return _NULL.format(column, _NOT_READ) if people else ""
    share = 100 * without // people
    return _PARTLY.format(share, column, _NOT_READ) if share >= _MANY else ""


def numbered(rows: pa.Table, count: str | None) -> Iterator[tuple[int | None, ...]]:
    """The rows of a table, a number for each value: Python cannot hold every value of an engine.

    The column ``count`` is as it is.

    >>> import pyarrow as pa
    >>> list(numbered(pa.table({"a": ["x", None, "x"], "n": [7, 5, 4]}), "n"))
    [(0, 7), (None, 5), (0, 4)]
    """
    columns = [
        column.combine_chunks() if name == count else _numbers(column)
        for name, column in zip(rows.column_names, rows.columns, strict=True)
    ]
    for start in range(0, rows.num_rows, _SLICE):
        yield from zip(*(each.slice(start, _SLICE).to_pylist() for each in columns), strict=True)


def _numbers(column: pa.ChunkedArray) -> pa.Array:
    return column.combine_chunks().dictionary_encode().indices

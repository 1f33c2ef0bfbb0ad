"""The rows of a release, as they were certified: columns, groups of at least k, canonical order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby, repeat
from typing import TYPE_CHECKING, Any

from policy_engine.attest.facts import Facts, law_of
from policy_engine.attest.public_values import check_listed, check_public, is_set
from policy_engine.attest.results import Results
from policy_engine.kernel.mechanisms import Noisy
from policy_engine.syntax.names import fold

if TYPE_CHECKING:
    import pyarrow as pa

Key = tuple[tuple[bool, Any], ...]
"""What a row shows, as it sorts."""
_PIECE = 1 << 16


def check_rows(facts: Facts, table: pa.Table, same: Callable[[str], str] = fold) -> Results:
    """Columns, types, counts and order of a release's rows; names are compared as ``same`` says."""
    try:
        return _check_rows(facts, table, same)
    except UnicodeDecodeError:
        return Results.refused("the release holds text that is not UTF-8")


def _check_rows(facts: Facts, table: pa.Table, same: Callable[[str], str]) -> Results:
    certified = check_columns(facts, table.column_names, same)
    if certified.reasons:
        return certified
    keys = table.select(range(len(facts["columns"])))
    if wrong := _not_plain(keys) or _not_counted(facts, table) or _not_summed(facts, table):
        return Results.refused(wrong)
    groups: Iterable[tuple[Key, int]]
    if is_set(facts):
        groups = zip(_keys(keys, table), repeat(1), strict=False)
    elif facts["form"] == "rows":
        groups = ((key, sum(1 for _ in rows)) for key, rows in groupby(_keys(keys, table)))
    else:
        groups = zip(_keys(keys, table), _values(table.column(len(facts["columns"]))), strict=True)
    certified += check_public(facts, (column.unique().to_pylist() for column in keys.columns))
    certified += check_listed(facts, keys)
    return certified + _check_groups(groups, least_shown(facts), facts["k"])


def check_columns(facts: Facts, found: list[str], same: Callable[[str], str] = fold) -> Results:
    """The names of the columns; ASCII letters compare without case, as an engine's names do."""
    wanted = [*facts["columns"], *([facts["count"]] if facts["count"] else []), *beside(facts)]
    if [*map(same, found)] != [*map(same, wanted)]:
        return Results.refused(
            f"the columns are {', '.join(found)}, certified are {', '.join(wanted)}"
        )
    return Results.held("it has the certified columns and no other")


def _not_plain(keys: pa.Table) -> str:
    """Why a type cannot be checked: two of its values may look like one, or hold others."""
    import pyarrow as pa

    kinds = keys.schema.types
    if any(pa.types.is_floating(kind) for kind in kinds):
        return (
            "a released column holds floating-point numbers, of which 0.0 and -0.0, and NaNs, are"
            " one group with several values"
        )
    plain = (
        "is_boolean is_integer is_decimal is_string is_large_string is_date32 is_time32 is_time64"
        " is_timestamp is_null"
    )
    tests = [getattr(pa.types, name) for name in plain.split()]
    if not all(any(test(kind) for test in tests) for kind in kinds):
        return "a released column is not of a plain type"
    return ""


def _not_counted(facts: Facts, table: pa.Table) -> str:
    """Why the people of a group cannot be counted."""
    import pyarrow as pa

    if facts["form"] == "rows":
        return ""
    if not facts["count"]:
        return "the release does not show its counts, so that k cannot be checked"
    counts = table.column(len(facts["columns"]))
    if not pa.types.is_integer(counts.type) or counts.null_count:
        return "the count column does not hold whole numbers"
    return ""


def _not_summed(facts: Facts, table: pa.Table) -> str:
    """Why what stands beside the counts can be no sum and no mean."""
    import pyarrow as pa

    for name, column in zip(beside(facts), table.columns[len(facts["columns"]) + 1 :], strict=True):
        is_number = pa.types.is_integer(column.type) or pa.types.is_decimal(column.type)
        if not is_number or column.null_count:
            return f"the column {name} does not hold sums or means"
    return ""


def _keys(keys: pa.Table, table: pa.Table) -> Iterator[Key]:
    """What each row shows, as it sorts; a column at a time would be too large to hold."""
    if not keys.num_columns:
        return repeat((), table.num_rows)
    return zip(*(map(_sort_key, _values(column)) for column in keys.columns), strict=True)


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


def beside(facts: Facts) -> tuple[str, ...]:
    """The names of what is released beside each count."""
    law = law_of(facts)
    return () if law is None else law.beside


def least_shown(facts: Facts) -> int:
    """The least number that a group is shown with: k of a sample, τ of a count with noise."""
    law = law_of(facts)
    if law is None:
        return int(facts["k"])
    return law.least_shown if isinstance(law, Noisy) else law.k


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
    found = sizes(count, small, least, k)
    if not is_sorted:
        return found + Results.refused("the rows are not sorted by the released columns")
    return found + Results.held("its rows are sorted by what they show")


def sizes(count: int, small: int, least: int, k: int) -> Results:
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


def _sort_key(value: Any) -> tuple[bool, Any]:
    """NULL last, text by its UTF-8 bytes, as the certified ORDER BY has it."""
    if isinstance(value, str):
        return (False, value.encode())
    return (value is None, 0 if value is None else value)

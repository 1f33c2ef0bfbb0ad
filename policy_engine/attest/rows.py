"""The rows of a release, as they were certified: columns, groups of at least k, canonical order."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from policy_engine.attest.facts import Facts
from policy_engine.attest.results import Results
from policy_engine.syntax.names import fold

if TYPE_CHECKING:
    import pyarrow as pa

Rows = list[tuple[Any, ...]]


def check_rows(facts: Facts, table: pa.Table) -> Results:
    """Columns, types, counts and order of a release's rows."""
    try:
        return _check_rows(facts, table)
    except UnicodeDecodeError:
        return Results.refused("the release holds text that is not UTF-8")


def _check_rows(facts: Facts, table: pa.Table) -> Results:
    certified = check_columns(facts, table.column_names)
    if certified.reasons:
        return certified
    keys = table.select(range(len(facts["columns"])))
    if wrong := _not_plain(keys):
        return Results.refused(wrong)
    columns = [_plain(column).to_pylist() for column in keys.columns]
    rows = list(zip(*columns, strict=True)) if columns else [()] * table.num_rows
    return certified + _check_counts(facts, rows, table) + _check_order(rows)


def check_columns(facts: Facts, found: list[str]) -> Results:
    """The names of the columns; ASCII letters compare without case, as the engine's names do."""
    wanted = [*facts["columns"], *([facts["count"]] if facts["count"] else [])]
    if [fold(name) for name in found] != wanted:
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


def _plain(column: Any) -> Any:
    """Dates and times as the numbers that they are: Python's know no year before 1."""
    import pyarrow as pa

    if pa.types.is_date32(column.type) or pa.types.is_time32(column.type):
        return column.cast(pa.int32())
    if pa.types.is_timestamp(column.type) or pa.types.is_time64(column.type):
        return column.cast(pa.int64())
    return column


def _check_counts(facts: Facts, rows: Rows, table: pa.Table) -> Results:
    import pyarrow as pa

    if facts["form"] == "rows":
        return group_sizes(Counter(rows), facts["k"])
    if not facts["count"]:
        return Results.refused("the release does not show its counts, so that k cannot be checked")
    counts = table.column(table.num_columns - 1)
    if not pa.types.is_integer(counts.type) or counts.null_count:
        return Results.refused("the count column does not hold whole numbers")
    if len(set(rows)) != len(rows):
        return Results.refused("a group stands in two rows")
    return group_sizes(Counter(dict(zip(rows, counts.to_pylist(), strict=True))), facts["k"])


def group_sizes(sizes: Counter[tuple[Any, ...]], k: int) -> Results:
    """Every group has at least k people; a release may have no group at all."""
    small = [size for size in sizes.values() if size < k]
    if small:
        return Results.refused(f"{len(small)} of {len(sizes)} groups have fewer than k = {k}")
    return Results.held(f"every one of {len(sizes)} groups has at least {k}")


def _check_order(rows: Rows) -> Results:
    keys = [tuple(_sort_key(value) for value in row) for row in rows]
    if any(a > b for a, b in pairwise(keys)):
        return Results.refused("the rows are not sorted by the released columns")
    return Results.held("its rows are sorted by what they show")


def _sort_key(value: Any) -> tuple[bool, Any]:
    """NULL last, text by its UTF-8 bytes, as the certified ORDER BY has it."""
    if isinstance(value, str):
        return (False, value.encode())
    return (value is None, 0 if value is None else value)

"""What one run lets out, as features: everything an attacker has, and nothing else.

The rows in their order, the counts, the columns with their types, and the bytes of the file that
would be published. A run that fails has let out that it failed.
"""

from __future__ import annotations

import io
import zlib
from collections.abc import Collection, Hashable, Sequence
from itertools import groupby
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from policy_engine.audit.events import Features, is_number

FAILED: Features = {"the run failed": 1}


def features(
    parts: Sequence[pa.Table], columns: Collection[str], count: str | None, *, file: bool
) -> Features:
    """The features of a run that released ``parts``, mostly one.

    ``columns`` are those that tell groups apart and ``count`` the one that counts; any other is a
    sum, or a column too many. ``file`` adds the bytes of the Parquet file.

    >>> features([pa.table({"sex": ["f"], "n": [7]})], ["sex"], "n", file=False)["count of f"]
    7
    """
    found: dict[str, Hashable] = {}
    for number, part in enumerate(parts, start=1):
        prefix = "" if len(parts) == 1 else f"release {number}: "
        one = _of_part(part, columns, count)
        if file:
            one |= _of_file(part)
        found |= {prefix + name: value for name, value in one.items()}
    if len(parts) > 1:
        first, *others = (int(found[f"release {i + 1}: total"]) for i in range(len(parts)))  # type: ignore[call-overload]  # a total is one
        for number, other in enumerate(others, start=2):
            found[f"total of release 1 − that of release {number}"] = first - other
    return found


def _of_part(part: pa.Table, columns: Collection[str], count: str | None) -> dict[str, Hashable]:
    names = list(part.column_names)
    rows = list(zip(*(_values(column) for column in part.columns), strict=True))
    keys = [i for i, name in enumerate(names) if name in columns and name != count]
    cells = [tuple(row[i] for i in keys) for row in rows]
    at = names.index(count) if count in names else None
    found: dict[str, Hashable] = {
        "columns": tuple(f"{field.name} {field.type}" for field in part.schema),
        "rows": len(rows),
        "total": len(rows) if at is None else sum(row[at] or 0 for row in rows),
    }
    for cell, row in zip(cells, rows, strict=True):
        name = f"count of {_shown(cell)}"
        found[name] = int(found.get(name, 0)) + (1 if at is None else row[at] or 0)  # type: ignore[call-overload]  # a count is one
    found |= _order([cell for cell, _ in groupby(cells)])
    for i, name in enumerate(names):
        if i not in keys and i != at:
            found |= _extra(name, [row[i] for row in rows], cells, int(str(found["total"])))
    return found


def _order(cells: list[tuple[Any, ...]]) -> dict[str, Hashable]:
    """The order of the groups: of all of them, and which are at the ends."""
    by_value = sorted(range(len(cells)), key=lambda i: repr(cells[i]))
    ends = {"first row": cells[0], "last row": cells[-1]} if cells else {}
    shown = {name: _shown(cell) for name, cell in ends.items()}
    return {"order": tuple(by_value), **shown}


def _extra(
    name: str, values: list[Any], cells: list[tuple[Any, ...]], total: int
) -> dict[str, Hashable]:
    """A column that tells no groups apart, as sums do: its extremes, and its value in every group.

    A number is also compared with the total: a count of all that was sampled shows little by
    itself, and less the total it shows who was suppressed.
    """
    known = [value for value in values if value is not None]
    found: dict[str, Hashable] = {f"{name} is anywhere": int(bool(known))}
    if known:
        found |= {f"greatest {name}": max(known), f"least {name}": min(known)}
        if is_number(known[0]):
            found[f"greatest {name} − total"] = max(known) - total
    for cell, value in zip(cells, values, strict=True):
        found[f"{name} of {_shown(cell)}"] = value
    return found


def _of_file(part: pa.Table) -> dict[str, Hashable]:
    """The size and a checksum of the file, which has whatever the engine's columns carry."""
    written = io.BytesIO()
    pq.write_table(part, written)
    content = written.getvalue()
    return {"file size": len(content), "file checksum": f"{zlib.crc32(content):08x}"}


def _values(column: pa.ChunkedArray) -> list[Any]:
    """The values; moments as numbers, for the engine has years that Python does not."""
    if pa.types.is_temporal(column.type):
        wide = column.type.bit_width == 64
        column = column.cast(pa.int64() if wide else pa.int32())
    found: list[Any] = column.to_pylist()
    return found


def _shown(cell: tuple[Any, ...]) -> str:
    text = ", ".join("NULL" if value is None else str(value) or "''" for value in cell)
    return text if len(text) <= 80 else f"{text[:80]}… ({zlib.crc32(text.encode()):08x})"

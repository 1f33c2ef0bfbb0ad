"""Print the first rows of a Parquet file: ``first_rows.py FILE [COUNT]``."""

from __future__ import annotations

import sys

import pyarrow.parquet as pq


def main(path: str, count: str = "8") -> None:
    """Print a plain table, and how many rows follow."""
    table = pq.read_table(path)
    shown = table.slice(0, int(count)).to_pylist()
    names = table.column_names
    rows = [names, *([_text(row[name]) for name in names] for row in shown)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(names))]
    for row in rows:
        print(
            "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
        )
    if table.num_rows > len(shown):
        print(f"… and {table.num_rows - len(shown)} more")


def _text(value: object) -> str:
    return "NULL" if value is None else str(value)


if __name__ == "__main__":
    main(*sys.argv[1:])

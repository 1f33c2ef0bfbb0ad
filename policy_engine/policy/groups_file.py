"""Public keys in a CSV file: a heading with the released columns, and a row for each key.

The list is public: it is written before the data is looked at. A field with nothing in it is a
missing value.
"""

from __future__ import annotations

from pathlib import Path

from policy_engine.policy.hierarchy import MAX_BYTES, CsvError, rows_of, text_of
from policy_engine.policy.model_specs import Keys
from policy_engine.policy.reading import read_bytes

_MOST_REASONS = 10


def read_groups(path: Path) -> Keys:
    """The keys in a file, or ``CsvError`` with what is wrong in which line."""
    content, reason = read_bytes(path, MAX_BYTES + 1)
    if reason:
        raise CsvError((0, reason))
    return parse_groups(content)


def parse_groups(content: bytes) -> Keys:
    r"""The keys that the bytes of a file write, their columns by name, or ``CsvError``.

    Fields are separated by commas, or by semicolons where the heading is.

    >>> parse_groups(b"sex,age\nF,young\nM,\n")
    ((('age', 'sex'), (('young', 'F'), (None, 'M'))),)
    """
    text = text_of(content)
    heading = text.split("\n", 1)[0]
    lines = rows_of(text, ";" if ";" in heading and "," not in heading else ",")
    if len(lines) < 2:
        raise CsvError((0, "needs a heading with the columns, and a row for each group"))
    (at, columns), *rows = lines
    if "" in columns or len({*columns}) < len(columns):
        raise CsvError((at, "must name each column in its heading, once"))
    reasons: list[tuple[int, str]] = []
    seen: dict[tuple[str, ...], int] = {}
    for line, row in rows:
        if len(row) != len(columns):
            reasons.append((line, f"has {len(row)} columns here but {len(columns)} in its heading"))
        elif (first := seen.setdefault(tuple(row), line)) != line:
            reasons.append((line, f"has the group of line {first} again"))
    if reasons:
        raise CsvError(*reasons[:_MOST_REASONS])
    order = sorted(range(len(columns)), key=columns.__getitem__)
    keys = tuple(tuple(row[place] or None for place in order) for _, row in rows)
    return ((tuple(columns[place] for place in order), keys),)

"""Values and names of a claim in words: one that is not plain stands in quotes.

So no text of a policy's author forges a word of ours.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from datetime import date, datetime
from decimal import Decimal

from policy_engine.kernel.sources import Column, TimeBetween
from policy_engine.kernel.types import Type, digits_of

_PLAIN = re.compile(r"[^\W\d]\w*")
MOST_KEYS, MOST_LABELS = 12, 60
"""So many keys of a label, and labels of a map, are written out; the first are of fewest keys."""


def quoted(text: str) -> str:
    """A text that stands in a line of ours: where it begins and ends is seen.

    >>> quoted('a" or "b')
    '"a\\\\" or \\\\"b"'
    """
    return json.dumps(text, ensure_ascii=False)


def named(name: str) -> str:
    """A name: as it is where it is one plain word, else in quotes.

    >>> named("age"), named("age of, all")
    ('age', '"age of, all"')
    """
    return name if _PLAIN.fullmatch(name) else quoted(name)


def value_words(value: object) -> str:
    """A value of a claim; a text in quotes."""
    match value:
        case None:
            return "empty"
        case bool():
            return "true" if value else "false"
        case int() | Decimal():
            return digits_of(value)
        case datetime():
            return value.isoformat(" ")
        case date():
            return value.isoformat()
        case tuple():  # of a row
            return f"({', '.join(map(value_words, value))})"
    return quoted(str(value))


def plain_words(value: object) -> str:
    """A value in a list of values: a number by its digits, any other by its text.

    >>> plain_words(Decimal("1.50")), plain_words("x")
    ('1.5', 'x')
    """
    return digits_of(value) if isinstance(value, int | Decimal) else str(value)


def column_text(column: Column) -> str:
    """A column of a source: its name, its type, and as what it is read."""
    read = "" if column.read_as is None else f", read as {column.read_as}"
    return f"{named(column.name)} ({_type(column.type)}{read})"


def _type(kind: Type) -> str:
    digits = f"({kind.digits}, {kind.scale})" if kind.kind == "decimal" else ""
    return f"{kind.kind.replace('_', ' ')}{digits}{', collated' * kind.collated}"


def some_words(values: Iterable[object], most: int) -> str:
    """The first so many values, and how many more there are."""
    every = [value_words(value) for value in values]
    rest = f" and {len(every) - most:,} more" if len(every) > most else ""
    return ", ".join(every[:most]) + rest


def span_words(span: TimeBetween) -> str:
    """What is computed of each row.

    >>> from policy_engine.kernel.sources import Column
    >>> from policy_engine.kernel.types import Type
    >>> born, seen = (Column(name, Type("date")) for name in ("born", "seen"))
    >>> print(span_words(TimeBetween("age", born, seen, "year")))
    age of each row: the whole years from born (date) to seen (date), if that is not earlier
    """
    since, until = column_text(span.since), column_text(span.until)
    return (
        f"{named(span.name)} of each row: the whole {span.unit}s from {since} to {until}, if that"
        " is not earlier"
    )

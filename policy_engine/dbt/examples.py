"""Values that show what a recoding does, each with what the policy says that it becomes.

They are chosen so that engines agree on them: at both sides of every cut, but at no number that a
floating-point type cannot hold, and never half-way between two steps.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import MAX_PREC, Context, Decimal
from itertools import islice, pairwise

from policy_engine.audit.people import extremes, labels
from policy_engine.compile.catalog import NUMBERS, TIMES, Field, Kind
from policy_engine.compile.reading import ReadColumn
from policy_engine.kernel.types import places_of
from policy_engine.policy.recodings import (
    Cut,
    Intervals,
    Keep,
    Lookup,
    Prefix,
    Recoding,
    Round,
    Truncate,
    TruncateUnit,
)

MOST = 24
"""So many values of one column are shown at most; of a long map, the first of every label."""
_UNREADABLE = {"BIGINT": "many", "DOUBLE": "many", "BOOLEAN": "perhaps", "DATE": "some day",
               "TIMESTAMP": "some day"}  # fmt: skip
_EXACT = Context(prec=MAX_PREC)
_MOMENTS = (datetime(2024, 2, 29, 13, 30), datetime(2023, 12, 31, 23, 59, 59))
_STARTS: Mapping[TruncateUnit, tuple[datetime, datetime]] = {
    "year": (datetime(2024, 1, 1), datetime(2023, 1, 1)),
    "quarter": (datetime(2024, 1, 1), datetime(2023, 10, 1)),
    "month": (datetime(2024, 2, 1), datetime(2023, 12, 1)),
    "week": (datetime(2024, 2, 26), datetime(2023, 12, 25)),
    "day": (datetime(2024, 2, 29), datetime(2023, 12, 31)),
    "hour": (datetime(2024, 2, 29, 13), datetime(2023, 12, 31, 23)),
}
"""Where the units begin that the two moments lie in."""


@dataclass(frozen=True)
class Example:
    """A value of the source as text, and what is released for it; None is NULL."""

    raw: str | None
    released: str | None


def examples(recoding: Recoding, read: ReadColumn) -> tuple[Example, ...]:
    """Examples of a recoding of a column, the ordinary ones first and NULL last.

    >>> column = ReadColumn(Field("age", "INTEGER"), None)
    >>> bins = Intervals((Decimal(18),), ("minor", "adult"))
    >>> [(each.raw, each.released) for each in examples(bins, column)]
    [('17', 'minor'), ('18', 'adult'), (None, None)]
    """
    column, pairs = read.column, list[tuple[str, str | None]]()
    match recoding:
        case Intervals(cuts, labels):
            pairs = _bins(cuts, labels, column)
        case Lookup(table, other):
            pairs = _lookup(table, other, column)
        case Prefix(length):
            pairs = [(value, value[:length]) for value in _words(length, column)]
        case Round(step):
            pairs = _round(step, column)
        case Truncate(unit):
            for moment, start in zip(_MOMENTS, _STARTS[unit], strict=True):
                pairs.append((_moment(moment, column), _moment(start, column, zone="")))
        case Keep():
            pairs = [(value, value.removesuffix("+00")) for value in ordinary(column)]
    fitting = (pair for pair in dict.fromkeys(pairs) if _fits(pair[0], column))
    found = [Example(*pair) for pair in fitting][: MOST - 2]
    unread = _UNREADABLE.get(read.declared or "")
    if unread is not None and read.source.kind in {Kind.TEXT, Kind.LABEL}:
        found.append(Example(unread, None))
    return (*found, Example(None, None))


def _bins(
    cuts: tuple[Cut, ...], labels: tuple[str, ...], column: Field
) -> list[tuple[str, str | None]]:
    """The last value before every cut, and the cut itself."""
    found: list[tuple[str, str | None]] = []
    for index, cut in enumerate(cuts):
        if isinstance(cut, Decimal):
            gap = _gap(cuts, index)
            least = cut if _is_exact(cut, column) else cut + gap
            ends = _number(cut - gap), _number(least)
        else:
            step = timedelta(days=1) if column.kind is Kind.DATE else timedelta(seconds=1)
            day = datetime(cut.year, cut.month, cut.day)
            start = cut if isinstance(cut, datetime) else day
            ends = _moment(start - step, column), _moment(start, column)
        found += zip(ends, labels[index : index + 2], strict=True)
    return found


def _gap(cuts: tuple[Cut, ...], index: int) -> Decimal:
    """A step to a number that is surely on this side of the next cut, a whole one if that fits."""
    numbers = [cut for cut in cuts if isinstance(cut, Decimal)]
    near = [abs(high - low) for low, high in pairwise(numbers[max(index - 1, 0) : index + 2])]
    least = min(near, default=Decimal(2))
    are_whole = least >= 1 and all(n == n.to_integral_value() for n in numbers)
    return Decimal(1) if are_whole else least / 4


def _is_exact(cut: Decimal, column: Field) -> bool:
    """Whether the column can hold the cut itself, in every engine."""
    if column.type.upper() != "FLOAT":
        return True
    try:
        return Decimal(struct.unpack("f", struct.pack("f", float(cut)))[0]) == cut
    except OverflowError:
        return False


def _number(value: Decimal) -> str:
    return f"{value.normalize():f}" if value else "0"


def _moment(moment: datetime, column: Field, zone: str | None = None) -> str:
    if column.kind is Kind.DATE:
        return str(moment.date())
    return moment.isoformat(" ") + (_zone(column) if zone is None else zone)


def _zone(column: Field) -> str:
    return "+00" if column.kind is Kind.TIMESTAMP_ZONED else ""


def _lookup(
    table: tuple[tuple[str, str | None], ...], other: str | None, column: Field
) -> list[tuple[str, str | None]]:
    """Every entry; of many, the first of each label before the others; and a value of none."""
    first = {label: (key, label) for key, label in reversed(table)}
    entries = dict.fromkeys((*(first[label] for _, label in table), *table))
    found = [entry for entry in entries if _is_a_value(entry[0], column)][: MOST - 3]
    strangers = ordinary(column)
    if column.kind is Kind.TEXT:
        strangers = ["somewhere else", "something else", "none of these"]
    elif column.kind in {Kind.INTEGER, Kind.WIDE_INTEGER}:
        strangers = [str(number) for number in range(1, 120)]
    unknown = (value for value in strangers if value not in dict(table))
    return [*found, *((value, other) for value in islice(unknown, 1))]


def _is_a_value(key: str, column: Field) -> bool:
    """Whether a column can hold the value that a key of a map is the text of."""
    try:
        match column.kind:
            case Kind.INTEGER | Kind.WIDE_INTEGER:
                return str(int(key)) == key
            case Kind.TEXT:
                return True
            case Kind.BOOLEAN:
                return key in {"true", "false"}
            case Kind.DATE:
                return str(date.fromisoformat(key)) == key
            case kind:
                return kind is Kind.LABEL and key in labels(column.type)
    except ValueError:
        return False


def _words(length: int, column: Field) -> list[str]:
    """Texts that are longer than a prefix, and one that is as long."""
    if column.kind is Kind.LABEL:
        return list(labels(column.type))
    digits = "1234567890" * (min(length, 40) // 10 + 1)
    values = [f"{start}{digits}"[: length + 2] for start in "AB"] if length <= 40 else ["AB"]
    return [*values, "A"[:length]]


def _round(step: Decimal, column: Field) -> list[tuple[str, str | None]]:
    found: list[tuple[str, str | None]] = []
    for times, part in ((2, "-0.4"), (2, "0.4"), (3, "-0.4"), (0, "0.4"), (-1, "0.2")):
        value = step * times + step * Decimal(part)
        if column.kind is Kind.INTEGER:
            value = value.to_integral_value()
        nearest = (value / step).to_integral_value() * step
        is_clear = abs(value - nearest) < step * Decimal("0.45")
        if is_clear and (value >= 0 or not column.type.upper().startswith("U")):
            shown = f"{nearest or abs(nearest):.{places_of(step)}f}"  # and not -0
            found.append((_number(value), shown))
    return found


def ordinary(column: Field) -> list[str]:
    """A few values of a type, as texts that engines read alike and write as they stand here."""
    kind = column.kind
    if kind is Kind.DECIMAL:
        places = _places(column)
        return [f"{Decimal(number).scaleb(-places):.{places}f}" for number in (1, 2, 3)]
    if kind in NUMBERS:
        return ["1", "2", "3"]
    if kind in TIMES:
        return [f"{day} 12:30:00{_zone(column)}" for day in ("2023-12-31", "2024-02-29")]
    by_kind = {
        Kind.TEXT: ["a", "b c", "d"],
        Kind.LABEL: [*labels(column.type)[:3]],
        Kind.BOOLEAN: ["true", "false"],
        Kind.DATE: ["2023-12-31", "2024-02-29"],
        Kind.TIME: ["00:00:00", "12:30:00"],
        Kind.UUID: [f"00000000-0000-4000-8000-00000000000{last}" for last in "12"],
    }
    return by_kind.get(kind, [])


def _places(column: Field) -> int:
    inside = column.type.partition("(")[2].rstrip(") ")
    _, _, places = inside.partition(",")
    return int(places) if places.strip().isdecimal() else (0 if inside else 3)


def behind(value: str | None, column: Field, *, descending: bool) -> str | None:
    """A value that comes behind another in order: the next of its type, else NULL, the last."""
    step = -1 if descending else 1
    try:
        match column.kind if value is not None else None:
            case Kind.DATE:
                return str(date.fromisoformat(str(value)) + timedelta(days=step))
            case Kind.TIMESTAMP | Kind.TIMESTAMP_OTHER:
                moved = datetime.fromisoformat(str(value)) + timedelta(days=step)
                return moved.isoformat(" ")
            case Kind.INTEGER if int(str(value)) > 0:
                return str(int(str(value)) + step)
            case Kind.TEXT:
                return str(value)[:-1] if descending else f"{value}a"
    except (ValueError, OverflowError):
        pass
    return None


def _fits(raw: str, column: Field) -> bool:
    """Whether a column can hold the value as it is written, and people can read it."""
    if column.kind not in {Kind.INTEGER, Kind.WIDE_INTEGER, Kind.DECIMAL}:
        return raw.isprintable()
    low, high = extremes(column)
    value = Decimal(raw)
    places = _places(column) if column.kind is Kind.DECIMAL else 0
    exact = value == value.quantize(Decimal(1).scaleb(-places), context=_EXACT)
    return exact and (low is None or high is None or Decimal(low) <= value <= Decimal(high))

"""Values that show what a recoding does, each with what the policy says that it becomes.

They are chosen so that engines agree on them: at both sides of every cut, but at no number that a
floating-point type cannot hold, and never half-way between two steps.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import MAX_PREC, Context, Decimal
from itertools import pairwise

from policy_engine.audit.values import extremes, labels
from policy_engine.compile.catalog import NUMBERS, TIMES, Column, Kind
from policy_engine.compile.reading import ReadColumn
from policy_engine.kernel.types import places_of
from policy_engine.policy.recodings import (
    Bins,
    Constant,
    Cut,
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
_UNREADABLE = {"integer": "many", "double": "many", "boolean": "perhaps", "date": "some day",
               "timestamp": "some day"}  # fmt: skip
_DECLARED = {"BIGINT": "integer", "DOUBLE": "double", "BOOLEAN": "boolean", "DATE": "date",
             "TIMESTAMP": "timestamp"}  # fmt: skip

_EXACT = Context(prec=MAX_PREC)


@dataclass(frozen=True)
class Example:
    """A value of the source as text, and what is released for it; None is NULL."""

    raw: str | None
    released: str | None


def examples(recoding: Recoding, read: ReadColumn) -> tuple[Example, ...]:
    """Examples of a recoding of a column, the ordinary ones first and NULL last.

    >>> column = ReadColumn(Column("age", "INTEGER"), None)
    >>> [(e.raw, e.released) for e in examples(Bins((Decimal(18),), ("minor", "adult")), column)]
    [('17', 'minor'), ('18', 'adult'), (None, None)]
    """
    column = read.column
    match recoding:
        case Bins(cuts, labels):
            found = _bins(cuts, labels, column)
        case Lookup(table, other):
            found = _lookup(table, other, column)
        case Prefix(length):
            found = _prefix(length, column)
        case Round(step):
            found = _round(step, column)
        case Truncate(unit):
            found = _truncate(unit, column)
        case Keep():
            found = [Example(value, value.removesuffix("+00")) for value in ordinary(column)]
        case Constant(value):
            found = [Example(None, value)]
    found = [example for example in found if _fits(example, column)][: MOST - 2]
    unread = _UNREADABLE.get(_DECLARED.get(read.declared or "", ""))
    if unread is not None and read.source.kind in {Kind.TEXT, Kind.LABEL}:
        found.append(Example(unread, None))
    return (*found, Example(None, recoding.label if isinstance(recoding, Constant) else None))


def _bins(cuts: tuple[Cut, ...], labels: tuple[str, ...], column: Column) -> list[Example]:
    values: list[tuple[str, str]] = []
    for index, cut in enumerate(cuts):
        gap = _gap(cuts, index)
        if not isinstance(cut, Decimal):
            values += [
                (_before(cut, column), labels[index]),
                (_moment(cut, column), labels[index + 1]),
            ]
        elif _is_exact(cut, column):
            values += [(_number(cut - gap), labels[index]), (_number(cut), labels[index + 1])]
        else:
            values += [(_number(cut - gap), labels[index]), (_number(cut + gap), labels[index + 1])]
    return [Example(raw, label) for raw, label in dict.fromkeys(values)]


def _before(cut: date, column: Column) -> str:
    """The last day, or the last second, before a cut."""
    if column.kind is Kind.DATE:
        return _moment(cut - timedelta(days=1), column)
    return _moment(_in_full(cut) - timedelta(seconds=1), column)


def _in_full(day: date) -> datetime:
    """A moment; of a day, when it starts."""
    return day if isinstance(day, datetime) else datetime(day.year, day.month, day.day)


def _gap(cuts: tuple[Cut, ...], index: int) -> Decimal:
    """A step to a number that is surely on this side of the next cut, a whole one if that fits."""
    numbers = [cut for cut in cuts if isinstance(cut, Decimal)]
    near = [abs(high - low) for low, high in pairwise(numbers[max(index - 1, 0) : index + 2])]
    least = min(near, default=Decimal(2))
    return (
        Decimal(1) if least >= 1 and all(n == n.to_integral_value() for n in numbers) else least / 4
    )


def _is_exact(cut: Decimal, column: Column) -> bool:
    """Whether the column can hold the cut itself, in every engine."""
    if column.type.upper() != "FLOAT":
        return True
    try:
        return Decimal(struct.unpack("f", struct.pack("f", float(cut)))[0]) == cut
    except OverflowError:
        return False


def _number(value: Decimal) -> str:
    return f"{value.normalize():f}" if value else "0"


def _moment(value: date, column: Column) -> str:
    if column.kind is Kind.DATE:
        return str(value)[:10]
    return _in_full(value).isoformat(" ") + _zone(column)


def _zone(column: Column) -> str:
    return "+00" if column.kind is Kind.TIMESTAMP_ZONED else ""


def _lookup(
    table: tuple[tuple[str, str | None], ...], other: str | None, column: Column
) -> list[Example]:
    """Every entry; of many, the first of each label before the others; and a value of none."""
    first = {label: (key, label) for key, label in reversed(table)}
    entries = dict.fromkeys((*(first[label] for _, label in table), *table))
    known = dict(table)
    found = [Example(key, label) for key, label in entries if _is_a_value(key, column)]
    shown = found[: MOST - 3]
    unknown = next((value for value in _strangers(column) if value not in known), None)
    return shown if unknown is None else [*shown, Example(unknown, other)]


def _is_a_value(key: str, column: Column) -> bool:
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
    except ValueError:
        return False
    return column.kind is Kind.LABEL and key in _labels(column)


def _strangers(column: Column) -> list[str]:
    """Values that a map may not have."""
    if column.kind is Kind.TEXT:
        return ["somewhere else", "something else", "none of these"]
    if column.kind in {Kind.INTEGER, Kind.WIDE_INTEGER}:
        return [str(number) for number in range(1, 120)]
    return ordinary(column)


def _prefix(length: int, column: Column) -> list[Example]:
    if column.kind is Kind.LABEL:
        return [Example(value, value[:length]) for value in _labels(column)]
    digits = "1234567890" * (min(length, 40) // 10 + 1)
    values = [f"{start}{digits}"[: length + 2] for start in "AB"] if length <= 40 else ["AB"]
    values.append("A"[:length])
    return [Example(value, value[:length]) for value in dict.fromkeys(values)]


def _round(step: Decimal, column: Column) -> list[Example]:
    places = places_of(step)
    whole = column.kind is Kind.INTEGER
    found = []
    for times, part in ((2, "-0.4"), (2, "0.4"), (3, "-0.4"), (0, "0.4"), (-1, "0.2")):
        value = step * times + step * Decimal(part)
        value = value.to_integral_value() if whole else value
        nearest = (value / step).to_integral_value() * step
        is_clear = abs(value - nearest) < step * Decimal("0.45")
        if is_clear and (value >= 0 or not column.type.upper().startswith("U")):
            found.append(Example(_number(value), f"{nearest:.{places}f}".replace("-0", "0")
                                 if not nearest else f"{nearest:.{places}f}"))  # fmt: skip
    return list(dict.fromkeys(found))


def _truncate(unit: TruncateUnit, column: Column) -> list[Example]:
    found = []
    for moment in (datetime(2024, 2, 29, 13, 30), datetime(2023, 12, 31, 23, 59, 59)):
        start = _start(unit, moment)
        if column.kind is Kind.DATE:
            found.append(Example(f"{moment:%Y-%m-%d}", f"{start:%Y-%m-%d}"))
        else:
            found.append(Example(moment.isoformat(" ") + _zone(column), start.isoformat(" ")))
    return found


def _start(unit: TruncateUnit, moment: datetime) -> datetime:
    day = moment.replace(hour=0, minute=0, second=0)
    match unit:
        case "year":
            return day.replace(month=1, day=1)
        case "quarter":
            return day.replace(month=3 * ((day.month - 1) // 3) + 1, day=1)
        case "month":
            return day.replace(day=1)
        case "week":
            return day - timedelta(days=day.weekday())
        case "day":
            return day
        case "hour":
            return moment.replace(minute=0, second=0)


def ordinary(column: Column) -> list[str]:
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
        Kind.LABEL: _labels(column)[:3],
        Kind.BOOLEAN: ["true", "false"],
        Kind.DATE: ["2023-12-31", "2024-02-29"],
        Kind.TIME: ["00:00:00", "12:30:00"],
        Kind.UUID: [f"00000000-0000-4000-8000-00000000000{last}" for last in "12"],
    }
    return by_kind.get(kind, [])


def _places(column: Column) -> int:
    inside = column.type.partition("(")[2].rstrip(") ")
    _, _, places = inside.partition(",")
    return int(places) if places.strip().isdecimal() else (0 if inside else 3)


def _labels(column: Column) -> list[str]:
    return list(labels(column.type))


def behind(value: str | None, column: Column, *, descending: bool) -> str | None:
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


def _fits(example: Example, column: Column) -> bool:
    """Whether a column can hold the value as it is written, and people can read it."""
    if example.raw is None:
        return True
    if column.kind not in {Kind.INTEGER, Kind.WIDE_INTEGER, Kind.DECIMAL}:
        return example.raw.isprintable()
    low, high = extremes(column)
    value = Decimal(example.raw)
    places = _places(column) if column.kind is Kind.DECIMAL else 0
    exact = value == value.quantize(Decimal(1).scaleb(-places), context=_EXACT)
    return exact and (low is None or high is None or Decimal(low) <= value <= Decimal(high))

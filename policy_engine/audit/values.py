"""Raw values that a policy speaks of, by its recodings and its columns' types alone.

Values are texts, which the engine reads as the column's type; one that does not fit is NULL.
Nothing here is read from a source.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from random import Random

from policy_engine.compile.catalog import NUMBERS, TIMES, Column, Kind, Table
from policy_engine.compile.reading import ReadColumn, read_columns
from policy_engine.engines.types import DECLARED
from policy_engine.policy.noise import Noise, Sum
from policy_engine.policy.recodings import Bins, Cut, Lookup, Prefix, Recoding, Round
from policy_engine.policy.resolve import Policy

Value = str | None
UNICODE = "Ω\u0301 ‘x’ 日本 \U0001f9d1\u200d\U0001f9bd"
_DAYS = ("2020-02-29", "2021-12-31", "2023-06-30")
_TIMES_BEYOND = 100
_EARLIEST, _LATEST = "5877642-06-25 (BC)", "5881580-07-10"
_FIRST, _LAST = "290309-12-22 (BC) 00:00:00", "294247-01-10 04:00:54.775806"
_BITS = {"TINYINT": 8, "SMALLINT": 16, "INTEGER": 32, "BIGINT": 64, "HUGEINT": 128}
_WIDTHS = _BITS | {f"U{name}": bits for name, bits in _BITS.items()}


@dataclass(frozen=True)
class Palette:
    """Values of one column: ``ordinary`` ones are recoded differently, each from the others."""

    ordinary: tuple[Value, ...] = (None,)
    low: Value = None
    high: Value = None


def palettes(policy: Policy, table: Table, random: Random) -> dict[str, Palette]:
    """A palette for every source column that the policy reads; ``random`` orders its values.

    Those of a column that is summed stand as they are, and those of one that is recoded, too, are
    of the recoding.
    """
    recodings = dict(policy.recodings)
    found = {}
    for name, read in read_columns(policy, table).items():
        palette = _palette(recodings[name], read.column)
        ordinary = random.sample(palette.ordinary, len(palette.ordinary))
        found[read.source.name] = Palette(tuple(ordinary), palette.low, palette.high)
    declared = {name.lower(): DECLARED[kind] for name, kind in policy.source.columns}
    for each in policy.noise.sums if isinstance(policy.noise, Noise) else ():
        source = table.find(each.column)
        if source is not None and source.name not in found:
            seen = ReadColumn(source, declared.get(each.column.lower())).column
            found[source.name] = _summed(each, seen)
    return found


def _summed(each: Sum, column: Column) -> Palette:
    """Far beyond the ends of a clip, where the type has such values, and so that sums fit.

    The ordinary person is beyond the end that moves a sum most.
    """
    clip, (low, high) = each.clip, extremes(column)
    far = _TIMES_BEYOND * (clip.high - clip.low)
    ends = [end * each.unit for end in (clip.low - far, clip.high + far)]
    if column.kind is not Kind.DOUBLE and low and high:
        ends = [min(max(end, Decimal(low)), Decimal(high)) for end in ends]
    falls = abs(clip.low - clip.center) > abs(clip.high - clip.center)
    ordinary = tuple(f"{end:f}" for end in (ends if falls else reversed(ends)))
    return Palette(ordinary, low, high)


def _palette(recoding: Recoding, column: Column) -> Palette:
    low, high = extremes(column)
    ordinary: list[Value]
    match recoding:
        case Bins(cuts):
            ordinary = [_before(cuts[0]), *(_text(cut) for cut in cuts)]
        case Lookup(table):
            ordinary = list({label: key for key, label in reversed(table)}.values())
        case Prefix(length):
            ordinary = [letter * (length + 2) for letter in "abc"]
        case Round(step):
            ordinary = [f"{step * times:f}" for times in (0, 1, 2)]
        case _:
            ordinary = ordinary_values(column)
    return Palette(tuple(ordinary) or (None,), low, high)


def ordinary_values(column: Column) -> list[Value]:
    """A few values of a type that differ by more than a year, a prefix or a rounding.

    >>> ordinary_values(Column("age", "INTEGER"))
    ['1', '2', '3']
    """
    kind = column.kind
    if kind in NUMBERS:
        return ["1", "2", "3"]
    if kind is Kind.DATE or kind in TIMES:
        return list(_DAYS)
    by_kind: dict[Kind, list[Value]] = {
        Kind.TEXT: ["a", "b", "c d"],
        Kind.BOOLEAN: ["true", "false"],
        Kind.TIME: ["00:00:00", "12:30:00", "23:59:59"],
        Kind.UUID: [f"00000000-0000-0000-0000-00000000000{i}" for i in range(3)],
        Kind.LABEL: list(labels(column.type)[:3]),
    }
    return by_kind.get(kind, [None])


def extremes(column: Column) -> tuple[Value, Value]:
    """The least and the greatest value of a type, and texts that are hard to handle.

    >>> extremes(Column("age", "UTINYINT")), extremes(Column("x", "DECIMAL(3,1)"))
    (('0', '255'), ('-99.9', '99.9'))
    """
    name, kind = column.type.upper(), column.kind
    if name in _WIDTHS:
        bits = _WIDTHS[name]
        if name.startswith("U"):
            return "0", str(2**bits - 1)
        return str(-(2 ** (bits - 1))), str(2 ** (bits - 1) - 1)
    if kind is Kind.DECIMAL:
        return _decimal_extremes(name)
    by_kind: dict[Kind, tuple[Value, Value]] = {
        Kind.DOUBLE: ("-inf", "nan"),
        Kind.TEXT: ("", UNICODE),
        Kind.BOOLEAN: ("false", "true"),
        Kind.DATE: (_EARLIEST, _LATEST),
        Kind.TIME: ("00:00:00", "24:00:00"),
        Kind.UUID: (f"{'0' * 8}-0000-0000-0000-{'0' * 12}", f"{'f' * 8}-ffff-ffff-ffff-{'f' * 12}"),
        Kind.LABEL: (None, (labels(column.type) or (None,))[-1]),
        **dict.fromkeys((Kind.TIMESTAMP, Kind.TIMESTAMP_ZONED), (_FIRST, _LAST)),
        Kind.TIMESTAMP_OTHER: ("1677-09-22 00:00:00", "2262-04-11 23:47:16"),
    }
    return by_kind.get(kind, (None, None))


def _decimal_extremes(name: str) -> tuple[Value, Value]:
    width, _, scale = name.partition("(")[2].rstrip(") ").partition(",")
    digits, places = int(width or 18), int(scale or 3 if not width else scale or 0)
    greatest = f"{Decimal(10**digits - 1).scaleb(-places):f}"
    return f"-{greatest}", greatest


def labels(type_name: str) -> tuple[str, ...]:
    """The labels of an ENUM type, which are part of the schema.

    >>> labels("ENUM('low', 'it''s high')")
    ('low', "it's high")
    """
    found = re.findall(r"'((?:[^']|'')*)'", type_name)
    return tuple(label.replace("''", "'") for label in found)


def keys(column: Column, count: int) -> list[str]:
    """That many different keys of persons, or as many as the type has.

    >>> keys(Column("id", "UTINYINT"), 3), len(keys(Column("id", "TINYINT"), 1000))
    (['0', '1', '2'], 128)
    """
    if column.kind is Kind.LABEL:
        return list(labels(column.type)[:count])
    if column.kind is Kind.TEXT:
        return [f"person {i}" for i in range(count)]
    if column.kind is Kind.UUID:
        return [f"00000000-0000-4000-8000-{i:012x}" for i in range(count)]
    bits = _WIDTHS.get(column.type.upper(), 64)
    return [str(i) for i in range(min(count, 2 ** (bits - 1)))]


def moments(column: Column, count: int) -> list[Value]:
    """Different values of a column that a person's rows are ordered by, where it has them."""
    if column.kind is Kind.DATE or column.kind in TIMES:
        return [str(date(2020, 1, 1) + timedelta(days=i)) for i in range(count)]
    known: list[Value] = [*keys(column, count)] if column.kind in _KEYED else [None]
    return [known[i % len(known)] for i in range(count)]


_KEYED = NUMBERS | {Kind.TEXT, Kind.UUID}


def _before(cut: Cut) -> str:
    if isinstance(cut, Decimal):
        return _text(cut - 1)
    try:
        return _text(cut - timedelta(days=1))
    except OverflowError:
        return _EARLIEST


def _text(cut: Cut) -> str:
    if isinstance(cut, Decimal):
        return f"{cut:f}"
    return cut.isoformat(" ") if isinstance(cut, datetime) else cut.isoformat()

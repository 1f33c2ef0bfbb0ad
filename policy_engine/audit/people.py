"""Synthetic people, and tables that differ by one of them.

Only the schema and the policy are read: the worst number of people alike from the accountant,
unique people, a crowd, extremes, NULLs, and a person with many rows. Their values are those that a
policy speaks of, by its recodings and its columns' types alone: texts, which the engine reads as
the column's type; one that does not fit is NULL.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from datetime import date, timedelta
from decimal import Decimal
from random import Random

from policy_engine.accounting.curve import delta_add, delta_remove
from policy_engine.accounting.domain import REPLACE_ONE
from policy_engine.compile.catalog import NUMBERS, TIMES, Field, Kind, Table
from policy_engine.compile.reading import ReadColumn, read_as, read_columns
from policy_engine.engines.types import DECLARED
from policy_engine.kernel.mechanisms.tables import Clip, Moves, moves_of
from policy_engine.kernel.recodes.bins.meaning import EARLIEST
from policy_engine.kernel.recodes.meanings import recode_meaning
from policy_engine.policy.recodings import Recoding
from policy_engine.policy.resolve import Policy
from policy_engine.values import frozen

Value = str | None
UNICODE = "Ω\u0301 ‘x’ 日本 \U0001f9d1\u200d\U0001f9bd"
_TIMES_BEYOND = 100
_BITS = {"TINYINT": 8, "SMALLINT": 16, "INTEGER": 32, "BIGINT": 64, "HUGEINT": 128}
_WIDTHS = _BITS | {f"U{name}": bits for name, bits in _BITS.items()}
MOST_PEOPLE = 20_000
"""Tables of more people are left out: thousands of runs over them would take too long."""
_MANY_ROWS = 40

Row = tuple[tuple[str, Value], ...]
"""A row's values by column; a column that is not there is NULL."""


@frozen
class Person:
    """One privacy unit and its rows; ``number`` is what its key is made of, None for no key."""

    number: int | None
    rows: tuple[Row, ...]


People = tuple[Person, ...]
"""A table: its people in the order of the source."""


@frozen
class NeighbourPair:
    """Two tables that are neighbours."""

    name: str
    what: str
    one: People
    other: People


@frozen
class Cast:
    """The kinds of people that tables are made of: the rows of one of each kind."""

    plain: Row
    others: Row
    low: Row
    high: Row
    many: tuple[Row, ...]

    @classmethod
    def of(cls, policy: Policy, table: Table, random: Random) -> Cast:
        """The kinds that a policy speaks of; ``random`` chooses among ordinary values.

        ``plain`` and ``others`` are of different groups, wherever the policy has two.
        """
        known = palettes(policy, table, random)
        ordered = [column for name, _ in policy.source.order_by if (column := table.find(name))]
        times = {column.name: moments(column, _MANY_ROWS) for column in ordered}

        def row(choose: Callable[[str], Value]) -> Row:
            return tuple((name, choose(name)) for name in known)

        def nth(number: int) -> Row:
            own = dict(row(lambda c: known[c].ordinary[number % len(known[c].ordinary)]))
            own |= {name: values[number] for name, values in times.items()}
            return tuple(own.items())

        return cls(
            plain=row(lambda c: known[c].ordinary[0]),
            others=row(lambda c: known[c].ordinary[-1]),
            low=row(lambda c: known[c].low),
            high=row(lambda c: known[c].high),
            many=tuple(map(nth, range(_MANY_ROWS))),
        )


def pairs_for(policy: Policy, table: Table, seed: int) -> tuple[list[NeighbourPair], list[str]]:
    """Every pair of neighbouring tables for a policy, and what was left out with the reason.

    Under ``replace_one`` the person in question is not removed, but becomes one of the others.
    """
    cast = Cast.of(policy, table, Random(seed))
    crowd = _crowd(policy)
    made: list[NeighbourPair] = []
    skipped: list[str] = []
    # So many others are released nearly always: what is shown of the rest is not hidden by them.
    others = min(3 * crowd, MOST_PEOPLE // 2)
    for n, name in _sizes(policy).items():
        if n + others > MOST_PEOPLE:
            skipped.append(
                f"{name} would need {n + others} people; at most {MOST_PEOPLE} are tried"
            )
            continue
        made.append(_alike(policy, cast, n, name, others))
    made += _in_a_crowd(policy, cast, min(crowd, MOST_PEOPLE // 8))
    return made, skipped


def _crowd(policy: Policy) -> int:
    """How many people alike are released about half of the time."""
    if policy.noise is None:
        return math.ceil(policy.k / policy.rate)
    return policy.noise.half(policy.k)


def _sizes(policy: Policy) -> dict[int, str]:
    """How many people alike there are, the one in question among them, and why so many."""
    if policy.is_by_chance:
        return {1: "a unique person", 3: "three alike"}
    if policy.noise is not None:
        crowd = _crowd(policy)
        return {1: "a unique person", crowd: "shown half of the time", 3 * crowd: "always shown"}
    sizes = {policy.k: "k alike", policy.k - 1: "k − 1 alike", 1: "a unique person"}
    epsilon = policy.guarantee.epsilon
    # Replacing is removing and adding, each of about half the loss.
    parts = [epsilon / 2] if policy.guarantee.neighbours == REPLACE_ONE else []
    for part in (epsilon, *parts):
        for bound in (delta_remove, delta_add):
            found = bound(policy.k, policy.rate, part).at_n
            if found is not None:
                sizes.setdefault(found, "the worst number alike")
    return dict(sorted(sizes.items()))


def _alike(policy: Policy, cast: Cast, n: int, name: str, others: int) -> NeighbourPair:
    """``n`` people alike before so many others; the first of them is the one in question.

    Without that one it is the table of n − 1, so that tables serve two pairs.
    """
    replaced = policy.guarantee.neighbours == REPLACE_ONE
    beside = 0 if cast.others == cast.plain else n - 1 if replaced and n > policy.k else others
    alike = [Person(beside + i, (cast.plain,)) for i in reversed(range(n))]
    one = (*alike, *(Person(i, (cast.others,)) for i in reversed(range(beside))))
    return NeighbourPair(name, f"n = {n} alike", one, _without(one, 0, policy, cast))


def _in_a_crowd(policy: Policy, cast: Cast, crowd: int) -> Iterable[NeighbourPair]:
    """One table of several crowds, and it without one of the people at its top.

    A crowd is as large as is released half of the time, so that what it shows is seen.
    """
    kinds: dict[str, tuple[Row, ...]] = {
        "one of a crowd": (cast.plain,),
        "the least values": (cast.low,),
        "the greatest values": (cast.high,),
        "NULL in every column": ((),),
    }
    tops = {**kinds, "a person with many rows": cast.many} if policy.source.key else kinds
    rows = [*tops.values(), *[(cast.others,)] * crowd]
    rows += [kind for kind in kinds.values() for _ in range(crowd - 1)]
    keyless = [Person(None, (cast.plain,))] * 3 if policy.source.key else []
    one = (*(Person(number, own) for number, own in enumerate(rows)), *keyless)
    for place, name in enumerate(tops):
        about = f"{len(tops[name])} rows" if len(tops[name]) > 1 else f"n = {crowd} alike"
        yield NeighbourPair(name, about, one, _without(one, place, policy, cast))


def _without(one: People, place: int, policy: Policy, cast: Cast) -> People:
    """The neighbour of a table: the person at ``place`` is gone, or is one of the others."""
    put: People = ()
    if policy.guarantee.neighbours == REPLACE_ONE:
        put = (Person(one[place].number, (cast.others,)),)
    return (*one[:place], *put, *one[place + 1 :])


@frozen
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
    declared = {name: DECLARED[kind] for name, kind in read_as(policy, table).items()}
    held = [(each.column, each.clip, each.moves) for each in policy.protection.quantities]
    held += [(q.column, q.clip, moves_of(q.clip, 0)) for q in policy.protection.quantiles]
    for column, clip, moves in held:
        source = None if column is None else table.find(column)
        if source is not None and source.name not in found:
            seen = ReadColumn(source, declared.get(source.name)).column
            found[source.name] = _summed(clip, moves, seen)
    return found


def _summed(clip: Clip, moves: Moves, column: Field) -> Palette:
    """Far beyond the ends of a clip, where the type has such values, and so that sums fit.

    The ordinary person is beyond the end that moves a sum most.
    """
    low, high = extremes(column)
    far = _TIMES_BEYOND * (clip.high - clip.low)
    ends = [end * clip.unit for end in (clip.low - far, clip.high + far)]
    if column.kind is not Kind.DOUBLE and low and high:
        ends = [min(max(end, Decimal(low)), Decimal(high)) for end in ends]
    falls = -moves.least > moves.most
    ordinary = tuple(f"{end:f}" for end in (ends if falls else reversed(ends)))
    return Palette(ordinary, low, high)


def _palette(recoding: Recoding, column: Field) -> Palette:
    low, high = extremes(column)
    ordinary: tuple[Value, ...] = recode_meaning(recoding).examples
    if not ordinary:
        is_label = column.kind is Kind.LABEL
        ordinary = labels(column.type)[:3] if is_label else _BY_KIND.get(column.kind, _NONE)[0]
    return Palette(ordinary or (None,), low, high)


def extremes(column: Field) -> tuple[Value, Value]:
    """The least and the greatest value of a type, and texts that are hard to handle.

    >>> extremes(Field("age", "UTINYINT")), extremes(Field("x", "DECIMAL(3,1)"))
    (('0', '255'), ('-99.9', '99.9'))
    """
    name, kind = column.type.upper(), column.kind
    if name in _WIDTHS:
        bits = _WIDTHS[name]
        if name.startswith("U"):
            return "0", str(2**bits - 1)
        return str(-(2 ** (bits - 1))), str(2 ** (bits - 1) - 1)
    if kind is Kind.DECIMAL:
        width, _, scale = name.partition("(")[2].rstrip(") ").partition(",")
        digits, places = int(width or 18), int(scale or 3 if not width else scale or 0)
        greatest = f"{Decimal(10**digits - 1).scaleb(-places):f}"
        return f"-{greatest}", greatest
    if kind is Kind.LABEL:
        return None, (labels(column.type) or (None,))[-1]
    _, low, high = _BY_KIND.get(kind, _NONE)
    return low, high


_NONE: tuple[tuple[Value, ...], Value, Value] = (None,), None, None
_DAYS, _NUMBERS = ("2020-02-29", "2021-12-31", "2023-06-30"), ("1", "2", "3")
_MICROSECONDS = _DAYS, "290309-12-22 (BC) 00:00:00", "294247-01-10 04:00:54.775806"
_UUIDS = tuple(f"00000000-0000-0000-0000-00000000000{i}" for i in range(3))
#: By kind a few values, the least and the greatest.
_BY_KIND: dict[Kind, tuple[tuple[Value, ...], Value, Value]] = {
    **dict.fromkeys(NUMBERS, (_NUMBERS, None, None)),
    Kind.DOUBLE: (_NUMBERS, "-inf", "nan"),
    Kind.TEXT: (("a", "b", "c d"), "", UNICODE),
    Kind.BOOLEAN: (("true", "false"), "false", "true"),
    Kind.DATE: (_DAYS, EARLIEST, "5881580-07-10"),
    Kind.TIME: (("00:00:00", "12:30:00", "23:59:59"), "00:00:00", "24:00:00"),
    Kind.TIMESTAMP: _MICROSECONDS,
    Kind.TIMESTAMP_ZONED: _MICROSECONDS,
    Kind.TIMESTAMP_OTHER: (_DAYS, "1677-09-22 00:00:00", "2262-04-11 23:47:16"),
    Kind.UUID: (_UUIDS, _UUIDS[0], f"{'f' * 8}-ffff-ffff-ffff-{'f' * 12}"),
}


def labels(type_name: str) -> tuple[str, ...]:
    """The labels of an ENUM type, which are part of the schema.

    >>> labels("ENUM('low', 'it''s high')")
    ('low', "it's high")
    """
    found = re.findall(r"'((?:[^']|'')*)'", type_name)
    return tuple(label.replace("''", "'") for label in found)


def keys(column: Field, count: int) -> list[str]:
    """That many different keys of persons, or as many as the type has.

    >>> keys(Field("id", "UTINYINT"), 3), len(keys(Field("id", "TINYINT"), 1000))
    (['0', '1', '2'], 128)
    """
    if column.kind is Kind.LABEL:
        return list(labels(column.type)[:count])
    if column.kind is Kind.TEXT:
        return [f"person {i}" for i in range(count)]
    if column.kind is Kind.UUID:
        return [f"00000000-0000-4000-8000-{i:012x}" for i in range(count)]
    if column.is_whole:
        digits = int(re.findall("[0-9]+", column.type)[0])
        return [str(i) for i in range(min(count, 10**digits))]
    bits = _WIDTHS.get(column.type.upper(), 64)
    return [str(i) for i in range(min(count, 2 ** (bits - 1)))]


def moments(column: Field, count: int) -> list[Value]:
    """Different values of a column that a person's rows are ordered by, where it has them."""
    if column.kind is Kind.DATE or column.kind in TIMES:
        return [str(date(2020, 1, 1) + timedelta(days=i)) for i in range(count)]
    if column.kind not in NUMBERS | {Kind.TEXT, Kind.UUID}:
        return [None] * count
    known = keys(column, count)
    return [known[i % len(known)] for i in range(count)]

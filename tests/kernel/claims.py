"""Random claims over one wide table, and rows made of the claims' own constants and of extremes.

A claim is drawn over ``COLUMNS``; ``on`` gives it the source and the types of an engine.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from decimal import Context, Decimal
from random import Random
from typing import Any
from uuid import UUID

from policy_engine.kernel.claim import Claim, Shown
from policy_engine.kernel.filters import none_of, one_of, within
from policy_engine.kernel.laws import ClaimError
from policy_engine.kernel.mechanisms import (
    Clip,
    CountedBy,
    Cut,
    Inserted,
    IntegerTable,
    Keyed,
    Law,
    Listed,
    Measure,
    Native,
    Noisy,
    NoisyPart,
    Pure,
    Quantile,
    Quantity,
    Randomised,
)
from policy_engine.kernel.mechanisms.common import Secret
from policy_engine.kernel.mechanisms.randomised_response.law import Response
from policy_engine.kernel.recodes import (
    Bins,
    Constant,
    Keep,
    Map,
    Prefix,
    Recode,
    Round,
    Truncate,
)
from policy_engine.kernel.recodes.truncate.recode import UNITS
from policy_engine.kernel.sources import (
    Column,
    Drawn,
    Files,
    Groups,
    JoinedRelation,
    KeyColumns,
    People,
    Relation,
    Rows,
    TimeBetween,
    is_key,
)
from policy_engine.kernel.types import MOMENTS, MOST_INTEGER, Type

SALT = "00112233445566778899aabbccddeeff" + "fedcba98765432100123456789abcdef"
LABELS = ("A", "a", "a ", "b", "é", "😀")
READ_AS = ("integer", "double", "text", "boolean", "date", "timestamp")
COLUMNS: dict[str, Type] = {
    "id": Type("integer"),
    "code": Type("text"),
    "who": Type("uuid"),
    "row": Type("integer"),
    "whole": Type("integer"),
    "wide": Type("wide_integer"),
    "money": Type("decimal", 12, 3),
    "huge": Type("decimal", 38, 10),
    "real": Type("double"),
    "text": Type("text"),
    "folded": Type("text", collated=True),
    "label": Type("label"),
    "truth": Type("boolean"),
    "day": Type("date"),
    "at": Type("timestamp"),
    "zoned": Type("timestamp_zoned"),
    "millis": Type("timestamp_other"),
    "clock": Type("time"),
    **{f"csv_{kind}": Type("text") for kind in READ_AS},
}
KEYS = ("id", "code", "who", "row")
_DECIMAL = Context(prec=60)

TEXTS = [
    "", " ", "a", "A", "a ", "á", "a\u0301", "Å", "\u212b", "ß", "ss", "Straße", "😀👍🏽x", "עברית",
    "\u202eabc", "O'Brien", 'a"b', "a\\b", "%", "_", "NULL", "${x}", "\t", "\ufeffx", "\U0010ffff",
    "Z" * 190, "ab\0cd", "ab\0ce", "a\nb", "日本",
]  # fmt: skip
REALS = [
    math.nan, math.inf, -math.inf, -0.0, 0.0, 5e-324, 1.7976931348623157e308, -1e300, 1e17, 1e18,
    9007199254740993.0, 0.49999999999999994, 0.1 + 0.2,
]  # fmt: skip
WHOLES = [
    MOST_INTEGER, -MOST_INTEGER - 1, 0, -1, 10**17 - 1, 10**17, 10**18 - 1, 10**18, -(10**18),
    2**53 + 1,
]  # fmt: skip
DAYS = [date(1, 1, 1), date(1, 1, 8), date(9999, 12, 31), date(1969, 12, 31), date(1582, 10, 10),
        date(2020, 2, 29), date(2021, 1, 3), date(1900, 1, 1), date(2299, 12, 31)]  # fmt: skip
MOMENTS_OF = [
    datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59, 999999), datetime(9999, 12, 31, 0, 0, 1),
    datetime(9999, 12, 30, 12), datetime(1969, 12, 31, 23, 59, 59, 999999), datetime(2299, 12, 31),
    datetime(2024, 3, 31, 0, 59, 59, 999999), datetime(2024, 3, 31, 1),
    datetime(2024, 3, 31, 1, 30), datetime(2024, 10, 27, 0, 30), datetime(2024, 10, 27, 1),
    datetime(2024, 10, 27, 1, 30),
    datetime(1970, 1, 1), datetime(1900, 1, 1), datetime(2000, 1, 1, 0, 0, 0, 1),
]  # fmt: skip
CLOCKS = [time(0), time(12, 30), time(23, 59, 59, 999999)]
_TIMES = [
    "2024-02-29", "2023-02-29", "1900-02-29", "2000-02-29", "2024-04-31", "2024-13-01",
    "2024-00-10", "2024-01-00", "0999-12-31", "1000-01-01", "9999-12-31", "03/05/12", "2024-3-1",
    "24-03-01", "20240301", "2024-03-31T00:30:00+02:00", "2024-03-30 22:30:00Z",
    "2024-03-31T00:30Z", "2024-03-31 00:30:00+02", "2024-03-31 00:30:00.5-0330",
    "2024-03-31 00:30:00 Europe/Berlin", "2024-03-31 00:30:00 +02:00", "2024-03-31 00:30",
    "2024-03-31 24:00:00", "2024-03-31 23:59:60", "2024-03-31T23:59:59.999999",
    "2024-03-31T23:59:59.9999990", "2024-03-31T23:59:59.9999999", "2024-03-31 00:30:00+15:00",
    "2024-03-31 00:30:00+14:59", "2024-03-31Z", "2024-03-31+02", " 2024-03-31", "2024-03-31 ",
    "2024-03-31\n", "9999-12-31 23:59:59.999999", "9999-12-31 23:59:59-05:00", "9999-12-31T00:00Z",
    "9998-12-31 23:59:59-05:00", "1001-01-01 00:00:00+05:00", "1000-06-01 00:00:00+05:00",
    "2024-03-31t00:30:00", "infinity", "epoch", "now", "today", "x", "", "２０２４-03-31",
    "1899-12-31T23:00:00-03", "2299-12-31 23:59:59.999999",
]  # fmt: skip
SPELLED = {
    "integer": [
        "7", "-7", "+7", "0", "-0", "007", "999999999999999999", "-999999999999999999",
        "1000000000000000000", "000000000000000000000007", "9223372036854775807", "17.6",
        "17.0", "17.", "0x10", "1e3", "1_000", "1,000", " 17", "17 ", "17\n", "\n17", "--7",
        "+", "-", "", "١٢", "１２", "NaN", "x",
    ],
    "double": [
        "0.5", "-3", "+.5e-3", "5.", ".5", "1e3", "1E3", "1e+3", "-0.0", "0.1",
        "0.30000000000000004", "9007199254740993", "1e99", "1e-99", "1e100", "1e", "e5",
        ".", "", "1.2.3", "1,5", " 1.5", "1.5 ", "1.5\n", "1_000.5", "0x1p3", "NaN", "nan",
        "Infinity", "inf", "-inf", "１.5",
        "123456789012345678901234567890.123456789012345678901234567890",
        "1234567890123456789012345678901", "x",
    ],
    "text": [
        "a", "A", "a ",
    ],
    "boolean": [
        "true", "TRUE", "True", "t", "T", "1", "false", "FALSE", "False", "f", "F", "0",
        "tRuE", "yes", "no", "on", "y", "2", "-1", " true", "true ", "true\n", "", "x",
    ],
    "date": [*_TIMES, "2024-02-29 12:30:00"],
    "timestamp": [*_TIMES, "2024-02-29 12:30:00", "2024-02-30 12:30:00"],
}  # fmt: skip


# Claims


def claims(chance: Random, count: int, names: Iterable[str] = COLUMNS) -> list[Claim]:
    """So many claims, each over a few of the columns."""
    known = list(names)
    found: list[Claim] = []
    while len(found) < count:
        try:
            found.append(in_period(_claim(chance, known), known))
        except ClaimError:
            continue
    return found


def _claim(chance: Random, known: list[str]) -> Claim:
    others = [name for name in known if name not in KEYS]
    names = chance.sample(others, chance.choice([1, 1, 2, 3]))
    columns = [_shown(name, chance) for name in names]
    if chance.random() < 0.15:
        columns.append(Shown("everybody", None, Constant(chance.choice(["*", "it's", "é"]))))
    unit = _unit(chance, known)
    raw_first, k = chance.random() < 0.3, chance.choice([2, 2, 3])
    threshold = int(chance.choice([0.5, 0.9, 0.97]) * (1 << 60)) + chance.randrange(1000)
    secret = Secret(("main", "salts"), "next") if chance.random() < 0.3 else None
    law: Law = Keyed(threshold, k, raw_first, secret)
    if isinstance(unit, Rows) and chance.random() < 0.3:
        law = Native(Decimal("0.999999999999"), k, raw_first)
    elif chance.random() < 0.3:
        if isinstance(unit, People) and chance.random() < 0.4:
            unit, raw_first = People(unit.key, Groups(chance.choice([1, 2, 3]))), False
        law = _noisy(chance, k, raw_first, secret)
    count = chance.choice(["n", "n", None])
    read = {shown.column.name: shown.column for shown in columns if shown.column}
    others = [name for name in chance.sample(others, 2) if chance.random() < 0.3]
    columns_of = [read.get(name) or _column(name) for name in others]
    conditions = (_condition(column, chance) for column in columns_of)
    filtered = tuple(condition for condition in conditions if condition)
    claim = Claim(Relation(("main", "people")), unit, law, tuple(columns), count, filtered)
    if isinstance(law, Noisy):
        with suppress(ClaimError):
            return _with_more(claim, chance, known)
    return claim


def pure(chance: Random, count: int, names: Iterable[str] = COLUMNS) -> list[Claim]:
    """So many claims of randomised response and of αβ insertion."""
    known, found = list(names), []
    listed = [name for name in known if name not in (*KEYS, "clock")]
    while len(found) < count:
        shown = [_shown(name, chance) for name in chance.sample(listed, chance.choice([1, 2, 3]))]
        values = tuple(each.values for each in shown)
        unit, secret = _unit(chance, known), Secret(("main", "salts"), "next")
        try:
            made = _pure(chance, unit, tuple(shown), values, chance.choice([None, secret]))
            found.append(in_period(made, known))
        except (ClaimError, ZeroDivisionError):
            continue
    return found


IN_TIME = ("day", "at", "zoned", "millis", "csv_date", "csv_timestamp")


def in_period(claim: Claim, known: list[str]) -> Claim:
    """The claim, or one in four over the rows of a period alone: the others stay as they were."""
    own_chance = Random(f"period {claim.digest}")
    names = [name for name in IN_TIME if name in known]
    if not names or own_chance.random() < 0.75:
        return claim
    read = {column.name: column for column in claim.inputs}
    name = own_chance.choice(names)
    column = read.get(name) or _column(name)
    ends = own_chance.sample(constants(column.seen, own_chance), 2)
    try:
        return replace(claim, period=within(column, at_least=min(ends), below=max(ends)))
    except ClaimError:  # a shown name is the column's
        return claim


def with_joins(chance: Random, claim: Claim, types: dict[str, Type]) -> Claim:
    """The claim with some of its columns looked up: of the unit's own rows, or by public keys.

    Raises ClaimError where nothing can be looked up.
    """
    fixed = {key.name for key in claim.unit.keys}
    fixed |= set() if claim.period is None else {claim.period.column.name}
    free = [column.name for column in claim.inputs if column.name not in fixed]
    chance.shuffle(free)
    most = chance.choice([1, 2])
    joins = []
    for names in filter(None, (free[:most], free[most : most + 1])):
        is_public = not claim.unit.keys or chance.random() < 0.4
        on = tuple((key, Column(key.name, types[key.name])) for key in claim.unit.keys)
        if is_public:
            known = [name for name, kind in types.items() if is_key(kind)]
            own = [name for name in known if name not in {*free, *(key.name for key, _ in on)}]
            if not own:
                raise ClaimError("no key is left")
            first = chance.choice(own)
            other = first if chance.random() < 0.5 else chance.choice(known)
            on = ((Column(first, types[first]), Column(other, types[other])),)
        columns = tuple(Column(name, types[name]) for name in names)
        order = ((Column("row", types["row"]), True),) if chance.random() < 0.3 else ()
        joins.append(JoinedRelation(claim.source, on, columns, is_public, order))
    if not joins:
        raise ClaimError("nothing is left to look up")
    return replace(claim, joins=tuple(joins))


DATES = ("day", "at", "zoned", "millis", "csv_date", "csv_timestamp")


def with_spans(chance: Random, claim: Claim, types: dict[str, Type]) -> Claim:
    """The claim with its column ``whole`` computed of two dates, one of which may be looked up."""
    known = [name for name in DATES if name in types]
    ends = (chance.choice(known), chance.choice(known))
    since, until = (replace(_column(name), type=types[name]) for name in ends)
    unit = chance.choice(["day", "month", "year"])
    return replace(claim, computed=(TimeBetween("whole", since, until, unit),))


def near_dates(chance: Random, found: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The rows, in some of which days lie whole months apart, and a day more or less than that."""
    for row in found:
        day = date(chance.choice([1904, 1970, 2000, 2023, 2024]), *chance.choice(_LATE))
        day += timedelta(days=chance.choice([0, 1]))
        months = chance.choice([0, 1, 11, 12, 13, 48, 216])
        month = day.year * 12 + day.month - 1 + months
        later = date(month // 12, month % 12 + 1, 1)
        later += timedelta(days=day.day - chance.choice([0, 1, 2]))
        moment = datetime.combine(later, time(chance.choice([0, 23])))
        made = {"day": day, "csv_date": str(later), "csv_timestamp": str(moment)}
        made |= dict.fromkeys(("at", "zoned", "millis"), moment)
        yield {**row, **made} if chance.random() < 0.7 else row


_LATE = [(2, 28), (3, 1), (1, 31), (12, 31), (4, 30), (6, 15)]


def with_keys(chance: Random, claim: Claim, there: list[tuple[Any, ...]]) -> Claim:
    """A claim of noisy counts of a public list: some groups that are there, some of nobody.

    Raises ClaimError where its columns show values that no key can have.
    """
    size, width = chance.choice([1, 3, 450]), len(claim.columns)
    found = chance.sample(there, min(len(there), 5))
    kinds = [_LISTED.get(shown.kind, ["?"]) for shown in claim.columns]
    rows = [*found, *(tuple(map(chance.choice, kinds)) for _ in range(size))]
    if size == 450:  # so many that they are listed in parts
        more = {"integer": range(1000, 1450), "text": [f"t{n}" for n in range(450)]}
        rows += [(*key, *[None] * (width - 1)) for key in zip(more.get(claim.columns[0].kind, ()))]
    keys = (tuple(dict.fromkeys(rows)),)
    if chance.random() < 0.5:
        first, rest = {row[:1] for row in keys[0]}, {row[1:] for row in keys[0]}
        keys = tuple(tuple(sorted(part, key=str)) for part in (first, rest) if () not in part)
    assert isinstance(claim.law, Noisy)
    own = claim.law
    beside = (own.quantities, own.measures, own.cuts, own.cut_table, own.quantiles)
    law = Listed(own.table, 1, 0, own.raw_first, own.secret, (), *beside, keys)
    return replace(claim, law=law, count="n")


_LISTED: dict[str, list[Any]] = {
    "text": [None, "a", "it's", "日本"],
    "integer": [None, 0, -5, MOST_INTEGER, -MOST_INTEGER],
    "date": [None, date(2020, 2, 29), date(1969, 12, 31)],
    "timestamp": [None, datetime(2020, 2, 29, 23, 59, 59), datetime(1969, 12, 31)],
}


def _pure(
    chance: Random,
    unit: Rows | People,
    shown: tuple[Shown, ...],
    values: tuple[tuple[str | None, ...], ...],
    secret: Secret | None,
) -> Claim:
    """Of which own values, and others, are about as frequent."""
    whole = 1 << 60
    if chance.random() < 0.5:
        inserted, more = whole // 3 + chance.randrange(9), whole // 3
        law: Law = Inserted(inserted + more, inserted, values, secret)
        conditions = (_condition(shown[0].column, chance),) if chance.random() < 0.3 else ()
        return Claim(Relation(("main", "people")), unit, law, shown, None, conditions)
    shares = (whole // (len(each) * 2) + chance.randrange(9) for each in values)
    law = Randomised(tuple(map(Response, values, shares)), secret)
    return Claim(Relation(("main", "people")), unit, law, shown, chance.choice(["n", None]))


def _noisy(chance: Random, k: int, raw_first: bool, secret: Secret | None) -> Noisy:
    """A narrow table mostly, so that the rows show each of its entries."""
    is_open = chance.random() < 0.4
    table, offset = _table(chance), chance.choice([0, 3]) if is_open else 0
    table = replace(table, least=k, is_open=True) if is_open else table
    return Noisy(table, k, min(offset, table.largest), raw_first, secret)


def _table(chance: Random) -> IntegerTable:
    size = chance.choice([2, 3, 6, 70])
    return IntegerTable(tuple(sorted(chance.sample(range(1, 1 << 60), size))), -(size // 2))


def _with_more(claim: Claim, chance: Random, known: list[str]) -> Claim:
    """A claim of noisy counts with sums beside them, or of several groupings, where it can be."""
    law = claim.law
    assert isinstance(law, Noisy)
    names = [shown.name for shown in claim.columns]
    if chance.random() < 0.5:
        numbers = [name for name in known if name in _SUMMED]
        of = chance.sample(numbers, min(chance.choice([1, 1, 2]), len(numbers)))
        drawn, shown = measures(chance, [_column(name) for name in of], claim.unit.counts_all)
        law = replace(law, quantities=drawn, measures=shown, raw_first=False)
    if chance.random() < 0.5:
        by = {tuple(names), *((name,) for name in names if chance.random() < 0.5)}
        more = len(law.quantities)
        own = [tuple(_table(chance) for _ in range(chance.choice([0, 1 + more]))) for _ in by]
        law = replace(law, groupings=tuple(map(CountedBy, sorted(by), own)))
    if claim.unit.counts_all and claim.count is not None and chance.random() < 0.7:
        law = replace(law, cuts=cuts(chance, law.quantities), cut_table=_table(chance))
    own_chance = Random(f"{names} {law.k}")  # the other claims stay as they were
    is_plain = isinstance(claim.unit, People) and not (law.groupings and law.quantities)
    if is_plain and own_chance.random() < 0.4:
        parts = own_chance.choice([2, 3])
        law = NoisyPart(**vars(law), parts=parts, number=own_chance.randrange(parts) + 1)
    return replace(claim, law=law)


def cuts(chance: Random, quantities: tuple[Quantity, ...]) -> tuple[Cut, ...]:
    """Some of the limits by which people can be cut, at least one of them."""
    found = [Cut("people_with_groups_cut", "groups")]
    if any(each.clip.per == "row" for each in quantities):
        found.append(Cut("people_with_rows_cut", "rows"))
    for number, each in enumerate(quantities, 1):
        if not each.counts:
            found.append(Cut(f"people_cut_{number}", "bounds", number))
            found.append(Cut(f"people_missing_{number}", "missing", number))
    return tuple(chance.sample(found, chance.randint(1, len(found))))


_SUMMED = ("whole", "money", "real", "csv_double")


def measures(
    chance: Random, columns: list[Column], many: bool
) -> tuple[tuple[Quantity, ...], tuple[Measure, ...]]:
    """Sums and means of some columns, and rows: of people with ``many`` rows or one."""
    drawn: list[Quantity] = []
    rows = chance.choice([1, 2, 3]) if many else 1

    def numbered(quantity: Quantity) -> int:
        alike = [q for q in drawn if (q.column, q.clip, q.center)
                 == (quantity.column, quantity.clip, quantity.center)]  # fmt: skip
        if not alike:
            drawn.append(quantity)
        return drawn.index((alike or [quantity])[0]) + 1

    counted = Quantity(None, Clip(0, 1, rows=rows), None, _table(chance))
    made = [Measure("visits", numbered(counted))] if chance.random() < 0.4 else []
    for column in columns:
        unit = Decimal(chance.choice(["1", "1", "7", "10", "0.01", "0.5"]))
        low = chance.choice([0, -40, 5, 18])
        high = low + chance.choice([1, 6, 6, 40, 999, 10**6])
        per = chance.choice(["row", "total", "mean"]) if many else "row"
        absent = chance.choice([None, low, min(max(0, low), high)])
        clip = Clip(low, high, unit, per, rows if per == "row" else 1, absent)
        center = chance.choice([low, (low + high) // 2, high, min(max(0, low), high)])
        is_mean = chance.random() < 0.6
        own = numbered(Quantity(column, clip, center, _table(chance)))
        over = None
        if is_mean or center:
            over = 0
            if absent is None or chance.random() < 0.2:
                over = numbered(Quantity(column, clip, None, _table(chance)))
            elif many and per == "row":
                over = numbered(counted)
        if is_mean:
            made.append(Measure(f"average_{column.name}", own, over, is_mean=True))
        if not is_mean or chance.random() < 0.3:
            made.append(Measure(f"total_{column.name}", own, over if center else None))
    return tuple(drawn), tuple(made)


def with_quantiles(chance: Random, claim: Claim, known: Iterable[str]) -> Claim:
    """A claim of noisy counts with one quantile or two: of rows, of people or of their means.

    Raises ClaimError where it can have none.
    """
    law, many = claim.law, claim.unit.counts_all
    assert isinstance(law, Noisy)
    drawn, made = list(law.quantities), []
    rows = max([q.clip.rows for q in drawn if q.clip.per == "row"], default=2) if many else 1
    numbers = [name for name in known if name in _SUMMED]
    for number in range(chance.choice([1, 2])):
        column, unit = _column(chance.choice(numbers)), Decimal(chance.choice(["1", "7", "0.5"]))
        low = chance.choice([0, -3, 5])
        high = low + chance.choice([1, 6, 60, 300])
        per = chance.choice(["row", "mean"]) if many else "row"
        absent = chance.choice([None, None, low, high])
        clip = Clip(low, high, unit, per, rows if per == "row" else 1, absent)
        over = 0
        if absent is None or (many and per == "row"):
            counted = Quantity(column, clip, None, _table(chance))
            alike = [n for n, each in enumerate(drawn, 1)
                     if each.counts and each.column == column and each.clip.absent == absent
                     and (each.clip.per == "row") == (per == "row")]  # fmt: skip
            if not alike:
                drawn.append(counted)
            over = (alike or [len(drawn)])[0]
        at = Decimal(chance.choice(["0.5", "0.5", "0.9", "0.25", "0.001"]))
        made.append(Quantile(f"quantile_{number}", column, clip, at, over,
                             Decimal(chance.choice(["0.25", "1", "9"]))))  # fmt: skip
    law = replace(law, raw_first=False, quantities=tuple(drawn), quantiles=tuple(made))
    return replace(claim, law=law, count="n")


def _column(name: str) -> Column:
    read_as = name.removeprefix("csv_") if name.startswith("csv") else None
    return Column(name, COLUMNS[name], read_as)  # type: ignore[arg-type]


def _condition(column: Column, chance: Random) -> Shown | None:
    values = list(dict.fromkeys(constants(column.seen, chance)))
    few = chance.sample(values, min(len(values), 2))
    texts = [str(value) for value in few] if column.seen.kind == "wide_integer" else few
    own_chance = Random(f"missing {column} {few}")  # the other claims stay as they were
    or_missing = own_chance.random() < 0.4
    makers = (
        lambda: one_of(column, tuple(texts), or_missing=or_missing),
        lambda: one_of(column, (texts[0],)),
        lambda: within(column, at_least=few[0], or_missing=or_missing),
        lambda: within(column, below=few[0]),
        lambda: within(column, at_least=min(few), below=max(few), or_missing=or_missing),
    )
    chosen = chance.sample(makers, len(makers))
    others = (
        lambda: none_of(column, tuple(texts), or_missing=or_missing),
        lambda: none_of(column, ()),
    )
    if own_chance.random() < 0.4:
        chosen.insert(0, own_chance.choice(others))
    for make in chosen:
        with suppress(ClaimError):
            return make()
    return None


def _unit(chance: Random, known: list[str]) -> Rows | People:
    if chance.random() < 0.1:
        return Rows()
    name = chance.choice([key for key in KEYS if key in known])
    key: Column | KeyColumns = Column(name, COLUMNS[name])
    if key.name == "row":
        return People(key, None)
    several = [name for name in KEYS if name in known and name != "row"]
    if len(several) > 1 and chance.random() < 0.3:
        chosen = chance.sample(several, chance.choice([2, len(several)]))
        key = KeyColumns(tuple(Column(name, COLUMNS[name]) for name in chosen))
    if chance.random() < 0.25:
        return People(key, Drawn())
    ordering = [each for each in known if each not in KEYS and not each.startswith("csv")]
    names = chance.sample(ordering, chance.choice([1, 1, 2, 3]))
    return People(key, tuple((Column(n, COLUMNS[n]), chance.random() < 0.5) for n in names))


def _shown(name: str, chance: Random) -> Shown:
    column = _column(name)
    fitting = [recode for recode in _RECODES if recode(column.seen, chance) is not None]
    recode = chance.choice(fitting)(column.seen, chance)
    shown = Shown(chance.choice([name, f"{name}_shown"]), column, recode)
    own_chance = Random(f"missing {shown}")  # the other claims stay as they were
    if shown.kind == "text" and own_chance.random() < 0.3:
        return replace(shown, missing=own_chance.choice(["missing", "it's", "a", "other"]))
    return shown


def _labels(chance: Random, count: int) -> tuple[str, ...]:
    return tuple(chance.choice(["low", "a", "A", "a ", "á", "it's", "<18", "😀"]) + str(i)
                 for i in range(count))  # fmt: skip


def constants(kind: Type, chance: Random) -> list[Any]:
    """A few values of a type, as a claim may have them."""
    match kind.kind:
        case "integer" | "wide_integer":
            return [0, 18, -5, 40, 10**17, 2**53 + 1, MOST_INTEGER, -MOST_INTEGER]
        case "decimal":
            few = ["0", "18", "-0.5", "0.015", "90071992547409.93", "1000.125", "-7.001"]
            near = [Decimal(text).quantize(Decimal(1).scaleb(-kind.scale)) for text in few]
            return [value for value in near if kind.holds(value)]
        case "double":
            return [Decimal(text) for text in ("0", "0.3", "-0.1", "100", "9007199254740993", "0.5",
                                               "0.000000000000000001")]  # fmt: skip
        case "date":
            return [day for day in DAYS if 1582 < day.year < 9999]
        case _ if kind.kind in MOMENTS:
            return [each for each in MOMENTS_OF if 1 < each.year < 9999]
        case "boolean":
            return [True, False]
        case "label":
            return [*LABELS, "none"]
        case "uuid":
            return [str(UUID(int=number)) for number in (1, 2, 2**127)]
    return ["a", "A", "á", "ß", "O'Brien", "a\\b" if chance.random() < 0.3 else "b", "日本", ""]


def _bins(seen: Type, chance: Random) -> Bins | None:
    cuts = constants(seen, chance)
    cuts = sorted(set(chance.sample(cuts, min(len(cuts), chance.randrange(1, 4)))))
    made = Bins(tuple(cuts), _labels(chance, len(cuts) + 1))
    return made if made.fits(seen) else None


def _map(seen: Type, chance: Random) -> Map | None:
    keys = constants(seen, chance)
    if seen.kind == "wide_integer":
        keys = [str(key) for key in keys]
    chosen = chance.sample(list(dict.fromkeys(keys)), min(len(set(keys)), chance.randrange(1, 4)))
    first = chance.randrange(1, len(chosen) + 1)
    labels = [chance.choice(["x", "it's", None, "é"]), "X"]
    parts = zip((chosen[:first], chosen[first:]), labels, strict=True)
    groups = [(tuple(part), label) for part, label in parts if part]
    made = Map(tuple(groups), chance.choice(["other", None, "x"]))
    return made if made.fits(seen) else None


def _round(seen: Type, chance: Random) -> Round | None:
    steps = ["1", "3", "5", "1000", "0.5", "0.1", "0.05", "2.5", "0.29", "0.000001",
             "1000000000000000", "100000000000000000"]  # fmt: skip
    fitting = [step for step in map(Round, map(Decimal, steps)) if step.fits(seen)]
    if not fitting:
        return None
    return replace(chance.choice(fitting), way=chance.choice(["nearest", "down", "zero"]))


def _keep(seen: Type, chance: Random) -> Keep | None:
    return Keep() if Keep().fits(seen) else None


def _prefix(seen: Type, chance: Random) -> Prefix | None:
    made = Prefix(chance.choice([1, 2, 3, 190]))
    return made if made.fits(seen) else None


def _truncate(seen: Type, chance: Random) -> Truncate | None:
    fitting = [made for made in map(Truncate, sorted(UNITS)) if made.fits(seen)]  # type: ignore[arg-type]
    return chance.choice(fitting) if fitting else None


_RECODES: list[Callable[[Type, Random], Recode | None]] = [
    _keep, _bins, _map, _round, _prefix, _truncate,
]  # fmt: skip


# Rows


def rows(
    chance: Random, drawn: Iterable[Claim], count: int = 240, most: int = 16
) -> list[dict[str, Any]]:
    """Rows of some people, whose values are those that the claims tell apart, and extremes."""
    near: dict[str, list[Any]] = {name: [] for name in COLUMNS}
    drawn = list(drawn)
    for claim in drawn:
        for shown in (*claim.columns, *claim.filter):
            if shown.column is not None:
                near[shown.column.name] += neighbours(shown)
        for quantity in (*claim.law.quantities, *claim.law.quantiles):
            if quantity.column is not None:
                near[quantity.column.name] += inside(quantity)
    pools = {name: _pool(name, near[name], chance, most) for name in COLUMNS if name != "row"}
    pools["id"] = [None, *range(-3, 70), MOST_INTEGER, -MOST_INTEGER - 1]
    pools["code"] = [None, *(f"{text}{n}" for text in ("", "é", "😀") for n in range(24)), "a", "A",
                     "a ", "á", "n\0a", "n\0b"]  # fmt: skip
    pools["who"] = [None, *(UUID(int=n << 100 | n) for n in range(70))]
    made = [{name: chance.choice(pool) for name, pool in pools.items()} for _ in range(count)]
    # Rows of one person that tie in all but one column.
    for row in chance.sample(made, count // 6):
        other = chance.choice([name for name in COLUMNS if name not in KEYS])
        made.append({**row, other: chance.choice(pools[other])})
    own_chance = Random(count)  # all other values stay as they were
    for period in (claim.period for claim in drawn if claim.period is not None):
        ends = neighbours(Shown("kept", period.column, period.recode))
        for value in own_chance.sample(ends, min(len(ends), 3)):
            own_chance.choice(made)[period.column.name] = value
    return [{**row, "row": number} for number, row in enumerate(made)]


def _pool(name: str, near: list[Any], chance: Random, most: int) -> list[Any]:
    few = list({repr(value): value for value in near}.values())
    chosen = chance.sample(few, min(len(few), most))
    extremes = _EXTREMES[name]
    chosen += chance.sample(extremes, min(len(extremes), most // 2))
    return chosen + [None] * (1 + len(chosen) // 4)


def neighbours(shown: Shown) -> list[Any]:
    """The values at which a recode's meaning turns, and those beside them."""
    column = shown.column
    assert column is not None
    if column.read_as is not None:
        return []
    kind, recode = column.type, shown.recode
    found: list[Any] = []
    if isinstance(recode, Bins):
        found = [near for cut in recode.cuts for near in _beside(kind, cut)]
    elif isinstance(recode, Map):
        keys = [key for members, _ in recode.groups for key in members]
        found = [near for key in keys for near in _beside(kind, key)]
    elif isinstance(recode, Round):
        step, below = recode.step, recode.below(kind)
        places = [
            step * factor for factor in map(Decimal, ("0", ".1", ".5", "1", "1.5", "-.5", "-2.5"))
        ]
        found = [near for place in (*places, below, -below) for near in _beside(kind, place)]
    elif isinstance(recode, Truncate):
        starts = [datetime(2024, 1, 1), datetime(2024, 4, 1), datetime(2023, 12, 25, 13),
                  datetime(1969, 12, 29)]  # fmt: skip
        days = [start.date() if kind.kind == "date" else start for start in starts]
        found = [near for start in days for near in _beside(kind, start)]
    return found


def inside(quantity: Quantity | Quantile) -> list[Any]:
    """Values between the ends of a quantity, of which some lie between two of its units."""
    clip, column = quantity.clip, quantity.column
    assert column is not None
    steps = (clip.low, (2 * clip.low + clip.high) // 3, (clip.low + clip.high) // 2, clip.high)
    values = [(step + part) * clip.unit for step in steps for part in (0, Decimal("0.4"))]
    match column.type.kind:
        case "integer":
            return [int(value) for value in values]
        case "decimal":
            least = Decimal(1).scaleb(-column.type.scale)
            return [value.quantize(least) for value in values]
        case "double":
            return [float(value) for value in values]
    return [str(value) for value in values]


def _beside(kind: Type, value: Any) -> Iterator[Any]:
    match kind.kind:
        case "integer" | "wide_integer":
            most = MOST_INTEGER if kind.kind == "integer" else 2**127 - 1
            for number in (-1, 0, 1):
                if -most - 1 <= (near := int(value) + number) <= most:
                    yield near
        case "decimal":
            least = Decimal(1).scaleb(-kind.scale)
            for number in (-1, 0, 1):
                near = _DECIMAL.add(value, least * number).quantize(least, context=_DECIMAL)
                if kind.holds(near) and near.copy_abs() < Decimal(10) ** (kind.digits - kind.scale):
                    yield near
        case "double":
            double = float(value)
            yield from (math.nextafter(double, -math.inf), double, math.nextafter(double, math.inf))
        case "date":
            yield from (value - timedelta(days=1), value, value + timedelta(days=1))
        case "timestamp_other":
            whole = value.replace(microsecond=value.microsecond // 1000 * 1000)
            yield from (whole + timedelta(milliseconds=number) for number in (-1, 0, 1))
        case _ if kind.kind in MOMENTS:
            yield from (value + timedelta(microseconds=number) for number in (-1, 0, 1))
        case "boolean":
            yield value
        case "label":
            yield from LABELS
        case "uuid":
            yield UUID(value)
        case _:
            yield from (value, value + " ", value.swapcase(), value + "\u0301", value + "x")


_EXTREMES: dict[str, list[Any]] = {
    **{key: [] for key in KEYS},
    "whole": WHOLES,
    "wide": [2**127 - 1, -(2**127), 2**64, 0, -1],
    "money": [Decimal(text) for text in (
        "0.000", "-0.001", "999999999.999", "-999999999.999", "1.500", "-1.500", "NaN")],
    "huge": [Decimal(text) for text in (f"{'9' * 28}.{'9' * 10}", f"-{'9' * 28}.{'9' * 10}",
                                        "0.0000000001", "12345678901234567890.1234567890",
                                        "99999.9999999999", "NaN")],
    "real": REALS,
    "text": TEXTS,
    "folded": TEXTS,
    "label": list(LABELS),
    "truth": [True, False],
    "day": DAYS,
    "at": MOMENTS_OF,
    "zoned": MOMENTS_OF,
    "millis": [datetime(1970, 1, 1), datetime(1969, 12, 31, 23, 59, 59, 999000), datetime(1, 1, 1),
               datetime(9999, 12, 31, 23, 59, 59, 999000)],
    "clock": CLOCKS,
    **{f"csv_{kind}": texts for kind, texts in SPELLED.items()},
}  # fmt: skip


# Claims on an engine


def on(
    claim: Claim, source: Relation | Files, types: dict[str, Type], salts: tuple[str, ...]
) -> Claim | None:
    """The claim over an engine's own table; None where a column or a law is not to be had there."""

    def typed(column: Column) -> Column:
        return replace(column, type=types[column.name])

    try:
        columns = tuple(replace(s, column=s.column and typed(s.column)) for s in claim.columns)
        unit, law = claim.unit, claim.law
        if isinstance(unit, People):
            order = unit.order
            if isinstance(order, tuple):
                order = tuple((typed(column), down) for column, down in order)
            keys = tuple(
                replace(key, type=replace(types[key.name], collated=False)) for key in unit.keys
            )
            unit = People(KeyColumns(keys) if keys[1:] else keys[0], order)
        if not isinstance(law, Native) and law.secret is not None:
            law = replace(law, secret=Secret(salts, law.secret.release))
        kept = tuple(replace(each, column=typed(each.column)) for each in claim.filter)
        period = claim.period and replace(claim.period, column=typed(claim.period.column))
        made = [law]
        if not isinstance(law, Pure) and law.raw_first:
            made.append(replace(law, raw_first=False))
    except KeyError:
        return None
    for each in made:
        try:
            return Claim(source, unit, each, columns, claim.count, kept, period)
        except ClaimError:
            continue
    return None


def utc(value: datetime) -> datetime:
    """A moment without zone, as one in UTC."""
    return value.replace(tzinfo=UTC)

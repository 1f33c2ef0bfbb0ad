"""What a claim means, in plain Python: rows in, released rows out, in their order.

Written from the docstrings of ``kernel/`` and from docs/explanation/mechanism.md, without a look at
the templates. A row is a mapping of a source's columns to values: int, Decimal, float, str, bool,
date, time, datetime (of a zone: in UTC, without it), UUID, or None. Where the docstrings are silent
it chooses:

* rows of a unit that tie in its order are told apart by the columns read, in the claim's order (of
  the source alone where relations are joined to it),
  ascending, NULL last: rows alike in all of them are alike to the release;
* NaN is greater than every number, −0.0 equals 0.0, texts are ordered by their bytes, a label and a
  UUID as their text, false before true;
* a cut and a step of floating-point numbers are the doubles nearest to them;
* a NaN among decimals is read as NULL by every recode.
"""

from __future__ import annotations

import hashlib
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import partial
from itertools import product
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from policy_engine.accounting.choice import coin_table
from policy_engine.kernel.claim import Claim, Shown
from policy_engine.kernel.mechanisms import (
    Cut,
    Inserted,
    IntegerTable,
    Keyed,
    Listed,
    Noisy,
    NoisyPart,
    Quantile,
    Quantity,
    Randomised,
)
from policy_engine.kernel.mechanisms.tables import farthest_of
from policy_engine.kernel.recodes import Bins, Constant, Keep, Map, Prefix, Round, Truncate
from policy_engine.kernel.sources import Column, Drawn, Groups, JoinedRelation, People, TimeBetween
from policy_engine.kernel.types import AS_TEXT

Row = Mapping[str, Any]
Released = list[tuple[Any, ...]]


def released(
    claim: Claim, rows: Iterable[Row], secret: str, relations: Sequence[Iterable[Row]] = ()
) -> Released:
    """The rows that a release of ``claim`` holds, drawn under ``secret``.

    ``relations`` are the rows of what is joined, in its order.
    """
    rows = beside(claim, rows, relations)
    rows = [row for row in rows if is_in_part(claim, row, secret)]
    sample = [row for unit, row in units(claim, rows, secret) if is_in(claim, unit, secret)]
    sample = [row for row in sample if all(meets(each, row) for each in claim.filter)]
    found: Iterable[Member] = ((group_of(claim, row), [row]) for row in sample)
    if isinstance(claim.unit, People) and isinstance(claim.unit.order, Groups):
        found = contributed(claim, claim.unit, rows, secret)
    if isinstance(claim.law, Randomised):
        own = [group for group, _ in found]
        found = [(group, []) for group in answered(claim, claim.law, own, secret)]
    if isinstance(claim.law, Inserted):
        there = [group for group, _ in found]
        found = [(group, []) for group in inserted(claim, claim.law, there, secret)]
    members: dict[tuple[Any, ...], list[list[Row]]] = defaultdict(list)
    for group, own in found:
        for part in groupings(claim, group):
            members[part].append(own)
    if isinstance(claim.law, Listed):
        members = {key: members.get(key, []) for key in listed(claim.law)}
    groups = sorted(members.items(), key=lambda each: [ascending(value) for value in each[0]])
    sizes = [(group, len(own)) for group, own in groups]
    if not isinstance(claim.law, Noisy):
        return repeated(claim, [(group, size) for group, size in sizes if size >= claim.law.k])
    shown = counted(claim, claim.law, sizes, secret)
    numbered = enumerate(zip(shown, groups, strict=True), 1)
    lines = [
        (group, size, *aggregated(claim, claim.law, group, own, size, number, secret))
        for number, ((group, size), (_, own)) in numbered
        if size is not None
    ]
    if claim.count is None:
        return repeated(claim, [(group, size) for group, size in lines])
    told = tuple(cut_counts(claim, claim.law, rows, secret))
    return [(*group, size, *beside, *told) for group, size, *beside in lines]


def cut_counts(claim: Claim, law: Noisy, rows: list[Row], secret: str) -> Iterator[int]:
    """How many people are cut, whatever is shown of their groups: one draw a number, of a release.

    They are drawn as of a first group, behind the numbers of a group.
    """
    for place, cut in enumerate(law.cuts, 1 + len(law.quantities)):
        assert law.cut_table is not None
        people = sum(is_cut(claim, cut, own) for own in gathered(claim, rows).values())
        yield people + z_of(law.cut_table, bits_of_group(claim, place, 1, secret))


def is_cut(claim: Claim, cut: Cut, own: Gathered) -> bool:
    """Whether a person, by all their rows in each of their groups, counts with less than all."""
    if cut.of == "groups":
        assert isinstance(claim.unit.order, Groups)
        return len(own) > claim.unit.order.most
    if cut.of == "rows":
        [most] = {each.clip.rows for each in claim.law.quantities if each.clip.per == "row"}
        return any(len(rows) > most for rows in own.values())
    quantity = claim.law.quantities[cut.quantity - 1]
    clip, column = quantity.clip, quantity.column
    assert column is not None
    every = [read(column, row[column.name]) for rows in own.values() for row in rows]
    there = [value for value in every if value is not None and not _is_nan(value)]
    if cut.of == "missing":
        return len(there) < len(every)
    if clip.per == "row":
        low, high = (float(end * clip.unit) for end in (clip.low, clip.high))
        return any(not low <= float(value) <= high for value in there)
    for rows in own.values():
        values = [value for row in rows if (value := held(quantity, row)) is not None]
        times = len(values) if clip.per == "mean" else 1
        if values and not clip.low * times <= sum(values) <= clip.high * times:
            return True
    return False


def beside(
    claim: Claim, rows: Iterable[Row], relations: Sequence[Iterable[Row]]
) -> list[dict[str, Any]]:
    """Each row with the columns of the one row that each relation has of its key, or NULL."""
    found = [dict(row) for row in rows]
    for joined, others in zip(claim.joins, relations, strict=True):
        of_key: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
        for other in others:
            of_key[key_of(joined, [other[key.name] for _, key in joined.on])].append(other)
        order = [*joined.order, *((column, False) for column in joined.columns)]
        first = {key: in_order(same, order)[0] for key, same in of_key.items() if None not in key}
        for row in found:
            own = first.get(key_of(joined, [row[own.name] for own, _ in joined.on]), {})
            row |= {column.name: own.get(column.name) for column in joined.columns}
    for row in found:
        row |= {each.name: whole_units(each, row) for each in claim.computed}
    return found


def whole_units(span: TimeBetween, row: Row) -> int | None:
    """The days, months or years from a row's one day to its other, if that is no earlier."""
    values = [read(column, row[column.name]) for column in (span.since, span.until)]
    if None in values:
        return None
    since, until = (v.date() if isinstance(v, datetime) else v for v in values)
    if since > until:
        return None
    if span.unit == "day":
        return (until - since).days
    begun = 12 * (until.year - since.year) + until.month - since.month
    whole = begun if until.day >= since.day else begun - 1
    return whole // 12 if span.unit == "year" else whole


def key_of(joined: JoinedRelation, values: list[Any]) -> tuple[Any, ...]:
    """A key as it is compared: whole numbers with whole numbers, all else by their texts."""
    whole = [own.type.kind == other.type.kind == "integer" for own, other in joined.on]
    paired = zip(values, whole, strict=True)
    return tuple(v if v is None or is_whole else str(v) for v, is_whole in paired)


def repeated(claim: Claim, groups: list[tuple[tuple[Any, ...], int]]) -> Released:
    """Groups with their sizes, or each as often as its size says."""
    if claim.count is None:
        return [group for group, size in groups for _ in range(size)]
    return [(*group, size) for group, size in groups]


def answered(
    claim: Claim, law: Randomised, rows: list[tuple[Any, ...]], secret: str
) -> Iterator[tuple[Any, ...]]:
    """Every row with each value its own or one of the public list, by the row's number."""
    order = sorted(rows, key=lambda row: [ascending(value) for value in row])
    for number, row in enumerate(order, 1):
        answer = []
        for column, (own, response) in enumerate(zip(row, law.responses, strict=True), 1):
            place = bits_of_group(claim, column, number, secret) // response.share
            answer.append(response.values[place] if place < len(response.values) else own)
        yield tuple(answer)


def inserted(
    claim: Claim, law: Inserted, there: list[tuple[Any, ...]], secret: str
) -> Iterator[tuple[Any, ...]]:
    """The tuples of the domain that are shown."""
    order = sorted(product(*law.values), key=lambda row: [ascending(value) for value in row])
    for number, found in enumerate(order, 1):
        if bits_of_group(claim, 1, number, secret) < (
            law.shown if found in there else law.inserted
        ):
            yield found


def listed(law: Listed) -> Iterator[tuple[Any, ...]]:
    """The public keys."""
    for rows in product(*law.keys):
        yield tuple(value for row in rows for value in row)


def group_of(claim: Claim, row: Row) -> tuple[Any, ...]:
    """What is shown of a row."""
    return tuple(shown_of(shown, row) for shown in claim.columns)


def groupings(claim: Claim, group: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """The groups in which a row counts: one, or one of each grouping, behind its number."""
    law = claim.law
    if not isinstance(law, Noisy) or not law.groupings:
        yield group
        return
    for number, each in enumerate(law.groupings, 1):
        named = zip(claim.columns, group, strict=True)
        yield (number, *(value if shown.name in each.columns else None for shown, value in named))


def aggregated(
    claim: Claim,
    law: Noisy,
    group: tuple[Any, ...],
    members: list[list[Row]],
    n: int,
    number: int,
    secret: str,
) -> Iterator[int | Decimal | None]:
    """The measures beside the count ``n`` of the ``number``-th group: of nobody a mean is None."""
    numbers = [n]
    for place, each in enumerate(law.quantities, 1):
        table, grain = each.table, each.moves.grain
        if law.groupings and law.groupings[group[0] - 1].tables:
            table = law.groupings[group[0] - 1].tables[place]
        values = [value for rows in members for value in given(each, rows)]
        center = each.center or 0
        total = len(values) if each.counts else sum(value - center for value in values)
        sign = -1 if total < 0 else 1
        total = sign * (abs(total) // grain) * grain
        numbers.append(total + grain * z_of(table, bits_of_group(claim, place, number, secret)))
    for measure in law.measures:
        own = law.quantities[measure.quantity - 1]
        clip, center, total = own.clip, own.center or 0, numbers[measure.quantity]
        many = numbers[measure.over] if measure.over is not None else 0
        unit = Decimal(1) if own.counts else clip.unit
        if measure.is_mean:
            if many < 1:
                yield None
                continue
            above = min(max(total + (center - clip.low) * many, 0), (clip.high - clip.low) * many)
            total = clip.low + (2 * above + many) // (2 * many)
        else:
            total += center * many
        shown = total * unit
        yield int(shown) if unit == int(unit) else shown
    for place, quantile in enumerate(law.quantiles, 1):
        if numbers[quantile.over] < least_of(law, quantile):
            yield None
            continue
        values = [value for rows in members for value in given(quantile, rows)]
        chosen = chosen_of(claim, quantile, place, values, number, secret) * quantile.clip.unit
        yield int(chosen) if chosen == int(chosen) else chosen


def least_of(law: Noisy, quantile: Quantile) -> int:
    """From how many values on, as they are counted, one is there for certain."""
    table, grain = law.table, 1
    if quantile.over:
        counted = law.quantities[quantile.over - 1]
        table, grain = counted.table, counted.moves.grain
    return law.offset if table.is_open else 1 + grain * (table.least + len(table.entries))


def chosen_of(
    claim: Claim, quantile: Quantile, place: int, values: list[int], group: int, secret: str
) -> int:
    """The candidate that is chosen of a group's values: the first in its order whose coin falls."""
    a, b = quantile.at.as_integer_ratio()
    step = max(a, b - a) * (quantile.clip.rows if quantile.clip.per == "row" else 1)
    candidates = list(range(quantile.clip.low, quantile.clip.high + 1))
    table = coin_table(quantile.epsilon)

    def hashed(tag: str, candidate: int) -> str:
        number = group * len(candidates) + candidate - candidates[0]
        text = f"{secret}:{tag}:{place}:{claim.stream}:{number}"
        return hashlib.sha256(text.encode()).hexdigest()

    def steps(candidate: int) -> int:
        below = sum(value < candidate for value in values)
        at = sum(value == candidate for value in values)
        above = len(values) - below - at
        missed = (b - a) * below - a * (at + above), a * above - (b - a) * (below + at)
        return -(-max(missed) // step)

    best = min(map(steps, candidates))
    for candidate in sorted(candidates, key=lambda each: (hashed("q", each), each)):
        if int(hashed("c", candidate)[:15], 16) < table.coin(steps(candidate) - best):
            return candidate
    raise AssertionError("the best one's coin falls always")


def given(quantity: Quantity | Quantile, rows: list[Row]) -> list[int]:
    """The values of one unit that count in a group, of its rows, of which the first ones count."""
    clip = quantity.clip
    if clip.per == "row":
        found = [held(quantity, row) for row in rows[: clip.rows]]
        return [value for value in found if value is not None]
    values = [value for row in rows if (value := held(quantity, row)) is not None]
    if not values:
        return []
    total = sum(values)
    if clip.per == "mean":
        if not clip.low * len(values) <= total <= clip.high * len(values):
            return [clip.low if total < clip.low * len(values) else clip.high]
        total = (2 * total + len(values)) // (2 * len(values))  # half up
    return [min(max(total, clip.low), clip.high)]


def held(quantity: Quantity | Quantile, row: Row) -> int | None:
    """How many units a row has, between its ends; None where it has none that counts."""
    clip, column = quantity.clip, quantity.column
    if column is None:
        return 1
    value = read(column, row[column.name])
    if value is None or _is_nan(value):
        return clip.absent
    ends = (clip.low, clip.high)
    if clip.per != "row":
        farthest = farthest_of(column, clip)
        ends = (-farthest, farthest)
    number = min(max(float(value), -1e17), 1e17)
    quotient = abs(number) / float(clip.unit)
    steps = math.floor(quotient) + (quotient - math.floor(quotient) >= 0.5)
    return min(max(-steps if number < 0 else steps, ends[0]), ends[1])


def counted_first(claim: Claim, unit: str, rows: list[Row], secret: str) -> list[Row]:
    """A unit's rows of a group, those first that count where not all do."""
    every = (*claim.law.quantities, *claim.law.quantiles)
    values = {(each.column, each.clip): each for each in every if each.column}
    own = list(values.values())
    order = sorted(rows, key=lambda row: [ascending(held(each, row)) for each in own])
    hashes = [hashlib.sha256(f"{secret}:r:{unit}:{place}".encode()).digest()
              for place in range(1, len(order) + 1)]  # fmt: skip
    return [order[place] for place in sorted(range(len(order)), key=hashes.__getitem__)]


Member = tuple[tuple[Any, ...], list[Row]]
"""A group, and the rows of one unit in it."""


def unit_of(unit: People, row: Row) -> str | None:
    """Whose a row is, as the text that is hashed; None of nobody: who lacks a part of a key."""
    values = [row[column.name] for column in unit.keys]
    if None in values:
        return None
    return "~:".join(str(v).replace("~", "~~") for v in values) if values[1:] else str(values[0])


Gathered = dict[tuple[Any, ...], list[Row]]
"""The rows of a unit in each of its groups."""


def gathered(claim: Claim, rows: Iterable[Row]) -> dict[str, Gathered]:
    """By unit all of its groups, with its rows in each."""
    assert isinstance(claim.unit, People)
    groups: dict[str, Gathered] = defaultdict(lambda: defaultdict(list))
    for row in filter(partial(is_in_period, claim), rows):
        key = unit_of(claim.unit, row)
        if key is not None and all(meets(each, row) for each in claim.filter):
            groups[key][group_of(claim, row)].append(row)
    return groups


def contributed(claim: Claim, unit: People, rows: Iterable[Row], secret: str) -> Iterator[Member]:
    """The groups of every unit, at most so many of each, once for each unit in it."""
    assert isinstance(unit.order, Groups)
    for key, own in gathered(claim, rows).items():
        order = sorted(own, key=lambda group: [ascending(value) for value in group])
        hashes = [hashlib.sha256(f"{secret}:o:{key}:{place}".encode()).digest()
                  for place in range(1, len(order) + 1)]  # fmt: skip
        kept = sorted(range(len(order)), key=hashes.__getitem__)[: unit.order.most]
        for group in (order[place] for place in kept):
            yield group, counted_first(claim, key, own[group], secret)


def bits_of_group(claim: Claim, statistic: int, number: int, secret: str) -> int:
    """The 60 bits of the ``number``-th group for its count, 0, or for one of its sums."""
    text = f"{secret}:g:{statistic}:{claim.stream}:{number}"
    return int(hashlib.sha256(text.encode()).hexdigest()[:15], 16)


def z_of(table: IntegerTable, bits: int) -> int:
    """Z of 60 bits."""
    return table.least + sum(entry <= bits for entry in table.entries)


def counted(
    claim: Claim, law: Noisy, groups: list[tuple[tuple[Any, ...], int]], secret: str
) -> Iterator[tuple[tuple[Any, ...], int | None]]:
    """What is shown of each group, in their order, for its size; None where it is not shown."""
    for number, (group, size) in enumerate(groups, 1):
        bits, table = bits_of_group(claim, 0, number, secret), law.table
        if law.groupings and law.groupings[group[0] - 1].tables:
            table = law.groupings[group[0] - 1].tables[0]
        drawn = z_of(table, bits)
        if table.is_open:
            is_shown = drawn < table.least + len(table.entries) and drawn <= size
            yield group, size - drawn + law.offset if is_shown else None
            continue
        if isinstance(law, Listed):
            yield group, size + drawn
            continue
        greatest = table.least + len(table.entries)
        yield group, size + drawn if size + drawn >= law.k + greatest else None


def units(claim: Claim, rows: Iterable[Row], secret: str) -> list[tuple[str, Row]]:
    """Each unit, as the text that is hashed, and the one row that it has."""
    if not isinstance(claim.unit, People):  # a row has its number in the whole source
        numbered = enumerate(rows)
        return [(str(number), row) for number, row in numbered if is_in_period(claim, row)]
    of: dict[str, list[Row]] = defaultdict(list)
    for row in filter(partial(is_in_period, claim), rows):
        if (unit := unit_of(claim.unit, row)) is not None:
            of[unit].append(row)
    rest = [(column, False) for column in claim.inputs]
    if isinstance(claim.unit.order, Groups):
        return []
    if isinstance(claim.unit.order, Drawn):
        found = ((unit, different(claim, in_order(own, rest))) for unit, own in of.items())
        return [(unit, drawn_of(unit, own, secret)) for unit, own in found]
    order = [*(claim.unit.order or ()), *(rest_of_source(claim) or rest)]
    return [(unit, in_order(own, order)[0]) for unit, own in of.items()]


def rest_of_source(claim: Claim) -> list[tuple[Column, bool]]:
    """By what rows that tie are told apart where relations are joined: by the source's columns.

    Nothing where the order names what stands beside them, or a unit is of several columns.
    """
    beside, order = {column.name for column in claim.beside}, claim.unit.ordering
    if not claim.joins or len(claim.unit.keys) > 1 or beside & {each.name for each in order}:
        return []
    found = [*claim.inputs, *claim.dates, *(own for each in claim.joins for own, _ in each.on)]
    return [(column, False) for column in found if column.name not in beside]


def different(claim: Claim, rows: list[Row]) -> list[Row]:
    """The rows that differ in a column that is read, in their order."""
    first: dict[tuple[Any, ...], Row] = {}
    for row in rows:
        first.setdefault(tuple(ascending(row[column.name]) for column in claim.inputs), row)
    return list(first.values())


def drawn_of(unit: str, rows: list[Row], secret: str) -> Row:
    """The row whose place has the least hash, under the secret and with the unit."""
    hashes = [hashlib.sha256(f"{secret}:o:{unit}:{place}".encode()).digest()
              for place in range(1, len(rows) + 1)]  # fmt: skip
    return rows[hashes.index(min(hashes))]


def in_order(rows: list[Row], order: list[tuple[Column, bool]]) -> list[Row]:
    """A unit's rows in their order: NULL is last, whichever way a column goes."""
    for column, descends in reversed(order):
        known = [row for row in rows if row[column.name] is not None]
        unknown = [row for row in rows if row[column.name] is None]
        known.sort(key=lambda row: ascending(row[column.name]), reverse=descends)
        rows = known + unknown
    return rows


def meets(condition: Shown, row: Row) -> bool:
    """Whether what is shown of a row by a condition's recode is that it is kept."""
    return shown_of(condition, row) == "kept"


def is_in_period(claim: Claim, row: Row) -> bool:
    """Whether a row is read at all: what has no date is in no period."""
    return claim.period is None or meets(claim.period, row)


def is_in_part(claim: Claim, row: Row, secret: str) -> bool:
    """Whether a row's unit is in the part that is counted: by the first 32 digits of the secret."""
    if not isinstance(claim.law, NoisyPart) or not isinstance(claim.unit, People):
        return True
    if (key := unit_of(claim.unit, row)) is None:
        return False
    bits = int(hashlib.sha256(f"{secret[:32]}:p:{key}".encode()).hexdigest()[:15], 16)
    return bits * claim.law.parts // 2**60 + 1 == claim.law.number


def is_in(claim: Claim, unit: str, secret: str) -> bool:
    """Whether a unit is sampled; native sampling is tested at a rate that leaves nobody out."""
    return not isinstance(claim.law, Keyed) or bits_of(unit, secret) < claim.law.threshold


def bits_of(unit: str, secret: str) -> int:
    """The 60 bits of a unit."""
    return int(hashlib.sha256(f"{secret}:u:{unit}".encode()).hexdigest()[:15], 16)


def ascending(value: Any) -> tuple[Any, ...]:
    """A value as it is sorted: NULL is last, NaN above every number."""
    if value is None:
        return (True,)
    return (False, True) if _is_nan(value) else (False, False, _text_of_id(value))


def shown_of(shown: Shown, row: Row) -> Any:
    """What is shown of a row."""
    if shown.column is None:
        assert isinstance(shown.recode, Constant)
        return shown.recode.label
    value = read(shown.column, row[shown.column.name])
    found = None if value is None else _RECODED[type(shown.recode)](shown, value)
    return shown.missing if found is None else found


def read(column: Column, value: Any) -> Any:
    """A value as a recode sees it: of the type that it is read as, some kinds as their text."""
    if value is None or (isinstance(value, Decimal) and value.is_nan()):
        return None
    if column.read_as is not None:
        value = _spelled(str(value), column.read_as)
    return str(value) if value is not None and column.seen.kind in AS_TEXT else value


def _spelled(text: str, kind: str) -> Any:
    """A text read as a type: plainly one, or nothing."""
    return {"integer": _whole, "double": _double, "date": _day, "timestamp": _moment, "text": str,
            "boolean": {**dict.fromkeys(("true", "True", "TRUE", "t", "T", "1"), True),
                        **dict.fromkeys(("false", "False", "FALSE", "f", "F", "0"), False)}.get,
            }[kind](text)  # type: ignore[operator]  # fmt: skip


def _is_digits(text: str, least: int, most: int) -> bool:
    return least <= len(text) <= most and all("0" <= sign <= "9" for sign in text)


def _unsigned(text: str) -> str:
    return text[1:] if text[:1] in ("+", "-") else text


def _whole(text: str) -> int | None:
    """1 to 18 digits, with a sign or without."""
    return int(text) if _is_digits(_unsigned(text), 1, 18) else None


def _double(text: str) -> float | None:
    """Up to 30 digits before a point and behind it, one at least, and an exponent of two digits."""
    mantissa, e, exponent = _unsigned(text).replace("E", "e").partition("e")
    before, point, behind = mantissa.partition(".")
    fits = _is_digits(before, 0, 30) and _is_digits(behind, 0, 30) and (before or behind)
    fits = fits and (before or point) and (not e or _is_digits(_unsigned(exponent), 1, 2))
    return float(text) if fits else None


def _day(text: str) -> date | None:
    """A day of four digits, two and two, and perhaps a time of day, which is left out."""
    moment = _local(text)
    return moment and moment.date()


def _local(text: str) -> datetime | None:
    year, month, day = text[:4], text[5:7], text[8:10]
    if not (_is_digits(year, 4, 4) and _is_digits(month, 2, 2) and _is_digits(day, 2, 2)):
        return None
    if text[4] + text[7] != "--" or int(year) < 1000:
        return None
    hour, minute, second, fraction = "00", "00", "00", ""
    clock = text[10:]
    if clock:
        if clock[0] not in "T " or len(clock) not in (6, 9, *range(11, 20)) or clock[3] != ":":
            return None
        hour, minute = clock[1:3], clock[4:6]
        if len(clock) > 6:
            second, fraction = clock[7:9], clock[10:]
            if clock[6] != ":" or clock[9:10] not in ("", ".") or len(clock) == 10:
                return None
    if not all(_is_digits(each, 2, 2) for each in (hour, minute, second)):
        return None
    if not _is_digits(fraction, 0, 9) or fraction[6:].strip("0"):
        return None
    micros = int(fraction[:6].ljust(6, "0"))
    try:
        return datetime(*map(int, (year, month, day, hour, minute, second)), micros)  # type: ignore[misc]
    except ValueError:
        return None


def _moment(text: str) -> datetime | None:
    """The same, or with an offset from UTC, from 1001 to 9998, as a time in UTC."""
    at = next((n for n, sign in enumerate(text) if n > 10 and sign in "Z+-"), None)
    if at is None:
        return _local(text)
    found, offset = _local(text[:at]), text[at:]
    if found is None or not 1001 <= found.year <= 9998 or len(text[:at]) < 16:
        return None
    if offset == "Z":
        return found
    hours, minutes = offset[1:3], offset[3:].removeprefix(":")
    if not _is_digits(hours, 2, 2) or not (
        minutes == offset[3:] == "" or _is_digits(minutes, 2, 2)
    ):
        return None
    if int(hours) > 14 or int(minutes or 0) > 59:
        return None
    shift = timedelta(hours=int(hours), minutes=int(minutes or 0))
    return found + shift if offset[0] == "-" else found - shift


def _bins(shown: Shown, value: Any) -> str | None:
    recode, seen = shown.recode, shown.seen
    assert isinstance(recode, Bins)
    if _is_nan(value):
        return None
    if seen.kind == "wide_integer":
        value = int(value)
    cuts = [float(cut) if seen.kind == "double" else cut for cut in recode.cuts]  # type: ignore[arg-type]
    return recode.labels[sum(not value < cut for cut in cuts)]


def _map(shown: Shown, value: Any) -> str | None:
    recode = shown.recode
    assert isinstance(recode, Map)
    return next((label for keys, label in recode.groups if value in keys), recode.other)


def _prefix(shown: Shown, value: str) -> str:
    assert isinstance(shown.recode, Prefix)
    return value[: shown.recode.length]


def _round(shown: Shown, value: Any) -> int | Decimal | None:
    """Of the quotient of doubles the nearest, or what is below, or towards zero; see ``Round``."""
    recode, double = shown.recode, abs(float(value))
    assert isinstance(recode, Round)
    if math.isnan(double) or not double < float(recode.below(shown.seen)):
        return None
    quotient = double / float(recode.step)
    rest = quotient - math.floor(quotient)
    is_small, is_below = double < float(recode.step) / 10, value < 0
    goes_on = {
        "nearest": rest >= 0.5 and not is_small,
        "down": is_below and (rest > 0 or (is_small and double > 0)),
        "zero": False,
    }
    steps = math.floor(quotient) + goes_on[recode.way]
    found = (-1 if is_below else 1) * steps * recode.step
    return int(found) if recode.is_whole(shown.seen) else found + Decimal(0)


def _truncate(shown: Shown, value: date) -> date | None:
    assert isinstance(shown.recode, Truncate)
    unit, zone = shown.recode.unit, shown.recode.zone
    if zone != "UTC":
        assert isinstance(value, datetime)
        if not 2 <= value.year <= 9998:
            return None
        clock = value.replace(tzinfo=UTC).astimezone(ZoneInfo(zone))
        value = clock.replace(tzinfo=None, fold=0)
    if unit == "hour":
        assert isinstance(value, datetime)
        return value.replace(minute=0, second=0, microsecond=0)
    day = value
    if isinstance(value, datetime):
        day = value.replace(hour=0, minute=0, second=0, microsecond=0)
    first = {"year": 1, "quarter": day.month - (day.month - 1) % 3}.get(unit, day.month)
    if unit in ("year", "quarter", "month"):
        return day.replace(month=first, day=1)
    if unit == "week":
        year, week, _ = day.isocalendar()
        return f"{year:04}-W{week:02}"
    return day


_RECODED: dict[type, Any] = {
    Bins: _bins, Keep: lambda shown, value: value, Map: _map, Prefix: _prefix, Round: _round,
    Truncate: _truncate,
}  # fmt: skip


def _is_nan(value: Any) -> bool:
    return isinstance(value, float | Decimal) and math.isnan(value)


def _text_of_id(value: Any) -> Any:
    return str(value) if isinstance(value, UUID) else value

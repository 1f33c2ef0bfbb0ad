"""Claims that tell a right template from a wrong one: random ones, and each edge of the sample."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from random import Random
from typing import Any

from claims import (
    COLUMNS,
    SALT,
    claims,
    on,
    pure,
    rows,
    with_joins,
    with_keys,
    with_quantiles,
    with_spans,
)
from meaning import bits_of, group_of
from running import Place

from policy_engine.engines.base import Refused
from policy_engine.kernel.claim import Claim, Shown
from policy_engine.kernel.laws import ClaimError
from policy_engine.kernel.mechanisms import CountedBy, IntegerTable, Keyed, Noisy
from policy_engine.kernel.mechanisms.common import Secret
from policy_engine.kernel.mechanisms.quantiles import Quantile
from policy_engine.kernel.printing import printed
from policy_engine.kernel.recodes import Constant, Keep
from policy_engine.kernel.sources import Column, People, Relation

EVERYBODY = (Shown("everybody", None, Constant("*")),)


def loaded(place: Place, seed: int, count: int, size: int = 240, near: int = 16) -> list[Claim]:
    """Random claims, and a table in ``place`` that is made for them."""
    chance = Random(seed)
    drawn = claims(chance, count, place.columns)
    place.load(rows(chance, drawn, size, near))
    return [claim for claim in map(place.claim, drawn) if claim is not None]


def of_public_values(place: Place, seed: int, count: int, size: int = 240) -> list[Claim]:
    """Random claims of the mechanisms of public values, and a table for them, of ``size`` rows."""
    chance = Random(seed)
    drawn = pure(chance, count, place.columns)
    if size:
        place.load(rows(chance, drawn, size))
    return [claim for claim in map(place.claim, drawn) if claim is not None]


def of_public_keys(place: Place, seed: int, count: int) -> list[Claim]:
    """Random claims of public keys, over the table that is there."""
    chance = Random(seed)
    found: list[Claim] = []
    while len(found) < count:
        [drawn] = claims(chance, 1, place.columns)
        claim = place.claim(drawn)
        if claim is not None and isinstance(claim.law, Noisy):
            with suppress(ClaimError):
                there = dict.fromkeys(group_of(claim, row) for row in place.rows)
                found.append(with_keys(chance, claim, list(there)))
    return found


def of_many_rows(place: Place, seed: int, count: int) -> list[Claim]:
    """Random claims with measures of people with many rows, over the table that is there."""
    chance = Random(seed)
    found: list[Claim] = []
    while len(found) < count:
        [drawn] = claims(chance, 1, place.columns)
        if not (drawn.unit.counts_all and drawn.law.quantities):
            continue
        if chance.random() < 0.5 and not drawn.law.groupings:
            drawn = replace(drawn, columns=EVERYBODY)  # all rows of a person are in one group
        claim = place.claim(drawn)
        if claim is not None and isinstance(claim.law, Noisy):
            found.append(claim)
    return found


def of_joins(place: Place, seed: int, count: int) -> list[Claim]:
    """Random claims over the table that is there, some columns of which are looked up in itself."""
    chance = Random(seed)
    found: list[Claim] = []
    while len(found) < count:
        [drawn] = claims(chance, 1, place.columns)
        claim = on(drawn, Relation(place.source), place.types, place.salts)
        if claim is not None:
            with suppress(ClaimError):
                found.append(with_joins(chance, claim, place.types))
    return found


def of_spans(place: Place, seed: int, count: int) -> list[Claim]:
    """Random claims that show or count a number that is computed of two dates of a row."""
    chance = Random(seed)
    found: list[Claim] = []
    while len(found) < count:
        [drawn] = claims(chance, 1, place.columns)
        claim = on(drawn, Relation(place.source), place.types, place.salts)
        if claim is None or "whole" not in {column.name for column in claim.inputs}:
            continue
        with suppress(ClaimError):
            if chance.random() < 0.3:
                claim = with_joins(chance, claim, place.types)
            found.append(with_spans(chance, claim, place.types))
    return found


def of_quantiles(place: Place, seed: int, count: int, size: int = 240) -> list[Claim]:
    """Random claims with quantiles, and a table of ``size`` rows for them; some of public keys."""
    chance = Random(seed)
    found: list[Claim] = []
    while len(found) < count:
        [drawn] = claims(chance, 1, place.columns)
        with suppress(ClaimError):
            if isinstance(drawn.law, Noisy) and not drawn.law.groupings:
                if drawn.unit.counts_all:  # many of a person's rows are in a group, or in few
                    few = Shown("truth", Column("truth", COLUMNS["truth"]), Keep())
                    shown = [drawn.columns, EVERYBODY]
                    if "truth" in place.columns:  # SQLite has no such type
                        shown.append((few,))
                    drawn = replace(drawn, columns=chance.choice(shown))
                found.append(with_quantiles(chance, drawn, place.columns))
    if size:
        place.load(rows(chance, found, size))
    for number, drawn in enumerate(found):
        if number % 4 == 0:
            there = dict.fromkeys(group_of(drawn, row) for row in place.rows)
            with suppress(ClaimError):
                found[number] = with_keys(chance, drawn, list(there))
    return [claim for claim in map(place.claim, found) if claim is not None]


def of_long_people(place: Place, seed: int, count: int) -> list[Claim]:
    """Random claims, over the table that is there, of quantiles that hardly hide one row.

    Everybody is in one group, and many have more rows there than count.
    """
    chance = Random(seed)
    found: list[Claim] = []
    while len(found) < count:
        [drawn] = claims(chance, 1, place.columns)
        with suppress(ClaimError):
            if isinstance(drawn.law, Noisy) and not drawn.law.groupings and drawn.unit.counts_all:
                drawn = replace(drawn, columns=EVERYBODY, filter=())
                drawn = with_quantiles(chance, drawn, place.columns)
                claim = place.claim(drawn)
                if claim is not None and any(map(_hides_little, drawn.law.quantiles)):
                    found.append(claim)
    return found


def _hides_little(quantile: Quantile) -> bool:
    clip, middle = quantile.clip, Decimal("0.001") < quantile.at
    return clip.per == "row" and quantile.epsilon == 9 and clip.high - clip.low > 50 and middle


def edges(place: Place, count: int = 4) -> Iterator[Claim]:
    """The number of sampled people, at thresholds that are a person's own 60 bits, and one more."""
    for key in ("id", "code"):
        known = {str(row[key]) for row in place.rows if row[key] is not None}
        drawn = sorted(bits_of(unit, SALT) for unit in known)
        for bits in [*drawn[2 : 2 + count // 2], *drawn[-count // 2 :]]:
            for threshold in (bits - 1, bits, bits + 1):
                column = Column(key, COLUMNS[key])
                unit = People(column, ((column, False),))
                law = Keyed(threshold, 2, secret=Secret(("main", "salts"), "next"))
                claim = Claim(Relation(("main", "people")), unit, law, EVERYBODY)
                found = place.claim(claim)
                if found is not None:
                    yield found


def thresholds(place: Place) -> Iterator[Claim]:
    """Counts by each of some columns, shown from further on than the counts by it and another."""
    few, many = (
        IntegerTable(tuple((at + 1) * ((1 << 60) // (size + 1)) for at in range(size)), -size // 2)
        for size in (2, 70)
    )
    key = Column("id", COLUMNS["id"])
    truth = Shown("truth", Column("truth", COLUMNS["truth"]), Keep())
    for name in ("text", "whole", "day", "label", "code"):
        columns = (Shown(name, Column(name, COLUMNS[name]), Keep()), truth)
        groupings = (CountedBy((name, "truth")), CountedBy((name,), (many,)))
        law = Noisy(few, 1, secret=Secret(("main", "salts"), "next"), groupings=groupings)
        with suppress(ClaimError):
            unit = People(key, ((key, False),))
            claim = Claim(Relation(("main", "people")), unit, law, columns)
            found = place.claim(claim)
            if found is not None:
                yield found


def printable(found: Iterable[Claim], name: str) -> Iterator[tuple[Claim, str]]:
    """The claims that an engine does not refuse, with their texts."""
    for claim in found:
        try:
            yield claim, printed(claim, name)
        except Refused:
            continue


def outcome(place: Place, claim: Claim, text: str) -> Any:
    """The rows of a text, or that it fails."""
    with place.opened() as warehouse:
        try:
            return place.run(warehouse, claim, text)
        except Exception as error:
            return type(error).__name__

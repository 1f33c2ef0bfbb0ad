"""What a claim means is what its printed text does: on every engine, row for row, in order."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random
from zoneinfo import ZoneInfo

import pytest
from claims import COLUMNS, claims, near_dates, rows
from running import NAMES, Place
from suite import (
    edges,
    loaded,
    of_joins,
    of_many_rows,
    of_public_keys,
    of_public_values,
    of_quantiles,
    of_spans,
    printable,
)

from policy_engine.engines import ENGINES
from policy_engine.engines.base import Refused
from policy_engine.errors import WarehouseFailed
from policy_engine.kernel import printing
from policy_engine.kernel.claim import Claim, Shown
from policy_engine.kernel.mechanisms import Inserted, Keyed, Noisy, Randomised
from policy_engine.kernel.mechanisms.common import Secret
from policy_engine.kernel.recodes import Truncate
from policy_engine.kernel.recodes.truncate.recode import Unit
from policy_engine.kernel.sources import Column, People, Relation

SEEDS = int(os.environ.get("KERNEL_SEEDS", "1"))
IS_EVIDENCE = bool(os.environ.get("EVIDENCE"))
#: Claims of many rows an engine: what they mean takes a third of a second each to find out.
MANY = 40 if IS_EVIDENCE else 12


def some(name: str, many: int) -> int:
    """How many random claims are tried on an engine: all of ten seeds by 'make evidence'."""
    return 8 if name == "spark" else many if IS_EVIDENCE else many // 2


@pytest.mark.parametrize("seed", range(SEEDS))
@pytest.mark.parametrize("name", NAMES)
def test_a_text_does_what_its_claim_means(place_of, name, seed):
    place = place_of(name)
    drawn = list(printable(loaded(place, seed, some(name, 60)), name))
    assert len(drawn) > 5
    with place.opened() as warehouse:
        for claim, text in drawn:
            found, wanted = place.run(warehouse, claim, text), place.meant(claim)
            assert found == wanted, f"{claim}\n{text}"


@pytest.mark.parametrize("name", NAMES)
def test_without_its_secret_a_text_says_nothing_of_anybody(place_of, name):
    """There is no row of salts with that name. Noise that is a constant would hide nothing."""
    place, many = place_of(name), some(name, 40)
    drawn = [
        *loaded(place, 0, many),
        *of_public_keys(place, 1, many // 4),
        *of_public_values(place, 2, many // 2),
        *of_quantiles(place, 3, many // 4),
    ]
    nobody = Secret(place.salts, "nobody")
    without = [
        replace(claim, law=replace(claim.law, secret=nobody))
        for claim in drawn
        if isinstance(claim.law, Keyed | Noisy | Randomised | Inserted)
    ]
    seen = set()
    with place.opened() as warehouse:
        for claim, text in printable(without, name):
            try:
                found = place.run(warehouse, claim, text)
            except WarehouseFailed:
                assert claim.count is None  # a row cannot be repeated an unknown number of times
                continue
            seen.add(type(claim.law))
            labels = len(claim.columns) + bool(getattr(claim.law, "groupings", ()))
            for row in found:
                if isinstance(claim.law, Randomised):
                    assert set(row[:labels]) == {None}, f"{claim}\n{text}"
                else:  # of public keys
                    assert set(row[labels:]) == {None}, f"{claim}\n{text}"
    assert {Keyed, Noisy} <= seen


@pytest.mark.parametrize("seed", range(SEEDS))
@pytest.mark.parametrize("name", NAMES)
def test_a_row_has_beside_it_what_other_relations_say_of_its_key(place_of, name, seed):
    place = place_of(name)
    loaded(place, seed, 20)
    drawn = list(printable(of_joins(place, seed, some(name, 80)), name))
    assert {each.is_public for claim, _ in drawn for each in claim.joins} == {False, True}
    with place.opened() as warehouse:
        for claim, text in drawn:
            found, wanted = place.run(warehouse, claim, text), place.meant(claim)
            assert found == wanted, f"{claim}\n{text}"


@pytest.mark.parametrize("seed", range(SEEDS))
@pytest.mark.parametrize("name", NAMES)
def test_a_number_is_computed_of_two_days_of_a_row(place_of, name, seed):
    """Whole days, months and years, over leap days, ends of months and moments of a zone."""
    place = place_of(name)
    if "day" not in place.types:
        return  # an engine without dates
    chance = Random(seed)
    drawn = claims(chance, 4, place.columns)
    place.load([*near_dates(chance, rows(chance, drawn))])
    found = list(printable(of_spans(place, seed, some(name, 60)), name))
    # Few claims are drawn for a slow engine: of some seeds months are, of some years.
    assert {each.unit for claim, _ in found for each in claim.computed} & {"month", "year"}
    with place.opened() as warehouse:
        for claim, text in found:
            got, wanted = place.run(warehouse, claim, text), place.meant(claim)
            assert got == wanted, f"{claim}\n{text}"


ZONES = ("Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu")


@pytest.mark.parametrize("name", NAMES)
def test_a_moment_is_told_by_the_clocks_of_a_zone(place_of, name):
    """The days and hours of a zone, beside each night on which its clocks are put on or back."""
    place = place_of(name)
    if place.types.get("zoned") != COLUMNS["zoned"]:
        return  # an engine without moments of a zone
    if "zone" in ENGINES[name].lacks:
        with pytest.raises(Refused, match="its time zones were not tested"):
            _printed_in(place, name, ZONES[0], "hour")
        return
    chance = Random(4)
    nights = [*_changes_of_clocks(1980), *_changes_of_clocks(2026), *_changes_of_clocks(2036)]
    made = rows(chance, claims(chance, 4, place.columns), 600)
    for row in made:
        minutes = chance.choice([-61, -60, -31, -30, -1, 0, 1, 29, 30, 59, 60, 61])
        row["zoned"] = chance.choice([None, *nights])
        row["zoned"] = row["zoned"] and row["zoned"] + timedelta(minutes=minutes)
    place.load(made)
    with place.opened() as warehouse:
        for zone in ZONES:
            for unit in ("hour", "day", "week", "month", "quarter", "year"):
                claim, printed = _printed_in(place, name, zone, unit)
                found = place.run(warehouse, claim, printed)
                assert len(found) >= 4
                assert found == place.meant(claim), (zone, unit)


def _changes_of_clocks(year: int) -> Iterator[datetime]:
    """When the clocks of these zones are put on or back, in UTC."""
    hours = [datetime(year, 1, 1) + timedelta(hours=hour) for hour in range(24 * 365)]
    for zone in map(ZoneInfo, ZONES):
        offsets = [hour.replace(tzinfo=UTC).astimezone(zone).utcoffset() for hour in hours]
        beside = zip(hours[1:], offsets[:-1], offsets[1:], strict=True)
        yield from (hour for hour, before, after in beside if before != after)


def _printed_in(place: Place, name: str, zone: str, unit: Unit) -> tuple[Claim, str]:
    """A claim that shows the units of a zone, one row a person, and its text."""
    row, zoned = (Column(each, COLUMNS[each]) for each in ("row", "zoned"))
    law = Keyed(2**60 - 1, 2, secret=Secret(("main", "salts"), "next"))
    shown = Shown("told", zoned, Truncate(unit, zone))
    unit_of_it = People(row, ((row, False),))
    claim = place.claim(Claim(Relation(("main", "people")), unit_of_it, law, (shown,)))
    assert claim is not None
    return claim, printing.printed(claim, name)


@pytest.mark.parametrize("name", NAMES)
def test_a_person_is_in_below_the_threshold_and_not_at_it(place_of, name):
    place = place_of(name)
    loaded(place, 0, 1)
    counts = []
    with place.opened() as warehouse:
        for claim, text in printable(edges(place, 2 if name == "spark" else 6), name):
            counts.append(place.run(warehouse, claim, text))
            assert counts[-1] == place.meant(claim), text
    for below, at, above in zip(*(counts[place::3] for place in range(3)), strict=True):
        assert below == at
        assert above[0][1] == at[0][1] + 1


@pytest.mark.parametrize("name", NAMES)
def test_a_sum_takes_next_to_nothing_for_nothing(place_of, name):
    """The least number over a unit above one is below all numbers: an error of PostgreSQL."""
    place, chance = place_of(name), Random(4)
    drawn = [each for each in claims(chance, 400, place.columns) if _sums_coarsely(each)]
    place.load([row | {"real": 5e-324} for row in rows(chance, drawn, 60)])
    found = list(printable(filter(None, map(place.claim, drawn)), name))[
        : 1 if name == "spark" else 3
    ]
    assert found
    with place.opened() as warehouse:
        for claim, text in found:
            assert place.run(warehouse, claim, text) == place.meant(claim), f"{claim}\n{text}"


def _sums_coarsely(claim):
    read = [each for each in getattr(claim.law, "quantities", ()) if each.column is not None]
    return any(each.column.seen.kind == "double" and each.clip.unit > 1 for each in read)


@pytest.mark.parametrize("seed", range(SEEDS))
@pytest.mark.parametrize("name", NAMES)
def test_public_values_are_drawn_as_the_claim_means(place_of, name, seed):
    place = place_of(name)
    drawn = list(printable(of_public_values(place, seed, some(name, 40)), name))
    assert {type(claim.law) for claim, _ in drawn} == {Randomised, Inserted}
    with place.opened() as warehouse:
        for claim, text in drawn:
            found, wanted = place.run(warehouse, claim, text), place.meant(claim)
            assert found == wanted, f"{claim}\n{text}"


@pytest.mark.parametrize("seed", range(SEEDS))
@pytest.mark.parametrize("name", NAMES)
def test_public_keys_are_shown_as_the_claim_means(place_of, name, seed):
    place = place_of(name)
    loaded(place, seed, 8)
    drawn = printable(of_public_keys(place, seed, some(name, 40)), name)
    with place.opened() as warehouse:
        for claim, text in drawn:
            found, wanted = place.run(warehouse, claim, text), place.meant(claim)
            assert found == wanted, f"{claim}\n{text}"


@pytest.mark.parametrize("seed", range(SEEDS))
@pytest.mark.parametrize("name", NAMES)
def test_measures_of_many_rows_are_what_the_claim_means(place_of, name, seed):
    place = place_of(name)
    loaded(place, seed, 8)
    drawn = printable(of_many_rows(place, seed, 6 if name == "spark" else MANY), name)
    with place.opened() as warehouse:
        for claim, text in drawn:
            found, wanted = place.run(warehouse, claim, text), place.meant(claim)
            assert found == wanted, f"{claim}\n{text}"


@pytest.mark.parametrize("seed", range(SEEDS))
@pytest.mark.parametrize("name", NAMES)
def test_quantiles_are_chosen_as_the_claim_means(place_of, name, seed):
    place = place_of(name)
    # ClickHouse reads a step anew wherever it is named, and needs four seconds for a long text.
    is_slow = name == "clickhouse" and not IS_EVIDENCE
    texts = printable(of_quantiles(place, seed, 8 if is_slow else some(name, 32)), name)
    drawn = [each for each in texts if not is_slow or len(each[1]) < 25_000]
    assert len(drawn) > 4
    with place.opened() as warehouse:
        for claim, text in drawn:
            found, wanted = place.run(warehouse, claim, text), place.meant(claim)
            assert found == wanted, f"{claim}\n{text}"


@pytest.mark.parametrize("seed", range(SEEDS))
@pytest.mark.parametrize("name", NAMES)
def test_a_map_that_is_joined_means_the_same(place_of, name, seed, monkeypatch):
    monkeypatch.setattr(printing, "LONG", 0)
    place = place_of(name)
    drawn = [each for each in printable(loaded(place, seed, 200), name) if "looked" in each[1]]
    assert len(drawn) > 5
    with place.opened() as warehouse:
        for claim, text in drawn[: some(name, 30)]:
            found, wanted = place.run(warehouse, claim, text), place.meant(claim)
            assert found == wanted, f"{claim}\n{text}"

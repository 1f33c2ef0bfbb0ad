"""What a claim means is what its printed text does: on every engine, row for row, in order."""

from __future__ import annotations

import os
from random import Random

import pytest
from claims import claims, near_dates, rows
from running import NAMES
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

from policy_engine.kernel import printing
from policy_engine.kernel.mechanisms import Inserted, Randomised

SEEDS = int(os.environ.get("KERNEL_SEEDS", "1"))
#: Claims of many rows an engine: what they mean takes a third of a second each to find out.
MANY = 40 if os.environ.get("EVIDENCE") else 12


@pytest.mark.parametrize("seed", range(SEEDS))
@pytest.mark.parametrize("name", NAMES)
def test_a_text_does_what_its_claim_means(place_of, name, seed):
    place = place_of(name)
    drawn = list(printable(loaded(place, seed, 8 if name == "spark" else 60), name))
    assert len(drawn) > 5
    with place.opened() as warehouse:
        for claim, text in drawn:
            found, wanted = place.run(warehouse, claim, text), place.meant(claim)
            assert found == wanted, f"{claim}\n{text}"


@pytest.mark.parametrize("seed", range(SEEDS))
@pytest.mark.parametrize("name", NAMES)
def test_a_row_has_beside_it_what_other_relations_say_of_its_key(place_of, name, seed):
    place = place_of(name)
    loaded(place, seed, 20)
    drawn = list(printable(of_joins(place, seed, 8 if name == "spark" else 80), name))
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
    found = list(printable(of_spans(place, seed, 8 if name == "spark" else 60), name))
    assert {each.unit for claim, _ in found for each in claim.computed} >= {"month", "year"}
    with place.opened() as warehouse:
        for claim, text in found:
            got, wanted = place.run(warehouse, claim, text), place.meant(claim)
            assert got == wanted, f"{claim}\n{text}"


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
    drawn = list(printable(of_public_values(place, seed, 8 if name == "spark" else 40), name))
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
    drawn = printable(of_public_keys(place, seed, 8 if name == "spark" else 40), name)
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
    drawn = list(printable(of_quantiles(place, seed, 6 if name == "spark" else 32), name))
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
        for claim, text in drawn[: 6 if name == "spark" else 30]:
            found, wanted = place.run(warehouse, claim, text), place.meant(claim)
            assert found == wanted, f"{claim}\n{text}"

"""Sums, means and several groupings beside noisy counts: what they may be, and their price."""

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from itertools import product
from random import Random

import pytest

from policy_engine.accounting.domain import ADD_REMOVE, REPLACE_ONE
from policy_engine.accounting.noise import IntegerTable, delta_of_release
from policy_engine.engines.base import Refused
from policy_engine.kernel.claim import Claim, Shown, to_json
from policy_engine.kernel.decoding import claim_from
from policy_engine.kernel.laws import ClaimError
from policy_engine.kernel.mechanisms import Aggregate, Clip, CountedBy, Keyed, Noisy
from policy_engine.kernel.printing import printed
from policy_engine.kernel.recodes import Keep
from policy_engine.kernel.sources import Column, Drawn, Groups, People, Relation, Rows
from policy_engine.kernel.types import Type

TABLE = IntegerTable((1 << 57, 1 << 59, (1 << 60) - (1 << 57)), -1)
WIDE = IntegerTable((1 << 56, 1 << 58, 1 << 59, (1 << 60) - (1 << 58), (1 << 60) - (1 << 56)), -2)
OPEN = replace(TABLE, is_open=True)
HOURS, ID = Column("hours", Type("integer")), Column("id", Type("integer"))
SEX = Shown("sex", Column("sex", Type("text")), Keep())
RACE = Shown("race", Column("race", Type("text")), Keep())
TOTAL = Aggregate("total", HOURS, Decimal(1), Clip(0, 3, is_mean=False), TABLE)
MEAN = Aggregate("mean", HOURS, Decimal("0.01"), Clip(0, 4, is_mean=True), TABLE)
PEOPLE = Relation(("main", "people"))


def claim(*sums, unit=None, groupings=(), columns=(SEX, RACE), **changed):
    law = Noisy(TABLE, 1, groupings=groupings, aggregates=sums)
    return Claim(PEOPLE, unit or Rows(), law, columns, **changed)


@pytest.mark.parametrize("moved", [*range(1, 130), 997, 10**4, 10**6, 10**9])
def test_a_grain_wastes_little_and_is_fine_enough(moved):
    clip = Clip(0, moved, is_mean=False)
    assert clip.grain * clip.steps("add_remove") >= moved
    assert clip.steps("add_remove") <= 20 or clip.grain == 1
    assert clip.steps("add_remove") >= min(moved, 10)
    assert clip.grain * clip.steps("add_remove") <= moved * Decimal("1.05")


@pytest.mark.parametrize("ends", [(0, 7), (-3, 4), (5, 9), (-9, -2), (0, 1)])
@pytest.mark.parametrize("is_mean", [False, True])
def test_no_person_moves_a_sum_by_more_steps_than_is_said(ends, is_mean):
    clip = Clip(*ends, is_mean)
    values = [value - clip.center for value in range(ends[0], ends[1] + 1)]

    def steps(total):
        return (1 if total > 0 else -1) * (abs(total) // clip.grain)

    others = range(-60, 61)
    moves = [steps(total + value) - steps(total) for total in others for value in values]
    assert max(map(abs, moves)) == clip.steps("add_remove")
    directions = {(False, True): "up", (True, False): "down", (True, True): "either"}
    assert clip.moves == directions[min(moves) < 0, max(moves) > 0]
    other = [steps(t + a) - steps(t + b) for t in others for a in values for b in values]
    assert max(map(abs, other)) <= clip.steps("replace_one")


def test_the_price_is_that_of_the_count_and_every_sum():
    found = claim(TOTAL, MEAN).law.statistics(1, ADD_REMOVE)
    assert [(each.shift, each.moves) for each in found] == [(1, "up"), (3, "up"), (2, "either")]
    replaced = claim(TOTAL, MEAN).law.statistics(1, REPLACE_ONE)
    assert [each.shift for each in replaced] == [1, 3, 4]
    many = claim(TOTAL, unit=People(ID, Groups(2)))
    assert [each.groups for each in many.law.statistics(many.unit.groups, ADD_REMOVE)] == [2, 2]


def outcomes(sizes, law, sums):
    """The law of what is shown of one group for each of some sizes, exactly."""
    found = {}
    tables = [law.table, *(each.table for each in law.aggregates)]
    masses = [IntegerTable(table.entries, table.least).masses for table in tables]
    for drawn in product(*(range(len(mass)) for mass in masses)):
        chance = Fraction(1)
        for mass, place in zip(masses, drawn, strict=True):
            chance *= Fraction(mass[place], 1 << 60)
        n = sizes + law.table.least + drawn[0]
        if n < law.least_shown:
            shown = None
        else:
            beside = []
            for each, total, place in zip(law.aggregates, sums, drawn[1:], strict=True):
                grain = each.clip.grain
                sign = -1 if total < 0 else 1
                beside.append(sign * (abs(total) // grain) + each.table.least + place)
            shown = (n, *beside)
        found[shown] = found.get(shown, Fraction(0)) + chance
    return found


@pytest.mark.parametrize("seed", range(6))
def test_the_price_is_not_below_the_release_itself(seed):
    """Of random tables and people: H at e^ε of one group with and without one person."""
    chance = Random(seed)
    table = IntegerTable(tuple(sorted(chance.sample(range(1, 1 << 60), 4))), -2)
    clip = Clip(chance.choice([0, -2, 1]), 3, chance.random() < 0.5)
    sums = (Aggregate("sum", HOURS, Decimal(1), clip, table),)
    law = Noisy(TABLE, 1, aggregates=sums)
    priced = Claim(PEOPLE, Rows(), law, (SEX,))
    scale = Fraction(Decimal(1).exp())
    bound = priced.delta(Decimal(1), Decimal(1), ADD_REMOVE)
    for size, others in product(range(4), range(-4, 5)):
        for value in range(clip.low, clip.high + 1):
            without = outcomes(size, law, [others])
            with_it = outcomes(size + 1, law, [others + value - clip.center])
            for one, other in ((without, with_it), (with_it, without)):
                excess = sum(max(0, p - scale * other.get(o, 0)) for o, p in one.items())
                assert excess <= Fraction(bound) * (1 + Fraction(1, 10**30))


def test_groupings_compose_and_are_numbered():
    both = (CountedBy(("sex", "race")), CountedBy(("sex",), (WIDE,)))
    found = claim(groupings=both)
    assert found.law.tables == ((TABLE,), (WIDE,))
    assert found.law.least_shown == 3
    assert found.released == ("grouping", "sex", "race")
    statistics = found.law.statistics(found.unit.groups, ADD_REMOVE)
    assert [each.table.entries for each in statistics] == [TABLE.entries, WIDE.entries]
    wanted = delta_of_release(statistics, Decimal(1)).delta
    assert found.delta(Decimal(1), Decimal(1), ADD_REMOVE) == wanted
    text = printed(found, "duckdb")
    assert 'SELECT 2, "sex", NULL, COUNT(*)\n  FROM recoded\n  GROUP BY "sex"\n' in text
    asked = 'CASE WHEN policy_engine_grouping IN (1) THEN "race" END AS "race"'
    assert asked in printed(
        replace(found, unit=People(Column("id", Type("integer")), Drawn())), "clickhouse"
    )
    assert "CASE WHEN policy_engine_grouping = 2 THEN 4 ELSE 3 END" in text
    assert claim_from(to_json(found)) == found


@pytest.mark.parametrize("notion", [ADD_REMOVE, REPLACE_ONE])
def test_the_sums_of_every_grouping_are_priced_with_its_tables(notion):
    by = (CountedBy(("sex", "race")), CountedBy(("sex",), (WIDE, TABLE, WIDE)))
    found = claim(TOTAL, MEAN, groupings=by)
    statistics = found.law.statistics(found.unit.groups, notion)
    tables = [TABLE, TABLE, TABLE, WIDE, TABLE, WIDE]
    assert [each.table.entries for each in statistics] == [each.entries for each in tables]
    once = claim(TOTAL, MEAN).law.statistics(1, notion)
    same = [(each.shift, each.moves, each.groups) for each in statistics]
    assert same == [(each.shift, each.moves, each.groups) for each in once] * 2
    wanted = delta_of_release(statistics, Decimal(1), notion).delta
    assert found.delta(Decimal(1), Decimal(1), notion) == wanted
    assert wanted >= delta_of_release(once, Decimal(1), notion).delta
    text = printed(found, "duckdb")
    assert text.count("CASE WHEN policy_engine_grouping = 2 THEN") == 4
    assert claim_from(to_json(found)) == found


def test_a_sum_reads_its_column_and_stands_beside_the_count():
    found = claim(TOTAL, MEAN)
    assert [column.name for column in found.inputs] == ["sex", "race", "hours"]
    assert found.law.beside == ("total", "mean")
    assert claim_from(to_json(found)) == found
    assert found.stream != claim(TOTAL).stream
    assert Keyed(1 << 59, 5).beside == ()


@pytest.mark.parametrize(
    ("make", "law"),
    [
        (lambda: Clip(3, 3, is_mean=False), "ends of a sum differ"),
        (lambda: Clip(0, 10**9 + 1, is_mean=False), "no end is above"),
        (lambda: replace(TOTAL, column=Column("t", Type("text"))), "a sum is of numbers"),
        (lambda: replace(TOTAL, unit=Decimal("0.5")), "a sum has whole units"),
        (lambda: replace(MEAN, unit=Decimal("1e-7")), "at most six decimal places"),
        (lambda: replace(TOTAL, unit=Decimal(10**9)), "no end is above 10"),
        (lambda: replace(TOTAL, table=replace(TABLE, is_open=True)), "a place is of a count"),
        (lambda: claim(TOTAL, count=None), "a sum stands beside a count"),
        (lambda: claim(TOTAL, replace(MEAN, name="Total")), "differ by more than case"),
        (lambda: claim(replace(TOTAL, name="n")), "differ by more than case"),
        (lambda: claim(groupings=(CountedBy(("race", "sex")),)), "is of shown columns"),
        (lambda: claim(groupings=(CountedBy(()),)), "is of shown columns"),
        (lambda: claim(groupings=(CountedBy(("sex",)),)), "a shown column in one of them"),
        (lambda: claim(groupings=(CountedBy(("sex", "race")),) * 2), "a grouping stands once"),
        (lambda: claim(groupings=(CountedBy(("sex", "race")),), count=None), "show their counts"),
        (
            lambda: claim(groupings=(CountedBy(("sex", "race")),), unit=People(ID, Groups(2))),
            "count one row a person",
        ),
        (
            lambda: claim(groupings=(CountedBy(("sex", "race"), (OPEN,)),)),
            "a place is of one grouping",
        ),
        (
            lambda: claim(TOTAL, groupings=(CountedBy(("sex", "race"), (TABLE, OPEN)),)),
            "a place is of one grouping",
        ),
        (
            lambda: claim(TOTAL, groupings=(CountedBy(("sex", "race"), (TABLE,)),)),
            "of its count and of each sum",
        ),
        (lambda: replace(claim(TOTAL), law=replace(claim(TOTAL).law, raw_first=True)), "one row"),
    ],
)
def test_what_no_claim_can_be(make, law):
    with pytest.raises(ClaimError, match=law):
        make()


def test_an_engine_without_decimals_shows_whole_means():
    with pytest.raises(Refused, match="no decimal numbers"):
        printed(claim(MEAN), "sqlite")
    assert "AS `mean`" in printed(claim(replace(MEAN, unit=Decimal(1))), "sqlite")

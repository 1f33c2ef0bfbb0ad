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
from policy_engine.kernel.mechanisms import Clip, CountedBy, Keyed, Measure, Noisy, Quantity
from policy_engine.kernel.mechanisms.tables import Moves, moves_of
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
TOTAL = Quantity(HOURS, Clip(0, 3), 0, TABLE)
ABOVE = Quantity(HOURS, Clip(0, 4, Decimal("0.01"), absent=0), 2, TABLE)
WITH_VALUE = Quantity(HOURS, Clip(0, 4, Decimal("0.01")), None, TABLE)
ROWS = Quantity(None, Clip(0, 1, rows=5), None, TABLE)
SUM, MEAN = Measure("total", 1), Measure("mean", 2, 0, is_mean=True)
MANY = People(ID, Groups(2))
PEOPLE = Relation(("main", "people"))


def claim(*drawn, shown=(SUM, MEAN), unit=None, groupings=(), columns=(SEX, RACE), **changed):
    """A claim that shows the first so many measures, of what is drawn."""
    law = Noisy(TABLE, 1, groupings=groupings, quantities=drawn, measures=shown[: len(drawn)])
    return Claim(PEOPLE, unit or Rows(), law, columns, **changed)


@pytest.mark.parametrize("moved", [*range(1, 130), 997, 10**4, 10**6, 10**9])
def test_a_grain_wastes_little_and_is_fine_enough(moved):
    moves = Moves(0, moved)
    assert moves.grain * moves.steps("add_remove") >= moved
    assert moves.steps("add_remove") <= 20 or moves.grain == 1
    assert moves.steps("add_remove") >= min(moved, 10)
    assert moves.grain * moves.steps("add_remove") <= moved * Decimal("1.05")


@pytest.mark.parametrize("ends", [(0, 7), (-3, 4), (5, 9), (-9, -2), (0, 1)])
@pytest.mark.parametrize("way", ["zero", "middle", "count"])
@pytest.mark.parametrize("rows", [1, 2, 3])
def test_no_person_moves_a_number_by_more_steps_than_is_said(ends, way, rows):
    """Of up to so many rows, each with a value between the ends or without one."""
    center = {"zero": 0, "middle": sum(ends) // 2, "count": None}[way]
    moves = moves_of(Clip(*ends, rows=rows), center)
    one = [1] if center is None else [value - center for value in range(ends[0], ends[1] + 1)]
    values = {sum(drawn) for many in range(rows + 1) for drawn in product(one, repeat=many)}

    def steps(total):
        return (1 if total > 0 else -1) * (abs(total) // moves.grain)

    others = range(-60, 61)
    moved = {steps(total + value) - steps(total) for total in others for value in values}
    assert max(map(abs, moved)) == moves.steps("add_remove")
    directions = {(False, True): "up", (True, False): "down", (True, True): "either"}
    assert moves.direction == directions[min(moved) < 0, max(moved) > 0]
    ends_of = (min(values), max(values))
    other = [steps(t + a) - steps(t + b) for t in others for a in ends_of for b in ends_of]
    assert max(map(abs, other)) <= moves.steps("replace_one")


def test_the_price_is_that_of_the_count_and_of_all_that_is_drawn():
    found = claim(TOTAL, ABOVE).law.statistics(1, ADD_REMOVE)
    assert [(each.shift, each.moves) for each in found] == [(1, "up"), (3, "up"), (2, "either")]
    replaced = claim(TOTAL, ABOVE).law.statistics(1, REPLACE_ONE)
    assert [each.shift for each in replaced] == [1, 3, 4]
    total = replace(TOTAL, clip=replace(TOTAL.clip, per="total"))
    many = claim(total, unit=MANY)
    assert [each.groups for each in many.law.statistics(2, ADD_REMOVE)] == [2, 2]
    of_rows = replace(TOTAL, clip=replace(TOTAL.clip, rows=5))
    visits = claim(of_rows, ROWS, shown=(SUM, Measure("visits", 2)), unit=MANY)
    drawn = visits.law.statistics(1, ADD_REMOVE)
    assert [(each.shift, each.moves) for each in drawn] == [(1, "up"), (15, "up"), (5, "up")]


def outcomes(sizes, law, sums):
    """The law of what is shown of one group for each of some sizes, exactly."""
    found = {}
    tables = [law.table, *(each.table for each in law.quantities)]
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
            for each, total, place in zip(law.quantities, sums, drawn[1:], strict=True):
                grain = each.moves.grain
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
    clip = Clip(chance.choice([0, -2, 1]), 3, absent=1)
    center = chance.choice([0, (clip.low + clip.high) // 2])
    shown = (Measure("sum", 1, 0 if center else None),)
    priced = claim(Quantity(HOURS, clip, center, table), shown=shown, columns=(SEX,))
    law, scale = priced.law, Fraction(Decimal(1).exp())
    bound = priced.delta(Decimal(1), Decimal(1), ADD_REMOVE)
    for size, others in product(range(4), range(-4, 5)):
        for value in range(clip.low, clip.high + 1):
            without = outcomes(size, law, [others])
            with_it = outcomes(size + 1, law, [others + value - center])
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
    assert 'CASE GROUPING("sex", "race") WHEN 0 THEN 1 WHEN 1 THEN 2 END' in text
    assert 'GROUP BY GROUPING SETS (("sex", "race"), ("sex"))\n' in text
    by_itself = 'SELECT 2, "sex", NULL, COUNT(*)\n  FROM recoded\n  GROUP BY "sex"\n'
    assert by_itself in printed(found, "trino")
    asked = 'CASE WHEN policy_engine_grouping IN (1) THEN "race" END AS "race"'
    assert asked in printed(
        replace(found, unit=People(Column("id", Type("integer")), Drawn())), "clickhouse"
    )
    assert "CASE WHEN policy_engine_grouping = 2 THEN 4 ELSE 3 END" in text
    assert claim_from(to_json(found)) == found


def test_columns_beyond_the_bits_of_a_number_are_counted_by_one_grouping_after_another():
    many = tuple(Shown(f"c{n}", Column(f"c{n}", Type("text")), Keep()) for n in range(61))
    groupings = (CountedBy(tuple(each.name for each in many)), CountedBy(("c0",)))
    assert "GROUPING SETS" not in printed(claim(groupings=groupings, columns=many), "duckdb")
    fewer = (CountedBy(groupings[0].columns[1:]), CountedBy(("c1",)))
    assert f"WHEN {2**59 - 1} THEN 2" in printed(claim(groupings=fewer, columns=many[1:]), "duckdb")


@pytest.mark.parametrize("notion", [ADD_REMOVE, REPLACE_ONE])
def test_the_sums_of_every_grouping_are_priced_with_its_tables(notion):
    by = (CountedBy(("sex", "race")), CountedBy(("sex",), (WIDE, TABLE, WIDE)))
    found = claim(TOTAL, ABOVE, groupings=by)
    statistics = found.law.statistics(found.unit.groups, notion)
    tables = [TABLE, TABLE, TABLE, WIDE, TABLE, WIDE]
    assert [each.table.entries for each in statistics] == [each.entries for each in tables]
    once = claim(TOTAL, ABOVE).law.statistics(1, notion)
    same = [(each.shift, each.moves, each.groups) for each in statistics]
    assert same == [(each.shift, each.moves, each.groups) for each in once] * 2
    wanted = delta_of_release(statistics, Decimal(1), notion).delta
    assert found.delta(Decimal(1), Decimal(1), notion) == wanted
    assert wanted >= delta_of_release(once, Decimal(1), notion).delta
    text = printed(found, "duckdb")
    assert text.count("CASE WHEN policy_engine_grouping = 2 THEN") == 4
    assert claim_from(to_json(found)) == found


def test_a_sum_reads_its_column_and_stands_beside_the_count():
    found = claim(TOTAL, ABOVE)
    assert [column.name for column in found.inputs] == ["sex", "race", "hours"]
    assert found.law.beside == ("total", "mean")
    assert claim_from(to_json(found)) == found
    assert found.stream != claim(TOTAL).stream
    assert Keyed(1 << 59, 5).beside == ()


@pytest.mark.parametrize(
    ("make", "law"),
    [
        (lambda: Clip(3, 3), "two ends of a value differ"),
        (lambda: Clip(0, 10**9 + 1), "no end is above"),
        (lambda: Clip(0, 3, rows=0), "of a person 1 to 1000 rows count"),
        (lambda: Clip(0, 3, per="total", rows=2), "of a person's total all rows count"),
        (lambda: Clip(0, 3, absent=4), "lies between the ends"),
        (lambda: Clip(0, 3, Decimal("1e-7")), "six decimal places at most"),
        (lambda: Clip(0, 3, Decimal(10**9)), "no end is above 10"),
        (lambda: replace(TOTAL, column=Column("t", Type("text"))), "a sum is of numbers"),
        (
            lambda: replace(TOTAL, column=Column("t", Type("decimal", 38, 6)), clip=Clip(0, 10**9)),
            "doubles are not exact",
        ),
        (lambda: replace(TOTAL, center=4), "a center lies between the ends"),
        (lambda: replace(ROWS, center=0), "rows that are counted have no ends"),
        (lambda: replace(ROWS, clip=Clip(0, 2)), "rows that are counted have no ends"),
        (lambda: replace(TOTAL, table=replace(TABLE, is_open=True)), "a place is of a count"),
        (lambda: claim(TOTAL, count=None), "a sum stands beside a count"),
        (
            lambda: claim(TOTAL, ABOVE, shown=(SUM, replace(MEAN, name="Total"))),
            "by more than case",
        ),
        (lambda: claim(TOTAL, shown=(replace(SUM, name="n"),)), "differ by more than case"),
        (lambda: claim(TOTAL, shown=()), "a quantity that is drawn is shown"),
        (lambda: claim(TOTAL, TOTAL, shown=(SUM, Measure("b", 2))), "a quantity is drawn once"),
        (lambda: claim(TOTAL, shown=(Measure("a", 2, 1),)), "made of a quantity that is drawn"),
        (lambda: claim(TOTAL, shown=(replace(SUM, over=0),)), "as often as there are values"),
        (lambda: claim(ABOVE, shown=(Measure("a", 1),)), "as often as there are values"),
        (lambda: claim(ABOVE, shown=(Measure("a", 1, None, is_mean=True),)), "as there are values"),
        (lambda: claim(ABOVE, shown=(Measure("a", 1, 2, is_mean=True),)), "a quantity that is"),
        (
            lambda: claim(ABOVE, ROWS, shown=(Measure("a", 1, 2, is_mean=True),), unit=MANY),
            "one number of rows counts",
        ),
        (
            lambda: claim(ABOVE, WITH_VALUE, shown=(Measure("a", 1, 2, is_mean=True),)),
            "over the values that are there",
        ),
        (
            lambda: claim(ABOVE, TOTAL, shown=(Measure("a", 1, 2, is_mean=True),)),
            "over the values that are there",
        ),
        (
            lambda: claim(
                replace(ABOVE, clip=replace(ABOVE.clip, absent=None)),
                shown=(Measure("a", 1, 0, is_mean=True),),
            ),
            "not everybody has a value",
        ),
        (
            lambda: claim(ABOVE, shown=(Measure("a", 1, 0, is_mean=True),), unit=MANY),
            "not everybody has a value",
        ),
        (lambda: claim(replace(ROWS, clip=Clip(0, 1)), shown=(Measure("a", 1, 0),)), "no mean"),
        (lambda: claim(ROWS, shown=(Measure("a", 1),)), "one row a person each row counts"),
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
            "of its count and of each quantity",
        ),
        (lambda: replace(claim(TOTAL), law=replace(claim(TOTAL).law, raw_first=True)), "one row"),
    ],
)
def test_what_no_claim_can_be(make, law):
    with pytest.raises(ClaimError, match=law):
        make()


def test_an_engine_without_decimals_shows_whole_means():
    mean = (Measure("mean", 1, 0, is_mean=True),)
    with pytest.raises(Refused, match="no decimal numbers"):
        printed(claim(ABOVE, shown=mean), "sqlite")
    whole = replace(ABOVE, clip=replace(ABOVE.clip, unit=Decimal(1)))
    assert "AS `mean`" in printed(claim(whole, shown=mean), "sqlite")

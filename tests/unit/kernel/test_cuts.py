"""How many people a limit cuts: what may be told, its price, its words, and what rows can say."""

from dataclasses import replace
from decimal import Decimal

import pytest

from policy_engine.accounting.domain import ADD_REMOVE
from policy_engine.accounting.noise import IntegerTable, Statistic
from policy_engine.kernel.certificate import Terms, vouched
from policy_engine.kernel.claim import Claim, Shown, to_json
from policy_engine.kernel.decoding import claim_from
from policy_engine.kernel.laws import ClaimError
from policy_engine.kernel.mechanisms import Clip, CountedBy, Cut, Listed, Measure, Noisy, Quantity
from policy_engine.kernel.mechanisms.checks import rows_of
from policy_engine.kernel.mechanisms.meanings import meaning_of
from policy_engine.kernel.mechanisms.noisy_counts.route import route
from policy_engine.kernel.printing import printed
from policy_engine.kernel.promise import Bounded
from policy_engine.kernel.recodes import Keep
from policy_engine.kernel.sources import Column, Drawn, Groups, People, Relation
from policy_engine.kernel.types import Type

TABLE = IntegerTable((1 << 57, 1 << 59, (1 << 60) - (1 << 57)), -1)
WIDE = IntegerTable((1 << 56, 1 << 58, 1 << 59, (1 << 60) - (1 << 58), (1 << 60) - (1 << 56)), -2)
ID, COST = Column("id", Type("integer")), Column("cost", Type("decimal", 9, 2))
SEX = Shown("sex", Column("sex", Type("text")), Keep())
MANY = People(ID, Groups(4))
CENTS = Decimal("0.01")
BY_ROW = Quantity(COST, Clip(0, 400, CENTS, rows=20), 0, TABLE)
TOTALS = Quantity(COST, Clip(-5, 400, per="total", absent=3), 0, TABLE)
MEANS = Quantity(COST, Clip(-5, 400, per="mean", absent=3), 0, TABLE)
OTHERS = Quantity(None, Clip(0, 1, rows=20), None, TABLE)
GROUPS, ROWS = Cut("groups_cut", "groups"), Cut("rows_cut", "rows")
BEYOND, MISSING = Cut("cost_cut", "bounds", 1), Cut("cost_missing", "missing", 1)


def claim(*cuts, quantities=(BY_ROW,), table=WIDE, unit=MANY, count="n", **more):
    measures = tuple(Measure(f"m{n}", n) for n in range(1, len(quantities) + 1))
    law = Noisy(TABLE, 1, quantities=quantities, measures=measures, cuts=cuts, cut_table=table)
    return Claim(Relation(("main", "people")), unit, replace(law, **more), (SEX,), count)


@pytest.mark.parametrize(
    ("made", "law"),
    [
        (lambda: claim(GROUPS, GROUPS), "shown names must differ"),
        (lambda: claim(GROUPS, replace(GROUPS, name="again")), "a cut is told once"),
        (lambda: claim(GROUPS, table=None), "a cut is told with noise"),
        (lambda: claim(table=WIDE), "a cut is told with noise"),
        (lambda: claim(GROUPS, table=replace(WIDE, is_open=True)), "a place is of a count"),
        (lambda: claim(GROUPS, unit=People(ID, Drawn()), quantities=()), "people with many rows"),
        (lambda: claim(GROUPS, count=None, quantities=()), "beside their counts"),
        (lambda: claim(replace(BEYOND, quantity=2)), "a value that is cut is one measured"),
        (lambda: claim(BEYOND, quantities=(OTHERS,)), "a value that is cut is one measured"),
        (lambda: claim(replace(GROUPS, quantity=1)), "a value that is cut is one measured"),
        (lambda: claim(ROWS, quantities=(TOTALS,)), "rows are cut where rows count"),
    ],
)
def test_what_no_claim_can_tell_of_cuts(made, law):
    with pytest.raises(ClaimError, match=law):
        made()


def test_each_cut_is_a_number_that_one_person_moves_by_one():
    """Whatever number of groups somebody is in: it is one number, of the whole release."""
    few = Quantity(COST, Clip(0, 2), 0, TABLE)
    told = claim(GROUPS, ROWS, BEYOND, MISSING, quantities=(few,))
    silent = claim(table=None, quantities=(few,))
    of_groups = silent.law.statistics(4, ADD_REMOVE)
    assert told.law.statistics(4, ADD_REMOVE) == (*of_groups, Statistic(WIDE, groups=4))
    one, many = (
        each.delta(Decimal(1), Decimal("0.5"), ADD_REMOVE)
        for each in (claim(GROUPS, quantities=(few,)), told)
    )
    assert silent.delta(Decimal(1), Decimal("0.5"), ADD_REMOVE) < one < many


def test_its_price_is_recomputed_by_brute_force():
    """Of counts and cuts, where nothing else is drawn, and beside sums."""
    for made in (claim(GROUPS, quantities=()), claim(GROUPS, BEYOND)):
        found = route(made.law, 4, Decimal(1), Decimal("0.5"), replaces=False)
        delta = made.delta(Decimal(1), Decimal("0.5"), ADD_REMOVE)
        assert found is not None
        assert float(found.delta) == pytest.approx(float(delta), rel=1e-6)


def test_a_cut_is_told_beside_every_row_and_drawn_once():
    made = claim(GROUPS, ROWS, BEYOND, MISSING)
    assert made.law.beside == ("m1", "groups_cut", "rows_cut", "cost_cut", "cost_missing")
    assert claim_from(to_json(made)) == made
    text = printed(made, "duckdb")
    assert text.count("CROSS JOIN told") == 1
    assert [text.count(f":g:{n}:{made.stream}:' || CAST(1 AS") for n in range(6)] == [
        0, 0, 1, 1, 1, 1,
    ]  # fmt: skip


def wrong(*rows):
    return rows_of(claim(GROUPS, quantities=())).wrong_row(rows)


def test_what_rows_can_say_of_cuts():
    least = WIDE.least
    assert wrong(("a", 9, 30), ("b", 9, 30)) == ""
    assert wrong(("a", 9, least)) == ""
    assert "one number of the release" in wrong(("a", 9, 30), ("b", 9, 31))
    for people in (least - 1, Decimal("2.5"), None, "many"):
        assert "groups_cut is no number of people" in wrong(("a", 9, people))


def told(made):
    promise = Bounded(Decimal(1), Decimal("1e-6"), "add_remove")
    return list(meaning_of(made).told(vouched("", made, "duckdb", Terms("a", "", "p", promise))))


def test_the_words_say_who_is_cut_and_how_they_count():
    said = "\n".join(told(claim(GROUPS, ROWS, BEYOND, MISSING)))
    for text in (
        "groups_cut is how many people are in more than 4 groups: 4 of each count, drawn at random;"
        " with noise, give or take 1.3 (1 SD)",
        "rows_cut is how many people have more than 20 rows in a group: 20 of each count",
        "cost_cut is how many people have a value of cost below 0 or above 4: it counts as 0 or",
        "cost_missing is how many people have a row without a value of cost: it is left out",
        "one number each, of the whole release and the same in each row; where no group is shown,",
    ):
        assert text in said
    for quantity, whose in ((TOTALS, "total"), (MEANS, "mean")):
        said = "\n".join(told(claim(BEYOND, MISSING, quantities=(quantity,))))
        assert f"have in a group a {whose} of cost below -5 or above 400" in said
        assert "a row without a value of cost: it counts as 3" in said
    listed = Listed(TABLE, 1, cuts=(GROUPS,), cut_table=WIDE, keys=((("f",),),))
    of_keys = replace(claim(table=None, quantities=()), law=listed)
    assert any("groups_cut is how many people" in text for text in told(of_keys))


def test_the_rows_tell_how_many_are_cut():
    meaning = meaning_of(claim(GROUPS, BEYOND))
    names = ("sex", "n", "m1", "groups_cut", "cost_cut")
    assert meaning.once == ("groups_cut", "cost_cut")
    assert list(meaning.found(names, [("f", 9, 0, 312, -1), ("m", 9, 0, 312, -1)])) == [
        "about 312 ± 1 people are in more than 4 groups: 4 of each count, drawn at random",
        "about -1 ± 1 people have a value of cost below 0 or above 4: it counts as 0 or as 4",
    ]
    assert list(meaning.found(names, [])) == []
    assert list(meaning.found(names, [("f", 9)])) == []
    assert list(meaning.found(names[:2], [("f", 9)])) == []
    assert list(meaning.found(names, [("f", 9, 0, None, None)])) == []
    assert list(meaning_of(claim(table=None)).found(("sex", "n", "m1"), [("f", 9, 0)])) == []


def test_several_groupings_tell_no_cuts():
    with pytest.raises(ClaimError, match="count one row a person"):
        claim(GROUPS, quantities=(), groupings=(CountedBy(("sex",)),))


def test_the_noise_of_what_is_cut_is_said_beside_that_of_the_counts():
    steps = dict(meaning_of(claim(GROUPS, ROWS)).steps())
    assert steps["noise"].startswith("a random whole number from -1 to 2 is added to each count;")
    assert steps["noise"].endswith(
        "; a random whole number from -2 to 3 is added to groups_cut, rows_cut, once for the whole"
        " release each"
    )

"""Quantiles beside counts: what may be asked, their price beside brute force, and their words."""

import random
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from itertools import product

import pytest

from policy_engine.accounting.choice import Choice, coin_table
from policy_engine.accounting.choice_law import law_of_choice, within_best
from policy_engine.accounting.covering import covers
from policy_engine.accounting.domain import ADD_REMOVE, REPLACE_ONE
from policy_engine.accounting.events import TableNoise
from policy_engine.accounting.exact import delta_of_event
from policy_engine.accounting.noise import IntegerTable, ReleaseCurve, Statistic
from policy_engine.accounting.pairs import pairs_of
from policy_engine.engines.base import Refused
from policy_engine.errors import DomainError
from policy_engine.kernel.certificate import Terms, vouched
from policy_engine.kernel.claim import Claim, Shown, to_json
from policy_engine.kernel.decoding import claim_from
from policy_engine.kernel.laws import ClaimError
from policy_engine.kernel.mechanisms import (
    Clip,
    CountedBy,
    Keyed,
    Listed,
    Measure,
    Noisy,
    Quantile,
    Quantity,
)
from policy_engine.kernel.mechanisms.checks import rows_of
from policy_engine.kernel.mechanisms.events import event_of
from policy_engine.kernel.mechanisms.meaning import RowNumbers
from policy_engine.kernel.mechanisms.meanings import meaning_of
from policy_engine.kernel.mechanisms.noisy_counts.route import route
from policy_engine.kernel.mechanisms.quantile_words import (
    Few,
    beside_choice,
    quantile_words,
    rank_error,
)
from policy_engine.kernel.printing import printed
from policy_engine.kernel.promise import Bounded
from policy_engine.kernel.recodes import Keep
from policy_engine.kernel.sources import Column, Groups, People, Relation, Rows
from policy_engine.kernel.types import Type
from policy_engine.ledger.asked import NONSENSE, event_from_json, event_to_json
from policy_engine.policy.mechanisms.measures import AskedQuantile

TABLE = IntegerTable((1 << 57, 1 << 59, (1 << 60) - (1 << 57)), -1)
DAYS, ID = Column("days", Type("integer")), Column("id", Type("integer"))
SEX = Shown("sex", Column("sex", Type("text")), Keep())
STAY = Clip(0, 60, rows=3)
VALUES = Quantity(DAYS, Clip(0, 1, rows=3), None, TABLE)
MEDIAN = Quantile("stay", DAYS, STAY, Decimal("0.5"), 1, Decimal("0.5"))
EVERYBODY = replace(MEDIAN, clip=Clip(0, 60, absent=0), over=0)
MANY = People(ID, Groups(2))


def claim(*quantiles, quantities=(VALUES,), unit=MANY, law=None, **more):
    found = law or Noisy(TABLE, 1, quantities=quantities, quantiles=quantiles)
    return Claim(Relation(("main", "people")), unit, found, (SEX,), **more)


@pytest.mark.parametrize(
    ("made", "law"),
    [
        (lambda: replace(MEDIAN, clip=Clip(0, 1000, rows=3)), "at most 1000 values"),
        (lambda: replace(MEDIAN, at=Decimal("0.1234")), "three places"),
        (lambda: replace(MEDIAN, at=Decimal(1)), "three places"),
        (lambda: replace(MEDIAN, epsilon=Decimal("0.009")), "from 0.01 to 50"),
        (lambda: replace(MEDIAN, clip=Clip(0, 60, per="total")), "rows, or of people's means"),
        (lambda: replace(MEDIAN, column=Column("sex", Type("text"))), "a sum is of numbers"),
        (lambda: claim(replace(MEDIAN, over=0), quantities=()), "not everybody has a value"),
        (lambda: claim(MEDIAN, quantities=()), "a count of values is drawn"),
        (lambda: claim(replace(MEDIAN, column=Column("age", Type("integer")))), "how many there"),
        (lambda: claim(replace(MEDIAN, clip=Clip(0, 60, per="mean"))), "how many there are"),
        (lambda: claim(EVERYBODY, quantities=()), "not everybody has a value"),
        (lambda: claim(MEDIAN, MEDIAN), "shown names must differ"),
        (lambda: claim(MEDIAN, count=None), "a sum stands beside a count"),
        (lambda: claim(quantities=(VALUES,)), "a quantity that is drawn is shown"),
        (
            lambda: claim(
                unit=People(ID, ((ID, False),)),
                law=Noisy(TABLE, 1, groupings=(CountedBy(("sex",)),), quantiles=(EVERYBODY,)),
            ),
            "quantiles are of one grouping",
        ),
        (
            lambda: claim(unit=Rows(), law=Noisy(TABLE, 1, 0, True, quantiles=(EVERYBODY,))),
            "one row a person",
        ),
    ],
)
def test_what_no_claim_can_choose(made, law):
    with pytest.raises(ClaimError, match=law):
        made()


def test_a_quantile_with_rows_of_everybody_is_told_by_the_rows():
    rows = Quantity(None, Clip(0, 1, rows=3), None, TABLE)
    full = replace(MEDIAN, clip=replace(STAY, absent=5))
    assert claim(full, quantities=(rows,)).law.least_of(full) == 1 + TABLE.largest


def test_the_least_number_is_of_what_tells_it():
    of_people = claim(EVERYBODY, quantities=(), unit=Rows()).law
    assert of_people.least_of(EVERYBODY) == 1 + TABLE.largest
    place = replace(TABLE, least=1, is_open=True)
    drawn = Noisy(place, 1, 2, quantiles=(EVERYBODY,))
    assert claim(unit=Rows(), law=drawn).law.least_of(EVERYBODY) == 2
    with pytest.raises(NotImplementedError):
        Keyed(1 << 59, 2).least_of(EVERYBODY)


def test_a_claim_is_written_and_read_again():
    made = claim(MEDIAN, replace(MEDIAN, name="p90", at=Decimal("0.9")))
    assert claim_from(to_json(made)) == made
    assert made.law.beside == ("stay", "p90")
    assert made.law.reads == (DAYS, DAYS, DAYS)


def test_an_engine_that_was_not_tested_refuses_with_a_remedy():
    with pytest.raises(Refused, match="were not tested on it; leave it out"):
        printed(claim(MEDIAN), "bigquery")


def test_the_price_is_that_of_the_count_and_of_each_choice():
    made = claim(MEDIAN, replace(MEDIAN, name="p90", at=Decimal("0.9")))
    assert made.law.choices(2) == (Choice(Decimal("0.5"), 61, 2),) * 2
    event = event_of(made, Decimal(1), ADD_REMOVE)
    assert isinstance(event, TableNoise)
    assert event.choices == made.law.choices(2)
    assert event_from_json(event_to_json(event)) == event
    for notion in (ADD_REMOVE, REPLACE_ONE):
        priced = made.delta(Decimal(1), Decimal(2), notion)
        assert priced == delta_of_event(event, Decimal(2), notion)
        again = route(made.law, 2, Decimal(1), Decimal(2), replaces=notion == REPLACE_ONE)
        assert abs(again.delta - priced) <= again.error * again.delta


def test_a_record_with_another_choice_is_nonsense():
    told = event_to_json(TableNoise((Statistic(TABLE),), (Choice("1", 61),)))
    told["choices"][0]["epsilon"] = "1.0e0"
    with pytest.raises(NONSENSE):
        event_from_json(told)
    with pytest.raises(DomainError, match="choices"):
        TableNoise((Statistic(TABLE),), (Statistic(TABLE),))


def chances(values, candidates, epsilon, *, rows=1):
    """The law of a median of some values by the table of coins, in exact fractions."""
    steps = []
    for c in candidates:
        below, above = sum(v < c for v in values), sum(v > c for v in values)
        steps.append(-(-max(2 * below - len(values), 2 * above - len(values)) // rows))
    table = coin_table(epsilon)
    return law_of_choice([table.coin(each - min(steps)) for each in steps])


def excess(one, other, epsilon):
    scale = Fraction(Decimal(epsilon).exp())
    return sum(max(Fraction(0), p - scale * q) for p, q in zip(one, other, strict=True))


@pytest.mark.parametrize("epsilon", ["0.3", "1", "2.5"])
def test_a_pair_of_a_choice_is_above_every_pair_of_small_groups(epsilon):
    """Brute force: all groups of up to 4 values, one person of one row more, or one replaced."""
    candidates = range(4)
    alone = {
        neighbours: ReleaseCurve.of([Choice(epsilon, 4)], neighbours)
        for neighbours in (ADD_REMOVE, REPLACE_ONE)
    }
    tried = [Decimal(0), Decimal(epsilon) / 2, Decimal(epsilon), 2 * Decimal(epsilon)]
    for size in range(4):
        for values in product(candidates, repeat=size):
            if list(values) != sorted(values):
                continue
            law = chances(values, candidates, epsilon)
            more = {c: chances((*values, c), candidates, epsilon) for c in candidates}
            for at in tried:
                bound = alone[ADD_REMOVE].delta(at).delta
                twice = alone[REPLACE_ONE].delta(at).delta
                for one in more.values():
                    assert max(excess(one, law, at), excess(law, one, at)) <= bound
                    assert all(excess(one, other, at) <= twice for other in more.values())


def test_two_choices_would_not_cover_a_unit_replaced_in_one_group():
    """Two moves of one each, up and down: what is seen is above what two choices of ε add up to."""
    epsilon, at = Decimal(1), Decimal("0.1")
    table = coin_table(epsilon)
    seen = excess(*(law_of_choice([*map(table.coin, far)]) for far in ((0, 2), (2, 0))), at)
    two = ReleaseCurve.of([Choice(epsilon, 2), Choice(epsilon, 2)], ADD_REMOVE).delta(at).delta
    assert two < seen <= ReleaseCurve.of([Choice(epsilon, 2)], REPLACE_ONE).delta(at).delta


def test_a_choice_is_composed_by_the_account_as_by_the_certificate():
    event = TableNoise((Statistic(TABLE),), (Choice("0.5", 61, 3),))
    for notion, times in ((ADD_REMOVE, 4), (REPLACE_ONE, 5)):
        assert len(pairs_of(event, notion)) == times


def test_a_slot_covers_a_choice_of_less_and_no_noise_stands_for_one():
    def of(epsilon, many=61, groups=1):
        return TableNoise((Statistic(TABLE),), (Choice(epsilon, many, groups),))

    for notion in (ADD_REMOVE, REPLACE_ONE):
        assert covers(of("0.5"), of("0.4"), notion)
        assert covers(of("0.5"), of("0.5", 40), notion)
        assert covers(of("0.5", groups=2), of("0.5"), notion)
        assert not covers(of("0.5"), of("0.6"), notion)
        assert not covers(of("0.5"), of("0.5", groups=2), notion)
        assert not covers(TableNoise((Statistic(TABLE, groups=9),)), of("0.01"), notion)


@pytest.mark.parametrize("share", [0.5, 0.95])
@pytest.mark.parametrize(("epsilon", "many"), [("0.5", 3), ("1.5", 4), ("6", 5)])
def test_so_often_a_choice_is_so_near_whatever_the_values_are(epsilon, many, share):
    table, within = coin_table(epsilon), within_best(share, epsilon, many)
    reach = range(within + 3)
    for others in product([0, within, within + 1, reach[-1]], repeat=many - 1):
        law = law_of_choice([table.coin(far) for far in (0, *others)])
        near = sum(p for p, far in zip(law, (0, *others), strict=True) if far <= within)
        assert near >= share
    if within:
        law = law_of_choice([table.coin(far) for far in (0, *[within] * (many - 1))])
        assert law[0] < share  # and no smaller number would do


@pytest.mark.parametrize("at", ["0.5", "0.9", "0.2"])
def test_of_enough_values_a_quantile_is_beyond_all_of_them_in_at_most_5_of_100(at):
    """A median of 85 people was 70 where nobody was above 30, and no sign said so."""
    asked = AskedQuantile("stay", "days", Clip(0, 20), Decimal(at), 1, Decimal(1))
    few = Few.of(asked, asked.spent, 0)
    a, b = asked.at.as_integer_ratio()
    step, table, rng = max(a, b - a), coin_table(asked.spent), random.Random(7)
    for kind in ((10,), (10, 11), tuple(range(7, 14)), (10,) * 30 + (7, 13)):
        for many, ends in ((few.low, "low"), (few.high, "high")):
            values = [rng.choice(kind) for _ in range(many)]
            misses = []
            for candidate in range(21):
                below = sum(value < candidate for value in values)
                upon = sum(value <= candidate for value in values)
                misses.append(max((b - a) * below - a * (many - below),
                                  a * (many - upon) - (b - a) * upon))  # fmt: skip
            steps = [-(-miss // step) for miss in misses]
            law = law_of_choice([table.coin(each - min(steps)) for each in steps])
            beyond = law[: min(values)] if ends == "low" else law[max(values) + 1 :]
            assert sum(beyond) <= 0.05
    assert few.either == max(few.low, few.high)
    told = {"0.5": "anything from 0 to 20", "0.9": "anything up to 20", "0.2": "anything down to 0"}
    assert few.words(asked) == told[at]
    sizes = sorted((few.low, few.high))
    assert sizes[1] // sizes[0] == {"0.5": 1, "0.9": 8, "0.2": 3}[at]


ROWS_THERE = Quantity(None, Clip(0, 1, rows=3), None, TABLE)


@pytest.mark.parametrize(
    ("made", "beside", "few", "enough", "told"),
    [
        (claim(EVERYBODY, quantities=(), unit=Rows()), {}, {"n": 27}, {"n": 28}, "in 1 of 3"),
        (claim(MEDIAN, law=Noisy(TABLE, 1, quantities=(VALUES,), measures=(Measure("v", 1),),
               quantiles=(MEDIAN,))), {"n": 1}, {"v": 77}, {"v": 78}, "in 1 of 3"),
        (claim(MEDIAN), {}, {"n": 27}, {"n": 28}, "in at least 1 of 3"),  # 3 rows each at most
        (claim(law=Noisy(TABLE, 1, quantities=(VALUES, ROWS_THERE), measures=(Measure("r", 2),),
               quantiles=(MEDIAN,))), {"n": 99}, {"r": 77}, {"r": 78}, "in at least 1 of 3"),
    ],
)  # fmt: skip
def test_rows_of_too_few_values_are_told_by_released_numbers(made, beside, few, enough, told):
    terms = Terms("a", "", "people", Bounded(Decimal(2), Decimal("0.9")))
    certificate = vouched(printed(made, "duckdb"), made, "duckdb", terms)
    meaning = meaning_of(made)
    named = {"sex": "f", "n": 99} | beside
    rows = [named | {"stay": 7} | few, named | {"stay": 7} | enough, named | {"stay": None} | few]
    rows = [{name: row[name] for name in ("sex", "n", *made.law.beside)} for row in rows]
    [said] = meaning.found([*rows[0]], [tuple(row.values()) for row in rows])
    assert said == f"stay can be anything from 0 to 60 {told} rows (f): too few values there"
    [stay] = (each for each in meaning.numbers(certificate) if each.name == "stay")
    ends = [stay.interval(RowNumbers.of(row)) for row in rows]
    assert ends == [(0, 60), None, None]
    assert (stay.unstated is None) == ("at least" not in told)
    assert not [*meaning.found([*rows[1]], [tuple(rows[1].values())])]


def test_what_a_release_says_of_a_median():
    made = claim(MEDIAN, replace(MEDIAN, name="p90", at=Decimal("0.9")))
    terms = Terms("a", "", "people", Bounded(Decimal(2), Decimal("0.9")))
    certificate = vouched(printed(made, "duckdb"), made, "duckdb", terms)
    told = "\n".join(meaning_of(made).told(certificate))
    assert "stay is the median of days over the rows with a value, at most 3" in told
    assert "half of the time, or more often, within 21 rows of the middle" in told
    assert "of the place that 0.9 of them are below" in told
    assert "stay is empty where the number of its values, with noise, is below 3" in told
    assert (
        "stay can be anything from 0 to 60 where the number of its values, with noise, is " in told
    )
    unshown = "so not every row shows whether it has too few"
    assert f"no column shows how many values stay has, {unshown}" in told
    steps = " ".join(text for _, text in meaning_of(made).steps())
    assert "is one of 61 values, by coins of ε = 0.5" in steps
    assert "between 0 and 60" in meaning_of(made).sums()["stay"]
    assert "Left empty where" in meaning_of(made).afterwards()
    assert meaning_of(made).curve(certificate, ADD_REMOVE)(Decimal(1)) == made.delta(
        Decimal(1), Decimal(1), ADD_REMOVE
    )


@pytest.mark.parametrize(
    ("value", "is_wrong"),
    [(0, False), (60, False), (None, False), (61, True), (Decimal("0.5"), True)],
)
def test_what_a_row_can_say(value, is_wrong):
    found = rows_of(claim(MEDIAN)).wrong_row([("f", 9, value)])
    assert bool(found) is is_wrong


def test_public_keys_may_have_quantiles():
    law = Listed(TABLE, 1, quantiles=(EVERYBODY,), keys=((("f",), ("m",)),))
    text = printed(claim(unit=Rows(), law=law), "duckdb")
    assert "policy_engine_listed = 1" in text


def test_a_measure_stands_before_a_quantile():
    rows = Quantity(None, Clip(0, 1, rows=3), None, TABLE)
    law = Noisy(TABLE, 1, quantities=(rows, VALUES), measures=(Measure("visits", 1),),
                quantiles=(replace(MEDIAN, over=2),))  # fmt: skip
    assert claim(law=law).law.beside == ("visits", "stay")


def test_what_a_quantile_is_and_how_far_it_is_off_in_words():
    asked = AskedQuantile("stay", "days", Clip(0, 60), Decimal("0.5"), 1)
    of_people = replace(asked, clip=Clip(0, 60, per="mean"))
    words = "the median over the people with a value of each one's mean of days"
    assert quantile_words(of_people, "days", many=True) == words
    as_none = replace(asked, clip=Clip(0, 60, absent=0))
    words = "the median of days over the people, a missing value as 0"
    assert quantile_words(as_none, "days", many=False) == words
    said = [rank_error(asked, Decimal(e), many=many) for e in (1, 4) for many in (True, False)]
    ends = ("rows", "people", "row", "person")
    assert [each.partition(" of the middle")[0].rpartition(" ")[2] for each in said] == list(ends)


def test_a_choice_of_nearly_no_chance_is_within_nothing():
    assert within_best(0.95, 100, 2) == 0


def test_where_each_median_that_is_shown_has_enough_values_nothing_is_said_of_few():
    assert len([*beside_choice(MEDIAN, Few(5, 5), 5, "n")]) == 2
    assert len([*beside_choice(MEDIAN, Few(5, 6), 5, "n")]) == 3

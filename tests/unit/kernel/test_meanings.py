"""What each mechanism and each recode says of itself, by the numbers of its claim."""

import math
import re
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal

import pytest

from policy_engine.accounting.domain import claimed
from policy_engine.accounting.events import SampledSuppression, Unbounded
from policy_engine.accounting.noise import IntegerTable
from policy_engine.accounting.noise_laws import deviation, laplace
from policy_engine.kernel.certificate import Terms, vouched
from policy_engine.kernel.claim import Claim, Shown
from policy_engine.kernel.laws import ClaimError
from policy_engine.kernel.mechanisms import (
    Clip,
    CountedBy,
    Inserted,
    Keyed,
    Listed,
    Measure,
    Noisy,
    NoisyPart,
    Quantity,
    Randomised,
    WholeClasses,
)
from policy_engine.kernel.mechanisms.checks import rows_of
from policy_engine.kernel.mechanisms.common import ReleaseLaw
from policy_engine.kernel.mechanisms.events import charged, event_of, of_replaced
from policy_engine.kernel.mechanisms.meaning import Meaning, RowNumbers
from policy_engine.kernel.mechanisms.meanings import MEANINGS, meaning_of
from policy_engine.kernel.mechanisms.randomised_response.law import Response
from policy_engine.kernel.mechanisms.rows import RowsChecked
from policy_engine.kernel.mechanisms.tables import moves_of
from policy_engine.kernel.models import LDiversity
from policy_engine.kernel.promise import Bounded, Unpromised
from policy_engine.kernel.recodes import Bins, Constant, Keep, Map, Prefix, Round, Truncate
from policy_engine.kernel.recodes.meaning import RecodeMeaning
from policy_engine.kernel.recodes.meanings import recode_meaning
from policy_engine.kernel.sources import Column, Drawn, Groups, People, Relation, Rows
from policy_engine.kernel.types import Type, ValueRecode, digits_of
from policy_engine.kernel.wording import value_words

MADE = laplace(1, 14)
TABLE = IntegerTable(MADE.entries, MADE.least)
OPEN = replace(IntegerTable((1 << 57, 1 << 59), 5), is_open=True)
AGE, SEX, ID = (Column(name, Type(kind)) for name, kind in
                (("age", "integer"), ("sex", "text"), ("id", "integer")))  # fmt: skip
AGES = Shown("age", AGE, Bins((18,), ("young", "old")))
SEXES = Shown("sex", SEX, Map(((("f",), "F"),), "M"))
PEOPLE, SHOWN = Relation(("main", "people")), (AGES, SEXES)
VALUES = (("young", "old", None), ("F", "M", None))
TOTAL = Quantity(AGE, Clip(0, 9), 0, TABLE)
ABOVE = Quantity(AGE, Clip(0, 99, Decimal("0.1"), absent=0), 49, TABLE)
MEASURES = (Measure("total", 1), Measure("mean age", 2, 0, is_mean=True))
SAMPLE = Claim(PEOPLE, Rows(), Keyed(1 << 59, 20), SHOWN)
COUNTS = Claim(PEOPLE, Rows(), Noisy(TABLE, 1), SHOWN)
SUMS = replace(COUNTS, law=Noisy(TABLE, 1, quantities=(TOTAL, ABOVE), measures=MEASURES))
ANSWERS = Claim(PEOPLE, Rows(), Randomised(tuple(Response(v, 1 << 57) for v in VALUES)), SHOWN)
TUPLES = Claim(PEOPLE, Rows(), Inserted(3 << 58, 1 << 58, VALUES), SHOWN, None)
CLASSES = Claim(PEOPLE, Rows(), WholeClasses(3, ("sex",)), SHOWN)
KEYS = Listed(TABLE, 1, keys=((("*",),), (("young",), (None,)), (("F",),)))
LISTED = Claim(
    PEOPLE, Rows(), KEYS, (Shown("all", None, Constant("*")), *SHOWN)
)  # fmt: skip
BOTH = (CountedBy(("age", "sex")), CountedBy(("sex",), (TABLE, TABLE, TABLE)))
SEVERAL = replace(SUMS, law=replace(SUMS.law, groupings=BOTH))
EVERY = (SAMPLE, COUNTS, SUMS, ANSWERS, TUPLES, CLASSES, LISTED, SEVERAL)


def stated(claim, promise=None, **changed):
    """A certificate of a claim, whose promise nobody looked at."""
    promise = promise or Bounded(Decimal(1), Decimal("1e-6"), "replace_one")
    return vouched("", claim, "duckdb", Terms("a", "", "people", promise, **changed))


def told(claim, promise=None, **changed):
    certificate = stated(claim, promise, **changed)
    return list(meaning_of(claim).told(certificate))


@pytest.mark.parametrize("claim", EVERY)
def test_whatever_is_asked_of_a_mechanism_has_an_answer(claim):
    rate = Decimal("0.5") if claim.law.is_sample else Decimal(1)
    promise = Bounded(Decimal(1), Decimal("1e-6"), "replace_one", rate)
    meaning, certificate = meaning_of(claim), stated(claim, promise)
    assert meaning.title and meaning.count == claim.count and meaning.law is claim.law
    texts = [
        meaning.randomness("postgres"), meaning.counted, meaning.unprotected(),
        meaning.afterwards(), *meaning.told(certificate), *meaning.estimates(),
        *(text for _, text in meaning.steps()), *(text for _, text in meaning.described("keyed")),
    ]  # fmt: skip
    assert all(texts)
    chances = [chance for each in meaning.chances(certificate) for _, chance in each.each]
    assert all(0 <= chance <= 1 for chance in chances)
    curve = meaning.curve(certificate, "replace_one")
    assert 0 <= curve(Decimal(9)) <= curve(Decimal(0)) <= 1
    assert event_of(claim, Decimal("0.5"), "replace_one")
    assert rows_of(claim).wrong_row([]) == ""


def test_a_sample_is_a_part_of_the_source():
    half = Bounded(Decimal(1), Decimal("1e-6"), rate=Decimal("0.05"), sampled_at=Decimal("0.1"))
    first, second, third, *_ = told(SAMPLE, half)
    assert first.startswith("n counts people of a sample, which each person of the source was in")
    assert "n / 0.5 estimates the group in the source: 20 is about 40" in second
    assert "n / 0.05 estimates the group in its population" in third
    assert told(replace(SAMPLE, count=None))[0].startswith("each row is one person of a sample")
    assert meaning_of(SAMPLE).exact == frozenset()
    sampling = meaning_of(SAMPLE).sampling(stated(SAMPLE, half))
    assert list(sampling) == [("sample", "each person is in with probability 0.5, drawn in secret")]
    assert "groups of fewer than 20 people" in meaning_of(SAMPLE).why_sampled()
    assert meaning_of(COUNTS).why_sampled() is None
    assert [*meaning_of(COUNTS).sampling(stated(COUNTS))] == []
    assert meaning_of(SAMPLE).visible(stated(SAMPLE, half)) == {"": 39}


def test_counts_have_noise():
    meaning = meaning_of(COUNTS)
    assert meaning.noise.startswith("a random number from -14 to 14 is added (sha256 ")
    assert meaning_of(SAMPLE).noise == ""
    placed = replace(COUNTS, law=Noisy(OPEN, 5, 1), count=None)
    assert "from 5 on is taken away" in meaning_of(placed).noise
    assert "1 is added to each noisy count" in meaning_of(placed).afterwards()
    assert "is taken from each count" in dict(meaning_of(placed).steps())["noise"]
    assert dict(meaning_of(placed).described("keyed"))["counts"].endswith("number taken away")
    first, second, third, *_ = told(placed)
    assert first.startswith("a group is repeated as often as its number says")
    assert second.startswith("the number of a group's rows is how many people of the source")
    assert third == "every group that is shown has at least 5 people"
    assert "at least 5 people for certain" in dict(meaning_of(placed).steps())["suppress"]


def test_a_part_is_of_some_of_them():
    people = People(ID, None)
    part = replace(COUNTS, unit=people, law=NoisyPart(TABLE, 1, parts=3, number=2))
    assert "people of part 2 of 3 of the source" in told(part)[0]
    assert [*meaning_of(part).lines()][-1].startswith("part 2 of 3: of everybody one in 3")
    assert {*MEANINGS["noisy_counts"].sentences} == {"keys_listed", "part_drawn", "stays"}


def test_a_person_can_count_in_several_groups():
    many = replace(COUNTS, unit=People(ID, Groups(3)))
    meaning = meaning_of(many)
    assert "each unit counts in 3 of its groups at most" in meaning.randomness("duckdb")
    assert meaning.counted == "people, group by group, counted with noise"
    assert any("a person is counted in up to 3 groups" in text for text in told(many))
    drawn = meaning_of(replace(COUNTS, unit=People(ID, Drawn()))).randomness("duckdb")
    assert "of each unit's different rows one is kept" in drawn


def test_sums_and_groupings_stand_beside_counts():
    meaning = meaning_of(SEVERAL)
    assert [each.columns for each in meaning.groupings()] == [("age", "sex"), ("sex",)]
    assert [*meaning_of(SAMPLE).groupings()] == []
    assert meaning.sums()["total"].startswith(
        "the sum of age (integer) over the people with a value"
    )
    assert meaning_of(SAMPLE).sums() == {} and [*meaning_of(SAMPLE).lines()] == []
    assert [*meaning.lines()][:1] == [f"total: {meaning.sums()['total']}"]
    assert [*meaning.lines()][-1] == "grouping 2: by sex"
    assert meaning.why_not_alike and not meaning_of(COUNTS).why_not_alike
    assert "Made of a noisy sum and a noisy count: mean age." in meaning.afterwards()
    steps = dict(meaning.steps())
    assert steps["count"].endswith(
        ", with the sum of age over the people with a value (total), the mean of age over the"
        ' people, a missing value as 0 ("mean age") beside it, once by each of 2 groupings'
    )
    assert "by sex a random whole number from -14 to 14 is added to each count" in steps["noise"]
    assert 'each sum of which "mean age" is made' in steps["noise"]
    texts = told(SEVERAL)
    assert any(text.startswith("total is the sum of age over the people") for text in texts)
    assert any(text.startswith("everybody is counted once in each grouping: 1 by age, sex") for
               text in texts)  # fmt: skip
    assert any(text.startswith("in grouping 2 mean age is give or take") for text in texts)


MANY = People(ID, Groups(3))
BY_ROW = Clip(0, 40, rows=20)


def of_visits():
    """Visits, a total of theirs, how many have an age, and its means: by row, and by person."""
    drawn = (
        Quantity(None, Clip(0, 1, rows=20), None, TABLE),
        Quantity(AGE, BY_ROW, None, TABLE),
        Quantity(AGE, BY_ROW, 20, TABLE),
        Quantity(AGE, Clip(0, 9, per="mean"), None, TABLE),
        Quantity(AGE, Clip(0, 9, per="mean"), 4, TABLE),
        Quantity(AGE, Clip(-9, 0, per="total"), 0, TABLE),
    )
    shown = (
        Measure("visits", 1), Measure("with_age", 2), Measure("mean", 3, 2, is_mean=True),
        Measure("ages", 3, 2), Measure("own", 5, 4, is_mean=True), Measure("total", 6),
    )  # fmt: skip
    return replace(COUNTS, unit=MANY, law=Noisy(TABLE, 1, quantities=drawn, measures=shown))


def test_each_measure_says_what_it_is_of_and_what_it_is_off_by():
    claim = of_visits()
    texts = {text.split(" is ")[0]: text for text in told(claim) if ", with noise" in text}
    assert "how many rows are counted in the group, at most 20 of each person's" in texts["visits"]
    assert "how many rows in the group have a value of age" in texts["with_age"]
    assert (
        "the mean of age over the rows with a value, at most 20 of each person's, drawn at"
        in (texts["mean"])
    )
    assert "/ with_age where the mean is 20, up to" in texts["mean"]
    assert "over the people with a value of each one's mean of age" in texts["own"]
    own = r"give or take [\d.]+ / N where the mean is 4, up to [\d.]+ / N elsewhere, where N is the"
    assert re.search(f"{own} number of values \\(1 SD\\)", texts["own"])  # no words in a formula
    assert "the sum over the people with a value of each one's total of age" in texts["total"]
    whole = "\n".join(told(claim))
    assert "visits is a multiple of 2 before noise is added" in whole
    assert "of whoever has more than 20 rows in a group, 20 count" in whole
    cut = "the sum of the values of {}, each less 20, is rounded towards zero to steps of 40 before"
    assert cut.format("ages") in whole and "ages can be below 0" in whole
    assert cut.format("mean") in whole  # of which no word was said
    assert "total can be below 0" not in whole  # its values are
    full = meaning_of(claim).sums()
    assert full["visits"] == "how many rows are counted in the group, at most 20 of each person's"
    assert full["mean"].endswith("rounded to a multiple of 1 and held between 0 and 40")


def test_the_words_begin_with_what_is_counted():
    """For certain is said of the number that was noised, and not of the question."""
    last = People(ID, ((Column("day", Type("date")), True), (AGE, False)))
    for unit, who in (
        (Rows(), "are in the group"),
        (People(ID, None), "are in the group"),
        (MANY, "were counted in the group"),
        (People(ID, Groups(1)), "were counted in the group"),
        (People(ID, Drawn()), "have in the group the one of their rows that was drawn"),
        (last, "have in the group the one of their rows that counts, the first by day descending"),
        (People(ID, ((AGE, False),)), "the one of their rows that counts, the first by age, with"),
    ):
        first = told(replace(COUNTS, unit=unit))[0]
        assert who in first and "and for certain there are between n - 14 and n + 14" in first


@pytest.mark.parametrize(
    ("column", "clip", "is_mean", "off"),
    [
        (AGE, Clip(0, 40), False, None),
        (AGE, Clip(0, 40), True, "by at most 0.5"),
        (AGE, Clip(0, 40, Decimal(10)), False, "by at most 5 for each person that counts"),
        (AGE, Clip(0, 40, Decimal("0.01")), False, None),
        (Column("x", Type("double")), Clip(0, 40, Decimal("0.01")), False, "most 0.005 for each"),
        (AGE, replace(BY_ROW, unit=Decimal(10)), False, "by at most 5 for each row that counts"),
        (AGE, replace(BY_ROW, unit=Decimal(10)), True, "by at most 10"),
        (AGE, Clip(0, 40, Decimal(10), "total"), False, "by at most 5 for each row that counts"),
        (AGE, Clip(0, 40, per="total"), False, None),
        (AGE, Clip(0, 40, per="mean"), True, "by at most 1"),
        (Column("x", Type("double")), Clip(0, 40), False, "at most 0.5 for each person that"),
        (Column("x", Type("double")), Clip(0, 40, per="mean"), True, "by at most 1.5"),
    ],
)
def test_errors_add_up_noise_and_rounding_and_name_what_has_no_size(column, clip, is_mean, off):
    many = clip.per != "row" or clip.rows > 1
    quantity = Quantity(column, clip, 20, TABLE)
    measure = Measure("x_shown", 2, 1, is_mean=is_mean)
    law = Noisy(TABLE, 1, quantities=(replace(quantity, center=None), quantity), measures=(
        Measure("with_x", 1), measure))  # fmt: skip
    texts = told(replace(COUNTS, unit=MANY if many else Rows(), law=law))
    rounding = [each for each in texts if "off by rounding" in each]
    assert len(rounding) == (off is not None) and all(off in each for each in rounding)
    low, high = (digits_of(end * clip.unit) for end in (clip.low, clip.high))
    who = "row" if clip.per == "row" and many else "person"
    beyond = f"in x_shown a {who} below {low} counts as {low}, and above {high} as {high}"
    assert any(text.startswith(beyond) for text in texts)


def test_rows_tell_the_errors_of_their_means_and_which_sums_are_below_0():
    names = ("age", "sex", "n", "visits", "with_age", "mean", "ages", "own", "total")
    rows = [("young", "F", 9, 8, 10, 20, -200, 5, -9), ("old", "M", 9, 8, 90, 38, 400, None, -9)]
    said = list(meaning_of(of_visits()).found(names, rows))
    numbers = {each.name: each for each in meaning_of(of_visits()).numbers(stated(of_visits()))}
    errors = [
        numbers["mean"].deviation(RowNumbers.of(dict(zip(names, row, strict=True)))) for row in rows
    ]
    assert said == [
        f"mean is give or take {min(errors):.3g} to {max(errors):.3g} (1 SD) in these rows, by its"
        " noise",
        "ages is below 0 in 1 of 2 rows (young F): by its noise alone, and shown as it is",
    ]
    texts = [tuple(map(str, row)) for row in rows]
    assert list(meaning_of(of_visits()).found(names, texts)) == said
    few = [("young", "F", 9, 8, 1, 20, 200, 5, 9), rows[1]]
    [_, alone] = meaning_of(of_visits()).found(names, few)
    assert alone == (
        "mean is noise alone in 1 of 2 rows (young F): there it can be anything between its bounds"
    )
    [_, *_, alone] = meaning_of(of_visits()).found(names, [*few[:1] * 4, rows[1]])
    assert "is noise alone in 4 of 5 rows ('policy-engine show --errors' has these" in alone
    [one, _] = meaning_of(of_visits()).found(names, rows[:1])
    assert one == f"mean is give or take {errors[0]:.3g} (1 SD) in these rows, by its noise"
    unread = [("young", "F", 9, 8, None, 20, 200, 5, -9), ("old", "M", 9, 8, 9, None, 7, 5, -9)]
    assert list(meaning_of(of_visits()).found(names, unread)) == []
    for nothing in ((names, []), (names[:3], rows), (names, [rows[0][:3]])):
        assert list(meaning_of(of_visits()).found(*nothing)) == []
    assert list(meaning_of(COUNTS).found(("age", "sex", "n"), [("young", "F", 9)])) == []


UPPER = "if a value can be above 40, the bounds are probably too narrow and the true {} is higher"
LOWER = (
    "if a person's total can be below -9, the bounds are probably too narrow and the true sum is"
    " lower"
)


@pytest.mark.parametrize(
    ("changed", "most"),
    [
        ({"mean": 40},
         f"mean is at or near 40, its upper bound, in 5 of 6 rows: {UPPER.format('mean')}"),
        ({"ages": 160_000},
         "ages is at or near 40 for each value, its upper bound, in 5 of 6 rows:"
         f" {UPPER.format('sum')}"),
        ({"total": -3_600},
         f"total is at or near -9 for each person, its lower bound, in 5 of 6 rows: {LOWER}"),
        ({"own": 9},
         "own is at or near 9, its upper bound, in 5 of 6 rows: if a person's mean can be above 9,"
         " the bounds are probably too narrow and the true mean is higher, or there are too few"
         " values"),
        ({"own": 0}, None),  # as many values of 0 have
        ({"mean": 0}, None),
        ({"mean": 37}, None),  # by its noise below 40
        ({"mean": 40, "with_age": 1}, None),  # noise alone
        ({"ages": 40, "with_age": 1}, None),
        ({"ages": 160_000, "with_age": None}, None),
        ({"total": None}, None),
    ],
)  # fmt: skip
def test_numbers_that_are_at_a_bound_in_most_rows_say_so(changed, most):
    """A new user's means were wrong by 15 days, and all of them stood at the bound."""
    plain = {"age": "young", "sex": "F", "n": 400, "visits": 5000, "with_age": 4000, "mean": 20,
             "ages": 80_000, "own": 5, "total": -2_000}  # fmt: skip
    rows = [tuple({**plain, **change}.values()) for change in [changed] * 5 + [{}]]
    texts = [tuple(None if each is None else str(each) for each in row) for row in rows]
    for lines in (rows, texts):
        doubts = list(meaning_of(of_visits()).doubts((*plain,), lines))
        assert doubts == ([] if most is None else [most])
    even = [*rows[:3], rows[-1], rows[-1], rows[-1]]
    assert list(meaning_of(of_visits()).doubts((*plain,), even)) == []


def test_a_row_of_no_grouping_says_nothing():
    """A file that was changed may have such rows: they are looked at before they are checked."""
    names = ("grouping", "age", "sex", "n", "total", "mean age")
    line, numbers = (1, "young", "F", 400, -9, 5), meaning_of(SEVERAL).numbers(stated(SEVERAL))
    total = next(each for each in numbers if each.name == "total")
    for grouping, told in ((1, "below 0 by noise"), (None, ""), (0, ""), (3, "")):
        row = (grouping, *line[1:])
        said = [*meaning_of(SEVERAL).found(names, [row])]
        assert any("below 0" in each for each in said) == (told != "")
        assert total.mark(RowNumbers.of(dict(zip(names, row, strict=True)))) == told


def test_of_how_many_values_a_sum_is_may_not_be_shown():
    """Of rows of people without their number; of a row a person, the people are the values."""
    summed = (Quantity(AGE, replace(BY_ROW, rows=5), 0, TABLE),)
    law = Noisy(TABLE, 1, quantities=summed, measures=(Measure("ages", 1),))
    line = [("young", "F", 400, 16_000)]
    of_rows, of_people = replace(COUNTS, unit=MANY, law=law), replace(COUNTS, law=replace(
        law, quantities=(replace(summed[0], clip=Clip(0, 40)),)))  # fmt: skip
    names = ("age", "sex", "n", "ages")
    said = [[*meaning_of(each).doubts(names, line)] for each in (of_rows, of_people)]
    assert said == [
        [], ["ages is at or near 40 for each value, its upper bound, in 1 of 1 rows (young F): "
             f"{UPPER.format('sum')}"],
    ]  # fmt: skip


def test_of_one_row_a_person_people_have_a_value():
    drawn = (Quantity(AGE, Clip(0, 9), None, TABLE),)
    law = Noisy(TABLE, 1, quantities=drawn, measures=(Measure("with_age", 1),))
    text, within = [each for each in told(replace(COUNTS, law=law)) if "with_age" in each]
    assert within == "in 95 of 100 releases noise puts n off by at most 3; with_age by at most 3"
    assert text.startswith("with_age is how many people in the group have a value of age, with")


def test_the_error_of_a_number_is_that_of_all_that_it_is_made_of():
    claim = of_visits()
    numbers = {each.name: each for each in meaning_of(claim).numbers(stated(claim))}
    assert [*numbers] == ["n", "visits", "with_age", "mean", "ages", "own", "total"]
    one = deviation(TABLE)
    row = {"n": 90, "visits": 500, "with_age": 400, "mean": 30, "ages": 12000, "total": -40,
           "own": None}  # fmt: skip
    errors = {name: each.deviation(RowNumbers.of(row)) for name, each in numbers.items()}
    grain = moves_of(BY_ROW, 20).grain
    assert errors["n"] == pytest.approx(one) and errors["visits"] == pytest.approx(2 * one)
    assert errors["ages"] == pytest.approx(one * math.hypot(grain, 20 * 2))
    assert errors["mean"] == pytest.approx(one * math.hypot(grain, 10 * 2) / 400)
    assert math.isnan(numbers["mean"].deviation(RowNumbers.of({**row, "mean": None})))
    assert numbers["mean"].interval(RowNumbers.of({**row, "mean": None})) is None
    # Of a mean over values whose number is not shown no error is known.
    assert math.isnan(numbers["own"].deviation(RowNumbers.of({**row, "own": 30})))
    assert numbers["own"].interval(RowNumbers.of({**row, "own": 30})) is None
    ends = {
        name: each.interval(RowNumbers.of({**row, "own": 30})) for name, each in numbers.items()
    }
    assert ends["n"] == (87, 93) and ends["visits"] == (493, 507)
    low, high = ends["mean"]
    assert 29 < low < 30 - 1.7 * errors["mean"] and 30 + 1.7 * errors["mean"] < high < 31


def test_a_mean_whose_error_is_not_stated_says_what_states_it():
    """Nothing more is drawn for it: what counts its values is drawn already."""
    drawn = (
        Quantity(None, Clip(0, 1, rows=20), None, TABLE),
        Quantity(AGE, Clip(0, 40, rows=20, absent=0), 20, TABLE),
        Quantity(AGE, BY_ROW, None, TABLE),
        Quantity(AGE, BY_ROW, 20, TABLE),
    )
    shown = (Measure("filled", 2, 1, is_mean=True), Measure("own", 4, 3, is_mean=True))
    claim = replace(COUNTS, unit=MANY, law=Noisy(TABLE, 1, quantities=drawn, measures=shown))
    numbers = {each.name: each.unstated for each in meaning_of(claim).numbers(stated(claim))}
    assert numbers["n"] is None
    assert numbers["filled"].remedy == "count: {rows: rows} shows it, at no price"
    assert numbers["own"].remedy == ("a measure {count: age, per: row} shows it, at no price")


@pytest.mark.parametrize(
    ("unit", "value", "name"),
    [
        ("year", date(2026, 1, 1), "2026"),
        ("quarter", date(2026, 10, 1), "2026-Q4"),
        ("month", date(2026, 11, 1), "2026-11"),
        ("day", date(2026, 11, 5), "2026-11-05"),
        ("week", "2026-W48", "2026-W48"),
    ],
)
def test_a_unit_of_the_calendar_is_labelled_by_its_name(unit, value, name):
    assert recode_meaning(Truncate(unit)).label(value) == name


def test_rows_of_a_roll_up_tell_the_errors_of_their_means_as_texts_too():
    """As an engine's table has them."""
    names = ("grouping", "age", "sex", "n", "total", "mean age")
    rows = [(1, "young", "F", 900, 20, 3), (2, None, "F", 1200, 20, 3)]
    found = [list(meaning_of(SEVERAL).found(names, each)) for each in (rows, [tuple(
        None if value is None else str(value) for value in row) for row in rows])]  # fmt: skip
    assert found[0] == found[1]
    assert any(text.startswith("mean age is give or take ") for text in found[0])


def test_public_keys_are_all_shown():
    meaning = meaning_of(LISTED)
    assert [*meaning.public_keys()] == [
        (("age",), (("young",), (None,))), (("sex",), (("F",),)),
    ]  # fmt: skip
    assert [*meaning_of(COUNTS).public_keys()] == [*meaning_of(SAMPLE).public_keys()] == []
    assert [*meaning.chances(stated(LISTED))] == []
    assert dict(meaning.steps())["list"].startswith("all 2 keys of a public list are shown")
    assert dict(meaning.described("keyed"))["keys"] == "2 of a public list, all shown"
    assert any(text.startswith("all 2 keys of a public list") for text in told(LISTED))
    assert [*meaning.lines()][1] == 'public keys, 2: ("young"), (empty)'


def test_answers_and_tuples_are_there_by_chance():
    names = ("age", "sex", "n")
    found = [*meaning_of(ANSWERS).found(names, [("young", None, "7")])]
    assert [text.partition(":")[0] for text in found] == [
        "estimated people by age", "estimated people by sex",
    ]  # fmt: skip
    for wrong in ((names[:2], [("young", None)]), (names, [("young", None)]),
                  (names, [("young", None, "x")])):  # fmt: skip
        assert [*meaning_of(ANSWERS).found(*wrong)] == []
    [there] = meaning_of(TUPLES).found(("age", "sex"), [("young", "F")])
    assert there.startswith("estimated tuples that are there: ") and there.endswith(" of 9")
    assert [*meaning_of(SAMPLE).found(names, [])] == []
    belief, central = meaning_of(TUPLES).compared(Decimal(2), "add_remove")
    assert belief.startswith("(d, γ): who believed 1 %") and "noisy_counts at the same" in central
    assert [*meaning_of(SAMPLE).compared(Decimal(2), "add_remove")] == []
    assert [*meaning_of(ANSWERS).compared(Decimal("1e-9"), "add_remove")] == []
    for claim in (ANSWERS, TUPLES):
        assert meaning_of(claim).by_chance and meaning_of(claim).why_not_alike
        assert [*meaning_of(claim).lines()][1] == 'public values of sex: "F", "M", empty'
    rows = meaning_of(replace(ANSWERS, count=None)).afterwards()
    assert rows.startswith("Rows are sorted.")


def test_classes_promise_nothing():
    models = (LDiversity("sex", Decimal(2)),)
    first, *_, last = told(CLASSES, Unpromised(), models=models)
    assert first.startswith("this release carries no (ε, δ)")
    assert last == "n is how many people of the source are in the group, as it is"
    last = told(replace(CLASSES, count=None), Unpromised())[-1]
    assert last.startswith("the number of a group's rows")
    assert meaning_of(CLASSES).visible(stated(CLASSES, Unpromised())) == {"": 3}
    assert meaning_of(CLASSES).curve(stated(CLASSES), "add_remove")(Decimal(9)) == 1
    with pytest.raises(ClaimError, match="no \\(ε, δ\\) holds"):
        CLASSES.delta(Decimal(1), Decimal(1), "add_remove")


def test_what_rows_can_be_is_asked_of_their_mechanism():
    assert [rows_of(claim).least for claim in (SAMPLE, COUNTS, ANSWERS, CLASSES)] == [20, 15, 1, 1]
    assert rows_of(CLASSES).classes == ("age",) and rows_of(SAMPLE).classes is None
    assert rows_of(TUPLES).is_set and not rows_of(SAMPLE).is_set
    for claim in (ANSWERS, TUPLES):
        assert rows_of(claim).check_values([["young"], ["F", None]]).holds
        wrong = rows_of(claim).check_values([["young", "x"], ["F"]]).wrong
        assert wrong == "values that are not public stand in: age"
    nothing = RowsChecked()
    assert rows_of(SAMPLE).check_values([]) == rows_of(SAMPLE).check_keys([]) == nothing


def test_a_mechanism_that_says_nothing_of_itself_is_not_made_up():
    class Silent(Meaning[ReleaseLaw]):
        title = "silent"

    silent, certificate = Silent(SAMPLE), stated(SAMPLE)
    for asked in (
        lambda: silent.randomness("duckdb"), lambda: silent.told(certificate), silent.steps,
        lambda: silent.described("keyed"), silent.unprotected, silent.afterwards,
    ):  # fmt: skip
        with pytest.raises(NotImplementedError):
            asked()
    assert silent.counted == "people" and silent.why_not_alike == "" and silent.noise == ""
    assert [*silent.chances(certificate)] == [] and silent.visible(certificate) == {}


def test_an_account_is_charged_with_the_releases_own_sample():
    whole = Bounded(Decimal(1), Decimal("1e-6"), rate=Decimal("0.05"), sampled_at=Decimal("0.1"))
    event, delta = charged(SAMPLE, whole)
    assert event == SampledSuppression(20, Decimal("0.5"))
    assert delta == claimed(SAMPLE.delta(Decimal("0.5"), Decimal(1), "add_remove")) > whole.delta
    assert charged(SAMPLE, whole, Decimal("0.6"))[0] == SampledSuppression(20, Decimal("0.6"))
    own = replace(whole, sampled_at=Decimal(1))
    assert charged(SAMPLE, own) == (SampledSuppression(20, Decimal("0.05")), own.delta)
    assert charged(CLASSES, Unpromised()) == (Unbounded(), Decimal(1))


def test_a_release_of_several_periods_has_the_event_of_one_unit_replaced():
    own = Bounded(Decimal("0.5"), Decimal("5.3e-11"), rate=Decimal("0.1"))
    assert of_replaced(SAMPLE, own) == event_of(SAMPLE, Decimal("0.1"), "replace_one")


def test_values_are_told_as_what_they_are():
    told = [value_words(each) for each in (None, True, 7, datetime(2020, 1, 2), date(2020, 1, 2))]
    assert told == ["empty", "true", "7", "2020-01-02 00:00:00", "2020-01-02"]


DAYS = Bins((date(2020, 1, 1),), ("before", "after"))
TRUTHS = Map((((True,), "yes"), ((False,), None)), "no")
RECODES = [
    (Keep(), "as it is", "keep", ()),
    (Constant("*"), "always '*'", {"constant": "*"}, ()),
    (Prefix(3), "the first 3 characters", {"prefix": 3}, ()),
    (Round(Decimal("0.5")), "rounded to 0.5", {"round": Decimal("0.5")}, ()),
    (Round(Decimal(10), "down"), "rounded down to 10", {"round": Decimal(10), "way": "down"}, ()),
    (Round(Decimal(10), "zero"), "rounded towards zero to 10",
     {"round": Decimal(10), "way": "zero"}, ()),
    (Truncate("week"), "the name of its week", {"truncate": "week"}, ()),
    (DAYS, "bins at 2020-01-01: before, after",
     {"bins": DAYS.cuts, "labels": DAYS.labels}, ("before", "after")),
    (TRUTHS, "2 values mapped to yes; every other one is shown as no",
     {"map": {"true": "yes", "false": None}, "other": "no"}, ()),
]  # fmt: skip


@pytest.mark.parametrize(("recode", "in_short", "written", "order"), RECODES)
def test_a_recode_says_what_becomes_of_a_value(recode, in_short, written, order):
    meaning = recode_meaning(recode)
    assert (meaning.in_short, meaning.written(), meaning.order) == (in_short, written, order)
    assert meaning.keeps == (recode == Keep()) and [*meaning.lines()]
    assert meaning.of("x", "y") and (meaning.entries("x") is None) == (not recode.values)
    assert meaning.released.endswith(".")


@pytest.mark.parametrize(
    ("recode", "can", "cannot"),
    [
        (Keep(), (None, 1, "x"), ()),
        (Constant("*"), ("*",), (None, "x")),
        (Prefix(2), (None, "ab"), ("abc", 1)),
        (Round(Decimal("0.5")), (None, Decimal("1.5"), "-2"), (Decimal("0.3"), "x")),
        (Truncate("quarter"), (None, 7, "2024-04-01", "soon"), ("2024-04-02", "2024-02-30")),
        (DAYS, (None, "before"), ("between",)),
        (TRUTHS, (None, "no"), ("maybe",)),
    ],
)
def test_a_recode_says_what_it_can_show(recode, can, cannot):
    meaning = recode_meaning(recode)
    assert all(map(meaning.can_show, can)) and not any(map(meaning.can_show, cannot))
    assert meaning.is_moment(86_401, 1) == (recode != Truncate("quarter"))


def test_a_long_map_is_told_in_part():
    long = Map(tuple(((n,), f"label {n}") for n in range(70)), None)
    lines = [*recode_meaning(long).lines()]
    assert lines[0] == "a map of 70 values to 70 labels:" and "10 labels more" in lines[-2]
    assert recode_meaning(long).of("x", "x").endswith("; and 64 more")
    assert recode_meaning(long).in_short.endswith("every other one is left empty")
    first, *_ = recode_meaning(Map((((7,), "x"),), "y")).lines()
    assert first.startswith("a map of one value")


def test_a_recode_that_says_nothing_is_not_made_up():
    meaning = RecodeMeaning(ValueRecode())
    for asked in (lambda: meaning.in_short, meaning.written):
        with pytest.raises(NotImplementedError):
            asked()
    assert ValueRecode().keys == ValueRecode().values == ValueRecode().asks(Type("text")) == ()


def test_a_limit_of_one_group_is_said_as_any_other():
    """Who is in three groups is counted in one of them: a group can have three times as many."""
    words = " ".join(told(replace(COUNTS, unit=People(ID, Groups(1)))))
    assert "a person is counted in up to one group; if a person is in more, one was drawn" in words

"""What a recode says of itself to those who ask: which values it names, and of what column."""

from datetime import date, datetime
from decimal import Decimal

import pytest

from policy_engine.kernel.recodes import Bins, Constant, Keep, Map, Prefix, Round, Truncate
from policy_engine.kernel.recodes.bins.meaning import EARLIEST
from policy_engine.kernel.recodes.meaning import UNNAMED, RecodeMeaning, Unfit
from policy_engine.kernel.recodes.meanings import recode_meaning
from policy_engine.kernel.types import Type

NUMBERS = Bins((Decimal(18), Decimal("65.5")), ("young", None, "old"))
DAYS = Bins((date(2026, 1, 1),), ("before", "since"))
CODES = Map((((10, 11), "a"), ((20,), None)), "other")
NAMES = Map(((("x",), "a"),), None)


@pytest.mark.parametrize(
    ("recode", "examples"),
    [
        (NUMBERS, ("17", "18", "65.5")),
        (DAYS, ("2025-12-31", "2026-01-01")),
        (Bins((date.min,), ("before", "since")), (EARLIEST, "0001-01-01")),
        (CODES, ("20", "10")),
        (Prefix(2), ("aaaa", "bbbb", "cccc")),
        (Round(Decimal("0.5")), ("0.0", "0.5", "1.0")),
        (Keep(), ()),
    ],
)
def test_its_examples(recode, examples):
    assert recode_meaning(recode).examples == examples


@pytest.mark.parametrize(
    ("recode", "kind"),
    [
        (CODES, "integer"),
        (NAMES, "text"),
        (Map(((("true",), "a"), (("false",), "b")), None), "boolean"),
        (Round(Decimal(10)), "integer"),
        (Round(Decimal("0.5")), "decimal"),
        (Truncate("hour"), "timestamp"),
        (Truncate("month"), "date"),
        (Prefix(2), "text"),
    ],
)
def test_the_likely_kind_of_its_column(recode, kind):
    assert recode_meaning(recode).likely == kind


def test_what_it_names_and_how_much():
    numbers, codes, kept = map(recode_meaning, (NUMBERS, CODES, Keep()))
    assert (numbers.gives_null, recode_meaning(DAYS).gives_null) == (True, False)
    assert (codes.gives_null, recode_meaning(NAMES).gives_null, kept.gives_null) == (1, 1, 0)
    assert (numbers.raw_values("integer"), numbers.raw_values("decimal")) == (96, None)
    assert (codes.raw_values("integer"), kept.raw_values("boolean")) == (5, 3)
    assert (kept.raw_values("text"), recode_meaning(Prefix(1)).raw_values("text")) == (None, None)
    assert (numbers.members, codes.members, kept.members) == (NUMBERS.cuts, (10, 11, 20), ())
    assert [codes.shows(each) for each in (11, 20, UNNAMED)] == ["a", None, "other"]
    assert [numbers.shows(each) for each in (UNNAMED, 18, 70)] == ["young", None, "old"]
    assert recode_meaning(Constant("all")).shows(UNNAMED) == "all"
    with pytest.raises(NotImplementedError):
        kept.shows(1)


def test_its_steps_and_units():
    halves, tens, kept = map(recode_meaning, (Round(Decimal("0.5")), Round(Decimal(10)), Keep()))
    assert [each.places for each in (halves, tens, kept)] == [1, 0, 0]
    assert [each.steps_by_one for each in (halves, tens, kept)] == [True, False, False]
    months = recode_meaning(Truncate("month"))
    first, end = date(2026, 1, 15), date(2026, 3, 1)
    assert [*months.between(first, end)] == [date(2026, 1, 1), date(2026, 2, 1)]
    assert recode_meaning(Truncate("month", "Asia/Tokyo")).between(first, end) is None
    assert kept.between(first, end) is None
    assert (
        len(
            [
                *recode_meaning(Truncate("hour")).between(
                    datetime(2026, 1, 1, 5), datetime(2026, 1, 1, 7)
                )
            ]
        )
        == 2
    )


def test_what_has_no_law_of_its_own_says_that_it_does_not_fit():
    meaning = RecodeMeaning(DAYS)
    assert meaning.unfit(Type("date"), "a date", "DATE") is None
    assert meaning.unfit(Type("text"), "text", "VARCHAR") == Unfit("bins does not fit, found text")


def test_what_it_says_beside_another_kind():
    assert recode_meaning(CODES).beside(Keep()) == ()
    assert "another kind of recoding" in recode_meaning(Round(Decimal(10))).why_parted(Keep())


def test_what_a_column_holds_is_said_by_its_few_words():
    class Doubled(RecodeMeaning):
        in_short = "doubled"

    assert Doubled(Keep()).released == "the value, doubled."

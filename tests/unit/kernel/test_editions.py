"""Editions: what they are called, which rows they read, and what a certificate may say of them."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime

import pytest

from policy_engine.calendars import Period, Zone
from policy_engine.errors import DomainError
from policy_engine.kernel.claim import Claim, Shown
from policy_engine.kernel.editions import Edition, comes_and_goes, ends_of, unit_words
from policy_engine.kernel.filters import within
from policy_engine.kernel.laws import ClaimError
from policy_engine.kernel.mechanisms import Native
from policy_engine.kernel.recodes import Keep
from policy_engine.kernel.sources import Column, Relation, Rows
from policy_engine.kernel.types import Type

NOVEMBER = Edition("2026-11", "Europe/Berlin", "visited")
KINDS = {
    "date": (date(2026, 11, 1), date(2026, 12, 1)),
    "timestamp": (datetime(2026, 11, 1), datetime(2026, 12, 1)),
    "timestamp_other": (datetime(2026, 11, 1), datetime(2026, 12, 1)),
    "timestamp_zoned": (datetime(2026, 10, 31, 23), datetime(2026, 11, 30, 23)),
}


def claim(kind="date", name="visited", ends=None):
    from decimal import Decimal

    period = None if ends is None else within(Column(name, Type(kind)), *ends)
    shown = Shown("sex", Column("sex", Type("text")), Keep())
    law = Native(Decimal("0.5"), 2)
    return Claim(Relation(("main", "visits")), Rows(), law, (shown,), period=period)


@pytest.mark.parametrize("kind", KINDS)
def test_an_edition_reads_the_rows_of_its_period_in_its_zone(kind):
    assert ends_of(Period.parse("2026-11"), Zone("Europe/Berlin"), kind) == KINDS[kind]
    assert NOVEMBER.differs(claim(kind, ends=KINDS[kind])) == ""


@pytest.mark.parametrize(
    ("period", "kind"), [("2026-11", "text"), ("9999-12", "date"), ("9999", "timestamp_zoned")]
)
def test_where_there_are_no_two_ends_there_are_none(period, kind):
    assert ends_of(Period.parse(period), Zone(), kind) is None


def test_the_last_month_of_all_has_no_end():
    assert Edition("9999-12", "UTC", "visited").end == ""


@pytest.mark.parametrize(
    ("edition", "read", "told"),
    [
        (Edition(), claim(ends=KINDS["date"]), "it reads the rows of one period, and says all"),
        (Edition("2026-11", "UTC"), claim(ends=KINDS["date"]), "and says all"),
        (NOVEMBER, claim(), "it says the rows of one period, and reads all"),
        (NOVEMBER, claim(name="left", ends=KINDS["date"]),
         "it says a period by visited, and reads one by left"),
        (NOVEMBER, claim(ends=(date(2026, 11, 1), date(2026, 11, 30))),
         "it reads the rows of another period than it says"),
        (NOVEMBER, claim("timestamp_zoned", ends=KINDS["timestamp"]), "of another period"),
    ],
)  # fmt: skip
def test_other_rows_than_it_says_are_told(edition, read, told):
    assert told in edition.differs(read)


def test_all_rows_are_those_of_no_period():
    assert Edition("2026-11", "UTC").differs(claim()) == Edition("again").differs(claim()) == ""


@pytest.mark.parametrize(
    "edition",
    [NOVEMBER, Edition("2026", "UTC"), Edition("again", is_asked=True), Edition(is_asked=True),
     Edition("2026-11", "Europe/Berlin", "visited", is_asked=True),
     Edition("2026-11", "Europe/Berlin", "visited", is_revision=True)],
)  # fmt: skip
def test_it_is_written_and_read_again(edition):
    assert Edition.from_json(edition.to_json()) == edition


def test_its_words_say_its_name_its_rows_and_who_asked():
    assert NOVEMBER.words == (
        "2026-11: the rows with visited from 2026-11-01 to before 2026-12-01, days of Europe/Berlin"
    )
    assert (Edition().words, Edition(is_asked=True).words) == ("", "asked for by hand")
    assert Edition("2026-11", "UTC").words == "2026-11"


def test_what_is_drawn_anew_is_a_period_by_its_calendar():
    anew = Edition("2026-11", "UTC", "visited", is_revision=True)
    assert anew.words.endswith("days of UTC, drawn anew by the calendar")
    for wrong in ({"column": ""}, {"is_asked": True}):
        with pytest.raises(ClaimError, match="a calendar draws a period anew"):
            replace(anew, **wrong)


@pytest.mark.parametrize("name", ["2026-11", "Again", "a/b", ".."])
def test_without_a_calendar_it_is_called_by_hand(name):
    with pytest.raises(ClaimError, match="is called a small letter"):
        Edition(name)


def test_a_period_is_one_of_a_calendar():
    with pytest.raises(ClaimError, match="in a zone"):
        Edition("again", column="visited")
    with pytest.raises(DomainError, match="edition must be a period"):
        Edition("again", "UTC")
    with pytest.raises(DomainError, match="zone must be a name"):
        Edition("2026-11", "Berlin")


def test_who_is_protected_is_said_with_the_rows_that_are_read():
    assert unit_words("id", None) == unit_words("id", Edition("2026-11", "UTC")) == "id"
    assert unit_words("id", NOVEMBER) == "id, with the rows of 2026-11 by visited, and no others"


def test_replacing_a_person_hides_not_when_people_came_and_went():
    assert "came and went" in comes_and_goes(NOVEMBER, "replace_one")
    assert comes_and_goes(NOVEMBER, "add_remove") == comes_and_goes(None, "replace_one") == ""
    assert comes_and_goes(Edition("again"), "replace_one") == ""

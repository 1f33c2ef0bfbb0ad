"""Two neighbouring histories look the same but for what was charged and drawn."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest
from histories import (
    CALENDAR,
    HERS,
    ROWS,
    SHORT,
    AddedRows,
    AddedToServer,
    Calendar,
    Days,
    Files,
    Parts,
    Periods,
    Server,
    Skipped,
    Tables,
    Turns,
    Weeks,
    differences,
    game,
    her_rows,
    nights,
    with_keys,
)

LONG = 20
# After the first night nobody but her changes, or the others do, or one attempt of two is killed.
HER, OTHERS = (SHORT[0], SHORT[1]), (SHORT[0], replace(SHORT[1], others=1))
KILLED = (SHORT[0], SHORT[3])


@pytest.fixture(scope="module")
def played():
    with game() as running:
        yield running


#: Each kind of place is in one of both games: 'make evidence' plays both in all.
@pytest.fixture(params=["files", pytest.param("tables", marks=pytest.mark.evidence), "postgres"])
def place(request):
    if request.param == "postgres":
        return Server(request.getfixturevalue("postgres"))
    return {"files": Files, "tables": Tables}[request.param]()


def neighbours(played, place, calendar, hers, plant=None):
    """What tells the history with her from the one without her."""
    without = played.played(place, calendar, [None] * len(calendar), plant)
    return differences(played.played(place, calendar, hers, plant), without)


def test_nothing_but_what_was_charged_tells_two_histories_apart(played, place):
    assert neighbours(played, place, SHORT, HERS) == []


@pytest.fixture(
    params=[
        pytest.param("refresh", marks=pytest.mark.evidence),
        pytest.param("period", marks=pytest.mark.evidence),
        "added",
        pytest.param("server", marks=pytest.mark.evidence),
    ]
)
def by_calendar(request):
    if request.param == "server":
        return AddedToServer(request.getfixturevalue("postgres"))
    return {"refresh": Calendar, "period": Periods, "added": AddedRows}[request.param]()


def test_nothing_does_by_a_calendar_late_rows_included(played, by_calendar):
    assert neighbours(played, by_calendar, CALENDAR, HERS) == []


@pytest.mark.evidence
@pytest.mark.parametrize("seed", range(int(os.environ.get("HISTORIES", "3"))))
def test_nothing_does_in_many_nights_by_a_calendar(played, by_calendar, seed):
    assert neighbours(played, by_calendar, nights(seed, LONG), her_rows(seed, LONG)) == []


@pytest.mark.evidence
@pytest.mark.parametrize("seed", range(int(os.environ.get("HISTORIES", "3"))))
def test_nothing_does_in_many_nights_of_any_calendar(played, place, seed):
    assert neighbours(played, place, nights(seed, LONG), her_rows(seed, LONG)) == []


@pytest.mark.evidence
@pytest.mark.parametrize("seed", range(int(os.environ.get("HISTORIES", "3"))))
@pytest.mark.parametrize("shape", [Files, Parts, Turns, Weeks, Days, Skipped])
def test_nothing_does_in_histories_of_other_shapes(played, shape, seed):
    """Her key is another one every other night, and what changes is not her row alone."""
    hers = with_keys(her_rows(seed, LONG))
    assert neighbours(played, shape(), nights(seed, LONG), hers) == []


@pytest.mark.parametrize(
    ("plant", "calendar", "told"),
    [
        ("a_charge_where_the_source_changed", HER, "ledger"),
        ("a_free_run_where_the_source_changed", OTHERS, "never drawn for an entry"),
        ("a_second_attempt_under_the_first_secret", KILLED, "a secret was drawn under twice"),
        ("an_exit_code_of_a_source_that_changed", HER, '"code": 7'),
    ],
)
def test_a_product_that_looks_at_the_source_is_noticed(played, plant, calendar, told):
    found = neighbours(played, Files(), calendar, HERS[: len(calendar)], plant)
    assert any(told in difference for difference in found)


def test_a_month_that_is_drawn_again_for_late_rows_is_noticed(played):
    plant = "a_month_is_drawn_again_for_late_rows"
    found = neighbours(played, Periods(), CALENDAR[:4], (None, None, None, ROWS[0]), plant)
    assert any("ledger" in difference for difference in found)


#: Nights in which nobody but her changes.
ALONE = (SHORT[0],) * 4
EVIDENCE = pytest.mark.evidence


@pytest.mark.parametrize(
    ("shape", "plant", "told"),
    [
        pytest.param(Parts, "a_charge_where_the_source_changed", "records", marks=EVIDENCE),
        pytest.param(Parts, "an_exit_code_of_a_source_that_changed", '"code": 7', marks=EVIDENCE),
        pytest.param(Turns, "a_charge_where_the_source_changed", "records", marks=EVIDENCE),
        (Turns, "a_refusal_of_a_small_source", "too few rows"),
        pytest.param(Weeks, "a_month_is_drawn_again_for_late_rows", "records", marks=EVIDENCE),
        pytest.param(
            Days, "an_edition_is_left_out_where_nothing_changed", "records", marks=EVIDENCE
        ),
        (Skipped, "an_edition_is_left_out_where_nothing_changed", "records"),
        pytest.param(Calendar, "a_refusal_of_a_small_source", "too few rows", marks=EVIDENCE),
    ],
)
def test_a_product_that_looks_at_it_is_noticed_in_each_shape(played, shape, plant, told):
    hers = (None, *with_keys(ROWS[:3]))
    found = neighbours(played, shape(), ALONE, hers, plant)
    assert any(told in difference for difference in found)

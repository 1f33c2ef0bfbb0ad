"""The dates of a key: which refusal, and at which second it begins."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from policy_engine.attest.validity import Revoked, Validity, moment, written

ADDED = datetime(2026, 1, 1, tzinfo=UTC)
END = datetime(2026, 6, 30, 23, 59, 59, tzinfo=UTC)
SECOND = timedelta(seconds=1)
WHY = Revoked(datetime(2026, 3, 1, tzinfo=UTC), "stolen")


def said(validity, at):
    found = validity.refusal("ab12", at)
    return None if found is None else (found.kind, found.text)


def test_without_an_end_it_counts_whatever_time_is_stated():
    dates = Validity(ADDED)
    assert dates.until is None
    assert said(dates, ADDED) is None
    assert said(dates, datetime(9999, 1, 1, tzinfo=UTC)) is None
    assert said(dates, ADDED - SECOND) is None
    assert said(Validity(ADDED, retired=END), datetime(1, 1, 1, tzinfo=UTC)) is None


@pytest.mark.parametrize(
    ("dates", "kind", "verb"),
    [
        (Validity(ADDED, expires=END), "expired", "expired"),
        (Validity(ADDED, retired=END), "retired", "was retired"),
        (Validity(ADDED, expires=END, retired=END + SECOND), "expired", "expired"),
        (Validity(ADDED, expires=END + SECOND, retired=END), "retired", "was retired"),
        (Validity(ADDED, expires=END, retired=END), "expired", "expired"),
    ],
)
def test_the_earlier_end_counts_and_its_last_second_with_it(dates, kind, verb):
    assert dates.until == END
    assert said(dates, END) is None
    assert said(dates, END + SECOND) == (
        kind,
        f"key ab12 {verb} on 2026-06-30T23:59:59Z, and this was signed as of 2026-07-01T00:00:00Z",
    )


@pytest.mark.parametrize("at", [None, ADDED - SECOND, ADDED, END + SECOND])
def test_revoked_wins_whatever_the_time(at):
    dates = Validity(ADDED, expires=END, retired=END, revoked=WHY)
    assert said(dates, at) == (
        "revoked",
        "key ab12 was revoked on 2026-03-01T00:00:00Z (stolen): nothing that it signed counts",
    )


def test_a_statement_without_a_time_does_not_count():
    told = "key ab12 counts between dates, and this states no time"
    assert said(Validity(ADDED), None) == ("undated", told)


@pytest.mark.parametrize("text", ["2026-11-21T10:00:00Z", "0001-01-01T00:00:00Z"])
def test_a_moment_goes_round(text):
    assert written(moment(text)) == text


def test_a_moment_is_written_in_utc_and_cut_to_its_second():
    zone = timezone(timedelta(hours=2))
    assert written(datetime(2026, 1, 1, 1, 0, 0, 999_999, zone)) == "2025-12-31T23:00:00Z"


@pytest.mark.parametrize(
    "text",
    [None, 7, "", "2026-11-21", "2026-11-21T10:00:00", "2026-11-21T10:00:00+00:00",
     "2026-11-21T10:00:00.5Z", "2026-02-30T10:00:00Z", "2026-11-21T24:00:00Z",
     "0000-01-01T00:00:00Z",
     "2026-11-21T10:00:00Z\n", "٢٠٢٦-11-21T10:00:00Z", b"2026-11-21T10:00:00Z"],
)  # fmt: skip
def test_anything_else_is_no_moment(text):
    assert moment(text) is None

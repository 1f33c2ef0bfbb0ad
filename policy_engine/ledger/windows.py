"""In which windows of its account a release counts: by calendars and names, no clock.

A *window* is a text: empty for ever, else the name of a period of the account's calendar. An
edition belongs to the window of its **name**: December's, drawn in January, is the old year's. What
has no calendar name belongs to the window of its day, in the project's zone; so does the whole of a
table by whatever name, unless that names a period no longer than a window that the day is in: what
stood in the table on that day was told of.

Where an account is ``of`` a column, its windows are of the rows of each period by that column, and
a release counts in every window whose rows it reads.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from policy_engine.calendars import Calendar, Period, Zone
from policy_engine.errors import DomainError
from policy_engine.kernel.editions import Edition
from policy_engine.policy.timing import WindowTerms

FOR_EVER = ""
"""The window of an account whose limit is for ever."""


def windows_of_charge(
    terms: WindowTerms, edition: Edition, at: datetime, zone: Zone
) -> tuple[str, ...]:
    """The names of the windows in which a draw counts, in order.

    ``at`` is a moment that is never before the ledger's last record. Several are of a draw that
    reads the rows of several periods. Errors: DomainError where the account is ``of`` a column by
    whose periods the draw does not read.

    >>> from datetime import UTC
    >>> january, year = datetime(2027, 1, 10, tzinfo=UTC), WindowTerms(Calendar.YEAR)
    >>> windows_of_charge(year, Edition("2026-12", "UTC", "visit_date"), january, Zone())
    ('2026',)
    >>> windows_of_charge(year, Edition(), january, Zone())
    ('2027',)
    >>> of_month = WindowTerms(Calendar.MONTH, "visit_date")
    >>> windows_of_charge(of_month, Edition("2026-Q4", "UTC", "visit_date"), january, Zone())
    ('2026-10', '2026-11', '2026-12')
    """
    if terms.each is None:
        return (FOR_EVER,)
    if terms.of is not None and edition.column != terms.of:
        raise DomainError("period", f"of {terms.of}, as the windows of its account are", "another")
    today, period = zone.day_of(at), edition.period
    if period is not None and edition.column:
        if terms.of is not None:
            return tuple(each.name for each in overlapping(period, terms.each))
        return (period.within(terms.each).name,)
    # One that is longer than a window counts where it was drawn: nobody chooses by the length of a
    # calendar in which window the whole table is told of.
    order = list(Calendar)
    if (
        period is not None
        and order.index(period.calendar) <= order.index(terms.each)
        and period.first <= today <= period.last
    ):
        return (period.within(terms.each).name,)
    return window_at(terms.each, at, zone)


def window_at(each: Calendar | None, at: datetime, zone: Zone) -> tuple[str, ...]:
    """The window of a moment, of an account whose windows are so long.

    >>> from datetime import UTC
    >>> window_at(Calendar.YEAR, datetime(2026, 12, 31, 23, tzinfo=UTC), Zone("Europe/Berlin"))
    ('2027',)
    """
    return (FOR_EVER if each is None else each.period(zone.day_of(at)).name,)


def overlapping(period: Period, calendar: Calendar) -> Iterator[Period]:
    """The periods of a calendar that have a day of another's, in order.

    >>> [each.name for each in overlapping(Period.parse("2026-W18"), Calendar.MONTH)]
    ['2026-04', '2026-05']
    """
    each = calendar.period(period.first)
    while True:
        yield each
        if each.last >= period.last:
            return
        each = each.next()

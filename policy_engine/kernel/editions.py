"""An edition: one draw of one policy, named before anything is looked at, and what it reads."""

from __future__ import annotations

import re
from datetime import date, datetime, time, timedelta
from typing import Any

from policy_engine.calendars import Period, Zone
from policy_engine.kernel.claim import Claim
from policy_engine.kernel.laws import require
from policy_engine.kernel.types import MOMENTS
from policy_engine.kernel.wording import named
from policy_engine.values import frozen

NAMED_BY_HAND = "a small letter, and up to 39 small letters, digits, - and _"
"""What an edition is called that somebody asks for: no period of a calendar is called so."""
PART = "rows of an edition"
"""What a query is published as whose rows are added by dbt to a table of several editions."""
_BY_HAND = re.compile(r"[a-z][a-z0-9_-]{0,39}")


def is_named_by_hand(name: str) -> bool:
    """Whether an edition of a policy without a schedule can be called so.

    >>> is_named_by_hand("second"), is_named_by_hand("2026-11")
    (True, False)
    """
    return _BY_HAND.fullmatch(name) is not None


@frozen
class Edition:
    """One draw of one policy.

    ``name`` is that of a period of a calendar, where there is a ``zone``, in which its days are;
    else what somebody called it, or empty where a policy has but one. ``column`` is that of the
    source which says in which period a row lies, where the rows of one are read; empty where all
    are. ``is_asked``: somebody asked for it by hand, as no calendar does. ``is_revision``: it is
    drawn anew, because the calendar says so.

    >>> Edition("2026-11", "Europe/Berlin", "visited").start
    '2026-10-31T23:00:00Z'
    """

    name: str = ""
    zone: str = ""
    column: str = ""
    is_asked: bool = False
    is_revision: bool = False

    def __post_init__(self) -> None:
        in_calendar = bool(self.zone)
        known = not self.name or is_named_by_hand(self.name)
        require(in_calendar or known, f"an edition is called {NAMED_BY_HAND}")
        require(in_calendar or not self.column, "a period is one of a calendar, in a zone")
        by_calendar = bool(self.column) and not self.is_asked
        require(by_calendar or not self.is_revision, "a calendar draws a period anew, and no hand")
        if in_calendar:
            Period.parse(self.name, "edition")
            Zone(self.zone)

    @property
    def period(self) -> Period | None:
        """The period of a calendar that it is called like; None of one that is called otherwise."""
        return Period.parse(self.name) if self.zone else None

    @property
    def start(self) -> str:
        """The first instant of the period whose rows it reads; empty where it reads all."""
        return _written(self.period.start(Zone(self.zone))) if self.period and self.column else ""

    @property
    def end(self) -> str:
        """The first instant after it; empty where it reads all rows."""
        return _written(self.period.end(Zone(self.zone))) if self.period and self.column else ""

    @property
    def words(self) -> str:
        """What it is, in words; empty of the only one of a policy.

        >>> print(Edition("2026-11", "UTC", "visited").words)
        2026-11: the rows with visited from 2026-11-01 to before 2026-12-01, days of UTC
        >>> Edition("second", is_asked=True).words
        'second, asked for by hand'
        """
        told, period = self.name, self.period
        if self.column and period is not None:
            days = f"from {period.first} to before {period.last + timedelta(1)}"
            told += f": the rows with {named(self.column)} {days}, days of {self.zone}"
        asked = "asked for by hand" if self.is_asked else ""
        anew = "drawn anew by the calendar" if self.is_revision else ""
        return ", ".join(filter(None, (told, asked, anew)))

    def to_json(self) -> dict[str, object]:
        """As a certificate says it."""
        rows = {"column": self.column, "start": self.start, "end": self.end}
        return {
            "name": self.name,
            **({"zone": self.zone} if self.zone else {}),
            **({"rows": rows} if self.column else {}),
            **({"asked": True} if self.is_asked else {}),
            **({"revision": True} if self.is_revision else {}),
        }

    @classmethod
    def from_json(cls, told: Any) -> Edition:
        """What a certificate says; DomainError or ClaimError of none that can be."""
        column = told["rows"]["column"] if "rows" in told else ""
        asked, revision = bool(told.get("asked")), bool(told.get("revision"))
        return cls(told["name"], told.get("zone", ""), column, asked, revision)

    def differs(self, claim: Claim) -> str:
        """Why a claim does not read the rows that it says; empty where it does."""
        read = claim.period
        if self.period is None or not self.column:
            return "" if read is None else "it reads the rows of one period, and says all"
        if read is None or read.column is None:
            return "it says the rows of one period, and reads all"
        if read.column.name != self.column:
            return f"it says a period by {self.column}, and reads one by {read.column.name}"
        ends = ends_of(self.period, Zone(self.zone), read.seen.kind)
        is_same = ends == read.recode.cuts  # type: ignore[union-attr]  # by the claim's law
        return "" if is_same else "it reads the rows of another period than it says"


def unit_words(unit: str, edition: Edition | None) -> str:
    """Who is protected, with the rows that an edition reads of them.

    >>> print(unit_words("id", Edition("2026-11", "UTC", "visited")))
    id, with the rows of 2026-11 by visited, and no others
    """
    if edition is None or not edition.column:
        return unit
    return f"{unit}, with the rows of {edition.name} by {named(edition.column)}, and no others"


def comes_and_goes(edition: Edition | None, neighbours: str) -> str:
    """What replacing a person hides nothing of, where a source is looked at again and again."""
    if edition is None or not edition.zone or neighbours != "replace_one":
        return ""
    return (
        "between editions, in which somebody else takes a person's place whenever they were there:"
        " when people came and went, and how many there are, is not hidden"
    )


def ends_of(period: Period, zone: Zone, kind: str) -> tuple[date, date] | None:
    """The first value in a period, and the first after it, of a column of a kind.

    Of dates, days; of times with a zone, instants in UTC; of times without one, what the clocks of
    the zone show. None of a column of no times, and of a period whose end is in the year 10000.

    >>> ends_of(Period.parse("2026"), Zone("Asia/Tokyo"), "date")
    (datetime.date(2026, 1, 1), datetime.date(2027, 1, 1))
    >>> ends_of(Period.parse("2026"), Zone("Asia/Tokyo"), "timestamp_zoned")[0]
    datetime.datetime(2025, 12, 31, 15, 0)
    """
    end = period.end(zone)
    if end is None:
        return None
    first, last = period.first, period.next().first
    if kind == "date":
        return first, last
    if kind == "timestamp_zoned":
        return period.start(zone).replace(tzinfo=None), end.replace(tzinfo=None)
    if kind in MOMENTS:
        return datetime.combine(first, time()), datetime.combine(last, time())
    return None


def _written(instant: datetime | None) -> str:
    return "" if instant is None else instant.strftime("%Y-%m-%dT%H:%M:%SZ")

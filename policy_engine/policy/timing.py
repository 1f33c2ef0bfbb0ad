"""When a policy is due, and what the windows of an account are for: with nothing left open."""

from __future__ import annotations

from collections.abc import Container
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING

from policy_engine.calendars import Calendar, Due, Period, Periods, Refresh, Zone
from policy_engine.policy.fields import Neighbours
from policy_engine.policy.time_models import EDITION, days_of
from policy_engine.values import frozen

if TYPE_CHECKING:
    from policy_engine.policy.models import PolicyDocument
    from policy_engine.policy.project_models import AccountSpec


@frozen
class PeriodOf:
    """The rows of one period, by a column of dates or times, each once."""

    column: str
    periods: Periods

    @property
    def every(self) -> Calendar:
        """How long the periods are."""
        return self.periods.every

    def due(self, now: datetime, zone: Zone, drawn: Container[Period]) -> Due:
        """What is due now, as of ``Periods``."""
        return self.periods.due(now, zone, drawn)


@frozen
class PlannedPolicy:
    """How many editions of a policy a window has; ``share`` as of ``accounting.plans.PlanLine``."""

    name: str
    editions: int
    share: Decimal | None = None


@frozen
class WindowTerms:
    """What an account says of its windows.

    ``each`` is how long one is, None where the limit is for ever. ``of`` is the column by whose
    periods rows are told apart; None where a window is of when releases are made; ``joins``: what
    a joined table says of a person counts in each of them. ``rest`` is the
    part of (ε, δ) that is left for what is not planned: all of it where nothing is. ``ever`` is the
    (ε, δ) of all windows together, ``neighbours`` the notion of the plan.
    """

    each: Calendar | None = None
    of: str | None = None
    joins: bool = False
    plan: tuple[PlannedPolicy, ...] = ()
    rest: Decimal = Decimal(1)
    ever: tuple[Decimal, Decimal] | None = None
    neighbours: Neighbours = "add_remove"


def schedule_of(document: PolicyDocument) -> Refresh | PeriodOf | None:
    """When a policy is due; None of one that has one edition."""
    if document.refresh is not None:
        return Refresh(Calendar(document.refresh.every))
    if document.period is None:
        return None
    said = document.period
    first = Calendar(said.every).parse(said.first, "period.from")
    revised = None if document.revise is None else days_of(document.revise.after)
    return PeriodOf(said.column, Periods(first, days_of(said.after), revised))


def schedule_words(schedule: Refresh | PeriodOf | None) -> str:
    """When a policy is due, in words; empty of one without schedule.

    >>> schedule_words(Refresh(Calendar.MONTH))
    'refresh: once in each month'
    """
    if schedule is None:
        return ""
    if isinstance(schedule, Refresh):
        return f"refresh: once in each {schedule.every.value}"
    periods = schedule.periods
    first = f"from {periods.first.name} on, {periods.after} days after its end"
    again = "" if periods.revised is None else f", and anew {periods.revised} days after it"
    return f"period: each {periods.every.value} of {schedule.column} {first}{again}"


def windows_of(account: AccountSpec) -> WindowTerms:
    """The windows of an account."""
    ever = account.ever
    return WindowTerms(
        each=None if account.each is None else Calendar(account.each),
        of=account.of,
        joins=account.joined == "m-fold",
        plan=tuple(
            PlannedPolicy(name, line.editions, line.share) for name, line in account.plan.items()
        ),
        rest=account.rest if account.plan else Decimal(1),
        ever=None if ever is None else (ever.epsilon, ever.delta),
        neighbours=account.neighbours,
    )


def most_editions(schedule: Refresh | PeriodOf | None, terms: WindowTerms) -> int | None:
    """How many draws of a policy a window can have; None where nothing says it.

    Each edition is one, and another one where the calendar draws it anew.

    >>> most_editions(Refresh(Calendar.MONTH), WindowTerms(Calendar.YEAR))
    12
    """
    if schedule is None or terms.each is None:
        return None
    editions = schedule.every.most_in(terms.each)
    return 2 * editions if is_revised(schedule) else editions


def is_revised(schedule: Refresh | PeriodOf | None) -> bool:
    """Whether a calendar draws each of its editions anew, later.

    >>> is_revised(Refresh(Calendar.MONTH))
    False
    """
    return isinstance(schedule, PeriodOf) and schedule.periods.revised is not None


def place_of(text: str, edition: str) -> str:
    """The file or the table of the edition of that name.

    >>> place_of("out/visits/edition={edition}/part.parquet", "2026-10")
    'out/visits/edition=2026-10/part.parquet'
    """
    return text.replace(EDITION, edition)

"""The editions of a policy with a schedule, by its calendar and the zone of its project."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import date, timedelta

from policy_engine.calendars import Period, Zone
from policy_engine.errors import DomainError, UsageError
from policy_engine.kernel.editions import NAMED_BY_HAND, Edition, is_named_by_hand
from policy_engine.policy.project import Project
from policy_engine.policy.resolve import Policy
from policy_engine.policy.scalars import show
from policy_engine.policy.time_models import EDITION
from policy_engine.policy.timing import PeriodOf

_DAYS = re.compile(r"(?<!\d)[1-8]\d{3}-\d\d-\d\d(?!\d)")
_FIRST = 4
UNNAMED = "has a schedule: name the edition that is meant with --edition"


def edition_of(
    policy: Policy,
    zone: Zone,
    period: Period,
    *,
    is_asked: bool = False,
    is_revision: bool = False,
) -> Edition:
    """One edition of a policy with a schedule; ``is_revision`` where that draws it anew."""
    column = policy.schedule.column if isinstance(policy.schedule, PeriodOf) else ""
    return Edition(period.name, zone.name, column, is_asked, is_revision)


def told_due(edition: Edition) -> str:
    """What is due, in a list.

    >>> told_due(Edition("2026-01", "UTC", "visited", is_revision=True))
    '2026-01 (anew)'
    """
    return f"{edition.name} (anew)" if edition.is_revision else edition.name


def in_some_edition(policy: Policy, project: Project) -> Policy:
    """A policy as one of its editions, whichever: for what is asked of all of them alike.

    Days and hours of it are those of the project's zone.
    """
    policy = replace(policy, zone=project.zone.name)
    if not isinstance(policy.schedule, PeriodOf) or policy.edition.name:
        return policy
    first = policy.schedule.periods.first
    return policy.in_edition(edition_of(policy, project.zone, first))


def edition_named(policy: Policy, zone: Zone, name: str, *, is_asked: bool = False) -> Edition:
    """The edition of a policy that is called so, whether it is due or not.

    ``is_asked``: as another draw of it. What no calendar draws is always asked for.

    Raises UsageError: no edition of the policy can be called so.
    """
    schedule = policy.schedule
    if schedule is None:
        if not is_named_by_hand(name):
            why = f"{policy.name} has no schedule, and its editions are called {NAMED_BY_HAND}"
            raise UsageError(f"--edition: {why}; found {show(name)}")
        return Edition(name, is_asked=True)
    try:
        period = schedule.every.parse(name, f"{policy.name}: --edition")
    except DomainError as error:
        raise UsageError(str(error)) from None
    return edition_of(policy, zone, period, is_asked=is_asked)


def told_before_first(policy: Policy, edition: Edition) -> str:
    """That an edition is of a period before the policy's first; empty where it is not."""
    schedule, period = policy.schedule, edition.period
    if not isinstance(schedule, PeriodOf) or period is None:
        return ""
    first = schedule.periods.first
    if period.first >= first.first:
        return ""
    return f"{policy.name}: the first edition is {first.name}, by period.from; found {period.name}"


def in_named_edition(policy: Policy, project: Project, name: str | None = None) -> Policy:
    """A policy as the edition of that name, due or not; without a name as its first.

    Raises UsageError: it has no edition of that name, or only a name says into which table it goes.
    """
    if name is not None:
        edition = edition_named(policy, project.zone, name)
        if early := told_before_first(policy, edition):
            raise UsageError(early)
        return replace(policy, zone=project.zone.name).in_edition(edition)
    policy = in_some_edition(policy, project)
    if EDITION in (policy.release.relation or ""):
        raise UsageError(f"{policy.name} {UNNAMED}")
    return policy


def editions_in(text: str, policy: Policy, zone: Zone) -> Iterator[Edition]:
    """The editions that a text may be of, by the first days that stand in it; none is certain.

    An instant in UTC can lie in the next day of the zone.
    """
    schedule = policy.schedule
    if not isinstance(schedule, PeriodOf):
        return
    days: list[date] = []
    for day in _DAYS.findall(text)[:_FIRST]:
        with suppress(ValueError):
            first = date.fromisoformat(day)
            days += (first, first + timedelta(1))
    for period in dict.fromkeys(map(schedule.every.period, days)):
        edition = edition_of(policy, zone, period)
        if not told_before_first(policy, edition):
            yield edition

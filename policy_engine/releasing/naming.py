"""The editions of a policy with a schedule, by its calendar and the zone of its project."""

from __future__ import annotations

from dataclasses import replace

from policy_engine.calendars import Period, Zone
from policy_engine.kernel.editions import Edition
from policy_engine.policy.project import Project
from policy_engine.policy.resolve import Policy
from policy_engine.policy.timing import PeriodOf


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

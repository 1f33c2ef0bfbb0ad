"""Releases of a calendar in dbt: one text in git for all editions, and what of it each edition has.

The text in git is printed for the first edition. What is otherwise in the print of another stands
between single quotes: the ends of a period, and the tags of hash streams. Those places are calls,
which give what the first edition has where nothing is reserved, and what waits with its secret
where an edition is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from policy_engine.calendars import Period
from policy_engine.errors import InternalError
from policy_engine.policy.project import project_at
from policy_engine.policy.resolve import Policy
from policy_engine.policy.timing import PeriodOf
from policy_engine.releasing.naming import edition_of


def with_git_edition(policy: Policy) -> Policy:
    """A policy as the edition that its model in git is printed for: the first of its periods."""
    return _as(policy, lambda first: first)


def after_git_edition(policy: Policy) -> Policy:
    """The same as the edition after that one, which shows what of a print is an edition's own."""
    return _as(policy, Period.next)


def _as(policy: Policy, which: Callable[[Period], Period]) -> Policy:
    schedule = policy.schedule
    if not isinstance(schedule, PeriodOf):
        return policy
    zone = project_at(policy.directory).zone
    return policy.in_edition(edition_of(policy, zone, which(schedule.periods.first)))


def own_places(first: str, second: str) -> tuple[int, ...]:
    """Which pieces between single quotes differ in the prints of two editions.

    >>> own_places("SELECT 'a' FROM t WHERE d < '2026-07-01'", "SELECT 'a' FROM t WHERE d < 'x'")
    (3,)
    """
    one, two = first.split("'"), second.split("'")
    found = tuple(n for n, pair in enumerate(zip(one, two, strict=False)) if pair[0] != pair[1])
    if len(one) != len(two):
        raise InternalError("the prints of two editions differ in more than texts")
    return found


def own_values(places: Sequence[int], text: str) -> tuple[str, ...]:
    """What the print of an edition has in those places.

    >>> own_values((1,), "d < '2026-07-01'")
    ('2026-07-01',)
    """
    return tuple(text[start:end] for start, end in own_spans(places, text))


def own_spans(places: Sequence[int], text: str) -> tuple[tuple[int, int], ...]:
    """Where those places are in a text.

    >>> own_spans((1,), "d < '2026-07-01'")
    ((5, 15),)
    """
    pieces, found, start = text.split("'"), [], 0
    for number, piece in enumerate(pieces):
        if number in places:
            found.append((start, start + len(piece)))
        start += len(piece) + 1
    return tuple(found)

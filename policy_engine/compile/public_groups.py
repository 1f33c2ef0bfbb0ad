"""``public_groups: auto``: every combination of what a policy's recodes can give.

The domain is complete: whoever is counted is in one of its groups. NULL is in it wherever a recode
can give one, of a missing value, of one that a strict cast or a map sends there. No value is in it
that the conditions on its column, of the filter and the period, keep nobody with, nor the rest of a
map of both truth values. The column of a period is never missing; a week may begin before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from itertools import islice
from math import prod

from policy_engine.kernel.claim import KEPT, Shown
from policy_engine.kernel.mechanisms.pure import MOST_TUPLES, Key
from policy_engine.kernel.recodes.meaning import UNNAMED
from policy_engine.kernel.recodes.meanings import recode_meaning


class NotPublic(Exception):
    """Not every group can be listed: why, and what to do."""


def all_groups(
    shown: Sequence[Shown], period: Shown | None, conditions: Sequence[Shown] = ()
) -> tuple[tuple[Key, ...], ...]:
    """Of each column all that it can show, NULL where it can; the groups are their product.

    ``conditions`` are those of the filter.

    Errors: NotPublic, with a law and a remedy, where a column does not tell, or there are too many.
    """
    kept = (*conditions, *([] if period is None else [period]))
    lists = tuple(_values(each, period, kept) for each in shown)
    if (many := prod(map(len, lists))) > MOST_TUPLES:
        sizes = " × ".join(
            f"{each.name} {len(own)}" for each, own in zip(shown, lists, strict=True)
        )
        law = f"must be at most {MOST_TUPLES:,} groups, found {many:,}: {sizes}"
        raise NotPublic(law, "take coarser recodes, or fewer columns")
    return lists


def _values(shown: Shown, period: Shown | None, conditions: Sequence[Shown]) -> tuple[Key, ...]:
    how = shown.recode
    if not how.reads:
        return ((recode_meaning(how).shows(UNNAMED),),)
    if period is not None and shown.column == period.column:
        first, end = recode_meaning(period.recode).members  # by the claim's law
        assert isinstance(first, date) and isinstance(end, date)
        if (starts := recode_meaning(how).between(first, end)) is not None:
            return tuple((start,) for start in islice(starts, MOST_TUPLES + 1))
    if not shown.values:
        law = f"is auto, and column {shown.name!r} does not say which values it can show"
        raise NotPublic(law, "recode it by bins or map, or list the groups")
    own = [each for each in conditions if each.column == shown.column]
    return tuple((label,) for label in _with_whom(shown, own) or shown.values)


def _with_whom(shown: Shown, conditions: Sequence[Shown]) -> tuple[str | None, ...]:
    """What a column shows of the values that all conditions on it keep, in the order of ``values``.

    Asked of one value of each kind: every key, every cut and one below, one that is no key.
    """
    lists = [each for each in conditions if _is_list(each)]
    alike = [each for each in conditions if type(each.recode) is type(shown.recode)]
    asked = [*lists, *alike]
    found = {shown.missing} if all(each.missing is not None for each in conditions) else set()
    for value in _points(shown, lists, alike):
        if all(recode_meaning(each.recode).shows(value) == KEPT for each in asked):
            label = recode_meaning(shown.recode).shows(value)
            found.add(shown.missing if label is None else label)
    return tuple(label for label in shown.values if label in found)


def _points(shown: Shown, lists: Sequence[Shown], alike: Sequence[Shown]) -> Sequence[object]:
    if shown.seen.kind == "boolean":
        return (True, False)
    if lists:
        return recode_meaning(lists[0].recode).members
    every = [member for each in (shown, *alike) for member in recode_meaning(each.recode).members]
    return (UNNAMED, *every)


def _is_list(condition: Shown) -> bool:
    """Whether a condition keeps but some values, of a type in which they stand for themselves."""
    how, plain = recode_meaning(condition.recode), {"integer", "decimal", "date", "text"}
    return how.looks_up and condition.seen.kind in plain and how.shows(UNNAMED) != KEPT

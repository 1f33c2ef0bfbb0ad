"""Ladders of recodings: which one is coarser than another, so that its groups are unions of its.

Told from the recodings alone: whatever the values are, two that are alike at a level are alike at
every level above it.
"""

from __future__ import annotations

from datetime import date, datetime, time
from decimal import Decimal

from policy_engine.kernel.recodes import Bins, Map, Prefix, Round, Truncate
from policy_engine.kernel.recodes.truncate.recode import Unit
from policy_engine.kernel.types import Value
from policy_engine.policy.recodings import Recoding

COARSER: dict[Unit, tuple[Unit, ...]] = {
    "hour": ("day", "week", "month", "quarter", "year"),
    "day": ("week", "month", "quarter", "year"),
    "week": (),
    "month": ("quarter", "year"),
    "quarter": ("year",),
    "year": (),
}
"""Which units of time are made of whole ones of a unit; a week lies in no month and no year."""
_OTHERS = "it is another kind of recoding, and nothing says what of the one is in the other"
_FRACTION = "of fractions of 1 nothing is told: doubles have none exactly"


def why_not_coarser(fine: Recoding, coarse: Recoding) -> str:
    """Why some values that are alike by ``fine`` may differ by ``coarse``; empty if none can.

    >>> why_not_coarser(Prefix(3), Prefix(1)), why_not_coarser(Prefix(1), Prefix(3))
    ('', 'it has 3 characters, and the one before 1')
    >>> why_not_coarser(Truncate("week"), Truncate("month"))
    'a week is not within one month'
    """
    match fine, coarse:
        case Prefix(length=longer), Prefix(length=shorter):
            if shorter < longer:
                return ""
            return f"it has {_characters(shorter)}, and the one before {longer}"
        case Truncate(unit=small), Truncate(unit=large):
            return "" if large in COARSER[small] else f"a {small} is not within one {large}"
        case Bins(cuts=many), Bins(cuts=few):
            return _cut_within(few, many)
        case Map(), Map():
            return _parted_by(fine, coarse)
        case Round(), Round():
            return _not_multiple(fine, coarse)
        case Round(), Bins(cuts=cuts):
            return _not_at_steps(fine, cuts)
        case Truncate(unit=unit), Bins(cuts=cuts):
            return _not_at_starts(unit, cuts)
    return _OTHERS


def _characters(n: int) -> str:
    return f"{n} character{'s' if n > 1 else ''}"


def _cut_within(few: tuple[Value, ...], many: tuple[Value, ...]) -> str:
    others = [cut for cut in few if cut not in many]
    if others:
        return f"the cut {others[0]} is none of the level before, so that it parts an interval"
    return "" if len(few) < len(many) else "it has the same cuts"


def _parted_by(fine: Map, coarse: Map) -> str:
    """Whether two values of one label have two labels above it."""
    known, above = (
        {key: label for keys, label in each.groups for key in keys} for each in (fine, coarse)
    )
    labels: dict[str | None, str | None] = {fine.other: coarse.other}
    for value in (*known, *above):
        label, label_above = known.get(value, fine.other), above.get(value, coarse.other)
        if labels.setdefault(label, label_above) != label_above:
            what = "NULL" if label is None else repr(label)
            return f"what is {what} at the level before is {labels[label]!r} and {label_above!r}"
    return "" if len(set(labels.values())) < len(labels) else "it tells as many values apart"


def _not_multiple(fine: Round, coarse: Round) -> str:
    if fine.way == "nearest" or coarse.way != fine.way:
        return "only multiples that are both way: down, or both way: zero, lie in one another"
    if fine.step % 1:
        return _FRACTION
    if coarse.step % fine.step or coarse.step == fine.step:
        return f"{coarse.step} is no multiple of {fine.step} above it"
    return ""


def _not_at_steps(fine: Round, cuts: tuple[Value, ...]) -> str:
    if fine.way != "down":
        return "only multiples with way: down lie in bins"
    if fine.step % 1:
        return _FRACTION
    numbers = [cut for cut in cuts if isinstance(cut, Decimal)]
    others = [cut for cut in numbers if cut % fine.step]
    if others or len(numbers) < len(cuts):
        return f"each cut must be a multiple of {fine.step}"
    return ""


def _not_at_starts(unit: Unit, cuts: tuple[Value, ...]) -> str:
    others = [cut for cut in cuts if not isinstance(cut, date) or not _starts(unit, cut)]
    return f"the cut {others[0]} is not where a {unit} begins" if others else ""


def _starts(unit: Unit, cut: date | datetime) -> bool:
    if isinstance(cut, datetime):
        whole_hour = cut == cut.replace(minute=0, second=0, microsecond=0)
        if unit == "hour" or not whole_hour:
            return whole_hour
        if cut.time() != time():
            return False
    match unit:
        case "week":
            return cut.isoweekday() == 1
        case "month":
            return cut.day == 1
        case "quarter":
            return cut.day == 1 and cut.month % 3 == 1
        case "year":
            return (cut.day, cut.month) == (1, 1)
    return True

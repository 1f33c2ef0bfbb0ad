"""The public list of what a recode can give."""

from __future__ import annotations

from policy_engine.kernel.recodes.bins import Bins
from policy_engine.kernel.recodes.map import Map


def values_of(recode: object) -> tuple[str | None, ...]:
    """Every value that a recode can give, NULL last; none where the claim does not tell them.

    >>> values_of(Bins((18, 65), ("young", "adult", "old")))
    ('young', 'adult', 'old', None)
    >>> values_of(Map(((("f",), "F"), (("x",), None)), "M"))
    ('F', 'M', None)
    """
    match recode:
        case Bins(labels=labels):
            given: tuple[str | None, ...] = labels
        case Map(groups, other):
            given = (*(label for _, label in groups), other)
        case _:
            return ()
    return (*dict.fromkeys(label for label in given if label is not None), None)

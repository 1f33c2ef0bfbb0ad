"""What a released column may be: a closed set of data-independent recodings.

They are the kernel's recodes, before a catalog has told the types of columns: a cut is any number,
day or time, and a key of a map its text. There is no recoding here that looks at more than one
value, so a quantile cannot be written ([LQS]: the recoding is fixed before the data is looked at).
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime
from decimal import Decimal

from policy_engine.kernel.recodes import Map, Recode
from policy_engine.kernel.recodes.meanings import recode_meaning

CutPoint = Decimal | date | datetime
"""Where one interval ends and the next begins."""

Recoding = Recode
"""A recode of which no column has told the type."""


def mapped(table: Iterable[tuple[str, str | None]], other: str | None) -> Map:
    """The map of a list of keys, each with its label, in their order.

    >>> mapped([("a", "x"), ("b", "y"), ("c", "x")], None).groups
    ((('a', 'c'), 'x'), (('b',), 'y'))
    """
    groups: dict[str | None, list[str]] = {}
    for key, label in table:
        groups.setdefault(label, []).append(key)
    return Map(tuple((tuple(keys), label) for label, keys in groups.items()), other)


def labels(recoding: Recoding, declared: str | None = None) -> int | None:
    """How many values a recoding can give at most, NULL being one; None: it does not tell.

    ``declared`` is the type that a policy reads the column as, if it says one.

    >>> from policy_engine.kernel.recodes import Keep
    >>> labels(mapped((("a", "x"), ("b", "x")), "other")), labels(Keep()), labels(Keep(), "boolean")
    (3, None, 3)
    """
    if not recoding.reads:
        return 1
    if recode_meaning(recoding).keeps and declared == "boolean":
        return len((False, True, None))
    return len(recoding.values) or None

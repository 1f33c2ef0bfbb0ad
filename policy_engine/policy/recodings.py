"""What a released column may be: a closed set of data-independent recodings.

They are the kernel's recodes. Bins and maps are so before a catalog has told the types of columns:
a cut is any number, day or time, and a key of a map its text. There is no recoding here that looks
at more than one value, so a quantile cannot be written ([LQS]: the recoding is fixed before the
data is looked at).
"""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

from policy_engine.kernel.recodes import Constant, Keep, Prefix, Recode, Round, Truncate
from policy_engine.kernel.recodes.truncate.recode import Unit as TruncateUnit
from policy_engine.kernel.types import GivesText
from policy_engine.values import frozen

__all__ = [
    "Constant", "CutPoint", "Intervals", "Keep", "Lookup", "Prefix", "Recoding", "Round",
    "Truncate", "TruncateUnit",
]  # fmt: skip

CutPoint = Decimal | date | datetime
"""Where one interval ends and the next begins."""


@frozen
class Intervals(GivesText):
    """The label of the interval that contains the value. NULL and NaN become NULL.

    Fields:
        ``cuts``: the ends of the intervals, in rising order. A value that equals a cut belongs to
            the interval above it.
        ``labels``: one label for each interval, one more than cuts. The first is for values below
            the first cut.
    """

    cuts: tuple[CutPoint, ...]
    labels: tuple[str, ...]


@frozen
class Lookup(GivesText):
    """A label that is looked up in a fixed list, from ``map`` or ``hierarchy``. NULL stays NULL.

    Fields:
        ``table``: pairs (value, label), sorted by value. A value that is not a text is looked up
            as its text.
        ``other``: the label of a value that is not in the list. None means NULL.
    """

    table: tuple[tuple[str, str | None], ...]
    other: str | None


Recoding = Intervals | Lookup | Recode
"""A recode, or bins and maps of which no column has told the type."""


def labels(recoding: Recoding, declared: str | None = None) -> int | None:
    """How many values a recoding can give at most, NULL being one; None: it does not tell.

    ``declared`` is the type that a policy reads the column as, if it says one.

    >>> labels(Intervals((Decimal(18),), ("<18", ">=18"))), labels(Constant("*")), labels(Keep())
    (3, 1, None)
    >>> labels(Lookup((("a", "x"), ("b", "x")), other="other")), labels(Keep(), "boolean")
    (3, 3)
    """
    if not recoding.reads:
        return 1
    if isinstance(recoding, Keep) and declared == "boolean":
        return len((False, True, None))
    known = labels_of(recoding)
    return None if known is None else len(known)


def labels_of(recoding: Recoding) -> tuple[str | None, ...] | None:
    """The values that intervals and maps can give, each once, NULL last; None: it does not tell."""
    match recoding:
        case Intervals():
            return (*dict.fromkeys(recoding.labels), None)
        case Lookup():
            given = (*(label for _, label in recoding.table), recoding.other)
            return (*dict.fromkeys(label for label in given if label is not None), None)
        case _:
            return None

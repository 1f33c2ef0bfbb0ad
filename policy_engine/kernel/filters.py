"""What a unit must be to be released at all: conditions of the raw values of its one row.

A filter is a recode to nothing: fixed before the data is looked at, of the one row that a unit has
in the sample, and total, so that it adds no loss and no error of it tells of a row.
"""

from __future__ import annotations

from dataclasses import dataclass

from policy_engine.kernel.laws import require
from policy_engine.kernel.recodes import Bins, Map
from policy_engine.kernel.sources import Column
from policy_engine.kernel.types import Value

KEPT, DROPPED = "kept", "dropped"


@dataclass(frozen=True)
class Filter:
    """The value is one of ``members``; or it is ``at_least`` this, and ``below`` that.

    NULL and NaN meet no condition.
    """

    column: Column
    members: tuple[Value, ...] = ()
    at_least: Value | None = None
    below: Value | None = None

    def __post_init__(self) -> None:
        is_range = self.at_least is not None or self.below is not None
        require(bool(self.members) != is_range, "a condition has members, or is a range")
        require(self.recode.fits(self.column.seen), "a filter fits its column, and some value")

    @property
    def recode(self) -> Bins | Map:
        """The condition as what is printed: what meets it is ``KEPT``."""
        if self.members:
            return Map(((self.members, KEPT),), DROPPED)
        cuts = tuple(cut for cut in (self.at_least, self.below) if cut is not None)
        labels = (KEPT, DROPPED) if self.at_least is None else (DROPPED, KEPT, DROPPED)
        return Bins(cuts, labels[: len(cuts) + 1])

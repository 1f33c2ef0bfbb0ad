"""What the rows of whole classes can be."""

from __future__ import annotations

from policy_engine.kernel.mechanisms.rows import ReleasedRows
from policy_engine.kernel.mechanisms.whole_classes.law import WholeClasses


class ClassesRows(ReleasedRows[WholeClasses]):
    """Groups of classes: k is of a class, which may be many groups."""

    @property
    def least(self) -> int:
        """The least number that a group is shown with."""
        return 1

    @property
    def classes(self) -> tuple[str, ...]:
        """The columns that tell classes apart."""
        return tuple(name for name in self.claim.released if name not in self.law.sensitive)

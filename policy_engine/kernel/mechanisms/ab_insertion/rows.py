"""What the rows of tuples by chance can be."""

from __future__ import annotations

from typing import ClassVar

from policy_engine.kernel.mechanisms.ab_insertion.law import Inserted
from policy_engine.kernel.mechanisms.pure import Values
from policy_engine.kernel.mechanisms.pure_rows import PublicRows


class TuplesRows(PublicRows[Inserted]):
    """Tuples of the public domain, each once."""

    is_set: ClassVar[bool] = True

    def public(self) -> tuple[Values, ...]:
        """The public values of each column."""
        return self.law.values

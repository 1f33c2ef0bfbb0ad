"""What the rows of a mechanism can be that knows a public list of values of each column."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from typing import TypeVar

from policy_engine.kernel.mechanisms.pure import OfPublicValues, Values
from policy_engine.kernel.mechanisms.rows import ReleasedRows, RowsChecked

P = TypeVar("P", bound=OfPublicValues)


class PublicRows(ReleasedRows[P]):
    """Rows of public values alone."""

    @abstractmethod
    def public(self) -> tuple[Values, ...]:
        """The public values of each column."""

    def check_values(self, columns: Iterable[Iterable[object]]) -> RowsChecked:
        """That each column shows values of its public list alone, [LOCAL], [AB]."""
        pairs = zip(self.claim.released, columns, self.public(), strict=True)
        wrong = [name for name, shown, values in pairs if not set(shown) <= set(values)]
        if wrong:
            return RowsChecked(wrong=f"values that are not public stand in: {', '.join(wrong)}")
        return RowsChecked(holds="it shows values of the public lists alone")

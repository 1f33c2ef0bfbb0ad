"""What the rows of a release can be, by the mechanism of its claim: for those who check them.

Nothing here knows the source, nor in what file the rows stand.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Generic, TypeVar, cast

from policy_engine.kernel.claim import Claim
from policy_engine.kernel.mechanisms.common import ReleaseLaw
from policy_engine.values import frozen

L = TypeVar("L", bound=ReleaseLaw)


@frozen
class RowsChecked:
    """What is wrong with rows, or what holds of them; neither where a mechanism asks nothing."""

    wrong: str = ""
    holds: str = ""


@frozen
class ReleasedRows(Generic[L]):
    """What can be checked of the rows of a claim; what a mechanism does not say is not asked.

    ``is_set``: a row is shown once, whoever has it.
    """

    claim: Claim
    is_set: ClassVar[bool] = False

    @property
    def law(self) -> L:
        """The law of the claim."""
        return cast(L, self.claim.law)

    @property
    def least(self) -> int:
        """The least number that a group is shown with."""
        return self.law.k

    @property
    def classes(self) -> tuple[str, ...] | None:
        """The columns that tell classes apart, each of which has k people; None where none are."""
        return None

    def check_values(self, columns: Iterable[Iterable[object]]) -> RowsChecked:
        """The values that stand in each released column."""
        return RowsChecked()

    def check_keys(self, rows: Iterable[tuple[object, ...]]) -> RowsChecked:
        """Which groups there are: of each row what tells it from others."""
        return RowsChecked()

    def wrong_row(self, rows: Iterable[Sequence[Any]]) -> str:
        """What no row can say: of its grouping, its count or its sums; empty if nothing.

        A row has the columns that are released, the count, and what stands beside it.
        """
        return ""

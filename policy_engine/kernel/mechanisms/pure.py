"""What the mechanisms of a pure ε share: a public list of values of each released column."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, ClassVar

from policy_engine.kernel.laws import require
from policy_engine.kernel.mechanisms.sampled_suppression import OfColumns
from policy_engine.kernel.recodes.values import values_of

if TYPE_CHECKING:
    from policy_engine.kernel.claim import Claim, Shown

MOST_COLUMNS = 10
"""With more of them δ below the promised ε takes minutes to compute."""
MOST_VALUES = 1000
"""Of a column: a CASE asks for one after another."""

Values = tuple[str | None, ...]


def public_values(columns: Sequence[Shown]) -> tuple[Values, ...]:
    """All that each column can show; ClaimError where it does not tell, or there are too many."""
    values = tuple(values_of(shown.recode) for shown in columns)
    require(all(values), "every column is binned or mapped, so that its values are public")
    few = len(values) <= MOST_COLUMNS and all(2 <= len(each) <= MOST_VALUES for each in values)
    require(few, f"at most {MOST_COLUMNS} columns, of 2 to {MOST_VALUES} values each")
    return values


def check_values(values: tuple[Values, ...], claim: Claim) -> None:
    """Raise ClaimError unless ``values`` are all that the claim's columns can show."""
    given = public_values(claim.columns)
    require(values == given, "the public values are those that the recodes can give")
    require(not claim.unit.counts_all, "a unit has one row")


class OfPublicValues(OfColumns):
    """A law of everybody, whose groups have no least size."""

    rate: ClassVar[Decimal] = Decimal(1)
    k: ClassVar[int] = 1

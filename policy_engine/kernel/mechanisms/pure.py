"""What mechanisms share that know a public list of values of each released column."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any, ClassVar

from policy_engine.accounting.finite import Factor, delta_of
from policy_engine.kernel.laws import require
from policy_engine.kernel.mechanisms.common import OfEverybody
from policy_engine.kernel.nodes import Identifier, Node, Number, Text

if TYPE_CHECKING:
    from policy_engine.kernel.claim import Claim, Shown

MOST_COLUMNS = 10
"""With more of them δ below the promised ε takes minutes to compute."""
MOST_VALUES = 1000
"""Of a column: a CASE asks for one after another."""
MOST_TUPLES = 100_000
_PART = 200
"""So many rows stand in one list of SELECTs: some engines take no 500 of them."""

Values = tuple[str | None, ...]
Key = tuple[str | int | datetime | date | None, ...]
"""A value for each of some shown columns."""


def public_values(columns: Sequence[Shown]) -> tuple[Values, ...]:
    """All that each column can show; ClaimError where it does not tell, or there are too many."""
    values = tuple(shown.values for shown in columns)
    require(all(values), "every column is binned or mapped, so that its values are public")
    few = len(values) <= MOST_COLUMNS and all(2 <= len(each) <= MOST_VALUES for each in values)
    require(few, f"at most {MOST_COLUMNS} columns, of 2 to {MOST_VALUES} values each")
    return values


def check_values(values: tuple[Values, ...], claim: Claim) -> None:
    """Raise ClaimError unless ``values`` are all that the claim's columns can show."""
    given = public_values(claim.columns)
    require(values == given, "the public values are those that the recodes can give")
    require(not claim.unit.counts_all, "a unit has one row")


class OfPublicValues(OfEverybody):
    """A law of everybody, whose groups have no least size."""

    is_pure: ClassVar[bool] = True
    k: int = 1

    @abstractmethod
    def factors(self, neighbours: str) -> tuple[Factor, ...]:
        """What one unit changes of what is drawn, each with its mass on both tables."""

    def delta(self, groups: int, rate: Decimal, epsilon: Decimal, neighbours: str) -> Decimal:
        """The least δ of one release: of a pure ε it is 0."""
        return delta_of(self.factors(neighbours), epsilon)

    def asks(self, claim: Claim) -> Iterable[str]:
        """Nothing: a row is a unit's, or a tuple, and none is repeated."""
        return ()


def domain_of(lists: Iterable[Sequence[Key]]) -> list[tuple[Identifier, list[list[Any]]]]:
    """What a template is given of public lists of rows, whose product is the domain.

    Of each its name and its rows, in parts; of a row the number of each column, and its value.
    """
    found, first = [], 0
    for number, rows in enumerate(lists, 1):
        nodes = [[(first + at, _node(value)) for at, value in enumerate(row)] for row in rows]
        parts = [nodes[at : at + _PART] for at in range(0, len(nodes), _PART)]
        found.append((Identifier(f"policy_engine_values_{number}"), parts))
        first += len(rows[0])
    return found


def _node(value: str | int | date | None) -> Node | None:
    if value is None or isinstance(value, int):
        return None if value is None else Number(value)
    return Text(str(value), is_label=isinstance(value, str))

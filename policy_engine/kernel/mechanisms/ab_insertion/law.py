"""αβ insertion [AB]: which tuples of a public domain there are, some of them by chance.

Every tuple of the domain gets its own draw, by the number that it has in the order of all of them,
which are the same whatever the table holds. One unit more or less changes whether one tuple is
there, one unit replaced whether two are.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, ClassVar

from policy_engine.accounting import finite
from policy_engine.accounting.domain import REPLACE_ONE
from policy_engine.accounting.noise import WHOLE
from policy_engine.kernel.laws import require
from policy_engine.kernel.mechanisms.common import Secret
from policy_engine.kernel.mechanisms.pure import (
    MOST_TUPLES,
    OfPublicValues,
    Values,
    check_values,
    domain_of,
)
from policy_engine.kernel.nodes import Nodes, bound_of
from policy_engine.values import frozen

if TYPE_CHECKING:
    from policy_engine.kernel.claim import Claim


@frozen
class Inserted(OfPublicValues):
    """The tuples of the domain, which is the product of the ``values`` of each column.

    One that some unit has is shown with probability shown / 2⁶⁰, α + β; another one with
    inserted / 2⁶⁰, β. u is uniform on 2⁶⁰: a tuple is shown if it is below its number.
    """

    shown: int
    inserted: int
    values: tuple[Values, ...]
    secret: Secret | None = None
    template: ClassVar[str] = "ab_insertion"
    mechanism: ClassVar[str] = "ab-insertion"
    source_tag: ClassVar[str] = "[AB]"

    @property
    def domain(self) -> int:
        """How many tuples there are."""
        return prod(map(len, self.values))

    def check(self, claim: Claim) -> None:
        """Raise ClaimError unless ``claim`` can have this law."""
        require(0 < self.inserted < self.shown < WHOLE, "0 < β < α + β < 1")
        check_values(self.values, claim)
        require(self.domain <= MOST_TUPLES, f"a domain has at most {MOST_TUPLES} tuples")
        require(claim.count is None, "tuples have no count")

    def factors(self, neighbours: str) -> tuple[finite.Factor, ...]:
        """What one unit changes of what is drawn, each with its mass on both tables.

        Whether one tuple is there, and of a unit replaced another one too.
        """
        pair = finite.presence(self.shown, self.inserted)
        other = tuple((absent, present) for present, absent in pair)
        return (pair, other) if neighbours == REPLACE_ONE else (pair,)

    def nodes(self) -> Nodes:
        """What its template is given besides a claim's own values."""
        return {
            "shown": bound_of(self.shown),
            "inserted": bound_of(self.inserted),
            "domain": domain_of([(value,) for value in values] for values in self.values),
            **super().nodes(),
        }

"""Randomised response [LOCAL]: each value of a unit is its own, or by chance a public one.

Every row gets its own draws, by the number that it has in the order of the recoded rows: so all
draws are independent whatever the table holds, and what is shown, in an order of its own, is one
function of the rows and of as many independent numbers as there are rows and columns. One unit
replaced changes one row, so that its pair is that of its columns. How many rows there are is shown.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Context, Decimal
from typing import TYPE_CHECKING, ClassVar

from policy_engine.accounting import finite
from policy_engine.accounting.domain import REPLACE_ONE
from policy_engine.accounting.noise import WHOLE
from policy_engine.kernel.assumption import Assumption
from policy_engine.kernel.laws import require
from policy_engine.kernel.mechanisms.common import Secret
from policy_engine.kernel.mechanisms.pure import OfPublicValues, Values, check_values
from policy_engine.kernel.nodes import Nodes, bound_of, label_of
from policy_engine.kernel.sources import Relation
from policy_engine.values import frozen

if TYPE_CHECKING:
    from policy_engine.kernel.claim import Claim


@frozen
class Response:
    """The public ``values`` of a column, each given by chance with probability share / 2⁶⁰.

    u is uniform on 2⁶⁰: value number ⌊u / share⌋ from 0 on, the unit's own where there is none.
    """

    values: Values
    share: int

    @property
    def truth(self) -> Decimal:
        """The probability that the own value is told, not by chance; exact.

        >>> Response(("a", None), 1 << 58).truth
        Decimal('0.5')
        """
        own = WHOLE - len(self.values) * self.share
        return Context(prec=80).divide(Decimal(own), Decimal(WHOLE))


@frozen
class Randomised(OfPublicValues):
    """Every unit's row with each column by its own of the ``responses``, in their order."""

    responses: tuple[Response, ...]
    secret: Secret | None = None
    template: ClassVar[str] = "randomised_response"
    mechanism: ClassVar[str] = "randomised-response"
    source_tag: ClassVar[str] = "[LOCAL]"

    def check(self, claim: Claim) -> None:
        """Raise ClaimError unless ``claim`` can have this law."""
        check_values(tuple(response.values for response in self.responses), claim)
        chance = all(0 < each.share * len(each.values) < WHOLE for each in self.responses)
        require(chance, "a value is told by chance, and not always")
        all_of_it = not (isinstance(claim.source, Relation) and claim.source.is_rowwise)
        require(not claim.filter and all_of_it, "every unit of the source answers")

    def assumes(self, unit: str, source: str) -> Iterator[Assumption]:
        """That how many answer is known."""
        yield Assumption.of("size_public", source=source)

    def factors(self, neighbours: str) -> tuple[finite.Factor, ...]:
        """What one unit changes of what is drawn, each with its mass on both tables.

        One unit replaced changes one row; one more or less is told by the number of rows.
        """
        if neighbours != REPLACE_ONE:
            return (((WHOLE, 0), (0, WHOLE)),)
        return tuple(finite.response(len(each.values), each.share) for each in self.responses)

    def nodes(self) -> Nodes:
        """What its template is given besides a claim's own values."""
        # Below which 60 bits which value is given by chance.
        cases = [
            [(*bound_of(each.share * n), label_of(value)) for n, value in enumerate(each.values, 1)]
            for each in self.responses
        ]
        return {"responses": cases, **super().nodes()}

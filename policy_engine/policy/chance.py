"""The chance that a policy of a pure ε means: how often an answer or a tuple is nobody's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context, Decimal
from typing import TYPE_CHECKING, ClassVar

from policy_engine.kernel.claim import Shown
from policy_engine.kernel.mechanisms import Inserted, Pure, Randomised, Secret
from policy_engine.kernel.mechanisms.pure import MOST_VALUES, public_values
from policy_engine.kernel.mechanisms.randomised_response import Response
from policy_engine.policy.auto import Guarantee, NoSolution
from policy_engine.policy.fields import Mechanism

if TYPE_CHECKING:
    from policy_engine.kernel.mechanisms import CountedBy
    from policy_engine.policy.noise import Sum

_FLOOR = Context(prec=60, rounding=ROUND_FLOOR)


@dataclass(frozen=True)
class Chance:
    """A mechanism of public values, and the ε that each of its independent draws may cost."""

    mechanism: Mechanism
    each: Decimal
    sums: ClassVar[tuple[Sum, ...]] = ()
    groupings: ClassVar[tuple[CountedBy, ...]] = ()

    @property
    def words(self) -> str:
        """Its name."""
        return {"randomised_response": "randomised response"}.get(self.mechanism, "αβ insertion")

    def law(self, columns: Sequence[Shown], secret: Secret | None) -> Pure:
        """The kernel's law, by the values that the columns can show.

        Errors: ClaimError where a column does not tell them, or there are too many.
        """
        values = public_values(columns)
        if self.mechanism == "ab_insertion":
            inserted = _share(2, self.each)
            return Inserted((1 << 60) - inserted, inserted, values, secret)
        return Randomised(
            tuple(Response(each, _share(len(each), self.each)) for each in values), secret
        )


def solve_chance(mechanism: Mechanism, guarantee: Guarantee, columns: int) -> Chance:
    """The chance that costs no more than ε: as much for each column, or for each tuple.

    A person who is replaced can change every column, or take one tuple away and bring another.
    Raises ``NoSolution`` where ε is too small.
    """
    draws = columns
    if mechanism == "ab_insertion":
        draws = 2 if guarantee.neighbours == "replace_one" else 1
    chance = Chance(mechanism, _FLOOR.divide(guarantee.epsilon, Decimal(draws)))
    _share(MOST_VALUES, chance.each)
    return chance


def _share(values: int, epsilon: Decimal) -> int:
    # Numbers and their search are needed for such a policy alone.
    from policy_engine.accounting.shares import least_share

    share = least_share(values, epsilon)
    if share is None:
        raise NoSolution(f"ε is too small for {values} values")
    return share

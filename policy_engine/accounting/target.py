"""What N releases together must meet: asked of one (k, rate) after the other by calibration."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from policy_engine.accounting.amounts import probability
from policy_engine.accounting.composition import Charges, Question, Tight
from policy_engine.accounting.domain import (
    ADD_REMOVE,
    Number,
    count,
    neighbour_notion,
    nonnegative_epsilon,
)
from policy_engine.accounting.events import SampledSuppression
from policy_engine.accounting.exact import delta_exact


@dataclass(frozen=True)
class Joint:
    """(ε, δ) between neighbours, over so many releases with a fresh sample each."""

    epsilon: Decimal
    delta: Decimal
    neighbours: str = ADD_REMOVE
    releases: int = 1

    @classmethod
    def of(cls, epsilon: Number, delta: Number, neighbours: str, releases: int) -> Joint:
        """The target for numbers of any type; DomainError outside their domains.

        >>> Joint.of("1", 1e-6, "add_remove", 1)
        Joint(epsilon=Decimal('1'), delta=Decimal('0.000001'), neighbours='add_remove', releases=1)
        """
        return cls(
            nonnegative_epsilon(epsilon),
            probability(delta),
            neighbour_notion(neighbours),
            count("releases", releases),
        )

    @property
    def exact(self) -> bool:
        """Whether δ has a closed form."""
        return self.neighbours == ADD_REMOVE and self.releases == 1

    def met(self, k: int, rate: Decimal) -> bool:
        """Whether releases of k at a rate are proven to meet the target.

        >>> target = Joint(Decimal(1), Decimal("1e-6"), releases=4)
        >>> target.met(9, Decimal("0.1")), target.met(8, Decimal("0.1"))
        (True, False)
        """
        # One release alone lies below, and add/remove below replace-one: both are cheap.
        if delta_exact(k, rate, self.epsilon).delta > self.delta:
            return False
        if self.exact:
            return True
        if self.releases == 1:
            return delta_exact(k, rate, self.epsilon, self.neighbours).delta <= self.delta
        charges = self._charges(k, rate)
        return Tight().meets(charges, self.epsilon, self.delta, Question(self.neighbours))

    def spent(self, k: int, rate: Decimal) -> Decimal:
        """δ in total at the target's ε, by the tight rule.

        >>> Joint(Decimal("0.5"), Decimal("1e-6")).spent(20, Decimal("0.1"))
        Decimal('2.63178346623E-11')
        """
        if self.releases == 1:
            return delta_exact(k, rate, self.epsilon, self.neighbours).delta
        return Tight().delta(self._charges(k, rate), self.epsilon, Question(self.neighbours))

    def _charges(self, k: int, rate: Decimal) -> Charges:
        return ((SampledSuppression(k, rate), self.releases),)

"""What was released, apart from what it costs: frozen values without arithmetic."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from policy_engine.accounting.domain import (
    ADD_REMOVE,
    Number,
    neighbour_notion,
    sampling_rate,
    threshold,
)


@dataclass(frozen=True)
class SampledSuppression:
    """One release of the certified mechanism (theory.md): sample, recode, suppress below k.

    Guarantee: an instance lies in the domain of [EXACT]; DomainError otherwise. The rate is a
    probability, k a count of privacy units.

    >>> SampledSuppression(20, Decimal("0.1"))
    SampledSuppression(k=20, rate=Decimal('0.1'), neighbours='add_remove')
    """

    k: int
    rate: Decimal
    neighbours: str = ADD_REMOVE

    def __post_init__(self) -> None:
        """Refuse what is outside the domain; the rate is kept as the decimal written."""
        threshold(self.k)
        object.__setattr__(self, "rate", sampling_rate(self.rate))
        neighbour_notion(self.neighbours)

    @classmethod
    def of(cls, k: int, rate: Number, neighbours: str = ADD_REMOVE) -> SampledSuppression:
        """The event for a rate of any numeric type.

        >>> SampledSuppression.of(20, 0.1).rate
        Decimal('0.1')
        """
        return cls(k, sampling_rate(rate), neighbours)

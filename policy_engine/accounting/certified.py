"""(ε, δ), and an event of which a certificate says one."""

from __future__ import annotations

from decimal import Decimal, localcontext

from policy_engine.accounting.domain import EXACT
from policy_engine.accounting.events import ApproximateDP, Event, PureDP, SampledSuppression
from policy_engine.values import frozen


@frozen
class EpsilonDelta:
    """An (ε, δ)."""

    epsilon: Decimal
    delta: Decimal


@frozen
class CertifiedEvent:
    """An event, and what its certificate says of it: (ε, δ)."""

    event: Event
    epsilon: Decimal
    delta: Decimal

    def adds_up(self, times: int, epsilon: Decimal, delta: Decimal) -> bool:
        """Whether so many certificates add up to at most (ε, δ).

        >>> once = CertifiedEvent(SampledSuppression(20, "0.1"), Decimal("0.3"), Decimal("1e-9"))
        >>> [once.adds_up(n, Decimal(1), Decimal("1e-6")) for n in (3, 4)]
        [True, False]
        """
        with localcontext(EXACT):
            return times * self.epsilon <= epsilon and times * self.delta <= delta

    def covers(self, event: Event) -> bool:
        """Whether the event is the first one, or one that its outcome could be turned into.

        A larger k suppresses more. A smaller rate keeps each sampled unit with a chance, and what
        was below k stays so. A smaller (ε, δ) allows less.

        >>> once = CertifiedEvent(SampledSuppression(20, "0.1"), Decimal("0.3"), Decimal("1e-9"))
        >>> [once.covers(SampledSuppression(k, "0.05")) for k in (19, 20, 21)]
        [False, True, True]
        """
        match self.event, event:
            case SampledSuppression(k, rate), SampledSuppression(other_k, other_rate):
                return other_k >= k and Decimal(str(other_rate)) <= Decimal(str(rate))
            case PureDP(epsilon), PureDP(other):
                return Decimal(str(other)) <= Decimal(str(epsilon))
            case ApproximateDP(epsilon, delta), ApproximateDP(other, mass):
                return Decimal(str(other)) <= Decimal(str(epsilon)) and (
                    Decimal(str(mass)) <= Decimal(str(delta))
                )
        return event == self.event

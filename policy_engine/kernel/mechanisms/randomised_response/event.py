"""What an account is charged with for answers by chance: of one column more is known than its ε."""

from __future__ import annotations

from decimal import Decimal

from policy_engine.accounting.events import Event, RandomisedResponse
from policy_engine.kernel.mechanisms.pure_event import pure_event
from policy_engine.kernel.mechanisms.randomised_response.law import Randomised


def event(law: Randomised, groups: int, rate: Decimal, neighbours: str) -> Event:
    """The event. Errors: DomainError where no ε is met."""
    if len(law.responses) == 1:
        [each] = law.responses
        return RandomisedResponse(each.truth, len(each.values))
    return pure_event(law.factors(neighbours))

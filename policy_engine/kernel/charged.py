"""What an account is charged with for a mechanism of a pure ε."""

from __future__ import annotations

from policy_engine.accounting.domain import REPLACE_ONE
from policy_engine.accounting.events import Event, PureDP, RandomisedResponse
from policy_engine.accounting.finite import epsilon_of
from policy_engine.errors import DomainError
from policy_engine.kernel.mechanisms import Pure, Randomised
from policy_engine.kernel.price import factors_of


def pure_event(law: Pure, neighbours: str) -> Event:
    """What an account is charged with. Errors: DomainError where no ε is met."""
    if isinstance(law, Randomised) and len(law.responses) == 1:
        [each] = law.responses
        return RandomisedResponse(each.truth, len(each.values))
    epsilon = epsilon_of(factors_of(law, neighbours))
    if epsilon is None:
        raise DomainError("neighbours", REPLACE_ONE, neighbours)
    return PureDP(epsilon)

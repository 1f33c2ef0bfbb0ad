"""The event of a mechanism that costs an ε and no δ."""

from __future__ import annotations

from collections.abc import Iterable

from policy_engine.accounting.domain import REPLACE_ONE
from policy_engine.accounting.events import Event, PureDP
from policy_engine.accounting.finite import Factor
from policy_engine.accounting.pure_shares import epsilon_of
from policy_engine.errors import DomainError


def pure_event(factors: Iterable[Factor]) -> Event:
    """The least ε of what one unit changes. Errors: DomainError where none is met.

    None is met only where a unit more or less is told for certain.
    """
    epsilon = epsilon_of(factors)
    if epsilon is None:
        raise DomainError("neighbours", REPLACE_ONE, "add_remove")
    return PureDP(epsilon)

"""What an account is charged with for tuples that are inserted by chance."""

from __future__ import annotations

from decimal import Decimal

from policy_engine.accounting.events import Event
from policy_engine.kernel.mechanisms.ab_insertion.law import Inserted
from policy_engine.kernel.mechanisms.pure_event import pure_event


def event(law: Inserted, groups: int, rate: Decimal, neighbours: str) -> Event:
    """The event. Errors: DomainError where no ε is met."""
    return pure_event(law.factors(neighbours))

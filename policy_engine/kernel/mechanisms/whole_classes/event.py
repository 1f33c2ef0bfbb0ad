"""What an account is charged with where nothing is promised."""

from __future__ import annotations

from decimal import Decimal

from policy_engine.accounting.events import Event, Unbounded
from policy_engine.kernel.mechanisms.whole_classes.law import WholeClasses


def event(law: WholeClasses, groups: int, rate: Decimal, neighbours: str) -> Event:
    """The event, which no account with a limit can be charged with."""
    return Unbounded()

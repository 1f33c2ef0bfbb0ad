"""What an account is charged with for noise: all that is drawn of one release is one event."""

from __future__ import annotations

from decimal import Decimal

from policy_engine.accounting.events import Event, TableNoise
from policy_engine.kernel.mechanisms.noisy_counts.law import Noisy


def event(law: Noisy, groups: int, rate: Decimal, neighbours: str) -> Event:
    """The event; everybody is counted."""
    return TableNoise(law.statistics(groups, neighbours), law.choices(groups))

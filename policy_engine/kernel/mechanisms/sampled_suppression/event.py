"""What an account is charged with for a sample: its own, whatever sample its source may be."""

from __future__ import annotations

from decimal import Decimal

from policy_engine.accounting.events import Event, SampledSuppression
from policy_engine.kernel.mechanisms.sampled_suppression.law import OfSample


def event(law: OfSample, groups: int, rate: Decimal, neighbours: str) -> Event:
    """The event, whatever the notion; a unit is in one group."""
    return SampledSuppression(law.k, rate)

"""The δ of a sample once more: by brute force, whatever the accountant says."""

from __future__ import annotations

from decimal import Decimal

from policy_engine.kernel.mechanisms.sampled_suppression.law import OfSample
from policy_engine.second_route.brute_force import Recomputed, brute_delta
from policy_engine.second_route.brute_replace import brute_replace


def route(
    law: OfSample, groups: int, rate: Decimal, epsilon: Decimal, *, replaces: bool
) -> Recomputed | None:
    """A sum over the outcomes of every cell that can matter; a unit is in one group."""
    return (brute_replace if replaces else brute_delta)(law.k, rate, epsilon)

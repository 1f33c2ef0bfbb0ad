"""The δ of tuples by chance once more: by brute force, whatever the accountant says."""

from __future__ import annotations

from decimal import Decimal

from policy_engine.kernel.mechanisms.ab_insertion.law import Inserted
from policy_engine.second_route.brute_force import Recomputed, brute_presence


def route(
    law: Inserted, groups: int, rate: Decimal, epsilon: Decimal, *, replaces: bool
) -> Recomputed | None:
    """Whether one tuple is there, and of a unit replaced another one too."""
    return brute_presence(law.shown, law.inserted, epsilon, replaces=replaces)

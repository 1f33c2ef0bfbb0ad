"""The δ of answers by chance once more: by brute force, whatever the accountant says."""

from __future__ import annotations

from decimal import Decimal

from policy_engine.kernel.mechanisms.randomised_response.law import Randomised
from policy_engine.second_route.brute_force import Recomputed, brute_answers


def route(
    law: Randomised, groups: int, rate: Decimal, epsilon: Decimal, *, replaces: bool
) -> Recomputed | None:
    """All answers of one unit; who takes part is known."""
    lists = [(len(each.values), each.share) for each in law.responses]
    return brute_answers(lists, epsilon) if replaces else None

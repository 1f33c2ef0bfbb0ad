"""The δ of noisy counts once more: by brute force, whatever the accountant says."""

from __future__ import annotations

from decimal import Decimal

from policy_engine.kernel.mechanisms.noisy_counts.law import Noisy
from policy_engine.kernel.mechanisms.tables import Clip
from policy_engine.second_route import brute_force
from policy_engine.second_route.brute_product import NoisyNumber, brute_product


def route(
    law: Noisy, groups: int, rate: Decimal, epsilon: Decimal, *, replaces: bool
) -> brute_force.Recomputed | None:
    """Of counts of few outcomes each is summed, else their product is bounded."""
    if not law.aggregates:
        tables = [counts.entries for counts, *_ in law.tables for _ in range(groups)]
        is_open = law.table.is_open
        found = brute_force.brute_noise(tables, epsilon, is_open=is_open, replaces=replaces)
        if found is not None:
            return found
    numbers = []
    for counts, *sums in law.tables:
        numbers.append(NoisyNumber(counts.entries, times=groups, is_open=counts.is_open))
        for aggregate, table in zip(law.aggregates, sums, strict=True):
            up, down = _moves(aggregate.clip, replaces=replaces)
            numbers.append(NoisyNumber(table.entries, up, down, groups))
    return brute_product(numbers, epsilon, replaces=replaces)


def _moves(clip: Clip, *, replaces: bool) -> tuple[int, int]:
    """By how many steps one person more moves a sum up and down; or one in another's place."""
    least, most = clip.low - clip.center, clip.high - clip.center
    farthest = max(abs(least), abs(most), most - least if replaces else 0)
    steps = -(-farthest // clip.grain)
    return (steps if most > 0 else 0), (steps if least < 0 else 0)

"""The δ of noisy counts once more: by brute force, whatever the accountant says."""

from __future__ import annotations

from decimal import Context, Decimal, localcontext

from policy_engine.kernel.mechanisms.noisy_counts.law import Noisy
from policy_engine.kernel.mechanisms.quantiles import Quantile
from policy_engine.kernel.mechanisms.tables import Quantity
from policy_engine.second_route import brute_force
from policy_engine.second_route.brute_product import NoisyNumber, brute_product


def route(
    law: Noisy, groups: int, rate: Decimal, epsilon: Decimal, *, replaces: bool
) -> brute_force.Recomputed | None:
    """Of counts of few outcomes each is summed, else their product is bounded."""
    if not law.quantities and not law.cuts and not law.quantiles:
        tables = [counts.entries for counts, *_ in law.tables for _ in range(groups)]
        is_open = law.table.is_open
        found = brute_force.brute_noise(tables, epsilon, is_open=is_open, replaces=replaces)
        if found is not None:
            return found
    numbers = []
    for counts, *others in law.tables:
        numbers.append(NoisyNumber(counts.entries, times=groups, is_open=counts.is_open))
        for quantity, table in zip(law.quantities, others, strict=True):
            up, down = _moves(quantity, replaces=replaces)
            numbers.append(NoisyNumber(table.entries, up, down, groups))
    if law.cut_table is not None:
        numbers.append(NoisyNumber(law.cut_table.entries, times=len(law.cuts)))
    chosen = [(_coins(each, replaces=replaces), groups) for each in law.quantiles]
    return brute_product(numbers, epsilon, replaces=replaces, chosen=chosen)


def _coins(quantile: Quantile, *, replaces: bool) -> list[tuple[int, int]]:
    """What one choice tells at most: two answers of chance 1 to e^ε, and seldom who it is.

    A person who is replaced tells as much as one of twice the ε, by two tables.
    """
    whole, many, both = 1 << 60, quantile.candidates, 1 + replaces
    with localcontext(Context(prec=60)):
        ratio = (quantile.epsilon * both).exp()
        differs = Decimal((many - 1) * 65537 + Decimal(many * (many - 1)) / 2) / whole
        seldom = int((1 + ratio) * both * differs * whole * Decimal("1.000000001")) + 1
        less = int((whole - seldom) / (1 + ratio)) - 1
    more = whole - seldom - less
    return [(seldom, 0), (more, less), (less, more), (0, seldom)]


def _moves(quantity: Quantity, *, replaces: bool) -> tuple[int, int]:
    """By how many steps one person more moves a number up and down; or one in another's place.

    A person gives nothing, or of so many rows a value between the ends each, less the center.
    """
    clip, center = quantity.clip, quantity.center
    ends = (1, 1) if center is None else (clip.low - center, clip.high - center)
    given = [0, *(rows * end for rows in (1, clip.rows) for end in ends)]
    farthest = max(map(abs, given))
    if replaces:
        farthest = max(farthest, max(given) - min(given))
    steps = -(-farthest // quantity.moves.grain)
    return (steps if max(given) > 0 else 0), (steps if min(given) < 0 else 0)

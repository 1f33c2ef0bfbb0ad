"""[CHOICE] The exact law of a choice by a table of coins, and how far it is off: nobody's price."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

from policy_engine.accounting.choice import MOST_CANDIDATES, coin_table
from policy_engine.accounting.domain import Number, whole
from policy_engine.accounting.noise import WHOLE
from policy_engine.base_errors import DomainError


def law_of_choice(coins: Sequence[int]) -> tuple[Fraction, ...]:
    """How likely each candidate is chosen, by the chances of their coins times 2⁶⁰; exact.

    One at least is 2⁶⁰: that of a best one. The work grows with the square of their number.
    Errors: DomainError.

    >>> law_of_choice([1 << 60, 1 << 59])
    (Fraction(3, 4), Fraction(1, 4))
    """
    if not coins or max(coins) != WHOLE or min(coins) < 0:
        raise DomainError("coins", "integers from 0 to 2**60, one of them 2**60", "others")
    return tuple(
        Fraction(coin, WHOLE) * _integral([*coins[:at], *coins[at + 1 :]])
        for at, coin in enumerate(coins)
    )


def _integral(coins: Sequence[int]) -> Fraction:
    """∫₀¹ Π (1 − t·T_j/2⁶⁰) dt: the product's coefficients as whole numbers over powers of 2⁶⁰."""
    product = [1]
    for coin in coins:
        shifted = [0, *(term * coin for term in product)]
        product = [high - low for high, low in zip([*product, 0], shifted, strict=True)]
    # Of the k-th power of t the denominator is 2^60k.
    return sum(
        (Fraction(term, (power + 1) * WHOLE**power) for power, term in enumerate(product)),
        Fraction(0),
    )


@lru_cache(maxsize=64)
def within_best(share: float, epsilon: Number, candidates: int) -> int:
    """A distance below the best that a choice is within, at least in a ``share`` of all draws.

    Guarantee: whatever the utilities, if one candidate is a best one. For the best is chosen least
    often where all others are as far, and those within are then counted as others: with f = q^d of
    these, P = (1 − (1 − f)^M)/(M·f), which grows with d. Rounded up. Errors: DomainError.

    >>> within_best(0.5, "0.5", 61), within_best(0.95, "0.5", 61), within_best(0.5, 8, 2)
    (14, 25, 0)
    """
    table, many = coin_table(epsilon), whole("candidates", candidates, 1, MOST_CANDIDATES)
    for distance in range(1, len(table.entries)):
        # A number within 10⁻⁹ of the share counts as less.
        chance = table.entries[distance] / WHOLE
        if -math.expm1(many * math.log1p(-chance)) / (many * chance) >= share + 1e-9:
            return distance - 1
    return len(table.entries) - 1

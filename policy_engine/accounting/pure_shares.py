"""The ε of pairs of finitely many outcomes, and the numbers that keep one: what people choose by.

Nothing is certified by it: the kernel prices what was chosen (``finite``).
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal

from policy_engine.accounting.domain import arithmetic, upward
from policy_engine.accounting.finite import Factor, exact_epsilon, response
from policy_engine.accounting.noise import WHOLE


def epsilon_of(factors: Iterable[Factor]) -> Decimal | None:
    """The least ε for which the pair is ε-DP both ways; None where there is none.

    Guarantee: never below the true one; rounded up at 12 digits.

    >>> epsilon_of([((3 << 58, 1 << 58), (1 << 58, 3 << 58))])
    Decimal('1.09861228867')
    """
    bound = exact_epsilon(factors)
    return None if bound is None else upward(bound)


def least_share(values: int, epsilon: Decimal) -> int | None:
    """The least share for which ``response`` is ε-DP; None where ε is too small for any.

    Trusted by nobody: what a share costs is computed from it, whoever found it.

    >>> share = least_share(2, Decimal(1))
    >>> epsilon_of([response(2, share)]), epsilon_of([response(2, share - 1)]) > 1
    (Decimal('1.00000000000'), True)
    """
    epsilon = min(epsilon, Decimal(50))  # a share of one in 2⁶⁰ already costs less
    with arithmetic(epsilon):
        share = max(1, int(WHOLE / (epsilon.exp() + values - 1)))
    while values * share < WHOLE:
        found = exact_epsilon([response(values, share)])
        if found is not None and found <= epsilon:
            return share
        share += 1
    return None

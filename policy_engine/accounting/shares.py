"""[LOCAL] How much is left to chance for a promised ε: trusted by nobody.

What a share costs is computed from it (``finite``), whoever found it.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal

from policy_engine.accounting.domain import arithmetic, upward
from policy_engine.accounting.finite import Factor, exact_epsilon, response
from policy_engine.accounting.noise import WHOLE

_MOST = Decimal(50)
"""A share of one in 2⁶⁰ already costs less."""


def least_share(values: int, epsilon: Decimal) -> int | None:
    """The least share for which ``response`` is ε-DP; None where ε is too small for any.

    >>> share = least_share(2, Decimal(1))
    >>> epsilon_of([response(2, share)]), epsilon_of([response(2, share - 1)]) > 1
    (Decimal('1.00000000000'), True)
    """
    epsilon = min(epsilon, _MOST)
    with arithmetic(epsilon):
        share = max(1, int(WHOLE / (epsilon.exp() + values - 1)))
    while values * share < WHOLE:
        found = exact_epsilon([response(values, share)])
        if found is not None and found <= epsilon:
            return share
        share += 1
    return None


def epsilon_of(factors: Iterable[Factor]) -> Decimal | None:
    """The least ε for which the pair is ε-DP both ways; None where there is none.

    Guarantee: never below the true one; rounded up at 12 digits.

    >>> epsilon_of([((3 << 58, 1 << 58), (1 << 58, 3 << 58))])
    Decimal('1.09861228867')
    """
    bound = exact_epsilon(factors)
    return None if bound is None else upward(bound)

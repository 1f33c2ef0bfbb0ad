"""[EXACT] The price of one release for one unit: what a certificate states."""

from __future__ import annotations

from policy_engine.accounting.curve import Bound, larger_direction
from policy_engine.accounting.domain import (
    ADD_REMOVE,
    Number,
    neighbour_notion,
    nonnegative_epsilon,
)


def delta_of_one(k: int, rate: Number, epsilon: Number, neighbours: str = ADD_REMOVE) -> Bound:
    """The least δ for which one release is (ε, δ)-DP for one unit, ε ≥ 0, [EXACT].

    Guarantee: never below the true value; above it by less than a 1e-11 share under add_remove, and
    as ``replace.delta_replace`` says under replace_one. Errors: DomainError.

    >>> delta_of_one(20, 0.1, 0.5)
    Bound(delta=Decimal('2.63178346623E-11'), at_n=42)
    """
    if neighbour_notion(neighbours) == ADD_REMOVE:
        return larger_direction(k, rate, nonnegative_epsilon(epsilon))
    # Imported on use: numpy would slow every command's start.
    from policy_engine.accounting.replace import delta_replace

    return delta_replace(k, rate, epsilon)

"""[EXACT] The price of one release for one unit: what a certificate states."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from policy_engine.accounting.curve import Bound, larger_direction
from policy_engine.accounting.domain import (
    ADD_REMOVE,
    Number,
    decimal,
    is_within_reach,
    neighbour_notion,
    nonnegative_epsilon,
)

NATIVE_GRAIN = Decimal(2) ** -32
"""How far the rate of an engine's own sample may be above the one that is written."""


def delta_of_one(k: int, rate: Number, epsilon: Number, neighbours: str = ADD_REMOVE) -> Bound:
    """The least δ for which one release is (ε, δ)-DP for one unit, ε ≥ 0, [EXACT].

    Guarantee: never below the true value; above it by less than a 1e-11 share under add_remove, and
    as ``replace.delta_replace`` says under replace_one. Errors: DomainError.

    >>> delta_of_one(20, 0.1, 0.5)
    Bound(delta=Decimal('2.63178346623E-11'), at_n=42)
    """
    if neighbour_notion(neighbours) == ADD_REMOVE:
        return larger_direction(k, rate, nonnegative_epsilon(epsilon))
    from policy_engine.accounting.replace import delta_replace  # numpy would slow every start

    return delta_replace(k, rate, epsilon)


def certified_rate(
    rate: Decimal | Fraction, method: str, sampled_at: Decimal = Decimal(1)
) -> Decimal:
    """An upper bound on the probability that a unit of the population is sampled.

    The random numbers of an engine, ``native``, are known to 32 bits only; the rate of a keyed
    sample is exact. A known earlier sample multiplies ([AMP]).

    Raises:
        DomainError: ``sampled_at`` is neither 1 nor a rate.

    >>> certified_rate(Decimal("0.1"), "keyed", Decimal("0.01"))
    Decimal('0.001')
    """
    law = "1 or a rate below it"
    earlier = decimal("sampled_at", law, sampled_at, lambda at: at <= 1 and is_within_reach(at))
    grain = Fraction(NATIVE_GRAIN if method == "native" else 0)
    return decimal("rate", "a number", (Fraction(rate) + grain) * Fraction(earlier))

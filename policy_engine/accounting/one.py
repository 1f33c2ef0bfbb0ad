"""[EXACT] The price of one release for one unit: what a certificate states."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from policy_engine.accounting.curve import Bound, larger_direction
from policy_engine.accounting.domain import (
    ADD_REMOVE,
    Number,
    neighbour_notion,
    nonnegative_epsilon,
    sampling_rate,
)
from policy_engine.accounting.rates import grain_of
from policy_engine.accounting.replace import delta_replace
from policy_engine.base_errors import DomainError


def delta_of_one(k: int, rate: Number, epsilon: Number, neighbours: str = ADD_REMOVE) -> Bound:
    """The least δ for which one release is (ε, δ)-DP for one unit, ε ≥ 0, [EXACT].

    Guarantee: never below the true value; above it by less than a 1e-11 share under add_remove, and
    as ``replace.delta_replace`` says under replace_one. Errors: DomainError.

    >>> delta_of_one(20, 0.1, 0.5)
    Bound(delta=Decimal('2.63178346623E-11'), at_n=42)
    """
    if neighbour_notion(neighbours) == ADD_REMOVE:
        return larger_direction(k, rate, nonnegative_epsilon(epsilon))
    return delta_replace(k, rate, epsilon)


def population_rate(rate: Fraction, method: str, sampled_at: Decimal) -> Fraction:
    """An upper bound on the probability that a unit of the population is sampled.

    A known earlier sample multiplies ([AMP]).

    Raises:
        DomainError: ``sampled_at`` is neither 1 nor a rate.

    >>> population_rate(Fraction(1, 10), "drawn", Decimal("0.01"))
    Fraction(1, 1000)
    """
    try:
        earlier = Fraction(1 if sampled_at == 1 else sampling_rate(sampled_at))
    except DomainError:
        raise DomainError("sampled_at", "1 or a rate below it", f"{sampled_at:.12g}") from None
    return (rate + grain_of(method)) * earlier

"""Rates as a certificate rests on them: never below the true one."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from policy_engine.accounting.domain import sampling_rate
from policy_engine.base_errors import DomainError

NATIVE_GRAIN = Decimal(2) ** -32
"""How far the rate of an engine's own sample may be above the one that is written."""


def grain_of(method: str) -> Fraction:
    """How far the rate of a sample may be above the one that is written.

    The engine's random numbers are known to 32 bits only; the rate of a keyed sample is exact.

    >>> grain_of("native") == Fraction(1, 2**32), grain_of("drawn")
    (True, Fraction(0, 1))
    """
    return Fraction(NATIVE_GRAIN) if method in {"native", "random"} else Fraction(0)


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

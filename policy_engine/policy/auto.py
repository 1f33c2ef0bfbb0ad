"""`auto`: the least k, the greatest rate, or both, that give the guarantee of a policy."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_DOWN, Context, Decimal, localcontext

from policy_engine.errors import DomainError
from policy_engine.policy.fields import Neighbours

DIGITS = 12
GREATEST = 1 - Decimal(10) ** -DIGITS
NATIVE_GRAIN = Decimal(2) ** -32
"""An engine compares 32 random bits: its true rate is within this of the one written."""
_EXACT = Context(prec=200)


@dataclass(frozen=True)
class Guarantee:
    """What is certified: (ε, δ) between neighbours."""

    epsilon: Decimal
    delta: Decimal
    neighbours: Neighbours


class NoSolution(Exception):
    """No k or rate gives the guarantee; the text is the reason."""


def effective_rate(rate: Decimal, sampled_at: Decimal) -> Decimal:
    """The rate at which the population is sampled, exact: rates multiply ([AMP]).

    >>> effective_rate(Decimal("0.1"), Decimal("0.01"))
    Decimal('0.001')
    """
    return _EXACT.multiply(rate, sampled_at)


def solve_auto(
    guarantee: Guarantee,
    k: int | None,
    rate: Decimal | None,
    sampled_at: Decimal = Decimal(1),
    grain: Decimal = Decimal(0),
) -> tuple[int, Decimal]:
    """k and rate, the one or the two that are None solved for ([EXACT]).

    A rate has at most 12 significant digits, is rounded down and stays below 1. ``grain`` is by
    how much the engine's rate may exceed the written one. Raises ``NoSolution`` where there is
    none.

    >>> solve_auto(Guarantee(Decimal(1), Decimal("1e-6"), "add_remove"), 20, Decimal("0.1"))
    (20, Decimal('0.1'))
    """
    if k is not None and rate is not None:
        return k, rate
    from policy_engine.accounting import calibration

    known = guarantee.epsilon, guarantee.delta
    try:
        if rate is not None:
            beta = effective_rate(rate + grain, sampled_at)
            return calibration.least_k(*known, beta, guarantee.neighbours), rate
        if k is not None:
            beta = calibration.greatest_rate(*known, k, guarantee.neighbours)
            return k, _own_rate(beta, sampled_at, grain)
        k, beta = calibration.best_pair(*known, guarantee.neighbours)
        rate = _own_rate(beta, sampled_at, grain)
        if rate == GREATEST:  # the source is sampled already at less than the best rate
            beta = effective_rate(rate + grain, sampled_at)
            k = calibration.least_k(*known, beta, guarantee.neighbours)
        return k, rate
    except DomainError as error:
        raise NoSolution(str(error)) from None


def _own_rate(beta: Decimal, sampled_at: Decimal, grain: Decimal) -> Decimal:
    """The rate that makes ``beta`` of a source drawn at ``sampled_at``, rounded down."""
    with localcontext(Context(prec=DIGITS, rounding=ROUND_DOWN)):
        rate = min(beta / sampled_at - grain, GREATEST)
    if rate <= 0:
        raise NoSolution("no rate is small enough")
    return rate

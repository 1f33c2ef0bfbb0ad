"""`auto`: the least k, the greatest rate, or both, that give the guarantee of a policy.

All of it is computed from the policy alone. A pair that the source had a say in would tell about
the source.
"""

from __future__ import annotations

from decimal import ROUND_DOWN, Context, Decimal, localcontext
from typing import TYPE_CHECKING

from policy_engine.errors import DomainError
from policy_engine.policy.fields import Neighbours
from policy_engine.values import frozen

if TYPE_CHECKING:
    from policy_engine.policy.model_specs import AutoSpec

DIGITS = 12
GREATEST = 1 - Decimal(10) ** -DIGITS
_EXACT = Context(prec=200)
_NO_RATE = "no rate is small enough"


@frozen
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
    *,
    choice: AutoSpec | None = None,
) -> tuple[int, Decimal]:
    """k and rate, the one or the two that are None solved for ([EXACT]).

    A rate has at most 12 significant digits, is rounded down and stays below 1. ``grain`` is by
    how much the engine's rate may exceed the written one. Where both are None, ``choice`` takes
    a pair of the frontier, and without one it is the pair with the least k/rate. Raises
    ``NoSolution`` where there is none.

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
        if choice is not None:
            return _chosen(guarantee, sampled_at, grain, choice)
        k, beta = calibration.best_pair(*known, guarantee.neighbours)
        rate = _own_rate(beta, sampled_at, grain)
        if rate == GREATEST:  # the source is sampled already at less than the best rate
            beta = effective_rate(rate + grain, sampled_at)
            k = calibration.least_k(*known, beta, guarantee.neighbours)
        return k, rate
    except DomainError as error:
        raise NoSolution(str(error)) from None


def _chosen(
    guarantee: Guarantee, sampled_at: Decimal, grain: Decimal, choice: AutoSpec
) -> tuple[int, Decimal]:
    """The pair of the frontier that is best for the choice, at the rates of the source."""
    from policy_engine.accounting.frontier import SamplePair, frontier
    from policy_engine.accounting.prior import best_pair_for

    pairs: list[SamplePair] = []
    for pair in frontier(guarantee.epsilon, guarantee.delta, guarantee.neighbours):
        rate = _divided(pair.rate, sampled_at, grain)
        # From where the source is sampled at less than a pair's rate, a larger k gains nothing.
        if rate > (pairs[-1].rate if pairs else 0):
            pairs.append(SamplePair(pair.k, rate))
    if not pairs:
        raise NoSolution(_NO_RATE)
    best = best_pair_for(choice.prior.prior(), choice.maximise, pairs)
    return best.k, best.rate


def _own_rate(beta: Decimal, sampled_at: Decimal, grain: Decimal) -> Decimal:
    """The rate that makes ``beta`` of a source drawn at ``sampled_at``, rounded down."""
    rate = _divided(beta, sampled_at, grain)
    if rate <= 0:
        raise NoSolution(_NO_RATE)
    return rate


def _divided(beta: Decimal, sampled_at: Decimal, grain: Decimal) -> Decimal:
    with localcontext(Context(prec=DIGITS, rounding=ROUND_DOWN)):
        return min(beta / sampled_at - grain, GREATEST)

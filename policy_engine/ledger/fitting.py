"""What would still fit into an account where a release does not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import ROUND_FLOOR, Context, Decimal
from functools import partial

from policy_engine.accounting.bisection import least_integer
from policy_engine.accounting.domain import claimed
from policy_engine.accounting.events import ApproximateDP, PureDP, SampledSuppression
from policy_engine.accounting.exact import delta_exact
from policy_engine.ledger.asked import Asked
from policy_engine.ledger.pricing import Limit, Spent, fits

_LEAST_DELTA = Decimal("1e-900")
_THREE_DIGITS = Context(prec=3, rounding=ROUND_FLOOR)
_DOUBLINGS, _PARTS, _TENTHS = 7, 1000, 7


@dataclass(frozen=True)
class Fitting:
    """What would fit where a release does not, its ε kept; None where nothing near does."""

    least_k: int | None
    greatest_rate: Decimal | None


def fitting(spent: Spent, asked: Asked, limit: Limit | None) -> Fitting:
    """What would fit: the least k at the asked rate, the greatest rate at the asked k.

    k up to 128 times the asked one, the rate down to 1/1000, in steps of that. Both None where
    the event has no k.
    """
    event = asked.event
    if not isinstance(event, SampledSuppression):
        return Fitting(None, None)
    rate = Decimal(str(event.rate))

    def allowed(k: int, rate: Decimal) -> bool:
        delta = delta_exact(k, rate, asked.epsilon, spent.neighbours).delta
        delta = max(_LEAST_DELTA, claimed(delta))
        other = replace(asked, event=SampledSuppression(k, rate), delta=delta)
        return fits(spent, other, limit)

    def part(share: int) -> Decimal:
        return _THREE_DIGITS.multiply(rate, Decimal(share).scaleb(-3))

    return Fitting(
        _least_k(event.k, lambda k: allowed(k, rate)),
        _greatest(part, lambda rate: allowed(event.k, rate)),
    )


def greatest_epsilon(
    spent: Spent, asked: Asked, limit: Limit | None
) -> tuple[Decimal, Decimal] | None:
    """The greatest ε at which a release of any kind would fit, and at which δ.

    In thousandths of the asked ε; at the asked δ, or a tenth of it, a hundredth and so on, the
    first at which one fits; None where none does. Of a known kind more may fit: its curve tells
    more than its certificate.

    >>> from policy_engine.ledger.account import Limit
    >>> half, limit = Asked(PureDP(5), Decimal(5), Decimal(0)), Limit(Decimal(1), Decimal(0))
    >>> greatest_epsilon(Spent.none("add_remove"), half, limit)
    (Decimal('1.00'), Decimal('0'))
    """

    def allowed(delta: Decimal, epsilon: Decimal) -> bool:
        event = ApproximateDP(epsilon, delta) if delta else PureDP(epsilon)
        return fits(spent, replace(asked, event=event, epsilon=epsilon, delta=delta), limit)

    def part(share: int) -> Decimal:
        return _THREE_DIGITS.multiply(asked.epsilon, Decimal(share).scaleb(-3))

    for tenths in range(_TENTHS):
        delta = asked.delta.scaleb(-tenths)
        if epsilon := _greatest(part, partial(allowed, delta)):
            return epsilon, delta
    return None


def _least_k(k: int, allowed: Callable[[int], bool]) -> int | None:
    for doubling in range(_DOUBLINGS):
        low, high = k << doubling, k << (doubling + 1)
        if allowed(high):
            return least_integer(low, high, allowed)
    return None


def _greatest(part: Callable[[int], Decimal], allowed: Callable[[Decimal], bool]) -> Decimal | None:
    if not allowed(part(1)):
        return None
    refused = least_integer(1, _PARTS, lambda share: not allowed(part(share)))
    return part(refused - 1)

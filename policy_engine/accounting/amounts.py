"""Amounts of an account: the δ that is asked for, and sums that are never rounded."""

from __future__ import annotations

from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, Inexact, InvalidOperation, Overflow

from policy_engine.accounting.domain import decimal
from policy_engine.base_errors import DomainError

EXACT = Context(
    prec=1100, Emin=MIN_EMIN, Emax=MAX_EMAX, traps=[Inexact, InvalidOperation, Overflow]
)
"""For sums of amounts of at most 9 + 1000 digits; the traps never let one be rounded."""


def probability(delta: object) -> Decimal:
    """The δ of a claim; DomainError unless 0 < δ < 1.

    >>> probability("1e-9")
    Decimal('1E-9')
    """
    law = "a number strictly between 0 and 1"
    number = decimal("delta", law, delta)
    if not 0 < number < 1:
        raise DomainError("delta", law, delta)
    return number

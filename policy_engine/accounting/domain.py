"""The domains of the parameters, and the decimal arithmetic they are computed in.

Every number becomes the decimal the user wrote: ``0.1`` is one tenth and not the binary float
beside it. Arithmetic runs in a context with so many digits that 50 are right whatever cancels,
and with exponents so wide that nothing underflows. Results are rounded against the claim.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from decimal import (
    MAX_EMAX,
    MIN_EMIN,
    ROUND_CEILING,
    ROUND_HALF_EVEN,
    Context,
    Decimal,
    DivisionByZero,
    Inexact,
    InvalidOperation,
    Overflow,
    localcontext,
)
from fractions import Fraction

from policy_engine.base_errors import DomainError

Number = Decimal | Fraction | str | int | float
"""What a caller may give for a rate, an ε or a δ."""
Holds = Callable[[Decimal], bool]
"""What a number must be, besides finite."""

ADD_REMOVE = "add_remove"
REPLACE_ONE = "replace_one"

DIGITS = 12
"""Significant digits of every number handed out."""

EXACT = Context(
    prec=1100, Emin=MIN_EMIN, Emax=MAX_EMAX, traps=[Inexact, InvalidOperation, Overflow]
)
"""For sums of amounts of at most 9 + 1000 digits; the traps never let one be rounded."""
TINY = Decimal("1e-300")
_MOST_EPSILON = Decimal(10) ** 9
# Beyond what the rounding of at most 10**6 operations at 60 good digits can amount to.
ROUNDING = Decimal("1e-30")
_CLAIM_GUARD = Decimal("1e-10")
_WIDE = Context(prec=200, Emin=MIN_EMIN, Emax=MAX_EMAX)
_UP = Context(prec=DIGITS, rounding=ROUND_CEILING, Emin=MIN_EMIN, Emax=MAX_EMAX)


def decimal(parameter: str, law: str, value: object, holds: Holds | None = None) -> Decimal:
    """The decimal that was written; DomainError for what is no finite number, or not as it must.

    A fraction that does not end is rounded at 60 digits more than its denominator has, up, for a
    larger rate or δ is the worse claim.

    >>> decimal("rate", "a number", 0.1)
    Decimal('0.1')
    """
    if isinstance(value, bool) or not isinstance(value, Decimal | Fraction | str | int | float):
        raise DomainError(parameter, law, repr(value))
    try:
        if isinstance(value, Fraction):
            digits = 60 + len(str(value.denominator)) + len(str(abs(value.numerator)))
            rounded = Context(prec=digits, rounding=ROUND_CEILING)
            number = rounded.divide(Decimal(value.numerator), Decimal(value.denominator))
        else:
            number = Decimal(repr(value) if isinstance(value, float) else value)
    except (InvalidOperation, ValueError) as error:
        raise DomainError(parameter, law, repr(value)) from error
    if not number.is_finite():
        raise DomainError(parameter, law, str(number))
    if holds is not None and not holds(number):
        raise DomainError(parameter, law, value)
    return number


def whole(parameter: str, value: object, least: int, most: int) -> int:
    """A whole number from a least to a most; DomainError for anything else, as for True.

    >>> whole("k", 20, 2, 100)
    20
    """
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise DomainError(parameter, f"an integer from {least} to {most}", repr(value))
    return value


def threshold(k: object) -> int:
    """The least count that is released; DomainError unless an integer from 2 to 10⁹.

    >>> threshold(20)
    20
    """
    return whole("k", k, 2, 10**9)


def sampling_rate(rate: object) -> Decimal:
    """The probability with which a unit is sampled; DomainError unless strictly in (0, 1).

    >>> sampling_rate("0.05")
    Decimal('0.05')
    """
    law = "a number strictly between 0 and 1 (by at least 1e-300)"
    return decimal("rate", law, rate, lambda number: number < 1 and is_within_reach(number))


def is_within_reach(share: Decimal) -> bool:
    """Whether a share is so large, and has so few digits, that those of 1 − share are in reach."""
    return share >= TINY and len(share.as_tuple().digits) <= 600


def probability(delta: object) -> Decimal:
    """The δ of a claim; DomainError unless 0 < δ < 1.

    >>> probability("1e-9")
    Decimal('1E-9')
    """
    law = "a number strictly between 0 and 1"
    return decimal("delta", law, delta, lambda number: 0 < number < 1)


def nonnegative_epsilon(epsilon: object) -> Decimal:
    """The ε of a claim; DomainError unless 0 ≤ ε ≤ 10⁹.

    >>> nonnegative_epsilon(0.5)
    Decimal('0.5')
    """
    law = f"a finite number from 0 to {_MOST_EPSILON:f}"
    number = decimal("epsilon", law, epsilon, lambda number: 0 <= number <= _MOST_EPSILON)
    if 0 < number < TINY:
        raise DomainError("epsilon", f"0 or at least {TINY}", epsilon)
    return number


def real_epsilon(epsilon: object) -> Decimal:
    """An ε of the curve, which composition also needs below 0.

    >>> real_epsilon("-0.5")
    Decimal('-0.5')
    """
    law = f"a finite number from -{_MOST_EPSILON:f} to {_MOST_EPSILON:f}"
    return decimal("epsilon", law, epsilon, lambda x: not x or TINY <= abs(x) <= _MOST_EPSILON)


def count(parameter: str, value: object) -> int:
    """A number of releases or of units in a group; DomainError unless an integer from 1.

    >>> count("releases", 3)
    3
    """
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise DomainError(parameter, "an integer of at least 1", repr(value))
    return value


def neighbour_notion(neighbours: object) -> str:
    """The neighbouring notion; DomainError unless add_remove or replace_one.

    >>> neighbour_notion("add_remove")
    'add_remove'
    """
    if neighbours not in (ADD_REMOVE, REPLACE_ONE):
        raise DomainError("neighbours", f"{ADD_REMOVE} or {REPLACE_ONE}", repr(neighbours))
    return str(neighbours)


def arithmetic(*numbers: Decimal, room: int = 0) -> AbstractContextManager[Context]:
    """A local decimal context in which 1 − β and e^ε − 1 keep 50 digits for these numbers.

    ``room`` is the count of further digits that the caller knows to cancel.
    """
    small = max((-number.adjusted() for number in numbers if number), default=0)
    large = max((len(number.as_tuple().digits) for number in numbers), default=0)
    digits = 60 + room + large + max(small, 0)
    # Nothing is left to the process's default context, which any library may change.
    traps = [InvalidOperation, DivisionByZero, Overflow]
    return localcontext(Context(digits, ROUND_HALF_EVEN, MIN_EMIN, MAX_EMAX, traps=traps))


def upward(value: Decimal, *, exact: bool = False) -> Decimal:
    """The value at 12 significant digits, never below it even if its last digits are wrong.

    >>> upward(Decimal("0.12345678901201"))
    Decimal('0.123456789013')
    >>> upward(Decimal("0.5"), exact=True)
    Decimal('0.5')
    """
    return _UP.plus(value if exact else _WIDE.multiply(value, _WIDE.add(1, ROUNDING)))


def claimed(delta: Decimal) -> Decimal:
    """δ as a certificate states it: above the bound by a 1e-10 share.

    Whoever adds the terms up again in double precision is then not led to a larger number.

    >>> claimed(Decimal("0.00001"))
    Decimal('0.000010000000001')
    """
    return min(Decimal(1), upward(_WIDE.multiply(delta, _WIDE.add(1, _CLAIM_GUARD)), exact=True))

"""Numbers as literals: their digits, and nothing that an engine could read in two ways."""

from __future__ import annotations

from decimal import MAX_PREC, Context, Decimal

from sqlglot import exp

_WHOLE = Context(prec=MAX_PREC)


def plain_digits(number: Decimal) -> str:
    """The digits of a number: no sign, no exponent, no trailing zeros that widen its type.

    >>> plain_digits(Decimal("-2.50")), plain_digits(Decimal("1e3"))
    ('2.5', '1000')
    """
    return f"{number.copy_abs().normalize(_WHOLE):f}"


def number_literal(number: Decimal) -> exp.Expr:
    """A number as SQL writes it.

    >>> number_literal(Decimal("-18")).sql()
    '-18'
    """
    literal = exp.Literal.number(plain_digits(number))
    return exp.Neg(this=literal) if number < 0 else literal


def digits_of(number: Decimal) -> exp.Expr:
    """A number as a text of its digits.

    >>> digits_of(Decimal("-0.50")).sql()
    "'-0.5'"
    """
    sign = "-" if number < 0 else ""
    return exp.Literal.string(sign + plain_digits(number))


def places(number: Decimal) -> int:
    """How many digits a number has behind its point.

    >>> places(Decimal("0.50")), places(Decimal("1e3"))
    (1, 0)
    """
    return len(plain_digits(number).partition(".")[2])

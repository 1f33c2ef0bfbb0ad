"""Numbers as a release shows them, whatever holds them: a file, or the texts of a table."""

from __future__ import annotations

from decimal import Context, Decimal

WIDE = Context(prec=120)
"""Wide enough for the quotient of any two decimals of an engine, which have up to 76 digits."""


def number_of_text(value: object) -> Decimal | None:
    """A whole number, a decimal or the text of one; None of anything else.

    >>> number_of_text("10.50"), number_of_text("ten"), number_of_text(True)
    (Decimal('10.50'), None, None)
    """
    if isinstance(value, bool) or not isinstance(value, int | str | Decimal):
        return None
    try:
        number = Decimal(value)
    except ArithmeticError:
        return None
    if not number.is_finite() or number.adjusted() >= WIDE.prec // 2:
        return None
    return number

"""Numbers and moments as a release shows them: in a file, or as the texts of a table."""

from __future__ import annotations

import re
from decimal import Context, Decimal

WIDE = Context(prec=120)
"""Wide enough for the quotient of any two decimals of an engine, which have up to 76 digits."""
MOMENT = re.compile(
    r"(?P<day>[0-9]{4}-[0-9]{2}-[0-9]{2})([ T](?P<time>[0-9]{2}:[0-9]{2}:[0-9]{2})"
    r"(\.(?P<fraction>[0-9]+))?(Z|\+00(:00)?| UTC)?)?"
)
"""How engines write a day or a moment, in the years 1 to 9999: a session's zone is UTC."""


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

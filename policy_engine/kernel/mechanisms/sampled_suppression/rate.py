"""From the rate that a policy writes to the number that a hash is compared with."""

from __future__ import annotations

from decimal import Decimal

from policy_engine.accounting.noise import WHOLE


def threshold(rate: Decimal) -> int:
    """T = ⌊rate·2⁶⁰⌋: a unit is in the sample iff its 60 pseudorandom bits are below T.

    >>> hex(threshold(Decimal("0.1")))
    '0x199999999999999'
    """
    # Of integers: a product of decimals would be rounded, and could exceed the rate.
    part, whole = rate.as_integer_ratio()
    return part * WHOLE // whole

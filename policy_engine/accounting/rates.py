"""How exact the rate of a sample is that an engine draws."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

NATIVE_GRAIN = Decimal(2) ** -32
"""How far the rate of an engine's own sample may be above the one that is written."""


def grain_of(method: str) -> Fraction:
    """How far the rate of a sample may be above the one that is written.

    The engine's random numbers are known to 32 bits only; the rate of a keyed sample is exact.

    >>> grain_of("native") == Fraction(1, 2**32), grain_of("drawn")
    (True, Fraction(0, 1))
    """
    return Fraction(NATIVE_GRAIN) if method in {"native", "random"} else Fraction(0)

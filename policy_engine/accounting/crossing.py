"""Where a falling number comes below a most, on a grid that is too fine to look at each point.

To evaluate δ takes up to a second; so what was seen so far is interpolated, and about half as many
points are looked at as by halving.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Context, Decimal

_WIDE = Context(prec=40)


def least_below(last: int, at: Callable[[int], Decimal], most: Decimal) -> int:
    """The least of 0, …, ``last`` at which a number that does not rise is no more than ``most``.

    It is no more than that at ``last``. What is found was looked at, whatever the number does. At
    most three points more are looked at than by halving. Source: ITP (Oliveira, Takahashi 2020), on
    logarithms of what lies above the number at ``last``.

    >>> least_below(10**12, lambda n: Decimal(10**20) / (n + 1), Decimal(10**11))
    999999999
    """
    low, high = 0, last
    if (first := at(low)) <= most:
        return low
    floor = at(high)
    over, under, before = _above(first - floor, most - floor), 0.0, float(high)
    room = float(1 << (high - low).bit_length())
    while high - low > 1:
        guess = middle = (low + high) / 2
        if over and under:
            guess = low + (high - low) * over / (over - under)
        # Beyond it by as much as it may be wrong, so that both ends come near, and not only one.
        towards = min(abs(middle - guess), max(1.0, abs(guess - before) / 10))
        before = guess
        guess += towards if guess < middle else -towards
        # No farther from the middle than leaves enough steps to halve what remains.
        far = max(0.0, room - (high - low) / 2)
        room /= 2
        tried = min(max(round(min(max(guess, middle - far), middle + far)), low + 1), high - 1)
        found = at(tried)
        beyond = _above(found - floor, most - floor)
        if found <= most:
            high, under = tried, beyond
        else:
            low, over = tried, beyond
    return high


def _above(number: Decimal, most: Decimal) -> float:
    """The logarithm of a number over another; 0, which tells nothing, unless both are above 0."""
    return float(_WIDE.ln(_WIDE.divide(number, most))) if number > 0 and most > 0 else 0.0

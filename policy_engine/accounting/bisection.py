"""Where a condition that rises begins to hold."""

from __future__ import annotations

from collections.abc import Callable


def least_integer(low: int, high: int, true_at: Callable[[int], bool]) -> int:
    """The least integer in (low, high] where a rising condition holds; it holds at high.

    >>> least_integer(0, 100, lambda n: n * n >= 50)
    8
    """
    while high - low > 1:
        middle = (low + high) // 2
        if true_at(middle):
            high = middle
        else:
            low = middle
    return high

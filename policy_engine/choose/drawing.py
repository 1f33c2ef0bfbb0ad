"""[CHOICE] One exact draw among public candidates, in this process: δ = 0.

No float and no table is in it. The randomness is the operating system's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from secrets import randbelow

from policy_engine.accounting.choice import step_of
from policy_engine.accounting.domain import Number
from policy_engine.errors import DomainError

Below = Callable[[int], int]
"""A whole number from 0 to below its argument, each as likely as any other."""


def choose(
    utilities: Sequence[int],
    epsilon: Number,
    sensitivity: int = 1,
    *,
    monotone: bool = False,
    below: Below = randbelow,
    exact: Callable[[int], int] | None = None,
) -> int:
    """The place of one candidate, drawn so that it is ε-DP: permute-and-flip.

    Guarantee: ε-DP where one unit moves each utility by at most the sensitivity; ``monotone`` is
    for utilities that one unit moves all the same way, or not at all. Whoever calls it does so
    once, and looks at nothing else of the utilities. With ``exact`` those but the greatest may be
    bounds from above: a coin by the bound and one by the rest fall both as often as one by the
    utility itself, so that this is asked for of a candidate whose first coin fell, and of no other.
    Errors: DomainError.

    >>> choose([3, 1_000, 5], 2)
    1
    """
    if not utilities:
        raise DomainError("utilities", "at least one", "none")
    step, best = step_of(epsilon, sensitivity, monotone=monotone), max(utilities)
    waiting = list(range(len(utilities)))
    while True:
        # The next in a random order: whoever was not chosen gives way to the last that waits.
        at = below(len(waiting))
        candidate = waiting[at]
        bound = utilities[candidate]
        if falls(step * (best - bound), below):
            rest = 0 if exact is None else bound - exact(candidate)
            if falls(step * rest, below):
                return candidate
        waiting[at] = waiting[-1]
        waiting.pop()


def falls(exponent: Fraction, below: Below = randbelow) -> bool:
    """Whether a coin falls that does with chance e^−x for x ≥ 0; exactly so.

    (Canonne, Kamath, Steinke 2020, algorithm 1.)

    >>> falls(Fraction(0)), falls(Fraction(10**9))
    (True, False)
    """
    ones, rest = divmod(exponent, 1)
    for _ in range(ones):
        if not _falls_below_one(Fraction(1), below):
            return False
    return _falls_below_one(rest, below)


def _falls_below_one(exponent: Fraction, below: Below) -> bool:
    """The same for x from 0 to 1: the first k whose coin of chance x/k does not fall is odd."""
    k = 1
    while below(exponent.denominator * k) < exponent.numerator:
        k += 1
    return k % 2 == 1

"""[LOCAL], [AB] δ by brute force: every outcome of one row summed, without ``accounting``.

Of randomised response the outcomes are all answers of two people whose values differ everywhere,
each by its own numbers of 2⁶⁰; of αβ insertion whether each tuple is shown that can differ. Whole
numbers but for e^ε, which has 60 good digits.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, localcontext
from itertools import product
from math import prod

from policy_engine.attest.brute_force import Recomputed

_MOST = 10**6
_WHOLE = 1 << 60
_ERROR = Decimal("1e-40")
Law = Sequence[int]
"""The probability of each outcome, in parts of 2⁶⁰."""


def brute_answers(lists: Sequence[tuple[int, int]], epsilon: Decimal) -> Recomputed | None:
    """δ at ε ≥ 0 of a person replaced; ``lists`` has the length and the share of each column.

    None where there are too many answers.

    >>> brute_answers([(2, 1 << 58)], Decimal(0)).delta == Decimal("0.5")
    True
    """
    laws = [(_answers(0, *each), _answers(1, *each)) for each in lists]
    return _brute(laws, epsilon, "every answer")


def _answers(own: int, values: int, share: int) -> Law:
    """u is on [place·share, (place + 1)·share) by chance, and beyond them all for the own value."""
    told = [share] * values
    told[own] += _WHOLE - share * values
    return told


def brute_presence(
    shown: int, inserted: int, epsilon: Decimal, *, replaces: bool
) -> Recomputed | None:
    """δ at ε ≥ 0 of a tuple that is in one table only; of two where a person is replaced.

    >>> brute_presence(3 << 58, 1 << 58, Decimal(0), replaces=False).delta == Decimal("0.5")
    True
    """
    there, absent = (shown, _WHOLE - shown), (inserted, _WHOLE - inserted)
    laws: list[tuple[Law, Law]] = [(there, absent)]
    return _brute(laws + [(absent, there)] * replaces, epsilon, "every outcome")


def _brute(laws: Sequence[tuple[Law, Law]], epsilon: Decimal, whole: str) -> Recomputed | None:
    if prod(len(one) for one, _ in laws) > _MOST:
        return None
    ways = []
    with localcontext(prec=60 + 20 * len(laws)):
        scale = epsilon.exp()
        for one, other in (tuple(zip(*laws, strict=True)), tuple(zip(*laws, strict=True))[::-1]):
            outcomes = zip(map(prod, product(*one)), map(prod, product(*other)), strict=True)
            ways.append(sum(max(Decimal(0), p - scale * q) for p, q in outcomes))
        delta = Decimal(max(ways)) / Decimal(_WHOLE) ** len(laws)
    return Recomputed(delta, whole, _ERROR)

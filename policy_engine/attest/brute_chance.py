"""[LOCAL], [AB], [TABLE], [PLACE] δ by brute force: every outcome summed, without ``accounting``.

Of randomised response the outcomes are all answers of two people whose values differ everywhere,
each by its own numbers of 2⁶⁰; of αβ insertion whether each tuple is shown that can differ. Of a
group that one unit is in, Z is drawn against Z + 1, or T against T + 1: whoever sees what is shown
sees no more; of several groups, and of a unit that is replaced, it is every combination of values.
Whole numbers but for e^ε, which has 60 good digits.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, localcontext
from itertools import pairwise, product
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


def brute_noise(
    tables: Sequence[Sequence[int]], epsilon: Decimal, *, is_open: bool, replaces: bool
) -> Recomputed | None:
    """δ at ε ≥ 0 for one unit in one group of each table; None of too many combinations.

    >>> found = brute_noise([(1 << 50, (1 << 60) - (1 << 50))], Decimal(20), is_open=False,
    ...                     replaces=False)
    >>> found.delta == Decimal(2) ** -10
    True
    """
    laws = [_moved(entries, is_open=is_open) for entries in tables]
    laws += [(after, before) for before, after in laws] * replaces
    return _brute(laws, epsilon, "every value of the noise")


def _moved(entries: Sequence[int], *, is_open: bool) -> tuple[Law, Law]:
    masses = [high - low for low, high in pairwise((0, *entries, _WHOLE))]
    tail = masses.pop() if is_open else 0
    return [*masses, 0, tail], [0, *masses, tail]


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

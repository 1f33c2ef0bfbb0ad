"""[TABLE], [PLACE] δ by brute force: every value of the noise summed, without ``accounting``.

Of a group that one unit is in, Z is drawn against Z + 1, or T against T + 1: whoever sees what is
shown sees no more. Of several groups, and of a unit that is replaced, every combination of values
is summed. Whole numbers but for e^ε, which has 60 good digits.
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


def brute_noise(
    tables: Sequence[Sequence[int]], epsilon: Decimal, *, is_open: bool, replaces: bool
) -> Recomputed | None:
    """δ at ε ≥ 0 for one unit in one group of each table; None of too many combinations.

    >>> found = brute_noise([(1 << 50, (1 << 60) - (1 << 50))], Decimal(20), is_open=False,
    ...                     replaces=False)
    >>> found.delta == Decimal(2) ** -10
    True
    """
    factors = [_pair(entries, is_open=is_open) for entries in tables]
    if replaces:
        factors += [[(q, p) for p, q in one] for one in factors]
    if prod(map(len, factors)) > _MOST:
        return None
    steps = [tuple(map(prod, zip(*chosen, strict=True))) for chosen in product(*factors)]
    with localcontext(prec=60 + 20 * len(factors)):
        scale = epsilon.exp()
        ways = [sum(max(Decimal(0), p - scale * q) for p, q in steps)]
        ways.append(sum(max(Decimal(0), q - scale * p) for p, q in steps))
        delta = max(ways) / Decimal(_WHOLE) ** len(factors)
    return Recomputed(Decimal(delta), "every value of the noise", _ERROR)


def _pair(entries: Sequence[int], *, is_open: bool) -> list[tuple[int, int]]:
    masses = [high - low for low, high in pairwise((0, *entries, _WHOLE))]
    tail = masses.pop() if is_open else 0
    return list(zip([*masses, 0, tail], [0, *masses, tail], strict=True))

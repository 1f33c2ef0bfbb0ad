"""What a pair (k, β) lets a reader see of a group: utility from public numbers, no privacy claim.

A group of n units has Bin(n, β) of them in the sample, and is shown where that is at least k. Its
size is estimated by what is shown over β.
"""

from __future__ import annotations

import math
from decimal import ROUND_HALF_EVEN, Context, Decimal

from policy_engine.accounting.binomial import sum_from, sum_to
from policy_engine.accounting.bisection import least_integer
from policy_engine.accounting.domain import DIGITS, Number, arithmetic, count, threshold
from policy_engine.accounting.domain import sampling_rate as checked_rate
from policy_engine.accounting.noise import WHOLE, IntegerTable

_ROUNDED = Context(prec=DIGITS, rounding=ROUND_HALF_EVEN)
_HALF = Decimal("0.5")


def chance_shown(k: int, rate: Number, size: int) -> Decimal:
    """Pr[Bin(size, β) ≥ k]: how likely a group of so many units is shown.

    Accuracy: 12 digits, of the chance or, where it is above ½, of its complement. Units: the rate
    is that at which the *source* is sampled. Errors: DomainError.

    >>> chance_shown(2, "0.5", 3), chance_shown(20, "0.1", 19)
    (Decimal('0.5'), Decimal('0'))
    """
    k, beta, n = threshold(k), checked_rate(rate), count("size", size)
    if n < k:
        return Decimal(0)
    with arithmetic(beta, room=40):
        if k > n * beta:
            return _rounded(sum_from(k, n, beta, Decimal(1), 0))
        return 1 - _rounded(sum_to(k - 1, n, beta, Decimal(1), 0))


def chance_with_noise(table: IntegerTable, least: int, size: int) -> Decimal:
    """How likely a group of so many units is shown: n + Z ≥ least, of an open table n − T ≥ least.

    Exact to 12 digits.

    >>> from policy_engine.accounting.noise_laws import laplace
    >>> chance_with_noise(laplace(1, 14), 15, 15) > Decimal("0.5")
    True
    """
    sign = -1 if table.is_open else 1
    pairs = enumerate(table.masses, table.least)
    shown = sum(mass for z, mass in pairs if size + sign * z >= least)
    return _ROUNDED.divide(Decimal(shown), Decimal(WHOLE))


def half_shown(k: int, rate: Number) -> int:
    """The least size of a group that is shown at least half of the time.

    A median of Bin(n, β) lies between ⌊nβ⌋ and ⌈nβ⌉, so the size lies between (k − 1)/β and k/β.
    Errors: DomainError.

    >>> half_shown(2, "0.5"), half_shown(20, "0.1")
    (3, 197)
    """
    k, beta = threshold(k), checked_rate(rate)
    with arithmetic(beta, Decimal(k)):
        low, high = int((k - 1) / beta), math.ceil(k / beta)
    return least_integer(low, high, lambda size: chance_shown(k, beta, size) >= _HALF)


def count_error(rate: Number, size: int) -> Decimal:
    """√(n·(1 − β)/β): the standard deviation of the estimate count/β of a group of n units.

    It is that of every group alike, shown or not: of those that are just shown, the estimate is
    too high. Accuracy: 12 digits. Errors: DomainError.

    >>> count_error("0.1", 167)
    Decimal('38.76854395')
    """
    beta, n = checked_rate(rate), count("size", size)
    with arithmetic(beta, Decimal(n)):
        return _rounded((n * (1 - beta) / beta).sqrt())


def _rounded(value: Decimal) -> Decimal:
    return _ROUNDED.normalize(value)

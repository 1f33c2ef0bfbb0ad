"""The binomial law in decimals: a point probability, and one-sided weighted sums of it.

Everything here runs inside a context that the caller opens with ``domain.arithmetic``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from decimal import Decimal

_FEW = 1000  # below it whole numbers are quicker; from it on Stirling's series holds
# B_2j / (2j(2j−1)) for j = 1…15, as integer pairs.
_STIRLING = (
    (1, 12),
    (-1, 360),
    (1, 1260),
    (-1, 1680),
    (1, 1188),
    (-691, 360360),
    (1, 156),
    (-3617, 122400),
    (43867, 244188),
    (-174611, 125400),
    (77683, 5796),
    (-236364091, 1506960),
    (657931, 300),
    (-3392780147, 93960),
    (1723168255201, 2492028),
)
_HALF_LOG_TWO_PI = Decimal(
    "0.9189385332046727417803297364056176398613974736377834128171515404827656959272603976947432986359542"
)
# A remainder below this share of a sum is added to it, and then 12 digits cannot tell.
_SHARE = Decimal("1e-30")
# Decimal exponents end near -1e18; what is below this is replaced by it, which is from above.
_LEAST = Decimal("1e-100000000000000000")


def log_factorial(z: int) -> Decimal:
    """ln z!, wrong by less than 1e-80 beside the rounding of the context.

    Below 1000 it is the logarithm of the integer. From there it is Stirling's series, which for
    real z > 0 envelops ln z!: the error is below the first term left out,
    |B_32|/(32·31·z³¹) < 2e1·1e-93.

    >>> log_factorial(3)
    Decimal('1.791759469228055000812477358')
    """
    if z < _FEW:
        return Decimal(math.factorial(z)).ln()
    number = Decimal(z)
    inverse = 1 / number
    square = inverse * inverse
    series = Decimal(0)
    for numerator, denominator in reversed(_STIRLING):
        series = series * square + Decimal(numerator) / denominator
    return (number + Decimal("0.5")) * number.ln() - number + _HALF_LOG_TWO_PI + series * inverse


def point(j: int, n: int, rate: Decimal) -> Decimal:
    """f(j; n, β) for 0 ≤ j ≤ n and 0 < β < 1; what is below 1e-10¹⁷ is raised to that.

    >>> round(point(1, 2, Decimal("0.5")), 20)
    Decimal('0.50000000000000000000')
    """
    if min(j, n - j) < _FEW:
        return max(_LEAST, math.comb(n, j) * rate**j * (1 - rate) ** (n - j))
    log = log_factorial(n) - log_factorial(j) - log_factorial(n - j)
    return max(_LEAST, (log + j * rate.ln() + (n - j) * (1 - rate).ln()).exp())


def sum_from(start: int, n: int, rate: Decimal, weight: Decimal, step: int) -> Decimal:
    """Σ_{j=start}^{n} f(j; n, β)·(weight + (j − start)·step), from above.

    Needs: weight ≥ 0 and step 0 or 1, and not both 0.

    >>> sum_from(1, 2, Decimal("0.5"), Decimal(1), 0).quantize(Decimal("1e-20"))
    Decimal('0.75000000000000000000')
    """
    odds = rate / (1 - rate)
    ratios = ((n - j) * odds / (j + 1) for j in range(start, n + 1))
    return _series(point(start, n, rate), ratios, weight, step)


def sum_to(end: int, n: int, rate: Decimal, weight: Decimal, step: int) -> Decimal:
    """Σ_{j=0}^{end} f(j; n, β)·(weight + (end − j)·step) as ``sum_from``, n − j ~ Bin(n, 1 − β).

    >>> sum_to(1, 2, Decimal("0.5"), Decimal(1), 0).quantize(Decimal("1e-20"))
    Decimal('0.75000000000000000000')
    """
    return sum_from(n - end, n, 1 - rate, weight, step)


def _series(probability: Decimal, ratios: Iterator[Decimal], weight: Decimal, step: int) -> Decimal:
    """The sum of positive terms whose ratio falls, ending in 0, with the remainder added.

    Both factors of the ratio fall: that of the probabilities, and 1 + step/weight. So when a
    term is t and its ratio to the one before is q < 1, it and all after it sum to at most
    t/(1 − q). Terms first rise, then fall; one below a 1e-25 share of the sum is falling.
    """
    total = Decimal(0)
    while True:
        term = probability * weight
        total += term
        probability *= next(ratios)
        weight += step
        following = probability * weight
        if following <= total * _SHARE and total:
            return total + following / (1 - following / term)

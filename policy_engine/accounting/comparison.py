"""Mechanisms beside one another at one (ε, δ): what each shows of a group, by public numbers alone.

Utility, no privacy claim: that a table or a pair meets the aim is seen where it is made
(``tables.calibrated``, ``tables.pair``). A shown count is n + Z of a closed table, n − T and its
mean of an open one ([TABLE], [PLACE]), and count/β of a sample ([EXACT]): a group of n units has
Bin(n, β) of them in it, and is shown where that is at least k.
"""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Context, Decimal
from functools import cached_property
from math import ceil

from policy_engine.accounting.binomial import sum_from, sum_to
from policy_engine.accounting.bisection import least_integer
from policy_engine.accounting.domain import (
    DIGITS,
    Number,
    arithmetic,
    count,
    sampling_rate,
    threshold,
)
from policy_engine.accounting.frontier import SamplePair
from policy_engine.accounting.in_words import in_text
from policy_engine.accounting.noise import WHOLE, IntegerTable
from policy_engine.accounting.noise_laws import around, deviation, offset_of, shown_half
from policy_engine.accounting.tables import LAWS, Aim, auto, calibrated, pair
from policy_engine.errors import DomainError
from policy_engine.values import frozen

SAMPLED = "sampled_suppression"
_ROUNDED = Context(prec=DIGITS, rounding=ROUND_HALF_EVEN)
_HALF = Decimal("0.5")


def chance_shown(k: int, rate: Number, size: int) -> Decimal:
    """Pr[Bin(size, β) ≥ k]: how likely a group of so many units is shown.

    Accuracy: 12 digits, of the chance or, where it is above ½, of its complement. Units: the rate
    is that at which the *source* is sampled. Errors: DomainError.

    >>> chance_shown(2, "0.5", 3), chance_shown(20, "0.1", 19)
    (Decimal('0.5'), Decimal('0'))
    """
    k, beta, n = threshold(k), sampling_rate(rate), count("size", size)
    if n < k:
        return Decimal(0)
    with arithmetic(beta, room=40):
        if k > n * beta:
            return _ROUNDED.normalize(sum_from(k, n, beta, Decimal(1), 0))
        return 1 - _ROUNDED.normalize(sum_to(k - 1, n, beta, Decimal(1), 0))


def half_shown(k: int, rate: Number) -> int:
    """The least size of a group that is shown at least half of the time.

    A median of Bin(n, β) lies between ⌊nβ⌋ and ⌈nβ⌉, so the size lies between (k − 1)/β and k/β.
    Errors: DomainError.

    >>> half_shown(2, "0.5"), half_shown(20, "0.1")
    (3, 197)
    """
    k, beta = threshold(k), sampling_rate(rate)
    with arithmetic(beta, Decimal(k)):
        low, high = int((k - 1) / beta), ceil(k / beta)
    return least_integer(low, high, lambda size: chance_shown(k, beta, size) >= _HALF)


def count_error(rate: Number, size: int) -> Decimal:
    """√(n·(1 − β)/β): the standard deviation of the estimate count/β of a group of n units.

    It is that of every group alike, shown or not: of those that are just shown, the estimate is
    too high. Accuracy: 12 digits. Errors: DomainError.

    >>> count_error("0.1", 167)
    Decimal('38.76854395')
    """
    beta, n = sampling_rate(rate), count("size", size)
    with arithmetic(beta, Decimal(n)):
        return _ROUNDED.normalize((n * (1 - beta) / beta).sqrt())


@frozen
class Candidate:
    """A mechanism with its numbers: the noise of a table, or the threshold and rate of a sample.

    ``at_least``: with a closed table a group that is shown has so many people for certain.

    >>> from policy_engine.accounting.noise_laws import laplace
    >>> one = Candidate("truncated_laplace", laplace(1, 14))
    >>> one.half, round(one.error, 1), one.certain, one.least, one.true_rows
    (15, Decimal('1.4'), (-14, 14), 1, False)
    """

    law: str
    by: IntegerTable | SamplePair
    at_least: int = 1
    listed: bool = False

    @property
    def true_rows(self) -> bool:
        """Whether it can release rows each of which is a person's own."""
        return isinstance(self.by, SamplePair)

    @cached_property
    def half(self) -> int:
        """The fewest people that are shown with a chance of one half or more; 0 where all are."""
        if self.listed:
            return 0
        if isinstance(self.by, SamplePair):
            return half_shown(self.by.k, self.by.rate)
        return shown_half(self.by, self.at_least)

    @cached_property
    def error(self) -> Decimal:
        """The standard deviation of the estimate of a group of ``half`` people."""
        if isinstance(self.by, SamplePair):
            return count_error(self.by.rate, self.half)
        return Decimal(f"{deviation(self.by):.12g}")

    @property
    def certain(self) -> tuple[int, int] | None:
        """What a group has for certain beside the number it is shown with; None: nothing above."""
        if isinstance(self.by, SamplePair):
            return None
        return around(self.by, offset_of(self.by))

    @property
    def least(self) -> int:
        """Every group that is shown has so many people for certain."""
        if isinstance(self.by, SamplePair):
            return self.by.k
        if self.listed:
            return 0
        return max(self.at_least, self.by.least) if self.by.is_open else self.at_least

    def chance(self, size: int) -> Decimal:
        """How likely a group of so many people is shown, to 12 digits. Errors: DomainError.

        >>> Candidate(SAMPLED, SamplePair(2, Decimal("0.5"))).chance(3)
        Decimal('0.5')
        """
        if self.listed:
            return Decimal(1)
        if isinstance(self.by, SamplePair):
            return chance_shown(self.by.k, self.by.rate, size)
        # n + Z is at least τ, of an open table n − T at least 0.
        table, pairs = self.by, enumerate(self.by.masses, self.by.least)
        least, sign = (0, -1) if table.is_open else (table.largest + self.at_least, 1)
        shown = sum(mass for z, mass in pairs if size + sign * z >= least)
        return _ROUNDED.divide(Decimal(shown), Decimal(WHOLE))

    @property
    def chances(self) -> list[tuple[int, Decimal]]:
        """Those of groups of ½, 1, 1½ and 2 times ``half``.

        >>> [size for size, _ in Candidate(SAMPLED, SamplePair(20, Decimal("0.1"))).chances]
        [99, 197, 296, 394]
        """
        sizes = (ceil(self.half / 2), self.half, ceil(self.half * 1.5), self.half * 2)
        return [(size, self.chance(size)) for size in sizes]


def per_cent(chance: Decimal) -> str:
    """A chance with two digits of it, or of what is missing to 1.

    >>> [per_cent(Decimal(text)) for text in ("0.0031989", "0.9691185", "0.99960679", "1e-9", "1")]
    ['0.32 %', '96.9 %', '99.961 %', '0 %', '100 %']
    """
    rounded = min(chance, 1 - chance).quantize(Decimal("1e-5"))
    near = Decimal(f"{100 * rounded:.2g}")
    return f"{in_text(near if chance < _HALF else 100 - near)} %"


@frozen
class Comparison:
    """Every mechanism at one aim: ``refused`` has the reason of each that cannot meet it.

    ``auto`` is the law that ``tables.auto`` takes for the aim, None where it takes none.
    """

    candidates: tuple[Candidate, ...]
    refused: tuple[tuple[str, str], ...]
    auto: str | None


def compare(aim: Aim) -> Comparison:
    """Each mechanism with its best numbers for an aim, of one number a group.

    Nothing but the aim is looked at. Several releases or groups take seconds, for each law is
    looked for with the whole composition.

    >>> found = compare(Aim(Decimal(1), Decimal("1e-6")))
    >>> [(each.law, each.half) for each in found.candidates], found.auto
    ([('truncated_laplace', 14), ('discrete_gaussian', 23), ('negative_binomial', 54), \
('sampled_suppression', 54)], 'truncated_laplace')
    """
    tried = [(law, _tried(law, aim)) for law in (*LAWS, SAMPLED)]
    candidates = tuple(found for _, found in tried if isinstance(found, Candidate))
    refused = tuple((law, found) for law, found in tried if isinstance(found, str))
    has_table = any(found.law in LAWS[:2] for found in candidates)
    return Comparison(candidates, refused, auto(aim)[0] if has_table else None)


def _tried(law: str, aim: Aim) -> Candidate | str:
    """The law with its numbers for the aim, or why it has none."""
    if law == SAMPLED and aim.listed:
        return "it shows no key that few people have"
    if law == SAMPLED and aim.groups > 1:
        return "it counts a person once, and has no sums"
    try:
        by = SamplePair(*pair(aim)) if law == SAMPLED else calibrated(law, aim)
    except DomainError as error:
        return str(error)
    return Candidate(law, by, aim.at_least, aim.listed)

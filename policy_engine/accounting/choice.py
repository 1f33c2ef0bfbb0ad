"""[CHOICE] One of many public candidates: coin tables in integers, their law, and its price.

Candidates stand in a random order, and each has a coin whose chance falls with how far its utility
is below the best; the first whose coin falls is chosen (permute-and-flip: McKenna, Sheldon 2020).
One unit moves each utility by at most the sensitivity Δ.

*Law.* With f(d) = T_d/2⁶⁰ and d_c = max u − u_c: P_c = f(d_c)·∫₀¹ Π_{j≠c} (1 − t·f(d_j)) dt.

*Claim.* (ε, (1 + e^ε)·τ) with τ = (M − 1)·(2¹⁶ + 1)/2⁶⁰ + M(M − 1)/2⁶¹. With f(d) = q^d exactly,
q = e^{−ε/2Δ}, and no two orders alike, P_c grows in u_c and falls in u_j, so that c down and all
others up by Δ is worst, and P ≤ e^ε·P′: if another keeps the maximum, f_c falls by q^{2Δ} and the
integral does not rise with the others; if c alone is the maximum, g < 2Δ above the next, then
f′_j = q^{−g}·f_j ≤ 1, and ∫₀¹ Π(1 − t·q^{−g}·f_j)dt = q^g ∫₀^{q^{−g}} Π(1 − s·f_j)ds is at least
q^g times the integral before, so that P′_c ≥ q^{2Δ}·P_c. The table's draw is another one by the
same hashes with a chance of at most τ: a coin differs below 2⁻⁶⁰ down to the cut and below
(2¹⁶ + 1)/2⁶⁰ beyond it, the maximum's never, and orders of 60 bits are alike with M(M − 1)/2⁶¹.
Where one unit moves all utilities the same way, by 0 to Δ (*monotone*: somebody more adds to
scores), c moves by at most Δ against the others, and q = e^{−ε/Δ} does.

*One unit replaced.* In a group that it stays in, a unit goes and another comes: two moves of Δ, so
the law without a table is 2ε-DP; two choices of ε each would *not* cover that, which tell less for
the same sum. In a group that it leaves for another one both choices move, each by ε: together they
are 2ε-DP as well. So either is covered by one pair of 2ε, with the τ of two tables.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

from policy_engine.accounting.domain import (
    ADD_REMOVE,
    REPLACE_ONE,
    Number,
    arithmetic,
    count,
    nonnegative_epsilon,
    upward,
    whole,
)
from policy_engine.accounting.noise import MOST_ENTRIES, WHOLE, by_ratio
from policy_engine.accounting.powers import Step
from policy_engine.base_errors import DomainError
from policy_engine.values import frozen

CUT = 1 << 16
"""A coin that falls less often than 2¹⁶ in 2⁶⁰ times never falls."""
MOST_CANDIDATES = 10**7
_LOG_OF_CUT = Decimal("30.5")
"""44·ln 2, from above: how far below the best the last coin is, in steps of ln(1/q)."""


def step_of(epsilon: Number, sensitivity: int = 1, *, monotone: bool = False) -> Fraction:
    """ln(1/q): how much each unit of utility below the best takes off a coin's logarithm; exact.

    Errors: DomainError unless 0 < ε ≤ 10⁹ and the sensitivity is an integer from 1.

    >>> step_of("0.5"), step_of("0.5", 2, monotone=True)
    (Fraction(1, 4), Fraction(1, 4))
    """
    asked = nonnegative_epsilon(epsilon)
    if not asked:
        raise DomainError("epsilon", "above 0 for a choice", asked)
    return Fraction(asked) / (count("sensitivity", sensitivity) * (1 if monotone else 2))


@frozen
class CoinTable:
    """T_0 = 2⁶⁰ ≥ T_1 ≥ …: a coin falls where its hash of 60 bits is below T_d.

    Beyond the last entry none falls. Errors: DomainError unless the entries are 1 to 65,536
    integers from 2⁶⁰ on that do not rise, none below 2¹⁶.

    >>> CoinTable((1 << 60, 1 << 59)).coin(1) / 2**60, CoinTable((1 << 60,)).coin(7)
    (0.5, 0)
    """

    entries: tuple[int, ...]

    def __post_init__(self) -> None:
        """Refuse what is no table."""
        entries = tuple(self.entries)
        if not 1 <= len(entries) <= MOST_ENTRIES or any(type(each) is not int for each in entries):
            raise DomainError("entries", f"from 1 to {MOST_ENTRIES} integers", len(entries))
        falls = all(high >= low for high, low in pairwise(entries))
        if entries[0] != WHOLE or not falls or entries[-1] < CUT:
            law = "integers from 2**60 on that do not rise, none below 2**16"
            raise DomainError("entries", law, "others")
        object.__setattr__(self, "entries", entries)

    def coin(self, distance: int) -> int:
        """The chance that the coin falls of who is so far below the best, times 2⁶⁰."""
        return self.entries[distance] if distance < len(self.entries) else 0


@lru_cache(maxsize=8)  # a text is printed more than once, and a draw asks for its own again
def coin_table(epsilon: Number, sensitivity: int = 1, *, monotone: bool = False) -> CoinTable:
    """T_d = ⌊2⁶⁰·q^d⌋ while that is at least 2¹⁶.

    Errors: DomainError as ``step_of``, and where ε is so small that there are more than 65,536.

    >>> table = coin_table("0.25")
    >>> len(table.entries), table.entries[:2] == (1 << 60, int(Decimal(2)**60*Decimal(-1/8).exp()))
    (244, True)
    """
    step = step_of(epsilon, sensitivity, monotone=monotone)
    if _LOG_OF_CUT / Decimal(MOST_ENTRIES) >= _decimal(step):
        least = f"at least 30.5/{MOST_ENTRIES} for each step of utility"
        raise DomainError("epsilon", least, epsilon)
    entries = [WHOLE]
    while (entry := _floor(step * len(entries))) >= CUT:
        entries.append(entry)
    return CoinTable(tuple(entries))


def _floor(exponent: Fraction) -> int:
    """⌊2⁶⁰·e^−x⌋ for x > 0; no integer is hit, for e^x is transcendental."""
    room = 40
    while True:
        with arithmetic(room=room):
            value = (-_decimal(exponent)).exp() * WHOLE
            slack = Decimal(10) ** (20 - room)
            low, high = (int(value + way) for way in (-slack, slack))
        if low == high:
            return low
        room += 40


def _decimal(number: Fraction) -> Decimal:
    """In the caller's context."""
    return Decimal(number.numerator) / Decimal(number.denominator)


def delta_of_choice(epsilon: Number, candidates: int) -> Decimal:
    """The δ at ε of one choice by a coin table of that ε; 0 where there is one candidate alone.

    Guarantee: rounded up. Errors: DomainError.

    >>> delta_of_choice("0.25", 61), delta_of_choice(1, 1)
    (Decimal('7.79365304110E-12'), Decimal('0'))
    """
    asked = nonnegative_epsilon(epsilon)
    many = whole("candidates", candidates, 1, MOST_CANDIDATES)
    if many == 1:
        return Decimal(0)
    differs = Fraction((many - 1) * (CUT + 1), WHOLE) + Fraction(many * (many - 1), 2 * WHOLE)
    with arithmetic(asked):
        return min(Decimal(1), upward((1 + asked.exp()) * _decimal(differs)))


@frozen
class Choice:
    """One private choice of ``candidates`` by a coin table of ε, in each of some groups.

    One unit is in at most ``groups`` of them. Errors: DomainError unless ε > 0, there are 2
    candidates at least, and no more than 10⁷, and at most 100,000 groups.

    >>> Choice("0.25", 61).groups
    1
    """

    epsilon: Decimal
    candidates: int
    groups: int = 1

    def __post_init__(self) -> None:
        """Refuse what has no table."""
        step_of(self.epsilon)
        object.__setattr__(self, "epsilon", nonnegative_epsilon(self.epsilon))
        whole("candidates", self.candidates, 2, MOST_CANDIDATES)
        whole("groups", self.groups, 1, 10**5)

    def steps(self, neighbours: str = ADD_REMOVE) -> list[Step]:
        """The pair for one group, as steps over 2⁶⁰ whose ratios fall; both ways it is the same.

        Guarantee: it dominates everything that is (ε, δ)-DP, by ``delta_of_choice``.

        >>> [(p, q) for p, q in Choice("1", 2).steps()][1][0] / 2**60
        0.7310585786298504
        """
        replaces = neighbours == REPLACE_ONE
        epsilon = self.epsilon * 2 if replaces else self.epsilon
        delta = delta_of_choice(epsilon, self.candidates) * (2 if replaces else 1)
        with arithmetic(epsilon, delta):
            only = min(WHOLE, int(delta * WHOLE) + 1)
            # Below the share that it may have: e^ε is as good as exact.
            low = max(0, int((WHOLE - only) / (1 + epsilon.exp())) - 1)
        high = WHOLE - only - low
        return by_ratio([(only, 0), (high, low), (low, high), (0, only)])

    def ways(self, neighbours: str) -> list[list[Step]]:
        """One pair: where a unit is replaced it covers the group that it stays in, or both."""
        return [self.steps(neighbours)]

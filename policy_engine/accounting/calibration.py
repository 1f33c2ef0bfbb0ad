"""Solving the curve for ε, k or β. Every answer is verified with the curve it came from.

The curve falls in ε: H_a does. It does not rise with k: T_{k+1} is a function of T_k's output
(k becomes ⊥), and processing an output never raises H_a. It does not fall with β: sampling at
β' < β is sampling at β'/β first and at β then. The differing unit survives the first with
probability β'/β, and given all other survivors the tables are neighbours or equal, so by joint
convexity δ_{β'} ≤ (β'/β)·δ_β, for replace-one (drop the old and the new unit together) as well. So
bisection finds the boundary. For N releases each meets (ε/N, δ/N): basic composition, [COMP].

Under replace_one the computed curve lies up to 1e-3 above the true one, so "least" and "greatest"
hold of the computed curve, and rates are looked for at 5 significant digits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal

from policy_engine.accounting.curve import delta_exact
from policy_engine.accounting.domain import (
    ADD_REMOVE,
    DIGITS,
    Number,
    arithmetic,
    count,
    downward,
    neighbour_notion,
    nonnegative_epsilon,
    probability,
    sampling_rate,
    threshold,
)
from policy_engine.errors import DomainError

_RESOLUTION = 12
"""ε is found on a grid of 10⁻¹²."""
_ROUGH_RESOLUTION = 5
_LARGEST = 10**6
_LEAST_EXPONENT = -300


def epsilon_exact(k: int, rate: Number, delta: Number, neighbours: str = ADD_REMOVE) -> Decimal:
    """The least ε ≥ 0 at which the mechanism is (ε, δ)-DP, [EXACT], rounded up at 10⁻¹².

    Guarantee: ``delta_exact`` at the ε returned is ≤ δ. No ε helps where δ < β^k, the chance
    that k people, all that share a cell, are all sampled: DomainError, as for other domains.

    >>> epsilon_exact(20, "0.1", "1e-9")
    Decimal('0.369867280606')
    >>> epsilon_exact(20, "0.1", "1e-21")
    Traceback (most recent call last):
    policy_engine.errors.DomainError: delta must be at least rate**k = 1E-20, found 1E-21
    """
    k, rate, delta = threshold(k), sampling_rate(rate), probability(delta)
    digits = _RESOLUTION if neighbour_notion(neighbours) == ADD_REMOVE else _ROUGH_RESOLUTION
    with arithmetic(rate):
        # From e^ε = k on δ_remove is β^k even at ε + ln(1−β); from −ln(1−β) on δ_add is 0.
        last = int(max(Decimal(k).ln(), -(1 - rate).ln()) * 10**digits) + 1

    def enough(step: int) -> bool:
        return delta_exact(k, rate, Decimal(step).scaleb(-digits), neighbours).delta <= delta

    if not enough(last):
        least = delta_exact(k, rate, Decimal(last).scaleb(-digits), neighbours).delta
        raise DomainError("delta", f"at least rate**k = {least}", delta)
    return Decimal(_least(-1, last, enough)).scaleb(-digits)


def least_k(
    epsilon: Number, delta: Number, rate: Number, neighbours: str = ADD_REMOVE, releases: int = 1
) -> int:
    """The least threshold k ≥ 2 with which N releases at this rate are (ε, δ)-DP.

    Errors: DomainError; also for an ε at which no k up to 10⁶ is enough.

    >>> least_k("0.5", "1e-9", "0.1")
    17
    """
    rate = sampling_rate(rate)
    target = _Target.of(epsilon, delta, neighbours, releases)
    high = 2
    while not target.met(high, rate):
        if high >= _LARGEST:
            raise DomainError("epsilon", f"larger for k up to {_LARGEST} to reach delta", epsilon)
        high *= 2
    return _least(max(1, high // 2), high, lambda k: target.met(k, rate))


def greatest_rate(
    epsilon: Number, delta: Number, k: int, neighbours: str = ADD_REMOVE, releases: int = 1
) -> Decimal:
    """The greatest rate with which N releases at threshold k are (ε, δ)-DP, rounded down.

    Guarantee: at most 12 significant digits (5 under replace_one), and verified. Errors:
    DomainError.

    >>> greatest_rate("0.5", "1e-9", 20)
    Decimal('0.128288750900')
    """
    target = _Target.of(epsilon, delta, neighbours, releases)
    return target.greatest_rate(threshold(k))


def best_pair(
    epsilon: Number, delta: Number, neighbours: str = ADD_REMOVE, releases: int = 1
) -> tuple[int, Decimal]:
    """The (k, rate) that meets the target and publishes the smallest cells: least k/rate.

    A cell of n people is expected to be published once n·rate ≥ k. Ties go to the smaller k.
    Errors: DomainError; also where every k/rate is above 10⁶.

    >>> best_pair("1", "1e-6")
    (14, Decimal('0.253735927992'))
    """
    target = _Target.of(epsilon, delta, neighbours, releases)
    found, best = (_LARGEST, Decimal(1)), Decimal(_LARGEST)
    # Powers of 2 first, for a good `best`; it need not be larger than k/best, as rates are < 1.
    start = 2
    while start < best:
        if target.met(start, downward(start / best)):
            rate = target.greatest_rate(start)
            found, best = (start, rate), start / rate
        start *= 2
    if found[0] == _LARGEST:
        raise DomainError("epsilon", f"larger for k/rate below {_LARGEST} to reach delta", epsilon)
    # Some k in [low, high] can only win at a rate ≥ low/best, and then k = high meets the target
    # at low/best, for the curve falls in k: where it does not, the whole range is out.
    ranges = [(2, int(best))]
    while ranges:
        low, high = ranges.pop()
        asked = downward(low / best)
        if asked >= 1 or not target.met(high, asked):
            continue
        if low < high:
            middle = (low + high) // 2
            ranges += [(middle + 1, high), (low, middle)]
            continue
        rate = target.greatest_rate(low)
        if (low / rate, low) < (best, found[0]):
            found, best = (low, rate), low / rate
    return found


@dataclass(frozen=True)
class _Target:
    """What each of the N releases must meet."""

    epsilon: Decimal
    delta: Decimal
    neighbours: str

    @classmethod
    def of(cls, epsilon: Number, delta: Number, neighbours: str, releases: int) -> _Target:
        epsilon, delta = nonnegative_epsilon(epsilon), probability(delta)
        parts = count("releases", releases)
        # Rounded down, so that N of them stay within what was asked.
        return cls(part_of(epsilon, parts), part_of(delta, parts), neighbour_notion(neighbours))

    def met(self, k: int, rate: Decimal) -> bool:
        # The add/remove curve lies below, and is cheap.
        if delta_exact(k, rate, self.epsilon).delta > self.delta:
            return False
        if self.neighbours == ADD_REMOVE:
            return True
        return delta_exact(k, rate, self.epsilon, self.neighbours).delta <= self.delta

    def greatest_rate(self, k: int) -> Decimal:
        """The greatest rate on the grid of significant digits that meets the target."""
        digits = DIGITS if self.neighbours == ADD_REMOVE else _ROUGH_RESOLUTION
        # The decade first: the least exponent e so that 10^e does not meet the target, or 0.
        exponent = _least(
            _LEAST_EXPONENT, 0, lambda e: e == 0 or not self.met(k, Decimal(1).scaleb(e))
        )
        scale = exponent - digits
        low, high = 10 ** (digits - 1) - 1, 10**digits
        mantissa = _least(
            low, high, lambda m: m == high or not self.met(k, Decimal(m).scaleb(scale))
        )
        if mantissa - 1 == low:
            law = f"larger for a rate of at least 1E{_LEAST_EXPONENT}"
            raise DomainError("delta", law, self.delta)
        return Decimal(mantissa - 1).scaleb(scale)


def part_of(total: Decimal, parts: int) -> Decimal:
    """One of N equal parts, rounded down at 12 significant digits unless N is 1.

    >>> part_of(Decimal(1), 3)
    Decimal('0.333333333333')
    """
    if parts == 1:
        return total
    with arithmetic(total) as context:
        # Toward 0: the quotient of a tie in the last digit must not be rounded up first.
        context.rounding = ROUND_FLOOR
        quotient = total / parts
    return downward(quotient)


def _least(low: int, high: int, true_at: Callable[[int], bool]) -> int:
    """The least integer in (low, high] where a rising condition holds; it holds at high."""
    while high - low > 1:
        middle = (low + high) // 2
        if true_at(middle):
            high = middle
        else:
            low = middle
    return high

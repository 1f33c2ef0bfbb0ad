"""[COMP] The sum of many privacy losses, by exact products of long decimals: no floats, no numpy.

A factor is a list of steps (p, q): masses under the first and the second law. On a grid of losses
the step of loss l between two grid points is split so that both its masses stay (connect the dots,
Doroshenko et al. 2022), which never lowers H. A law on the grid is a polynomial, and a polynomial
a decimal with room for each coefficient; their product is the product of two decimals, which
Python computes exactly. Masses are whole numbers of 10⁻³², rounded up.

Sums so rare that all of them together are a 10⁻⁶ share of the mass of infinite loss are moved up:
large ones to infinity, and small ones to the least that is not so rare.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, ROUND_FLOOR, Context, Decimal
from functools import lru_cache
from itertools import accumulate

from policy_engine.accounting.domain import arithmetic, upward
from policy_engine.values import frozen

_DIGITS = 32
_UNIT = 10**_DIGITS
_POINTS = 1 << 14
_RARE = 10**6
_LONG = Context(prec=MAX_PREC, Emin=MIN_EMIN, Emax=MAX_EMAX)

Step = tuple[int, int]
"""The mass of something under the first law and under the second, in one unit of mass."""


@frozen
class GridLaw:
    """A sum of losses on a grid: masses of ``first``·step, …, and the mass of infinite loss."""

    step: Decimal
    first: int
    masses: tuple[int, ...]
    certain: Decimal

    def delta(self, epsilon: Decimal) -> Decimal:
        """An upper bound on δ at ε ≥ 0.

        >>> law = compose([([(3, 1), (1, 3)], 30)], 4)
        >>> [law.delta(Decimal(epsilon)) for epsilon in (10, 33)]
        [Decimal('0.854169538574'), Decimal('0E-30')]
        """
        with arithmetic(epsilon):
            start = max(self.first, int(epsilon / self.step))
            beyond, ratio = (epsilon - start * self.step).exp(), (-self.step).exp()
            total = Decimal(0)
            for mass in self.masses[start - self.first :]:
                if beyond < 1:
                    total += mass * (1 - beyond)
                beyond *= ratio
            return min(Decimal(1), upward(total / _UNIT + self.certain))


def compose(
    factors: Sequence[tuple[Sequence[Step], int]], whole: int, points: int = _POINTS
) -> GridLaw:
    """The law of the sum of the losses of all factors, each so many times.

    Guarantee: dominates the composition; δ is above its δ by less than a 1e-3 share in ordinary
    cases (fewer than 100 factors), next to the largest sum of equal losses too. The masses of a
    factor's first law are ``whole`` together, and its ratios fall. On a grid of fewer ``points`` δ
    is further above.

    >>> compose([([(1, 0), (1, 2)], 2)], 2).certain
    Decimal('0.75')
    """
    if not all(any(p and q for p, q in steps) for steps, _ in factors):
        return GridLaw(Decimal(1), 0, (0,), Decimal(1))
    with arithmetic(Decimal(1)):
        finite = [(tuple((p, q) for p, q in steps if p and q), n) for steps, n in factors]
        losses = [_losses(steps) for steps, _ in finite]
        step = _step(finite, losses, whole, points)
        start = [
            _spread(steps, each, step, whole)
            for (steps, _), each in zip(finite, losses, strict=True)
        ]
        lost = sum(n * law.lost for law, (_, n) in zip(start, finite, strict=True))
        # Of each of at most 64 products that a factor goes through.
        rare = min(lost, _UNIT) // (_RARE * 64 * sum(n for _, n in finite))
        total, times = None, 0
        for law, (_, n) in zip(start, finite, strict=True):
            times += n
            power = law.power(n, rare)
            total = (power if total is None else total @ power).trimmed(times * rare)
        assert total is not None
        return GridLaw(step, total.first, tuple(total.masses), Decimal(total.lost) / _UNIT)


@lru_cache(maxsize=32)  # a search composes the same factors with each of what it tries
def _losses(steps: tuple[Step, ...]) -> tuple[Decimal, ...]:
    """Each step's loss, in the context of ``compose``."""
    with arithmetic(Decimal(1)):
        return tuple((Decimal(p) / q).ln() for p, q in steps)


def _step(
    finite: Sequence[tuple[Sequence[Step], int]],
    losses: Sequence[Sequence[Decimal]],
    whole: int,
    points: int,
) -> Decimal:
    """So fine that what the sum can be, or nearly always is, has some so many grid points."""
    width, widest, spread, heavy = 0.0, 0.0, 0.0, []
    for (steps, n), each in zip(finite, losses, strict=True):
        own = float(each[0] - each[-1])
        width, widest = width + n * own, max(widest, own)
        chances = [p / whole for p, _ in steps]
        mean = sum(p * float(loss) for p, loss in zip(chances, each, strict=True))
        squares = (p * (float(loss) - mean) ** 2 for p, loss in zip(chances, each, strict=True))
        spread += n * sum(squares)
        heavy.append(abs(float(each[max(range(len(steps)), key=chances.__getitem__)])))
    usual = 20 * math.sqrt(spread)
    finest = max(min(width, usual) / points, widest / (4 * points), 1e-9)
    return Decimal(aligned(finest, heavy))


def aligned(step: float, losses: Iterable[float]) -> float:
    """A step of at most this much, of which these losses are multiples if they share a divisor.

    δ next to a sum of losses is then not raised by the splitting, which elsewhere raises it by a
    share of about a step's square only.

    >>> aligned(0.3, [1.0, 0.75])
    0.25
    >>> aligned(0.3, [1.0, 0.7531])
    0.25
    """
    largest = shared = max(losses, default=0.0)
    for loss in losses:
        divisor, rest = shared, loss
        while rest > 1e-9 * largest:
            divisor, rest = rest, abs(math.remainder(divisor, rest))
        shared = divisor
    if shared < step:
        shared = max(largest, step)
    return shared / math.ceil(shared / step)


@frozen(eq=False)
class _Sum:
    """A law on the grid from its least point on, and a bound on the mass of infinite loss."""

    first: int
    masses: list[int]
    lost: int

    def __matmul__(self, other: _Sum) -> _Sum:
        """The law of the sum of both."""
        lost = self.lost + other.lost - self.lost * other.lost // _UNIT
        return _Sum(self.first + other.first, _times(self.masses, other.masses), lost)

    def power(self, n: int, rare: int) -> _Sum:
        """The law of the sum of so many, by squaring."""
        if n == 1:
            return self.trimmed(rare)
        half = self.power(n // 2, rare)
        square = half @ half
        return (square @ self if n % 2 else square).trimmed(n * rare)

    def trimmed(self, rare: int) -> _Sum:
        """Without the ends of at most this mass: the upper becomes infinite, the lower rises."""
        below = sum(total <= rare for total in accumulate(self.masses[:-1]))
        above = sum(total <= rare for total in accumulate(self.masses[:below:-1]))
        kept = self.masses[below : len(self.masses) - above]
        kept[0] += sum(self.masses[:below])
        gone = sum(self.masses[len(self.masses) - above :])
        return _Sum(self.first + below, kept, min(_UNIT, self.lost + gone))


def _spread(steps: Sequence[Step], losses: Sequence[Decimal], step: Decimal, whole: int) -> _Sum:
    """A factor on the grid, in the caller's context."""
    at = [int((loss / step).to_integral_value(ROUND_FLOOR)) for loss in losses]
    first, full = at[-1], -(-step).exp() + 1
    masses = [0] * (at[0] - first + 2)
    before, scale, back = at[0], (step * at[0]).exp(), (-step).exp()
    for (p, q), place in zip(steps, at, strict=True):
        # A power takes a twentieth of the time of e^(step·place), and loses five of 60 digits.
        scale, before = scale * back ** (before - place), place
        upper = (1 - scale * q / p) / full
        mass = Decimal(p * _UNIT) / whole
        masses[place - first] += max(0, int(mass * (1 - upper))) + 1
        masses[place - first + 1] += max(0, int(mass * upper)) + 1
    infinite = whole - sum(p for p, _ in steps)
    return _Sum(first, masses, -(-infinite * _UNIT // whole))


def _times(left: list[int], right: list[int]) -> list[int]:
    """The product of two laws on the grid, rounded up."""
    room = 2 * _DIGITS + len(str(min(len(left), len(right)))) + 2
    size, one = len(left) + len(right) - 1, _long(left, room)
    # A square of one and the same number is a third less work.
    other = one if left is right else _long(right, room)
    # Rounding up all at once: with so many nines added, what is cut off leaves no remainder.
    nines = Decimal(("0" * (room - _DIGITS) + "9" * _DIGITS) * size)
    digits = str(_LONG.fma(one, other, nines)).zfill(size * room)
    return [int(digits[at : at + room - _DIGITS]) for at in range((size - 1) * room, -1, -room)]


def _long(law: list[int], room: int) -> Decimal:
    return Decimal("".join([str(mass).zfill(room) for mass in reversed(law)]))

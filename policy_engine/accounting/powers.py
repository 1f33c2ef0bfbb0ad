"""[COMP] The sum of many privacy losses, by exact products of long decimals.

Floats choose the grid, and of a loss the point below it where none is near; no mass is a float.

A factor is a list of steps (p, q): masses under the first and the second law. On a grid of losses
the step of loss l between two grid points is split so that both its masses stay (connect the dots,
Doroshenko et al. 2022), which never lowers H. A law on the grid is a polynomial, and a polynomial
a decimal with room for each coefficient; their product is the product of two decimals, which
Python computes exactly. Masses are whole numbers of 10⁻³², rounded up.

Sums so rare that all of them together are a 10⁻⁸ share of the mass of infinite loss are moved up:
large ones to infinity, and small ones to the least that is not so rare.

The last product, the longest, is never written out: δ needs of one of its two laws only the masses
from each point on, under the first law of the pair and under the second.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, ROUND_FLOOR, Context, Decimal
from functools import cached_property
from itertools import accumulate, groupby, repeat, starmap, takewhile
from operator import mul

from policy_engine.accounting.domain import arithmetic, upward
from policy_engine.values import frozen

_DIGITS = 32
_UNIT: int = 10**_DIGITS
_POINTS = 1 << 14
_RARE = 10**8
_BELOW = Decimal("1") - Decimal("1e-50")
_LONG = Context(prec=MAX_PREC, Emin=MIN_EMIN, Emax=MAX_EMAX)

_Masses = Sequence[int | Decimal]
Step = tuple[int, int]
"""The mass of something under the first law and under the second, in one unit of mass."""


@frozen
class GridLaw:
    """A sum of two losses on a grid of this ``step``, and the mass of infinite loss."""

    step: Decimal
    left: _Sum
    right: _Sum
    certain: Decimal

    @cached_property
    def _laws(self) -> list[tuple[_Masses, _Masses]]:
        """By the first law of the pair, and by the second but for one factor: the masses of the
        left part, and the sums of the last none, one, two, … of the right part."""
        parts = self.left.masses, self.right.masses
        with arithmetic(Decimal(1)):
            back = repeat((-self.step).exp(), max(map(len, parts)) - 1)
            scale = [*accumulate(back, mul, initial=Decimal(1))]
            other = [[*map(mul, law, scale)] for law in parts]
            return [(own, [*accumulate(reversed(end), initial=0)]) for own, end in (parts, other)]

    def delta(self, epsilon: Decimal) -> Decimal:
        """An upper bound on δ at ε ≥ 0.

        >>> law = compose([([(3, 1), (1, 3)], 30)], 4)
        >>> law.delta(Decimal(10)), law.delta(Decimal(33)) == 0
        (Decimal('0.854169538574'), True)
        """
        with arithmetic(epsilon):
            least = self.left.first + self.right.first
            # So many points above the least one, and any number more, are a loss above ε.
            above = int(epsilon / self.step) + 1 - least
            first, second = (_above(*law, above) for law in self._laws)
            # A sum of 60 digits loses less than six of them to rounding: it is taken from below.
            lower = second * (epsilon - least * self.step).exp() * _BELOW
            return min(Decimal(1), upward((first - lower) / _UNIT**2 + self.certain))


def _above(masses: _Masses, ends: _Masses, points: int) -> int | Decimal:
    """What two laws have together so many points above both their least ones, or more."""
    last = len(ends) - 1
    low, high = max(0, points - last), max(0, points)
    beyond = sum(masses[high:]) * ends[last]
    return sum(map(mul, masses[low:high], ends[last - points + low :]), beyond)


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
        return GridLaw(Decimal(1), _Sum(0, [0], 0), _Sum(0, [0], 0), Decimal(1))
    with arithmetic(Decimal(1)):
        finite = [(tuple((p, q) for p, q in steps if p and q), n) for steps, n in factors]
        losses = [[*starmap(_loss, steps)] for steps, _ in finite]
        step = _step(finite, losses, whole, points)
        start = [
            _spread(steps, each, step, whole)
            for (steps, _), each in zip(finite, losses, strict=True)
        ]
        lost = sum(n * law.lost for law, (_, n) in zip(start, finite, strict=True))
        # Of each of at most 64 products that a factor goes through.
        rare = min(lost, _UNIT) // (_RARE * 64 * sum(n for _, n in finite))
        parts: list[_Sum] = []
        for law, (_, n) in zip(start, finite, strict=True):
            parts += law.parts(n, rare)
        while len(parts) > 2:
            # The shortest first; two halves of one power stay beside each other, a square.
            one, other, *rest = sorted(parts, key=lambda part: len(part.masses))
            parts = [(one @ other).trimmed(rare), *rest]
        left, right = parts if len(parts) > 1 else (*parts, _Sum(0, [_UNIT], 0))
        certain = Decimal(left.lost_with(right)) / _UNIT
        return GridLaw(step, left, right, certain)


def _loss(p: int, q: int) -> float:
    """ln(p/q), next to 0 as well, to all digits of a float but the last."""
    return math.log1p((p - q) / q) if p > q else -math.log1p((q - p) / p)


def _place(step: Step, near: float, grid: Decimal) -> int:
    """The last point of the grid that is not above a loss, in the caller's context.

    The loss is ``near`` points, a float that is wrong by a 10⁻¹⁵ share at most: only next to a
    point does the logarithm have to be taken to all digits, which takes two hundred times as long.
    """
    if abs(near - round(near)) > 1e-14 * abs(near):
        return math.floor(near)
    p, q = step
    return int(((Decimal(p) / q).ln() / grid).to_integral_value(ROUND_FLOOR))


def _step(
    finite: Sequence[tuple[Sequence[Step], int]],
    losses: Sequence[Sequence[float]],
    whole: int,
    points: int,
) -> Decimal:
    """So fine that what the sum can be, or nearly always is, has some so many grid points."""
    width, widest, spread, heavy = 0.0, 0.0, 0.0, []
    for (steps, n), each in zip(finite, losses, strict=True):
        own = each[0] - each[-1]
        width, widest = width + n * own, max(widest, own)
        chances = [p / whole for p, _ in steps]
        mean = sum(p * loss for p, loss in zip(chances, each, strict=True))
        squares = (p * (loss - mean) ** 2 for p, loss in zip(chances, each, strict=True))
        spread += n * sum(squares)
        heavy.append(abs(each[max(range(len(steps)), key=chances.__getitem__)]))
    usual = 20 * math.sqrt(spread)
    finest = max(min(width, usual) / points, widest / (4 * points), 1e-9)
    # So much larger that no rounding leaves a heavy loss just above a point, not below it.
    return Decimal(aligned(finest, heavy) * (1 + 1e-15))


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
    """A law on the grid from its least point on, and a bound on the mass of infinite loss.

    It is that of the sum of so many losses: of each at most a share that is ``rare`` is moved.
    """

    first: int
    masses: list[int]
    lost: int
    times: int = 1

    def __matmul__(self, other: _Sum) -> _Sum:
        """The law of the sum of both."""
        first, times = self.first + other.first, self.times + other.times
        return _Sum(first, _times(self.masses, other.masses), self.lost_with(other), times)

    def lost_with(self, other: _Sum) -> int:
        """The mass of infinite loss in the sum of both."""
        return self.lost + other.lost - self.lost * other.lost // _UNIT

    def parts(self, n: int, rare: int) -> list[_Sum]:
        """Laws whose sum is that of so many, by squaring: two halves, or of one itself."""
        if n == 1:
            return [self.trimmed(rare)]
        half, *other = self.parts(n // 2, rare)
        if other:
            half = (half @ other[0]).trimmed(rare)
        return [half, (half @ self).trimmed(rare) if n % 2 else half]

    def trimmed(self, rare: int) -> _Sum:
        """Without the ends of at most this mass: the upper becomes infinite, the lower rises."""
        most = self.times * rare
        below = sum(1 for _ in takewhile(most.__ge__, accumulate(self.masses[:-1])))
        above = sum(1 for _ in takewhile(most.__ge__, accumulate(self.masses[:below:-1])))
        kept = self.masses[below : len(self.masses) - above]
        kept[0] += sum(self.masses[:below])
        gone = sum(self.masses[len(self.masses) - above :])
        return _Sum(self.first + below, kept, min(_UNIT, self.lost + gone), self.times)


def _spread(steps: Sequence[Step], losses: Sequence[float], step: Decimal, whole: int) -> _Sum:
    """A factor on the grid, in the caller's context."""
    unit = float(step)
    at = [_place(each, loss / unit, step) for each, loss in zip(steps, losses, strict=True)]
    first, full = at[-1], -(-step).exp() + 1
    masses = [0] * (at[0] - first + 2)
    before, scale, back = at[0], (step * at[0]).exp(), (-step).exp()
    # Of the steps of one place it is the sums that are split.
    for place, own in groupby(range(len(steps)), at.__getitem__):
        p, q = map(sum, zip(*[steps[n] for n in own], strict=True))
        # A power takes a twentieth of the time of e^(step·place), and loses five of 60 digits.
        scale, before = scale * back ** (before - place), place
        upper = (1 - scale * q / p) / full
        mass = Decimal(p * _UNIT) / whole
        masses[place - first] += max(0, int(mass * (1 - upper))) + 1
        masses[place - first + 1] += max(0, int(mass * upper)) + 1
    return _Sum(first, masses, -((sum(p for p, _ in steps) - whole) * _UNIT // whole))


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

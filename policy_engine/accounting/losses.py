"""[COMP] The privacy loss of a composition: dominating pairs on a grid, convolved by FFT.

*On the grid.* An atom of loss l between grid points g and g+h is split so that its masses under
both laws stay as they are. This is connect-the-dots (Doroshenko et al. 2022): on the curve it
draws the chord over the convex H, so it never lowers it.

*Tilted.* The law that is convolved is not p but q(l) = p(l)·e^{θl − K(θ)}, K = ln Σ p(l)·e^{θl}.
The tilts multiply, so p of the sum is q of the sum times e^{ΣK − θl}. θ is chosen so that the
sum's mean is near the ε asked about. There q is largest, and the noise of the FFT, which is
relative to the largest value, stays a small share of a δ however small the δ.

*Many different pairs* are convolved two by two on their own stretch of the grid, the shortest
first, without the ends that have next to no mass; what is cut off counts as error of the FFT.

*From above.* To the sum over the grid points above ε,
    δ(ε) = e^{ΣK − θε}·Σ_{l>ε} q(l)·e^{−θ(l−ε)}·(1 − e^{ε−l}),
are added: what the FFT may have lost, by Cauchy-Schwarz and its 2-norm bound (Higham 2002, ch.
24); what lies above the window, by Chernoff; the mass where a pair's second law is 0; and
``pairs.GUARD`` for each event.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterable
from decimal import ROUND_CEILING, Context, Decimal
from typing import NamedTuple

from policy_engine.accounting.arrays import Floats, Integers, np
from policy_engine.accounting.domain import arithmetic
from policy_engine.accounting.pairs import GUARD, Pair
from policy_engine.accounting.powers import aligned
from policy_engine.values import frozen

_UP = Context(prec=6, rounding=ROUND_CEILING)
"""Every ε and δ from here has 6 significant digits, rounded up."""
_ROUNDING = 2.0**-53
_FEWEST_POINTS, _MOST_POINTS = 2**16, 2**20
_COARSE = 2**19
"""Points of all pairs together on the grids that θ is chosen with."""
_FINENESS = 0.01
"""h·θ·√N. Splitting atoms raises δ by about an eighth of its square, as a share."""
_COARSER, _FAR_ABOVE = 8, Decimal("1.1")
"""A grid of so much larger steps, and how far a δ on it is above the asked one to be refused at
once. Where one loss is far larger than the others the fine grid might have met it: that refuses
what would fit, and never admits what does not."""
_LEFT_OUT = 45.0
"""What the window leaves out has about e^-45 of the tilted mass, and is bounded."""
_STEEPEST = 1e6
"""θ times the largest loss of one event. Up to it e^{θl} is right within ``pairs.GUARD``."""
_SMALL = 1e-280
_LOW = 1e-3
"""Of as much mass as that of rare losses, the least losses are raised."""
_MANY = 8
_HALF = 0.5
_CUT = 1e-12
_UNIT = 2.0**-53 * 256
_RARE = 1e-5
"""Losses so rare that together they raise δ by at most this share count as certain."""
_FAR = 600.0
_TILTS = 4
_CLOSE = Decimal("0.9999")
_QUIET = 1e-4


class Moments(NamedTuple):
    """ΣK at θ, and the mean and the variance of the tilted sum."""

    theta: float
    scale: float
    mean: float
    variance: float


class Composition:
    """The privacy loss of the first laws of all pairs against the second, each N times.

    Guarantee: ``delta`` and ``epsilon`` are never below the truth for the composed pairs. They
    are above it by less than a 1e-3 share in ordinary cases: fewer than 10⁵ events, no loss far
    larger than all others, ε not next to its largest value, δ not next to ``certain``.

    >>> from policy_engine.accounting.events import SampledSuppression
    >>> from policy_engine.accounting.pairs import pairs_of
    >>> [pair] = pairs_of(SampledSuppression(20, "0.1"), "add_remove")
    >>> fifty = Composition([(pair, 50)])
    >>> fifty.epsilon(Decimal("1e-6")), fifty.delta(Decimal("0.8"))
    (Decimal('0.809905'), Decimal('0.00000122560'))
    """

    def __init__(self, pairs: Iterable[tuple[Pair, int]]) -> None:
        self._pairs = [(_sorted(pair), count) for pair, count in pairs]
        self._highest = _highest(self._pairs)
        self.certain = _at_least_once((pair.only_first, n) for pair, n in self._pairs)
        """The probability that some event gives the unit away: no ε brings δ below it."""

    def delta(self, epsilon: Decimal) -> Decimal:
        """An upper bound on δ at ε ≥ 0, at most 1."""
        # Not above the decimal, whichever way it rounds.
        at = math.nextafter(float(epsilon), -math.inf)
        if at > self._highest:
            return _rounded(self.certain)
        # One event alone is not more private than all.
        least = max(_alone(pair, at) for pair, _ in self._pairs)
        found = _LossSum(self._without_rare(least)).delta(at)
        if len(self._pairs) >= _MANY:
            return found  # a loss that is rare for one is next to nothing for all
        # Now it is known which losses are too rare to matter.
        return min(found, _LossSum(self._without_rare(float(found))).delta(at))

    def meets(self, epsilon: Decimal, delta: Decimal) -> bool:
        """Whether (ε, δ) is proven to hold; less work than ``delta``, as δ is known."""
        if delta <= self.certain:
            return False
        at = math.nextafter(float(epsilon), -math.inf)
        return _LossSum(self._without_rare(float(delta - self.certain))).meets(at, delta)

    def epsilon(self, delta: Decimal) -> Decimal | None:
        """An upper bound on the least ε ≥ 0 for δ; None where no ε is enough."""
        if delta <= self.certain:
            return None
        return _LossSum(self._without_rare(float(delta - self.certain))).epsilon(delta)

    def _without_rare(self, delta: float) -> list[tuple[Pair, int]]:
        allowed = delta * _RARE / sum(count for _, count in self._pairs)
        return [(_without_rare(pair, allowed), count) for pair, count in self._pairs]


class _LossSum:
    """The sum of losses, for one question."""

    def __init__(self, pairs: list[tuple[Pair, int]]) -> None:
        self._pairs = pairs
        self._count = sum(count for _, count in pairs)
        self._guard = GUARD * (self._count + 1)
        self._cumulants = _Cumulants(pairs)
        self._lowest = sum(n * float(pair.losses.min()) for pair, n in pairs)
        self._highest = _highest(pairs)
        self.certain = _at_least_once((pair.only_first, n) for pair, n in pairs)

    def delta(self, epsilon: float) -> Decimal:
        if epsilon > self._highest:
            return _rounded(self.certain)
        return self._convolved(self._cumulants.where(_mean_reaches(epsilon)), epsilon)

    def meets(self, epsilon: float, delta: Decimal) -> bool:
        if epsilon > self._highest:
            return _rounded(self.certain) <= delta
        moments = self._cumulants.where(_mean_reaches(epsilon))
        # Most accounts have room: one moment proves it, and no law is convolved.
        if self._by_moment(moments.theta, epsilon) <= delta:
            return True
        # On a coarse grid δ is a bound as well, and of what is searched most are far from it.
        rough = self._convolved(moments, epsilon, _COARSER)
        if rough <= delta or rough > _FAR_ABOVE * delta:
            return rough <= delta
        return self._convolved(moments, epsilon) <= delta

    def _convolved(self, moments: Moments, epsilon: float, coarser: int = 1) -> Decimal:
        return self._total(self._law(moments, epsilon, coarser).at(epsilon)[0])

    def _by_moment(self, theta: float, epsilon: float) -> Decimal:
        """δ by Chernoff: (1 − e^{ε−l})₊ is at most e^{θ(l−ε)}·θ^θ/(1+θ)^{1+θ}, whatever l is."""
        scale = sum(n * _log_sum(pair.log_masses + theta * pair.losses) for pair, n in self._pairs)
        peak = theta * math.log(theta) - (1 + theta) * math.log1p(theta) if theta else 0.0
        return self._total(scale - theta * epsilon + peak)

    def _total(self, finite: float) -> Decimal:
        """δ, of the ln of a bound on what the finite losses take."""
        with arithmetic(Decimal(1)):
            return _rounded(Decimal(finite + self._guard).exp() + self.certain)

    def epsilon(self, delta: Decimal) -> Decimal | None:
        finite = delta - self.certain
        with arithmetic(finite):
            target = float(finite.ln())
        moments = self._cumulants.where(_saddle_reaches(target))
        law = self._law(moments, moments.mean)
        found = self._least(law, target)
        for _ in range(_TILTS):
            at, before = float(found), found
            if law.at(at)[1] < _QUIET:
                break
            law = self._law(self._cumulants.where(_mean_reaches(at)), at)
            found = min(found, self._least(law, target))
            if found > before * _CLOSE:
                break
        return found

    def _least(self, law: _Law, target: float) -> Decimal:
        """The least ε ≥ 0 at which this law's bound is δ."""
        if law.at(0.0)[0] + self._guard <= target:
            return Decimal(0)
        low, high = 0.0, max(self._highest, 1e-300) * (1 + 1e-9)
        while high - low > 1e-9 * high:
            middle = (low + high) / 2
            if law.at(middle)[0] + self._guard > target:
                low = middle
            else:
                high = middle
        return _UP.create_decimal_from_float(high * (1 + 1e-12))

    def _law(self, moments: Moments, epsilon: float, coarser: int = 1) -> _Law:
        """The tilted law of the sum on a window around ε, on a grid of so much larger steps."""
        bottom, top, steeper = self._window(moments, epsilon)
        step = self._step(moments, top - bottom, coarser)
        # Splitting may move each atom by a step, and what leaves the window comes back in it.
        bottom, top = bottom - self._count * step, top + self._count * step
        first = math.floor(bottom / step)
        least = math.ceil(top / step) - first + 1
        points = min(some << (least // some).bit_length() for some in (8, 9, 12))
        spectrum = np.ones(points // 2 + 1, dtype=np.complex128)
        scale, shift, noise, above = 0.0, 0, 0.0, 0.0
        many: list[_Stretch] = []
        for pair, count in self._pairs:
            grid = _OnGrid.of(pair, step)
            k = grid.scale(moments.theta)
            scale += count * k
            above += 0.0 if steeper is None else count * grid.scale(steeper)
            if count == 1 and len(self._pairs) >= _MANY:
                many.append(grid.stretch(moments.theta, k))
                continue
            masses, centre = grid.circle(moments.theta, k, points)
            spectrum *= np.fft.rfft(masses) ** count
            shift += count * centre
            noise += count * _length(masses)
        if many:
            together = _together(many)
            masses, centre = together.circle(points)
            spectrum *= np.fft.rfft(masses)
            shift += centre
            noise += _length(masses) + together.noise
        masses = np.roll(np.fft.irfft(spectrum, points), (shift - first) % points)
        return _Law(
            theta=moments.theta,
            scale=scale,
            losses=(first + np.arange(points, dtype=np.float64)) * step,
            masses=masses,
            # Of the 2-norm: 8u·log₂n for a transform and again back, 32u for a power. A pass of 3
            # has 12u by that: its sums are rounded 4 times (7u), its factors are products (4u).
            noise=noise * _ROUNDING * (16 * math.log2(points) + 32),
            above=-math.inf if steeper is None else above - steeper * (first + points - 1) * step,
        )

    def _step(self, moments: Moments, width: float, coarser: int) -> float:
        root = math.sqrt(self._count)
        fineness = _FINENESS if len(self._pairs) < _MANY else 4 * _FINENESS
        fine = fineness / (max(moments.theta, 1e-3) * root)
        spread = math.sqrt(moments.variance) / (50 * root) or fine
        least = max(width / (_MOST_POINTS - 4), 1e-12 * self._cumulants.farthest)
        step = max(coarser * min(fine, spread, width / _FEWEST_POINTS), least)
        return aligned(step, filter(None, (_heavy(pair) for pair, _ in self._pairs)))

    def _window(self, moments: Moments, epsilon: float) -> tuple[float, float, float | None]:
        """Bottom and top of the losses looked at, and the η that bounds p above the top.

        For η > 0 the mass above the top is at most e^{ΣK(η) − η·top}; η is None if there is
        none. The convolution is circular, so what lies outside comes back at the other end: this
        only raises δ.
        """
        bottom, top, steeper = self._lowest, self._highest, None
        deviation = max(math.sqrt(moments.variance), 1e-9)
        for far in (1, 2, 4, 8, 16):
            over = self._cumulants.at(moments.theta + far / deviation)
            reach = (over.scale - moments.scale + _LEFT_OUT) * deviation / far
            if reach < top:
                top, steeper = reach, over.theta
            under = self._cumulants.at(moments.theta - far / deviation)
            bottom = max(bottom, (moments.scale - under.scale - _LEFT_OUT) * deviation / far)
        return min(bottom, epsilon), max(top, epsilon), steeper


@frozen(eq=False)
class _Law:
    """The tilted law of the sum; letters as in the module."""

    theta: float
    scale: float
    """ΣK."""
    losses: Floats
    masses: Floats
    noise: float
    """A bound on the 2-norm of the error of ``masses``."""
    above: float
    """The logarithm of a bound on the mass under p above the window."""

    def at(self, epsilon: float) -> tuple[float, float]:
        """ln of an upper bound on Σ_{l>ε} p(l)·(1 − e^{ε−l}), and the share of it that is noise."""
        start = int(np.searchsorted(self.losses, epsilon, side="right"))
        if start == len(self.losses):
            return self.above, 0.0
        # Farther than this the weights are e^-500 of the first, and slow to compute with.
        far = float(self.losses[start]) + _FAR / self.theta if self.theta else math.inf
        end = max(start + 1, int(np.searchsorted(self.losses, far)))
        beyond = self.losses[start:end] - epsilon
        exponents = np.log(-np.expm1(-beyond)) - self.theta * beyond
        # Relative to the largest, so that nothing that counts underflows.
        largest = float(exponents.max())
        weights = np.exp(exponents - largest)
        noise = self.noise * _length(weights) + math.exp(-500)
        total = noise + max(0.0, float((weights * self.masses[start:end]).sum()))
        inside = self.scale - self.theta * epsilon + largest + math.log(total)
        return float(np.logaddexp(inside, self.above)), noise / total


class _Cumulants:
    """K of the composition and its derivatives, roughly: to choose θ and the window with."""

    def __init__(self, pairs: list[tuple[Pair, int]]) -> None:
        self._counts = np.array([count for _, count in pairs], dtype=np.float64)
        farthest = [float(np.abs(pair.losses).max()) for pair, _ in pairs]
        self.farthest = max(1e-9, *farthest)
        size = min(2**13, _COARSE // len(pairs))
        shape = (len(pairs), size + 2)
        self._losses, self._logs = np.zeros(shape), np.full(shape, -np.inf)
        for row, (pair, _) in enumerate(pairs):
            width = float(pair.losses.max() - pair.losses.min())
            grid = _OnGrid.of(pair, max(width / (size - 2), 1e-9 * farthest[row], 1e-12))
            first = int(grid.at.min())
            if len(pairs) < _MANY:
                np.logaddexp.at(self._logs[row], grid.at - first, grid.logs)
            else:  # quick; masses below 1e-308 count as nothing
                with np.errstate(divide="ignore"):
                    self._logs[row] = np.log(
                        np.bincount(grid.at - first, np.exp(grid.logs), size + 2)
                    )
            self._losses[row] = (first + np.arange(size + 2)) * grid.step

    def at(self, theta: float) -> Moments:
        """The moments at one θ."""
        exponents = self._logs + theta * self._losses
        largest = exponents.max(axis=1, keepdims=True)
        weights = np.exp(exponents - largest)
        weights /= (total := weights.sum(axis=1, keepdims=True))
        mean = (weights * self._losses).sum(axis=1, keepdims=True)
        variance = (weights * (self._losses - mean) ** 2).sum(axis=1)
        scale = (np.log(total) + largest)[:, 0]
        sums = (float(self._counts @ value) for value in (scale, mean[:, 0], variance))
        return Moments(theta, *sums)

    def where(self, reached: Callable[[Moments], bool]) -> Moments:
        """The moments at the least θ ≥ 0, roughly, at which a rising condition holds."""
        found = self.at(0.0)
        if reached(found):
            return found
        steepest = _STEEPEST / self.farthest
        low, high = 0.0, min(1.0, steepest)
        while not reached(found := self.at(high)) and high < steepest:
            low, high = high, min(2 * high, steepest)
        while high - low > 1e-3 * high:
            middle = self.at((low + high) / 2)
            if reached(middle):
                high, found = middle.theta, middle
            else:
                low = middle.theta
        return found


def _rounded(delta: Decimal) -> Decimal:
    """A δ as it is handed out: 6 digits, rounded up, at most 1."""
    return min(Decimal(1), _UP.plus(delta))


def _highest(pairs: list[tuple[Pair, int]]) -> float:
    """No sum of finite losses is above this."""
    highest = sum(count * float(pair.losses.max()) for pair, count in pairs)
    return highest + 1e-12 * abs(highest)


def _length(vector: Floats) -> float:
    """The 2-norm. Not by BLAS, whose threads wait for each other on a machine that is busy."""
    return math.sqrt(float((vector * vector).sum()))


def _saddle_reaches(target: float) -> Callable[[Moments], bool]:
    """Whether ln δ at the tilted mean is at most a target, by the saddle-point formula."""

    def reached(m: Moments) -> bool:
        width = 2.5 * m.theta * (1 + m.theta) * math.sqrt(m.variance)
        return m.scale - m.theta * m.mean - math.log(max(1.0, width)) <= target

    return reached


def _mean_reaches(epsilon: float) -> Callable[[Moments], bool]:
    return lambda moments: moments.mean >= epsilon


def _log_sum(logs: Floats) -> float:
    """ln Σ e^log; relative to the largest, so that nothing underflows."""
    largest = float(logs.max())
    return largest + math.log(float(np.exp(logs - largest).sum()))


def _alone(pair: Pair, epsilon: float) -> float:
    """H of one pair at ε, roughly."""
    beyond = np.maximum(pair.losses - epsilon, 0.0)
    return float((np.exp(pair.log_masses) * -np.expm1(-beyond)).sum()) + float(pair.only_first)


def _without_rare(pair: Pair, allowed: float) -> Pair:
    """The pair with its largest losses made infinite, of at most the mass allowed.

    A tilt would make them heavy and leave no digits for what is asked about.
    """
    if allowed < _SMALL:
        return pair
    masses = np.exp(pair.log_masses)
    mass = np.cumsum(masses)
    rare = min(int(np.searchsorted(mass, allowed)), len(mass) - 1)
    # Masses below 1e-308 count as nothing in the sum; all together are below what is added.
    moved = Decimal(float(mass[rare - 1]) * (1 + GUARD) + 1e-300) if rare else Decimal(0)
    below = np.cumsum(masses[:rare:-1])
    end = len(masses) - int(np.searchsorted(below, allowed * _LOW))
    losses, logs = pair.losses[rare:end], pair.log_masses[rare:end].copy()
    if end < len(masses):
        # The first law keeps its mass at a larger loss, so the second loses some.
        raised = float(below[len(masses) - end - 1]) + 1e-300
        logs[-1] = np.logaddexp(logs[-1], math.log(raised))
    return Pair(losses, logs, pair.only_first + moved, pair.only_second)


def _heavy(pair: Pair) -> float:
    """A loss that half of the first law's mass has, 0 where there is none."""
    rounded, at = np.unique(np.round(np.abs(pair.losses), 9), return_inverse=True)
    masses = np.bincount(at, np.exp(pair.log_masses))
    largest = int(masses.argmax())
    return float(rounded[largest]) if masses[largest] > _HALF else 0.0


def _sorted(pair: Pair) -> Pair:
    """The pair with its losses falling."""
    order = np.argsort(-pair.losses, kind="stable")
    losses, logs = pair.losses[order], pair.log_masses[order]
    return Pair(losses, logs, pair.only_first, pair.only_second)


@frozen(eq=False)
class _Stretch:
    """A tilted law from the ``first`` multiple of a step on."""

    first: int
    masses: Floats
    noise: float
    """Of the 2-norm of its error, in units of what one transform there and back adds."""

    def trimmed(self) -> _Stretch:
        """Without the ends that have at most a mass which is far below other errors."""
        start = int(np.searchsorted(np.cumsum(self.masses), _CUT))
        end = len(self.masses) - int(np.searchsorted(np.cumsum(self.masses[:start:-1]), _CUT))
        return _Stretch(self.first + start, self.masses[start:end], self.noise + 2 * _CUT / _UNIT)

    def circle(self, points: int) -> tuple[Floats, int]:
        """The law on a circle of points, and which multiple of the step is its point 0."""
        at = np.arange(len(self.masses)) % points
        return np.bincount(at, self.masses, points).astype(np.float64), self.first


def _together(stretches: list[_Stretch]) -> _Stretch:
    """The law of the sum: the two shortest at a time."""
    waiting = [(len(each.masses), at, each) for at, each in enumerate(stretches)]
    heapq.heapify(waiting)
    while len(waiting) > 1:
        _, _, one = heapq.heappop(waiting)
        _, at, other = heapq.heappop(waiting)
        size = len(one.masses) + len(other.masses) - 1
        points = 1 << (size - 1).bit_length()
        spectrum = np.fft.rfft(one.masses, points) * np.fft.rfft(other.masses, points)
        masses = np.maximum(np.fft.irfft(spectrum, points)[:size], 0.0)
        # A law does not lengthen the error of what it is convolved with.
        noise = one.noise + other.noise + _length(one.masses) + _length(other.masses)
        found = _Stretch(one.first + other.first, masses, noise).trimmed()
        heapq.heappush(waiting, (len(found.masses), at, found))
    return waiting[0][2]


@frozen(eq=False)
class _OnGrid:
    """A pair with every atom at the two multiples of a step around it.

    Guarantee: dominates the pair, for the masses of an atom under both laws stay as they are.
    """

    step: float
    at: Integers
    logs: Floats

    @classmethod
    def of(cls, pair: Pair, step: float) -> _OnGrid:
        below = np.floor(pair.losses / step)
        share = np.clip(np.expm1(below * step - pair.losses) / math.expm1(-step), 0.0, 1.0)
        at = below.astype(np.int64)
        with np.errstate(divide="ignore"):
            logs = [pair.log_masses + np.log1p(-share), pair.log_masses + np.log(share)]
        return cls(step, np.concatenate([at, at + 1]), np.concatenate(logs))

    def scale(self, theta: float) -> float:
        """K(θ)."""
        return _log_sum(self.logs + theta * self.step * self.at)

    def stretch(self, theta: float, scale: float) -> _Stretch:
        """The tilted law where it has mass; ``scale`` is K(θ)."""
        weights = np.exp(self.logs + theta * self.step * self.at - scale)
        first = int(self.at.min())
        masses = np.bincount(self.at - first, weights).astype(np.float64)
        return _Stretch(first, masses, 0.0).trimmed()

    def circle(self, theta: float, scale: float, points: int) -> tuple[Floats, int]:
        """The tilted law on a circle of points, and which multiple of the step is its point 0.

        ``scale`` is K(θ).
        """
        weights = np.exp(self.logs + theta * self.step * self.at - scale)
        centre = round(float((weights * self.at).sum()))
        masses = np.bincount((self.at - centre) % points, weights, points)
        return masses.astype(np.float64), centre


def _at_least_once(masses: Iterable[tuple[Decimal, int]]) -> Decimal:
    """1 − Π(1 − m)^N, from above."""
    counted = [(mass, count) for mass, count in masses if mass]
    if any(mass >= 1 for mass, _ in counted):
        return Decimal(1)
    with arithmetic(Decimal(1), room=40):
        total = sum((count * mass for mass, count in counted), Decimal(0))
        if total < Decimal("1e-20"):
            return total  # by less than a 1e-20 share above
        none = sum((count * (1 - mass).ln() for mass, count in counted), Decimal(0))
        return min(Decimal(1), (1 - none.exp()) * (1 + Decimal("1e-60")))

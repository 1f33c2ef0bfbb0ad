"""[TABLE], [PLACE] Which noise table to take: trusted by nobody.

What a table costs is computed from its integers (``noise``), whoever made it; here the parameters
of its law are looked for. So floats will do.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from decimal import ROUND_FLOOR, Context, Decimal
from functools import lru_cache

from policy_engine.accounting.bisection import least_integer
from policy_engine.accounting.calibration import best_pair, greatest_rate
from policy_engine.accounting.certified import EpsilonDelta
from policy_engine.accounting.domain import (
    ADD_REMOVE,
    REPLACE_ONE,
    count,
    neighbour_notion,
    nonnegative_epsilon,
    probability,
)
from policy_engine.accounting.noise import (
    MOST_ENTRIES,
    WHOLE,
    IntegerTable,
    Priced,
    ReleaseCurve,
    Statistic,
    by_ratio,
)
from policy_engine.accounting.noise_laws import (
    deviation,
    gaussian,
    laplace,
    place,
    shown_half,
    tilted,
)
from policy_engine.accounting.powers import Step, compose
from policy_engine.errors import DomainError
from policy_engine.values import frozen

LAWS = ("truncated_laplace", "discrete_gaussian", "negative_binomial")
_SHARES = tuple(share / 40 for share in range(0, 40, 3))
"""Of δ, for what the law would cost without its ends."""
_TRIED = 3
_TILTED = 32
"""From this B on, or where a unit moves more numbers, a person less is not worth the rest of δ."""
_MOST_PLACES = 10
"""In more groups of a person it takes minutes to find one."""
_QUICK = 4
"""The product of so many numbers is seen to meet an aim or not in no time."""
_SURELY = 1.002
"""A δ that is expected to be above the asked one by more than this is: floats err by less."""
_FEW_POINTS = 1 << 10
_COARSE = (_FEW_POINTS, 1 << 12)
"""Points of the grids that are tried before a product is composed as it will be priced."""
_CLEARLY = Decimal("1.01")
"""A δ on so few points that is above the asked one by more than this is refused: it errs by about
that, always upwards."""
_FLAT = 300.0
"""An ε above it is guessed for as it: e to it is still a float."""

_NEARLY = Decimal("1.02")
"""A δ of few steps that is above the asked one by more than this is refused."""

Factors = list[tuple[tuple[Step, ...], int]]
"""Pairs, each so many times."""
Guess = tuple[int, float, Decimal]
"""B, the share that led to it, and the law's parameter."""

WaysOf = Callable[[Priced, str], Sequence[Sequence[Step]]]


def _whole(number: Priced, neighbours: str) -> Sequence[Sequence[Step]]:
    return number.ways(neighbours)


def _shortened(number: Priced, neighbours: str) -> Sequence[Sequence[Step]]:
    """The ways of a number, of few steps."""
    if not isinstance(number, Statistic):
        return number.ways(neighbours)
    falling = _few_steps(number)
    turned = tuple((q, p) for p, q in reversed(falling))
    return [falling, turned] if neighbours == REPLACE_ONE else [falling]


@lru_cache(maxsize=64)  # a search asks for the same numbers beside each of what it tries
def _few_steps(number: Statistic) -> tuple[Step, ...]:
    """The pair of a number where a unit moves it farthest, steps of nearly one ratio added up.

    What is added up tells less, by next to nothing.
    """
    if number.shift == 1:
        steps = number.steps()
    else:
        masses, nothing = number.table.masses, (0,) * number.shift
        steps = [*zip((*nothing, *masses), (*masses, *nothing), strict=True)]
    both = [step for step in steps if all(step)]
    size = max(1, -(-len(both) // _FEW_POINTS))
    parts = (both[at : at + size] for at in range(0, len(both), size))
    added = [(sum(p for p, _ in part), sum(q for _, q in part)) for part in parts]
    alone = (sum(p for p, q in steps if not q), 0), (0, sum(q for p, q in steps if not p))
    return tuple(by_ratio([*added, *alone]))


@frozen
class Aim(EpsilonDelta):
    """(ε, δ) over so many releases, and what one unit moves in each, as of ``Statistic``.

    ``at_least``: a group that is shown has so many people for certain. ``listed``: the groups are
    public and all shown, so that the least noise is wanted.
    """

    neighbours: str = ADD_REMOVE
    groups: int = 1
    releases: int = 1
    shift: int = 1
    at_least: int = 1
    listed: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", nonnegative_epsilon(self.epsilon))
        object.__setattr__(self, "delta", probability(self.delta))
        neighbour_notion(self.neighbours)
        for name in ("groups", "releases", "shift", "at_least"):
            count(name, getattr(self, name))

    @property
    def times(self) -> int:
        """How many numbers one unit moves."""
        return self.groups * self.releases * (1 + (self.neighbours == REPLACE_ONE))

    def met(self, table: IntegerTable) -> bool:
        """Whether releases of a number with this noise meet it.

        >>> Aim(Decimal(1), Decimal("1e-6")).met(laplace(1, 13))
        False
        """
        return self.met_by([Statistic(table, self.shift, self.groups * self.releases)])

    def met_by(self, numbers: Sequence[Priced]) -> bool:
        """Whether a release of these numbers meets it; one that is far from it is not composed.

        >>> asked = Aim(Decimal(1), Decimal("1e-6"), releases=5)
        >>> [asked.met_by([Statistic(laplace(step, 80), groups=5)]) for step in ("0.2", "0.3")]
        [True, False]
        """
        if self.times > _QUICK:
            ways = self._ways(numbers)
            for points in _COARSE:
                found = [compose(way, WHOLE, points).delta(self.epsilon) for way in ways]
                if max(found) > _CLEARLY * self.delta:
                    return False
                # δ on few points is a bound as well, and nearly the same.
                ways = [way for way, delta in zip(ways, found, strict=True) if delta > self.delta]
                if not ways:
                    return True
        return ReleaseCurve.of(numbers, self.neighbours).delta(self.epsilon).delta <= self.delta

    def hopes(self, numbers: Sequence[Priced]) -> bool:
        """Whether a release of these numbers seems to meet it, or nearly: of long tables by few
        steps of each.

        Whoever takes them sees whether it does; what seems far from it is not met.

        >>> asked = Aim(Decimal(1), Decimal("1e-6"), releases=5)
        >>> [asked.hopes([Statistic(laplace(step, 80), groups=5)]) for step in ("0.2", "0.3")]
        [True, False]
        """
        drawn = [each.table for each in numbers if isinstance(each, Statistic)]
        if all(len(table.entries) <= _FEW_POINTS for table in drawn):
            return self.met_by(numbers)
        ways = self._ways(numbers, _shortened)
        found = (compose(way, WHOLE, _FEW_POINTS).delta(self.epsilon) for way in ways)
        return max(found) <= _NEARLY * self.delta

    def _ways(self, numbers: Sequence[Priced], ways_of: WaysOf = _whole) -> list[Factors]:
        """The pairs of a release of these numbers, in each direction that differs."""
        times: Counter[tuple[Step, ...]] = Counter()
        for each in numbers:
            for way in ways_of(each, self.neighbours):
                times[tuple(way)] += each.groups
        pairs = [*times.items()]
        turned = [(tuple([(q, p) for p, q in reversed(way)]), n) for way, n in pairs]
        # By replace_one a pair and its turned one stand in the list together.
        both = self.neighbours != REPLACE_ONE and turned != pairs
        return [pairs, turned] if both else [pairs]


@lru_cache(maxsize=32)  # `auto` asks for tables that a comparison asks for as well
def calibrated(law: str, aim: Aim) -> IntegerTable:
    """The table of a law that meets an aim and shows the smallest groups half the time.

    Guarantee: it was seen to meet the aim. Errors: DomainError; also where none does.

    >>> once = Aim(Decimal(1), Decimal("1e-6"))
    >>> [shown_half(calibrated(law, once)) for law in LAWS]
    [14, 23, 54]
    """
    if law not in LAWS:
        raise DomainError("law", f"one of {', '.join(LAWS)}", repr(law))
    if aim.delta * WHOLE < 2 * aim.times:
        raise DomainError(
            "delta", f"at least {aim.times * 2.0**-59:.2g}, as a table has 60 bits", aim.delta
        )
    if law == "negative_binomial":
        return _best_place(aim)
    for bound, scale in _tries(law, aim):
        if _is_too_dear(law, aim, bound, scale):
            continue
        with suppress(DomainError):
            table = _LAWS[law](scale, bound)
            if aim.met(table):
                return table
        if law == LAWS[0] and aim.times == 1 and bound < _TILTED and not aim.listed:
            with suppress(DomainError):
                table = tilted(scale, bound, aim.delta)
                if aim.met(table):
                    return table
    if law == LAWS[0]:
        # The limit of the law for a small ε: each value is as likely, and the ends alone tell.
        least = math.ceil((aim.times * aim.shift / aim.delta - 1) / 2)
        for bound in (least, least + 1):
            with suppress(DomainError):
                table = laplace(0, bound)
                if aim.met(table):
                    return table
    raise DomainError("delta", "met by a table of this law, of those that are tried", aim.delta)


def _tries(law: str, aim: Aim) -> Iterator[tuple[int, Decimal]]:
    """B and the law's parameter: the smallest B first, or of a list of groups the least noise."""
    guesses = _guesses(law, aim)
    quiet = sorted(guesses, key=lambda guess: guess[2], reverse=law == LAWS[0])
    for tried in [[each] for each in quiet] if aim.listed else [guesses[:_TRIED]]:
        first = max(1, tried[0][0] - 1)
        # A guess is nearly right; a δ next to 2⁻⁶⁰ of each number is out of reach.
        for bound in range(first, first + 10 + first // 4, max(1, first // 500)):
            yield from ((bound, scale) for _, _, scale in tried)


def guessed(law: str, aim: Aim, wider: int = 0) -> IntegerTable:
    """A table of a law that nearly meets an aim, ``wider`` by so many hundredths, or steps.

    Whoever takes it sees whether it does. Errors: DomainError.

    >>> len(guessed("truncated_laplace", Aim(Decimal(1), Decimal("1e-6"))).entries)
    28
    """
    bound, _, scale = _guesses(law, aim)[0]
    return _LAWS[law](scale, bound + wider * (1 + bound // 100))


def _is_too_dear(law: str, aim: Aim, bound: int, scale: Decimal) -> bool:
    """Whether a table is nearly certain not to meet the aim: it is not composed to see that."""
    if aim.times <= _QUICK or (law == LAWS[0] and aim.shift > 1):
        return False
    expected = _laplace_costs if law == LAWS[0] else _gaussian_costs
    return expected(aim, float(scale), bound) > _SURELY * float(aim.delta)


def _laplace_costs(aim: Aim, one: float, bound: int) -> float:
    """About the δ of the composition, where a unit moves each number by one step."""
    ends = _at_least_once(math.tanh(one / 2) * math.exp(-one * bound), aim.times)
    return ends + (1 - ends) * _two_atoms(aim.times, one, float(aim.epsilon))


def _gaussian_costs(aim: Aim, sigma: float, bound: int) -> float:
    """About the δ of the composition: losses grow with the sum of the noise, a Gaussian one.

    What the ends give away is not counted twice: of a large sum some number is near its end.
    """
    times, shift, epsilon = aim.times, aim.shift, float(aim.epsilon)
    deviation, own = sigma * math.sqrt(times), sigma * math.sqrt(1 - 1 / times)
    start = math.floor((2 * sigma * sigma * epsilon - times * shift * shift) / (2 * shift)) + 1
    every, total = max(1, int(deviation / 100)), 0.0
    for noise in range(start, start + int(10 * deviation) + 1, every):
        loss = (2 * shift * noise + times * shift * shift) / (2 * sigma * sigma)
        ended = times * _above((bound - shift + 0.5 - noise / times) / own)
        chance = math.exp(-noise * noise / (2 * deviation * deviation) - ended)
        total -= chance * math.expm1(min(0.0, epsilon - loss))
    ends = sum(math.exp(-((bound - i) ** 2) / (2 * sigma * sigma)) for i in range(shift))
    ends /= sigma * math.sqrt(2 * math.pi)
    return _at_least_once(ends, times) + total * every / (deviation * math.sqrt(2 * math.pi))


def _at_least_once(chance: float, times: int) -> float:
    return -math.expm1(times * math.log1p(-min(chance, 0.5)))


@lru_cache(maxsize=8)
def _guesses(law: str, aim: Aim) -> list[Guess]:
    """The most promising first."""
    if not aim.epsilon:
        raise DomainError("epsilon", "above 0", aim.epsilon)
    guess = _laplace_for if law == "truncated_laplace" else _gaussian_for
    return sorted(guess(aim, share) for share in _SHARES)


def auto(aim: Aim) -> tuple[str, IntegerTable]:
    """The law, and its table, that shows the smallest groups half the time; then the least noise.

    Where all are shown, the least noise. Nothing but public numbers is looked at. No place is among
    them: it shows smaller groups where a unit moves about 20 numbers or more, at a larger error,
    and takes long to find. Errors: DomainError where no law meets the aim.

    >>> law, table = auto(Aim(Decimal(1), Decimal("1e-6")))
    >>> law, shown_half(table)
    ('truncated_laplace', 14)
    """
    best, refused = None, DomainError("law", "one that is tried", "none")
    for hoped, law in sorted((_hoped(law, aim), law) for law in LAWS[:2]):
        if best is not None and best[0] < hoped:
            break
        try:
            table = calibrated(law, aim)
        except DomainError as error:
            refused = error
            continue
        quality = _quality(table, aim)
        if best is None or (quality, law) < best[:2]:
            best = quality, law, table
    if best is None:
        raise refused
    return best[1:]


def _quality(table: IntegerTable, aim: Aim) -> tuple[int, float]:
    """What tables are compared by: the smaller, the better."""
    return 0 if aim.listed else shown_half(table, aim.at_least), deviation(table)


def _hoped(law: str, aim: Aim) -> tuple[int, float]:
    """The quality of the first table that may meet the aim: later ones have more noise."""
    if aim.times > _QUICK:
        with suppress(DomainError):
            likely = (
                _quality(_LAWS[law](scale, bound), aim)
                for bound, scale in _tries(law, aim)
                if not _is_too_dear(law, aim, bound, scale)
            )
            return next(likely, (0, 0.0))
    return 0, 0.0


def _laplace_for(aim: Aim, share: float) -> Guess:
    """B and ε a step, if the ends may cost what the share leaves of δ."""
    epsilon, delta = min(float(aim.epsilon), _FLAT), float(aim.delta)
    one = _largest(lambda one: _two_atoms(aim.times, one, epsilon) <= share * delta, epsilon)
    step = max(one, epsilon / aim.times) / aim.shift
    ends = aim.times * math.expm1(step * aim.shift) / (math.exp(step) + 1)
    bound = math.log(ends / ((1 - share) * delta)) / step
    scale = (
        aim.epsilon / aim.times / aim.shift
        if one * aim.times <= epsilon
        else Decimal(f"{step:.9g}")
    )
    return max(1, math.ceil(bound)), share, scale


def _two_atoms(times: int, one: float, epsilon: float) -> float:
    """δ at ε of so many (one, 0)-DP mechanisms (Kairouz, Oh, Viswanath 2015)."""
    total, low = 0.0, 0
    while (times - 2 * low) * one > epsilon:
        ways = math.lgamma(times + 1) - math.lgamma(low + 1) - math.lgamma(times - low + 1)
        ways += (times - low) * one - times * math.log1p(math.exp(one))
        total += math.exp(ways) * -math.expm1(epsilon - (times - 2 * low) * one)
        low += 1
    return total


def _gaussian_for(aim: Aim, share: float) -> Guess:
    """B and σ, if the ends may cost what the share leaves of δ."""
    epsilon, delta = min(float(aim.epsilon), _FLAT), float(aim.delta)

    def cost(mu: float) -> float:
        upper, lower = epsilon / mu - mu / 2, epsilon / mu + mu / 2
        return _above(upper) - math.exp(epsilon) * _above(lower)

    far = _largest(lambda mu: cost(mu) <= max(share, 1 / 80) * delta, 100.0)
    sigma = aim.shift * math.sqrt(aim.times) / far
    left = (1 - share) * delta / aim.times

    def rare(bound: float) -> bool:
        ends = (math.exp(-((bound - i) ** 2) / (2 * sigma * sigma)) for i in range(aim.shift))
        return sum(ends) / (sigma * math.sqrt(2 * math.pi)) <= left

    bound = least_integer(aim.shift - 1, MOST_ENTRIES, rare)
    return max(1, bound), share, Decimal(f"{sigma:.6g}")


def _above(x: float) -> float:
    return math.erfc(x / math.sqrt(2)) / 2


def _largest(holds: Callable[[float], bool], most: float) -> float:
    """The largest number up to a most, roughly, for a condition that holds below it; above 0."""
    low, high = 0.0, most
    for _ in range(60):
        middle = (low + high) / 2
        if holds(middle):
            low = middle
        else:
            high = middle
    return max(low, most * 2.0**-60)


def pair(aim: Aim) -> tuple[int, Decimal]:
    """k and the rate of a sample that meets an aim for counts, with the least k/rate.

    k is no smaller than the aim's ``at_least``. Guarantee and errors as ``calibration``.

    >>> pair(Aim(Decimal(1), Decimal("1e-6"), at_least=20))
    (20, Decimal('0.350029221681'))
    """
    asked, releases = (aim.epsilon, aim.delta), aim.groups * aim.releases
    k, rate = best_pair(*asked, aim.neighbours, releases)
    if k < aim.at_least:
        k, rate = aim.at_least, greatest_rate(*asked, aim.at_least, aim.neighbours, releases)
    return k, rate


def _best_place(aim: Aim) -> IntegerTable:
    """That of the best pair, at a rate that is a little smaller."""
    if aim.shift > 1:
        raise DomainError("shift", "1 for a place, which counts", aim.shift)
    if aim.listed:
        raise DomainError(
            "law", "one without a threshold where all keys are shown", "negative_binomial"
        )
    if aim.groups > _MOST_PLACES:
        law = f"at most {_MOST_PLACES} for negative_binomial"
        raise DomainError("the numbers that one person is in", law, aim.groups)
    k, rate = pair(aim)
    shorter = Context(prec=6, rounding=ROUND_FLOOR)
    rate = shorter.plus(rate)
    for attempt in range(4 * _TRIED):
        if aim.met(table := place(k, rate)):
            return table
        lower = shorter.multiply(rate, Decimal("0.97"))
        rate = shorter.next_minus(rate) if attempt < _TRIED else lower
    raise DomainError("delta", "larger for a place, whose table has 60 bits", aim.delta)


_LAWS: dict[str, Callable[[Decimal, int], IntegerTable]] = {
    "truncated_laplace": laplace,
    "discrete_gaussian": gaussian,
}

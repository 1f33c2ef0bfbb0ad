"""[PLAN] What one edition of a policy is, but for how strong its noise is: trusted by nobody.

A shape makes an event of a *weight*: about twice the larger of both directions' KL(P‖Q) of its
pair, which adds up over events and is μ² of a Gaussian. Beside it stand the *ends*: the chance,
about, that a threshold gives a unit away. Both are for the search alone, so floats will do: what an
event costs is computed from its integers (``plans``), whoever made it.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from dataclasses import field
from decimal import ROUND_FLOOR, Context, Decimal
from typing import Protocol

from policy_engine.accounting.arrays import np
from policy_engine.accounting.bisection import least_integer
from policy_engine.accounting.choice import Choice
from policy_engine.accounting.domain import REPLACE_ONE, arithmetic, count
from policy_engine.accounting.events import (
    Event,
    PureDP,
    RandomisedResponse,
    SampledSuppression,
    TableNoise,
)
from policy_engine.accounting.finite import presence, response
from policy_engine.accounting.noise import MOST_ENTRIES, WHOLE, Direction, IntegerTable, Statistic
from policy_engine.accounting.noise_laws import deviation, gaussian, laplace, place, shown_half
from policy_engine.accounting.pure_shares import epsilon_of, least_share
from policy_engine.accounting.tables import Aim, auto, calibrated
from policy_engine.errors import DomainError
from policy_engine.values import frozen

LAPLACE, GAUSSIAN, PLACE = "truncated_laplace", "discrete_gaussian", "negative_binomial"
_LEAST_END = 2.0**-58
_FEW_ENDS = 0.01
"""What shows no group has ends as well, and they cost as good as nothing."""
_RARELY = 0.003
"""Of the ends, that all k of a group are sampled: losses next to that are large as well."""
_MOST_K = 2000
_SHORT = Context(prec=6, rounding=ROUND_FLOOR)


@frozen
class Solved:
    """An event, with what it does not say itself.

    ``law`` is that of its noise. ``each`` is the ε that one draw may cost, where answers or tuples
    are left to chance: the least chance that costs no more follows from it (``finite``).
    """

    event: Event
    law: str
    each: Decimal | None = None


def shape_digest(shape: Shape) -> str:
    """SHA-256 of a shape, in hex: two of one digest have the same numbers but for their strength.

    >>> shape_digest(NoisyShape()) == shape_digest(NoisyShape(at_least=2))
    False
    """
    return hashlib.sha256(repr(shape).encode()).hexdigest()


class Shape(Protocol):
    """What one edition of a policy is, but for its strength."""

    @property
    def laws(self) -> tuple[str, ...]:
        """The laws of noise that it may have, the first for few numbers; one where it has none."""

    @property
    def has_threshold(self) -> bool:
        """Whether groups are shown by what is noised, so that ends cost something."""

    def moved(self, neighbours: str) -> int:
        """How many numbers, or answers, one unit moves."""

    def solved(
        self, law: str, weight: float, ends: float, neighbours: str, *, rough: bool = False
    ) -> Solved:
        """The event of about this weight, and about these ends. Errors: DomainError.

        ``rough``: one of about that price instead, if that is quicker to have.
        """

    def quality(self, solved: Solved) -> tuple[float, float]:
        """From how many people on a group is shown half the time, or 0; and the error."""

    def alone(self, epsilon: Decimal, delta: Decimal, neighbours: str) -> Solved | None:
        """The best that is known of one edition alone, at (ε, δ); None where that is no other."""


@frozen
class Noised:
    """A number with noise from a table: as ``noise.Statistic``, but for the table.

    ``share`` is the part of the event's weight that it gets, in proportion to others. ``shows``:
    groups are shown by it, so that its threshold counts.
    """

    shift: int = 1
    groups: int = 1
    moves: Direction = "up"
    share: Decimal = Decimal(1)
    shows: bool = True

    def __post_init__(self) -> None:
        count("shift", self.shift)
        count("groups", self.groups)
        if not 0 < self.share <= 10**6:
            raise DomainError("share", "a number above 0, of at most 1000000", self.share)


@frozen
class ChoiceShape:
    """One private choice of so many candidates, in each of some groups; ``share`` as of Noised."""

    candidates: int
    groups: int = 1
    share: Decimal = Decimal(1)

    def solved(self, weight: float, neighbours: str) -> Choice:
        """That of about this weight in each group of a unit.

        >>> ChoiceShape(61).solved(0.25, "add_remove").epsilon
        Decimal('0.505268')
        """
        ways = _ways(neighbours)  # a unit that is replaced meets one pair of twice the ε
        return Choice(_shorter(_pure_epsilon(weight) / ways), self.candidates, self.groups)


@frozen
class NoisyShape:
    """Noisy counts, with sums and choices beside them: one event of all its numbers.

    ``law`` is None where the planner takes the one that shows the smallest groups. ``at_least`` as
    of ``tables.Aim``. Of a place there is one number, which is a count.

    >>> shape = NoisyShape((Noised(), Noised(shift=10, shows=False)))
    >>> event = shape.solved("discrete_gaussian", 0.01, 1e-8, "add_remove").event
    >>> [round(deviation(each.table), 1) for each in event.statistics]
    [14.1, 141.4]
    """

    numbers: tuple[Noised, ...] = (Noised(),)
    law: str | None = None
    at_least: int = 1
    choices: tuple[ChoiceShape, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "numbers", tuple(self.numbers))
        object.__setattr__(self, "choices", tuple(self.choices))
        count("at_least", self.at_least)
        if not self.numbers:
            raise DomainError("numbers", "at least one", "none")
        if self.law not in (None, *_TABLES, PLACE):
            raise DomainError("law", f"one of {', '.join((*_TABLES, PLACE))}", repr(self.law))
        if self.law == PLACE and (len(self.numbers) > 1 or self.numbers[0].shift > 1):
            raise DomainError("numbers", f"one count, for {PLACE}", len(self.numbers))

    @property
    def laws(self) -> tuple[str, ...]:
        """Those that show the smallest groups of few numbers, and of many."""
        return (LAPLACE, GAUSSIAN) if self.law is None else (self.law,)

    @property
    def has_threshold(self) -> bool:
        """Whether some number shows groups."""
        return any(number.shows for number in self.numbers)

    def moved(self, neighbours: str) -> int:
        """Each number of each group, twice where a unit is replaced."""
        return _ways(neighbours) * sum(each.groups for each in self._every)

    @property
    def _every(self) -> tuple[Noised | ChoiceShape, ...]:
        return (*self.numbers, *self.choices)

    def solved(
        self, law: str, weight: float, ends: float, neighbours: str, *, rough: bool = False
    ) -> Solved:
        """Tables of which each has its part of the weight, and of the ends."""
        whole = sum(float(each.share) * each.groups for each in self._every)
        times = _ways(neighbours) * sum(number.groups for number in self.numbers if number.shows)
        statistics = []
        for number in self.numbers:
            part = weight * float(number.share) / (whole * _ways(neighbours))
            end = ends / times if number.shows else _FEW_ENDS * ends / self.moved(neighbours)
            # A number that is moved by one step says as much at the same weight, and its pair is
            # had at once.
            shift = 1 if rough and not number.shows else number.shift
            table = _table(law, part, shift, end, self.at_least)
            statistics.append(Statistic(table, shift, number.groups, number.moves))
        chosen = (each.solved(weight * float(each.share) / whole, neighbours)
                  for each in self.choices)  # fmt: skip
        return Solved(TableNoise(tuple(statistics), tuple(chosen)), law)

    def quality(self, solved: Solved) -> tuple[float, float]:
        """Of the first number that shows groups; its error is a standard deviation."""
        assert isinstance(solved.event, TableNoise)
        numbers = zip(self.numbers, solved.event.statistics, strict=True)
        shown = [each for each in numbers if each[0].shows]
        if not shown:
            return 0, deviation(solved.event.statistics[0].table)
        table = shown[0][1].table
        return shown_half(table, self.at_least), deviation(table)

    def alone(self, epsilon: Decimal, delta: Decimal, neighbours: str) -> Solved | None:
        """Of one number."""
        if self.moved(neighbours) > 1 or not delta:
            return None
        [number] = self.numbers
        aim = Aim(
            epsilon,
            delta,
            shift=number.shift,
            at_least=self.at_least,
            listed=not number.shows,
        )
        found = auto(aim) if self.law is None else (self.law, calibrated(self.law, aim))
        law, table = found
        return Solved(TableNoise((Statistic(table, number.shift, 1, number.moves),)), law)


class _NotAlone:
    """Of which nothing better is known of one edition alone."""

    def alone(self, epsilon: Decimal, delta: Decimal, neighbours: str) -> Solved | None:
        """None: it is what the search finds."""
        return None


@frozen
class SampledShape(_NotAlone):
    """Sampled suppression, with ``k`` or ``rate`` where the policy says one of them.

    >>> SampledShape().solved("sample", 0.01, 1e-8, "add_remove").event
    SampledSuppression(k=24, rate=Decimal('0.364373'))
    """

    k: int | None = None
    rate: Decimal | None = None
    laws: tuple[str, ...] = field(default=("sample",), init=False)
    has_threshold: bool = field(default=True, init=False)

    def __post_init__(self) -> None:
        if self.k is not None and self.rate is not None:
            raise DomainError("rate", "open where k is given: one of them follows", self.rate)

    def moved(self, neighbours: str) -> int:
        """One group; two where a unit is replaced."""
        return _ways(neighbours)

    def solved(
        self, law: str, weight: float, ends: float, neighbours: str, *, rough: bool = False
    ) -> Solved:
        """The k and the rate that show the smallest groups."""
        ways = _ways(neighbours)
        k, rate = _sample(weight / ways, ends / ways, self.k, self.rate)
        return Solved(SampledSuppression(k, rate), law)

    def quality(self, solved: Solved) -> tuple[float, float]:
        """k over the rate; the error of a count at that size."""
        event = solved.event
        assert isinstance(event, SampledSuppression)
        half = event.k / float(Decimal(str(event.rate)))
        return half, math.sqrt(half * max(0.0, half / event.k - 1))


@frozen
class ResponseShape(_NotAlone):
    """Randomised response of columns with so many public values each; for replace_one alone.

    >>> shape = ResponseShape((2,))
    >>> shape.solved("response", 0.2, 1e-8, "replace_one").event.values
    2
    """

    values: tuple[int, ...]
    laws: tuple[str, ...] = field(default=("response",), init=False)
    has_threshold: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", tuple(self.values))
        if not self.values:
            raise DomainError("values", "of at least one column", "none")

    def moved(self, neighbours: str) -> int:
        """One answer: of several columns nothing but their ε is charged."""
        if neighbours != REPLACE_ONE:
            raise DomainError("neighbours", f"{REPLACE_ONE} for randomised response", neighbours)
        return 1

    def solved(
        self, law: str, weight: float, ends: float, neighbours: str, *, rough: bool = False
    ) -> Solved:
        """As much for each column."""
        if len(self.values) == 1:
            [many] = self.values
            each = _shorter(_greatest(lambda e: _response_weighs(e, many) <= weight))
            with arithmetic(Decimal(1)):
                truth = 1 - Decimal(many * _share(many, each)) / WHOLE
            return Solved(RandomisedResponse(truth, many), law, each)
        each = _shorter(_pure_epsilon(weight) / len(self.values))
        met = epsilon_of([response(many, _share(many, each)) for many in self.values])
        assert met is not None  # a share gives no answer away
        return Solved(PureDP(met), law, each)

    def quality(self, solved: Solved) -> tuple[float, float]:
        """The share of answers that are given by chance, of the first column."""
        assert solved.each is not None
        return 0, self.values[0] * _share(self.values[0], solved.each) / WHOLE


@frozen
class InsertionShape(_NotAlone):
    """αβ insertion: a tuple that is there is shown, and one that is not is inserted, by chance.

    >>> InsertionShape().solved("insertion", 0.2, 1e-8, "add_remove").event
    PureDP(epsilon=Decimal('0.450975000000'))
    """

    laws: tuple[str, ...] = field(default=("insertion",), init=False)
    has_threshold: bool = field(default=False, init=False)

    def moved(self, neighbours: str) -> int:
        """One tuple; where a unit is replaced, two."""
        return _ways(neighbours)

    def solved(
        self, law: str, weight: float, ends: float, neighbours: str, *, rough: bool = False
    ) -> Solved:
        """As likely to be inserted as to be left out."""
        each = _shorter(_pure_epsilon(weight) / _ways(neighbours))
        share = _share(2, each)
        factors = [presence(WHOLE - share, share)] * _ways(neighbours)
        met = epsilon_of(factors)
        assert met is not None  # a tuple is never told for certain
        return Solved(PureDP(met), law, each)

    def quality(self, solved: Solved) -> tuple[float, float]:
        """The chance that what is not there is inserted."""
        assert solved.each is not None
        return 0, _share(2, solved.each) / WHOLE


def _ways(neighbours: str) -> int:
    return 2 if neighbours == REPLACE_ONE else 1


def _table(law: str, weight: float, shift: int, end: float, at_least: int) -> IntegerTable:
    if end < _LEAST_END:
        raise DomainError("delta", "larger for a threshold, as a table has 60 bits", end)
    if law == PLACE:
        return place(*_sample(weight, end, None, None, at_least))
    return _TABLES[law](weight, shift, end)


def _gaussian_of(weight: float, shift: int, end: float) -> IntegerTable:
    sigma = shift / math.sqrt(weight)

    def is_rare(bound: int) -> bool:
        ends = (math.exp(-((bound - i) ** 2) / (2 * sigma * sigma)) for i in range(shift))
        return sum(ends) / (sigma * math.sqrt(2 * math.pi)) <= end

    bound = least_integer(shift - 1, MOST_ENTRIES, is_rare)
    return gaussian(f"{sigma:.6g}", max(1, bound))


def _laplace_of(weight: float, shift: int, end: float) -> IntegerTable:
    # KL(P‖Q) of Laplace noise is ε − 1 + e^−ε, where a unit moves the number by ε scales.
    whole = _greatest(lambda e: 2 * (e + math.expm1(-e)) <= weight)
    each = whole / shift
    ends = -math.expm1(-whole) / (1 + math.exp(-each))
    bound = shift - 1 + math.ceil(math.log(max(1.0, ends / end)) / each)
    return laplace(f"{each:.6g}", max(1, bound))


_TABLES: dict[str, Callable[[float, int, float], IntegerTable]] = {
    LAPLACE: _laplace_of,
    GAUSSIAN: _gaussian_of,
}


def _sample(
    weight: float, end: float, k: int | None, rate: Decimal | None, at_least: int = 2
) -> tuple[int, Decimal]:
    """The k and the rate with the least k/rate: μ² is rate²/(k·(1 − rate)), ends are rate^k."""
    if rate is not None:
        beta = float(rate)
        return max(2, math.ceil(beta * beta / ((1 - beta) * weight))), rate
    least = max(2, at_least) if k is None else k
    most = max(least + 1, _MOST_K) if k is None else k + 1
    tried = np.arange(least, most, dtype=np.float64)
    rates = (np.sqrt((tried * weight) ** 2 + 4 * tried * weight) - tried * weight) / 2
    if k is None:
        rates = np.minimum(rates, np.exp(math.log(_RARELY * end) / tried))
    best = int(np.argmin(tried / rates))
    # Shorter, and below 1 as the float is.
    return int(tried[best]), _SHORT.create_decimal_from_float(min(float(rates[best]), 0.999999))


def _response_weighs(epsilon: float, values: int) -> float:
    own = 1 / (1 + (values - 1) * math.exp(-epsilon))
    return 2 * epsilon * own * -math.expm1(-epsilon)


def _pure_epsilon(weight: float) -> float:
    """The ε whose pair has the weight: two atoms at ±ε."""
    return _greatest(lambda e: 2 * e * math.tanh(e / 2) <= weight)


def _shorter(epsilon: float) -> Decimal:
    """In so few digits that the last bit of a float, which machines differ in, is in none."""
    return Decimal(f"{epsilon:.6g}")


def _share(values: int, epsilon: Decimal) -> int:
    share = least_share(values, epsilon)
    if share is None:
        raise DomainError("epsilon", f"larger for {values} values", epsilon)
    return share


def _greatest(holds: Callable[[float], bool]) -> float:
    """The greatest number up to 50, roughly, for a condition that holds below it."""
    low, high = 0.0, 50.0
    for _ in range(60):
        middle = (low + high) / 2
        if holds(middle):
            low = middle
        else:
            high = middle
    return max(low, 1e-12)

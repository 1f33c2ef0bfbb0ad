"""[PLAN] The scales of a list of releases that was planned: so strong that it fills a window.

A window has a limit (ε, δ), and a plan says beforehand which editions of which policies it is for.
Their events are made so strong that the *tight* composition of the whole list is within
(1 − rest)·(ε, δ); what is not planned runs under the filter (``adaptive``) with rest·(ε, δ).

*Sound.* Each slot's output is a function of one draw of its pair, which was fixed before the
window's first draw, and of the transcript; all slots are the same way round. Draw all of them at
first, reveal them in any order and stop at any time: that is post-processing of their product.
Given those draws, the rest is a filter for every adversary, so both sums hold, interleaved or not.
What is drawn twice, or instead of a slot by a pair that the slot does not cover (``covering``), is
the rest's; so is what was charged before the plan was recorded.

*The search.* Each policy gets its share of a total weight (``shapes``), each of its editions as
much of that; the ends of thresholds get a part of δ, as much for each policy that has one: the
logarithm of a group that is half shown falls about as slowly with each, so this makes the product
of those sizes least. One bisection over the total, for some parts of δ. *The price* of what is
found is that of its integers: thresholds and rounding are not monotone in the scale, so nothing is
handed out that was not itself seen to be within the limit.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from decimal import ROUND_CEILING, Context, Decimal
from functools import lru_cache
from itertools import product

from policy_engine.accounting.adaptive import CHAIN, holds_chain, plan_for
from policy_engine.accounting.certified import CertifiedEvent, EpsilonDelta
from policy_engine.accounting.composition import MOST_EVENTS, Basic, Charges, Question, Tight
from policy_engine.accounting.domain import (
    EXACT,
    Number,
    count,
    decimal,
    neighbour_notion,
    nonnegative_epsilon,
)
from policy_engine.accounting.events import Event, FixedList, SampledSuppression, TableNoise
from policy_engine.accounting.exact import delta_of_event, epsilon_of_event, has_curve
from policy_engine.accounting.shapes import GAUSSIAN, LAPLACE, Shape, Solved, shape_digest
from policy_engine.errors import DomainError
from policy_engine.values import frozen

_PARTS = (0.25, 0.5, 0.75)
"""Of δ, for the ends of thresholds: how large a group is hardly changes between them."""
_FEWEST, _NEARLY_ALL = 0.02, 0.97
"""Where no group is suppressed; and of few numbers with Laplace noise, which is pure but for it."""
_ROUGH, _FINE = 1.02, 1.002
_STEP = 1.04
"""A start is nearly right; the steps grow where it is not."""
_FEW = 2
"""The exact curve of so many numbers is had at once."""
_FOUR_UP = Context(prec=4, rounding=ROUND_CEILING)
_LEAST = 1e-12
_MANY = 4
"""From so many numbers on that a unit moves, Gaussian noise shows the smallest groups."""


@frozen
class PlanLine:
    """One policy of a plan: how many editions, and its share of what is planned.

    ``share`` is of all its editions together, in proportion to the other lines'; without it as many
    as its editions, so that each edition is as strong as any other. Errors: DomainError.
    """

    name: str
    shape: Shape
    editions: int = 1
    share: Decimal | None = None

    def __post_init__(self) -> None:
        count("editions", self.editions)
        if self.share is not None and not 0 < self.share <= 10**6:
            raise DomainError("share", "a number above 0, of at most 1000000", self.share)

    @property
    def part(self) -> float:
        """In proportion to the other lines'."""
        return float(self.editions if self.share is None else self.share)


@frozen
class PlannedLine:
    """One policy of a plan that was solved: each of its editions is such an event.

    Of the editions so many are ``revisions``: later draws of one that was drawn before.
    """

    name: str
    editions: int
    solved: Solved
    half: float
    """From how many people on a group is shown half the time; 0 where none is suppressed."""
    error: float
    """Of a number with noise its standard deviation; else as its shape says."""
    shape: str = ""
    """The digest of what it is but for its strength."""
    revisions: int = 0


@frozen
class WindowPlan(EpsilonDelta):
    """A plan that was solved: its lines together are within (ε, δ), as a list.

    ``rest_epsilon`` and ``rest_delta`` are left for what is not planned.
    """

    rest_epsilon: Decimal
    rest_delta: Decimal
    neighbours: str
    lines: tuple[PlannedLine, ...]

    @property
    def charges(self) -> Charges:
        """The events, and how often each is."""
        return charges_of([(line.solved.event, line.editions) for line in self.lines])

    @property
    def event(self) -> FixedList:
        """The whole plan as one event: what a filter over several windows is charged with."""
        return FixedList(self.charges)

    def holds(self) -> bool:
        """Whether the price of the list is within (ε, δ), computed anew."""
        return is_within(self.charges, self.epsilon, self.delta, self.neighbours)


def split(
    epsilon: Decimal, delta: Decimal, rest: Number
) -> tuple[Decimal, Decimal, Decimal, Decimal]:
    """(ε, δ) of what is planned, and of the rest; together exactly the limit.

    Errors: DomainError unless 0 ≤ rest < 1.

    >>> [str(each) for each in split(Decimal(1), Decimal("1e-6"), "0.1")]
    ['0.9', '9E-7', '0.1', '1E-7']
    """
    part = decimal("rest", "a number from 0 to below 1", rest, lambda number: 0 <= number < 1)
    left = EXACT.multiply(epsilon, part), EXACT.multiply(delta, part)
    return EXACT.subtract(epsilon, left[0]), EXACT.subtract(delta, left[1]), *left


def charges_of(events: Sequence[tuple[Event, int]]) -> Charges:
    """Equal events together, in an order that does not depend on theirs."""
    times = Counter[Event]()
    for event, n in events:
        times[event] += n
    return tuple(sorted(times.items(), key=repr))


def is_within(charges: Charges, epsilon: Decimal, delta: Decimal, neighbours: str) -> bool:
    """Whether a list that was fixed beforehand is proven to be within (ε, δ), [COMP].

    By the tight rule, or by the sum of what is certified where nothing else is known.

    >>> from policy_engine.accounting.events import PureDP
    >>> [is_within(((PureDP("0.1"), n),), Decimal(1), Decimal(0), "add_remove") for n in (10, 11)]
    [True, False]
    """
    who = Question(neighbours)
    if not any(has_curve(event) for event, _ in charges):
        summed = Basic().delta(charges, epsilon, who)
        if summed is not None and summed <= delta and _adds_up(charges, epsilon, who):
            return True
    if 0 < delta < 1 and Tight().meets(charges, epsilon, delta, who):
        return True
    if len(charges) > 1 or charges[0][1] > 1 or not _is_quick(charges[0][0]):
        return False
    # Its own curve lies a little below that of its pairs.
    return delta_of_event(charges[0][0], epsilon, neighbours) <= delta


def _is_quick(event: Event) -> bool:
    match event:
        case SampledSuppression():
            return True
        case TableNoise():
            return sum(each.groups for each in event.drawn) <= _FEW
    return False


def _adds_up(charges: Charges, epsilon: Decimal, who: Question) -> bool:
    found = Basic().epsilon(charges, Decimal("0.5"), who)
    return found is not None and found <= epsilon


def planned(
    lines: Sequence[PlanLine],
    epsilon: Number,
    delta: Number,
    neighbours: str,
    rest: Number = 0,
) -> WindowPlan:
    """The strongest editions of a list that are together within (1 − rest)·(ε, δ), [PLAN].

    Guarantee: that list, in any order and stopped at any time, is within it, by the price of the
    integers that are handed out; their scales are within 3 % of the least that are. Errors:
    DomainError where a line cannot be so weak, and outside the domains.

    >>> from policy_engine.accounting.shapes import NoisyShape
    >>> plan = planned([PlanLine("visits", NoisyShape(), 12)], 1, "1e-6", "add_remove")
    >>> [(line.half, round(line.error, 1)) for line in plan.lines]
    [(80, 14.8)]
    """
    neighbour_notion(neighbours)
    own = split(nonnegative_epsilon(epsilon), _delta(delta), rest)
    if not lines or len({line.name for line in lines}) < len(lines):
        raise DomainError("plan", "at least one policy, each once", [line.name for line in lines])
    if sum(line.editions for line in lines) > MOST_EVENTS:
        raise DomainError("editions", f"at most {MOST_EVENTS} in total", "more")
    return WindowPlan(*own, neighbours, _best(tuple(lines), own[0], own[1], neighbours))


def for_editions(
    shape: Shape, editions: int, epsilon: Number, delta: Number, neighbours: str
) -> PlannedLine:
    """The strongest event of which so many fill a window that has no plan.

    Guarantee: the filter of an account with the limit (ε, δ), to which nothing else was charged,
    admits so many, one after the other. Errors as ``planned``.

    >>> from policy_engine.accounting.shapes import NoisyShape
    >>> line = for_editions(NoisyShape(), 12, 1, "1e-6", "add_remove")
    >>> line.half, round(line.error, 1)
    (84, 15.5)
    """
    neighbour_notion(neighbours)
    asked, most = nonnegative_epsilon(epsilon), _delta(delta)
    line = PlanLine("editions", shape, editions)
    [found] = _best((line,), asked, EXACT.multiply(most, CHAIN), neighbours)
    once = certified(found.solved.event, most, neighbours)
    if not holds_chain(once, editions, plan_for(once, asked, most, neighbours), neighbours):
        raise DomainError("editions", "so few that the account admits them", editions)
    return found


def certified(event: Event, delta: Decimal, neighbours: str) -> CertifiedEvent:
    """An event with the (ε, δ) that its certificate says of one edition alone: ε at this δ.

    Guarantee: never below the true ε; of a curve it is rounded up to four digits, for people.
    """
    if has_curve(event):
        exact = epsilon_of_event(event, delta, neighbours)
        return CertifiedEvent(event, _FOUR_UP.plus(exact), delta)
    who, charges = Question(neighbours), ((event, 1),)
    epsilon = Basic().epsilon(charges, Decimal("0.5"), who)
    own = None if epsilon is None else Basic().delta(charges, epsilon, who)
    assert epsilon is not None and own is not None
    return CertifiedEvent(event, epsilon, own)


def _delta(delta: Number) -> Decimal:
    return decimal("delta", "a number from 0 to below 1", delta, lambda number: 0 <= number < 1)


def _planned_line(line: PlanLine, solved: Solved) -> PlannedLine:
    quality = line.shape.quality(solved)
    return PlannedLine(line.name, line.editions, solved, *quality, shape_digest(line.shape))


@lru_cache(maxsize=32)  # a command reads a policy more than once, and one plan for each of several
def _best(
    lines: tuple[PlanLine, ...], epsilon: Decimal, delta: Decimal, neighbours: str
) -> tuple[PlannedLine, ...]:
    return _Search(lines, epsilon, delta, neighbours).best()


@frozen
class _Search:
    """For the scales of one list at one (ε, δ)."""

    lines: tuple[PlanLine, ...]
    epsilon: Decimal
    delta: Decimal
    neighbours: str

    def best(self) -> tuple[PlannedLine, ...]:
        """That which shows the smallest groups half the time; then the least error."""
        start, found = self._guess(), None
        for laws in self._choices():
            for part in self._parts(laws):
                with suppress(DomainError):
                    weight, lines = self._strongest(laws, part, start, _ROUGH)
                    quality = self._quality(lines)
                    if found is None or quality < found[0]:
                        found = quality, laws, part, weight
                    start = weight
        alone = self._alone()
        if found is None and alone is None:
            raise DomainError("epsilon", "larger, or editions fewer: none is met", self.epsilon)
        if found is None or (alone is not None and self._quality(alone) < found[0]):
            assert alone is not None
            return alone
        _, laws, part, weight = found
        weight, _ = self._strongest(laws, part, weight, _FINE)
        return self._checked(laws, part, weight)

    def _alone(self) -> tuple[PlannedLine, ...] | None:
        """Of one edition in all, what is best alone, if it is seen to be within the limit."""
        line, *others = self.lines
        if others or line.editions > 1:
            return None
        with suppress(DomainError):
            solved = line.shape.alone(self.epsilon, self.delta, self.neighbours)
            if solved and is_within(charges_of([(solved.event, 1)]), *self._target):
                return (_planned_line(line, solved),)
        return None

    @property
    def _thresholds(self) -> int:
        return sum(line.shape.has_threshold for line in self.lines)

    def _parts(self, laws: Sequence[str]) -> tuple[float, ...]:
        if not self._thresholds:
            return (_FEWEST,)
        return (*_PARTS, _NEARLY_ALL) if LAPLACE in laws else _PARTS

    def _choices(self) -> list[tuple[str, ...]]:
        """The laws of the lines: of many numbers Gaussian noise, of few either."""
        options = [line.shape.laws for line in self.lines]
        if self._numbers >= _MANY:
            return [tuple(GAUSSIAN if GAUSSIAN in laws else laws[0] for laws in options)]
        if len(self.lines) > 2:  # for few and for many
            first, last = ([laws[place] for laws in options] for place in (0, -1))
            return list(dict.fromkeys((tuple(first), tuple(last))))
        return list(product(*options))

    @property
    def _numbers(self) -> float:
        """How many numbers a unit moves, as if all had as much of the weight."""
        whole = sum(line.part for line in self.lines)
        squares = 0.0
        for line in self.lines:
            moved = line.editions * line.shape.moved(self.neighbours)
            squares += (line.part / whole) ** 2 / moved
        return 1 / squares

    def _guess(self) -> float:
        """The μ² of a Gaussian with half of δ at ε."""
        epsilon, delta = float(self.epsilon), max(float(self.delta) / 2, 1e-300)
        low, high = 1e-9, 1e3
        while high / low > 1.01:
            mu = math.sqrt(low * high)
            upper, lower = epsilon / mu - mu / 2, epsilon / mu + mu / 2
            cost = math.erfc(upper / math.sqrt(2)) / 2
            cost -= math.exp(min(epsilon, 700.0)) * math.erfc(lower / math.sqrt(2)) / 2
            low, high = (mu, high) if cost <= delta else (low, mu)
        return low * low

    def _strongest(
        self, laws: tuple[str, ...], part: float, start: float, fine: float
    ) -> tuple[float, tuple[PlannedLine, ...]]:
        """The greatest total weight that was seen to be within the limit, nearly."""
        low = high = lines = None
        weight, step = start, _STEP
        while _LEAST < weight < 1 / _LEAST:
            found = self._at(laws, part, weight, rough=True)
            if found is None:
                high = weight
            else:
                low, lines = weight, found
            if low is None:
                weight, step = weight / step, step * step
            elif high is None:
                weight, step = weight * step, step * step
            elif high > low * fine:
                weight = math.sqrt(low * high)
            else:
                break
        if low is None or lines is None:
            raise DomainError("epsilon", "larger, or editions fewer: none is met", self.epsilon)
        return low, lines

    def _checked(
        self, laws: tuple[str, ...], part: float, weight: float
    ) -> tuple[PlannedLine, ...]:
        """The lines at this weight, or at the next below it at which they are within the limit."""
        step = _FINE
        while weight > _LEAST:
            found = self._at(laws, part, weight, rough=False)
            if found is not None:
                return found
            weight, step = weight / step, step * step
        raise DomainError("epsilon", "larger, or editions fewer: none is met", self.epsilon)

    def _at(
        self, laws: tuple[str, ...], part: float, weight: float, *, rough: bool
    ) -> tuple[PlannedLine, ...] | None:
        """The lines at a total weight; None where they are not within the limit."""
        whole, ends = sum(line.part for line in self.lines), part * float(self.delta)
        lines = []
        try:
            for line, law in zip(self.lines, laws, strict=True):
                one = weight * line.part / (whole * line.editions)
                end = ends / (max(1, self._thresholds) * line.editions)
                solved = line.shape.solved(law, one, end, self.neighbours, rough=rough)
                lines.append(_planned_line(line, solved))
        except DomainError:
            return None  # no table is so strong, or so weak
        charges = charges_of([(line.solved.event, line.editions) for line in lines])
        return tuple(lines) if is_within(charges, *self._target) else None

    @property
    def _target(self) -> tuple[Decimal, Decimal, str]:
        return self.epsilon, self.delta, self.neighbours

    def _quality(self, lines: Sequence[PlannedLine]) -> tuple[float, float]:
        """The smaller, the better: of each line the logarithm counts, so that no unit does."""
        halves = sum(math.log(line.half) for line in lines if line.half)
        return round(halves, 9), sum(math.log(max(line.error, 1e-9)) for line in lines)

"""The dominating pair of each event: two laws between which no neighbours are further apart.

Whatever the tables, an event's outcome is a function of one draw, from the first law where the
unit is present (or has its old value) and from the second where it is not. So a composition of a
list of events, each run as the outcomes before suggest, is dominated by the composition of their
pairs (Zhu, Dong, Wang 2022), [COMP]; which events are on the list must not depend on outcomes: see
``adaptive``. A pair is kept as its privacy loss: atoms ln(P/Q) with the logarithm of their mass
under P, and the mass where one of the laws is 0.

numpy floats: a mass is wrong by less than a ``GUARD`` share, which the composition adds.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from decimal import Context, Decimal, localcontext
from functools import lru_cache

from policy_engine.accounting.arrays import Floats, np
from policy_engine.accounting.binomial import log_factorial, sum_from, sum_to
from policy_engine.accounting.domain import ADD_REMOVE, REPLACE_ONE, ROUNDING, arithmetic
from policy_engine.accounting.events import (
    ApproximateDP,
    DiscreteLaplace,
    Event,
    FixedList,
    PureDP,
    RandomisedResponse,
    Replaced,
    SampledSuppression,
    TableNoise,
)
from policy_engine.accounting.noise import BITS, Statistic
from policy_engine.accounting.powers import Step
from policy_engine.errors import DomainError
from policy_engine.values import frozen

GUARD = 1e-9
_ANCHOR, _BLOCKS = 512, 32
_NEXT_TO_NOTHING = -690.0
# How many places of the k-th sampled copy are told apart: all but a tail of e^-690 if these are
# few, else all but one of e^-100 up to a most. What is left is one block, from above.
_REACHES = ((690.0, 2**20), (100.0, 2**23))


@frozen(eq=False)
class Pair:
    """Atoms of the privacy loss of P against Q, and the masses where Q or P is 0.

    ``losses`` and ``log_masses`` (of P) have one shape; an atom's mass under Q is e^−loss times
    its mass under P.
    """

    losses: Floats
    log_masses: Floats
    only_first: Decimal
    only_second: Decimal
    is_symmetric: bool = False
    """Whether Q against P has the same law, so that one direction says it all."""

    def reversed(self) -> Pair:
        """The pair of Q against P."""
        return Pair(-self.losses, self.log_masses - self.losses, self.only_second, self.only_first)


def pairs_of(event: Event, neighbours: str, group: int = 1) -> tuple[Pair, ...]:
    """The pairs whose composition dominates one event, for m units that leave (or change).

    A pair stands there as often as it is met. Under replace_one a unit leaves one cell and enters
    another: one pair and one reversed. Only a sampled suppression says anything about groups.
    Errors: DomainError for anything else.

    >>> [pair] = pairs_of(PureDP(1), "add_remove")
    >>> pair.losses.tolist()
    [1.0, -1.0]
    """
    alone: list[tuple[Pair, int]] = []
    match event:
        case SampledSuppression(k=k, rate=rate):
            # A rate is a decimal since the event was made.
            found = [(_place_of_kth(k, Decimal(str(rate)), group), 1)]
        case TableNoise(statistics=statistics, choices=choices) if group == 1:
            times = Counter[Statistic]()
            for statistic in statistics:  # of equal numbers there is one pair, met so often
                times[replace(statistic, groups=1)] += statistic.groups
            found = [(_noisy(statistic), n) for statistic, n in times.items()]
            # A choice has one pair, which is the same both ways, whatever the notion.
            alone = [(_of_steps(choice.steps(neighbours)), choice.groups) for choice in choices]
        case FixedList(events=events):
            listed = ((pairs_of(each, neighbours, group), times) for each, times in events)
            return tuple(pair for pairs, times in listed for pair in pairs * times)
        case Replaced(event=replaced):
            if neighbours == REPLACE_ONE:  # two may move one number twice as far: no product tells
                raise DomainError(
                    "neighbours", f"{ADD_REMOVE} where a unit is replaced", neighbours
                )
            return pairs_of(replaced, REPLACE_ONE, group)
        case _:
            return (_alone(event, neighbours, group),)
    both = neighbours == REPLACE_ONE
    met = [((pair, pair.reversed()) if both else (pair,), times) for pair, times in found]
    met += [((pair,), times) for pair, times in alone]
    return tuple(pair for pairs, times in met for pair in pairs * times)


def _alone(event: Event, neighbours: str, group: int) -> Pair:
    """The one pair of an event of one unit, under any notion that it knows."""
    match event:
        case RandomisedResponse() if neighbours != REPLACE_ONE:
            raise DomainError("neighbours", f"{REPLACE_ONE} for randomised response", neighbours)
        case PureDP(epsilon=epsilon) if group == 1:
            return _randomised(float(Decimal(str(epsilon))), Decimal(0))
        case ApproximateDP(epsilon=epsilon, delta=delta) if group == 1:
            return _randomised(float(Decimal(str(epsilon))), Decimal(str(delta)))
        case DiscreteLaplace() if group == 1:
            return _discrete_laplace(event)
        case RandomisedResponse() if group == 1:
            return _randomised_response(event)
        case TableNoise() | PureDP() | ApproximateDP() | DiscreteLaplace() | RandomisedResponse():
            raise DomainError("group", "1, unless all events are SampledSuppression", group)
    known = "ApproximateDP, DiscreteLaplace, PureDP, RandomisedResponse, SampledSuppression"
    raise DomainError("event", f"one of {known}, TableNoise", repr(event))


@lru_cache(maxsize=2)  # an account asks for those of its events again and again; some are long
def _place_of_kth(k: int, rate: Decimal, group: int) -> Pair:
    """(T, T+m) of ``groups``: the place of the k-th sampled copy, and m further."""
    last = _last_place(k, rate, group)
    places = np.arange(k + group, last + 1, dtype=np.float64)
    logs = _log_law(k, rate, last)[group:]
    with arithmetic(rate, room=40):
        lowest = float(group * (1 - rate).ln())
        # Π_{i<m} (t−1−i)/(t−k−i) = Π_{0<j<k} (t−j)/(t−m−j): the shorter product.
        shift, factors = (k - 1, group) if group < k else (group, k - 1)
        losses = np.full(places.shape, lowest)
        for i in range(factors):
            losses += np.log1p(shift / (places - group - k + 1 + i))
        only_first = sum_from(k, k + group - 1, rate, Decimal(1), 0) * (1 + ROUNDING)
        only_first = min(Decimal(1), only_first)
        ends = np.array([lowest, losses[-1]])
        missed = [sum_to(k - 1, n, rate, Decimal(1), 0) for n in (last, last - group)]
        masses = _tail(missed[0], missed[1], ends)
    return Pair(
        np.concatenate([losses, ends]),
        np.concatenate([logs, masses]),
        only_first,
        Decimal(0),
    )


def _last_place(k: int, rate: Decimal, group: int) -> int:
    """The last place that is told apart from others."""
    with arithmetic(rate):
        sampled, unsampled = float(rate), float(1 - rate)
    for exponent, most in _REACHES:
        size = float(k + group)
        while size < most and not _is_rare((k - 1) / size, sampled, unsampled, exponent / size):
            size *= 1.05
        if size < most:
            break
    return max(k + group + 1, min(int(size), most))


def _is_rare(share: float, sampled: float, unsampled: float, exponent: float) -> bool:
    """Whether fewer than a share of the places is sampled with probability < e^−exponent a place.

    (Chernoff.)
    """
    low = max(share, 1e-300)
    if low >= sampled:
        return False
    divergence = low * math.log(low / sampled) + (1 - low) * (
        math.log1p(-low) - math.log(unsampled)
    )
    return divergence > exponent


def _log_law(k: int, rate: Decimal, last: int) -> Floats:
    """ln Pr[T = t] for k ≤ t ≤ last.

    Some are decimals; from one to the next the logarithms of the ratios are added up, in blocks. A
    block of c places adds less than c·2⁻⁵³ of its largest partial sum, and each of the 32 before it
    2⁻⁵³ of the logarithm: below 1e-10 for these c.
    """
    before = np.arange(k, last, dtype=np.float64)
    logs = np.empty(last - k + 1)
    # Digits for 1 − β and for the logarithms of factorials of up to 2**23.
    with localcontext(Context(prec=40 + len(rate.as_tuple().digits) + abs(rate.adjusted()))):
        unsampled = (1 - rate).ln()
        first = k * rate.ln() - log_factorial(k - 1)
        steps = np.log1p((k - 1) / (before - k + 1)) + float(unsampled)
        for start in range(0, len(logs), _ANCHOR * _BLOCKS):
            end = min(start + _ANCHOR * _BLOCKS, len(logs))
            ways = log_factorial(k + start - 1) - log_factorial(start)
            at = float(first + ways + start * unsampled)
            for low in range(start, end, _ANCHOR):
                high = min(low + _ANCHOR, end)
                logs[low:high] = at + np.concatenate([[0.0], np.cumsum(steps[low : high - 1])])
                at += math.fsum(steps[low:high].tolist())
    return logs


def _tail(mass: Decimal, moved: Decimal, ends: Floats) -> Floats:
    """Log masses of two atoms for T > last, in the caller's context.

    There the loss lies between the two ends. Atoms at the ends that keep the masses under both
    laws dominate whatever lies between (connect the dots).
    """
    lowest, highest = ends.tolist()
    excess = float(moved / mass * Decimal(highest).exp() - 1)
    below = min(1.0, max(0.0, excess / math.expm1(highest - lowest)))
    return float(mass.ln()) + np.log(np.array([below, 1 - below + GUARD]) + 1e-300)


@lru_cache(maxsize=16)
def _noisy(statistic: Statistic) -> Pair:
    """That of a number with noise."""
    return _of_steps(statistic.steps())


def _of_steps(steps: list[Step]) -> Pair:
    """The steps of ``noise``; what has no finite loss at all gets one atom of next to nothing."""
    both = [(p, q) for p, q in steps if p and q]
    losses = [math.log(p / q) for p, q in both] or [0.0]
    logs = [math.log(p) - BITS * math.log(2) for p, _ in both] or [_NEXT_TO_NOTHING]
    with arithmetic(Decimal(1)):
        only_first = Decimal(sum(p for p, q in steps if not q)) / (1 << BITS)
        only_second = Decimal(sum(q for p, q in steps if not p)) / (1 << BITS)
    return Pair(np.array(losses), np.array(logs), only_first, only_second)


def _randomised(epsilon: float, only: Decimal) -> Pair:
    """Two atoms at ±ε beside a mass that gives the unit away: the worst (ε, δ)-DP mechanism."""
    losses = np.array([epsilon, -epsilon])
    kept = float((1 - only).ln())
    return Pair(losses, kept - np.logaddexp(0.0, -losses), only, only, is_symmetric=True)


def _discrete_laplace(event: DiscreteLaplace) -> Pair:
    """x against x + s: below 0 the loss is s/b, above s it is −s/b, between (s − 2x)/b."""
    step, s = 1 / float(event.scale), event.sensitivity
    x = np.arange(0, s + 1, dtype=np.float64)
    norm = -math.log1p(math.exp(-step))
    logs = math.log(-math.expm1(-step)) + norm - x * step
    logs[0], logs[-1] = norm, norm - s * step  # all x ≤ 0, all x ≥ s
    return Pair((s - 2 * x) * step, logs, Decimal(0), Decimal(0))


def _randomised_response(event: RandomisedResponse) -> Pair:
    """The old value, the new value, any other."""
    truth, values = float(event.truth), event.values
    other = (1 - truth) / values
    loss = math.log1p(truth / other)
    logs = [math.log(truth + other), math.log(other)]
    losses = [loss, -loss]
    if values > 2:
        logs.append(math.log((values - 2) * other))
        losses.append(0.0)
    return Pair(np.array(losses), np.array(logs), Decimal(0), Decimal(0))

"""[FILTER] Whether one more release may run, though people chose it after they saw the others.

The price of a list that was fixed beforehand (``composition``) is no such rule: whoever picks the
next event by the outcomes so far can pick after a bad outcome what hurts then, and after a good
one something else that costs as much. Here a limit (ε, δ) is kept whatever is chosen. Its δ is
shared out before the first release, and every account ends in one of three ways:

* *chain*: all events equal the first or say less; the share is the tight price of that many;
* *moments*: for one of a few fixed orders θ the sum of K(θ) = ln E[e^{θ·loss}] is within a bound,
  and so is the sum of the masses set aside;
* *sum*: the certificates add up to at most ε, and to at most the share of δ.

To set aside is to lower the first law to at most e^λ times the second, for some λ. The mass that
goes is the hockey-stick divergence at λ, and K is that of what stays. The masses have a share of
their own. One share for both, c·e^{ΣK − θε} + Σm ≤ δ, does not hold: an adversary can spend it as
moments where the losses are large and as mass where they are small.

docs/explanation/accounts.md has the proof. Sources: Rogers, Roth, Ullman, Vadhan 2016 (sum);
Feldman, Zrnic 2021 (moments); Whitehouse, Ramdas, Rogers, Wu 2023; Zhu, Dong, Wang 2022 (pairs).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable
from decimal import (
    MAX_EMAX,
    MIN_EMIN,
    ROUND_CEILING,
    ROUND_FLOOR,
    Context,
    Decimal,
    localcontext,
)

from policy_engine.accounting.arrays import Floats, Integers, np
from policy_engine.accounting.bisection import least_integer
from policy_engine.accounting.certified import CertifiedEvent, EpsilonDelta
from policy_engine.accounting.composition import MOST_EVENTS, Question, Tight
from policy_engine.accounting.domain import (
    EXACT,
    REPLACE_ONE,
    arithmetic,
    neighbour_notion,
    nonnegative_epsilon,
)
from policy_engine.accounting.events import ApproximateDP, Event
from policy_engine.accounting.exact import delta_of_event, has_curve
from policy_engine.accounting.pairs import Pair, pairs_of
from policy_engine.errors import DomainError
from policy_engine.values import frozen

CHAIN = Decimal("0.5")
"""Of the limit's δ, for a chain. Twice as much admits few more of one kind."""
_MASS, _MOMENTS, _SUM = Decimal("0.6"), Decimal("0.3"), Decimal("0.1")
"""Of what the chain leaves. So nearly all lists fit whose certificates add up to the limit."""
_STEEPNESS = (Decimal("1.2"), Decimal("1.6"))
"""θ·ε/ln(1/δ): the first is for a few releases, the second for many."""
_FINEST = 1024
"""Every θ is a whole number of 1/1024, the same as a float and as a decimal."""
_STEEPEST = 10**6
"""Up to this θ the rounding of a loss stays far below ``_SLACK``."""
_CLIPS = (
    0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6,
    0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0, 1.05, 1.1, 1.15, 1.2,
)  # fmt: skip
"""The λ tried, in parts of the limit's ε."""
_SLACK = 1e-8
"""Above what ``pairs.GUARD`` allows a mass and what rounding does to a sum of 2**24 terms."""
_LOSS_SLACK = 1e-13
_TINY = 1e-300
"""Above the sum of all masses that are 0 as a float."""
_UP = Context(prec=5, rounding=ROUND_CEILING, Emin=MIN_EMIN, Emax=MAX_EMAX)
_SIX_UP = Context(prec=6, rounding=ROUND_CEILING, Emin=MIN_EMIN, Emax=MAX_EMAX)
_DOWN = Context(prec=6, rounding=ROUND_FLOOR, Emin=MIN_EMIN, Emax=MAX_EMAX)


@frozen
class Cost:
    """What one event, or several, take of a plan: a mass, and ΣK for each of its orders."""

    mass: Decimal
    scales: tuple[Decimal, ...]

    @classmethod
    def total(cls, costs: Iterable[tuple[Cost, int]], orders: int) -> Cost:
        """What events take together, each so many times; exact.

        >>> Cost.total([(Cost(Decimal("0.1"), (Decimal("0.2"),)), 3)], 1)
        Cost(mass=Decimal('0.3'), scales=(Decimal('0.6'),))
        """
        mass, scales = Decimal(0), [Decimal(0)] * orders
        with localcontext(EXACT):
            for cost, times in costs:
                mass += times * cost.mass
                for at, scale in enumerate(cost.scales):
                    scales[at] += times * scale
        return cls(mass, tuple(scales))

    @classmethod
    def worst(cls, costs: Iterable[Cost]) -> Cost:
        """The largest of each number; at least one cost.

        >>> Cost.worst([Cost(Decimal(1), (Decimal(2),)), Cost(Decimal(2), (Decimal(1),))])
        Cost(mass=Decimal('2'), scales=(Decimal('2'),))
        """
        masses, scales = zip(*((cost.mass, cost.scales) for cost in costs), strict=True)
        return cls(max(masses), tuple(max(each) for each in zip(*scales, strict=True)))


@frozen
class Plan(EpsilonDelta):
    """How the δ of a limit is shared out, fixed before the first release.

    Guarantee: chain + Σ e^{κ − θε}·θ^θ/(1+θ)^{1+θ} + mass + sum ≤ δ.
    """

    chain: Decimal
    """For events that the first one covers."""
    mass: Decimal
    """The most that may be set aside."""
    sum: Decimal
    """For certificates that add up."""
    orders: tuple[Decimal, ...] = ()
    """θ."""
    scales: tuple[Decimal, ...] = ()
    """κ, the most that ΣK(θ) may be, for each θ."""

    def pays(self, cost: Cost) -> bool:
        """Whether events that cost so much in total end by *moments*.

        >>> plan = Plan(Decimal(1), Decimal(1), *[Decimal(0)] * 3, (Decimal(2),), (Decimal(3),))
        >>> [plan.pays(Cost(Decimal(0), (Decimal(scale),))) for scale in (3, 4)]
        [True, False]
        """
        within = (scale <= most for scale, most in zip(cost.scales, self.scales, strict=True))
        return cost.mass <= self.mass and any(within)

    def delta_of(self, cost: Cost) -> Decimal:
        """A δ at the plan's ε for events that cost this, had they been a fixed list; 1 at worst.

        >>> plan = Plan(Decimal(1), Decimal(1), *[Decimal(0)] * 3, (Decimal(20),), (Decimal(3),))
        >>> plan.delta_of(Cost(Decimal("1e-9"), (Decimal(3),)))
        Decimal('1.74300E-9')
        """
        with arithmetic(self.epsilon, cost.mass, *self.orders, *cost.scales):
            bounds = [
                (scale - order * self.epsilon + _peak(order)).exp() + cost.mass
                for order, scale in zip(self.orders, cost.scales, strict=True)
            ]
            return min([Decimal(1), *map(_SIX_UP.plus, bounds)])

    def epsilon_of(self, cost: Cost) -> Decimal | None:
        """An ε ≥ 0 at the plan's δ for such a list; None where the mass alone is too much.

        >>> shares = [Decimal(0)] * 3
        >>> plan = Plan(Decimal(1), Decimal("1e-6"), *shares, (Decimal(20),), (Decimal(3),))
        >>> plan.epsilon_of(Cost(Decimal(0), (Decimal(3),)))
        Decimal('0.639760')
        """
        left = _DOWN.subtract(self.delta, cost.mass)
        if left <= 0 or not self.orders:
            return None
        with arithmetic(left, *self.orders, *cost.scales):
            bounds = [
                (scale - left.ln() + _peak(order)) / order
                for order, scale in zip(self.orders, cost.scales, strict=True)
            ]
            return max(Decimal(0), _SIX_UP.plus(min(bounds)))


@frozen
class Reach:
    """How many of the first event are known to end as a chain, and how many not to."""

    holds: int = 0
    fails: int = MOST_EVENTS + 1

    def towards(self, times: int, holds: Callable[[int], bool]) -> Reach:
        """What is known once ``times`` is decided, by at most two questions.

        Asked for one more each time, few times anything is asked at all.

        >>> Reach(4).towards(5, lambda n: n <= 7)
        Reach(holds=5, fails=10)
        >>> Reach(5, 10).towards(6, lambda n: n <= 7)
        Reach(holds=6, fails=8)
        """
        known = self
        for probe in (min(2 * times, (times + self.fails) // 2), times):
            if not known.holds < times < known.fails:
                return known
            known = Reach(probe, known.fails) if holds(probe) else Reach(known.holds, probe)
        return known


def plan_for(first: CertifiedEvent, epsilon: Decimal, delta: Decimal, neighbours: str) -> Plan:
    """The plan of an account with a limit (ε, δ) and this first event.

    A chain gets enough for as many as the sum of certificates admits. A first event of which
    nothing but a large (ε, δ) is known leaves room for nothing but that sum. Errors: DomainError
    unless 0 ≤ δ ≤ 1, and for an ε, an event or a notion outside its domain.

    >>> from policy_engine.accounting.events import SampledSuppression
    >>> once = CertifiedEvent(SampledSuppression(20, "0.1"), Decimal(1), Decimal("1e-6"))
    >>> plan = plan_for(once, Decimal(1), Decimal("1e-6"), "add_remove")
    >>> [str(share) for share in (plan.chain, plan.mass, plan.sum, *plan.orders)]
    ['5E-7', '3.0E-7', '5E-8', '17.41015625', '23.212890625']
    """
    neighbour_notion(neighbours)
    nonnegative_epsilon(epsilon)
    if not 0 <= delta <= 1:
        raise DomainError("delta", "a number from 0 to 1", delta)
    # How many the sum of certificates admits, from 1 to a most.
    times = least_integer(1, MOST_EVENTS + 1, lambda n: not first.adds_up(n, epsilon, delta)) - 1
    chain = _chain_share(first, times, epsilon, delta, neighbours)
    left = _DOWN.subtract(delta, chain)
    by_sum = _DOWN.multiply(_SUM, left)
    if type(first.event) is ApproximateDP and not first.adds_up(times, epsilon, by_sum):
        return Plan(epsilon, delta, chain=Decimal(0), mass=Decimal(0), sum=delta)
    orders = _orders(epsilon, left)
    if not orders:
        return Plan(epsilon, delta, chain, mass=Decimal(0), sum=left)
    each = _DOWN.divide(_DOWN.multiply(_MOMENTS, left), Decimal(len(orders)))
    scales = tuple(_most_scale(order, epsilon, each) for order in orders)
    return Plan(epsilon, delta, chain, _DOWN.multiply(_MASS, left), by_sum, orders, scales)


def holds_chain(first: CertifiedEvent, times: int, plan: Plan, neighbours: str) -> bool:
    """Whether so many of the first event end as a *chain*.

    >>> from policy_engine.accounting.events import SampledSuppression
    >>> once = CertifiedEvent(SampledSuppression(20, "0.1"), Decimal("0.5"), Decimal("2.64e-11"))
    >>> plan = plan_for(once, Decimal(1), Decimal("1e-6"), "add_remove")
    >>> [n for n in (1, 71, 72) if holds_chain(once, n, plan, "add_remove")]
    [1, 71]
    """
    if not plan.chain or times > MOST_EVENTS:
        return False
    if first.adds_up(times, plan.epsilon, plan.delta):
        return True  # the plan gave the chain enough for these
    if times == 1:
        return _repeated(first, 1, plan.epsilon, neighbours) <= plan.chain
    charges = ((first.event, times),)
    return Tight().meets(charges, plan.epsilon, plan.chain, Question(neighbours))


def cost_of(event: Event, plan: Plan, neighbours: str) -> Cost:
    """What one event takes of a plan, from above: the mass set aside, and K at each order.

    Of a list of λ the one that takes the least, in parts of what there is. Errors: DomainError
    for an event or a notion that ``pairs_of`` refuses.

    >>> from policy_engine.accounting.events import PureDP
    >>> once = CertifiedEvent(PureDP("0.1"), Decimal("0.1"), Decimal(0))
    >>> plan = plan_for(once, Decimal(1), Decimal("1e-6"), "add_remove")
    >>> cost_of(PureDP("0.1"), plan, "add_remove").mass
    Decimal('0')
    """
    if not plan.orders:
        return Cost(Decimal(0), ())
    pairs, times = zip(*Counter(pairs_of(event, neighbours)).items(), strict=True)
    ways = [pairs]
    if neighbours != REPLACE_ONE and not all(pair.is_symmetric for pair in pairs):
        ways.append(tuple(pair.reversed() for pair in pairs))
    clipped = [zip(*(_clipped(pair, plan) for pair in way), strict=True) for way in ways]
    costs = [
        Cost.worst(Cost.total(zip(way, times, strict=True), len(plan.orders)) for way in at)
        for at in zip(*clipped, strict=True)
    ]
    return min(costs, key=lambda cost: _part(cost, plan))


def _part(cost: Cost, plan: Plan) -> float:
    """The larger part of the plan's mass and, at the order where it is least, of its κ."""

    def part(used: Decimal, most: Decimal) -> float:
        return float(_UP.divide(used, most)) if most > 0 else math.inf

    scales = zip(cost.scales, plan.scales, strict=True)
    return max(part(cost.mass, plan.mass), min(part(*scale) for scale in scales))


def _chain_share(
    first: CertifiedEvent, times: int, epsilon: Decimal, delta: Decimal, neighbours: str
) -> Decimal:
    usual = _DOWN.multiply(CHAIN, delta)
    if first.adds_up(times, epsilon, usual):
        return usual
    needed = _repeated(first, times, epsilon, neighbours)
    return max(usual, needed) if needed <= delta else usual


def _repeated(first: CertifiedEvent, times: int, epsilon: Decimal, neighbours: str) -> Decimal:
    """An upper bound on δ at ε of so many; the better of the certificates' and the event's own."""
    if times == 1 and has_curve(first.event):
        own = delta_of_event(first.event, epsilon, neighbours)
    else:
        own = Tight().delta(((first.event, times),), epsilon, Question(neighbours))
    if not first.adds_up(times, epsilon, Decimal(1)):
        return own
    with localcontext(EXACT):
        return min(own, times * first.delta)


def _orders(epsilon: Decimal, delta: Decimal) -> tuple[Decimal, ...]:
    """θ for what the chain leaves; none where they would be useless."""
    if not epsilon or not delta:
        return ()
    with arithmetic(epsilon, delta):
        steepness = max(Decimal(1), -delta.ln()) / epsilon
        orders = [Decimal(int(part * steepness * _FINEST)) / _FINEST for part in _STEEPNESS]
    return tuple(orders) if all(0 < order <= _STEEPEST for order in orders) else ()


def _most_scale(order: Decimal, epsilon: Decimal, delta: Decimal) -> Decimal:
    """κ, rounded down: e^{κ − θε}·θ^θ/(1+θ)^{1+θ} is at most δ."""
    with arithmetic(order, epsilon, delta, room=20):
        return _DOWN.plus(delta.ln() + order * epsilon - _peak(order))


def _peak(order: Decimal) -> Decimal:
    """ln of θ^θ/(1+θ)^{1+θ}, the most that (1 − e^{−x})·e^{−θx} is; in the caller's context."""
    return order * order.ln() - (1 + order) * (1 + order).ln()


def _clipped(pair: Pair, plan: Plan) -> list[Cost]:
    """One law against the other, lowered to e^λ of it, for each λ.

    Mass: Σ_{l>λ} p·(1 − e^{λ−l}). K: ln of Σ_{l≤λ} p·e^{θl} + e^{(1+θ)λ}·Σ_{l>λ} p·e^{−l}, and at
    least 0, so that an account which still fits did so before.
    """
    clips = np.array(_CLIPS) * float(plan.epsilon)
    places = np.searchsorted(clips, pair.losses)  # of the first λ that is not below
    order = np.argsort(places, kind="stable")
    losses, logs = pair.losses[order], pair.log_masses[order]
    ends = np.cumsum(np.bincount(places, minlength=len(clips) + 1))
    # For each λ, ln of the sum of all above it.
    above = np.logaddexp.accumulate(_log_sums(logs - losses, ends)[::-1])[::-1][1:]
    scales = []
    for theta in map(float, plan.orders):
        below = np.logaddexp.accumulate(_log_sums(logs + theta * losses, ends)[:-1])
        scales.append(np.logaddexp(below, above + (1 + theta) * clips))
    return [
        Cost(
            _mass(pair.only_first, logs[ends[at] :], losses[ends[at] :] - clip),
            tuple(
                _UP.create_decimal_from_float(max(0.0, float(scale[at])) + _SLACK)
                for scale in scales
            ),
        )
        for at, clip in enumerate(clips)
    ]


def _log_sums(logs: Floats, ends: Integers) -> Floats:
    """ln of the sum of each stretch; relative to its largest, so that nothing underflows."""
    sums = np.full(len(ends), -math.inf)
    start = 0
    for at, end in enumerate(ends.tolist()):
        if start < end:
            largest = float(logs[start:end].max())
            sums[at] = largest + math.log(float(np.exp(logs[start:end] - largest).sum()))
        start = end
    return sums


def _mass(certain: Decimal, logs: Floats, beyond: Floats) -> Decimal:
    """Σ p·(1 − e^{λ−l}), from above."""
    if not len(logs):
        return _UP.plus(certain)
    masses = np.exp(logs)
    finite = float((masses * -np.expm1(-beyond)).sum()) + _LOSS_SLACK * float(masses.sum())
    return _UP.add(certain, _UP.create_decimal_from_float(finite * (1 + _SLACK) + _TINY))

"""[COMP] The accountant: what events cost together, each with randomness of its own.

Three rules, each an upper bound for a list of events that was fixed beforehand, in any order. Each
release may depend on the outcomes before it as long as its event does not; where people choose the
next event by what they saw, ``adaptive`` is the rule:

* basic: (Σε, Σδ), with ε or δ shared out evenly over the events that have a curve;
* optimal: N times one (ε₀, δ₀)-DP mechanism (Kairouz, Oh, Viswanath 2015, Theorem 3.3), exact
  where nothing but (ε₀, δ₀) is known; of a curve the best of several points is taken;
* tight: the composition of the dominating pairs (``pairs``, ``losses``).

Mechanisms that share a sample do not compose: an event is one release from one fresh sample.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from decimal import Decimal
from itertools import product
from math import prod

from policy_engine.accounting import bounds
from policy_engine.accounting.bounds import downward
from policy_engine.accounting.domain import (
    ADD_REMOVE,
    REPLACE_ONE,
    Number,
    arithmetic,
    count,
    neighbour_notion,
    nonnegative_epsilon,
    probability,
    upward,
)
from policy_engine.accounting.events import (
    ApproximateDP,
    DiscreteLaplace,
    Event,
    Partitioned,
    PureDP,
    RandomisedResponse,
    SampledSuppression,
)
from policy_engine.accounting.exact import delta_of_event, epsilon_of_event, has_curve
from policy_engine.accounting.groups import group_size
from policy_engine.accounting.losses import Composition
from policy_engine.accounting.pairs import pairs_of
from policy_engine.errors import DomainError
from policy_engine.values import frozen

MOST_EVENTS = 100_000
MOST_SCENARIOS = 4096
"""Ways in which one unit may lie in the parts of all partitions of an account."""
_MOST_EQUAL = 4_000
_MOST_CURVES = 100
_SHARES = tuple(Decimal(share) for share in ("0.9", "0.5", "0.1", "0.01"))
_POINTS = tuple(Decimal(2) ** exponent for exponent in range(-20, 5))
"""The ε₀ at which a curve is looked at: always the same, so that δ falls with ε."""

Answers = dict[str, Decimal | None]
"""By the name of a rule: what it proves, None where it proves nothing."""
Charges = tuple[tuple[Event, int], ...]
"""Events without partitions and how often each happened, in an order of their own."""


@frozen
class Question:
    """Who is protected: the notion of neighbours, and how many units together."""

    neighbours: str = ADD_REMOVE
    group: int = 1


class Basic:
    """(Σε, Σδ); nothing for more than 100 different curves, each of which takes time to solve.

    >>> Basic().epsilon(((PureDP("0.5"), 3),), Decimal("1e-9"), Question())
    Decimal('1.5')
    """

    name = "basic"

    def delta(self, charges: Charges, epsilon: Decimal, question: Question) -> Decimal | None:
        """Every curve gets an even share of the ε that the others leave."""
        fixed, beside = _fixed(charges, question)
        spent = _shared(charges, epsilon, fixed, delta_of_event, question)
        return None if spent is None else min(Decimal(1), _total([*spent, (beside, 1)]))

    def epsilon(self, charges: Charges, delta: Decimal, question: Question) -> Decimal | None:
        """Every curve gets an even share of the δ that the others leave."""
        beside, fixed = _fixed(charges, question)
        with suppress(DomainError):
            spent = _shared(charges, delta, fixed, epsilon_of_event, question)
            return None if spent is None else _total([*spent, (beside, 1)])
        return None


class Optimal:
    """N times the same (ε₀, δ₀), the best that holds of any such mechanism.

    >>> Optimal().epsilon(((PureDP("0.1"), 100),), Decimal("1e-6"), Question())
    Decimal('4.77478027343')
    """

    name = "optimal"

    def delta(self, charges: Charges, epsilon: Decimal, question: Question) -> Decimal | None:
        """The least over a few points of the curve."""
        if (equal := self._equal(charges)) is None:
            return None
        event, n = equal
        if has_curve(event):
            points = [(one, _once(event, one, question)) for one in _POINTS]
        else:
            points = [_fixed(((event, 1),), question)]
        return min(_repeated(one, delta, n, epsilon) for one, delta in points)

    def epsilon(self, charges: Charges, delta: Decimal, question: Question) -> Decimal | None:
        """The least over a few points of the curve, on a grid of 4 significant digits."""
        if (equal := self._equal(charges)) is None:
            return None
        event, n = equal
        points = [] if has_curve(event) else [_fixed(((event, 1),), question)]
        for share in _SHARES if has_curve(event) else ():
            one = bounds.part_of(delta * share, n)
            with suppress(DomainError):
                epsilon = epsilon_of_event(event, one, question.neighbours, question.group)
                points.append((epsilon, one))
        found = [_least_repeated(one, spent, n, delta) for one, spent in points]
        return min((value for value in found if value is not None), default=None)

    def _equal(self, charges: Charges) -> tuple[Event, int] | None:
        """The one event of the account, unless it is alone, or too often there to add up."""
        return charges[0] if len(charges) == 1 and 1 < charges[0][1] <= _MOST_EQUAL else None


class Tight:
    """The privacy loss of the dominating pairs, in both directions.

    >>> fifty = ((SampledSuppression(20, Decimal("0.1")), 50),)
    >>> Tight().epsilon(fifty, Decimal("1e-6"), Question())
    Decimal('0.809905')
    """

    name = "tight"

    def delta(self, charges: Charges, epsilon: Decimal, question: Question) -> Decimal:
        """The larger of the two directions."""
        return max(way.delta(epsilon) for way in _directions(charges, question))

    def epsilon(self, charges: Charges, delta: Decimal, question: Question) -> Decimal | None:
        """The larger of the two directions."""
        found = [way.epsilon(delta) for way in _directions(charges, question)]
        return None if None in found else max(value for value in found if value is not None)

    def meets(self, charges: Charges, epsilon: Decimal, delta: Decimal, question: Question) -> bool:
        """Whether (ε, δ) is proven to hold in total; less work than ``delta``."""
        return all(way.meets(epsilon, delta) for way in _directions(charges, question))


Rule = Basic | Optimal | Tight
RULES: tuple[Rule, ...] = (Basic(), Optimal(), Tight())
"""An answer is never below the truth, and the same for every order; None where there is none."""


@frozen
class Accountant:
    """Compute the (ε, δ) of several events together, [COMP]. An event is one release or query.

    ``Accountant.of`` makes an accountant from a list of events.

    Guarantee: the computed ε or δ is never below the true value, and the order of the events does
    not change it. If you add an event, the computed value can fall slightly, because its error
    depends on the events.

    Assumption: each event has a sample and noise of its own. The list of events was fixed before
    the first one. If earlier results decide which event comes next, use an account instead.

    Fields:
        ``events``: a pair (event, times) for each different event. ``times`` says how often it
            happened. Their sum is at most 100,000.
        ``neighbours``: ``add_remove`` for m units more or less, ``replace_one`` for m other units.
        ``group``: m, how many units are protected together, from 1 to 10,000. With m > 1 all events
            must be ``SampledSuppression``.

    Errors: DomainError for other values. The methods raise it for an object that is no event.

    >>> from policy_engine.accounting.events import Partitioned, PureDP, SampledSuppression
    >>> releases = Accountant.of([SampledSuppression(20, "0.1")] * 50)
    >>> releases.epsilon("1e-6")
    Decimal('0.809905')
    >>> Accountant.of([PureDP(1), Partitioned(((PureDP(2),), (PureDP(3),)))]).epsilon("1e-9")
    Decimal('4')
    """

    events: tuple[tuple[Event, int], ...]
    neighbours: str = ADD_REMOVE
    group: int = 1

    def __post_init__(self) -> None:
        neighbour_notion(self.neighbours)
        if not isinstance(self.events, tuple) or not self.events:
            raise DomainError("events", "at least one event and how often it was", self.events)
        for charge in self.events:
            if not isinstance(charge, tuple) or len(charge) != 2:
                raise DomainError("events", "pairs of an event and how often it was", charge)
            count("times", charge[1])
            if group_size(self.group) > 1 and not isinstance(charge[0], SampledSuppression):
                law = "1, unless all events are SampledSuppression"
                raise DomainError("group", law, self.group)
        if sum(times for _, times in self.events) > MOST_EVENTS:
            raise DomainError("times", f"at most {MOST_EVENTS} in total", "more")

    @classmethod
    def of(
        cls, events: Iterable[Event], neighbours: str = ADD_REMOVE, group: int = 1
    ) -> Accountant:
        """Make an accountant from a list of events.

        Arguments:
            ``events``: the events, in any order.
            ``neighbours``, ``group``: as the fields of ``Accountant``.

        >>> from policy_engine.accounting.events import PureDP
        >>> Accountant.of([PureDP(1), PureDP(1)]).events
        ((PureDP(epsilon=Decimal('1')), 2),)
        """
        return cls(tuple(Counter(events).items()), neighbours, group)

    def epsilon(self, delta: Number) -> Decimal:
        """Compute the least ε of all events together for a given δ.

        Arguments:
            ``delta``: δ, between 0 and 1, and above ``certain``.

        Errors: DomainError if no ε is large enough for δ.

        >>> from policy_engine.accounting.events import PureDP
        >>> Accountant.of([PureDP("0.1")] * 100).epsilon("1e-6")
        Decimal('4.77457')
        """
        return max(least(found)[1] for found in self._epsilons(delta))

    def delta(self, epsilon: Number) -> Decimal:
        """Compute the least δ of all events together for a given ε. It is at most 1.

        Arguments:
            ``epsilon``: ε, from 0 to 10⁹.

        >>> from policy_engine.accounting.events import PureDP
        >>> Accountant.of([PureDP("0.1")] * 100).delta("5")
        Decimal('2.79263610141E-7')
        """
        return max(least(found)[1] for found in self._deltas(epsilon))

    def epsilons(self, delta: Number) -> Answers:
        """Compute the ε of all events together for a given δ, by each of three rules.

        ``basic`` adds up all ε and δ. ``optimal`` is for one repeated event (Kairouz, Oh and
        Viswanath 2015). ``tight`` composes the privacy losses.

        Arguments:
            ``delta``: δ, between 0 and 1.

        Returns: a dict from the name of a rule to its ε, or to None if the rule gives no ε.

        Errors: DomainError if no rule gives an ε.

        >>> from policy_engine.accounting.events import SampledSuppression
        >>> releases = Accountant.of([SampledSuppression(20, "0.1")] * 50)
        >>> releases.epsilons("1e-6")["basic"], releases.epsilons("1e-6")["tight"]
        (Decimal('14.0325541528'), Decimal('0.809905'))
        """
        return _worst(self._epsilons(delta))

    def deltas(self, epsilon: Number) -> Answers:
        """Compute the δ of all events together for a given ε, by the rules ``basic``, ``optimal``
        and ``tight``.

        Arguments:
            ``epsilon``: ε, from 0 to 10⁹.

        Returns: a dict from the name of a rule to its δ, or to None if the rule gives no δ.
        ``epsilons`` explains the rules.

        >>> from policy_engine.accounting.events import PureDP
        >>> Accountant.of([PureDP("0.1")] * 3).deltas("0.2")["basic"] is None
        True
        """
        return _worst(self._deltas(epsilon))

    @property
    def certain(self) -> Decimal:
        """The probability that some event certainly shows whether a unit is in the table.

        It is rounded up. No ε lowers it, so δ is at least this large.

        >>> from policy_engine.accounting.events import SampledSuppression
        >>> Accountant.of([SampledSuppression(2, "0.5")]).certain
        Decimal('0.250000000001')
        """
        who = Question(self.neighbours, self.group)
        ways = [way for part in _scenarios(self.events) for way in _directions(part, who)]
        return min(Decimal(1), upward(max(way.certain for way in ways), exact=True))

    def _answers(self, ask: Callable[[Rule, Charges, Question], Decimal | None]) -> list[Answers]:
        """For each way in which a unit may lie in the parts, what each rule proves."""
        who = Question(self.neighbours, self.group)
        return [
            {rule.name: ask(rule, way, who) for rule in RULES} for way in _scenarios(self.events)
        ]

    def _deltas(self, epsilon: Number) -> list[Answers]:
        asked = nonnegative_epsilon(epsilon)
        return self._answers(lambda rule, way, who: rule.delta(way, asked, who))

    def _epsilons(self, delta: Number) -> list[Answers]:
        asked = probability(delta)
        found = self._answers(lambda rule, way, who: rule.epsilon(way, asked, who))
        if any(not any(value is not None for value in way.values()) for way in found):
            law = f"above {self.certain}, the chance that some event gives a unit away"
            raise DomainError("delta", law, delta)
        return found


def _worst(found: list[Answers]) -> Answers:
    """The largest answer of each rule; None where it has none for some way."""
    worst: Answers = {}
    for rule in RULES:
        known = [value for way in found if (value := way[rule.name]) is not None]
        worst[rule.name] = max(known) if len(known) == len(found) else None
    return worst


def least(by_rule: Mapping[str, Decimal | None]) -> tuple[str, Decimal]:
    """The rule that proves the least, and what it proves; at least one must prove something.

    >>> least({"basic": Decimal(3), "optimal": None, "tight": Decimal(2)})
    ('tight', Decimal('2'))
    """
    value, name = min((value, name) for name, value in by_rule.items() if value is not None)
    return name, value


def _scenarios(events: Iterable[tuple[Event, int]]) -> list[Charges]:
    """Every choice of one part of each partition, without repetitions, [PART]."""
    plain: Counter[Event] = Counter()
    choices: list[list[Charges]] = []
    for event, times in events:
        if type(event) is Partitioned:
            parts = {way for part in event.parts for way in _scenarios(Counter(part).items())}
            choices += [sorted(parts, key=repr)] * times
        else:
            plain[event] += times
    ways = prod(len(choice) for choice in choices)
    if ways > MOST_SCENARIOS:
        law = f"so few that a unit can lie in their parts in at most {MOST_SCENARIOS} ways"
        raise DomainError("partitions", law, ways)
    found = set()
    for chosen in product(*choices):
        total = plain.copy()
        for part in chosen:
            total.update(dict(part))
        found.add(tuple(sorted(total.items(), key=repr)))
    return sorted(found, key=repr)


def _shared(
    charges: Charges,
    asked: Decimal,
    fixed: Decimal,
    ask: Callable[[Event, Decimal, str, int], Decimal],
    who: Question,
) -> list[tuple[Decimal, int]] | None:
    """What each curve takes at an even share of what the ``fixed`` ones leave; None: too little."""
    curves = [(event, n) for event, n in charges if has_curve(event)]
    times = sum(n for _, n in curves)
    with arithmetic(asked, fixed, room=30):
        left = asked - fixed
    if left < 0 or len(curves) > _MOST_CURVES:
        return None
    share = bounds.part_of(left, times) if times else left
    return [(ask(event, share, who.neighbours, who.group), n) for event, n in curves]


def _once(event: Event, epsilon: Decimal, who: Question) -> Decimal:
    """A point of a curve; under replace_one that of the pairs, which is quicker to have."""
    if who.neighbours == REPLACE_ONE:
        return max(way.delta(epsilon) for way in _directions(((event, 1),), who))
    return delta_of_event(event, epsilon, who.neighbours, who.group)


def _fixed(charges: Charges, who: Question) -> tuple[Decimal, Decimal]:
    """(Σε, Σδ) of the events that have no curve."""
    points = [(_point(event, who.neighbours), n) for event, n in charges if not has_curve(event)]
    return (
        _total([(epsilon, n) for (epsilon, _), n in points]),
        _total([(delta, n) for (_, delta), n in points]),
    )


def _total(terms: list[tuple[Decimal, int]]) -> Decimal:
    """Σ n·value, with every digit, then rounded up."""
    with arithmetic(*(value for value, _ in terms), room=30):
        total = sum((value * n for value, n in terms), Decimal(0))
    return upward(total, exact=True)


def _point(event: Event, neighbours: str) -> tuple[Decimal, Decimal]:
    """The (ε, δ) of an event for one unit."""
    match event:
        case PureDP(epsilon=epsilon):
            return nonnegative_epsilon(epsilon), Decimal(0)
        case ApproximateDP(epsilon=epsilon, delta=delta):
            return nonnegative_epsilon(epsilon), probability(delta)
        case DiscreteLaplace(scale=scale, sensitivity=sensitivity):
            with arithmetic(Decimal(1)):
                return upward(sensitivity / Decimal(str(scale))), Decimal(0)
        case RandomisedResponse(truth=truth, values=values):
            return bounds.randomised_response(truth, values, neighbours), Decimal(0)
    raise DomainError("event", "one that this accountant knows", repr(event))


def _directions(charges: Charges, who: Question) -> list[Composition]:
    """The compositions for remove and for add; under replace_one, and of symmetric pairs, one."""
    pairs = [
        (pair, n * times)
        for event, n in charges
        for pair, times in Counter(pairs_of(event, who.neighbours, who.group)).items()
    ]
    ways = [Composition(pairs)]
    if who.neighbours != REPLACE_ONE and not all(pair.is_symmetric for pair, _ in pairs):
        ways.append(Composition((pair.reversed(), n) for pair, n in pairs))
    return ways


def _repeated(epsilon: Decimal, delta: Decimal, n: int, total: Decimal) -> Decimal:
    """δ at a total ε of N mechanisms that are (ε₀, δ₀)-DP: Kairouz, Oh, Viswanath 2015.

    1 − (1−δ₀)^N·(1 − Σ_{l: (N−2l)ε₀ > ε} [f(l; N, q) − e^ε·f(N−l; N, q)]), q = 1/(1 + e^ε₀).
    """
    with arithmetic(epsilon, delta, total, room=40):
        share = 1 / (1 + epsilon.exp())
        odds, scale = share / (1 - share), total.exp()
        mass, mirrored = (1 - share) ** n, share**n
        lost = Decimal(0)
        number = 0
        while (n - 2 * number) * epsilon > total:
            lost += mass - scale * mirrored
            step = Decimal(n - number) / (number + 1)
            mass, mirrored = mass * step * odds, mirrored * step / odds
            number += 1
        kept = (n * (1 - delta).ln()).exp()
        # Two positive terms: a small δ is not what is left of 1.
        return min(Decimal(1), upward((1 - kept) + kept * lost))


def _least_repeated(epsilon: Decimal, delta: Decimal, n: int, total: Decimal) -> Decimal | None:
    """The least total ε, up to 4 digits, at which ``_repeated`` is within a total δ."""
    low, high = Decimal(0), n * epsilon
    if _repeated(epsilon, delta, n, high) > total:
        return None
    if _repeated(epsilon, delta, n, low) <= total:
        return low
    while high - low > high / 10_000:
        middle = downward((low + high) / 2)
        if _repeated(epsilon, delta, n, middle) <= total:
            high = middle
        else:
            low = middle
    return upward(high, exact=True)

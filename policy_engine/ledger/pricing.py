"""What an account's releases cost together, and whether one more may run, [FILTER].

``Spent`` is the running state of one account, small enough to stand in every record: one line
for each kind of release, and how often it was. It is a value: ``plus`` and ``minus`` give new ones.

What decides is the first event that was ever reserved, a limit, and the kinds; two states that
agree in these are equal. What was chosen privately before it is taken out of ε, as it adds up, and
is no part of the plan: ``opening``. The plan and the costs follow from them
(``accounting.adaptive``) and are kept because to compute them takes time: they are kept as they
were first computed, for a plan must not change once a release was seen.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field, replace
from decimal import Decimal
from functools import lru_cache, partial
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

from policy_engine.accounting import adaptive
from policy_engine.accounting.composition import Charges, Question, Tight
from policy_engine.accounting.domain import EXACT, neighbour_notion
from policy_engine.accounting.events import DrawnChoice, Event, Unbounded
from policy_engine.errors import DomainError
from policy_engine.ledger.asked import (
    NONSENSE,
    Asked,
    cost_from_json,
    cost_to_json,
    plan_from_json,
    plan_to_json,
    read_amount,
    read_count,
)
from policy_engine.values import frozen

if TYPE_CHECKING:
    from policy_engine.ledger.account import Limit

_MOST_SCENARIOS, _MOST_EVENTS, _MOST_TIMES = 16, 4, 100


@frozen
class EqualReleases:
    """Equal releases: what each was, how many there are, what one takes of the account's plan."""

    asked: Asked
    times: int
    cost: adaptive.Cost | None = field(default=None, compare=False)


@frozen
class Price:
    """What an account has spent.

    The basic numbers are the sums of the certificates, exactly. The tight ones bound the same
    releases as a list that was fixed beforehand: ε at the limit's δ, and δ at its ε. None without a
    limit, or where nothing is proven. Of more than 4 kinds they are bounded by the moments.
    """

    basic_epsilon: Decimal
    basic_delta: Decimal
    tight_epsilon: Decimal | None
    tight_delta: Decimal | None


@frozen
class Spent:
    """The running state of one account.

    >>> from policy_engine.accounting.events import SampledSuppression
    >>> asked = Asked(SampledSuppression(20, "0.1"), Decimal("0.5"), Decimal("2.64e-11"))
    >>> twice = Spent.none("add_remove").plus(asked, None).plus(asked, None)
    >>> [kind.times for kind in twice.kinds], Spent.from_json(twice.to_json()) == twice
    ([2], True)
    """

    neighbours: str
    first: Asked | None = None
    """The first release. Of the data nothing had been seen but the ``opening``, whatever of which
    came out: so a plan of what that leaves may use it."""
    kinds: tuple[EqualReleases, ...] = ()
    opening: tuple[EqualReleases, ...] = ()
    """What was chosen privately before the first release: pure, so that ε alone is taken."""
    held: Decimal = Decimal(0)
    """What the opening took of ε when the first release was reserved: the plan is of the rest."""
    plan: adaptive.Plan | None = field(default=None, compare=False)
    reach: adaptive.Reach = field(default=adaptive.Reach(), compare=False)

    @classmethod
    def none(cls, neighbours: str) -> Spent:
        """An account that spent nothing; DomainError for an unknown notion of neighbours."""
        return cls(neighbour_notion(neighbours))

    def plus(self, asked: Asked, limit: Limit | None, times: int = 1) -> Spent:
        """The state after one more release, or several alike. Whether it fits is not asked here.

        Under the first limit the plan is made, under another one again. Errors: DomainError for
        an event that this notion of neighbours does not know.
        """
        if self.first is None and isinstance(asked.event, DrawnChoice):
            return self._opened(_one_more(self.opening, asked, times))
        first, kinds = self.first or asked, _one_more(self.kinds, asked, times)
        state = replace(self, first=first, kinds=kinds)
        return state if limit is None else state.under(limit)

    def minus(self, asked: Asked) -> Spent:
        """The state without one release of which it is proven that nothing of it ran.

        The plan stays as it is, unless no release is left: then none was ever seen. Errors:
        DomainError where there is no such release.
        """
        kinds, opening = _one_less(self.kinds, asked), self.opening
        if kinds is None:
            kinds, left = self.kinds, _one_less(self.opening, asked)
            if left is None:
                raise DomainError("asked", "a release of this account", asked)
            opening = left
        if kinds:
            return replace(self, kinds=kinds, opening=opening)
        return Spent.none(self.neighbours)._opened(opening)

    def _opened(self, opening: tuple[EqualReleases, ...]) -> Spent:
        """The state before the first release, with these choices."""
        held = _worst(opening, lambda kind: (kind.asked.epsilon,))[0] if opening else Decimal(0)
        return replace(self, opening=opening, held=held)

    def under(self, limit: Limit) -> Spent:
        """The same state with all that is computed once and kept: plan, reach and costs."""
        if self.first is None or self.is_unbounded:
            return self
        state, plan = self, self.plan
        epsilon = max(Decimal(0), EXACT.subtract(limit.epsilon, self.held))
        if plan is None or (plan.epsilon, plan.delta) != (epsilon, limit.delta):
            plan = _plan(self.first, epsilon, limit.delta, self.neighbours)
            kinds = tuple(replace(kind, cost=None) for kind in self.kinds)
            state = replace(self, plan=plan, kinds=kinds, reach=adaptive.Reach())
        if state._is_chain:
            holds = partial(_holds_chain, self.first, plan=plan, neighbours=self.neighbours)
            state = replace(state, reach=state.reach.towards(state._times, holds))
            if state._times <= state.reach.holds:
                return state
        return state._costed()

    def is_within(self, limit: Limit) -> bool:
        """Whether the releases end in one of the three ways that keep the limit.

        >>> from policy_engine.ledger.account import Limit
        >>> from policy_engine.accounting.events import PureDP
        >>> asked = Asked(PureDP("0.5"), Decimal("0.5"), Decimal(0))
        >>> state = Spent.none("add_remove").plus(asked, None).plus(asked, None)
        >>> [state.is_within(Limit(Decimal(most), Decimal(0))) for most in ("0.9", "1")]
        [False, True]
        """
        if self.is_unbounded or self.held > limit.epsilon:
            return False
        state = self.under(limit)
        if state.plan is None:
            return True
        epsilon, delta = state._certificates()
        if epsilon <= state.plan.epsilon and delta <= state.plan.sum:
            return True
        if state._is_chain and state._times <= state.reach.holds:
            return True
        return state.plan.pays(state._cost())

    def to_json(self, own: Asked | None = None) -> dict[str, object]:
        """Texts and whole numbers: a line for each kind, and no release twice.

        The first one is the number of its kind, if there is one of it still. Of the kind that is
        the record's ``own``, which has it already, nothing is said.
        """
        asked = [kind.asked for kind in self.kinds]
        first: object = None if self.first is None else self.first.to_json()
        if self.first in asked:
            first = asked.index(self.first)
        return {
            "neighbours": self.neighbours,
            "first": first,
            "kinds": [
                [
                    None if kind.asked == own else kind.asked.to_json(),
                    kind.times,
                    cost_to_json(kind.cost),
                ]
                for kind in self.kinds
            ],
            "opening": [[kind.asked.to_json(), kind.times] for kind in self.opening],
            "held": str(self.held),
            "plan": None if self.plan is None else plan_to_json(self.plan),
            "reach": [self.reach.holds, self.reach.fails],
        }

    @classmethod
    def from_json(cls, state: Mapping[str, Any], own: Asked | None = None) -> Spent:
        """The state that ``to_json`` wrote; DomainError for anything else."""
        try:
            first, plan = state["first"], state["plan"]
            holds, fails = map(read_count, state["reach"])
            kinds = tuple(
                EqualReleases(
                    own if asked is None and own is not None else Asked.from_json(asked),
                    read_count(times),
                    cost_from_json(cost),
                )
                for asked, times, cost in state["kinds"]
            )
            if type(first) is int:
                first = kinds[read_count(first)].asked
            elif first is not None:
                first = Asked.from_json(first)
            found = cls(
                neighbours=neighbour_notion(state["neighbours"]),
                first=first,
                kinds=kinds,
                opening=tuple(
                    EqualReleases(Asked.from_json(asked), read_count(times))
                    for asked, times in state["opening"]
                ),
                held=read_amount(state["held"]),
                plan=None if plan is None else plan_from_json(plan),
                reach=adaptive.Reach(holds, fails),
            )
            _check(found)
        except NONSENSE:
            raise DomainError("spent", "a state as this version writes it", state) from None
        return found

    @property
    def is_unbounded(self) -> bool:
        """Whether a release of no (ε, δ) is among them, or was the first: no limit holds then."""
        events = (kind.asked.event for kind in self.kinds)
        first = self.first is not None and isinstance(self.first.event, Unbounded)
        return first or any(isinstance(event, Unbounded) for event in events)

    @property
    def unbounded(self) -> int:
        """How many releases of no (ε, δ) are among them."""
        return sum(k.times for k in self.kinds if isinstance(k.asked.event, Unbounded))

    @property
    def _is_chain(self) -> bool:
        """Whether the first event covers every one."""
        assert self.first is not None
        return all(self.first.covers(kind.asked.event) for kind in self.kinds)

    @property
    def _times(self) -> int:
        """How many releases one unit can be in."""
        [times] = _worst(self.kinds, lambda kind: (Decimal(1),))
        return int(times)

    def _certificates(self) -> tuple[Decimal, ...]:
        """Σε and Σδ of the certificates of the releases that one unit can be in."""
        return _worst(self.kinds, lambda kind: (kind.asked.epsilon, kind.asked.delta))

    def _cost(self) -> adaptive.Cost:
        """What these releases take of the plan."""

        def numbers(kind: EqualReleases) -> tuple[Decimal, ...]:
            assert kind.cost is not None
            return (kind.cost.mass, *kind.cost.scales)

        mass, *scales = _worst(self.kinds, numbers)
        return adaptive.Cost(mass, tuple(scales))

    def _costed(self) -> Spent:
        """With the cost of every kind."""
        assert self.plan is not None
        plan, notion = self.plan, self.neighbours
        kinds = tuple(
            replace(kind, cost=kind.cost or _cost_of(kind.asked.event, plan, notion))
            for kind in self.kinds
        )
        return replace(self, kinds=kinds)


def price(spent: Spent, limit: Limit | None) -> Price:
    """What was spent, by the sum of the certificates and by the tight rule.

    >>> from policy_engine.ledger.account import Limit
    >>> from policy_engine.accounting.events import SampledSuppression
    >>> asked = Asked(SampledSuppression(20, "0.1"), Decimal("0.5"), Decimal("2.64e-11"))
    >>> state = Spent.none("add_remove").plus(asked, None).plus(asked, None)
    >>> price(state, Limit(Decimal(1), Decimal("1e-6"))).tight_epsilon
    Decimal('0.220694')
    """
    everything = (*spent.opening, *spent.kinds)
    epsilon, delta = Decimal(0), Decimal(0)
    if everything:
        epsilon, delta = _worst(everything, lambda kind: (kind.asked.epsilon, kind.asked.delta))
    if limit is None or spent.is_unbounded:
        return Price(epsilon, delta, None, None)
    tight_epsilon, tight_delta = _as_list(spent, limit)
    if delta <= limit.delta and (tight_epsilon is None or epsilon < tight_epsilon):
        tight_epsilon = epsilon
    if epsilon <= limit.epsilon and (tight_delta is None or delta < tight_delta):
        tight_delta = delta
    return Price(epsilon, delta, tight_epsilon, tight_delta)


def _as_list(spent: Spent, limit: Limit) -> tuple[Decimal | None, Decimal | None]:
    """ε at the limit's δ and δ at its ε of a list that was fixed beforehand; None if unknown."""
    everything = (*spent.opening, *spent.kinds)
    if not everything:
        return Decimal(0), Decimal(0)
    ways: list[Charges] = _scenarios(everything)
    many = max((sum(times for _, times in way) for way in ways), default=0) > _MOST_TIMES
    if many or max(map(len, ways), default=_MOST_EVENTS + 1) > _MOST_EVENTS:
        # To convolve so many takes seconds or more. What the rule keeps says more, at once.
        if spent.first is None:
            return spent.held, Decimal(spent.held > limit.epsilon)
        state = spent.under(limit)._costed()
        assert state.plan is not None
        if many or not state._is_chain:
            cost = state._cost()
            epsilon = state.plan.epsilon_of(cost)
            more = None if epsilon is None else EXACT.add(epsilon, spent.held)
            return more, state.plan.delta_of(cost)
        ways = [((spent.first.event, spent._times), (DrawnChoice(spent.held), 1))]
    return _tight(tuple(ways), limit, Question(spent.neighbours))


@lru_cache(maxsize=256)  # a command asks for one account before, while and after it is charged
def _tight(
    ways: tuple[Charges, ...], limit: Limit, who: Question
) -> tuple[Decimal | None, Decimal]:
    tight = Tight()
    delta = max(tight.delta(way, limit.epsilon, who) for way in ways)
    if not 0 < limit.delta < 1:
        return None, delta
    found = [tight.epsilon(way, limit.delta, who) for way in ways]
    known = [each for each in found if each is not None]
    return (max(known) if len(known) == len(found) else None), delta


def fits(spent: Spent, asked: Asked, limit: Limit | None, times: int = 1) -> bool:
    """Whether one more release keeps the limit, whatever is chosen; without one everything does.

    ``times`` asks of so many alike, one after the other.

    >>> from policy_engine.ledger.account import Limit
    >>> from policy_engine.accounting.events import SampledSuppression
    >>> whole = Asked(SampledSuppression(9, "0.1"), Decimal(1), Decimal("2.9e-8"))
    >>> limit = Limit(Decimal(1), Decimal("3e-8"))
    >>> empty = Spent.none("add_remove")
    >>> fits(empty, whole, limit), fits(empty.plus(whole, limit), whole, limit)
    (True, False)
    """
    return limit is None or spent.plus(asked, limit, times).is_within(limit)


_plan = lru_cache(maxsize=64)(adaptive.plan_for)
_holds_chain = lru_cache(maxsize=256)(adaptive.holds_chain)
_cost_of = lru_cache(maxsize=1024)(adaptive.cost_of)


def _one_more(
    kinds: tuple[EqualReleases, ...], asked: Asked, times: int
) -> tuple[EqualReleases, ...]:
    """The kinds with so many more of one."""
    found = {kind.asked: kind for kind in kinds}
    kind = found.get(asked, EqualReleases(asked, 0))
    found[asked] = replace(kind, times=kind.times + times)
    return tuple(found.values())


def _one_less(kinds: tuple[EqualReleases, ...], asked: Asked) -> tuple[EqualReleases, ...] | None:
    """The kinds with one less of one; None where it is not among them."""
    if all(kind.asked != asked for kind in kinds):
        return None
    less = (replace(kind, times=kind.times - (kind.asked == asked)) for kind in kinds)
    return tuple(kind for kind in less if kind.times)


def _worst(
    kinds: Iterable[EqualReleases], numbers: Callable[[EqualReleases], tuple[Decimal, ...]]
) -> tuple[Decimal, ...]:
    """The sums over what one unit can be in: all without a part, one part of each partition.

    Each number for itself, so that the sums are at least those of any unit. Exact.
    """
    sums: dict[tuple[str, str] | None, tuple[Decimal, ...]] = {}
    for kind in kinds:
        terms = tuple(EXACT.multiply(number, Decimal(kind.times)) for number in numbers(kind))
        sums[kind.asked.part] = _added(sums.get(kind.asked.part), terms)
    total = sums.pop(None, None)
    worst: dict[str, tuple[Decimal, ...]] = {}
    for part, terms in sums.items():
        assert part is not None
        worst[part[0]] = tuple(map(max, worst.get(part[0], terms), terms))
    for terms in worst.values():
        total = _added(total, terms)
    assert total is not None
    return total


def _added(total: tuple[Decimal, ...] | None, terms: tuple[Decimal, ...]) -> tuple[Decimal, ...]:
    return terms if total is None else tuple(map(EXACT.add, total, terms))


def _scenarios(kinds: Iterable[EqualReleases]) -> list[Charges]:
    """The charges of a unit, for each part of each partition, once; none where too many."""
    plain = Counter[Event]()
    partitions: dict[str, dict[str, Counter[Event]]] = {}
    for kind in kinds:
        events, part = plain, kind.asked.part
        if part is not None:
            events = partitions.setdefault(part[0], {}).setdefault(part[1], Counter())
        events[kind.asked.event] += kind.times
    if prod(map(len, partitions.values())) > _MOST_SCENARIOS:
        return []
    chosen = product(*(parts.values() for parts in partitions.values()))
    ways = [sum(events, plain) for events in chosen]
    return list(dict.fromkeys(tuple(way.items()) for way in ways if way))


def _is_opening(spent: Spent) -> bool:
    """Whether choices stand in the opening, each kind once, and what it took of ε is enough."""
    asked = {kind.asked for kind in spent.opening}
    held = spent._opened(spent.opening).held
    return (
        len(asked) == len(spent.opening)
        and all(isinstance(each.event, DrawnChoice) and each.part is None for each in asked)
        and all(kind.times > 0 for kind in spent.opening)
        and (held == spent.held if spent.first is None else held <= spent.held)
    )


def _check(spent: Spent) -> None:
    """Refuse what no account can be."""
    orders = 0 if spent.plan is None else len(spent.plan.orders)
    costs = [kind.cost for kind in spent.kinds if kind.cost is not None]
    sound = (
        (spent.first is None) == (not spent.kinds)
        and (spent.plan is None or len(spent.plan.scales) == orders)
        and all(spent.plan is not None and len(cost.scales) == orders for cost in costs)
        and all(kind.times > 0 for kind in spent.kinds)
        and len({kind.asked for kind in spent.kinds}) == len(spent.kinds)
        and _is_opening(spent)
    )
    if not sound:
        raise ValueError(spent)

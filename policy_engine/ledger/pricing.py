"""What an account's releases cost together, and whether one more may run, [FILTER].

``Spent`` is the running state of one account, small enough to stand in every record: one line
for each kind of release, and how often it was. It is a value: ``plus`` and ``minus`` give new ones.

What decides is the first event that was ever reserved, a limit, and the kinds; two states that
agree in these are equal. The plan and the costs follow from them (``accounting.adaptive``) and
are kept because to compute them takes time: they are kept as they were first computed, for a plan
must not change once a release was seen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from decimal import (
    ROUND_FLOOR,
    Context,
    Decimal,
)
from functools import lru_cache, partial
from itertools import product
from math import prod
from typing import Any, Protocol

from policy_engine.accounting.adaptive import (
    Cost,
    Plan,
    Reach,
    Repeated,
    cost_of,
    holds_chain,
    plan_for,
)
from policy_engine.accounting.amounts import EXACT
from policy_engine.accounting.bisection import least_integer
from policy_engine.accounting.composition import Charges, Question, Tight
from policy_engine.accounting.domain import claimed, neighbour_notion
from policy_engine.accounting.events import (
    ApproximateDP,
    DiscreteLaplace,
    Event,
    PureDP,
    RandomisedResponse,
    SampledSuppression,
    TableNoise,
    Unbounded,
)
from policy_engine.accounting.exact import delta_exact
from policy_engine.accounting.noise import IntegerTable, Statistic
from policy_engine.errors import DomainError

_MECHANISMS: dict[str, type[Any]] = {
    "sampled_suppression": SampledSuppression,
    "pure_dp": PureDP,
    "approximate_dp": ApproximateDP,
    "discrete_laplace": DiscreteLaplace,
    "randomised_response": RandomisedResponse,
    "table_noise": TableNoise,
    "unbounded": Unbounded,
}
_NONSENSE = (ArithmeticError, AttributeError, DomainError, IndexError, KeyError, TypeError,
             ValueError)  # fmt: skip
_THREE_DIGITS = Context(prec=3, rounding=ROUND_FLOOR)
_LEAST_DELTA = Decimal("1e-900")
_DOUBLINGS, _PARTS, _TENTHS = 7, 1000, 7
_MOST_SCENARIOS, _MOST_EVENTS, _MOST_TIMES = 16, 4, 100


class Limit(Protocol):
    """The most an account may ever spend."""

    @property
    def epsilon(self) -> Decimal:
        """ε."""

    @property
    def delta(self) -> Decimal:
        """δ."""


@dataclass(frozen=True)
class Asked:
    """One release: its event, its certificate's (ε, δ), and the part of a partition it reads.

    >>> Asked.from_json(Asked(PureDP(1), Decimal(1), Decimal(0)).to_json()).event
    PureDP(epsilon=Decimal('1'))
    """

    event: Event
    epsilon: Decimal
    delta: Decimal
    part: tuple[str, str] | None = None

    def to_json(self) -> dict[str, Any]:
        """Texts and whole numbers.

        Raises DomainError for an event that cannot be charged by itself: a partition.
        """
        return {
            "event": _event_to_json(self.event),
            "epsilon": str(self.epsilon),
            "delta": str(self.delta),
            "part": None if self.part is None else list(self.part),
        }

    @classmethod
    def from_json(cls, state: Mapping[str, Any]) -> Asked:
        """The release that ``to_json`` wrote; DomainError for anything else."""
        try:
            part = state["part"]
            return cls(
                _event_from_json(state["event"]),
                _amount(state["epsilon"]),
                _amount(state["delta"]),
                None if part is None else (_text(part[0]), _text(part[1])),
            )
        except _NONSENSE:
            raise DomainError("asked", "a release as this version writes it", state) from None


@dataclass(frozen=True)
class Kind:
    """Equal releases: what each was, how many there are, what one takes of the account's plan."""

    asked: Asked
    times: int
    cost: Cost | None = field(default=None, compare=False)


@dataclass(frozen=True)
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


@dataclass(frozen=True)
class Fitting:
    """What would fit where a release does not, its ε kept; None where nothing near does."""

    least_k: int | None
    greatest_rate: Decimal | None


@dataclass(frozen=True)
class Spent:
    """The running state of one account.

    >>> asked = Asked(SampledSuppression(20, "0.1"), Decimal("0.5"), Decimal("2.64e-11"))
    >>> twice = Spent.none("add_remove").plus(asked, None).plus(asked, None)
    >>> [kind.times for kind in twice.kinds], Spent.from_json(twice.to_json()) == twice
    ([2], True)
    """

    neighbours: str
    first: Asked | None = None
    """The first release of all. It was chosen when nothing had been seen, so a plan may use it."""
    kinds: tuple[Kind, ...] = ()
    plan: Plan | None = field(default=None, compare=False)
    reach: Reach = field(default=Reach(), compare=False)

    @classmethod
    def none(cls, neighbours: str) -> Spent:
        """An account that spent nothing; DomainError for an unknown notion of neighbours."""
        return cls(neighbour_notion(neighbours))

    def plus(self, asked: Asked, limit: Limit | None) -> Spent:
        """The state after one more release. Whether it fits is not asked here.

        Under the first limit the plan is made, under another one again. Errors: DomainError for
        an event that this notion of neighbours does not know.
        """
        kinds = {kind.asked: kind for kind in self.kinds}
        kind = kinds.get(asked, Kind(asked, 0))
        kinds[asked] = replace(kind, times=kind.times + 1)
        state = replace(self, first=self.first or asked, kinds=tuple(kinds.values()))
        return state if limit is None else state.under(limit)

    def minus(self, asked: Asked) -> Spent:
        """The state without one release of which it is proven that nothing of it ran.

        The plan stays as it is, unless nothing is left: then nothing was ever seen. Errors:
        DomainError where there is no such release.
        """
        kinds = {kind.asked: kind for kind in self.kinds}
        if asked not in kinds:
            raise DomainError("asked", "a release of this account", asked)
        kinds[asked] = replace(kinds[asked], times=kinds[asked].times - 1)
        left = tuple(kind for kind in kinds.values() if kind.times)
        return replace(self, kinds=left) if left else Spent.none(self.neighbours)

    def under(self, limit: Limit) -> Spent:
        """The same state with all that is computed once and kept: plan, reach and costs."""
        if self.first is None or self.is_unbounded:
            return self
        state = self
        if self.plan is None or (self.plan.epsilon, self.plan.delta) != (
            limit.epsilon,
            limit.delta,
        ):
            plan = _plan(_repeated(self.first), limit.epsilon, limit.delta, self.neighbours)
            kinds = tuple(replace(kind, cost=None) for kind in self.kinds)
            state = replace(self, plan=plan, kinds=kinds, reach=Reach())
        return state._reached()._costed()

    def is_within(self, limit: Limit) -> bool:
        """Whether the releases end in one of the three ways that keep the limit.

        >>> from policy_engine.ledger.account import Limit
        >>> asked = Asked(PureDP("0.5"), Decimal("0.5"), Decimal(0))
        >>> state = Spent.none("add_remove").plus(asked, None).plus(asked, None)
        >>> [state.is_within(Limit(Decimal(most), Decimal(0))) for most in ("0.9", "1")]
        [False, True]
        """
        if self.is_unbounded:
            return False
        state = self.under(limit)
        if state.plan is None:
            return True
        epsilon, delta = state._certificates()
        if epsilon <= limit.epsilon and delta <= state.plan.sum:
            return True
        if state._is_chain and state._times <= state.reach.holds:
            return True
        return state.plan.pays(state._cost())

    def to_json(self) -> dict[str, Any]:
        """Texts and whole numbers: a line for each kind."""
        return {
            "neighbours": self.neighbours,
            "first": None if self.first is None else self.first.to_json(),
            "kinds": [
                [kind.asked.to_json(), kind.times, _cost_to_json(kind.cost)] for kind in self.kinds
            ],
            "plan": None if self.plan is None else _plan_to_json(self.plan),
            "reach": [self.reach.holds, self.reach.fails],
        }

    @classmethod
    def from_json(cls, state: Mapping[str, Any]) -> Spent:
        """The state that ``to_json`` wrote; DomainError for anything else."""
        try:
            first, plan = state["first"], state["plan"]
            holds, fails = map(_count, state["reach"])
            found = cls(
                neighbours=neighbour_notion(state["neighbours"]),
                first=None if first is None else Asked.from_json(first),
                kinds=tuple(
                    Kind(Asked.from_json(asked), _count(times), _cost_from_json(cost))
                    for asked, times, cost in state["kinds"]
                ),
                plan=None if plan is None else _plan_from_json(plan),
                reach=Reach(holds, fails),
            )
            _check(found)
        except _NONSENSE:
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
        first = _repeated(self.first)
        return all(first.covers(kind.asked.event) for kind in self.kinds)

    @property
    def _times(self) -> int:
        """How many releases one unit can be in."""
        [times] = _worst(self.kinds, lambda kind: (Decimal(1),))
        return int(times)

    def _certificates(self) -> tuple[Decimal, ...]:
        """Σε and Σδ of the certificates of the releases that one unit can be in."""
        return _worst(self.kinds, lambda kind: (kind.asked.epsilon, kind.asked.delta))

    def _cost(self) -> Cost:
        """What these releases take of the plan."""
        mass, *scales = _worst(self.kinds, _numbers)
        return Cost(mass, tuple(scales))

    def _reached(self) -> Spent:
        """With it known whether so many of the first event are a chain."""
        assert self.first is not None
        assert self.plan is not None
        if not self._is_chain:
            return self
        first, plan = _repeated(self.first), self.plan
        reach = self.reach.towards(
            self._times, lambda times: _holds_chain(first, times, plan, self.neighbours)
        )
        return replace(self, reach=reach)

    def _costed(self) -> Spent:
        """With the cost of every kind, unless the account is a chain."""
        return self if self._is_chain and self._times <= self.reach.holds else self._all_costed()

    def _all_costed(self) -> Spent:
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
    >>> asked = Asked(SampledSuppression(20, "0.1"), Decimal("0.5"), Decimal("2.64e-11"))
    >>> state = Spent.none("add_remove").plus(asked, None).plus(asked, None)
    >>> price(state, Limit(Decimal(1), Decimal("1e-6"))).tight_epsilon
    Decimal('0.220694')
    """
    epsilon, delta = spent._certificates() if spent.kinds else (Decimal(0), Decimal(0))
    if limit is None or spent.is_unbounded:
        return Price(epsilon, delta, None, None)
    list_epsilon, list_delta = _as_list(spent, limit)
    epsilons = [each for each in (list_epsilon,) if each is not None]
    deltas = [each for each in (list_delta,) if each is not None]
    if delta <= limit.delta:
        epsilons.append(epsilon)
    if epsilon <= limit.epsilon:
        deltas.append(delta)
    return Price(epsilon, delta, min(epsilons, default=None), min(deltas, default=None))


def _as_list(spent: Spent, limit: Limit) -> tuple[Decimal | None, Decimal | None]:
    """ε at the limit's δ and δ at its ε of a list that was fixed beforehand; None if unknown."""
    if spent.first is None:
        return Decimal(0), Decimal(0)
    ways: list[Charges] = _scenarios(spent.kinds)
    many = max((sum(times for _, times in way) for way in ways), default=0) > _MOST_TIMES
    if many or max(map(len, ways), default=_MOST_EVENTS + 1) > _MOST_EVENTS:
        # To convolve so many takes seconds or more. What the rule keeps says more, at once.
        state = spent.under(limit)._all_costed()
        assert state.plan is not None
        if many or not state._is_chain:
            cost = state._cost()
            return state.plan.epsilon_of(cost), state.plan.delta_of(cost)
        ways = [((spent.first.event, spent._times),)]
    tight, who = Tight(), Question(spent.neighbours)
    delta = max(tight.delta(way, limit.epsilon, who) for way in ways)
    if not 0 < limit.delta < 1:
        return None, delta
    found = [tight.epsilon(way, limit.delta, who) for way in ways]
    known = [each for each in found if each is not None]
    return (max(known) if len(known) == len(found) else None), delta


def fits(spent: Spent, asked: Asked, limit: Limit | None) -> bool:
    """Whether one more release keeps the limit, whatever is chosen; without one everything does.

    >>> from policy_engine.ledger.account import Limit
    >>> whole = Asked(SampledSuppression(9, "0.1"), Decimal(1), Decimal("2.9e-8"))
    >>> limit = Limit(Decimal(1), Decimal("3e-8"))
    >>> empty = Spent.none("add_remove")
    >>> fits(empty, whole, limit), fits(empty.plus(whole, limit), whole, limit)
    (True, False)
    """
    return limit is None or spent.plus(asked, limit).is_within(limit)


def fitting(spent: Spent, asked: Asked, limit: Limit | None) -> Fitting:
    """What would fit: the least k at the asked rate, the greatest rate at the asked k.

    k up to 128 times the asked one, the rate down to 1/1000, in steps of that. Both None where
    the event has no k.
    """
    event = asked.event
    if not isinstance(event, SampledSuppression):
        return Fitting(None, None)
    rate = Decimal(str(event.rate))

    def allowed(k: int, rate: Decimal) -> bool:
        delta = delta_exact(k, rate, asked.epsilon, spent.neighbours).delta
        delta = max(_LEAST_DELTA, claimed(delta))
        other = replace(asked, event=SampledSuppression(k, rate), delta=delta)
        return fits(spent, other, limit)

    def part(share: int) -> Decimal:
        return _THREE_DIGITS.multiply(rate, Decimal(share).scaleb(-3))

    return Fitting(
        _least_k(event.k, lambda k: allowed(k, rate)),
        _greatest(part, lambda rate: allowed(event.k, rate)),
    )


def greatest_epsilon(
    spent: Spent, asked: Asked, limit: Limit | None
) -> tuple[Decimal, Decimal] | None:
    """The greatest ε at which a release of any kind would fit, and at which δ.

    In thousandths of the asked ε; at the asked δ, or a tenth of it, a hundredth and so on, the
    first at which one fits; None where none does. Of a known kind more may fit: its curve tells
    more than its certificate.

    >>> from policy_engine.ledger.account import Limit
    >>> half, limit = Asked(PureDP(5), Decimal(5), Decimal(0)), Limit(Decimal(1), Decimal(0))
    >>> greatest_epsilon(Spent.none("add_remove"), half, limit)
    (Decimal('1.00'), Decimal('0'))
    """

    def allowed(delta: Decimal, epsilon: Decimal) -> bool:
        event = ApproximateDP(epsilon, delta) if delta else PureDP(epsilon)
        return fits(spent, replace(asked, event=event, epsilon=epsilon, delta=delta), limit)

    def part(share: int) -> Decimal:
        return _THREE_DIGITS.multiply(asked.epsilon, Decimal(share).scaleb(-3))

    for tenths in range(_TENTHS):
        delta = asked.delta.scaleb(-tenths)
        if epsilon := _greatest(part, partial(allowed, delta)):
            return epsilon, delta
    return None


def _least_k(k: int, allowed: Callable[[int], bool]) -> int | None:
    for doubling in range(_DOUBLINGS):
        low, high = k << doubling, k << (doubling + 1)
        if allowed(high):
            return least_integer(low, high, allowed)
    return None


def _greatest(part: Callable[[int], Decimal], allowed: Callable[[Decimal], bool]) -> Decimal | None:
    if not allowed(part(1)):
        return None
    refused = least_integer(1, _PARTS, lambda share: not allowed(part(share)))
    return part(refused - 1)


def _repeated(asked: Asked) -> Repeated:
    return Repeated(asked.event, asked.epsilon, asked.delta)


# What is asked once for ``fits`` and once for ``plus``.
_plan = lru_cache(maxsize=64)(plan_for)
_holds_chain = lru_cache(maxsize=256)(holds_chain)
_cost_of = lru_cache(maxsize=1024)(cost_of)


def _numbers(kind: Kind) -> tuple[Decimal, ...]:
    assert kind.cost is not None
    return (kind.cost.mass, *kind.cost.scales)


def _worst(
    kinds: Iterable[Kind], numbers: Callable[[Kind], tuple[Decimal, ...]]
) -> tuple[Decimal, ...]:
    """The sums over what one unit can be in: all without a part, one part of each partition.

    Each number for itself, so that the sums are at least those of any unit. Exact.
    """
    sums: dict[tuple[str, str] | None, tuple[Decimal, ...]] = {}
    for kind in kinds:
        terms = tuple(EXACT.multiply(number, Decimal(kind.times)) for number in numbers(kind))
        sums[kind.asked.part] = _added(sums.get(kind.asked.part), terms)
    total = sums.pop(None, None)
    partitions: dict[str, tuple[Decimal, ...]] = {}
    for part, terms in sums.items():
        assert part is not None
        known = partitions.get(part[0], terms)
        partitions[part[0]] = tuple(map(max, known, terms))
    for terms in partitions.values():
        total = _added(total, terms)
    assert total is not None
    return total


def _added(total: tuple[Decimal, ...] | None, terms: tuple[Decimal, ...]) -> tuple[Decimal, ...]:
    return terms if total is None else tuple(map(EXACT.add, total, terms))


def _scenarios(kinds: Iterable[Kind]) -> list[Charges]:
    """The charges of a unit, for each part of each partition; none where these are too many."""
    plain: dict[Event, int] = {}
    partitions: dict[str, dict[str, dict[Event, int]]] = {}
    for kind in kinds:
        part = kind.asked.part
        events = (
            plain if part is None else (partitions.setdefault(part[0], {}).setdefault(part[1], {}))
        )
        events[kind.asked.event] = events.get(kind.asked.event, 0) + kind.times
    if prod(len(parts) for parts in partitions.values()) > _MOST_SCENARIOS:
        return []
    found = []
    for chosen in product(*(parts.values() for parts in partitions.values())):
        way = dict(plain)
        for events in chosen:
            for event, times in events.items():
                way[event] = way.get(event, 0) + times
        found.append(tuple(way.items()))
    return [way for way in found if way]


def _event_to_json(event: Event) -> dict[str, Any]:
    for name, mechanism in _MECHANISMS.items():
        if type(event) is mechanism:
            values = {field.name: getattr(event, field.name) for field in fields(event)}
            return {"mechanism": name, **{name: _plain(value) for name, value in values.items()}}
    raise DomainError("event", f"one of {', '.join(sorted(_MECHANISMS))}", event)


def _event_from_json(state: Mapping[str, Any]) -> Event:
    values = {name: value for name, value in state.items() if name != "mechanism"}
    if "statistics" in values:
        values["statistics"] = tuple(map(_statistic_from_json, values["statistics"]))
    event: Event = _MECHANISMS[state["mechanism"]](**values)
    return event


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_statistic_to_json(statistic) for statistic in value]
    return value if isinstance(value, int) else str(value)


def _statistic_to_json(statistic: Statistic) -> dict[str, Any]:
    """Entries are hexadecimal texts: no reader of JSON rounds them."""
    table = statistic.table
    return {
        "entries": " ".join(f"{entry:015x}" for entry in table.entries),
        "least": table.least,
        "open": table.is_open,
        "shift": statistic.shift,
        "groups": statistic.groups,
        "signed": statistic.signed,
    }


def _statistic_from_json(state: Mapping[str, Any]) -> Statistic:
    entries = tuple(int(entry, 16) for entry in _text(state["entries"]).split())
    table = IntegerTable(entries, state["least"], state["open"])
    found = Statistic(table, state["shift"], state["groups"], state["signed"])
    if _statistic_to_json(found) != state:
        raise ValueError(state)
    return found


def _cost_to_json(cost: Cost | None) -> list[str] | None:
    return None if cost is None else [str(cost.mass), *map(str, cost.scales)]


def _cost_from_json(state: list[str] | None) -> Cost | None:
    if state is None:
        return None
    mass, *scales = map(_amount, state)
    return Cost(mass, tuple(scales))


def _plan_to_json(plan: Plan) -> dict[str, Any]:
    amounts = {name: str(getattr(plan, name)) for name in _SHARES}
    return {**amounts, "orders": list(map(str, plan.orders)), "scales": list(map(str, plan.scales))}


def _plan_from_json(state: Mapping[str, Any]) -> Plan:
    return Plan(
        **{name: _amount(state[name]) for name in _SHARES},
        orders=tuple(map(_amount, state["orders"])),
        scales=tuple(map(_number, state["scales"])),
    )


_SHARES = ("epsilon", "delta", "chain", "mass", "sum")


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
    )
    if not sound:
        raise ValueError(spent)


def _number(text: str) -> Decimal:
    number = Decimal(_text(text))
    if not number.is_finite():
        raise ValueError(text)
    return number


def _amount(text: str) -> Decimal:
    number = _number(text)
    if number < 0:
        raise ValueError(text)
    return number


def _count(value: int) -> int:
    if type(value) is not int or value < 0:
        raise ValueError(value)
    return value


def _text(value: str) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value

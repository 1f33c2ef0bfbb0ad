"""Synthetic people, and tables that differ by one of them.

Only the schema and the policy are read: the worst number of people alike from the accountant,
unique people, a crowd, extremes, NULLs, and a person with many rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from random import Random

from policy_engine.accounting.curve import delta_add, delta_remove
from policy_engine.accounting.domain import REPLACE_ONE
from policy_engine.audit.values import Value, moments, palettes
from policy_engine.compile import catalog
from policy_engine.policy.noise import Chance, Noise
from policy_engine.policy.resolve import Policy

MOST_PEOPLE = 20_000
"""Tables of more people are left out: thousands of runs over them would take too long."""
_MANY_ROWS = 40

Row = tuple[tuple[str, Value], ...]
"""A row's values by column; a column that is not there is NULL."""


@dataclass(frozen=True)
class Person:
    """One privacy unit and its rows; ``number`` is what its key is made of, None for no key."""

    number: int | None
    rows: tuple[Row, ...]


People = tuple[Person, ...]
"""A table: its people in the order of the source."""


@dataclass(frozen=True)
class Pair:
    """Two tables that are neighbours."""

    name: str
    what: str
    one: People
    other: People


@dataclass(frozen=True)
class Cast:
    """The kinds of people that tables are made of: the rows of one of each kind."""

    plain: Row
    others: Row
    low: Row
    high: Row
    many: tuple[Row, ...]

    @classmethod
    def of(cls, policy: Policy, table: catalog.Table, random: Random) -> Cast:
        """The kinds that a policy speaks of; ``random`` chooses among ordinary values.

        ``plain`` and ``others`` are of different groups, wherever the policy has two.
        """
        known = palettes(policy, table, random)
        ordered = [column for name, _ in policy.source.order_by if (column := table.find(name))]
        times = {column.name: moments(column, _MANY_ROWS) for column in ordered}

        def row(choose: Callable[[str], Value]) -> Row:
            return tuple((name, choose(name)) for name in known)

        def nth(number: int) -> Row:
            own = dict(row(lambda c: known[c].ordinary[number % len(known[c].ordinary)]))
            own |= {name: values[number] for name, values in times.items()}
            return tuple(own.items())

        return cls(
            plain=row(lambda c: known[c].ordinary[0]),
            others=row(lambda c: known[c].ordinary[-1]),
            low=row(lambda c: known[c].low),
            high=row(lambda c: known[c].high),
            many=tuple(map(nth, range(_MANY_ROWS))),
        )


@dataclass(frozen=True)
class Plan:
    """What is tried: pairs, and what was left out with the reason."""

    pairs: tuple[Pair, ...]
    skipped: tuple[str, ...] = field(default=())


def pairs_for(policy: Policy, table: catalog.Table, seed: int) -> Plan:
    """Every pair of neighbouring tables for a policy.

    Under ``replace_one`` the person in question is not removed, but becomes one of the others.
    """
    cast = Cast.of(policy, table, Random(seed))
    crowd = _crowd(policy)
    made: list[Pair] = []
    skipped: list[str] = []
    # So many others are released nearly always: what is shown of the rest is not hidden by them.
    others = min(3 * crowd, MOST_PEOPLE // 2)
    for n, name in _sizes(policy).items():
        if n + others > MOST_PEOPLE:
            skipped.append(
                f"{name} would need {n + others} people; at most {MOST_PEOPLE} are tried"
            )
            continue
        made.append(_alike(policy, cast, n, name, others))
    made += _in_a_crowd(policy, cast, min(crowd, MOST_PEOPLE // 8))
    return Plan(tuple(made), tuple(skipped))


def _crowd(policy: Policy) -> int:
    """How many people alike are released about half of the time."""
    if policy.noise is None:
        return math.ceil(policy.k / policy.rate)
    if isinstance(policy.noise, Chance):
        return 1
    assert isinstance(policy.noise, Noise)
    if policy.noise.keys:
        return 1
    from policy_engine.accounting.noise_laws import shown_half

    return shown_half(policy.noise.table, policy.k)


def _sizes(policy: Policy) -> dict[int, str]:
    """How many people alike there are, the one in question among them, and why so many."""
    if isinstance(policy.noise, Chance):
        return {1: "a unique person", 3: "three alike"}
    if policy.noise is not None:
        crowd = _crowd(policy)
        return {1: "a unique person", crowd: "shown half of the time", 3 * crowd: "always shown"}
    sizes = {policy.k: "k alike", policy.k - 1: "k − 1 alike", 1: "a unique person"}
    epsilon = policy.guarantee.epsilon
    # Replacing is removing and adding, each of about half the loss.
    parts = [epsilon / 2] if policy.guarantee.neighbours == REPLACE_ONE else []
    for part in (epsilon, *parts):
        for bound in (delta_remove, delta_add):
            found = bound(policy.k, policy.rate, part).at_n
            if found is not None:
                sizes.setdefault(found, "the worst number alike")
    return dict(sorted(sizes.items()))


def _alike(policy: Policy, cast: Cast, n: int, name: str, others: int) -> Pair:
    """``n`` people alike before so many others; the first of them is the one in question.

    Without that one it is the table of n − 1, so that tables serve two pairs.
    """
    replaced = policy.guarantee.neighbours == REPLACE_ONE
    beside = 0 if cast.others == cast.plain else n - 1 if replaced and n > policy.k else others
    alike = [Person(beside + i, (cast.plain,)) for i in reversed(range(n))]
    one = (*alike, *(Person(i, (cast.others,)) for i in reversed(range(beside))))
    return Pair(name, f"n = {n} alike", one, _without(one, 0, policy, cast))


def _in_a_crowd(policy: Policy, cast: Cast, crowd: int) -> Iterable[Pair]:
    """One table of several crowds, and it without one of the people at its top.

    A crowd is as large as is released half of the time, so that what it shows is seen.
    """
    kinds: dict[str, tuple[Row, ...]] = {
        "one of a crowd": (cast.plain,),
        "the least values": (cast.low,),
        "the greatest values": (cast.high,),
        "NULL in every column": ((),),
    }
    tops = {**kinds, "a person with many rows": cast.many} if policy.source.key else kinds
    rows = [*tops.values(), *[(cast.others,)] * crowd]
    rows += [kind for kind in kinds.values() for _ in range(crowd - 1)]
    keyless = [Person(None, (cast.plain,))] * 3 if policy.source.key else []
    one = (*(Person(number, own) for number, own in enumerate(rows)), *keyless)
    for place, name in enumerate(tops):
        about = f"{len(tops[name])} rows" if len(tops[name]) > 1 else f"n = {crowd} alike"
        yield Pair(name, about, one, _without(one, place, policy, cast))


def _without(one: People, place: int, policy: Policy, cast: Cast) -> People:
    """The neighbour of a table: the person at ``place`` is gone, or is one of the others."""
    put: People = ()
    if policy.guarantee.neighbours == REPLACE_ONE:
        put = (Person(one[place].number, (cast.others,)),)
    return (*one[:place], *put, *one[place + 1 :])

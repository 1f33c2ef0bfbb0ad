"""Trackers: what a desk that refuses small counts tells all the same.

The desk keeps a table and answers how many people are in some of its cells. It refuses where they,
or all the others, are fewer than ``least``. A tracker adds people whose number it learns too to a
question that would be refused, and subtracts them from the answer:

* individual tracker: Schlörer 1975;
* general and double tracker: Denning, Denning, Schwartz 1979.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import combinations
from typing import Any

from policy_engine.attack.attacks import Attempt, Key, PublishedTable
from policy_engine.values import frozen

Cells = frozenset[tuple[Key, Any]]
"""Whom a question is about: cells of what is known of a person and the sensitive value."""
Count = Callable[[Cells], int | None]
"""How many people are in some cells, as far as somebody can find out; else None."""
REMEDY = (
    "mechanism: noisy_counts, and every answer from that one release: a tracker gets back what it"
    " shows; a least size of answers hides nobody"
)


@frozen
class SizeControl:
    """The desk: a table that is not shown, and the least number of people that it speaks of."""

    table: PublishedTable
    least: int

    @cached_property
    def counts(self) -> Counter[tuple[Key, Any]]:
        """People by cell; who asks knows which cells there can be, and not how many are in them."""
        classes = self.table.classes.items()
        return Counter({(key, value): n for key, cells in classes for value, n in cells.items()})

    @cached_property
    def everybody(self) -> Cells:
        """All cells."""
        return frozenset(self.counts)

    def answer(self, asked: Cells) -> int | None:
        """How many people are in these cells; None where they, or all others, are too few.

        >>> rows = {("a",): Counter(flu=7), ("b",): Counter(flu=1)}
        >>> desk = SizeControl(PublishedTable("t", ("zip",), "illness", rows), 1)
        >>> desk.answer(frozenset({(("b",), "flu")})), desk.answer(desk.everybody)
        (1, None)
        """
        counted = sum(self.counts[cell] for cell in asked)
        return counted if self.least <= counted <= self.counts.total() - self.least else None

    def groups(self) -> Iterator[Cells]:
        """Questions that can be padding: of each column, its first values, more and more."""
        for place in range(len(self.table.quasi) + 1):
            by_value: dict[Any, set[tuple[Key, Any]]] = {}
            for key, value in self.counts:
                by_value.setdefault((*key, value)[place], set()).add((key, value))
            taken: Cells = frozenset()
            for cells in by_value.values():
                taken |= cells
                yield taken


def individual(desk: SizeControl, person: Key) -> Count | None:
    """Counts among those who are like ``person``: q(C ∧ D) = q((A − B) ∨ (A ∧ D)) − q(A − B).

    A are the people who share some of the columns, B those who share the others, C = A ∧ B. None
    where the desk speaks of no such A − B.
    """
    for size in range(len(person) - 1, 0, -1):
        for places in combinations(range(len(person)), size):
            alike = frozenset(c for c in desk.counts if all(c[0][i] == person[i] for i in places))
            padding = frozenset(cell for cell in alike if cell[0] != person)
            base = desk.answer(padding)
            if base is not None:
                return lambda asked: _sum(desk.answer(padding | (alike & asked)), less=base)
    return None


def general(desk: SizeControl) -> Count | None:
    """Counts of few: q(C) = q(C ∨ T) + q(C ∨ ¬T) − N, where 2·least ≤ |T| ≤ N − 2·least.

    None where no such T is found. N = q(T) + q(¬T).
    """
    for tracker in desk.groups():
        rest = desk.everybody - tracker
        inside, outside = desk.answer(tracker), desk.answer(rest)
        if inside is not None and outside is not None and min(inside, outside) >= 2 * desk.least:
            total = inside + outside
            return lambda asked: _sum(
                desk.answer(asked | tracker), desk.answer(asked | rest), less=total
            )
    return None


def double(desk: SizeControl) -> Count | None:
    """Counts of few: q(C) = q(U) + q(C ∨ T) − q(T) − q(U − (C ∧ T)), with T within U.

    least ≤ |T| ≤ N − 2·least and 2·least ≤ |U| ≤ N − least. None where none are found.
    """
    groups = list(desk.groups())
    for tracker in groups:
        small, beside = desk.answer(tracker), desk.answer(desk.everybody - tracker)
        if small is None or beside is None or beside < 2 * desk.least:
            continue
        for wide in (tracker | other for other in groups):
            large = desk.answer(wide)
            if large is not None and large >= 2 * desk.least:
                return lambda asked: _sum(
                    large - small, desk.answer(asked | tracker),
                    less=desk.answer(wide - (asked & tracker)),
                )  # fmt: skip
    return None


def trackers(
    desk: SizeControl, known: Sequence[Mapping[str, object]], name: str
) -> Iterator[Attempt]:
    """The three trackers, about the people of ``known`` of whom the desk does not speak."""
    people = [tuple(person[column] for column in desk.table.quasi) for person in known]
    anybodys, fews = general(desk), double(desk)
    makers: dict[str, Callable[[Key], Count | None]] = {
        "individual tracker": lambda person: individual(desk, person),
        "general tracker": lambda _: anybodys,
        "double tracker": lambda _: fews,
    }
    for attack, counting in makers.items():
        learned = [
            f"row {number} of {name}: {desk.table.sensitive} is {value}"
            for number, person in enumerate(people, 1)
            if (value := _learned(desk, person, counting(person))) is not None
        ]
        yield Attempt(
            attack,
            f"sums of answers about {desk.least:,} people or more, and"
            f" {', '.join(desk.table.quasi)} of {len(people):,} people in {name}",
            len(learned),
            tuple(learned),
            REMEDY,
        )


def _learned(desk: SizeControl, person: Key, count: Count | None) -> str | None:
    """The sensitive value of everybody who is like ``person``, if the desk refuses to say it."""
    alike = frozenset(cell for cell in desk.counts if cell[0] == person)
    if count is None or desk.answer(alike) is not None:
        return None
    number = count(alike)
    for cell in alike:
        if number and count(frozenset({cell})) == number:
            return "NULL" if cell[1] is None else str(cell[1])
    return None


def _sum(*terms: int | None, less: int | None) -> int | None:
    """None where a question was refused."""
    found = [term for term in terms if term is not None]
    return None if less is None or len(found) < len(terms) else sum(found) - less

"""Random small tables, and every categorical model of them, written down from its definition.

Nothing here knows how the statement computes it: classes are dictionaries, shares are fractions,
and a class that lacks a value has it with the share 0.
"""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter, defaultdict
from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction

Row = tuple[tuple[Hashable, ...], Hashable, int]
"""A row: what is known of a person, the sensitive value, and for how many people it stands."""

LEVELS = {
    "flu": ("breath", "illness"), "cough": ("breath", "illness"), "cold": ("breath", "any"),
    "ulcer": ("belly", "illness"), "cancer": ("body", "any"), None: ("none", "none"),
}  # fmt: skip
"""A hierarchy below a root; ``breath`` stands below two labels, so that it is two nodes."""
ORDER = ("cough", "cold", "flu", "ulcer", "cancer")


@dataclass(frozen=True)
class Table:
    rows: tuple[Row, ...]
    width: int

    @classmethod
    def drawn(cls, chance: random.Random, values: tuple[Hashable, ...]) -> Table:
        """A table of no, few or many rows, of one class or several, with ties and with NULL."""
        width = chance.choice((0, 1, 1, 2, 2, 3))
        kinds = chance.randint(1, 3)
        sizes = (0, 1, 2, 5, 12, 40)
        known = [chance.sample(["a", "b", None], kinds) for _ in range(width)]
        told = chance.sample(values, chance.randint(1, len(values)))
        rows = tuple(
            (tuple(map(chance.choice, known)), chance.choice(told), chance.choice((1, 1, 2, 7)))
            for _ in range(chance.choice(sizes))
        )
        return cls(rows, width)

    @property
    def classes(self) -> dict[tuple[Hashable, ...], Counter[Hashable]]:
        found: dict[tuple[Hashable, ...], Counter[Hashable]] = defaultdict(Counter)
        for key, value, people in self.rows:
            found[key][value] += people
        return found

    @property
    def whole(self) -> Counter[Hashable]:
        return sum(self.classes.values(), Counter())


def shares(found: Counter[Hashable], whole: Counter[Hashable]) -> dict[Hashable, Fraction]:
    return {value: Fraction(found[value], found.total()) for value in whole}


def entropy(found: Counter[Hashable]) -> float:
    """The largest ℓ with −Σ p ln p ≥ ln ℓ."""
    parts = [n / found.total() for n in found.values()]
    return math.exp(-sum(p * math.log(p) for p in parts))


def recursive(found: Counter[Hashable], level: int) -> Fraction | None:
    """The c with r₁ = c (r_ℓ + … + r_m); None where nothing stands from ℓ on."""
    sizes = sorted(found.values(), reverse=True)
    rest = sum(sizes[level - 1 :])
    return Fraction(sizes[0], rest) if rest else None


def equal(p: dict[Hashable, Fraction], q: dict[Hashable, Fraction]) -> Fraction:
    return sum((abs(p[each] - q[each]) for each in q), Fraction()) / 2


def ordered(
    p: dict[Hashable, Fraction], q: dict[Hashable, Fraction], order: list[Hashable]
) -> Fraction:
    if len(order) < 2:
        return Fraction()
    total = passed = Fraction()
    for value in order:
        passed += p[value] - q[value]
        total += abs(passed)
    return total / (len(order) - 1)


def hierarchical(p: dict[Hashable, Fraction], q: dict[Hashable, Fraction]) -> Fraction:
    """Li et al.'s cost: at each node the height over that of the tree, times what its children
    cannot hand on: the lesser of what they have too much and too little."""
    height = 3
    extra: dict[tuple[Hashable, ...], Fraction] = defaultdict(Fraction)
    children: dict[tuple[Hashable, ...], set[tuple[Hashable, ...]]] = defaultdict(set)
    for value in q:
        low, high = LEVELS[value]  # type: ignore[index]
        path = [(value, low, high), (low, high), (high,), ()]
        for below, above in itertools.pairwise(path):
            children[above].add(below)
        for node in path:
            extra[node] += p[value] - q[value]
    cost = Fraction()
    for node, below in children.items():
        more = sum((extra[each] for each in below if extra[each] > 0), Fraction())
        less = -sum((extra[each] for each in below if extra[each] < 0), Fraction())
        cost += Fraction(height - len(node), height) * min(more, less)
    return cost


def disclosure(p: dict[Hashable, Fraction], q: dict[Hashable, Fraction]) -> float:
    """The least δ that is not enough: infinite where a value of the table is absent."""
    return max(math.inf if not p[each] else abs(math.log(p[each] / q[each])) for each in q)

"""Planted accounts are found in a graph without names, and from them on who is who."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import pytest

from policy_engine.attack.graphs import (
    neighbours_of,
    planted_seeds,
    propagate,
    seed_and_propagate,
)

PLANTED = [f"x{n}" for n in range(8)]


@dataclass
class Village:
    """Friends, the eight accounts that somebody planted, and the graph as it is published."""

    seed: int = 3
    people: int = 120
    edges: list[tuple[str, str]] = field(default_factory=list)
    nodes: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        chance = random.Random(self.seed)
        names = [f"p{n:03}" for n in range(self.people)]
        pairs = [(a, b) for i, a in enumerate(names) for b in names[:i]]
        self.edges = [pair for pair in pairs if chance.random() < 0.08]
        mine = [(a, b) for i, a in enumerate(PLANTED) for b in PLANTED[:i]]
        self.edges += [pair for pair in mine if chance.random() < 0.5]
        self.edges += [(x, p) for x in PLANTED for p in chance.sample(names, 5)]
        numbers = chance.sample(range(1000), len(names) + 8)
        self.nodes = {name: f"n{n}" for name, n in zip(names + PLANTED, numbers, strict=True)}

    @property
    def published(self):
        return neighbours_of((self.nodes[a], self.nodes[b]) for a, b in self.edges)

    def known(self, share: float = 0.9):
        """What somebody outside knows: all of the own accounts, and most of the others."""
        chance = random.Random(self.seed + 1)
        return neighbours_of(e for e in self.edges if e[0] in PLANTED or chance.random() < share)


@pytest.mark.parametrize("seed", range(3))
def test_planted_accounts_are_found_and_nearly_everybody_from_them_on(seed: int) -> None:
    village = Village(seed)
    seeds = planted_seeds(village.published, village.known(), PLANTED)
    assert seeds == {name: village.nodes[name] for name in PLANTED}
    who = propagate(village.published, village.known(), seeds)
    right = sum(village.nodes[name] == node for name, node in who.items())
    assert right >= 0.95 * len(who) and right >= 115


def test_the_attack_tells_edges_that_nobody_knew() -> None:
    village = Village()
    found = seed_and_propagate("edges.csv", village.published, village.known(), PLANTED)
    assert found.victims >= 110
    victim = next(line for line in found.learned if ", and is joined to " in line)
    name, *joined = victim.replace(", and is joined to ", ", ").split(", ")
    name = name.partition(" is ")[0]
    real = {frozenset(edge) for edge in village.edges}
    right = [other for other in joined if frozenset({name, other}) in real]
    assert right and name not in village.known()[right[0]]
    assert "8 accounts that it planted" in found.needed and "ab_insertion" in found.remedy


def test_known_nodes_are_seeds_too() -> None:
    village = Village()
    seeds = {f"p{n:03}": village.nodes[f"p{n:03}"] for n in range(8)}
    found = seed_and_propagate("edges.csv", village.published, village.known(), seeds)
    assert found.victims >= 100 and "8 people of whom it knows the node" in found.needed


def test_two_places_for_the_planted_accounts_are_none() -> None:
    graph = neighbours_of([("1", "2"), ("3", "4")])
    own = neighbours_of([("x", "y")])
    assert planted_seeds(graph, own, ["x", "y"]) is None
    found = seed_and_propagate("edges.csv", graph, own, ["x", "y"])
    assert (found.victims, found.learned) == (0, ())


def test_accounts_that_are_not_there_are_not_found() -> None:
    own = neighbours_of([("x", "y"), ("y", "z"), ("x", "z")])
    assert planted_seeds(neighbours_of([("1", "2"), ("2", "3")]), own, ["x", "y", "z"]) is None
    assert planted_seeds({}, own, ["x"]) is None


def test_of_two_who_look_alike_neither_is_taken() -> None:
    published = neighbours_of([("1", "2"), ("1", "3")])
    own = neighbours_of([("ann", "bob"), ("ann", "cid")])
    assert propagate(published, own, {"ann": "1"}) == {"ann": "1"}
    alone = neighbours_of([("1", "2")])
    assert propagate(alone, neighbours_of([("ann", "bob")]), {"ann": "1"}) == {
        "ann": "1",
        "bob": "2",
    }

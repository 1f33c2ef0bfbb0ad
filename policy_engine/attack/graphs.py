"""Seed and propagate: who is who in a published graph whose names were taken away.

* Planted seeds: somebody made a few accounts and joined them in a pattern before the graph was
  published, and finds the pattern again (Backstrom, Dwork, Kleinberg 2007).
* Propagation: from the seeds on, whoever shares far more neighbours with one of the graph's nodes
  than with any other is that node (Narayanan, Shmatikov 2009).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from statistics import pstdev

from policy_engine.attack.attacks import Attempt

Neighbours = Mapping[str, frozenset[str]]
"""Whom each node is joined to; an edge has no direction."""
ECCENTRIC = 0.5
"""So many standard deviations the best match must be above the second best."""


def neighbours_of(edges: Iterable[tuple[str, str]]) -> dict[str, frozenset[str]]:
    """The graph of some edges, without loops.

    >>> neighbours_of([("a", "b"), ("b", "a"), ("c", "c")])
    {'a': frozenset({'b'}), 'b': frozenset({'a'})}
    """
    found: dict[str, set[str]] = defaultdict(set)
    for one, other in edges:
        if one != other:
            found[one].add(other)
            found[other].add(one)
    return {node: frozenset(others) for node, others in found.items()}


def planted_seeds(
    released: Neighbours, own: Neighbours, planted: Sequence[str]
) -> dict[str, str] | None:
    """The nodes of the released graph that are the ``planted`` accounts of one's ``own``.

    By the number of their neighbours and by who of them is joined to whom; None where no nodes are
    like that, or several sets of them.
    """
    found = _embeddings(released, own, planted, {})
    first = next(found, None)
    return first if first is not None and next(found, None) is None else None


def _embeddings(
    released: Neighbours, own: Neighbours, planted: Sequence[str], placed: dict[str, str]
) -> Iterator[dict[str, str]]:
    if len(placed) == len(planted):
        yield dict(placed)
        return
    name = planted[len(placed)]
    mine = own.get(name, frozenset())
    joined = [placed[other] for other in placed if other in mine]
    near = frozenset.intersection(*(released[node] for node in joined)) if joined else released
    for node in near:
        if node in placed.values() or len(released[node]) != len(mine):
            continue
        if all((at in released[node]) is (other in mine) for other, at in placed.items()):
            yield from _embeddings(released, own, planted, {**placed, name: node})


def propagate(released: Neighbours, own: Neighbours, seeds: Mapping[str, str]) -> dict[str, str]:
    """Whom each name of one's ``own`` graph is in the released one, from the ``seeds`` on.

    A match must be the best of both sides, and stand out (``_best``).
    """
    who = dict(seeds)
    while True:
        taken = {node: name for name, node in who.items()}
        before = len(who)
        for name in sorted(own.keys() - who.keys()):
            node = _best(_shared(name, own, released, who, taken))
            back = node and _best(_shared(node, released, own, taken, who))
            if node is not None and back == name:
                who[name], taken[node] = node, name
        if len(who) == before:
            return who


def _shared(
    node: str,
    graph: Neighbours,
    other: Neighbours,
    matched: Mapping[str, str],
    used: Collection[str],
) -> dict[str, float]:
    """How many of the matched neighbours each node of the other graph shares, by its degree."""
    found: dict[str, float] = defaultdict(float)
    for neighbour in graph[node]:
        if neighbour in matched:
            for candidate in other.get(matched[neighbour], ()):
                if candidate not in used:
                    found[candidate] += len(other[candidate]) ** -0.5
    return found


def _best(scores: Mapping[str, float]) -> str | None:
    """The node with the highest score, if it is far enough above the second."""
    if not scores:
        return None
    first, *others = sorted(scores, key=lambda node: (-scores[node], node))
    if not others:
        return first
    spread = pstdev(scores.values())
    stands_out = spread and (scores[first] - scores[others[0]]) / spread >= ECCENTRIC
    return first if stands_out else None


def seed_and_propagate(
    name: str, released: Neighbours, own: Neighbours, seeds: Mapping[str, str] | Sequence[str]
) -> Attempt:
    """Who is who, and which of their edges one's ``own`` graph does not have.

    ``seeds`` are the nodes of some names, or the names of accounts that were planted.
    """
    planted = isinstance(seeds, Sequence)
    start = planted_seeds(released, own, seeds) if isinstance(seeds, Sequence) else dict(seeds)
    who = propagate(released, own, start) if start else {}
    names = {node: each for each, node in who.items()}
    found = [each for each in who if start is not None and each not in start]
    learned = []
    for each in found:
        joined = sorted(names[node] for node in released[who[each]] & names.keys())
        unknown = [other for other in joined if other not in own[each]]
        more = f", and is joined to {', '.join(unknown)}" if unknown else ""
        learned.append(f"{each} is {who[each]}{more}")
    how = "accounts that it planted" if planted else "people of whom it knows the node"
    return Attempt(
        "seed and propagate",
        f"{name}, a graph of {len(own):,} people with their names, and {len(seeds):,} {how}",
        len(found),
        tuple(learned),
        "release no edges; count edges between groups of people with mechanism: noisy_counts, or"
        " draw each edge of a public list with mechanism: ab_insertion",
    )

"""Where sensitive data goes: from the nodes that are marked, along every edge, to the sinks.

It stops at a certified release and nowhere else.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from policy_engine.values import frozen


@frozen
class Edge:
    """That ``child`` holds what ``parent`` holds, and ``how`` that is known beside dbt's graph."""

    parent: str
    child: str
    how: str = ""


@dataclass
class Graph:
    """Nodes by id, and every edge between them.

    >>> graph = Graph()
    >>> graph.add(Edge("source.raw", "model.a"))
    >>> graph.add(Edge("model.a", "exposure.b", "by name"))
    >>> taint = graph.taint(["source.raw"], certified=())
    >>> [edge.child for edge in way_to("exposure.b", taint)]
    ['model.a', 'exposure.b']
    >>> "exposure.b" in graph.taint(["source.raw"], certified={"model.a"})
    False
    """

    _children: dict[str, dict[str, Edge]] = field(default_factory=dict)
    _parents: dict[str, dict[str, Edge]] = field(default_factory=dict)

    def add(self, edge: Edge) -> None:
        """Add an edge; of two between the same nodes the first stays."""
        if edge.parent != edge.child:
            self._children.setdefault(edge.parent, {}).setdefault(edge.child, edge)
            self._parents.setdefault(edge.child, {}).setdefault(edge.parent, edge)

    def edges(self, node: str) -> tuple[Edge, ...]:
        """The edges from a node."""
        return tuple(self._children.get(node, {}).values())

    def before(self, node: str) -> tuple[str, ...]:
        """The nodes from which an edge leads to a node."""
        return tuple(self._parents.get(node, ()))

    def taint(
        self, sensitive: Iterable[str], certified: Collection[str], ended: Collection[str] = ()
    ) -> Taint:
        """Everything that sensitive data reaches, by the shortest ways from where it begins.

        It begins at what is sensitive and rests on nothing sensitive; in a circle, anywhere.
        ``ended`` are the nodes that it was seen not to reach.
        """
        own = tuple(dict.fromkeys(sensitive))
        cuts = {*certified, *ended}
        reached = self._spread({}, own, cuts)
        first = [node for node in own if reached.keys().isdisjoint(self._parents.get(node, ()))]
        ways = self._spread({}, first, cuts)
        for node in own:
            if node not in ways:
                ways = self._spread(ways, [node], cuts)
        return ways

    def _spread(
        self, reached: dict[str, Edge | None], start: Iterable[str], cuts: Collection[str]
    ) -> dict[str, Edge | None]:
        reached |= dict.fromkeys(start)
        ahead = deque(start)
        while ahead:
            for edge in self.edges(ahead.popleft()):
                if edge.child not in reached and edge.child not in cuts:
                    reached[edge.child] = edge
                    ahead.append(edge.child)
        return reached

    def beginnings(self, node: str, taint: Taint) -> Iterator[str]:
        """All where the sensitive data of a node begins, by whatever way it comes."""
        found, ahead = {node}, [node] if node in taint else []
        while ahead:
            each = ahead.pop()
            if taint[each] is None:
                yield each
            parents = (self._parents.get(each, {}).keys() & taint.keys()) - found
            found |= parents
            ahead += parents

    def behind(
        self, sinks: Iterable[str], certified: Collection[str]
    ) -> Iterator[tuple[str, tuple[Edge, ...]]]:
        """Every node that sinks rest on, themselves first, each once with its way to a sink."""
        ways: dict[str, tuple[Edge, ...]] = dict.fromkeys(sinks, ())
        ahead = deque(ways)
        while ahead:
            node = ahead.popleft()
            if node in certified:
                continue
            yield node, ways[node]
            for edge in self._parents.get(node, {}).values():
                if edge.parent not in ways:
                    ways[edge.parent] = (edge, *ways[node])
                    ahead.append(edge.parent)


Taint = Mapping[str, Edge | None]
"""What is reached, each by the last edge of its way; None for what is marked itself."""


def way_to(node: str, taint: Taint) -> tuple[Edge, ...]:
    """The edges from what is marked to a node."""
    edges: list[Edge] = []
    edge = taint.get(node)
    while edge is not None:
        edges.append(edge)
        edge = taint.get(edge.parent)
    return tuple(reversed(edges))

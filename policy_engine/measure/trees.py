"""A hierarchy as a tree: which node each value is below, level by level."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Tree:
    """Each value's node on every level below the root, its own first; all leaves equally deep.

    NULL has a branch of its own below the root: it is a value, and like no other.
    """

    nodes: Mapping[str | None, tuple[int, ...]]

    @classmethod
    def of(cls, rows: Iterable[tuple[str, ...]]) -> Tree:
        """The tree of a hierarchy's rows: a value, and what it is at each level.

        A node is what a value is at a level and at all above it, so that a label that stands below
        two others is two nodes. A last level in which all values are alike is the root.

        >>> Tree.of([("a", "x", "*"), ("b", "x", "*"), ("c", "y", "*")]).levels
        2
        >>> Tree.of([("a", "x"), ("b", "y")]).levels
        2
        """
        listed = tuple(rows)
        has_root = len({row[-1] for row in listed}) == 1
        depth = len(listed[0]) - has_root
        paths = {row[0]: tuple(row[level:] for level in range(depth)) for row in listed}
        numbers: dict[tuple[str, ...], int] = {}
        nodes: dict[str | None, tuple[int, ...]] = {
            value: tuple(numbers.setdefault(path, len(numbers) + 1) for path in found)
            for value, found in paths.items()
        }
        return cls(nodes | {None: (0,) * depth})

    @property
    def levels(self) -> int:
        """How many levels there are below the root."""
        return len(next(iter(self.nodes.values())))

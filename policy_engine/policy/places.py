"""The place in a policy file of a problem that was found later, against the source."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from policy_engine.errors import FileError, PolicyError, Problem
from policy_engine.policy import tree
from policy_engine.policy.reading import read_text


def located(problems: tuple[Problem, ...], file: Path) -> tuple[Problem, ...]:
    """``problems`` with the line and column of the key each one names, in the file's order.

    A path that the file does not have (any more) leaves its problem without a place, and one that
    has its place keeps it.
    """
    try:
        root, _ = tree.read_tree(read_text(file, "policy"), str(file))
    except (FileError, PolicyError):
        return problems
    places = dict(_keys(root, ())) if root is not None else {}
    found = [
        replace(p, line=place.line, column=place.column)
        if not p.line and (place := places.get(p.path))
        else p
        for p in problems
    ]
    return tuple(sorted(found, key=lambda p: (p.line, p.column)))


def refused(file: Path, key: str, message: str, remedy: str) -> PolicyError:
    """The error of one problem, at the place of its key."""
    return PolicyError(located((Problem(str(file), 0, 0, key, message, remedy),), file))


def _keys(node: tree.Node, path: tree.Path) -> Iterator[tuple[str, tree.Position]]:
    if isinstance(node.value, dict):
        for key, child in node.value.items():
            inner = (*path, key)
            yield tree.path_text(inner), node.keys.get(key, child.position)
            yield from _keys(child, inner)

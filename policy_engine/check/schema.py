"""What a reviewer or a catalog says about the relations a text reads.

A ``Schema`` turns assumptions into checks: the type of a column, and whether a relation is a
base table or a view. An unknown schema makes nothing pass that would not pass otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TypeVar

from policy_engine.names import fold
from policy_engine.values import frozen

_T = TypeVar("_T")


@frozen
class Constraints:
    """``unique`` columns tell rows apart by themselves, ``filled`` ones are never NULL.

    ``keyed`` says that the table has a key at all: any other column may then repeat.
    """

    unique: frozenset[str] = frozenset()
    filled: frozenset[str] = frozenset()
    keyed: bool = False


@frozen
class Schema:
    """Column types by relation, and what views read: a statement or a query, by their names.

    >>> schema = Schema({"main.adult": {"age": "BIGINT"}}, known=True)
    >>> schema.columns("census.main.adult")
    {'age': 'BIGINT'}
    """

    tables: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    views: Mapping[str, str] = field(default_factory=dict)
    known: bool = False
    constraints: Mapping[str, Constraints] = field(default_factory=dict)

    def columns(self, relation: str) -> Mapping[str, str] | None:
        """Types by column name; None where the schema has no such relation, or several."""
        return _find(self.tables, relation)

    def constraints_of(self, relation: str) -> Constraints | None:
        """What is declared of a table's keys; None where nothing is known."""
        return _find(self.constraints, relation)


def _find(known: Mapping[str, _T], relation: str) -> _T | None:
    """The value of a name; a name with fewer parts stands for the one that ends in it."""
    wanted = fold(relation).split(".")
    found = []
    for name, value in known.items():
        parts = fold(name).split(".")
        shared = min(len(parts), len(wanted))
        if parts == wanted:
            return value
        if parts[-shared:] == wanted[-shared:]:
            found.append(value)
    return found[0] if len(found) == 1 else None

"""What a reviewer or a catalog says about the relations a text reads.

A ``Schema`` turns assumptions into checks: the type of a column, and whether a relation is a
base table or a view. An unknown schema makes nothing pass that would not pass otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from policy_engine.syntax.names import fold

_T = TypeVar("_T")


@dataclass(frozen=True)
class Constraints:
    """``unique`` columns tell rows apart by themselves, ``filled`` ones are never NULL.

    ``keyed`` says that the table has a key at all: any other column may then repeat.
    """

    unique: frozenset[str] = frozenset()
    filled: frozenset[str] = frozenset()
    keyed: bool = False


@dataclass(frozen=True)
class Schema:
    """Column types by relation, and the bodies of views ('' where a body is not known).

    ``public`` names the lookups that do not depend on the source, each with its key. ``source``
    is a view whose columns a policy speaks of: they are not looked through.

    >>> schema = Schema({"main.adult": {"age": "BIGINT"}}, known=True)
    >>> schema.columns("census.main.adult")
    {'age': 'BIGINT'}
    """

    tables: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    views: Mapping[str, str] = field(default_factory=dict)
    known: bool = False
    public: Mapping[str, str] = field(default_factory=dict)
    constraints: Mapping[str, Constraints] = field(default_factory=dict)
    source: str = ""

    def columns(self, relation: str) -> Mapping[str, str] | None:
        """Types by column name; None where the schema has no such relation, or several."""
        return _find(self.tables, relation)

    def view(self, relation: str) -> str | None:
        """The body of a view, '' where it is unknown, None where this is no view."""
        return _find(self.views, relation)

    def key_of(self, relation: str) -> str | None:
        """The key of a public lookup; None where the relation is not declared public."""
        return _find(self.public, relation)

    def constraints_of(self, relation: str) -> Constraints | None:
        """What is declared of a table's keys; None where nothing is known."""
        return _find(self.constraints, relation)

    def is_source(self, relation: str) -> bool:
        """Whether a relation is the one that a policy speaks of."""
        return bool(self.source) and _find({self.source: True}, relation) is not None


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

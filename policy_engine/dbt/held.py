"""Which nodes hold sensitive data, and what a statement does with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from policy_engine.dbt.naming import Name
from policy_engine.dbt.reading import Reader


@dataclass(frozen=True)
class Held:
    """Which nodes hold sensitive data, which are releases, and what a name means."""

    reader: Reader
    is_sensitive: Callable[[str], bool]
    releases: frozenset[str] = frozenset()

    def meant(self, name: Name) -> frozenset[str]:
        """The nodes that a name means, or may mean."""
        surely, perhaps = self.reader.meant(name)
        return surely or perhaps

    def sensitive(self, name: Name) -> list[str]:
        """The nodes with sensitive data that a name may mean."""
        return sorted(id_ for id_ in self.meant(name) if self.is_sensitive(id_))


@dataclass(frozen=True)
class Moved:
    """What a statement does: ``code`` of the rule, the node and what becomes of it."""

    code: str
    node: str
    what: str

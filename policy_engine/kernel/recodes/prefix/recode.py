"""``prefix``: the first characters of a text."""

from __future__ import annotations

from policy_engine.kernel.nodes import Nodes, Number
from policy_engine.kernel.types import GivesText, Type
from policy_engine.values import frozen

MOST_CHARACTERS = 999_999_999


@frozen
class Prefix(GivesText):
    """Keep only the first characters of a text: the key ``prefix`` of a policy.

    On SQLite, a text with a NUL character becomes NULL.

    Fields:
        ``length``: the number of characters (code points).
    """

    length: int

    def fits(self, seen: Type) -> bool:
        """Of a text or a label."""
        return seen.kind in ("text", "label") and 0 < self.length <= MOST_CHARACTERS

    def nodes(self, seen: Type) -> Nodes:
        """What its macro is given."""
        return {"length": Number(self.length)}

"""``prefix``: the first characters of a text."""

from __future__ import annotations

from policy_engine.kernel.nodes import Nodes, Number
from policy_engine.kernel.types import GivesText, Type
from policy_engine.values import frozen

MOST_CHARACTERS = 999_999_999


@frozen
class Prefix(GivesText):
    """The first ``length`` characters, where a character is a code point.

    NULL where an engine takes a NUL for the end of a text (SQLite) and the text has one.
    """

    length: int

    def fits(self, seen: Type) -> bool:
        """Of a text or a label."""
        return seen.kind in ("text", "label") and 0 < self.length <= MOST_CHARACTERS

    def nodes(self, seen: Type) -> Nodes:
        """What its macro is given."""
        return {"length": Number(self.length)}

"""``constant``: the same text for every row."""

from __future__ import annotations

from typing import ClassVar

from policy_engine.kernel.nodes import Nodes, label_of
from policy_engine.kernel.types import GivesText, Type
from policy_engine.values import frozen


@frozen
class Constant(GivesText):
    """Replace every value, also NULL, by the same text: the key ``constant`` of a policy.

    Fields:
        ``label``: the text.
    """

    label: str
    reads: ClassVar[bool] = False

    def fits(self, seen: Type) -> bool:
        """It reads no column."""
        return True

    def nodes(self, seen: Type) -> Nodes:
        """What its macro is given."""
        return {"label": label_of(self.label)}

"""Whole classes [KANON]: those of k people and more are shown as they are, for no (ε, δ).

Which class is shown is decided by the people in it alone, so that the kernel prints such a claim
and certifies nothing of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from policy_engine.kernel.laws import require
from policy_engine.kernel.mechanisms.common import OfEverybody
from policy_engine.kernel.nodes import Identifier, Nodes, Number
from policy_engine.values import frozen

if TYPE_CHECKING:
    from policy_engine.kernel.claim import Claim


@frozen
class WholeClasses(OfEverybody):
    """A class is what is alike in all columns but the ``sensitive``, of which models are."""

    k: int
    sensitive: tuple[str, ...] = ()
    template: ClassVar[str] = "whole_classes"
    mechanism: ClassVar[str] = "syntactic-suppression"
    source_tag: ClassVar[str] = "[KANON]"
    rests_on: ClassVar[tuple[str, ...]] = ()
    promises: ClassVar[bool] = False

    def check(self, claim: Claim) -> None:
        """Raise ClaimError unless ``claim`` can have this law."""
        names = [shown.name for shown in claim.columns]
        require(self.k >= 1, "k must be at least 1")
        require({*self.sensitive} < {*names}, "a class is told by a column that no model is of")
        require(not claim.unit.counts_all, "a unit is in one group")

    def nodes(self) -> Nodes:
        """What its template is given besides a claim's own values."""
        sensitive = [Identifier(name) for name in self.sensitive]
        return {"k": Number(self.k), "sensitive": sensitive, **super().nodes()}

"""``keep``: the value itself."""

from __future__ import annotations

from policy_engine.kernel.nodes import Nodes
from policy_engine.kernel.types import AS_TEXT, Kind, Type, ValueRecode
from policy_engine.values import frozen


@frozen
class Keep(ValueRecode):
    """Release the value itself: ``keep`` in a policy.

    Values of an enumeration, UUIDs and integers of 128 bits become text. A NaN among decimals
    becomes NULL.
    """

    def fits(self, seen: Type) -> bool:
        """All but floating-point numbers, of which equal ones can look different (−0.0)."""
        return seen.kind != "double"

    def released(self, seen: Type) -> Kind:
        """The kind of what is shown."""
        return "text" if seen.kind in AS_TEXT else seen.kind

    def nodes(self, seen: Type) -> Nodes:
        """What its macro is given."""
        return {}

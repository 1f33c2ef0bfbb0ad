"""``bins``: intervals closed on the left."""

from __future__ import annotations

from itertools import pairwise

from policy_engine.kernel.nodes import Nodes, label_of, literal_of
from policy_engine.kernel.types import MOMENTS, GivesText, Type, Value
from policy_engine.values import frozen

_ORDERED = {"integer", "wide_integer", "decimal", "double", "date", *MOMENTS}


@frozen
class Bins(GivesText):
    """Replace a value by the label of its interval: the key ``bins`` of a policy.

    NULL and NaN become NULL.

    Fields:
        ``cuts``: the ends of the intervals, in rising order. A value that equals a cut belongs to
            the interval above it.
        ``labels``: one label for each interval, so one more than cuts. The first label is for
            values below the first cut. A label None becomes NULL.

    >>> Bins((18, 65), ("<18", "18-64", ">=65")).values
    ('<18', '18-64', '>=65', None)
    """

    cuts: tuple[Value, ...]
    labels: tuple[str | None, ...]

    def fits(self, seen: Type) -> bool:
        """Every cut is a value of the type, and they ascend."""
        right = seen.kind in _ORDERED and all(cut_type(seen).holds(cut) for cut in self.cuts)
        ascending = right and all(one < other for one, other in pairwise(self.cuts))  # type: ignore[operator]
        return ascending and bool(self.cuts) and len(self.labels) == len(self.cuts) + 1

    @property
    def values(self) -> tuple[str | None, ...]:
        """Every label once, then NULL."""
        return (*dict.fromkeys(label for label in self.labels if label is not None), None)

    def nodes(self, seen: Type) -> Nodes:
        """What its macro is given."""
        cuts = [
            (literal_of(cut), label_of(label))
            for cut, label in zip(self.cuts, self.labels, strict=False)
        ]
        return {"cuts": cuts, "last": label_of(self.labels[-1])}


def cut_type(seen: Type) -> Type:
    """A whole number of 128 bits is compared with one of 64."""
    return Type("integer") if seen.kind == "wide_integer" else seen

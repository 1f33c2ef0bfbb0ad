"""``truncate``: the start of the calendar unit of a day or a moment, or the name of its week."""

from __future__ import annotations

from typing import Literal

from policy_engine.kernel.nodes import Nodes, Text
from policy_engine.kernel.types import MOMENTS, Kind, Type, ValueRecode
from policy_engine.values import frozen

Unit = Literal["year", "quarter", "month", "week", "day", "hour"]
UTC_NAME = "UTC"
UNITS: frozenset[str] = frozenset(Unit.__args__)  # type: ignore[attr-defined]


@frozen
class Truncate(ValueRecode):
    """Replace a time by the start of its year, quarter, month, day or hour, or by its week.

    It is the key ``truncate`` of a policy. A week is a text such as ``2026-W48``. It is a week of
    ISO 8601, which starts on Monday. Years outside 1 to 9999 become NULL, and in another zone than
    UTC the years 1 and 9999, too.

    Fields:
        ``unit``: ``year``, ``quarter``, ``month``, ``week``, ``day`` or ``hour``.
        ``zone``: the time zone in which years, weeks, days and hours begin. Another zone than UTC
            needs a column of times with a zone. The engine's own rules of the zone are used. If
            clocks are set back, one hour occurs twice. Both hours become the same value.
    """

    unit: Unit
    zone: str = UTC_NAME

    def fits(self, seen: Type) -> bool:
        """Of a moment; of a date by units of a day or more."""
        of_a_date = seen.kind == "date" and self.unit != "hour"
        fits = self.unit in UNITS and (seen.kind in MOMENTS or of_a_date)
        return fits and (self.zone == UTC_NAME or seen.kind == "timestamp_zoned")

    def asks(self, seen: Type) -> tuple[str, ...]:
        """The rules of a zone, where it is another than UTC."""
        return () if self.zone == UTC_NAME else ("zone",)

    def released(self, seen: Type) -> Kind:
        """The text of a week; else a date of a date, and a moment without zone of a moment."""
        if self.unit == "week":
            return "text"
        return "date" if seen.kind == "date" else "timestamp"

    def nodes(self, seen: Type) -> Nodes:
        """What its macro is given."""
        zone = None if self.zone == UTC_NAME else Text(self.zone)
        return {"unit": {"word": self.unit, "text": Text(self.unit)}, "zone": zone}

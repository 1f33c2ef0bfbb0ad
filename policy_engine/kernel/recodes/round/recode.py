"""``round``: the nearest multiple of a step, or the next one below, or towards zero."""

from __future__ import annotations

from decimal import Decimal
from typing import Literal

from policy_engine.kernel.nodes import Nodes, Number, number_of
from policy_engine.kernel.types import EXACT, Kind, Type, ValueRecode, places_of
from policy_engine.values import frozen

PLACES = 18
_MOST_STEP = Decimal(10) ** 17
_FINE = 9  # decimal places that some engines have at most
DIGITS = 15  # a double has these digits of every decimal number, whoever converts it


Way = Literal["nearest", "down", "zero"]
"""Which multiple: the nearest, half away from zero; the greatest not above; or towards zero."""


@frozen
class Round(ValueRecode):
    """Round a value to a multiple of ``step``: the key ``round`` of a policy.

    NaN and very large values become NULL, because engines round very large values differently.

    Fields:
        ``step``: the step, above 0.
        ``way``: ``nearest`` rounds to the nearest multiple, and a value in the middle away from
            zero. ``down`` rounds to the greatest multiple that is at most the value. ``zero``
            rounds towards zero.
    """

    step: Decimal
    way: Way = "nearest"

    def fits(self, seen: Type) -> bool:
        """A number whose doubles all engines make alike, and a plain step."""
        return seen.kind in ("integer", "double", "decimal") and self.is_plain and is_exact(seen)

    @property
    def is_plain(self) -> bool:
        """Whether the step has few digits, and is one of a decimal."""
        counts = self.step.is_finite() and 0 < self.step <= _MOST_STEP
        digits = len(self.step.normalize(EXACT).as_tuple().digits) if counts else 0
        return counts and digits <= DIGITS and self.scale <= PLACES

    def released(self, seen: Type) -> Kind:
        """A whole number of a whole number in whole steps, else a decimal."""
        return "integer" if self.is_whole(seen) else "decimal"

    def asks(self, seen: Type) -> tuple[str, ...]:
        """The type of what is shown, with as many places as the step has."""
        fine = ("fine_decimal",) if self.scale > _FINE else ()
        return (f"{self.released(seen)}_column", *fine)

    def nodes(self, seen: Type) -> Nodes:
        """What its macro is given."""
        below = self.below(seen)
        return {
            "step": number_of(self.step),
            "minus": number_of(-self.step),
            "tenth": Number(min(self.step.scaleb(-1, context=EXACT), below)),
            "below": Number(below),
            "places": Number(self.scale),
            "whole": self.is_whole(seen),
            "way": self.way,
        }

    @property
    def scale(self) -> int:
        """How many decimal places the step has, and what is shown."""
        return places_of(self.step)

    def is_whole(self, seen: Type) -> bool:
        """Whether a whole number is shown."""
        return seen.kind == "integer" and not self.scale

    def below(self, seen: Type) -> Decimal:
        """Below it the multiple has at most 18 digits, and the double is the same everywhere."""
        fits = PLACES if self.is_whole(seen) else PLACES - 1 - self.scale
        return min(Decimal(10) ** fits, _same_below(seen))


def is_exact(seen: Type) -> bool:
    """Whether every engine makes the same doubles of so many values that rounding is of use."""
    return _same_below(seen) >= 10**9


def _same_below(seen: Type) -> Decimal:
    """Below it every engine makes the same double of a value of the type."""
    is_long = seen.digits > DIGITS
    return Decimal(10) ** (DIGITS - seen.scale if is_long else PLACES)

"""Types of columns, and which values are values of a type.

A comparison in a printed text is between one type and itself, so a cut and a key are held as values
of their column's type, never as its text.
"""

from __future__ import annotations

from datetime import date, datetime
from decimal import MAX_PREC, Context, Decimal
from typing import ClassVar, Literal

from policy_engine.kernel.laws import require
from policy_engine.values import frozen

Kind = Literal[
    "integer", "wide_integer", "decimal", "double", "text", "label", "boolean", "date", "time",
    "timestamp", "timestamp_zoned", "timestamp_other", "uuid", "other",
]  # fmt: skip
KINDS: frozenset[str] = frozenset(Kind.__args__)  # type: ignore[attr-defined]
MOMENTS = frozenset({"timestamp", "timestamp_zoned", "timestamp_other"})
AS_TEXT = frozenset({"label", "wide_integer", "uuid"})
"""Kinds that a recode sees, and a release shows, as their text."""

MOST_INTEGER = 2**63 - 1
MOST_DIGITS = 38

EXACT = Context(prec=MAX_PREC)

Value = int | Decimal | str | bool | date | datetime


@frozen
class Type:
    """What the catalog says of a column.

    ``digits`` and ``scale`` are of a decimal, ``scale`` of them behind the point. ``collated``: the
    engine may compare this text otherwise than by its bytes, so that it is told to. ``other`` is
    every type that no text compares: it is read as a plain one.
    """

    kind: Kind
    digits: int = 0
    scale: int = 0
    collated: bool = False

    def __post_init__(self) -> None:
        require(self.kind in KINDS, f"a type must be one of {', '.join(sorted(KINDS))}")
        is_decimal = self.kind == "decimal"
        plain = 0 <= self.scale <= self.digits <= MOST_DIGITS and self.digits > 0
        none = self.digits == self.scale == 0
        require(plain if is_decimal else none, "a decimal has 1 to 38 digits")
        require(not self.collated or self.kind in ("text", "label"), "a text alone is collated")

    def holds(self, value: object) -> bool:
        """Whether ``value`` is a value of this type, exactly.

        >>> Type("integer").holds(18), Type("integer").holds(True), Type("date").holds("2026-01-01")
        (True, False, False)
        """
        match self.kind:
            case "integer":
                return type(value) is int and abs(value) <= MOST_INTEGER
            case "decimal":
                return _is_multiple(value, self.scale)
            case "double":
                return _is_multiple(value)
            case "text" | "label" | "uuid" | "wide_integer":
                return isinstance(value, str)
            case "boolean":
                return isinstance(value, bool)
            case "date":
                return type(value) is date
            case "timestamp" | "timestamp_zoned" | "timestamp_other":
                return type(value) is datetime and value.tzinfo is None
        return False


class ValueRecode:
    """What a recode is unless it says otherwise: a function of one value of a column."""

    reads: ClassVar[bool] = True  # a column

    def asks(self, seen: Type) -> tuple[str, ...]:
        """What it asks of an engine, by the names of what engines lack."""
        return ()

    @property
    def keys(self) -> tuple[Value, ...]:
        """The values that it looks up."""
        return ()

    @property
    def values(self) -> tuple[str | None, ...]:
        """Every value that it can give, NULL last; none where the claim does not tell them."""
        return ()


class GivesText(ValueRecode):
    """A recode that shows a text, whatever it sees."""

    def released(self, seen: Type) -> Kind:
        """A text."""
        return "text"


def _is_multiple(value: object, scale: int | None = None) -> bool:
    """Whether a decimal has at most ``scale`` places, its own without, and 38 digits with them."""
    if not isinstance(value, Decimal) or not value.is_finite():
        return False
    places = places_of(value)
    most = places if scale is None else scale
    return places <= most <= MOST_DIGITS - whole_digits_of(value)


def places_of(value: Decimal) -> int:
    """How many digits a finite number needs behind its point.

    >>> places_of(Decimal("0.50")), places_of(Decimal("1e3"))
    (1, 0)
    """
    return max(0, -int(value.normalize(EXACT).as_tuple().exponent))


def whole_digits_of(value: Decimal) -> int:
    """How many digits a finite number has before its point.

    >>> whole_digits_of(Decimal("0.50")), whole_digits_of(Decimal("1e3"))
    (0, 4)
    """
    _, digits, exponent = value.normalize(EXACT).as_tuple()
    return max(0, len(digits) + int(exponent)) if value else 0


def digits_of(value: Decimal | int) -> str:
    """A number's digits: no exponent, no zeros at its end behind the point.

    >>> digits_of(Decimal("-2.50")), digits_of(Decimal("1e3"))
    ('-2.5', '1000')
    """
    return f"{Decimal(value).normalize(EXACT):f}"

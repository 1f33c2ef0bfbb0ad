"""What a template can place: a name, a text or a number, each written by the engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal

from policy_engine.engines.base import Engine
from policy_engine.kernel.types import Type, Value, digits_of
from policy_engine.values import frozen


@frozen
class Identifier:
    """A name, which is quoted."""

    name: str

    def sql(self, engine: Engine) -> str:
        """The name in the engine's quotes."""
        return engine.identifier(self.name)


@frozen
class Text:
    """A text, which is quoted; one that is shown is a label."""

    text: str
    is_label: bool = False

    def sql(self, engine: Engine) -> str:
        """The text in quotes."""
        return engine.label(self.text) if self.is_label else engine.text(self.text)


@frozen
class Number:
    """A number: its digits, no exponent, and no zeros that widen its type."""

    value: Decimal | int

    def sql(self, engine: Engine) -> str:
        """The digits."""
        return digits_of(self.value)


Node = Identifier | Text | Number
Given = Node | Type | str | int | None | Sequence["Given"] | Mapping[str, "Given"]
"""What a template is given: nodes, which it can place, and what it can ask about only."""
Nodes = Mapping[str, Given]


def literal_of(value: Value) -> Given:
    """A value of a claim as a node; a truth value is asked about only."""
    match value:
        case bool():
            return value
        case int() | Decimal():
            return number_of(value)
        case _:  # a text, a day, or a time
            return Text(str(value))


def number_of(value: Decimal | int) -> Nodes:
    """A number as a template may need it: as such, or as a text of its digits."""
    return {"number": Number(value), "text": Text(digits_of(value))}


def bound_of(entry: int) -> tuple[Text, Text]:
    """60 bits that a hash is compared with, in hex digits and in digits of whole bytes."""
    digits = f"{entry:015x}"
    return Text(digits), Text(digits + "0")


def label_of(label: str | None) -> Text | None:
    """A label, which others are told from; None is NULL."""
    return None if label is None else Text(label, is_label=True)

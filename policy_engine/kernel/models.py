"""What a group must not tell of its people: ℓ-diversity and t-closeness, as a release states them.

They are enforced on rows that are released already (``attest.enforcing``), and cost nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from policy_engine.values import frozen

KINDS = ("distinct", "entropy", "recursive")


@frozen
class LDiversity:
    """ℓ-diversity of a column; ``factor`` is the c of the recursive kind, and of no other.

    >>> str(LDiversity("illness", Decimal(3)))
    'distinct 3-diversity of illness'
    """

    of: str
    level: Decimal
    kind: str = "distinct"
    factor: Decimal | None = None

    def to_json(self) -> dict[str, str | list[str]]:
        """As a certificate has it."""
        factor = {} if self.factor is None else {"c": str(self.factor)}
        return {
            "model": "l_diversity", "of": self.of, "l": str(self.level), "kind": self.kind, **factor
        }  # fmt: skip

    def __str__(self) -> str:
        if self.factor is not None:
            return f"recursive ({self.factor}, {self.level})-diversity of {self.of}"
        return f"{self.kind} {self.level}-diversity of {self.of}"


@frozen
class TCloseness:
    """t-closeness of a column: by the order of its values where that is given, else all are alike.

    >>> str(TCloseness("pay", Decimal("0.2")))
    '0.2-closeness of pay'
    """

    of: str
    most: Decimal
    order: tuple[str, ...] = ()

    def to_json(self) -> dict[str, str | list[str]]:
        """As a certificate has it."""
        order = {"order": list(self.order)} if self.order else {}
        return {"model": "t_closeness", "of": self.of, "t": str(self.most), **order}

    def __str__(self) -> str:
        ordered = " by its order" if self.order else ""
        return f"{self.most}-closeness of {self.of}{ordered}"


Model = LDiversity | TCloseness


class NoModel(ValueError):
    """What a certificate calls a model is none."""


def model_from(found: object) -> Model:
    """The model that a certificate states; nothing is guessed.

    Raises NoModel.

    >>> model_from({"model": "t_closeness", "of": "pay", "t": "0.2"})
    TCloseness(of='pay', most=Decimal('0.2'), order=())
    """
    if not isinstance(found, Mapping) or not isinstance(found.get("of"), str):
        raise NoModel
    try:
        made = _made(found)
    except (KeyError, TypeError, InvalidOperation):
        raise NoModel from None
    stated = {name: list(v) if isinstance(v, tuple) else v for name, v in found.items()}
    if made.to_json() != stated:
        raise NoModel
    return made


def _made(found: Mapping[str, Any]) -> Model:
    if found["model"] == "t_closeness":
        return TCloseness(found["of"], _number(found["t"]), tuple(found.get("order", ())))
    if found["model"] != "l_diversity" or found["kind"] not in KINDS:
        raise NoModel
    factor = _number(found["c"]) if found["kind"] == "recursive" else None
    return LDiversity(found["of"], _number(found["l"]), found["kind"], factor)


def _number(text: object) -> Decimal:
    number = Decimal(text) if isinstance(text, str) and len(text) < 100 else Decimal("NaN")
    if not number.is_finite() or number <= 0 or abs(number.adjusted()) > 100:
        raise NoModel
    return number

"""What is known of one value of a row: the columns it depends on, and how it came to be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from sqlglot import exp


class Kind(Enum):
    """What a column of a relation holds."""

    VALUE = "a function of one row of the source"
    COUNT = "how many sampled rows the row stands for"
    RANK = "the place of a row among its person's rows"
    POSITION = "the place of a row in the source"
    DERIVED = "a function of a group's columns and count"


@dataclass(frozen=True)
class Value:
    """One column: its kind, the source columns it depends on, and its expression.

    ``expression`` is written over source columns; None where it grew too large to carry.
    ``type`` is the engine's name of its type; ``collated`` whether a collation compares it.
    Both are None where that is not known. ``key`` names the grouped expression that it is.
    ``growth`` is how often, at most, it holds what its row holds.
    """

    kind: Kind
    inputs: frozenset[str] = frozenset()
    expression: exp.Expr | None = field(default=None, compare=False)
    type: str | None = None
    collated: bool | None = None
    key: str | None = None
    growth: int = 1
    public: str | None = None  # the column of a public lookup that it is
    unique: bool | None = None  # whether no two rows of the source share it, None: not known
    filled: bool | None = None  # whether it is never NULL, None: not known

    @property
    def column(self) -> str | None:
        """The source column that this value is, unchanged; None where it is another."""
        same = isinstance(self.expression, exp.Column) and self.kind is Kind.VALUE
        return next(iter(self.inputs)) if same else None


Leaves = Mapping[int, Value]
"""The values of the nodes of an expression that stand for columns, by ``id``."""

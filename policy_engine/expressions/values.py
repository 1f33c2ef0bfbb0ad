"""What is known of one value of a row, and the laws that it is under."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from sqlglot import exp

from policy_engine.syntax.findings import law, shown


class Role(Enum):
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

    kind: Role
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
        same = isinstance(self.expression, exp.Column) and self.kind is Role.VALUE
        return next(iter(self.inputs)) if same else None


Leaves = Mapping[int, Value]
"""The values of the nodes of an expression that stand for columns, by ``id``."""


@law("V17")
def cannot_fail(failing: str) -> str | None:
    """A recoding must not be able to fail: an error tells that the row exists [mechanism 2].

    TRY_CAST, a CASE around it, or values of one type on both sides cannot fail.
    """
    return failing or None


@law("V32")
def groups_byte_by_byte(value: Value, node: exp.Expr) -> str | None:
    """Text must be grouped byte by byte: a collation shows one row as another [mechanism 3].

    Write it with COLLATE "binary" behind it.
    """
    return shown(node) if value.collated else None


@law("V20")
def is_no_place(name: str) -> str | None:
    """A row's position is not a property of the person: it may only draw the sample.

    Release a column of the person instead.
    """
    return name or None


@law("V19")
def keeps_the_secret(shown: str) -> str | None:
    """The sample's secret must not stand in the text, nor be used for anything else.

    Bind it as a parameter, or read it with (SELECT salt FROM secrets WHERE release_id = '...').
    """
    return shown or None


@law("V30")
def names_one_column(name: str) -> str | None:
    """Names must resolve to exactly one column, whatever the reader and the schema.

    Qualify the name, or give the column another one.
    """
    return name or None

"""What is read out of a text: the mechanism, as values.

``Shape`` is what is known of an intermediate query, ``ReleaseShape`` of the whole text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction
from functools import cached_property

from sqlglot import exp

from policy_engine.expressions.value_map import MapLine, Point, value_map
from policy_engine.expressions.values import Value
from policy_engine.policy.recodings import Recoding
from policy_engine.syntax.names import fold

_LOADED = "temp.main."


class Stage(Enum):
    """How far a relation is on the way from the source to a release."""

    ROWS = "one row for one row of the source, or none"
    COUNTED = "one row for each combination of the grouped columns"
    RELEASED = "only groups of at least k"


@dataclass(frozen=True)
class Sample:
    """How a text draws its sample; what it does not say is None, ``fault`` what is wrong."""

    method: str  # drawn | keyed | native | random
    rate: Fraction | None = None
    unit: str | None = None
    text: str = ""  # who is in: one text, one set of units; '' where every drawing is new
    fault: str | None = None


@dataclass(frozen=True)
class Term:
    """One term of an order: a column's name ('' for another expression) and its direction."""

    name: str
    descending: bool = False
    nulls_first: bool = False


@dataclass(frozen=True)
class Rank:
    """A row_number() per unit; ``total`` if no two rows of a person can tie.

    ``drawn``: it is by a keyed hash of the number that the order gives.

    Rows that tie have the same values of the columns ``apart``, and of those ``perhaps`` unless one
    is a float or a text under a collation.
    """

    unit: str
    order: tuple[Term, ...]
    total: bool
    text: str
    apart: frozenset[str] = frozenset()
    perhaps: frozenset[str] = frozenset()
    drawn: bool = False


@dataclass(frozen=True)
class Joined:
    """A public relation, joined by its key; ``types`` is None where its columns are not known."""

    name: str
    by: str  # what its key was compared with
    types: Mapping[str, str] | None
    inputs: frozenset[str]


@dataclass(frozen=True, eq=False)
class Condition:
    """A condition of a part: its columns, and the value that it asks of one, if it is no more."""

    node: exp.Expr
    columns: frozenset[str]
    point: Point | None


@dataclass(frozen=True)
class Shape:
    """What is known of a query: its stage, its columns and how it came to be."""

    source: str
    columns: Mapping[str, Value]
    base: Mapping[str, Value]  # the columns of the source itself, as far as they are known
    stage: Stage = Stage.ROWS
    names: frozenset[str] = frozenset()  # what a column may be qualified with
    open: bool = False  # a base table without a schema: any name is a column of it
    layout: str = ""  # how an open relation's columns stand, where they are not the source's
    is_file: bool = False
    views: tuple[str, ...] = ()  # the views through which the source is read
    table: str = ""  # the base table, where the source is a view that a policy names
    row_number: str | None = None  # the column that numbers the rows of the source
    lookups: Mapping[str, Joined] | None = None  # what was joined, by the names it goes by here
    joined: bool = False
    sample: Sample | None = None
    rank: Rank | None = None
    one_row: bool = False  # the rank was filtered to 1
    parts: tuple[tuple[Condition, ...], ...] = ((),)  # conditions of each part of a union
    filtered: bool = False
    keys: tuple[str, ...] = ()
    k: int | None = None
    repeated: bool = False  # each group repeated as often as its count says
    order: tuple[Term, ...] = ()

    @property
    def is_plain(self) -> bool:
        """Whether a sample of its rows is a sample of the source's, wherever the engine draws."""
        return self.stage is Stage.ROWS and self.rank is None and not self.joined

    def but(self, **changes: object) -> Shape:
        """The relation with ``changes``."""
        return replace(self, **changes)  # type: ignore[arg-type]  # names are this class's own

    def called(self, name: str) -> Shape:
        """The relation, its columns to be qualified with ``name`` and nothing else."""
        return self.but(names=frozenset({fold(name or "unnamed_subquery")}))

    def opaque(self, view: str) -> Shape:
        """A view's rows with its columns as the source's own, its filters as part of the source.

        What they are made of was proved; a policy that names the view speaks of them as they are.
        """
        columns = {
            name: replace(value, inputs=frozenset({name}), expression=exp.column(name, quoted=True))
            for name, value in self.columns.items()
        }
        own: dict[str, object] = {"source": view, "table": self.source, "base": columns}
        if self.rank is not None:
            # One row a person, if the view shows who the person is: by the name it gives them.
            unit = self.rank.unit
            named = [name for name, value in self.columns.items() if value.column == unit]
            # By what the row was chosen is the view's own affair, in names of the table.
            order = tuple(replace(term, name="") for term in self.rank.order)
            rank = replace(self.rank, unit=named[0], order=order) if len(named) == 1 else None
            own |= {"rank": rank, "one_row": self.one_row and rank is not None}
        return self.but(columns=columns, parts=((),), filtered=False, **own)


@dataclass(frozen=True)
class ColumnShape:
    """A released column: the source columns it reads, and how it recodes them.

    ``kind`` is the type of the one column it reads, ``expression`` what is shown of it, None where
    a collation decides. ``recoding`` is None for a deterministic function outside the policy
    language, ``read_as`` the type the source column is cast to before. ``public`` is the column of
    a public lookup that it shows, None where it shows none.
    """

    name: str
    inputs: tuple[str, ...]
    kind: str | None
    expression: exp.Expr | None
    recoding: Recoding | None
    read_as: str | None
    sql: str
    public: str | None = None

    @cached_property
    def values(self) -> tuple[MapLine, ...] | None:
        """What is shown of each range of the column's values; None where it is no such map."""
        return None if self.expression is None else value_map(self.expression, self.kind)


@dataclass(frozen=True)
class ReleaseShape:
    """The mechanism a text was proved to be.

    ``table`` is the base table that the views, if any, read: the source, or below it.
    ``columns`` are the released columns but the count; ``shown`` names all, in their order;
    ``hidden`` are grouped expressions that no released column shows.
    """

    source: str
    is_file: bool
    views: tuple[str, ...]
    table: str
    unit: str
    rate: Fraction
    method: str
    k: int
    columns: tuple[ColumnShape, ...]
    count: str | None
    shown: tuple[str, ...]
    form: str  # counts | rows
    target: str | None
    hidden: tuple[str, ...]
    rank_order: tuple[Term, ...]
    draws_a_row: bool
    one_row: bool
    filtered: bool
    order: tuple[Term, ...]

    @property
    def is_of_a_file(self) -> bool:
        """Whether the rows are those of a file: read by the text, or loaded before it."""
        return self.is_file or self.source.startswith(_LOADED)

    @property
    def ordered(self) -> bool:
        """Whether the released columns and the order say how the rows stand.

        Groups that differ in a hidden key only can show the same columns: their counts then
        stand in the order in which the engine stored them.
        """
        shown = {column.name for column in self.columns}
        if self.hidden and self.count is not None:
            shown.add(self.count)
        return shown <= {term.name for term in self.order}

"""What the compiler knows of a source: its columns and their kinds, never its values."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from enum import Enum

from policy_engine.engines import ENGINES
from policy_engine.engines.base import NameCase
from policy_engine.names import parts_of
from policy_engine.policy.csv_models import in_folder
from policy_engine.values import frozen

NO_VIEW = "must be a table, found a view"
INSTEAD_OF_A_VIEW = "name the table that it reads, or make a table of it"
IF_ROWWISE = (
    "if each of its rows comes from the rows of one person, write view: rowwise beside its name,"
    " which the certificate then states as your word; else " + INSTEAD_OF_A_VIEW
)


class Kind(Enum):
    """What recodings care about in a type: the kernel's kinds, each with its noun."""

    INTEGER = "a whole number"
    WIDE_INTEGER = "a whole number of 128 bits"
    DECIMAL = "a decimal number"
    DOUBLE = "a floating-point number"
    TEXT = "text"
    LABEL = "an enumeration"
    BOOLEAN = "a truth value"
    DATE = "a date"
    TIME = "a time of day"
    TIMESTAMP = "a time"
    TIMESTAMP_ZONED = "a time with zone"
    TIMESTAMP_OTHER = "a time of another precision"
    UUID = "a UUID"
    OTHER = "of another type"

    @property
    def of_a_claim(self) -> str:
        """As the kernel names it."""
        return self.name.lower()


NUMBERS = frozenset({Kind.INTEGER, Kind.WIDE_INTEGER, Kind.DECIMAL, Kind.DOUBLE})
TIMES = frozenset({Kind.TIMESTAMP, Kind.TIMESTAMP_ZONED, Kind.TIMESTAMP_OTHER})
KEPT_AS_TEXT = frozenset({Kind.LABEL, Kind.WIDE_INTEGER, Kind.UUID})
"""What is shown as text where it is kept."""

KINDS = {
    **dict.fromkeys(("TINYINT", "SMALLINT", "INTEGER", "INT", "BIGINT"), Kind.INTEGER),
    **dict.fromkeys(("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"), Kind.INTEGER),
    **dict.fromkeys(("HUGEINT", "UHUGEINT"), Kind.WIDE_INTEGER),
    **dict.fromkeys(("FLOAT", "DOUBLE"), Kind.DOUBLE),
    **dict.fromkeys(("VARCHAR", "CHAR", "TEXT"), Kind.TEXT),
    **dict.fromkeys(("TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"), Kind.TIMESTAMP_OTHER),
    "DECIMAL": Kind.DECIMAL,
    "ENUM": Kind.LABEL,
    "BOOLEAN": Kind.BOOLEAN,
    "DATE": Kind.DATE,
    "TIME": Kind.TIME,
    "TIMESTAMP": Kind.TIMESTAMP,
    "TIMESTAMP WITH TIME ZONE": Kind.TIMESTAMP_ZONED,
    "TIMESTAMPTZ": Kind.TIMESTAMP_ZONED,
    "UUID": Kind.UUID,
}
"""The kind of each type that has one."""


def kind_of(type_name: str) -> Kind:
    """The kind of a DuckDB type; a type that is not listed is OTHER.

    >>> kind_of("DECIMAL(10,2)"), kind_of("INTEGER[]")
    (<Kind.DECIMAL: 'a decimal number'>, <Kind.OTHER: 'of another type'>)
    """
    name = type_name.upper()
    if name.endswith("]"):
        return Kind.OTHER
    return KINDS.get(name.split("(")[0].split(" COLLATE")[0].strip(), Kind.OTHER)


def at_home(relation: str, engine: str, names: Iterable[str] = ()) -> tuple[str, ...]:
    """The parts of a table's name, with its schema where it says none.

    That is the one among the ``names`` that are known, else the one that the engine reads from.

    >>> at_home("people", "postgres"), at_home("people", "mysql", ["shop.people"])
    (('public', 'people'), ('shop', 'people'))
    """
    parts = parts_of(relation, ENGINES[engine].quote, ENGINES[engine].closing)
    if len(parts) > 1:
        return parts
    longer = [name for name in names if name.lower().endswith(f".{relation.lower()}")]
    if len(longer) == 1:
        return tuple(longer[0].split("."))
    home = ENGINES[engine].home
    return (home, *parts) if home else parts


_WIDTHS = {
    **{"TINYINT": 8, "SMALLINT": 16, "INTEGER": 32, "INT": 32, "BIGINT": 64},
    **{"UTINYINT": 8, "USMALLINT": 16, "UINTEGER": 32, "UBIGINT": 64},
}
"""The bits of each type of whole numbers."""
_LABEL = re.compile(r"'((?:[^']|'')*)'")
_LONGEST_TYPE = 60
_WHOLE = re.compile(r"DECIMAL\([0-9]+(, ?0)?\)")


@frozen
class Field:
    """A column as the catalog spells it."""

    name: str
    type: str

    @property
    def kind(self) -> Kind:
        """What recodings care about in its type."""
        return kind_of(self.type)

    @property
    def noun(self) -> str:
        """What it is, as a message says it: its kind, or the name of a type that is of none.

        >>> Field("age", "INTEGER").noun, Field("tags", "VARCHAR[]").noun
        ('a whole number', 'VARCHAR[]')
        """
        if self.kind is not Kind.OTHER:
            return str(self.kind.value)
        return " ".join(self.type.removeprefix("OTHER ").split())[:_LONGEST_TYPE]

    @property
    def said(self) -> str:
        """What it is, with the type where that says more, for a message about a value of it.

        >>> Field("age", "UTINYINT").said
        'a whole number (UTINYINT)'
        """
        type_name = " ".join(self.type.split())
        return f"{self.noun} ({type_name})" if len(type_name) <= _LONGEST_TYPE else self.noun

    @property
    def whole_numbers(self) -> range:
        """The whole numbers that its type can hold; none of a type that is of no whole numbers.

        >>> Field("age", "UTINYINT").whole_numbers, Field("sex", "VARCHAR").whole_numbers
        (range(0, 256), range(0, 0))
        """
        bits = _WIDTHS.get(self.type.upper())
        if bits is None:
            return range(0)
        if self.type.upper().startswith("U"):
            return range(2**bits)
        return range(-(2 ** (bits - 1)), 2 ** (bits - 1))

    @property
    def labels(self) -> frozenset[str] | None:
        """The labels of an enumeration; None where its type does not say them plainly.

        >>> sorted(Field("sex", "ENUM('it''s', 'm')").labels), Field("sex", "VARCHAR").labels
        (["it's", 'm'], None)
        """
        if self.kind is not Kind.LABEL or "\\" in self.type:
            return None
        found = _LABEL.findall(self.type)
        return frozenset(label.replace("''", "'") for label in found) or None

    @property
    def is_whole(self) -> bool:
        """Whether it is a decimal number without decimal places, as keys of Oracle are."""
        return bool(_WHOLE.fullmatch(self.type.upper()))

    @property
    def is_collated(self) -> bool:
        """Whether the column compares text by a collation of its own."""
        return self.kind is Kind.TEXT and " COLLATE " in self.type.upper()


@frozen
class JoinedTable:
    """A relation of which ``columns`` stand beside each row of a source, by a key: ``on`` has names
    of the source's columns, each with one of its own. ``order``: which of a key's rows is there.
    """

    name: str
    table: Table
    on: tuple[tuple[str, str], ...]
    columns: tuple[str, ...]
    order: tuple[tuple[str, bool], ...] = ()
    is_public: bool = False

    @property
    def looked_up(self) -> tuple[Field, ...]:
        """What is found of these columns, as the relation spells them."""
        found = map(self.table.find, self.columns)
        return tuple(column for column in found if column is not None)


@frozen
class Table:
    """A source: where it is, and its columns in order.

    ``parts`` are the quoted parts of a table's name; empty for a file, whose path is
    ``path``; a folder is one of Parquet files. ``view`` is the text of a view, None for a base
    table, and ``related`` what else its database holds: what the view reads is among it.
    ``partitions`` are names that its folders have, as in ``year=2020``, and no columns. ``unique``
    are the columns of which its engine enforces that no two rows have the same value, ``filled``
    those of which it enforces that every row has one: NOT NULL. ``case`` says
    which names its engine tells apart. ``hides``: there may be columns that are not among them, for
    the catalog leaves out those that the role may not read. ``beside`` are relations with columns
    beside each row, which are found like its own, as are those that are ``computed`` of it.
    """

    columns: tuple[Field, ...]
    path: str | None = None
    parts: tuple[str, ...] = ()
    view: str | None = None
    related: tuple[Table, ...] = ()
    is_folder: bool = False
    partitions: tuple[str, ...] = ()
    unique: frozenset[str] = frozenset()
    filled: frozenset[str] = frozenset()
    case: NameCase = "folded"
    hides: bool = False
    beside: tuple[JoinedTable, ...] = ()
    computed: tuple[Field, ...] = ()

    @property
    def stored(self) -> tuple[Field, ...]:
        """Its own columns, and those of the relations beside it."""
        return (*self.columns, *(column for each in self.beside for column in each.looked_up))

    @property
    def all_columns(self) -> tuple[Field, ...]:
        """The same, and those that are computed of them."""
        return (*self.stored, *self.computed)

    @property
    def relations(self) -> tuple[Table, ...]:
        """All that is read, each by itself."""
        return (self.alone, *(each.table for each in self.beside))

    @property
    def alone(self) -> Table:
        """The same with its own columns alone."""
        return replace(self, beside=(), computed=()) if self.beside or self.computed else self

    def find(self, name: str) -> Field | None:
        """The one column that ``name`` can mean; None where there is none, or several."""
        found = self.meant(name)
        if len(found) != 1:
            return None
        return next(column for column in self.all_columns if column.name == found[0])

    def meant(self, name: str) -> tuple[str, ...]:
        """The columns that ``name`` can mean, each as it is spelled there."""
        return meant(name, (column.name for column in self.all_columns), self.case)

    @property
    def files(self) -> str:
        """What names the file or files that are read, as the engine reads it."""
        assert self.path is not None
        return in_folder(self.path) if self.is_folder else self.path

    @property
    def name(self) -> str:
        """The path, or the qualified name."""
        return self.path if self.path is not None else ".".join(self.parts)


def meant(name: str, names: Iterable[str], case: NameCase = "folded") -> tuple[str, ...]:
    """The names of a source's columns that ``name`` can mean: one is it, several are told apart by
    no text, and none is no column.

    It is the one of exactly that name where the engine tells names apart by case, in quotes or
    always; else, unless it always does, those that differ by case alone.

    >>> meant("id", ["ID", "zip"]), meant("id", ["ID", "id"]), meant("id", ["ID", "id"], "quoted")
    (('ID',), ('ID', 'id'), ('id',))
    >>> meant("id", ["ID", "Id"], "quoted"), meant("id", ["ID"], "exact")
    (('ID', 'Id'), ())
    """
    alike = tuple(other for other in names if other.casefold() == name.casefold())
    own = tuple(other for other in alike if other == name)
    return own if case == "exact" or (case == "quoted" and own) else alike


def fresh(name: str, taken: Iterable[str]) -> str:
    """``name``, with a number behind it where it is taken.

    >>> fresh("rank", ["Rank", "age"])
    'rank_2'
    """
    used = {other.lower() for other in taken}
    candidate, number = name, 2
    while candidate.lower() in used:
        candidate, number = f"{name}_{number}", number + 1
    return candidate

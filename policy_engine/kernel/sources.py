"""What a release reads: where its rows are, their columns, and which rows are one unit."""

from __future__ import annotations

from typing import ClassVar, Literal

from policy_engine.kernel.laws import require
from policy_engine.kernel.types import MOMENTS, Type
from policy_engine.values import frozen

OURS = "policy_engine_"
"""What no name of a source or a release may start with: the names that a text gives itself."""

ReadAs = Literal["integer", "double", "text", "boolean", "date", "timestamp"]
READABLE: frozenset[str] = frozenset(ReadAs.__args__)  # type: ignore[attr-defined]
_KEYS = ("integer", "wide_integer", "text", "uuid", "label")


def is_name(name: str) -> bool:
    """Whether a source or a release can have a column of this name."""
    return bool(name) and "\0" not in name and not name.casefold().startswith(OURS)


def is_key(kind: Type) -> bool:
    """Whether values of a type are told apart by their texts."""
    return kind.kind in _KEYS or (kind.kind == "decimal" and kind.scale == 0)


KEY_LAW = "a key is a whole number, a plain text or a UUID"
NAME_LAW = f"a name must not be empty, hold a NUL or start with {OURS}"


@frozen
class Column:
    """A column of the source as its catalog spells it.

    ``read_as``: the type it is read as, where it is another; a value that does not fit is NULL.
    """

    name: str
    type: Type
    read_as: ReadAs | None = None

    def __post_init__(self) -> None:
        require(is_name(self.name), NAME_LAW)
        require(self.read_as in (None, *READABLE), "a column is read as a plain type")
        is_plain = self.type.kind != "other" or self.read_as is not None
        require(is_plain, "a column of another type is read as a plain one")

    @property
    def seen(self) -> Type:
        """The type that a recode sees."""
        return self.type if self.read_as is None else Type(self.read_as)


@frozen
class Relation:
    """A table or view, by the parts of its name: two at least, so that no other can be meant.

    ``is_rowwise``: that each row of the view comes from the rows of one unit is somebody's word.
    """

    parts: tuple[str, ...]
    is_rowwise: bool = False

    def __post_init__(self) -> None:
        require(len(self.parts) >= 2 and all(self.parts), "a source's name has two parts at least")
        require(not any("\0" in part for part in self.parts), "a name must not hold a NUL")

    @property
    def name(self) -> str:
        """The parts of its name."""
        return ".".join(self.parts)


FileKind = Literal["parquet", "csv", "delta"]


@frozen
class Files:
    """A file, or all those below a folder; ``path`` as the engine opens it.

    A text reads Parquet by itself. Another ``kind`` is loaded into a table before it runs, which is
    called like the path; a CSV file by ``options``, each with its name, in the order of the names.
    They are no part of the text.
    """

    path: str
    is_folder: bool = False
    kind: FileKind = "parquet"
    options: tuple[tuple[str, str | int | bool | tuple[str, ...]], ...] = ()

    def __post_init__(self) -> None:
        require(bool(self.path) and "\0" not in self.path, "a path must not be empty or hold a NUL")
        require(self.kind == "parquet" or is_name(self.path), NAME_LAW)
        one = self.is_folder or self.kind != "parquet" or not set("*?[") & {*self.path}
        require(one, "a path of one file has no pattern")
        law = "a file is Parquet, a CSV, which is no folder, or a Delta table, which is one"
        known = {"parquet": (False, True), "csv": (False,), "delta": (True,)}
        require(self.is_folder in known.get(self.kind, ()), law)
        names = [name for name, _ in self.options]
        plain = names == sorted(set(names)) and (self.kind == "csv" or not names)
        require(plain, "a CSV file alone is read by options, each once, in order")

    @property
    def name(self) -> str:
        """Its path."""
        return self.path


@frozen
class Rows:
    """Each row is one unit, in one group."""

    key: ClassVar[None] = None
    order: ClassVar[None] = None
    keys: ClassVar[tuple[Column, ...]] = ()
    ordering: ClassVar[tuple[Column, ...]] = ()
    groups: ClassVar[int] = 1
    counts_all: ClassVar[bool] = False


@frozen
class Drawn:
    """One of a unit's different rows is drawn under the secret: each as likely as another.

    Rows that are alike in all columns read are one. They have the places 1, 2, … in the order of
    these columns, each ascending, NULL last. The row is kept whose SHA-256 of
    ``secret:o:unit:place`` is least.
    """


@frozen
class Groups:
    """All of a unit's rows count, once in each group, and in ``most`` groups at most.

    A unit's groups have the places 1, 2, … in the order in which groups are shown. Those are kept
    whose SHA-256 of ``secret:o:unit:place`` is least.
    """

    most: int

    def __post_init__(self) -> None:
        require(1 <= self.most <= 100, "a unit is in 1 to 100 groups")


@frozen
class KeyColumns:
    """The columns that name a unit together: their texts as one, NULL where one of them is.

    In each text every ``~`` is written twice, and ``~:`` stands between two: so no two lists of
    texts are written alike, and a unit has one text on every engine.
    """

    columns: tuple[Column, ...]

    def __post_init__(self) -> None:
        names = {column.name for column in self.columns}
        require(len(names) == len(self.columns) >= 2, "a key of columns names two, each once")

    @property
    def name(self) -> str:
        """What a sentence calls them."""
        return " and ".join(column.name for column in self.columns)

    @property
    def type(self) -> Type:
        """What they are together."""
        return Type("text")


@frozen
class People:
    """Each value of ``key`` is one unit; NULL is nobody.

    ``order`` says which of a unit's rows is kept, by its columns and whether each descends, NULL
    last; of rows that tie in it the columns read decide, in their order, ascending: of the source
    alone, where relations are joined to it (``Claim.first_rows``). It is None where the engine
    enforces that the key is unique.
    """

    key: Column | KeyColumns
    order: tuple[tuple[Column, bool], ...] | Drawn | Groups | None

    def __post_init__(self) -> None:
        for column in self.keys:
            is_plain = not column.type.collated and column.read_as is None
            require(is_key(column.type) and is_plain, KEY_LAW)
        require(self.order != (), "an order must name a column")
        plain = all(column.read_as is None for column in self.ordering)
        require(plain, "rows are ordered by what stands in the source")

    @property
    def keys(self) -> tuple[Column, ...]:
        """The columns that tell units apart."""
        return self.key.columns if isinstance(self.key, KeyColumns) else (self.key,)

    @property
    def counts_all(self) -> bool:
        """Whether all of a unit's rows count, and not one of them."""
        return isinstance(self.order, Groups)

    @property
    def groups(self) -> int:
        """In how many groups a unit counts at most."""
        return self.order.most if isinstance(self.order, Groups) else 1

    @property
    def ordering(self) -> tuple[Column, ...]:
        """The columns that ``order`` names."""
        named = self.order if isinstance(self.order, tuple) else ()
        return tuple(column for column, _ in named)


@frozen
class JoinedRelation:
    """Columns of another relation beside each row of the source: of its one row of a key, or NULL.

    ``on`` has columns of the source, each with the relation's: a key is alike where all are, whole
    numbers as such and others as their texts; NULL is like nothing. Of several rows of a key one is
    there: the first by ``order``, as of ``People``, and of those alike in it by ``columns``,
    ascending, NULL last. ``is_public``: its content does not depend on who is in the data. Else it
    is a person's, and its rows of the unit's key are that unit's.
    """

    source: Relation | Files
    on: tuple[tuple[Column, Column], ...]
    columns: tuple[Column, ...]
    is_public: bool
    order: tuple[tuple[Column, bool], ...] = ()

    def __post_init__(self) -> None:
        require(bool(self.on) and bool(self.columns), "a relation is joined by a key, for columns")
        keys = tuple(column for pair in self.on for column in pair)
        plain = all(column.read_as is None for column in (*keys, *self.read))
        require(plain, "a joined relation's columns are compared as they stand")
        require(all(is_key(column.type) for column in keys), KEY_LAW)

    @property
    def read(self) -> tuple[Column, ...]:
        """The relation's columns that are read, but for its key."""
        return (*self.columns, *(column for column, _ in self.order))

    @property
    def names(self) -> frozenset[str]:
        """The names of all its columns that are read."""
        return frozenset(each.name for each in (*(key for _, key in self.on), *self.read))


SpanUnit = Literal["day", "month", "year"]
SPAN_UNITS: frozenset[str] = frozenset(SpanUnit.__args__)  # type: ignore[attr-defined]


@frozen
class TimeBetween:
    """A column that is computed of each row by itself: the whole units from one day to another.

    Months and years are whole from the same day of the month on, or the first after it where a
    month has no such day. NULL where a day is missing or not of the years 1 to 9999, and where the
    second comes first. A moment is of its day; of one with a zone, in UTC.
    """

    name: str
    since: Column
    until: Column
    unit: SpanUnit

    def __post_init__(self) -> None:
        require(is_name(self.name), NAME_LAW)
        days = all(each.seen.kind in {"date", *MOMENTS} for each in (self.since, self.until))
        require(days and self.unit in SPAN_UNITS, "days, months or years lie between two days")

    @property
    def column(self) -> Column:
        """What stands beside each row: a whole number."""
        return Column(self.name, Type("integer"))

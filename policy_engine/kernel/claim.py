"""What a release is, said once: a frozen value, checked where it is made.

A claim is all that the printer needs and all that a certificate states of the mechanism. Its digest
is its identity, for charges, reruns and dbt models.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import fields, is_dataclass
from datetime import date, datetime
from decimal import Decimal
from functools import cached_property
from typing import Any

from policy_engine.kernel.laws import require
from policy_engine.kernel.mechanisms import Law
from policy_engine.kernel.recodes import Bins, Recode
from policy_engine.kernel.sources import (
    NAME_LAW,
    Column,
    Drawn,
    Files,
    JoinedRelation,
    People,
    Relation,
    Rows,
    TimeBetween,
    is_name,
)
from policy_engine.kernel.types import Type, digits_of
from policy_engine.values import frozen


@frozen
class Shown:
    """A released column: its name, the source's column (none of a constant), and the recode.

    ``missing`` is the text that stands where the recode gives NULL.
    """

    name: str
    column: Column | None
    recode: Recode
    missing: str | None = None

    def __post_init__(self) -> None:
        require(is_name(self.name), NAME_LAW)
        is_read = self.column is not None
        require(is_read == self.recode.reads, "a constant alone reads no column")
        require(self.recode.fits(self.seen), "a recode must fit the type of its column")
        is_named = self.missing is None or (self.kind == "text" and self.recode.reads)
        require(is_named, "a text alone has a label in place of NULL")

    @property
    def seen(self) -> Type:
        """The type that the recode sees; text where it reads no column."""
        return Type("text") if self.column is None else self.column.seen

    @property
    def kind(self) -> str:
        """The kind of what is shown."""
        return self.recode.released(self.seen)

    @property
    def values(self) -> tuple[str | None, ...]:
        """All that can be shown, NULL last; nothing where the recode does not tell."""
        known = self.recode.values
        named = dict.fromkeys((*known[:-1], self.missing))
        return tuple(named) if known and self.missing is not None else known


KEPT, DROPPED = "kept", "dropped"


@frozen
class Claim:
    """A release: which units, by which law, what is shown of each, and how often.

    ``count`` is the name of the count's column; None where a group is shown as so many rows. A unit
    is in a group if every recode of ``filter`` shows its one row as ``KEPT``: a filter is a recode
    to nothing, fixed before the data is looked at and total, so that it adds no loss, and no error.
    Of the source the rows alone are read that meet ``period``, where there is one, [PERIOD]: it
    stands below everything that sees more than one row, so that all that is computed of a unit is
    of its rows of that period. Beside each row stand columns of other relations, [JOIN]: a unit's
    own, or the same whoever is there, so that the row is of one unit still, and what is
    ``computed`` of that row.
    """

    source: Relation | Files
    unit: Rows | People
    law: Law
    columns: tuple[Shown, ...]
    count: str | None = "n"
    filter: tuple[Shown, ...] = ()
    period: Shown | None = None
    joins: tuple[JoinedRelation, ...] = ()
    computed: tuple[TimeBetween, ...] = ()

    def __post_init__(self) -> None:
        count = () if self.count is None else (self.count,)
        names = [*self.released, *count, *self.law.beside]
        require(all(map(is_name, names)), NAME_LAW)
        apart = len({name.casefold() for name in names}) == len(names)
        require(bool(self.columns) and apart, "shown names must differ by more than case")
        read = {column.name for column in self.read}
        require(len(read) == len(self.read), "a column is read in one way")
        period = () if self.period is None else (self.period,)
        kept = all(each.name == KEPT and KEPT in each.values for each in (*self.filter, *period))
        require(kept, "a condition is a recode to what is kept")
        filtered = {each.column for each in self.filter}
        require(len(filtered) == len(self.filter), "a column has one condition")
        if self.period is not None:
            ends = self.period.recode
            is_range = isinstance(ends, Bins) and ends.labels == (DROPPED, KEPT, DROPPED)
            in_time = is_range and all(isinstance(end, date) for end in ends.cuts)  # type: ignore[union-attr]
            require(in_time and self.period.missing is None, "a period has two ends, in time")
        # Some engines let a name of the select list stand for a column of the source.
        for shown in self.columns:
            own = {shown.column.name} if shown.column is not None else set()
            require(shown.name not in read - own, "a shown name is no other column's")
        self._check_joins()
        several = isinstance(self.source, Files) and self.source.is_folder
        numbered = isinstance(self.unit, Rows) and self.law.numbers_rows
        require(not (several and numbered), "rows of several files have no numbers to draw from")
        if isinstance(self.unit.order, Drawn):
            differ = {column.name for column in self.inputs} - {key.name for key in self.unit.keys}
            require(bool(differ), "a row is drawn of rows that can differ in what is recoded")
        self.law.check(self)

    def _check_joins(self) -> None:
        looked_up = {column.name: column for column in self.beside}
        names = [*self.own, *(column.name for column in self.beside)]
        apart = len({name.casefold() for name in names}) == len(names)
        require(not self.beside or apart, "a looked-up column has a name of its own")
        read = (*self.read, *self.unit.ordering, *self.dates)
        is_same = all(looked_up.get(each.name, each).type == each.type for each in read)
        require(is_same, "a looked-up column has the type that its relation gives it")
        for each in self.joins:
            keys = {*self.unit.keys}
            of_unit = bool(keys) and keys <= {own for own, _ in each.on}
            require(each.is_public != of_unit, "what is joined is a unit's by its key, or public")
        is_drawn = isinstance(self.unit, Rows) and self.law.is_sample
        require(not (self.beside and is_drawn), "rows that are drawn have nothing beside them")

    @property
    def places(self) -> tuple[Relation | Files, ...]:
        """All that is read: the source, then what is joined to it."""
        return (self.source, *(each.source for each in self.joins))

    @property
    def beside(self) -> tuple[Column, ...]:
        """The columns that stand beside each row: of other relations, and what is computed."""
        joined = (column for each in self.joins for column in each.columns)
        return (*joined, *(each.column for each in self.computed))

    @property
    def dates(self) -> tuple[Column, ...]:
        """The columns of which others are computed."""
        return tuple(column for each in self.computed for column in (each.since, each.until))

    @cached_property
    def own(self) -> tuple[str, ...]:
        """The source's own columns that are read of a row, where others stand beside it."""
        looked_up = {column.name for column in self.beside}
        read = (each.name for each in (*self.inputs, *self.unit.ordering, *self.dates))
        period = () if self.period is None or self.period.column is None else (self.period.column,)
        by = (own for each in self.joins for own, _ in each.on)
        fixed = (each.name for each in (*self.unit.keys, *by, *period))
        return tuple(dict.fromkeys((*(name for name in read if name not in looked_up), *fixed)))

    @cached_property
    def first_rows(self) -> tuple[tuple[Column, bool], ...]:
        """By what a unit's one row is chosen where relations are joined: among the source's own
        rows, so that what is joined is joined to one row a unit.

        What stands beside a row is a function of the row's own columns, so rows that tie in all
        that are read are alike with it too. Empty where a row is chosen of what is there with it:
        the order names what is looked up, or the unit is of several columns, or draws its row.
        """
        order, looked_up = self.unit.order, {column.name for column in self.beside}
        named = {column.name for column in self.unit.ordering}
        is_below = self.joins and len(self.unit.keys) == 1 and not named & looked_up
        if not is_below or not isinstance(order, tuple):
            return ()
        by = (own for each in self.joins for own, _ in each.on)
        rest = {each.name: each for each in (*self.inputs, *self.dates, *by)}
        fixed = named | looked_up | {key.name for key in self.unit.keys}
        return (*order, *((rest[name], False) for name in rest if name not in fixed))

    @property
    def differs_by_case(self) -> bool:
        """Whether two columns that are read, or one and what is shown of another, have names that
        differ by case alone."""
        read = (*self.read, *self.unit.keys, *self.unit.ordering)
        named = {each.name for each in (*read, *self.dates)}
        relations = [named, *(each.names for each in self.joins)]
        is_shown = any(
            each.name.casefold() == column.name.casefold() and each.column != column
            for column in self.read
            for each in self.columns
        )
        return is_shown or any(len({*map(str.casefold, of)}) < len(of) for of in relations)

    @property
    def released(self) -> tuple[str, ...]:
        """The names of the columns that tell groups apart, as they are released."""
        return (*self.law.before, *(shown.name for shown in self.columns))

    @cached_property
    def recoded(self) -> tuple[Column, ...]:
        """The source's columns that are recoded or summed, each once, in their order."""
        found = (*(shown.column for shown in self.columns), *self.law.reads)
        return tuple(dict.fromkeys(column for column in found if column is not None))

    @cached_property
    def inputs(self) -> tuple[Column, ...]:
        """The columns that are read of a row: those recoded, then those of the filter, once."""
        filtered = (each.column for each in self.filter if each.column is not None)
        return tuple(dict.fromkeys((*self.recoded, *filtered)))

    @cached_property
    def read(self) -> tuple[Column, ...]:
        """The same, and the one by which it is known whether a row is read at all."""
        period = self.period.column if self.period is not None else None
        return tuple(dict.fromkeys((*self.inputs, *([] if period is None else [period]))))

    def delta(self, rate: Decimal, epsilon: Decimal, neighbours: str) -> Decimal:
        """The least δ for which one release is (ε, δ)-DP for one unit, never below the true one.

        ``rate`` is not below the one at which a unit is in the sample. Raises ClaimError: its law
        has no price.
        """
        return self.law.delta(self.unit.groups, rate, epsilon, neighbours)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the claim in its canonical form: equal claims alone have equal digests."""
        return digest_of(to_json(self))

    @cached_property
    def stream(self) -> str:
        """What tells the noise of this claim from another's under one secret.

        It is of what is shown, of whom and by which law. It is not of the source's name, nor of how
        a person's row is found: these differ between engines, and the same release has the same
        bytes on each.
        """
        shown = [_parts(each.name, each) for each in self.columns]
        kept = [_parts(each.column.name, each) for each in self.filter if each.column]
        named = [key.name.casefold() for key in self.unit.keys]
        key = named if len(named) > 1 else next(iter(named), None)
        whole = [{**to_json(self.law), "secret": None}, shown, kept, self.count, key]
        period = () if self.period is None else (to_json(self.period.recode),)
        return digest_of([*whole, self.unit.groups, *period]).removeprefix("sha256:")


def _parts(name: str, shown: Shown) -> list[object]:
    return [name, to_json(shown.recode), *([] if shown.missing is None else [shown.missing])]


def digest_of(claim: object) -> str:
    """SHA-256 of a claim's JSON, whatever the order of its keys."""
    text = json.dumps(claim, sort_keys=True, ensure_ascii=True)
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def to_json(value: object) -> Any:
    """A claim, or a part of one, as JSON: every value with the name of its type.

    >>> to_json(Type("integer"))["kind"], to_json(Decimal("1.50"))
    ('integer', {'decimal': '1.5'})
    """
    # Most are entries of a table: to ask of each whether it is a dataclass takes ten times as long.
    if value is None or isinstance(value, (int, str)):
        return value
    if isinstance(value, tuple):
        return [to_json(part) for part in value]
    if isinstance(value, Decimal):
        return {"decimal": digits_of(value)}
    if isinstance(value, datetime):
        return {"timestamp": value.isoformat(" ")}
    if isinstance(value, date):
        return {"date": value.isoformat()}
    assert is_dataclass(value) and not isinstance(value, type)
    parts = {field.name: to_json(getattr(value, field.name)) for field in fields(value)}
    return {"is": type(value).__name__, **parts}

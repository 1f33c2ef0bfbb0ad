"""What the columns of a stranger's text are taken for, and its conditions as a filter."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from policy_engine.check.columns import TypesOf, types_of_engine
from policy_engine.check.recodings import NotUnderstood, Point, Range
from policy_engine.compile.claims import recode_of
from policy_engine.engines import ENGINES
from policy_engine.kernel.filters import DROPPED, KEPT, Filter
from policy_engine.kernel.laws import ClaimError
from policy_engine.kernel.recodes import Map
from policy_engine.kernel.sources import Column
from policy_engine.kernel.types import Type
from policy_engine.policy.recodings import (
    Bins,
    Constant,
    Keep,
    Lookup,
    Prefix,
    Recoding,
    Round,
    Truncate,
)
from policy_engine.syntax.names import fold

_PLAIN = 18, 3


class Taken:
    """The types of the source's columns: as the schema says, else as the text takes them."""

    def __init__(self, engine: str, types_of: TypesOf) -> None:
        self.engine, self.types_of = engine, types_of
        self.known: dict[str, Column] = {}

    def column(self, name: str, recoding: Recoding) -> Column:
        """A column that is recoded so."""
        if fold(name) not in self.known:
            said = self.types_of(name)
            if said == ():
                raise NotUnderstood(f"the schema has no column {name} that a release can read")
            self.known[fold(name)] = Column(name, said[0] if said else self._taken(recoding))
        return self.known[fold(name)]

    def _taken(self, recoding: Recoding) -> Type:
        kinds: dict[str, Type] = {
            kind.kind: kind for kind in types_of_engine(self.engine) if kind.kind != "text"
        }
        kinds["text"] = Type("text", collated=ENGINES[self.engine].collates)
        exact = Type("decimal", *_PLAIN)
        if "decimal_column" in ENGINES[self.engine].lacks:
            exact = kinds["double"]
        match recoding:
            case Bins(cuts):
                return _of_points(cuts, kinds, exact)
            case Round(step):
                return exact if step != int(step) else kinds["integer"]
            case Truncate(unit):
                return kinds.get("timestamp" if unit in ("hour", "day") else "date", kinds["text"])
            case Keep() | Prefix() | Constant() | Lookup():
                return kinds["text"]

    def key(self, name: str) -> Column:
        """The key of a unit: a whole number, where nothing says another type."""
        told = self.types_of(name, is_key=True)
        if told == ():
            raise ClaimError(f"the schema has no column {name} that can be a key")
        return Column(name, told[0] if told else Type("integer"))


def _of_points(points: tuple[Point, ...], kinds: Mapping[str, Type], exact: Type) -> Type:
    first = points[0]
    if isinstance(first, Decimal):
        whole = all(isinstance(p, Decimal) and p == int(p) for p in points)
        return kinds["integer"] if whole else exact
    return kinds["timestamp" if hasattr(first, "hour") else "date"]


def filter_of(name: str, conditions: list[Range], taken: Taken) -> Filter:
    """The conditions of one column as one."""
    members: tuple[str, ...] = ()
    least: Point | None = None
    end: Point | None = None
    for found, low, high in conditions:
        members = members or found
        least = least if low is None else low
        end = end if high is None else high
    if members:
        table = tuple((member, KEPT) for member in members)
        column = taken.column(name, Lookup(table, DROPPED))
        made = recode_of(Lookup(table, DROPPED), column.type)
        assert isinstance(made, Map)
        return Filter(column, made.groups[0][0])
    cuts = tuple(cut for cut in (least, end) if cut is not None)
    bins = Bins(cuts, ("",) * (len(cuts) + 1))  # type: ignore[arg-type]
    column = taken.column(name, bins)
    values = list(recode_of(bins, column.type).cuts)  # type: ignore[union-attr]
    low_value = values.pop(0) if least is not None else None
    return Filter(column, (), low_value, values[0] if values else None)

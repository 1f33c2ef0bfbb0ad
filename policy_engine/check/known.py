"""What a schema says of the tables that a text names."""

from __future__ import annotations

from collections.abc import Iterable

from policy_engine.check.columns import TypesOf
from policy_engine.check.schema import Schema
from policy_engine.compile.catalog import Field, Kind, Table
from policy_engine.compile.claims import type_of
from policy_engine.engines import ENGINES
from policy_engine.kernel.laws import ClaimError
from policy_engine.kernel.types import Type
from policy_engine.names import fold


def is_one(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether two names can be of one table, however many parts each has."""
    shared = min(len(one), len(other))
    return bool(one) and folded(one[-shared:]) == folded(other[-shared:])


def folded(parts: tuple[str, ...]) -> list[str]:
    """A name as it is compared whatever its case."""
    return [part.casefold() for part in parts]


class Known:
    """What a schema says of a source's columns; nothing without one."""

    def __init__(self, schema: Schema, engine: str) -> None:
        self.schema, self.engine = schema, engine

    def __call__(self, parts: tuple[str, ...]) -> TypesOf:
        """The columns of a source, by the parts of its name: no types where none is compared."""
        table, collates = self.table(parts), ENGINES[self.engine].collates

        def types_of(name: str, *, is_key: bool = False) -> tuple[Type, ...] | None:
            if not self.schema.known:
                return None
            column = None if table is None else table.find(name)
            if column is None or column.kind is Kind.OTHER or (is_key and column.is_collated):
                return ()
            try:
                return (type_of(column, collates=collates and not is_key),)
            except ClaimError:
                return ()

        return types_of

    def table(self, parts: tuple[str, ...]) -> Table | None:
        """The one table of a name, whose shorter name in the schema stands for it.

        Its unique columns are those of keys that the engine enforces.
        """
        found = _ending(self.schema.tables, parts)
        if len(found) != 1:
            return None
        columns = tuple(Field(*each) for each in self.schema.tables[found[0]].items())
        told = self.schema.constraints.get(found[0])
        enforced = told.unique if told and ENGINES[self.engine].enforces_keys else frozenset()
        unique = frozenset(column.name for column in columns if fold(column.name) in enforced)
        return Table(columns, parts=parts, unique=unique, case=ENGINES[self.engine].case)

    def is_view(self, parts: tuple[str, ...]) -> bool:
        """Whether the schema has a view of a name."""
        return bool(_ending(self.schema.views, parts))

    def columns_of(self, parts: tuple[str, ...]) -> tuple[str, ...]:
        """The columns of the one table of a name, in their order; none where it is not known."""
        table = self.table(parts) if self.schema.known else None
        return () if table is None else tuple(column.name for column in table.columns)

    def is_unique(self, parts: tuple[str, ...], names: tuple[str, ...]) -> bool | None:
        """Whether columns tell the rows of a table apart; None where the schema does not say."""
        told = self.schema.constraints_of(".".join(parts))
        if told is not None and any(fold(name) in told.unique for name in names):
            return True
        return False if told is not None and told.keyed and len(names) == 1 else None

    def view_of(self, parts: tuple[str, ...]) -> str:
        """What the one view of a name reads; empty where there is none, or a table is meant."""
        found = _ending(self.schema.views, parts)
        is_one = len(found) == 1 and not _ending(self.schema.tables, parts)
        return self.schema.views[found[0]] if is_one else ""


def _ending(names: Iterable[str], parts: tuple[str, ...]) -> list[str]:
    """The names that are the last parts of one, or end in it: spelled alike, else in any case."""
    found = []
    for name in names:
        own = tuple(name.split("."))
        shared = min(len(own), len(parts))
        if folded(own[-shared:]) == folded(parts[-shared:]):
            found.append((name, own[-shared:] == parts[-shared:]))
    exact = [name for name, is_exact in found if is_exact]
    return exact if len(exact) == 1 else [name for name, _ in found]

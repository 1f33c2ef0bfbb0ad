"""What a table's definition says of its keys: which columns tell rows apart, which have no NULL."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

from policy_engine.syntax.names import fold


@dataclass(frozen=True)
class Constraints:
    """``unique`` columns tell rows apart by themselves, ``filled`` ones are never NULL.

    ``keyed`` says that the table has a key at all: any other column may then repeat.
    """

    unique: frozenset[str] = frozenset()
    filled: frozenset[str] = frozenset()
    keyed: bool = False


def constraints_of(table: exp.Schema) -> Constraints:
    """The constraints of a CREATE TABLE statement.

    >>> import sqlglot
    >>> made = sqlglot.parse_one("create table t (id int primary key, a text not null, b text)")
    >>> found = constraints_of(made.this)
    >>> sorted(found.unique), sorted(found.filled)
    (['id'], ['a', 'id'])
    """
    keys = list(_keys(table))
    primary = [name for names, is_primary in keys if is_primary for name in names]
    filled = [
        fold(column.name)
        for column in table.expressions
        if isinstance(column, exp.ColumnDef)
        for each in column.constraints
        if isinstance(each.kind, exp.NotNullColumnConstraint)
        and not each.kind.args.get("allow_null")
    ]
    alone = frozenset(names[0] for names, _ in keys if len(names) == 1)
    return Constraints(alone, frozenset([*primary, *filled]), bool(keys))


def _keys(table: exp.Schema) -> Iterator[tuple[list[str], bool]]:
    """The columns of every key, and whether it is the primary one."""
    for part in table.expressions:
        if isinstance(part, exp.ColumnDef):
            for each in part.constraints:
                primary = isinstance(each.kind, exp.PrimaryKeyColumnConstraint)
                if primary or isinstance(each.kind, exp.UniqueColumnConstraint):
                    yield [fold(part.name)], primary
        for each in part.expressions if isinstance(part, exp.Constraint) else [part]:
            if isinstance(each, exp.PrimaryKey):
                yield [fold(name.name) for name in each.expressions], True
            elif isinstance(each, exp.UniqueColumnConstraint) and each.this is not None:
                yield [fold(name.name) for name in each.this.expressions], False

"""What a policy reads of a table: the source's column of each recoding, and as which type."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import prod

from policy_engine.compile.catalog import Field, Kind, Table
from policy_engine.engines.types import DECLARED
from policy_engine.kernel.recodes.meanings import recode_meaning
from policy_engine.policy.fields import ColumnType
from policy_engine.policy.resolve import Policy
from policy_engine.values import frozen

#: Grouping raw columns first pays where raw tuples repeat: where the values that the policy
#: itself names span at most this many combinations. A rule over the policy, not the data.
RAW_FIRST_COMBINATIONS = 1 << 16


@frozen
class ReadColumn:
    """A source column, and as what it is recoded: of the declared type, else of its own."""

    source: Field
    declared: str | None

    @property
    def column(self) -> Field:
        """The column as recodings see it."""
        return Field(self.source.name, self.declared or self.source.type)


def read_as(policy: Policy, table: Table) -> Mapping[str, ColumnType]:
    """The types that ``source.columns`` says, by the names that the source's columns have.

    A text that is to be one is read as it is: nothing is converted, on no engine.
    """
    named = ((table.find(name), kind) for name, kind in policy.source.columns)
    return {
        column.name: kind
        for column, kind in named
        if column is not None and (kind, column.kind) != ("text", Kind.TEXT)
    }


def casts_of(column: Field) -> str:
    """What reads a column as another type, by the name of what engines lack."""
    return "strict_cast" if column.kind is Kind.TEXT else "try_cast"


def read_columns(policy: Policy, table: Table) -> Mapping[str, ReadColumn]:
    """The source column of every recoding that reads one, by the policy's name for it."""
    return columns_read(policy, table, [name for name, how in policy.recodings if how.reads])


def columns_read(policy: Policy, table: Table, names: Iterable[str]) -> Mapping[str, ReadColumn]:
    """The source columns of these names that are there, each as what it is read."""
    declared = {name: DECLARED[kind] for name, kind in read_as(policy, table).items()}
    found = {name: column for name in names if (column := table.find(name))}
    return {name: ReadColumn(column, declared.get(column.name)) for name, column in found.items()}


def is_raw_first(policy: Policy, table: Table) -> bool:
    """Whether raw values are grouped first: the policy's word, or the rule's."""
    if policy.grouping != "auto":
        return policy.grouping == "raw_first"
    read = read_columns(policy, table)
    sizes = [
        recode_meaning(recoding).raw_values(read[name].column.kind.of_a_claim)  # type: ignore[arg-type]
        for name, recoding in policy.recodings
        if name in read
    ]
    known = [size for size in sizes if size is not None]
    return len(known) == len(sizes) and prod(known) <= RAW_FIRST_COMBINATIONS

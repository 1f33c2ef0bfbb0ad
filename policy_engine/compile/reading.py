"""What a policy reads of a table: the source's column of each recoding, and as which type."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from policy_engine.compile.catalog import Column, Kind, Table
from policy_engine.policy.recodings import Constant
from policy_engine.policy.resolve import Policy

_DECLARED_TYPES = {
    "integer": "BIGINT",
    "double": "DOUBLE",
    "text": "TEXT",
    "boolean": "BOOLEAN",
    "date": "DATE",
    "timestamp": "TIMESTAMP",
}


@dataclass(frozen=True)
class ReadColumn:
    """A source column, and as what it is recoded: of the declared type, else of its own."""

    source: Column
    declared: str | None

    @property
    def column(self) -> Column:
        """The column as recodings see it."""
        return Column(self.source.name, self.declared or self.source.type)

    @property
    def groups_as_it_is(self) -> bool:
        """Whether the engine groups the raw values by what they are, letter by letter."""
        kind = self.source.kind
        return kind not in {Kind.FLOAT, Kind.OTHER} and not self.source.is_collated


def read_columns(policy: Policy, table: Table) -> Mapping[str, ReadColumn]:
    """The source column of every recoding that reads one, by the policy's name for it."""
    declared = {name.lower(): _DECLARED_TYPES[kind] for name, kind in policy.source.columns}
    return {
        name: ReadColumn(found, declared.get(name.lower()))
        for name, recoding in policy.recodings
        if not isinstance(recoding, Constant) and (found := table.find(name))
    }

"""The candidates of a policy, and the people by all of their levels: one query, run once.

Which schemes there are is told by the policy and its hierarchies alone. What is read of the source
is the print of a claim, with source, filter and the one row a person as the policy has them, so
that a level means what a release at that level means on the same engine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from policy_engine.choose.lattice import (
    Bounds,
    Flags,
    Histogram,
    Integers,
    Ladder,
    Lattice,
    Scheme,
)
from policy_engine.compile.catalog import Table
from policy_engine.compile.compiler import compiled
from policy_engine.errors import UsageError
from policy_engine.kernel.claim import Claim, Shown
from policy_engine.kernel.printing import printed
from policy_engine.kernel.recodes import Keep
from policy_engine.kernel.sources import People, Rows
from policy_engine.policy.documents import ReadPolicy, read_policy
from policy_engine.policy.mechanisms.whole_classes import EVERY_CLASS, Suppression
from policy_engine.policy.reading import plain_yaml, read_text
from policy_engine.policy.recodings import Recoding
from policy_engine.policy.resolve import Policy
from policy_engine.policy.scalars import as_told
from policy_engine.policy.search_models import ColumnLevels, SearchSpec, all_levels, level_words
from policy_engine.policy.timing import PeriodOf
from policy_engine.values import frozen
from policy_engine.warehouse.base import Warehouse
from policy_engine.warehouse.drawing import new_secret

if TYPE_CHECKING:
    import pyarrow as pa

_COUNT = "people"


@frozen
class Candidates:
    """What each column of a policy may be, and what the policy asks of it."""

    policy: Policy
    read: ReadPolicy
    columns: tuple[ColumnLevels, ...]

    @classmethod
    def of(cls, policy: Policy) -> Candidates:
        """The candidates of a policy that was loaded from its file.

        Raises UsageError where there is nothing to choose.
        """
        read = read_policy(read_text(policy.file, "policy"), policy.file, policy.directory)
        if isinstance(policy.schedule, PeriodOf) and not policy.edition.column:
            raise UsageError(
                f"{policy.name}: search --public is of all rows of a source: take period out of a"
                " copy of the policy, and search that"
            )
        columns = all_levels(read.document.recode, read.hierarchies)
        if not columns:
            raise UsageError(
                f"{policy.name}: every column is a constant: there is nothing to choose"
            )
        return cls(policy, read, columns)

    @property
    def spec(self) -> SearchSpec:
        """What the policy says of a search."""
        return self.read.document.search or SearchSpec()

    @property
    def most(self) -> int:
        """In how many groups a person counts at most whose rows all count; 0 where one does."""
        return self.policy.groups_a_person if self.policy.source.counts_all else 0

    @property
    def bounds(self) -> Bounds:
        """The levels that are candidates, and the weights."""
        spec = self.spec
        first = {each.column: each.first for each in self.columns}
        return Bounds(
            tuple({**first, **spec.at_least}.items()),
            tuple(spec.at_most.items()),
            tuple((name, Fraction(weight)) for name, weight in spec.weights.items()),
        )

    @property
    def told(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """The levels of each column that are candidates, as people read them; public."""
        written, lattice = self.written, self.public_lattice
        return tuple(
            (each.column, tuple(as_told(each.at(level, written[each.column])) for level in levels))
            for each, levels in zip(self.columns, lattice.allowed, strict=True)
        )

    @property
    def called(self) -> dict[str, dict[int, str]]:
        """The levels of each column that are candidates, by their numbers, as people call them."""
        written, lattice = self.written, self.public_lattice
        return {
            each.column: {n: level_words(each.at(n, written[each.column])) for n in levels}
            for each, levels in zip(self.columns, lattice.allowed, strict=True)
        }

    @property
    def public_lattice(self) -> Lattice:
        """The lattice without a table: how many schemes there are, and how precise each is."""
        empty = [Ladder.of(each.column, [(None,) * each.height]) for each in self.columns]
        return Lattice.of(empty, self.bounds)

    def query(self, table: Table, warehouse: Warehouse) -> str:
        """The text that reads everybody by all levels of all columns; errors as ``claim``."""
        return printed(self.claim(table, warehouse), warehouse.dialect.name)

    def claim(self, table: Table, warehouse: Warehouse) -> Claim:
        """The claim of everybody by all levels of all columns; nothing is certified of it.

        Raises PolicyError where a level does not fit its column.
        """
        shown: dict[tuple[int, int], Shown] = {}
        one_row = replace(self.policy.source, counts_all=False)  # all of them are read in the end
        made: Claim | None = None
        for level in range(max(each.height for each in self.columns)):
            recodings: list[tuple[str, Recoding]] = []
            for each in self.columns:
                recodings.append((each.column, each.recodings[min(level, each.height - 1)]))
            plain = replace(
                self.policy, recodings=tuple(recodings), protection=Suppression(()), k=1,
                missing=(), models=(), part=None, grouping="recoded", source=one_row,
            )  # fmt: skip
            made, _ = compiled(plain, table, warehouse.dialect)
            for at, (each, found) in enumerate(zip(self.columns, made.columns, strict=True)):
                if level < each.height:
                    shown[at, level] = replace(found, name=_name(at, level))
        assert made is not None
        columns = tuple(shown[place] for place in sorted(shown))
        everybody = replace(made, columns=columns, count=_COUNT)
        return of_all_rows(everybody) if self.most else everybody

    def people(
        self, query: str, table: Table, warehouse: Warehouse, *, named: bool = False
    ) -> tuple[Histogram, Lattice]:
        """Everybody by the levels of all columns, read by ``query``: confidential as it is.

        Labels are numbers, unless they are to be ``named``: which of them are alike is all that a
        choice is made by, and there are values that Python has none for, such as a date of the year
        12026. So whatever the table holds, nothing fails.

        Raises WarehouseError where the warehouse fails.
        """
        with warehouse.sampled(self.policy, table, new_secret()) as check:
            rows = warehouse.rows(query)
            check()
        labels, ladders = [], []
        for at, each in enumerate(self.columns):
            found, ladder = _ladder(
                each, [rows[_name(at, level)] for level in range(each.height)], named=named
            )
            labels.append(found)
            ladders.append(ladder)
        people = np.asarray(rows[_COUNT].to_numpy(), dtype=np.int64)
        histogram = Histogram(np.stack(labels, axis=1), people)
        if self.most:
            known, persons = whose(rows, self.policy)
            histogram = Histogram(histogram.labels[known], people[known], persons[known], self.most)
        return histogram, Lattice.of(ladders, self.bounds)

    @property
    def written(self) -> dict[str, object]:
        """The entries of ``recode`` as the policy's file has them."""
        found: dict[str, object] = plain_yaml(self.text)["recode"]
        return found

    @property
    def text(self) -> str:
        """The policy's file."""
        return read_text(self.policy.file, "policy")

    def scheme_in(self, path: Path) -> Scheme:
        """The levels of the policy in a file that was chosen among these."""
        chosen, written = plain_yaml(read_text(path, "policy"))["recode"], self.written
        return tuple(
            next(
                level
                for level in range(each.height + 1)
                if as_told(each.at(level, written[each.column])) == as_told(chosen[each.column])
            )
            for each in self.columns
        )

    def recode(self, scheme: Scheme) -> dict[str, object]:
        """How the columns of a scheme are written in a policy."""
        written = self.written
        return {
            each.column: each.at(level, written[each.column])
            for each, level in zip(self.columns, scheme, strict=True)
        }


def of_all_rows(claim: Claim) -> Claim:
    """A claim whose rows tell whose they are, with all rows of everybody; nothing is certified."""
    unit = claim.unit
    assert isinstance(unit, People)
    keys = tuple(Shown(_key(at), key, Keep()) for at, key in enumerate(unit.keys))
    # A person's own relation is looked up by the person's key: what it says is of one person.
    joins = tuple(replace(each, is_public=True) for each in claim.joins)
    columns = (*claim.columns, *keys)
    return replace(claim, unit=Rows(), law=EVERY_CLASS, columns=columns, joins=joins)


def whose(rows: pa.Table, policy: Policy) -> tuple[Flags, Integers]:
    """Which of the rows that ``of_all_rows`` told are somebody's, and the number of that person."""
    keys = [rows[_key(at)] for at in range(len(policy.source.keys))]
    somebody: Flags = np.ones(rows.num_rows, dtype=np.bool_)
    for key in keys:
        somebody &= np.asarray(key.is_valid().to_numpy(), dtype=bool)
    return somebody, alike(keys)


def alike(columns: Sequence[pa.ChunkedArray]) -> Integers:
    """A number for each row, the same where all columns are."""
    found: Integers = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        whole = column.combine_chunks().dictionary_encode(null_encoding="encode")
        codes = np.asarray(whole.indices, dtype=np.int64)
        _, found = np.unique(found * (len(whole.dictionary) + 1) + codes, return_inverse=True)
    return found


def _key(at: int) -> str:
    return f"key {at}"


def _name(at: int, level: int) -> str:
    return f"column {at} level {level}"


def _ladder(
    of: ColumnLevels, levels: list[pa.ChunkedArray], *, named: bool
) -> tuple[Integers, Ladder]:
    """The number of each row's value, and the ladder of the values."""
    places: Integers = np.zeros(len(levels[0]), dtype=np.int64)
    known = []
    for labels in levels:
        whole = labels.combine_chunks().dictionary_encode(null_encoding="encode")
        codes = np.asarray(whole.indices, dtype=np.int64)
        values = whole.dictionary.to_pylist() if named else [*range(len(whole.dictionary))]
        known.append((codes, values))
        both = places * max(len(values), 1) + codes
        _, first, places = np.unique(both, return_index=True, return_inverse=True)
    told = [tuple(values[codes[row]] for codes, values in known) for row in first.tolist()]
    # Of nobody the ladder has its levels all the same.
    return places, Ladder.of(of.column, told or [(None,) * of.height])

"""A warehouse that is asked in SQL: what its engines have in common.

An engine says how it is connected to, what its catalog knows, how the secret is bound and how a
table is published. The known-answer test, names and fingerprints are here. The sample is drawn by
the text itself, so nothing is drawn outside the query.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

from policy_engine.compile.catalog import Table
from policy_engine.dialects import Engine
from policy_engine.errors import WarehouseError
from policy_engine.kernel.fragments import in_sample
from policy_engine.policy.resolve import Policy, Source
from policy_engine.syntax.names import fold
from policy_engine.warehouse import known_answers as known

Row = tuple[Any, ...]
KNOWN_ANSWERS = (
    "the known-answer test of the sampler failed on this connection: its sample would not be the"
    " certified one; nothing was drawn. Please report this"
)


class ServerWarehouse(ABC):
    """One connection to an engine; use it in one thread, and close it."""

    dialect: Engine
    engine_version: str

    def __init__(self, name: str) -> None:
        self._name = name
        self._certified: dict[tuple[str, ...], tuple[Table, object]] = {}
        self._asked: tuple[Policy, Table, bytes, bytes] | None = None

    # What an engine defines

    @abstractmethod
    def ask(self, sql: str, values: tuple[Any, ...] = ()) -> list[Row]:
        """The rows of a query of ours, fetched to the end; its errors quote nothing."""

    @abstractmethod
    def full_name(self, relation: str) -> tuple[str, ...]:
        """The parts of a relation's name, as the catalog spells them, with what is missing."""

    @abstractmethod
    def described(self, parts: tuple[str, ...]) -> Table:
        """A table or view as the catalog has it; WarehouseError where it cannot be certified."""

    @abstractmethod
    def bound(self, salt: str) -> AbstractContextManager[None]:
        """The secret within reach of the text while the body runs, and out of it afterwards."""

    @abstractmethod
    def numbers(self, count: int) -> str:
        """A relation, in parentheses, of one column n with the whole numbers below ``count``."""

    @abstractmethod
    def state(self, parts: tuple[str, ...], columns: tuple[str, ...], seed: bytes) -> bytes:
        """What columns of a table hold now, as bytes: other bytes for other data."""

    @abstractmethod
    def target(self, relation: str) -> tuple[str, ...]:
        """The full name of a table to write; WarehouseError where it has no place."""

    @abstractmethod
    def exists(self, target: tuple[str, ...]) -> bool:
        """Whether a relation of that name is there."""

    @abstractmethod
    def comment(self, target: tuple[str, ...]) -> str:
        """The comment of a table; empty where it has none, or where the name is no table's."""

    @abstractmethod
    def rows(self, sql: str) -> pa.Table:
        """Run a certified text that selects, and fetch what it releases."""

    @abstractmethod
    def publish(
        self,
        query: str,
        target: tuple[str, ...],
        comment: str,
        attest: Callable[[], None],
        *,
        replace: bool,
    ) -> None:
        """Run a certified text that creates ``target``, and comment it, so that both stand or none.

        ``attest`` is called last before they stand, and sees the table.
        """

    @abstractmethod
    def release_lines(self, target: tuple[str, ...]) -> Iterator[Row]:
        """The rows of a published table, in their order."""

    @abstractmethod
    def close(self) -> None:
        """End the connection."""

    def facts(self, table: Table) -> object:
        """What else the catalog says of a source, which must stay as it is; it tells relations
        apart that are described alike.
        """
        return None

    def check_replaceable(self, target: tuple[str, ...]) -> None:
        """Refuse a table that another cannot take the place of, before anything is charged.

        Raises:
            WarehouseError: the source reads it, what it has would be lost, or the swap would fail.
        """
        for table, _ in self._certified.values():
            if fold(".".join(target)) in {fold(".".join(each.parts)) for each in table.related}:
                raise WarehouseError(
                    f"{table.name} reads {'.'.join(target)}, which the release would replace;"
                    " release to a place of its own"
                )

    def progress(self) -> float | None:
        """Nothing is known of the running query, unless an engine says so."""
        return None

    # What all have in common

    def table(self, source: Source, directory: Path) -> Table:
        """The columns of a relation.

        Raises:
            WarehouseError: it is not there, or cannot be certified.
        """
        if source.relation is None:
            raise WarehouseError(
                f"the warehouse {self._name} is {self.dialect.title}, which reads tables and no"
                " files; name source.relation, or release the file with DuckDB"
            )
        table = self.described(self.full_name(source.relation))
        self._certified[table.parts] = (table, self.facts(table))
        return table

    def check_certified(self, table: Table) -> None:
        """Compare the source with what was certified: a text means what its relations are.

        Raises:
            WarehouseError: a table, view or column is another one now.
        """
        is_same = self.described(table.parts) == table
        if is_same and table.parts in self._certified:
            is_same = self.facts(table) == self._certified[table.parts][1]
        if not is_same:
            raise WarehouseError(
                f"{table.name}, or what it reads, has been made anew or altered since its release"
                " was certified; nothing was published. Run the same command again"
            )

    def check_length(self, parts: tuple[str, ...]) -> None:
        """Refuse names that the engine would shorten, or not take.

        Raises:
            WarehouseError: one has too many bytes.
        """
        for part in parts:
            if len(part.encode()) > self.dialect.longest_name:
                raise WarehouseError(
                    f"the name {part} has more than {self.dialect.longest_name} bytes; name another"
                    " in release.relation"
                )

    def fingerprint(self, policy: Policy, table: Table, salt: bytes) -> bytes:
        """What a release reads of the source, as bytes: the same data has the same, other others.

        It is a digest of data, and must not leave without a key (theory.md); ``salt`` is secret.

        Raises:
            WarehouseError: the source is not what was certified.
        """
        self.check_certified(table)
        found = self._state(policy, table, salt)
        # Once more: an engine that locks what it reads has its locks now.
        self.check_certified(table)
        self._asked = (policy, table, salt, found)
        return found

    def _state(self, policy: Policy, table: Table, salt: bytes) -> bytes:
        read = {name.lower() for name, _ in (*policy.recodings, *policy.source.order_by)}
        read |= {name.lower() for name in policy.reads_beside}
        read.add((policy.source.key or "").lower())
        columns = tuple(c.name for c in table.columns if c.name.lower() in read)
        return self.state(table.parts, columns, salt)

    @contextmanager
    def sampled(self, policy: Policy, table: Table, secret: bytes) -> Iterator[Callable[[], None]]:
        """Bind the secret while the body runs; the body gets the check that nothing has changed.

        Raises:
            WarehouseError: the known-answer test failed.
        """
        self.check_certified(table)
        if policy.method != "keyed":
            yield self.unchanged(policy, table)
            return
        with self.bound(known.SECRET.hex()):
            self._check_known_answers()
        with self.bound(secret.hex()):
            yield self.unchanged(policy, table)

    def unchanged(self, policy: Policy, table: Table) -> Callable[[], None]:
        """A check that the source is as it was when it was fingerprinted, or else as it is now."""
        if self._asked is not None and self._asked[:2] == (policy, table):
            _, _, salt, before = self._asked
        else:
            salt = hashlib.sha256(table.name.encode()).digest()
            before = self._state(policy, table, salt)

        def check() -> None:
            self.check_certified(table)
            if self._state(policy, table, salt) != before:
                raise WarehouseError(
                    f"{table.name} changed while it was read; nothing was published. Release"
                    " from a copy that stays as it is"
                )

        return check

    def _check_known_answers(self) -> None:
        wanted = known.expected(known.KEYS)
        for inside in in_sample(self.dialect.name, "n", known.RATE):
            rows = self.ask(f"SELECT n FROM {self.numbers(known.UNITS)} WHERE {inside}")
            if {int(row[0]) for row in rows} != wanted or len(rows) != len(wanted):
                raise WarehouseError(KNOWN_ANSWERS)

"""What the engine asks of a warehouse: a connection that knows nothing of policies' meaning."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from policy_engine.compile.catalog import Table
from policy_engine.dialects import Engine
from policy_engine.policy.resolve import Policy, Source

if TYPE_CHECKING:
    import pyarrow as pa


class Warehouse(Protocol):
    """A connection. What a caller may rely on is in the contract suite under tests/."""

    dialect: Engine
    engine_version: str

    def table(self, source: Source, directory: Path) -> Table:
        """The columns of a source. Raises WarehouseError or FileError where there is none."""
        ...

    def target(self, relation: str) -> tuple[str, ...]:
        """The full name of a table to write; raises FileError where it cannot be written."""
        ...

    def exists(self, target: tuple[str, ...]) -> bool:
        """Whether a relation of that name is there."""
        ...

    def check_replaceable(self, target: tuple[str, ...]) -> None:
        """Raise WarehouseError where a new table cannot take the place of one without a loss.

        It is asked before anything is charged, of a table that is there.
        """
        ...

    def comment(self, target: tuple[str, ...]) -> str:
        """The comment of a table; empty where it has none, or where the name is no table's."""
        ...

    def fingerprint(self, policy: Policy, table: Table, salt: bytes) -> bytes:
        """What a release reads of the source, as bytes; ``salt`` are 32 secret bytes."""
        ...

    def sampled(
        self, policy: Policy, table: Table, secret: bytes
    ) -> AbstractContextManager[Callable[[], None]]:
        """Draw the sample for one run; the body gets a check that the source is unchanged."""
        ...

    def rows(self, sql: str) -> pa.Table:
        """Run a certified text that selects, and fetch what it releases."""
        ...

    def publish(
        self,
        query: str,
        target: tuple[str, ...],
        comment: str,
        attest: Callable[[], None],
        *,
        replace: bool,
    ) -> None:
        """Make the table ``target`` of a certified query, and comment it: both stand, or neither.

        The query stands unedited in an envelope of the warehouse's.

        ``attest`` is called last before they stand, and sees the table; if it raises, what stood
        before stands. ``replace`` allows for a table of that name, and its rights are kept.
        """
        ...

    def release_lines(self, target: tuple[str, ...]) -> Iterator[tuple[Any, ...]]:
        """The rows of a published table, in their order."""
        ...

    def progress(self) -> float | None:
        """How many per cent of the running query are done; None where the engine does not say.

        It is asked from another thread than the query's.
        """
        ...

    def close(self) -> None:
        """End the connection and remove what it spilled."""
        ...

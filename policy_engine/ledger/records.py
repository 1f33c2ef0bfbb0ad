"""Where a ledger keeps its records: one protocol, two stores, a SQLite file or PostgreSQL.

A store keeps records and their order, lets one writer in at a time, and refuses every change. It
knows nothing of accounts, and verifies neither hashes nor signatures: see ``chain``.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from policy_engine.errors import LedgerError, to_install
from policy_engine.ledger.chain import Record

DRIVER_MISSING = (
    f"a ledger in PostgreSQL needs the driver psycopg; install it with {to_install('postgres')}"
)


class Records(Protocol):
    """An append-only table of records; LedgerError with a remedy for whatever fails there.

    One object serves one thread of one process; other objects, threads, processes and machines
    may use the same store at the same time.
    """

    where: str
    """The place, as messages name it: a path, or a URL without its password."""

    def read(self) -> tuple[Record, ...]:
        """Every record in order of ``seq``, as stored at one moment; nothing is verified."""

    def last(self) -> Record | None:
        """The last record; None where there is none."""

    def get(self, seq: int) -> Record | None:
        """The record of this number."""

    def since(self, seq: int) -> tuple[Record, ...]:
        """The records from this number on, in order, read from the table and no index."""

    def of_request(self, request: str) -> tuple[Record, ...]:
        """The records of one request, in order."""

    def naming(self, text: str, before: int) -> Record | None:
        """The last record before this number whose payload has a text, read from the table."""

    def check(self) -> None:
        """Return if the store is as it was made, as far as it can tell of itself.

        Raises LedgerBroken where a table, an index or a trigger is another, or one is missing or
        does not fit the table.
        """

    def writing(self) -> AbstractContextManager[None]:
        """Exclude every other writer; on leaving, all appended is durable, or nothing is.

        Whoever waits for another writer waits no longer than the store was opened with, and can
        be interrupted. What is read inside is what the last writer left. Should the store fail
        just as it commits, the message says whether anything was recorded, or that it is not
        known; no error at all means that it is durable.
        """

    def append(self, record: Record) -> None:
        """Add the record that extends the chain; within ``writing`` only."""

    def close(self) -> None:
        """Let go of the place."""


def open_records(place: Path | str, *, create: bool = True, wait: float = 30.0) -> Records:
    """The records kept at a place: a path is a SQLite file, a ``postgresql://`` URL a server.

    With ``create`` an empty store is made where there is none. ``wait`` is how many seconds to
    wait for another writer. Raises LedgerError, which never shows the URL's password, when the
    place cannot be reached, is no ledger, or is of another version.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     open_records(Path(folder) / "ledger.db").read()
    ()
    """
    from policy_engine.ledger.tables import TableRecords

    if isinstance(place, str) and "://" in place:
        try:
            from policy_engine.ledger.postgres import PostgresStore
        except ModuleNotFoundError as error:
            if error.name != "psycopg":
                raise
            raise LedgerError(DRIVER_MISSING) from error
        return TableRecords(PostgresStore(place, wait), create=create)
    from policy_engine.ledger.engines import SqliteStore

    return TableRecords(SqliteStore(Path(place), wait), create=create)

"""Where a ledger keeps its records: one table, in a SQLite file or in PostgreSQL.

A store keeps records and their order, lets one writer in at a time, and refuses by triggers
whatever does not extend the chain. It knows nothing of accounts, and verifies neither hashes nor
signatures: see ``chain``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar
from weakref import WeakSet

from policy_engine.errors import Code, InternalError, LedgerBroken, LedgerError, to_install
from policy_engine.ledger.chain import Record

SCHEMA_VERSION = 5
IF_NEW = "; where nothing was released yet, the first release begins one"
NO_LEDGER = "not a ledger {kind}; name another {place}, it was left as it is"
LOCKED = (
    "another process has held the lock for too long; wait for its release to end, or stop it if "
    "it hangs, and try again"
)
REFUSED = "the ledger is append-only"
DRIVER_MISSING = (
    f"a ledger in PostgreSQL needs the driver psycopg; install it with {to_install('postgres')}"
)
Connection = Any
"""One of PEP 249, which executes: of sqlite3 or psycopg."""
Made = frozenset[tuple[str, str, str]]
"""What a store consists of: the kind of each thing, its name, and its definition."""
T = TypeVar("T")

# Decimals, times and the chain's hashes are texts: the very characters are what is hashed.
COLUMNS = tuple(field.name for field in fields(Record))
_ACCOUNT = COLUMNS.index("account")


def ddl(table: str, seq: str) -> str:
    """The table, where ``seq`` is the type of the number; no sequence: it has gaps."""
    types = {"seq": seq, "entry": "BIGINT"}
    columns = ", ".join(f"{name} {types.get(name, 'TEXT')} NOT NULL" for name in COLUMNS)
    return f"CREATE TABLE {table} ( {columns}, PRIMARY KEY (seq) )"


class Records:
    """An append-only table of records; LedgerError with a remedy for whatever fails there.

    One object serves one thread of one process; other objects, threads, processes and machines may
    use the same store at the same time. How a database is reached, locked and made is what a
    subclass says.
    """

    where: str
    """The place, as messages name it: a path, or a URL without its password."""
    table: str
    mark: str
    """What stands for a value in a statement."""
    errors: tuple[type[Exception], ...]
    """What its driver raises."""

    def __init__(self) -> None:
        """With no connection yet: one is made when it is needed, and kept."""
        self._kept: Connection | None = None
        self._writer: Connection | None = None
        self._appended: Record | None = None
        _OPEN.add(self)

    # What each database does in its own way

    def _connect(self) -> Connection:
        raise NotImplementedError

    def _begin(self, connection: Connection, writes: bool) -> None:
        """Begin a transaction, with the write lock if it is asked for."""
        raise NotImplementedError

    def _is_alive(self, connection: Connection) -> bool:
        del connection
        return True

    def open(self, create: bool) -> None:
        """Check that a ledger of this version is there, as it was made, or make one."""
        raise NotImplementedError

    def _check(self) -> None:
        """Raise LedgerBroken unless the database is as it was made and fits together."""
        raise NotImplementedError

    def _was_recorded(self, record: Record) -> bool:
        """Whether a record is there after all, whose commit failed; LedgerError if nobody knows."""
        del record
        return False

    def _written(self) -> None:
        """Tidy up after a write that is durable already; it never fails."""

    def explain(self, error: Exception) -> str:
        """What went wrong and what to do, without secrets."""
        raise NotImplementedError

    def code_of(self, error: Exception) -> Code | None:
        """Its cause, for programs; None where nothing more is known than that it failed."""
        raise NotImplementedError

    # What is read

    def read(self) -> tuple[Record, ...]:
        """Every record in order of ``seq``, as stored at one moment; nothing is verified."""
        return self._select("order by seq")

    def get(self, seq: int) -> Record | None:
        """The record of this number."""
        return self._first("where seq = ?", seq)

    def since(self, seq: int) -> tuple[Record, ...]:
        """The records from this number on, in order, read from the table and no index."""
        return self._select("where seq >= ? order by seq", seq)

    def check(self) -> None:
        """LedgerBroken unless table, index and triggers are as they were made, and fit."""
        with self.explained():
            self._check()

    # What is written

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Exclude every other writer; on leaving, all appended is durable, or nothing is.

        Whoever waits for another writer waits no longer than the store was opened with, and can
        be interrupted. What is read inside is what the last writer left. Should the store fail
        just as it commits, the message says whether anything was recorded, or that it is not
        known; no error at all means that it is durable.
        """
        if self._writer is not None:
            raise InternalError("a ledger is written to inside a write to it")
        with ExitStack() as stack:
            with self.explained():
                connection = stack.enter_context(self._begun(writes=True))
            self._writer, self._appended = connection, None
            stack.callback(setattr, self, "_writer", None)
            yield
            self._commit(connection)
            self._written()

    def append(self, record: Record) -> None:
        """Add the record that extends the chain; within ``writing`` only."""
        if self._writer is None:
            raise InternalError("a record is appended outside a write")
        values = [getattr(record, name) for name in COLUMNS]
        values[_ACCOUNT] = _ascii(record.account)
        marks = ", ".join(self.mark for _ in COLUMNS)
        text = f"insert into {self.table} ({', '.join(COLUMNS)}) values ({marks})"
        with self.explained():
            self._writer.execute(text, values)
        self._appended = record

    def close(self) -> None:
        """Close the connection, unless it is in a transaction."""
        connection, self._kept = self._kept, None
        if connection is not None:
            connection.close()

    def _commit(self, connection: Connection) -> None:
        try:
            connection.commit()
        except self.errors as error:
            connection.close()  # ends the transaction, where the other end can still hear it
            if self._appended is None or not self._was_recorded(self._appended):
                message = f"{self.where}: {self.explain(error)}; nothing was recorded"
                raise LedgerError(message, code=self.code_of(error)) from error

    # How it is asked

    def _first(self, which: str, *values: object) -> Record | None:
        return next(iter(self._select(f"{which} limit 1", *values)), None)

    def _select(self, which: str, *values: object) -> tuple[Record, ...]:
        text = f"select {', '.join(COLUMNS)} from {self.table} {which.replace('?', self.mark)}"

        def ask(connection: Connection) -> tuple[Record, ...]:
            return tuple(map(_record, connection.execute(text, values).fetchall()))

        with self.explained():
            return ask(self._writer) if self._writer is not None else self.reading(ask)

    def reading(self, ask: Callable[[Connection], T]) -> T:
        """What is asked of the database, as of one moment."""
        with self._begun() as connection:
            return ask(connection)

    @contextmanager
    def _begun(self, *, writes: bool = False) -> Iterator[Connection]:
        """The connection, in a transaction: what is not committed is undone at the end.

        To make one takes longer than to append, so it is kept; one that cannot begin, or cannot be
        undone, is closed, and another one is made next time.
        """
        connection, self._kept = self._kept, None
        if connection is not None and not self._is_alive(connection):
            connection.close()
            connection = None
        connection = connection or self._connect()
        try:
            self._begin(connection, writes)
        except BaseException:
            connection.close()
            raise
        try:
            yield connection
        finally:
            try:
                connection.rollback()
            except Exception:  # the first error is told
                connection.close()
            else:
                self._kept = connection

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Turn what the database, its driver or the file system says into a LedgerError."""
        errors: tuple[type[Exception], ...] = (*self.errors, OSError, UnicodeError)
        try:
            yield
        except errors as error:
            message = f"{self.where}: {self.explain(error)}"
            raise LedgerError(message, code=self.code_of(error)) from error

    def _check_version(self, version: int) -> None:
        """Raise LedgerError unless this engine reads ledgers of this schema version."""
        if version == SCHEMA_VERSION:
            return
        remedy = (
            "go on with the policy-engine that made it; or put it aside, run 'policy-engine ledger"
            " begin --anew' and 'policy-engine ledger reconcile --from-certificates', and lower the"
            " limits by what it has charged without a certificate"
        )
        if version > SCHEMA_VERSION:
            remedy = "use a newer policy-engine"
        raise LedgerError(
            f"{self.where}: the ledger has schema version {version} and this policy-engine reads "
            f"version {SCHEMA_VERSION}; {remedy}"
        )

    def _check_made(self, found: Made, wanted: Made) -> None:
        """Raise LedgerBroken unless the store has what it was made with, and nothing beside it.

        What is beside the table decides what is read: an index can show a record that is gone, and
        hide one that is there.
        """
        if found == wanted:
            return
        there, known = ({(kind, name) for kind, name, _ in each} for each in (found, wanted))
        faults = []
        for thing in sorted({(kind, name) for kind, name, _ in found ^ wanted}):
            fault = "is missing" if thing not in there else "is changed"
            faults.append(
                f"the {' '.join(thing)} {fault if thing in known else 'is no part of it'}"
            )
        raise LedgerBroken(
            f"{self.where}: the ledger is not as it was made: {', '.join(faults)}; somebody has"
            " edited it past policy-engine, so nothing is charged on it: compare it with a backup"
            " and restore one that holds"
        )


_OPEN: WeakSet[Records] = WeakSet()


def _let_go() -> None:
    # A connection that is open over a fork is no good to either process, and one to SQLite makes
    # the child's others unsafe too.
    for records in _OPEN:
        records.close()


os.register_at_fork(before=_let_go)


def _ascii(text: str) -> str:
    """What stands between the quotes of a text's JSON string.

    PostgreSQL stores no NUL and no half of a surrogate pair, and a name is free to have both.
    """
    return json.dumps(text)[1:-1]


def _record(row: Sequence[Any]) -> Record:
    values = dict(zip(COLUMNS, row, strict=True))
    stored = values["account"]
    # What nobody here has stored comes back as bytes, which no hash is over.
    values["account"] = repr(stored).encode()
    with suppress(TypeError, ValueError):
        text = json.loads(f'"{stored}"')
        if _ascii(text) == stored:
            values["account"] = text
    return Record(**values)


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
    records: Records
    if isinstance(place, str) and "://" in place:
        try:
            from policy_engine.ledger.postgres import PostgresStore
        except ModuleNotFoundError as error:
            if error.name != "psycopg":
                raise
            raise LedgerError(DRIVER_MISSING, code="driver_missing") from error
        records = PostgresStore(place, wait)
    else:
        from policy_engine.ledger.engines import SqliteStore

        records = SqliteStore(Path(place), wait)
    with records.explained():
        records.open(create)
    return records

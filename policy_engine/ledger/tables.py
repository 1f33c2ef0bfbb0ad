"""The table of records, and what every SQL store does with it.

What differs between databases is a ``Store``: see ``engines`` (SQLite) and ``postgres``. Both let
one writer in at a time and refuse, by triggers, whatever does not extend the chain.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import fields
from typing import Any, Protocol, TypeVar
from weakref import WeakSet

from policy_engine.errors import InternalError, LedgerBroken, LedgerError
from policy_engine.ledger.chain import Record

SCHEMA_VERSION = 3

NO_LEDGER = "not a ledger {kind}; name another {place}, it was left as it is"
LOCKED = (
    "another process has held the lock for too long; wait for its release to end, or stop it if "
    "it hangs, and try again"
)
REFUSED = "the ledger is append-only"

Connection = Any
"""One of PEP 249, which executes: of sqlite3 or psycopg."""

T = TypeVar("T")

# Decimals, times and the chain's hashes are texts: the very characters are what is hashed.
COLUMNS = tuple(field.name for field in fields(Record))
_ACCOUNT = COLUMNS.index("account")


def ddl(table: str, seq: str) -> tuple[str, str]:
    """The table and its index, where ``seq`` is the type of the number; no sequence: it has gaps.

    Few records are of a request, so the others are not in the index.
    """
    types = {"seq": seq, "entry": "BIGINT"}
    columns = ", ".join(f"{name} {types.get(name, 'TEXT')} NOT NULL" for name in COLUMNS)
    return (
        f"CREATE TABLE {table} ( {columns}, PRIMARY KEY (seq) )",
        f"CREATE INDEX records_by_request ON {table} (request, seq) WHERE {_IS_OF_A_REQUEST}",
    )


# A literal, here and where it is asked for: a parameter would not be seen to imply it.
_IS_OF_A_REQUEST = "request != ''"


class Pool:
    """A store's one connection, made when it is needed and kept: that takes longer than to append.

    One that is open over a fork is no good to either process, and one to SQLite makes the child's
    others unsafe too: so none is.
    """

    def __init__(
        self,
        connect: Callable[[], Connection],
        begin: Callable[[Connection, bool], None],
        is_alive: Callable[[Connection], bool] = lambda connection: True,
    ) -> None:
        """``begin`` begins a transaction, with the write lock if it is asked for."""
        self._connect, self._begin, self._is_alive = connect, begin, is_alive
        self._kept: Connection | None = None
        _POOLS.add(self)

    @contextmanager
    def begun(self, *, writes: bool = False) -> Iterator[Connection]:
        """The connection, in a transaction: what is not committed is undone at the end.

        One that cannot begin, or cannot be undone, is closed: another one is made next time.
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

    def let_go(self) -> None:
        """Close the connection, unless it is in a transaction."""
        connection, self._kept = self._kept, None
        if connection is not None:
            connection.close()


_POOLS: WeakSet[Pool] = WeakSet()


def _let_go() -> None:
    for pool in _POOLS:
        pool.let_go()


os.register_at_fork(before=_let_go)


def _ascii(text: str) -> str:
    """What stands between the quotes of a text's JSON string.

    PostgreSQL stores no NUL and no half of a surrogate pair, and a name is free to have both.
    """
    return json.dumps(text)[1:-1]


def _from_ascii(value: Any) -> Any:
    """The text; what nobody here has stored comes back as bytes, which no hash is over."""
    with suppress(TypeError, ValueError):
        text = json.loads(f'"{value}"')
        if _ascii(text) == value:
            return text
    return repr(value).encode()


def _record(row: Sequence[Any]) -> Record:
    account = _from_ascii(row[_ACCOUNT])
    return Record(**{**dict(zip(COLUMNS, row, strict=True)), "account": account})


class Store(Protocol):
    """A database that can hold the table: how to reach it, lock it, and explain its errors."""

    where: str
    table: str
    mark: str
    """What stands for a value in a statement."""
    errors: tuple[type[Exception], ...]
    """What its driver raises."""
    pool: Pool

    def open(self, create: bool) -> None:
        """Check that a ledger of this version is there, as it was made, or make one."""

    def check(self) -> None:
        """Raise LedgerBroken unless the database is as it was made and fits together."""

    def reading(self, ask: Callable[[Connection], T]) -> T:
        """What is asked of the database, as of one moment."""

    def was_recorded(self, record: Record) -> bool:
        """Whether a record is there, asked after a commit of it has failed.

        Raises LedgerError when that cannot be known.
        """

    def written(self) -> None:
        """Tidy up after a write that is durable already; it never fails."""

    def explain(self, error: Exception) -> str:
        """What went wrong and what to do, without secrets."""


class TableRecords:
    """The records of one table; ``Records`` says what is guaranteed.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from policy_engine.ledger.engines import SqliteStore
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     TableRecords(SqliteStore(Path(folder) / "ledger.db", wait=1)).last() is None
    True
    """

    def __init__(self, store: Store, *, create: bool = True) -> None:
        """Open the ledger of a store; make an empty one if it has none and ``create`` is true."""
        self.where = store.where
        self._store = store
        self._writer: Connection | None = None
        self._appended: Record | None = None
        with explained(store):
            store.open(create)

    def read(self) -> tuple[Record, ...]:
        """Every record in order, as of one moment; nothing is verified."""
        return self._select("order by seq")

    def last(self) -> Record | None:
        """The last record."""
        return self._first("order by seq desc")

    def get(self, seq: int) -> Record | None:
        """The record of this number."""
        return self._first("where seq = ?", seq)

    def since(self, seq: int) -> tuple[Record, ...]:
        """The records from this number on."""
        return self._select("where seq >= ? order by seq", seq)

    def of_request(self, request: str) -> tuple[Record, ...]:
        """The records of one request; the empty text is none."""
        return self._select(f"where request = ? and {_IS_OF_A_REQUEST} order by seq", request)

    def naming(self, text: str, before: int) -> Record | None:
        """The last record before this number whose payload has a text."""
        for sign in "/%_":
            text = text.replace(sign, f"/{sign}")
        has_it = "where payload like ? escape '/' and seq < ? order by seq desc"
        return self._first(has_it, f"%{text}%", before)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the only write lock; on leaving, all appended is durable, or nothing is."""
        if self._writer is not None:
            raise InternalError("a ledger is written to inside a write to it")
        with ExitStack() as stack:
            with explained(self._store):
                connection = stack.enter_context(self._store.pool.begun(writes=True))
            self._writer, self._appended = connection, None
            stack.callback(setattr, self, "_writer", None)
            yield
            self._commit(connection)
            self._store.written()

    def append(self, record: Record) -> None:
        """Add the record that extends the chain; within ``writing`` only."""
        if self._writer is None:
            raise InternalError("a record is appended outside a write")
        values = [getattr(record, name) for name in COLUMNS]
        values[_ACCOUNT] = _ascii(record.account)
        marks = ", ".join(self._store.mark for _ in COLUMNS)
        text = f"insert into {self._store.table} ({', '.join(COLUMNS)}) values ({marks})"
        with explained(self._store):
            self._writer.execute(text, values)
        self._appended = record

    def check(self) -> None:
        """Raise LedgerBroken unless the store is as it was made."""
        with explained(self._store):
            self._store.check()

    def close(self) -> None:
        """Let go of the place."""
        self._store.pool.let_go()

    def _commit(self, connection: Connection) -> None:
        try:
            connection.commit()
        except self._store.errors as error:
            connection.close()  # ends the transaction, where the other end can still hear it
            if self._appended is None or not self._store.was_recorded(self._appended):
                message = f"{self.where}: {self._store.explain(error)}; nothing was recorded"
                raise LedgerError(message) from error

    def _first(self, which: str, *values: object) -> Record | None:
        return next(iter(self._select(f"{which} limit 1", *values)), None)

    def _select(self, which: str, *values: object) -> tuple[Record, ...]:
        store = self._store
        text = f"select {', '.join(COLUMNS)} from {store.table} {which.replace('?', store.mark)}"

        def ask(connection: Connection) -> tuple[Record, ...]:
            return tuple(map(_record, connection.execute(text, values).fetchall()))

        with explained(store):
            return ask(self._writer) if self._writer is not None else store.reading(ask)


@contextmanager
def explained(store: Store) -> Iterator[None]:
    """Turn what the database, its driver or the file system says into a LedgerError."""
    errors: tuple[type[Exception], ...] = (*store.errors, OSError, UnicodeError)
    try:
        yield
    except errors as error:
        raise LedgerError(f"{store.where}: {store.explain(error)}") from error


def check_version(where: str, version: int) -> None:
    """Raise LedgerError unless this engine reads ledgers of this schema version."""
    if version == SCHEMA_VERSION:
        return
    remedy = (
        "use a newer policy-engine"
        if version > SCHEMA_VERSION
        else "keep it, begin another, and lower its limits by what this one has spent"
    )
    raise LedgerError(
        f"{where}: the ledger has schema version {version} and this policy-engine reads "
        f"version {SCHEMA_VERSION}; {remedy}"
    )


Made = frozenset[tuple[str, str, str]]
"""What a store consists of: the kind of each thing, its name, and its definition."""


def check_made(where: str, found: Made, wanted: Made) -> None:
    """Raise LedgerBroken unless a store has what it was made with, and nothing beside it.

    What is beside the table decides what is read: an index can show a record that is gone, and
    hide one that is there.
    """
    if found == wanted:
        return
    there, known = ({(kind, name) for kind, name, _ in each} for each in (found, wanted))
    faults = [
        f"the {kind} {name} " + ("is missing" if (kind, name) not in there else "is changed")
        if (kind, name) in known
        else f"the {kind} {name} is no part of it"
        for kind, name in sorted({(kind, name) for kind, name, _ in found ^ wanted})
    ]
    raise LedgerBroken(
        f"{where}: the ledger is not as it was made: {', '.join(faults)}; somebody has edited it"
        " past policy-engine, so nothing is charged on it: compare it with a backup and restore"
        " one that holds"
    )

"""The table of records, and what every SQL store does with it.

What differs between databases is a ``Store``: see ``engines`` (SQLite) and ``postgres``. Both let
one writer in at a time and refuse, by triggers, whatever does not extend the chain.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Protocol, TypeVar
from weakref import WeakSet

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Dialect,
    Engine,
    Index,
    Integer,
    MetaData,
    Select,
    Table,
    Text,
    TypeDecorator,
    insert,
    literal_column,
    select,
)
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from policy_engine.errors import InternalError, LedgerBroken, LedgerError
from policy_engine.ledger.chain import Record

SCHEMA_VERSION = 3

NO_LEDGER = "not a ledger {kind}; name another {place}, it was left as it is"
LOCKED = (
    "another process has held the lock for too long; wait for its release to end, or stop it if "
    "it hangs, and try again"
)
REFUSED = "the ledger is append-only"

T = TypeVar("T")

# Each store keeps one connection. One that is open over a fork is no good to either process, and
# one to SQLite makes the child's others unsafe too: so none is.
_ENGINES: WeakSet[Engine] = WeakSet()


def one_connection(engine: Engine) -> Engine:
    """The same engine, which lets go of its connection before a fork."""
    _ENGINES.add(engine)
    return engine


def _let_go() -> None:
    for engine in _ENGINES:
        engine.dispose()


os.register_at_fork(before=_let_go)


class AsciiText(TypeDecorator[str]):
    """A text of any characters, stored as what stands between the quotes of its JSON string.

    PostgreSQL stores no NUL and no half of a surrogate pair, and a name is free to have both.
    """

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """What is stored."""
        return None if value is None else json.dumps(value)[1:-1]

    def process_result_value(self, value: Any, dialect: Dialect) -> Any:
        """The text; what nobody here has stored comes back as bytes, which no hash is over."""
        with suppress(TypeError, ValueError):
            text = json.loads(f'"{value}"')
            if json.dumps(text)[1:-1] == value:
                return text
        return repr(value).encode()


# Decimals, times and the chain's hashes are texts: the very characters are what is hashed.
METADATA = MetaData()
RECORDS = Table(
    "records",
    METADATA,
    # No sequence: one leaves gaps.
    Column(
        "seq", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=False
    ),
    Column("kind", Text, nullable=False),
    Column("account", AsciiText, nullable=False),
    Column("entry", BigInteger, nullable=False),
    Column("request", Text, nullable=False),
    Column("payload", Text, nullable=False),
    Column("previous_hash", Text, nullable=False),
    Column("hash", Text, nullable=False),
    Column("key_id", Text, nullable=False),
    Column("signature", Text, nullable=False),
)
_C = RECORDS.c
# Few records are of a request, so the others are not in the index. The bound is a literal, here and
# where it is asked for: a parameter would not be seen to imply it.
_IS_OF_A_REQUEST = _C.request != literal_column("''")
Index(
    "records_by_request",
    _C.request,
    _C.seq,
    sqlite_where=_IS_OF_A_REQUEST,
    postgresql_where=_IS_OF_A_REQUEST,
)


class Store(Protocol):
    """A database that can hold the table: how to reach it, lock it, and explain its errors."""

    where: str
    engine: Engine
    """Its transactions take the write lock if the connection has the option ``writes``."""

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
        return self._all(select(RECORDS))

    def last(self) -> Record | None:
        """The last record."""
        return self._first(select(RECORDS).order_by(_C.seq.desc()))

    def get(self, seq: int) -> Record | None:
        """The record of this number."""
        return self._first(select(RECORDS).where(_C.seq == seq))

    def since(self, seq: int) -> tuple[Record, ...]:
        """The records from this number on."""
        return self._all(select(RECORDS).where(_C.seq >= seq))

    def of_request(self, request: str) -> tuple[Record, ...]:
        """The records of one request; the empty text is none."""
        return self._all(select(RECORDS).where(_C.request == request, _IS_OF_A_REQUEST))

    def naming(self, text: str, before: int) -> Record | None:
        """The last record before this number whose payload has a text."""
        has_it = _C.payload.contains(text, autoescape=True)
        return self._first(select(RECORDS).where(has_it, _C.seq < before).order_by(_C.seq.desc()))

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the only write lock; on leaving, all appended is durable, or nothing is."""
        if self._writer is not None:
            raise InternalError("a ledger is written to inside a write to it")
        with explained(self._store):
            connection = self._store.engine.connect()
        try:
            with explained(self._store):
                connection.execution_options(writes=True)
                connection.begin()
            self._writer, self._appended = connection, None
            yield
            self._commit(connection)
            self._store.written()
        except BaseException:
            if self._writer is None:
                connection.invalidate()  # it could not begin, so another one is made next time
            else:
                _roll_back(connection)
            raise
        finally:
            self._writer = None
            connection.close()

    def append(self, record: Record) -> None:
        """Add the record that extends the chain; within ``writing`` only."""
        if self._writer is None:
            raise InternalError("a record is appended outside a write")
        with explained(self._store):
            self._writer.execute(insert(RECORDS).values(**vars(record)))
        self._appended = record

    def check(self) -> None:
        """Raise LedgerBroken unless the store is as it was made."""
        with explained(self._store):
            self._store.check()

    def close(self) -> None:
        """Let go of the place."""
        self._store.engine.dispose()

    def _commit(self, connection: Connection) -> None:
        try:
            connection.commit()
        except DBAPIError as error:
            connection.invalidate()  # ends the transaction, where the other end can still hear it
            if self._appended is None or not self._store.was_recorded(self._appended):
                message = f"{self.where}: {self._store.explain(error)}; nothing was recorded"
                raise LedgerError(message) from error

    def _all(self, query: Select[Any]) -> tuple[Record, ...]:
        ordered = query.order_by(_C.seq)
        return self._ask(
            lambda connection: tuple(Record(*row) for row in connection.execute(ordered))
        )

    def _first(self, query: Select[Any]) -> Record | None:
        rows = self._ask(lambda connection: connection.execute(query.limit(1)).all())
        return Record(*rows[0]) if rows else None

    def _ask(self, ask: Callable[[Connection], T]) -> T:
        with explained(self._store):
            return ask(self._writer) if self._writer is not None else self._store.reading(ask)


@contextmanager
def explained(store: Store) -> Iterator[None]:
    """Turn what the database, its driver or the file system says into a LedgerError."""
    try:
        yield
    except (SQLAlchemyError, sqlite3.Error, OSError, UnicodeError) as error:
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


def _roll_back(connection: Connection) -> None:
    try:
        connection.rollback()
    except (SQLAlchemyError, sqlite3.Error):  # the first error is told
        connection.invalidate()

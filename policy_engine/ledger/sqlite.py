"""The ledger's records in one SQLite file: durable, append-only, one writer at a time.

The file is in WAL mode with ``synchronous=FULL``: what ``writing`` has committed survives a
crash and a power cut. Triggers refuse every UPDATE and DELETE, and every INSERT that does not
extend the chain. Only this file knows SQLite; another store has the same four methods.
"""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from policy_engine.errors import LedgerError
from policy_engine.ledger.chain import GENESIS, Record

SCHEMA_VERSION = 1

_APPLICATION_ID = 0x504F4C45  # "POLE", in the header of every ledger file
_COLUMNS = "seq, kind, payload, previous_hash, hash"
_SCHEMA = f"""
pragma journal_mode = wal;
pragma synchronous = full;
begin;
pragma application_id = {_APPLICATION_ID};
pragma user_version = {SCHEMA_VERSION};
create table records (
  seq           integer primary key,
  kind          text not null,
  payload       text not null,
  previous_hash text not null,
  hash          text not null
);
create trigger records_are_never_changed before update on records
begin select raise(abort, 'the ledger is append-only'); end;
create trigger records_are_never_deleted before delete on records
begin select raise(abort, 'the ledger is append-only'); end;
-- "insert or replace" deletes without firing the trigger above, so it is refused here
create trigger records_extend_the_chain before insert on records
when new.seq is not (select coalesce(max(seq), 0) + 1 from records)
  or new.previous_hash is not
     coalesce((select hash from records order by seq desc limit 1), '{GENESIS}')
begin select raise(abort, 'the ledger is append-only'); end;
commit;
"""

_FAILURES = (
    ("SQLITE_BUSY", "another process has held the lock for too long; wait for its release to end, "
                    "or stop it if it hangs, and try again"),
    ("SQLITE_FULL", "the disk is full; free some space and try again"),
    ("SQLITE_READONLY", "the ledger is read-only; the file and its directory must be writable"),
    ("SQLITE_CANTOPEN", "the ledger cannot be opened; the file and its directory must be writable"),
    ("SQLITE_NOTADB", "not a ledger file; name another path, it was left as it is"),
    ("SQLITE_CORRUPT", "the ledger file is damaged; restore it from a backup"),
    ("SQLITE_IOERR", "the disk could not read or write the ledger; see if it is full or failing"),
)  # fmt: skip


class SqliteRecords:
    """The records of one file. One object serves one thread of one process.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with closing(SqliteRecords(Path(folder) / "ledger.db")) as records:
    ...         records.read()
    ()
    """

    def __init__(self, path: Path, *, create: bool = True, timeout: float = 30.0) -> None:
        """Open the ledger at ``path``; make it, and its directories, if it is not there.

        ``timeout`` is how many seconds to wait for another writer. A new file has mode 0600
        and appears whole or not at all; an existing file that is no ledger, even an empty
        one, is refused, since to adopt it could forget what was spent.

        Raises LedgerError when the file cannot be opened or made, is not a ledger, is of a
        newer version, or is missing while ``create`` is false.
        """
        self.where = str(path)
        with _explained(path):
            if not path.exists():
                if not create:
                    raise LedgerError(f"{path}: there is no ledger here; check the path")
                _create(path)
            # mode=rw: SQLite itself never makes a file.
            uri = f"{path.absolute().as_uri()}?mode=rw"
            self._connection = sqlite3.connect(uri, timeout, uri=True, isolation_level=None)
        try:
            with _explained(path):
                _check_version(path, self._connection)
                self._connection.execute("pragma synchronous = full")
                self._connection.execute("pragma fullfsync = on")  # macOS: through the drive cache
        except BaseException:
            self._connection.close()
            raise

    def read(self) -> tuple[Record, ...]:
        """Every record in order, as of one moment; nothing is verified."""
        with _explained(Path(self.where)):
            rows = self._connection.execute(f"select {_COLUMNS} from records order by seq")
            return tuple(Record(*row) for row in rows)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the only write lock; on leaving, all appended is durable, or nothing is."""
        with _explained(Path(self.where)):
            try:
                self._connection.execute("begin immediate")
                yield
                self._connection.execute("commit")
            except BaseException:
                with suppress(sqlite3.Error):  # perhaps SQLite has; the first error is told
                    self._connection.execute("rollback")
                raise

    def append(self, record: Record) -> None:
        """Add the record that extends the chain; within ``writing`` only."""
        row = (record.seq, record.kind, record.payload, record.previous_hash, record.hash)
        with _explained(Path(self.where)):
            self._connection.execute(
                f"insert into records ({_COLUMNS}) values (?, ?, ?, ?, ?)", row
            )

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()


def _create(path: Path) -> None:
    """Make an empty ledger beside ``path`` and give it that name, unless someone was faster."""
    log = path.with_name(f"{path.name}-wal")
    if log.exists() and not path.exists():  # SQLite would play it into the new file
        raise LedgerError(
            f"{path}: the ledger is gone but its log {log.name} is still there and may hold "
            "entries; restore the ledger, or move the log away if it is of no use"
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".ledger-", dir=path.parent) as folder:
        new = Path(folder) / "new"
        new.touch(mode=0o600)
        with closing(sqlite3.connect(new)) as connection:
            connection.executescript(_SCHEMA)
        with suppress(FileExistsError):
            os.link(new, path)
    directory = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


def _check_version(path: Path, connection: sqlite3.Connection) -> None:
    [application] = connection.execute("pragma application_id").fetchone()
    if application != _APPLICATION_ID:
        raise LedgerError(f"{path}: not a ledger file; name another path, it was left as it is")
    [version] = connection.execute("pragma user_version").fetchone()
    if version != SCHEMA_VERSION:
        raise LedgerError(
            f"{path}: the ledger has schema version {version} and this policy-engine reads "
            f"version {SCHEMA_VERSION}; use a newer policy-engine"
        )


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Turn what SQLite or the file system says into a LedgerError with a remedy."""
    try:
        yield
    except sqlite3.Error as error:
        name = getattr(error, "sqlite_errorname", "")
        for prefix, message in _FAILURES:
            if name.startswith(prefix):
                raise LedgerError(f"{path}: {message}") from error
        raise LedgerError(f"{path}: the ledger failed: {error}") from error
    except OSError as error:
        raise LedgerError(f"{path}: the ledger cannot be opened: {error.strerror}") from error

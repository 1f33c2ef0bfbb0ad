"""The ledger in one SQLite file: durable, append-only, one writer at a time.

The file is in WAL mode with ``synchronous=FULL``: what was committed survives a crash and a power
cut. It is made aside and appears whole or not at all, readable and writable by its owner alone.
"""

from __future__ import annotations

import errno
import os
import random
import sqlite3
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from functools import cache
from pathlib import Path

from policy_engine.attest.keys import make_folder
from policy_engine.errors import Code, LedgerBroken, LedgerError, NoLedger
from policy_engine.ledger import records
from policy_engine.ledger.chain import GENESIS
from policy_engine.opening import NO_FILE

_APPLICATION_ID = 0x504F4C45  # "POLE", in the header of every ledger file
_NO_LEDGER = records.NO_LEDGER.format(kind="file", place="path")
_TRIGGERS = f"""
create trigger records_are_never_changed before update on records
begin select raise(abort, '{records.REFUSED}'); end;
create trigger records_are_never_deleted before delete on records
begin select raise(abort, '{records.REFUSED}'); end;
-- "insert or replace" deletes without firing the trigger above, so it is refused here
create trigger records_extend_the_chain before insert on records
when new.seq is not (select coalesce(max(seq), 0) + 1 from records)
  or new.previous_hash is not
     coalesce((select hash from records order by seq desc limit 1), '{GENESIS}')
begin select raise(abort, '{records.REFUSED}'); end;
"""
_DDL = (records.ddl("records", "INTEGER"), _TRIGGERS)
_LONG_LOG = 4_000_000
"""Bytes of a log, from which on it is copied into the file."""
_STATISTICS = {("table", "sqlite_stat1"), ("table", "sqlite_stat4")}
_LOGS = ("-wal", "-journal")
_NO_ROOM = ("SQLITE_FULL", "SQLITE_IOERR_SHM", "SQLITE_IOERR_WRITE", "SQLITE_CANTOPEN")
_FULL = "the disk is full; free some space and try again"
_FAILURES = (
    ("SQLITE_BUSY", records.LOCKED),
    ("SQLITE_FULL", _FULL),
    ("SQLITE_READONLY", "the ledger is read-only; the file and its directory must be writable"),
    ("SQLITE_CANTOPEN", "the ledger cannot be opened; the file and its directory must be writable"),
    ("SQLITE_NOTADB", _NO_LEDGER),
    ("SQLITE_CORRUPT", "the ledger file is damaged; restore it from a backup"),
    ("SQLITE_IOERR", "the disk could not read or write the ledger; see if it is full or failing"),
)

_CODES: Mapping[str, Code] = {"SQLITE_BUSY": "ledger_locked", "SQLITE_FULL": "disk_full"}


class SqliteStore(records.Records):
    """A SQLite file that holds, or will hold, a ledger.

    An existing file that is no ledger, even an empty one, is refused, since to adopt it could
    forget what was spent. Where the file cannot be written it can still be read.
    """

    table = "records"
    mark = "?"
    errors = (sqlite3.Error,)

    def __init__(self, path: Path, wait: float) -> None:
        """Name the file; ``wait`` is how many seconds to wait for another writer."""
        super().__init__()
        self.where, self._path, self._wait = str(path), path, wait
        self._has_no_room = False

    def _connect(self) -> records.Connection:
        return _connect(self._path, self._is_unlocked())

    def _is_unlocked(self) -> bool:
        return self._has_no_room or _immutable(self._path)

    def _begin(self, connection: records.Connection, writes: bool) -> None:
        # isolation_level=None: the driver begins nothing by itself, so we do.
        if writes:
            _patiently(lambda: connection.execute("begin immediate").close(), self._wait)
        else:
            connection.execute("begin")

    def open(self, create: bool) -> None:
        """Make the file, and its directories, if it is not there; check that it is a ledger."""
        if not self._path.exists():
            if not create:
                raise NoLedger(
                    f"{self.where}: there is no ledger here; check the path{records.IF_NEW}"
                )
            _create(self._path)
        if not self._path.is_file():
            kind = "it is a folder" if self._path.is_dir() else NO_FILE
            if not self._path.exists():
                kind = "it is a link to a file that is not there"
            raise LedgerError(f"{self.where}: cannot read the ledger: {kind}")
        names = ("application_id", "user_version", "journal_mode")
        (application, version, journal), made = self.reading(
            lambda raw: (
                [raw.execute(f"pragma {name}").fetchone()[0] for name in names],
                _made(raw),
            )
        )
        if application != _APPLICATION_ID:
            raise LedgerError(f"{self.where}: {_NO_LEDGER}")
        self._check_version(int(version))
        self._check_made(made, _wanted())
        if journal != "wal" and not _immutable(self._path):  # a copy made by VACUUM INTO
            with suppress(sqlite3.Error), closing(_connect(self._path, False)) as raw:
                raw.execute("pragma journal_mode = wal")  # whoever is inside may prevent it

    def _check(self) -> None:
        self._check_made(self.reading(_made), _wanted())
        [said] = self.reading(lambda raw: raw.execute("pragma integrity_check(1)").fetchone())
        if said != "ok":
            raise LedgerBroken(
                f"{self.where}: the ledger file does not fit together: {said}; nothing is charged"
                " on it: compare it with a backup and restore one that holds"
            )

    def reading(self, ask: Callable[[records.Connection], records.T]) -> records.T:
        """What is asked of the file, as of one moment; on a full disk too: nothing is written."""
        try:
            return self._answer(ask)
        except sqlite3.Error as error:
            name = getattr(error, "sqlite_errorname", "")
            if not name.startswith(_NO_ROOM) or not _has_empty_log(self._path):
                raise
            # SQLite's locks need a file beside it, and there is no room for one.
            self.close()
            self._has_no_room = True
            try:
                answer = self._answer(ask)
            finally:
                self._has_no_room = False
            if not _has_empty_log(self._path):  # somebody has found room, and has written
                raise
            return answer

    def _answer(self, ask: Callable[[records.Connection], records.T]) -> records.T:
        while True:
            unlocked, before = self._is_unlocked(), _state(self._path)
            answer = super().reading(lambda raw: _patiently(lambda: ask(raw), self._wait))
            if not unlocked:
                return answer
            # What is read without locks may be written at the same time by whoever can, and
            # SQLite, told that it cannot change, would never look again.
            self.close()
            if _state(self._path) == before:
                return answer

    def _written(self) -> None:
        """Copy a log that has grown into the file, so that the next writer begins it anew.

        A checkpoint beside a writer can lose commits before SQLite 3.51.3 (the WAL-reset bug). So
        it is made by a connection of its own while another holds the write lock.
        """
        with suppress(sqlite3.Error, OSError):
            if _beside(self._path.resolve(), "-wal").stat().st_size < _LONG_LOG:
                return
            one, other = _connect(self._path, False), _connect(self._path, False)
            with closing(one) as lock, closing(other) as copier:
                lock.execute("begin immediate")
                copier.execute("pragma wal_checkpoint(passive)").close()

    def explain(self, error: Exception) -> str:
        """What went wrong, by the name SQLite gives it."""
        name = getattr(error, "sqlite_errorname", "")
        for prefix, message in _FAILURES:
            if name.startswith(prefix):
                return message
        if isinstance(error, OSError):
            if error.errno == errno.ENOSPC:
                return _FULL
            return f"the ledger cannot be opened: {error.strerror}"
        return f"the ledger failed: {error}"

    def code_of(self, error: Exception) -> Code | None:
        """Its cause, by the name SQLite or the system gives it."""
        if isinstance(error, OSError):
            return "disk_full" if error.errno == errno.ENOSPC else None
        name = getattr(error, "sqlite_errorname", "")
        return next((code for prefix, code in _CODES.items() if name.startswith(prefix)), None)


def _connect(path: Path, unlocked: bool) -> sqlite3.Connection:
    # mode=rw: SQLite itself never makes a file.
    mode = "ro&immutable=1" if unlocked else "rw"
    uri = f"{path.absolute().as_uri()}?mode={mode}"
    connection = sqlite3.connect(uri, 0.1, uri=True, isolation_level=None, check_same_thread=False)
    connection.execute("pragma synchronous = full")
    connection.execute("pragma fullfsync = on")  # macOS: through the drive cache
    # Checkpoints are made with the write lock (see written), and by the last to close the file.
    connection.execute("pragma wal_autocheckpoint = 0")
    return connection


def _patiently(act: Callable[[], records.T], wait: float) -> records.T:
    """Do what may have to wait for others before it does anything, for a bounded time.

    SQLite's own waiting is deaf to Ctrl-C and can starve a process, so it is short and repeated.
    """
    end = time.monotonic() + wait
    while True:
        try:
            return act()
        except sqlite3.OperationalError as error:
            # One of Python's own, of a text that is none, has no code.
            code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
            if code & 255 != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                raise
            time.sleep(random.uniform(0.001, 0.02))


def _immutable(path: Path) -> bool:
    """Whether the file can only be read as it lies: SQLite's own locks need to write beside it."""
    real = path.resolve()
    if os.access(real, os.W_OK) and os.access(real.parent, os.W_OK):
        return False
    # A log holds records that the file lacks, a journal those of which it must be rid.
    return real.exists() and not any(_beside(real, end).exists() for end in _LOGS)


def _has_empty_log(path: Path) -> bool:
    """Whether all records are in the file itself, with logs of nothing beside it, or none."""
    sizes = [] if path.is_file() else [1]
    for end in _LOGS:
        with suppress(FileNotFoundError):
            sizes.append(_beside(path.resolve(), end).stat().st_size)
    return not any(sizes)


def _state(path: Path) -> object:
    with suppress(OSError):
        now = path.stat()
        return (now.st_ino, now.st_size, now.st_mtime_ns)
    return None


def _beside(path: Path, end: str) -> Path:
    return path.with_name(path.name + end)


def _made(connection: records.Connection) -> records.Made:
    """What the file consists of, but for what ANALYZE counts."""
    rows = connection.execute("select type, name, tbl_name, sql from sqlite_schema")
    # Blanks and case are of no account: ledgers were made with others.
    return frozenset(
        (kind, name, f"{table}: {' '.join(str(sql).lower().split())}")
        for kind, name, table, sql in rows
        if (kind, name) not in _STATISTICS
    )


@cache
def _wanted() -> records.Made:
    """What a new file consists of."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(";".join(_DDL))
        return _made(connection)


def _create(path: Path) -> None:
    """Make an empty ledger beside ``path`` and give it that name, unless someone was faster."""
    log = _beside(path, "-wal")
    if log.exists() and not path.exists():  # SQLite would play it into the new file
        raise LedgerError(
            f"{path}: the ledger is gone but its log {log.name} is still there and may hold "
            "entries; restore the ledger, or move the log away if it is of no use"
        )
    make_folder(path.parent)
    with tempfile.TemporaryDirectory(prefix=".ledger-", dir=path.parent) as folder:
        new = Path(folder) / "new"
        new.touch(mode=0o600)
        statements = (
            "pragma journal_mode = wal",  # kept in the file
            "begin",
            f"pragma application_id = {_APPLICATION_ID}",
            f"pragma user_version = {records.SCHEMA_VERSION}",
            *_DDL,
            "commit",
        )
        with closing(_connect(new, False)) as connection:
            connection.executescript(";".join(statements))
            # Closing would do so too, but never says where the disk was full: half a file would
            # stay.
            connection.execute("pragma wal_checkpoint(truncate)")
        with suppress(FileExistsError):
            os.link(new, path)
    directory = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)

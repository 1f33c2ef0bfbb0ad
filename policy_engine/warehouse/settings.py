"""How an embedded engine is set, so that it writes, prints and fetches nothing unasked.

What it would do unasked is a side channel: a profile or a log holds what a query read, a
loaded extension runs code of its own, and blocks written by a process that has read the
source hold stray bytes of its memory.

Measured on DuckDB 2.0.0, which does not clear the memory that it writes as blocks: 2 to 8 bytes
between the segments of a column are whatever the process held there before, values of suppressed
groups among it. The log that it writes before a commit (``.wal``) has no such gaps. So a connection
that has read a source writes the log only, and a new process, which finds nothing but the database
and the log, turns the log into blocks. Its allocator starts from zeros and it has one thread, so
the bytes depend on the release alone.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import duckdb

from policy_engine.errors import WarehouseError

PREFIX = "policy-engine-spill-"
_OURS = re.compile(re.escape(PREFIX) + r"[a-z0-9_]{8}")
_ATTEMPTS = 10

_CONFIG = {
    # Nothing is fetched, loaded or trusted that this policy does not name.
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "allow_persistent_secrets": "false",
    # A name in a text is never a variable of the program around us.
    "python_enable_replacements": "false",
    # What is written before a commit would be written to the database file itself.
    "enable_optimistic_write": "false",
}
_SESSION = (
    "SET TimeZone = 'UTC'",
    # It is asked for, and never printed: a notebook would turn that on.
    "SET enable_progress_bar = true",
    "SET enable_progress_bar_print = false",
    # A process that knows no source writes the blocks of a database file.
    "PRAGMA disable_checkpoint_on_shutdown",
)

# Isolated from the working directory; what duckdb needs to be found and loaded stays. The engine
# alone: what the package has around it takes three times as long to load, and is not asked.
_SETTLE = """\
import sys
import _duckdb
config = {"threads": "1", "autoload_known_extensions": "false"}
_duckdb.connect(sys.argv[1], config=config).close()
"""
_KEPT = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "PYTHONHOME", "PYTHONPATH", "VIRTUAL_ENV")
_ZEROS = {"DUCKDB_JE_MALLOC_CONF": "zero:true", "MALLOC_PERTURB_": "255"}


def connect(
    spill: Path, memory_limit: str | None = None, threads: int | None = None
) -> duckdb.DuckDBPyConnection:
    """A connection to a fresh database in memory, whose temporary files go to ``spill``.

    ``memory_limit`` is a size as in ``2GB``, beyond which the engine spills.
    """
    limits = {"memory_limit": memory_limit, "threads": threads}
    given = {name: str(limit) for name, limit in limits.items() if limit is not None}
    connection = duckdb.connect(config={**_CONFIG, "temp_directory": str(spill), **given})
    for statement in _SESSION:
        connection.execute(statement)
    return connection


def settle(database: Path) -> None:
    """Move what the log of a database file holds into its blocks.

    Where that fails (another process holds the file, the disk is full), the log stays: it is
    whole, and whoever opens the file next moves it.
    """
    log = Path(f"{database}.wal")
    if not log.exists():
        return
    # No secret of the environment: not even the signing key.
    environment = {name: os.environ[name] for name in _KEPT if name in os.environ} | _ZEROS
    with suppress(OSError, subprocess.SubprocessError):
        subprocess.run(
            [sys.executable, "-P", "-B", "-c", _SETTLE, str(database.absolute())],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
        )


class Spill:
    """The folder for what does not fit into memory: of mode 0700, and there until ``remove``.

    It holds raw data, and a process that is killed cannot remove it. So it is locked while it is in
    use, by a lock that ends with the process, and the next release removes those that nobody holds.
    """

    def __init__(self) -> None:
        try:
            _remove_leftovers(Path(tempfile.gettempdir()))
            self.path, self._handle = _locked_folder()
        except OSError as error:
            raise WarehouseError(
                f"a folder for temporary files cannot be made: {error.strerror}; free some space,"
                " or name another place in TMPDIR"
            ) from None

    def remove(self) -> None:
        """Remove the folder and all in it; a second call does nothing."""
        if self._handle < 0:
            return
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._handle)
        self._handle = -1


def _locked_folder() -> tuple[Path, int]:
    for _ in range(_ATTEMPTS):
        path = Path(tempfile.mkdtemp(prefix=PREFIX))
        # Another process may take the new folder for a leftover until it is locked.
        try:
            handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
        except FileNotFoundError:
            continue
        # A file system without locks leaves the folder unlocked, and its leftovers alone.
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_SH)
        if path.is_dir():
            return path, handle
        os.close(handle)
    raise WarehouseError(f"a folder for temporary files does not stay in {tempfile.gettempdir()}")


def _remove_leftovers(directory: Path) -> None:
    """Remove the folders of processes that were killed: made by ``Spill``, held by nobody."""
    for path in directory.glob(f"{PREFIX}*"):
        if not _OURS.fullmatch(path.name):
            continue
        with suppress(OSError):
            handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY)
            try:
                found = os.fstat(handle)
                if (found.st_uid, stat.S_IMODE(found.st_mode)) == (os.geteuid(), 0o700):
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(path, ignore_errors=True)
            finally:
                os.close(handle)

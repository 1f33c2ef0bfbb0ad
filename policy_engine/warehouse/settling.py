"""Writing the blocks of a database file in a process that has never seen a source.

The engine does not clear the memory that it writes as blocks: measured on DuckDB 2.0.0, 2 to
8 bytes between the segments of a column are whatever the process held there before, values
of suppressed groups among it. The log that it writes before a commit (``.wal``) has no such
gaps. So a connection that has read a source writes the log only (settings.py), and a new
process, which finds nothing but the database and the log, turns the log into blocks. Its
allocator starts from zeros and it has one thread, so the bytes depend on the release alone.
"""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

# Isolated from the working directory; what duckdb needs to be found and loaded stays.
_SETTLE = """\
import sys
import duckdb
config = {"threads": "1", "autoload_known_extensions": "false"}
duckdb.connect(sys.argv[1], config=config).close()
"""
_KEPT = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "PYTHONHOME", "PYTHONPATH", "VIRTUAL_ENV")
_ZEROS = {"DUCKDB_JE_MALLOC_CONF": "zero:true", "MALLOC_PERTURB_": "255"}


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
            [sys.executable, "-P", "-c", _SETTLE, str(database.absolute())],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
        )

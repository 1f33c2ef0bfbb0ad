"""The folder for what does not fit into memory: raw data, so it is private and short-lived.

A process that is killed cannot remove its folder. So a folder is locked while it is in use,
by a lock that ends with the process, and the next release removes those that nobody holds.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from policy_engine.errors import WarehouseError

PREFIX = "policy-engine-spill-"
_OURS = re.compile(re.escape(PREFIX) + r"[a-z0-9_]{8}")
_ATTEMPTS = 10


class Spill:
    """A folder of mode 0700 in the temporary directory, until ``remove``."""

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
        with _quietly():
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
        with _quietly():
            handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY)
            try:
                found = os.fstat(handle)
                if (found.st_uid, stat.S_IMODE(found.st_mode)) == (os.geteuid(), 0o700):
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(path, ignore_errors=True)
            finally:
                os.close(handle)


@contextmanager
def _quietly() -> Iterator[None]:
    """Go on where a file is gone, held or another's: tidying is not the task."""
    try:
        yield
    except OSError:
        return

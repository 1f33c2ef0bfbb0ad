"""The one place where a file that somebody names is opened to be read.

A pipe waits for ever for its writer, and a device may do anything: neither is a file. So a command
that is given one refuses it at once, by an OSError that says what it is, as for every other file
that cannot be read.
"""

from __future__ import annotations

import errno
import os
import stat
from io import BufferedReader, TextIOWrapper
from pathlib import Path

NO_FILE = "it is a pipe or a device, not a file"


def opened(path: Path) -> BufferedReader:
    """A file to be read, as bytes; whoever opens it closes it.

    Guarantee: it is a regular file, or a link to one, and nothing was waited for.

    Raises:
        OSError: it is not there, cannot be read, or is a folder, a pipe or a device; ``strerror``
            says which.
        ValueError: no file has such a name.

    >>> try:
    ...     opened(Path("/dev/null"))
    ... except OSError as error:
    ...     error.strerror
    'it is a pipe or a device, not a file'
    """
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    mode = os.fstat(handle).st_mode
    if stat.S_ISREG(mode):
        return os.fdopen(handle, "rb")
    os.close(handle)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    raise OSError(errno.EINVAL, NO_FILE, str(path))


def bytes_in(path: Path) -> bytes:
    """All bytes of a file. Raises as ``opened``."""
    with opened(path) as file:
        return file.read()


def text_in(path: Path, encoding: str = "utf-8", errors: str = "strict") -> str:
    """The text of a file, with plain line ends. Raises as ``opened``, and UnicodeError."""
    with TextIOWrapper(opened(path), encoding=encoding, errors=errors) as file:
        return file.read()

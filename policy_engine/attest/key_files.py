"""Key files, written whole and new, private ones for their owner alone; and their folder."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from policy_engine.errors import FileError

OWNER_ONLY = 0o600
EVERYONE_READS = 0o644
GROUP_AND_OTHERS = 0o077
_LARGEST = 64 * 1024
KEPT = ".policy-engine"
"""What the folder is called."""
_IGNORED = """\
# Private keys and the ledger belong into no repository; public keys and schemas may go there.
*
!.gitignore
!*.pub
!keys.json
!*.schema.json
"""


def read_key_file(path: Path, refuse: int = 0) -> bytes:
    """The file's bytes, unless its mode has one of the bits in ``refuse``.

    Raises FileError when the file cannot be read or others could read it.
    """
    # The mode is asked of the open file, so that it is that of the bytes that are read.
    try:
        with path.open("rb") as file:
            mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
            if mode & refuse:
                raise FileError(
                    f"{path}: a private key must be closed to group and others, found mode "
                    f"{mode:04o}; run 'chmod 600 {path}', and make a new key if others had access"
                )
            return file.read(_LARGEST)
    except OSError as error:
        raise FileError(f"{path}: cannot read the key: {error.strerror}") from None


def create_key_pair(path: Path, private_pem: bytes, public_pem: bytes) -> None:
    """Write a private key and, beside it, its public half: both new, or nothing is written.

    The private key comes first: should a crash part the two, the other half can be made from it,
    by ``complete_key_pair``, while a public key alone would stand in the way of a new pair.

    Raises FileError when either file exists or cannot be written.
    """
    public = path.with_suffix(".pub")
    if os.path.lexists(public):
        raise _exists(public)
    create_key_file(path, private_pem, OWNER_ONLY)
    try:
        complete_key_pair(path, public_pem)
    except BaseException:
        path.unlink()
        raise


def complete_key_pair(path: Path, public_pem: bytes) -> None:
    """Write the public half beside a private key, unless another process has just done so.

    Raises FileError when it cannot be written, or is that of another key.
    """
    public = path.with_suffix(".pub")
    try:
        create_key_file(public, public_pem, EVERYONE_READS)
    except FileError:
        if not public.is_file() or public.read_bytes() != public_pem:
            raise


def create_key_file(path: Path, content: bytes, mode: int) -> None:
    """Write a file that must not exist yet, whole and on disk, or not at all.

    Raises FileError when it exists or cannot be written.
    """
    try:
        with aside(path, content, mode) as made:
            # A link: whoever sees the file sees all of it, nothing is overwritten, and no symlink
            # that someone left there is followed.
            os.link(made, path)
    except FileExistsError:
        raise _exists(path) from None
    except OSError as error:
        raise FileError(f"{path}: cannot write the key: {error.strerror}") from None


@contextmanager
def aside(path: Path, content: bytes, mode: int) -> Iterator[Path]:
    """A new file beside a path, whole and on disk, for the body to put in its place."""
    made = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    handle = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        yield made
    finally:
        made.unlink(missing_ok=True)


def _exists(path: Path) -> FileError:
    return FileError(f"{path}: exists, and a key is never overwritten; choose another name")


def make_folder(folder: Path) -> None:
    """Make a folder that is closed to others, unless it is there.

    git keeps away from what is confidential in a new ``.policy-engine``.

    Raises OSError.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as made:
    ...     make_folder(Path(made) / ".policy-engine")
    ...     [file.name for file in (Path(made) / ".policy-engine").iterdir()]
    ['.gitignore']
    """
    if folder.is_dir():
        return
    folder.mkdir(0o700, parents=True, exist_ok=True)
    if folder.name == KEPT:
        (folder / ".gitignore").write_text(_IGNORED, encoding="utf-8")

"""Files that commands write: where one may stand, and that it is written whole or not at all."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from policy_engine.errors import FileError


def check_free(path: Path, *, replace: bool) -> None:
    """Refuse a folder, and with ``replace`` off a file that is there. Raises FileError."""
    if path.is_dir():
        raise FileError(f"{path} is a directory; name a file")
    if path.exists() and not replace:
        raise FileError(f"{path} exists; use --replace to write it anew")


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """Where to write what takes the place of ``path`` afterwards. Raises FileError."""
    aside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        yield aside
        aside.replace(path)
    except OSError as error:
        raise FileError(f"{path} could not be written: {error.strerror}") from None
    finally:
        aside.unlink(missing_ok=True)

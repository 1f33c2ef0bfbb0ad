"""Changes of files: worked out first, shown as a diff, and put in place one by one, each whole."""

from __future__ import annotations

import difflib
import os
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from policy_engine.errors import FileError

_NO_END = "\\ No newline at end of file"


@dataclass(frozen=True)
class Change:
    """A file before and after; None where it is not there. Texts have plain line ends."""

    path: Path
    before: str | None
    after: str | None

    @property
    def kind(self) -> str:
        """What is done to the file."""
        if self.before is None:
            return "new"
        return "removed" if self.after is None else "changed"

    def diff(self, name: str) -> str:
        """The change as a unified diff."""
        old, new = ((text or "").splitlines(keepends=True) for text in (self.before, self.after))
        before = "/dev/null" if self.before is None else f"a/{name}"
        after = "/dev/null" if self.after is None else f"b/{name}"
        lines = difflib.unified_diff(old, new, before, after)
        ended = (line if line.endswith("\n") else f"{line}\n{_NO_END}\n" for line in lines)
        return "".join(ended)


def changed(path: Path, after: str | None) -> Change | None:
    """The change that makes a file say ``after``; None where it does.

    Raises FileError: what stands there cannot be read, or is no file.
    """
    before = read(path)
    return None if before == after else Change(path, before, after)


def read(path: Path) -> str | None:
    """The text of a file with plain line ends; None where there is none.

    Raises FileError: it cannot be read, or is no file of text.
    """
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        raise FileError(f"{path} is in the way: it is not UTF-8 text") from None
    except OSError as error:
        raise FileError(f"{path} is in the way: {error.strerror}") from None


def apply(changes: Iterable[Change]) -> None:
    """Make the changes; where one fails, those that were made are taken back.

    Raises FileError: a file cannot be written or removed.
    """
    done: list[tuple[Path, bytes | None]] = []
    try:
        for change in changes:
            path = change.path
            content = path.read_bytes() if change.before is not None else None
            if change.after is None:
                path.unlink()
            else:
                ends = "\r\n" if content is not None and b"\r\n" in content else "\n"
                put(path, change.after.replace("\n", ends).encode())
            done.append((path, content))
    except OSError as error:
        for path, content in reversed(done):
            with suppress(OSError):
                path.unlink() if content is None else put(path, content)
        where = error.filename or "a file"
        message = f"{where} could not be written: {error.strerror}; nothing was changed"
        raise FileError(message) from None


def put(path: Path, content: bytes) -> None:
    """Write a file whole: beside its place first, with the rights of the one that it replaces."""
    path = path.resolve()
    path.parent.mkdir(parents=True, exist_ok=True)
    number, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    aside = Path(name)
    try:
        with os.fdopen(number, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        umask = os.umask(0)
        os.umask(umask)
        aside.chmod(path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~umask)
        aside.replace(path)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise

"""Changes of files: worked out first, shown as a diff, and put in place one by one, each whole."""

from __future__ import annotations

import difflib
import os
import tempfile
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from policy_engine.errors import FileError


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
        old, new = (
            text.splitlines(keepends=True) if text else [] for text in (self.before, self.after)
        )
        sides = [
            "/dev/null" if text is None else f"{side}/{name}"
            for side, text in (("a", self.before), ("b", self.after))
        ]
        lines = difflib.unified_diff(old, new, sides[0], sides[1])
        return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
                       for line in lines)  # fmt: skip


def changed(path: Path, after: str | None) -> Change | None:
    """The change that makes a file say ``after``; None where it does.

    Raises:
        FileError: what stands there cannot be read, or is no file.
    """
    before = read(path)
    return None if before == after else Change(path, before, after)


def read(path: Path) -> str | None:
    """The text of a file with plain line ends; None where there is none.

    Raises:
        FileError: it cannot be read, or is no file of text.
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

    Raises:
        FileError: a file cannot be written or removed.
    """
    done: list[Callable[[], None]] = []
    try:
        for change in changes:
            done.append(_made(change))
    except OSError as error:
        for undo in reversed(done):
            with suppress(OSError):
                undo()
        where = error.filename or "a file"
        message = f"{where} could not be written: {error.strerror}; nothing was changed"
        raise FileError(message) from None


def _made(change: Change) -> Callable[[], None]:
    """Make a change, and say how it is taken back."""
    path = change.path
    content = path.read_bytes() if change.before is not None else None
    if change.after is None:
        path.unlink()
    else:
        ends = "\r\n" if content is not None and b"\r\n" in content else "\n"
        path.parent.mkdir(parents=True, exist_ok=True)
        put(path, change.after.replace("\n", ends).encode())

    def undo() -> None:
        if content is None:
            path.unlink()
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            put(path, content)

    return undo


def put(path: Path, content: bytes) -> None:
    """Write a file whole: beside its place first, with the rights of the one that it replaces."""
    path = path.resolve()
    number, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(number, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        mode = path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~_umask()
        Path(name).chmod(mode)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _umask() -> int:
    found = os.umask(0)
    os.umask(found)
    return found

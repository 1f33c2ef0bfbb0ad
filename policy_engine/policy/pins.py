"""The pin of a ledger, `ledger_begins` in the project file: which ledger is the project's.

It is the SHA-256 of the ledger's first record. It lies in a file that is committed, so that every
checkout has it, whether or not the ledger is there.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from io import StringIO
from pathlib import Path

from ruamel.yaml import YAML

from policy_engine.errors import FileError, InternalError, PolicyError
from policy_engine.policy.laws import mapping
from policy_engine.policy.reading import read_root, read_text

BEGINS = "ledger_begins"
IN_EACH_CHECKOUT = "in_each_checkout"
"""What a project writes instead whose checkouts begin ledgers of their own: public examples."""
_ABOUT = "# The ledger's first record: a checkout that lacks this ledger releases nothing."
_EXAMPLE = "sha256:" + "0" * 64


def check_can_pin(file: Path) -> None:
    """Return if a pin can be written into a project file, which need not be there yet.

    Raises FileError.
    """
    with_pin(_text(file), _EXAMPLE, file)
    for path in (file, file.parent) if file.exists() else (file.parent,):
        if not os.access(path, os.W_OK):
            raise _failed(file, _EXAMPLE, f"{path} cannot be written")


def write_pin(file: Path, begins: str, *, instead: bool = False) -> bool:
    """Write a pin into a project file, whole and on disk; False where there is one.

    ``instead`` puts it in the place of another one.

    Raises FileError where it cannot be written, with the line to write by hand.
    """
    file = file.resolve()
    handle = os.open(file.parent, os.O_RDONLY)
    try:
        with suppress(OSError):  # some network file systems cannot
            fcntl.flock(handle, fcntl.LOCK_EX)
        before = _text(file)
        if _pinned(before, file) in ({begins} if instead else {begins, IN_EACH_CHECKOUT}):
            return False
        if (other := _pinned(before, file)) and not instead:
            raise FileError(
                f"{file}: {BEGINS} names the ledger that begins with {other}, and the one that was"
                f" opened begins with {begins}: nothing may be charged on it"
            )
        _put(file, with_pin(before, begins, file), handle)
    except OSError as error:
        raise _failed(file, begins, str(error.strerror)) from None
    finally:
        os.close(handle)
    return True


def with_pin(text: str, begins: str, file: Path) -> str:
    r"""The text of a project file with a pin in it, or with another one in its place.

    A line is added, and the rest stays letter by letter; only where that cannot be, as in a file
    that is one ``{...}``, is it written again, with its comments.

    >>> with_pin("accounts: {a: {}}\n", "sha256:1", Path("p.yaml")).splitlines()[-1]
    'ledger_begins: sha256:1'
    >>> with_pin("{}", "sha256:1", Path("p.yaml")).strip()
    'ledger_begins: sha256:1'
    """
    wanted = {**_data(text, file), BEGINS: begins}
    for after in _written(text, begins, file):
        with suppress(PolicyError):
            if _data(after, file) == wanted:
                return after
    raise InternalError("a project file takes no other key")


def _written(text: str, begins: str, file: Path) -> Iterator[str]:
    """The text with a line more, or with another pin in its line; then all of it written again."""
    old, end = _pinned(text, file), "\r\n" if "\r\n" in text else "\n"
    gap = "" if not text or text.endswith("\n") else end
    yield text.replace(old, begins) if old else f"{text}{gap}{_ABOUT}{end}{BEGINS}: {begins}{end}"
    yaml, out = YAML(), StringIO()
    yaml.preserve_quotes, yaml.width = True, len(text) + len(begins) + 80
    data = yaml.load(text)
    data[BEGINS] = begins
    yaml.dump(data, out)
    yield out.getvalue()


def _pinned(text: str, file: Path) -> str:
    return str(_data(text, file).get(BEGINS, ""))


def _data(text: str, file: Path) -> dict[str, object]:
    """What a project file says; nothing where there is none."""
    return mapping(read_root(text, file, "project")[0].data()) if text else {}


def _text(file: Path) -> str:
    return read_text(file, "project") if file.exists() else ""


def _failed(file: Path, begins: str, why: str) -> FileError:
    what = f"{file}: cannot note in it which ledger is the project's: {why}"
    if begins == _EXAMPLE:
        return FileError(f"{what}. Nothing was begun: mend that first")
    return FileError(f"{what}; write the line '{BEGINS}: {begins}' into it, and do the same again")


def _put(file: Path, text: str, folder: int) -> None:
    """Put the file in place; what a crash left aside is written over by the next one."""
    aside = file.with_name(f".{file.name}.new")
    with aside.open("w", encoding="utf-8", newline="") as new:
        new.write(text)
        new.flush()
        os.fsync(new.fileno())
    if file.exists():
        shutil.copymode(file, aside)
    aside.replace(file)
    os.fsync(folder)

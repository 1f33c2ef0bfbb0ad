"""Files that commands read and write, and numbers of options, with errors that say what to do."""

from __future__ import annotations

import secrets
import sys
from codecs import BOM_UTF8
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

from policy_engine.errors import FileError, UsageError, VerificationFailed
from policy_engine.opening import opened

if TYPE_CHECKING:
    from policy_engine.policy.hierarchy import Hierarchy
    from policy_engine.policy.project import Project

_LARGEST = 10_000_000
_PARQUET = b"PAR1"


def read_file(path: Path) -> str:
    """The text of a file, or of stdin for ``-``, without a byte order mark.

    Raises:
        FileError: it is missing, a directory, unreadable, too large or no UTF-8 text.
    """
    return _text(name_of(path), _content(path))


def read_levels(path: Path) -> Hierarchy:
    """The hierarchy in a file. Raises FileError where it is none."""
    from policy_engine.policy.hierarchy import CsvError, read_hierarchy

    try:
        return read_hierarchy(path)
    except CsvError as error:
        raise FileError(f"the hierarchy {path} {error}") from None


def read_certificate(path: Path) -> str:
    """The text of a certificate's file; whether its signature is good is not looked at.

    Raises:
        FileError: as ``read_file``.
        UsageError: it is the release itself.
        VerificationFailed: it holds no envelope.
    """
    from policy_engine.attest.attestation import Envelope

    name, content = name_of(path), _content(path)
    if content.startswith(_PARQUET):
        beside = path.with_suffix(".certificate.json")
        raise UsageError(
            f"{name} is a Parquet file, not a certificate; the certificate of a release is the"
            f" .certificate.json beside it: policy-engine verify {beside} --release {name}"
        )
    try:
        Envelope.from_json(content.removeprefix(BOM_UTF8))
    except VerificationFailed as error:
        remedy = "name the .certificate.json that stands beside the release"
        raise VerificationFailed((f"{name} is no certificate: {error}; {remedy}",)) from None
    return _text(name, content)


def name_of(path: Path) -> str:
    """What a file that is read is called: ``-`` is stdin."""
    return "stdin" if str(path) == "-" else str(path)


def _content(path: Path) -> bytes:
    name = name_of(path)
    try:
        if name == "stdin":
            content = sys.stdin.buffer.read(_LARGEST + 1)
        else:
            with opened(path) as file:
                content = file.read(_LARGEST + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a file name"
        from policy_engine.policy.reading import meant

        remedy = meant(path) if isinstance(error, FileNotFoundError) else ""
        message = f"{name} could not be read: {reason}"
        raise FileError(f"{message}; {remedy}" if remedy else message) from None
    if len(content) > _LARGEST and not content.startswith(_PARQUET):
        raise FileError(f"{name} must have at most {_LARGEST:,} bytes; it has more")
    return content


def _text(name: str, content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise FileError(f"{name}:{line}: must be UTF-8 text, found other bytes") from None


def check_free(path: Path, *, replace: bool) -> None:
    """Refuse a folder, one that is not there, and with ``replace`` off a file that is.

    Raises FileError.
    """
    if not path.parent.exists():
        law = f"{path} could not be written: No such file or directory"
        raise FileError(f"{law}; make the folder {path.parent} first, or name another")
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


def decimal_of(option: str, text: str) -> Decimal:
    """The number that an option is given. Raises UsageError."""
    try:
        return Decimal(text)
    except ArithmeticError:
        raise UsageError(f"{option} must be a number, found {text[:40]!r}") from None


def project_here() -> Project:
    """The project of the working directory."""
    from policy_engine.policy.project import project_at

    return project_at(Path.cwd())


def own_project() -> Project:
    """The project of the working directory, where there is one: nothing else is looked at.

    A folder that has lost its project file, and has its keys and its ledger, is one too.

    Raises UsageError.
    """
    from policy_engine.policy.places import KEPT, PROJECT_FILE

    project = project_here()
    if project.file is None and not (project.directory / KEPT).is_dir():
        raise UsageError(
            f"no {PROJECT_FILE} here or above ({project.directory}); go into a project, or name its"
            " folder with -C"
        )
    return project


def names_in(listed: str | None) -> tuple[str, ...]:
    """Names in a text, each once.

    >>> names_in("age, sex,age"), names_in(None)
    (('age', 'sex'), ())
    """
    return tuple(dict.fromkeys(map(str.strip, listed.split(",")))) if listed else ()

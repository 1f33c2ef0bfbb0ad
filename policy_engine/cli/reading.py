"""Files that commands read, with errors that say what to do."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from policy_engine.errors import FileError, UsageError

if TYPE_CHECKING:
    from policy_engine.verify.keys import TrustedKeys

_LARGEST = 10_000_000


def read_file(path: Path) -> str:
    """The text of a file, or of stdin for ``-``.

    Raises:
        FileError: it is missing, a directory, unreadable, too large or no UTF-8 text.
    """
    if str(path) == "-":
        return sys.stdin.read()
    try:
        with path.open("rb") as file:
            content = file.read(_LARGEST + 1)
    except OSError as error:
        raise FileError(f"{path} could not be read: {error.strerror}") from None
    if len(content) > _LARGEST:
        raise FileError(f"{path} must have at most {_LARGEST} bytes")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        raise FileError(f"{path} must be UTF-8 text") from None


def trusted_keys(paths: list[Path], certificate: Path) -> TrustedKeys:
    """The keys that were named, else the project's own.

    Raises:
        UsageError: no key was named and no project is near.
    """
    from policy_engine.policy.project import default_project, find_project, load_project
    from policy_engine.verify.keys import TrustedKeys

    if paths:
        return TrustedKeys.load(paths)
    for start in (Path.cwd(), certificate.resolve().parent):
        found = find_project(start)
        if found is not None:
            key = load_project(found).signing_key.with_suffix(".pub")
            if key.exists():
                return TrustedKeys.load([key])
    for folder in certificate.resolve().parents:
        key = default_project(folder).signing_key.with_suffix(".pub")
        if key.exists():
            return TrustedKeys.load([key])
    raise UsageError("no key to trust: name the signer's public key with --key signing.pub")

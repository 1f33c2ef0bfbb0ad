"""Files that commands read, with errors that say what to do."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from policy_engine.errors import FileError, UsageError

if TYPE_CHECKING:
    from policy_engine.verify.keys import TrustedKeys

_LARGEST = 10_000_000


def read_file(path: Path) -> str:
    """The text of a file, or of stdin for ``-``, without a byte order mark.

    Raises:
        FileError: it is missing, a directory, unreadable, too large or no UTF-8 text.
    """
    name = "stdin" if str(path) == "-" else str(path)
    try:
        if name == "stdin":
            content = sys.stdin.buffer.read(_LARGEST + 1)
        else:
            with path.open("rb") as file:
                content = file.read(_LARGEST + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a file name"
        raise FileError(f"{name} could not be read: {reason}") from None
    if len(content) > _LARGEST:
        raise FileError(f"{name} must have at most {_LARGEST:,} bytes; it has more")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise FileError(f"{name}:{line}: must be UTF-8 text, found other bytes") from None


def trusted_keys(paths: list[Path]) -> TrustedKeys:
    """The keys that were named, else the project's own.

    Raises:
        UsageError: no key was named and no project is near.
    """
    from policy_engine.verify.keys import SIGNING_KEY_VARIABLE, TrustedKeys, load_private_key

    if paths:
        return TrustedKeys.load(paths)
    if os.environ.get(SIGNING_KEY_VARIABLE):
        return TrustedKeys.of(load_private_key().public_key())
    key = _project_key()
    if key is None:
        raise UsageError(
            "no key to trust: name the public key of whoever signed the certificate,"
            " --key signing.pub (the project of a release keeps it in .policy-engine/)"
        )
    return TrustedKeys.load([key])


def _project_key() -> Path | None:
    """The public key of the project of the working directory.

    Never one beside the certificate: whoever sends a certificate can send a key with it.
    """
    from policy_engine.policy.project import default_project, find_project, load_project

    found = find_project(Path.cwd())
    if found is not None:
        key = load_project(found).signing_key.with_suffix(".pub")
        if key.exists():
            return key
    for folder in (Path.cwd(), *Path.cwd().parents):
        key = default_project(folder).signing_key.with_suffix(".pub")
        if key.exists():
            return key
    return None

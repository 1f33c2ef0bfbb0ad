"""How a message says where a file is: from its project's folder on."""

from __future__ import annotations

import re
from pathlib import Path

PROJECT_FILE = "policy-engine.yaml"
KEPT = ".policy-engine"
"""The folder of a project in which keys, keyring and ledger are kept."""


def folder_of(start: Path) -> Path | None:
    """The folder of the project in which one stands, by its file or its keys; None outside."""
    names = (PROJECT_FILE, KEPT)
    folders = (start, *start.parents)
    return next((each for each in folders if any((each / name).exists() for name in names)), None)


def from_folder(message: str, folder: Path) -> str:
    """A message in which what lies in a folder is named from there on.

    Errors are raised where a file is read, by its whole path: that tells who reads a log, or a page
    that somebody copies, more than where the file is.

    >>> message = "/srv/visits/a.yaml: cannot be read; see /srv/visits and /srv/visits2/b"
    >>> from_folder(message, Path("/srv/visits"))
    'a.yaml: cannot be read; see . and /srv/visits2/b'
    """
    if folder == Path(folder.anchor):
        return message
    within = re.compile(rf"(?<![\w./-]){re.escape(str(folder))}(?:/(?=[^\s/])|(?![\w.-]))")
    return within.sub(lambda found: "" if found[0].endswith("/") else ".", message)

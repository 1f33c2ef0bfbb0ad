"""Where files of a project are, and how a message says so: from its folder on."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
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


def files_in(folder: Path, endings: tuple[str, ...], beside: str = "") -> Iterator[Path]:
    """The files in a folder and below it whose names end so.

    Hidden folders, but those called ``beside``, environments, and folders that are projects of
    their own are left out.
    """
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(
            name for name in folders if name == beside or not _is_apart(Path(place, name))
        )
        yield from (Path(place, name) for name in sorted(files) if name.endswith(endings))


def _is_apart(folder: Path) -> bool:
    if folder.name.startswith(".") or folder.name == "node_modules":
        return True
    return any((folder / name).exists() for name in (PROJECT_FILE, "pyvenv.cfg"))

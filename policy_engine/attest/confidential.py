"""The folder of a project's private keys and ledger."""

from __future__ import annotations

from pathlib import Path

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

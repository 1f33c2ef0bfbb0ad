"""Sphinx reads the pages that GitHub shows: plain Markdown, with plain links and lists.

Where Sphinx needs more than that, it is made of what stands there: the table of contents of the
lists of the pages ``index.md``, the changelog of the project's own.
"""

from __future__ import annotations

import re
from pathlib import Path

from sphinx.application import Sphinx

_ITEM = re.compile(r"^\* \[[^\]]+\]\((?P<page>[^)#:]+)\.md\)", re.MULTILINE)


def complete(app: Sphinx, page: str, source: list[str]) -> None:
    """Add to an index what its list links to, as a table of contents; put the changelog in."""
    if page == "changelog":
        file = Path(app.srcdir).parent / "CHANGELOG.md"
        app.env.note_dependency(str(file))
        source[0] = file.read_text("utf-8")
    elif Path(page).name == "index":
        pages = "\n".join(_ITEM.findall(source[0]))
        source[0] += f"\n```{{toctree}}\n:hidden:\n\n{pages}\n```\n"


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("source-read", complete)
    return {"parallel_read_safe": True}

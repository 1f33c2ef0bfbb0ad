"""Sphinx reads the pages that GitHub shows: plain Markdown, with plain links and lists.

Where Sphinx needs more than that, it is made of what stands there: the table of contents of the
lists below the headings of the pages ``index.md``, the changelog of the project's own.
"""

from __future__ import annotations

import re
from pathlib import Path

from sphinx.application import Sphinx

_HEADING = re.compile(r"^## (.+)$", re.MULTILINE)
_OUTSIDE = re.compile(
    r"\[([^\]]+)\]\((?:\.\./)+(contributing/[^)#]+|README\.md|SECURITY\.md)(?:#[^)]*)?\)"
)
_ITEM = re.compile(r"^\* \[[^\]]+\]\((?P<page>[^)#:]+)\.md\)", re.MULTILINE)


def complete(app: Sphinx, page: str, source: list[str]) -> None:
    """Add to an index what its list links to, as a table of contents; put the changelog in.

    A page for contributors is none of the site's, nor is the README: its words stay, and say where
    it is.
    """
    if page == "changelog":
        file = Path(app.srcdir).parent / "CHANGELOG.md"
        app.env.note_dependency(str(file))
        source[0] = file.read_text("utf-8")
    elif Path(page).name == "index":
        # Below each heading a list: one part of the sidebar, under the heading's words.
        parts = _HEADING.split(source[0])
        source[0] += "".join(
            f"\n```{{toctree}}\n:hidden:\n:caption: {title}\n\n{pages}\n```\n"
            for title, text in zip(parts[1::2], parts[2::2], strict=True)
            if (pages := "\n".join(_ITEM.findall(text)))
        )
    source[0] = _OUTSIDE.sub(r"\1 (`\2` in the sources)", source[0])


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("source-read", complete)
    return {"parallel_read_safe": True}

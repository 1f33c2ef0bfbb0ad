"""What the site has beside the pages: search words, descriptions, dates, a text for machines."""

from __future__ import annotations

import re
import subprocess
import tomllib
from collections import defaultdict
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

_HERE = Path(__file__).parent
_FENCE = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
#: Longer than what a search engine or a preview shows of a page.
_LONGEST = 160


@cache
def words() -> dict[str, list[str]]:
    """The words that a page explains, by page: a search for one finds that page first."""
    found: dict[str, list[str]] = defaultdict(list)
    for word, page in tomllib.loads((_HERE / "search.toml").read_text("utf-8"))["explains"].items():
        found[page].append(word)
    return found


def index(app: Sphinx, page: str, source: list[str]) -> None:
    """Give a page the index entries of its words: the search ranks them above all else."""
    entries = "".join(f"```{{index}} !{word}\n```\n\n" for word in words().get(page, ()))
    head, _, rest = source[0].partition("\n")
    source[0] = f"{head}\n\n{entries}{rest}"


def described(text: str) -> str:
    """The first paragraph of a page below its heading, as plain words."""
    plain = _FENCE.sub("", text.partition("\n")[2])
    paragraphs = (" ".join(part.split()) for part in plain.split("\n\n"))
    first = next((p for p in paragraphs if p and p[0] not in "|#!<*:"), "")
    words = re.sub(r"[*`\\]", "", _LINK.sub(r"\1", first))
    if len(words) <= _LONGEST:
        return words
    return words[:_LONGEST].rsplit(" ", 1)[0] + " …"


@cache
def changed(folder: Path) -> dict[str, date]:
    """When each file of the sources was last changed, by git; nothing where git does not know."""
    try:
        run = subprocess.run(
            ["git", "log", "--format=@%cs", "--name-only", "--relative", "."],
            cwd=folder, capture_output=True, text=True, check=True,
        )  # fmt: skip
    except (OSError, subprocess.CalledProcessError):
        return {}
    found: dict[str, date] = {}
    day = date.min
    for line in run.stdout.splitlines():
        if line.startswith("@"):
            day = date.fromisoformat(line[1:])
        elif line:
            found.setdefault(line, day)
    return found


def told(app: Sphinx, page: str, template: str, context: dict[str, Any], tree: object) -> None:
    """A page's description, and when it was last changed."""
    if "furo_navigation_tree" in context:  # a heading without its level is none to a screen reader
        context["furo_navigation_tree"] = context["furo_navigation_tree"].replace(
            'role="heading"', 'role="heading" aria-level="2"'
        )
    if "body" in context:  # a head without words is none: a screen reader would stop at it
        context["body"] = context["body"].replace('<th class="head"><p></p></th>', "<td></td>")
    file = Path(app.srcdir) / f"{page}.md"
    if not file.exists():
        return
    description = described(file.read_text("utf-8")).replace('"', "&quot;")
    context["metatags"] += f'<meta name="description" content="{description}">\n'
    day = changed(Path(app.srcdir)).get(f"{page}.md")
    context["last_updated"] = f"{day:%-d %B %Y}" if day else None


def for_machines(app: Sphinx, failed: Exception | None) -> None:
    """Write llms.txt: what the site is, and every page with its first sentence."""
    if failed or app.builder.format != "html":
        return
    folder = Path(app.srcdir)
    lines = [f"# {app.config.project}", "", f"> {described((folder / 'index.md').read_text())}", ""]
    for page in sorted(app.env.found_docs):
        title = app.env.titles[page].astext()
        description = described((folder / f"{page}.md").read_text("utf-8"))
        lines.append(f"- [{title}]({page}.html): {description}")
    (Path(app.outdir) / "llms.txt").write_text("\n".join(lines) + "\n", "utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("source-read", index)
    app.connect("html-page-context", told, priority=900)  # after the theme
    app.connect("build-finished", for_machines)
    return {"parallel_read_safe": True}

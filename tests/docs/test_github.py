"""The pages as GitHub shows them: without directives, and with anchors made its own way."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote

import pages
import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = pages.ROOT
PAGES = sorted(
    {
        *(page for page in pages.pages() if "_static" not in page.parts),
        ROOT / "CONTRIBUTING.md",
        ROOT / "CHANGELOG.md",
        *ROOT.glob("policies/**/*.md"),
        *ROOT.glob("examples/**/*.md"),
    }
)
_GFM = MarkdownIt("commonmark").enable(["table", "strikethrough"])
#: Syntax of Sphinx and MyST, as text where GitHub does not know it.
_RAW = re.compile(
    r"^\([\w-]+\)=$"  # a target
    r"|^:{3,}"  # a directive
    r"|^:[\w-]+:"  # a field, an option
    r"|^: "  # a definition
    r"|^% "  # a comment
    r"|^\|.*\|$"  # a row of a table that an empty line has cut off
    r"|^\.\. "  # reStructuredText
    r"|\{[\w:+-]+\}(?=`)",  # a role, before its code
    re.MULTILINE,
)
#: How a token counts there: code is not looked into.
_SHOWN = {"softbreak": "\n", "hardbreak": "\n", "code_inline": "`", "image": "!"}
_HTML = re.compile(r"<!--.*-->|</?(?:a|b|br|img|kbd|p|picture|source|sub|sup)\b[^>]*>", re.DOTALL)


def _plain(tokens: list[Token]) -> str:
    return "".join(token.content for token in tokens if token.type in {"text", "code_inline"})


def _inlines(tokens: list[Token]) -> Iterator[list[Token]]:
    return (token.children or [] for token in tokens if token.type == "inline")


def anchors(text: str) -> set[str]:
    """What GitHub lets a link to this page end with, after ``#``."""
    seen: Counter[str] = Counter()
    found = set(re.findall(r"<a (?:id|name)=\"([^\"]+)\"", text))
    tokens = _GFM.parse(text)
    for heading, inline in pairwise(tokens):
        if heading.type != "heading_open":
            continue
        words = _plain(inline.children or []).strip().lower()
        slug = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        found.add(f"{slug}-{seen[slug]}" if seen[slug] else slug)
        seen[slug] += 1
    return found


@cache
def _anchors_of(page: Path) -> set[str]:
    return anchors(page.read_text("utf-8"))


def faults(page: Path, text: str) -> list[str]:
    """What a reader of this page on GitHub would stumble over."""
    tokens = _GFM.parse(text)
    found = [
        f"a fence of {token.info!r} is a directive"
        for token in tokens
        if token.type == "fence" and token.info.startswith("{")
    ]
    found += _faults_of_tables(tokens, text.splitlines())
    html = [token for token in tokens if token.type == "html_block"]
    for children in _inlines(tokens):
        shown = "".join(_SHOWN.get(token.type, token.content) for token in children)
        if _RAW.search(shown):
            found.append(f"syntax of Sphinx is shown as text: {shown[:60]!r}")
        html += [token for token in children if token.type == "html_inline"]
        found += _faults_of_links(page, text, children)
    found += [f"HTML {t.content[:40]!r}" for t in html if not _HTML.match(t.content.strip())]
    return found


def _faults_of_tables(tokens: list[Token], lines: list[str]) -> Iterator[str]:
    """A row with a cell more than the head: it is cut off there, at a ``|`` that is not escaped."""
    for first, end in (token.map for token in tokens if token.type == "table_open" and token.map):
        cells = [
            len(re.findall(r"(?<!\\)\|", line.strip().strip("|"))) for line in lines[first:end]
        ]
        yield from (
            f"a row is cut off: {line[:40]!r}"
            for line, found in zip(lines[first:end], cells, strict=True)
            if found > cells[0]
        )


def _faults_of_links(page: Path, text: str, children: list[Token]) -> Iterator[str]:
    for place, token in enumerate(children):
        if token.type == "image":
            target = str(token.attrs["src"])
            if not token.content:
                yield f"the picture {target} has no words"
        elif token.type == "link_open":
            target = str(token.attrs["href"])
            inside = children[place + 1 :]
            end = next(n for n, t in enumerate(inside) if t.type == "link_close")
            if not any(t.content for t in inside[:end]):
                yield f"the link to {target} has no text"
        else:
            continue
        if not re.match(r"https?:|mailto:", target):
            yield from _faults_of_target(page, text, unquote(target))


def _faults_of_target(page: Path, text: str, target: str) -> Iterator[str]:
    path, _, anchor = target.partition("#")
    file = (page.parent / path).resolve()
    if path and (not file.exists() or not file.is_relative_to(ROOT) or "_build" in file.parts):
        yield f"{target} does not exist"
    elif anchor and anchor not in (_anchors_of(file) if path else anchors(text)):
        yield f"{target}: no such heading"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_can_be_read_on_github(page: Path) -> None:
    assert not faults(page, page.read_text("utf-8"))


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("[](README.md)", "the link to README.md has no text"),
        ("![](docs/_static/desk-390.png)", "the picture docs/_static/desk-390.png has no words"),
        ("[a page](missing.md)", "missing.md does not exist"),
        ("[a page](../../etc)", "../../etc does not exist"),
        ("[a heading](README.md#nothing)", "README.md#nothing: no such heading"),
        ("# Two\n\n[here](#one)", "#one: no such heading"),
        ("```{toctree}\nindex\n```", "a fence of '{toctree}' is a directive"),
        ("see {doc}`index`", "syntax of Sphinx is shown as text: 'see {doc}`'"),
        ("(here)=\n# Here", "syntax of Sphinx is shown as text: '(here)='"),
        ("word\n: its meaning", "syntax of Sphinx is shown as text: 'word\\n: its meaning'"),
        (":::note\n:::", "syntax of Sphinx is shown as text: ':::note\\n:::'"),
        ("verify <FILE>", "HTML '<FILE>'"),
        ("| a | b |\n|---|---|\n| `x | y` | z |", "a row is cut off: '| `x | y` | z |'"),
    ],
)
def test_what_github_would_not_show_is_noticed(text: str, fault: str) -> None:
    assert faults(ROOT / "page.md", text) == [fault]


def test_what_only_looks_like_it_is_left() -> None:
    text = (
        "# `a.b` [c](README.md) (d), e\n\n# Two\n\n# Two\n\n```yaml\na: {b: c}\n```\n\nx: {`y`}\n"
    )
    assert anchors(text) == {"ab-c-d-e", "two", "two-1"}
    links = "[1](#two-1) [2](README.md#install) [3](https://a.example#b) <!-- a note -->\n"
    assert faults(ROOT / "page.md", text + links) == []


def test_every_page_is_reached_from_the_readme_by_links() -> None:
    reached, new = set(), {ROOT / "README.md"}
    while new:
        page = new.pop()
        reached.add(page)
        targets = (
            str(token.attrs["href"]).partition("#")[0]
            for children in _inlines(_GFM.parse(page.read_text("utf-8")))
            for token in children
            if token.type == "link_open" and ":" not in str(token.attrs["href"])
        )
        files = {(page.parent / target).resolve() for target in targets if target.endswith(".md")}
        new |= files - reached
    assert not set(PAGES) - reached

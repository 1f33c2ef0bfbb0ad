"""One word a thing, and sentences that are read once: what the built pages say."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pages
import pytest
import reference
from markdown_it import MarkdownIt

PAGES = [page for page in pages.pages() if "_static" not in page.parts]
_MARKDOWN = MarkdownIt("commonmark").enable(["table"])
#: What is quoted of others: titles of papers, and where they are spoken of.
_QUOTED = re.compile(r"^\* [A-Z].*?\. \*.+?\*", re.MULTILINE | re.DOTALL)
_VERB = (
    "is|are|was|were|would|could|can|cannot|has|have|had|does|do|did|must|will|may|holds?|tells?"
    "|knows?|makes?|gives?|takes?|needs?|shows?|comes?|goes|reads|draws|stands|depends"
)
#: "…, for it is …": a reader takes it for a purpose first. "because" is read once.
BECAUSE = re.compile(
    r"[,;] for (?:it|they|nobody|there|then|this|that|each|its|the|an?|no|only|both|such|some)"
    rf" (?:[\w’'-]+ ){{0,5}}?(?:{_VERB})\b"
)
#: A thing that is denied twice is said once.
LITOTES = re.compile(
    r"\bnot (?:un(?!derst|til|der\b|less|ion|it|ique|iform)\w+|without|impossible|seldom|rarely"
    r"|negligible)\b|\bno (?:small|mean|little) (?:matter|feat|part|thing)\b",
    re.IGNORECASE,
)


@cache
def prose(page: Path) -> str:
    """The words of a page without its code, its links' targets and what it quotes."""
    text = _QUOTED.sub("", reference.by_hand(page.read_text("utf-8")))
    lines = []
    for token in _MARKDOWN.parse(text):
        if token.type == "inline":
            kinds = {"text": "{}", "softbreak": " ", "hardbreak": " ", "code_inline": "…"}
            parts = (kinds.get(c.type, "").format(c.content) for c in token.children or [])
            lines.append("".join(parts))
    return "\n".join(lines)


def hits(pattern: re.Pattern[str], text: str) -> list[str]:
    return [text[max(0, m.start() - 30) : m.end() + 20] for m in pattern.finditer(text)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(pages.ROOT)))
def test_a_page_says_because_and_denies_nothing_twice(page: Path) -> None:
    text = prose(page)
    assert hits(BECAUSE, text) == []
    assert hits(LITOTES, text) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(pages.ROOT)))
def test_a_page_has_one_word_a_thing(page: Path) -> None:
    for word, said in reference.words().items():
        for other in said.get("instead_of", ()):
            found = hits(re.compile(rf"\b{other}s?\b", re.IGNORECASE), prose(page))
            assert found == [], f"say {word!r}"


def test_every_word_is_explained_and_stands_for_no_other() -> None:
    words = reference.words()
    assert len(words) > 30 and list(words) == sorted(words, key=str.lower)
    others = [other for said in words.values() for other in said.get("instead_of", ())]
    assert not set(others) & set(words)
    assert all(said["means"].endswith(".") for said in words.values())


@pytest.mark.parametrize(
    ("text", "pattern", "found"),
    [
        ("It is refused, for it is unknown.", BECAUSE, 1),
        ("It is refused, because it is unknown; for the reviewer.", BECAUSE, 0),
        ("This is not unusual.", LITOTES, 1),
        ("This is not understood, not under one, and not until then.", LITOTES, 0),
    ],
)
def test_what_is_looked_for_is_found(text: str, pattern: re.Pattern[str], found: int) -> None:
    assert len(hits(pattern, text)) == found

"""One word a thing, and sentences that are read once: what the built pages say."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pages
import pytest
import reference
from markdown_it import MarkdownIt
from markdown_it.token import Token

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

#: A clause, or an "of", as the subject: a reader finds no verb and begins again.
SUBJECT = re.compile(
    r"(?:^|(?<=[.!] ))(?:What|Who|Of(?! course\b)) [^?!:\n]*?[.!](?=\s|$)", re.MULTILINE
)
#: Words that a reader whose first language is not English has never met.
ARCHAIC = re.compile(
    r"\bthough (?:it|they|he|she) be\b|\bneeds? (?:trust|look|know|say) (?:no|little|what|who)"
    r"|(?-i:\b(?:W|So w)hoever)\b"
    r"|\bat no price\b|\bby another way than\b|\bit is chosen (?:what|who|which)\b"
    r"|\b(?:is|are) of the (?:rows|people|machine|plan|rest|release)\b",
    re.IGNORECASE,
)
#: A law is a statute here, or a named one (Zipf's): of chance there are distributions.
LAW = re.compile(
    r"(?<!\bthe )(?<!\bin )(?<!\bby )(?<!['’]s )\blaws?\b"
    r"|\bthe laws? of (?:(?:the|its|their) )?(?:noise|chance|counts?|release|what)\b",
    re.IGNORECASE,
)
#: The pages for readers. Those in contributing/ speak of the code, which has laws.
READ = [page for page in PAGES if "contributing" not in page.parts]


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


@cache
def sentences(page: Path) -> str:
    """The paragraphs and items of a page, without headings, tables and the names of pages."""
    return sentences_of(_QUOTED.sub("", reference.by_hand(page.read_text("utf-8"))))


def sentences_of(text: str) -> str:
    lines, inside = [], ""
    for token in _MARKDOWN.parse(text):
        if token.nesting == 1 and token.type in ("paragraph_open", "heading_open", "table_open"):
            inside = inside or token.type
        if token.type == "inline" and inside == "paragraph_open":
            lines.append(_said(token.children or []))
        if token.nesting == -1 and token.type == inside.replace("open", "close"):
            inside = ""
    return "\n".join(lines)


def _said(parts: list[Token]) -> str:
    """What is written outside links; bold words that name what follows are left out, too."""
    marks = {"softbreak": " ", "hardbreak": " ", "strong_open": "⟦", "strong_close": "⟧"}
    said, in_link = "", False
    for part in parts:
        if part.type in ("link_open", "link_close"):
            in_link = part.type == "link_open"
            said += "…" if in_link else ""
        elif in_link:
            continue
        elif part.type == "text":
            said += part.content
        elif part.type in marks:
            said += marks[part.type]
        elif part.nesting == 0:
            said += "…"
    said = re.sub(r"⟦[^⟦⟧]*[.:?]⟧|⟦[^⟦⟧]*⟧(?=:)", "…", said)
    return re.sub("[⟦⟧]", "", said)


def hits(pattern: re.Pattern[str], text: str) -> list[str]:
    return [text[max(0, m.start() - 30) : m.end() + 20] for m in pattern.finditer(text)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(pages.ROOT)))
def test_a_page_says_because_and_denies_nothing_twice(page: Path) -> None:
    text = prose(page)
    assert hits(BECAUSE, text) == []
    assert hits(LITOTES, text) == []


@pytest.mark.parametrize("page", READ, ids=lambda page: str(page.relative_to(pages.ROOT)))
def test_a_sentence_begins_with_a_thing_and_has_words_of_today(page: Path) -> None:
    assert hits(SUBJECT, sentences(page)) == []
    assert hits(ARCHAIC, prose(page)) == []
    assert hits(LAW, prose(page)) == []


def test_help_is_written_as_pages_are() -> None:
    wrong = {}
    for words, command in reference.commands():
        # The first line is what the command does, in few words; an example is no sentence.
        said = "\n".join(
            " ".join(part.split())
            for part in (command.help or "").split("\n\n")[1:]
            if not part.lstrip().startswith("Example:")
        )
        found = [
            hit for law in (BECAUSE, LITOTES, SUBJECT, ARCHAIC, LAW) for hit in hits(law, said)
        ]
        if found:
            wrong[" ".join(words)] = found
    assert wrong == {}


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
        ("It runs. What a group has beyond 3.5 rows is the rest.", SUBJECT, 1),
        ("Who takes one has less of the other.", SUBJECT, 1),
        ("Of two releases the difference is noise.", SUBJECT, 1),
        ("Who is asked? Of course you are. What follows: a table.", SUBJECT, 0),
        ("It is charged, though it be named by a link.", ARCHAIC, 1),
        ("You need trust little else, so that this is of the rows.", ARCHAIC, 2),
        ("Whoever has it signs. So whoever comes late waits.", ARCHAIC, 2),
        ("You need to know what it is of interest for, though it is long.", ARCHAIC, 0),
        ("The law of the noise is another law.", LAW, 2),
        ("In law, and by the law of the country, Zipf's law counts.", LAW, 0),
    ],
)
def test_what_is_looked_for_is_found(text: str, pattern: re.Pattern[str], found: int) -> None:
    assert len(hits(pattern, text)) == found


def test_the_names_of_pages_and_of_what_follows_are_no_sentences() -> None:
    page = """# What it is.

[What it says.](x.md) has it. **What counts.** A key. **Who pays**: nobody.

| What it is. |
|---|
| Who it is. |

* **Who is left out.** They are not shown.
"""
    assert hits(SUBJECT, sentences_of(page)) == []
    assert len(hits(SUBJECT, sentences_of("* Who is left out is not shown.\n"))) == 1

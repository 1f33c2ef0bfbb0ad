"""The relations, files and functions that a SQL text reads, whoever wrote it.

Plain texts are read by a reader of their own, the others by the parser. In what neither can read,
every word counts that could be a relation's name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from policy_engine.dbt.lexing import (
    QUOTED,
    READERS,
    STRING,
    WORD,
    Token,
    name_at,
    tokens,
    words,
)
from policy_engine.dbt.naming import Name
from policy_engine.dbt.quick import plain_reads


@dataclass(frozen=True)
class Read:
    """A name that is read. Not ``sure``: it may be a query or a column of the text's own."""

    name: Name
    sure: bool = True


@dataclass(frozen=True)
class Call:
    """A function or a file in the place of a relation."""

    text: str
    name: Name = ()


@dataclass(frozen=True)
class Reads:
    """What a text reads. ``parsed`` is False where only its words could be looked at."""

    names: tuple[Read, ...] = ()
    calls: tuple[Call, ...] = ()
    parsed: bool = True


def reads_of(text: str, dialect: str) -> Reads:
    """What a text of one or more statements reads, or names.

    >>> reads_of("with a as (select * from raw.people) select * from a", "duckdb").names
    (Read(name=(Part(text='raw', quoted=False), Part(text='people', quoted=False)), sure=True),)
    """
    text = _as_it_runs(text, dialect)
    plain = plain_reads(text, dialect)
    if plain is not None:
        return Reads(tuple(Read(name) for name in dict.fromkeys(plain)))
    # The parser takes half a second to load, and most projects are plain.
    from policy_engine.dbt.parsing import parsed_reads

    return parsed_reads(text, dialect)


_RUNS = re.compile(r"/\*M?!\d*(.*?)\*/", re.DOTALL)


def _as_it_runs(text: str, dialect: str) -> str:
    """A text without what only looks like a comment: MySQL runs /*! … */, and -- needs a blank."""
    if dialect not in {"mysql", "mariadb"}:
        return text
    return re.sub(r"--(?=\S)", "- -", _RUNS.sub(r" \1 ", text))


_FROM_IN = frozenset({"EXTRACT", "TRIM", "SUBSTRING", "OVERLAY", "POSITION"})
_NO_NAMES = words("""
    ALL AND ANY AS ASC BETWEEN BY CASE CAST COPY CREATE CROSS CURRENT DELETE DESC DISTINCT ELSE END
    EXCEPT EXISTS EXPORT FALSE FROM FULL GRANT GROUP HAVING IF IN INNER INSERT INTERSECT INTO IS
    JOIN LATERAL LEFT LIKE LIMIT NOT NULL ON ONLY OR ORDER OUTER OVER PARTITION PIVOT RECURSIVE
    RIGHT ROWS SELECT SET TABLE THEN TO TRUE UNION UNLOAD UNNEST UPDATE USING VALUES VIEW WHEN WHERE
    WINDOW WITH
""")


def scanned_reads(text: str) -> Reads:
    """What the words of a text could mean: every name, and surely those behind FROM and JOIN.

    >>> [each.sure for each in scanned_reads("from people weird ?? syntax").names]
    [True, False, False]
    """
    found = tokens(text)
    own = {t.text.strip('"`').lower() for t in _defined(found)}
    names: dict[Read, None] = {}
    calls: dict[Call, None] = {}
    place = 0
    while place < len(found):
        token = found[place]
        if token.kind == STRING:
            for read in _inside(token.text[1:-1].replace("''", "'")):
                names.setdefault(read)
        named = name_at(found, place) if token.kind in {WORD, QUOTED} else None
        if named is None or token.word in _NO_NAMES:
            place += 1
            continue
        name, behind = named
        if behind < len(found) and found[behind].text == "(":
            if name[-1].text.lower() in READERS:
                calls.setdefault(Call(f"{name[-1].text}(…)", name))
        else:
            local = len(name) == 1 and name[0].text.lower() in own
            names.setdefault(Read(name, not local and _is_behind_from(found, place)))
        place = behind
    return Reads(tuple(names), tuple(calls), parsed=False)


def _defined(found: list[Token]) -> Iterator[Token]:
    """The names of queries: ``name AS [[NOT] MATERIALIZED] (``."""
    plain = [token for token in found if token.word not in {"NOT", "MATERIALIZED"}]
    for token, one, other in zip(plain, plain[1:], plain[2:], strict=False):
        if one.word == "AS" and other.text == "(" and token.kind in {WORD, QUOTED}:
            yield token


def _is_behind_from(found: list[Token], place: int) -> bool:
    before = found[place - 1].word if place else ""
    if before not in {"FROM", "JOIN"}:
        return False
    if place > 1 and found[place - 2].word == "DISTINCT":
        return False
    depth = 0
    for token in reversed(found[: place - 1]):
        depth += (token.text == ")") - (token.text == "(")
        if depth < 0:
            return True
        if depth == 0 and token.word in _FROM_IN:
            return False
        if token.word == "SELECT":
            return True
    return True


def named_in(text: str) -> Iterator[Read]:
    """What a text of a program may name: the relations of a query, or one with its schema."""
    yield from _inside(text)
    found = name_at(tokens(text), 0)
    if found is not None and len(found[0]) > 1:
        yield Read(found[0], False)


def _inside(text: str) -> Iterator[Read]:
    """What a text within a text names, if it is SQL."""
    if " " in text.strip() and not {"FROM", "JOIN"}.isdisjoint(t.word for t in tokens(text)):
        yield from scanned_reads(text).names

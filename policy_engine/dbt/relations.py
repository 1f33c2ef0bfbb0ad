"""The relations, files and functions that a SQL text reads, whoever wrote it.

One walk over the words: what stands behind FROM, JOIN and their commas is read, unless a query of
the text's own is in scope there. A text with anything that is not understood names, perhaps,
whatever its words could name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from policy_engine.dbt.lexing import (
    HARMLESS,
    QUOTED,
    STRING,
    WORD,
    Token,
    as_it_runs,
    is_reader,
    name_at,
    part_of,
    tokens,
    words,
)
from policy_engine.dbt.naming import Name, Part

_STARTS = words("FROM SELECT VALUES WITH")
_STATEMENTS = words("CALL DELETE DESCRIBE EXECUTE INSERT MERGE PIVOT SHOW SUMMARIZE UNPIVOT UPDATE")
"""What may stand in parentheses, and reads without FROM."""
_ENDS_FROM = words("""
    CLUSTER CONNECT DISTRIBUTE EXCEPT FETCH GROUP HAVING INTERSECT LIMIT MINUS OFFSET ORDER QUALIFY
    SORT START UNION WHERE WINDOW
""")
_BEHIND = {
    **dict.fromkeys(words("CLUSTER DISTRIBUTE GROUP ORDER SORT"), words("BY SIBLINGS")),
    "CONNECT": words("BY NOCYCLE PRIOR"),
    "START": words("WITH"),
}
"""What stands behind those that are names as well."""
_BEFORE = words("FROM LATERAL ONLY")
_JOINS = words("APPLY JOIN STRAIGHT_JOIN")
_HAVE_FROM = words("BTRIM EXTRACT OVERLAY POSITION SUBSTR SUBSTRING TRIM")
"""Functions whose arguments have FROM, or IN, among them."""
_NO_QUERIES = words("CUBE NO OFFSET ORDINALITY ROLLUP TIES TIME")
"""What stands behind WITH and is no name of a query."""
_KEYWORDS = _STARTS | _STATEMENTS | _ENDS_FROM | _JOINS | {"IN", "TABLE"}
"""Words that mean something here; all others are columns, functions and operators."""
_NO_NAMES = words("""
    ALL AND ANY AS ASC BETWEEN BY CASE CAST COPY CREATE CROSS CURRENT DELETE DESC DISTINCT ELSE END
    EXCEPT EXISTS EXPORT FALSE FROM FULL GRANT GROUP HAVING IF IN INNER INSERT INTERSECT INTO IS
    JOIN LATERAL LEFT LIKE LIMIT NOT NULL ON ONLY OR ORDER OUTER OVER PARTITION PIVOT RECURSIVE
    RIGHT ROWS SELECT SET TABLE THEN TO TRUE UNION UNLOAD UNNEST UPDATE USING VALUES VIEW WHEN WHERE
    WINDOW WITH
""")


class Read(NamedTuple):
    """A name that is read. Not ``sure``: it may be a query or a column of the text's own."""

    name: Name
    sure: bool = True


class Call(NamedTuple):
    """A function or a file in the place of a relation."""

    text: str
    name: Name = ()


class Reads(NamedTuple):
    """What a text reads."""

    names: tuple[Read, ...] = ()
    calls: tuple[Call, ...] = ()


def reads_of(text: str, dialect: str, *, every: bool = False) -> Reads:
    """What a text of one or more statements reads; with ``every`` word that may be a name.

    >>> reads_of("with a as (select * from raw.people) select * from a", "duckdb").names
    (Read(name=(Part(text='raw', quoted=False), Part(text='people', quoted=False)), sure=True),)
    """
    walk = _Walk(as_it_runs(text, dialect), dialect)
    walk.over()
    walk.every_name()
    if every or walk.is_odd:
        # Where an end of a text is not known, there is code in what was taken for a text.
        walk.every_word(walk.tokens, texts=any(each.text == "\\" for each in walk.tokens))
    return Reads(tuple(walk.names), tuple(walk.calls))


def named_in(text: str) -> Iterator[Name]:
    """What a text of a program may name: the relations of a query, or one with its schema."""
    walk = _Walk(text, "")
    found = name_at(walk.tokens, 0)
    if found is not None and len(found[0]) > 1:
        yield found[0]
    if _is_query(text, walk.tokens):
        walk.every_word(walk.tokens)
        yield from (read.name for read in walk.names)


def _is_query(text: str, found: Iterable[Token]) -> bool:
    return " " in text.strip() and not {"FROM", "JOIN"}.isdisjoint(t.word for t in found)


@dataclass
class _Level:
    """What stands between a pair of parentheses; ``seen`` are the words of its FROM.

    After ``rows`` of VALUES a comma is followed by another row, or by another relation.
    """

    opener: str = ""
    in_from: bool = False
    expects: bool = False
    selects: bool = False
    rows: bool = False
    queries: dict[str, str] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)
    owner: Part | None = None


class _Walk:
    """Every token once, with the queries that are in scope there."""

    def __init__(self, text: str, dialect: str) -> None:
        self.text = text
        self.dialect = dialect
        self.tokens = tokens(text, dialect)
        self.names: dict[Read, None] = {}
        self.calls: dict[Call, None] = {}
        self.is_odd = False
        self._place = 0
        self._levels = [_Level()]
        self._aliases: set[str] = set()
        is_recursive = "recursive" in text.lower()
        self._own = {part.text.lower() for part in _defined(self.tokens)} if is_recursive else ()

    def over(self) -> None:
        while (token := self.tokens[self._place]).text:
            level, before = self._levels[-1], self._at(-1)
            if level.rows and before.text == ")" and token.text != ",":
                level.rows = False
            if level.expects:
                level.expects = False
                self._relation(token, level)
            elif token.word in _KEYWORDS or (token.word and before.text in ("", ";")):
                self._word(token, level)
            elif token.kind in (WORD, QUOTED):
                self._other(token, level)
            elif token.text in "([{":
                self._levels.append(_Level(before.word))
            elif token.text in ")]}":
                self._close()
            elif token.text == ",":
                around = (before.text, self._at(1).text)
                level.expects = level.in_from and not (level.rows and around == (")", "("))
            elif token.text == ";":
                self._levels = [_Level()]
            elif token.text == "\\":
                self.is_odd = True
            self._place += 1
        self.is_odd |= len(self._levels) != 1

    def _at(self, offset: int) -> Token:
        """A token near the place; an empty one behind the text, and before it as well."""
        return self.tokens[self._place + offset]

    def _close(self) -> None:
        closed = self._levels.pop()
        if not self._levels:
            self._levels, self.is_odd = [_Level()], True
        if closed.owner is not None:
            key = closed.owner.text.lower()
            self._aliases.add(key)
            self._levels[-1].queries[key] = closed.owner.folded(self.dialect)
            if self._at(1).text == ",":
                self._query(2)

    # Words

    def _word(self, token: Token, level: _Level) -> None:
        before, behind, word = self._at(-1), self._at(1), token.word
        is_first = before.text in ("", ";")
        # T-SQL: FROM ..people
        is_part = before.text == "." or (behind.text == "." and word not in {"FROM", "JOIN"})
        if is_part or self._is_alias(word):
            self._other(token, level)
        elif is_first and word not in _STARTS:
            self.is_odd = True
        elif word == "FROM":
            is_distinct = before.word == "DISTINCT" and self._at(-2).word in {"IS", "NOT"}
            if not is_distinct and (level.selects or level.opener not in _HAVE_FROM):
                level.in_from = level.expects = True
        elif word == "SELECT" or word in _ENDS_FROM:
            level.selects |= word == "SELECT"
            level.in_from = False
        elif word == "WITH":
            if behind.word in _NO_QUERIES:
                self._place += 1
            elif before.word != "START" and behind.text != "(":
                is_recursive = behind.word == "RECURSIVE" and self._at(2).word != "AS"
                self._query(2 if is_recursive else 1)
        elif word in _JOINS and (word != "APPLY" or before.word in {"CROSS", "OUTER"}):
            level.in_from = level.expects = before.word != "ARRAY"
        elif word == "IN" and level.opener not in _HAVE_FROM:
            found = name_at(self.tokens, self._place + 1)
            if found is not None and self.tokens[found[1]].text != "(":
                self._name(found[0], sure=False)
        elif word in _STATEMENTS or word == "TABLE":
            is_read = before.text in ("(", ")") if word != "TABLE" else behind.text != "("
            self.is_odd |= is_read

    def _is_alias(self, word: str) -> bool:
        """Whether a word that ends FROM is the name of something here."""
        before, behind = self._at(-1).word, self._at(1)
        if word not in _ENDS_FROM:
            return False
        is_other = word in _BEHIND and behind.word not in _BEHIND[word]
        return before in {"AS", "FOR"} or behind.text in (",", ")", "") or is_other

    def _other(self, token: Token, level: _Level) -> None:
        """A word that means nothing here, but perhaps an alias or a function that reads."""
        bare = token.text.strip('"`').lower()
        if level.in_from:
            level.seen.add(bare)
            self._aliases.add(bare)
        if self._at(1).text == "(" and is_reader(bare):
            self._call((part_of(token),), self._place, self._place + 1)

    def _query(self, offset: int) -> None:
        """``name [(columns)] AS [[NOT] MATERIALIZED] (``: the place is then the parenthesis."""
        place = self._place + offset
        owner = self.tokens[place]
        place += 1
        if self.tokens[place].text == "(":
            while self.tokens[place].text not in (")", ""):
                place += 1
            place += 1
        is_query = owner.kind in (WORD, QUOTED) and self.tokens[place].word == "AS"
        place += 1
        while self.tokens[place].word in {"NOT", "MATERIALIZED"}:
            place += 1
        if is_query and self.tokens[place].text == "(":
            self._place = place
            self._levels.append(_Level(owner=part_of(owner)))
        else:
            self.is_odd = True

    # Relations

    def _relation(self, token: Token, level: _Level) -> None:
        """What stands behind FROM, JOIN or a comma."""
        behind = self._at(1)
        named = name_at(self.tokens, self._place)
        is_rows = token.word == "ROWS" and behind.word == "FROM"
        is_stream = token.word == "STREAM" and (behind.text == "(" or self._at(2).text == ".")
        if token.text == "(":
            is_query = behind.word in _STARTS | _STATEMENTS | {"TABLE"}
            self._levels.append(_Level(in_from=not is_query, expects=not is_query))
        elif token.word in _BEFORE or is_rows or (is_stream and self.dialect == "databricks"):
            level.expects = True
        elif token.word == "TABLE" and behind.text == "(":
            self._levels.append(_Level(in_from=True, expects=True))
            self._place += 1
        elif token.word == "VALUES":
            level.rows = True
        elif token.word in _KEYWORDS - {"IN"}:
            self.is_odd = True
            self._word(token, level)
        elif token.text == ".":
            level.expects = True
        elif token.kind == STRING:
            self.calls.setdefault(Call(token.text, _named_by(token.text[1:-1])))
        elif named is not None:
            self._named(*named, level)
        else:
            written = self.text[token.start :].split()
            self.calls.setdefault(Call(written[0]))

    def _named(self, name: Name, behind: int, level: _Level) -> None:
        function, given = name[-1].text.lower(), self.tokens[behind + 1]
        if self.tokens[behind].text == "(":
            if function == "identifier" and given.kind == STRING:
                self._name(_named_by(given.text[1:-1]))
            elif function not in HARMLESS:
                self._call(name, self._place, behind)
        elif self.tokens[behind].text == ":" and given.text != ":":  # alias: name
            level.expects = True
            behind += 1
        else:
            # Perhaps it is a list within a row: FROM people AS p, p.visits
            first = name[0].text.lower()
            is_path = len(name) > 1 and any(first in each.seen for each in self._levels)
            self._name(name, sure=not is_path)
            level.seen.add(function)
            self._aliases.add(function)
        self._place = behind - 1

    def _name(self, name: Name, *, sure: bool = True) -> None:
        if len(name) == 1:
            key = name[0].text.lower()
            for level in reversed(self._levels):
                if level.queries.get(key) == name[0].folded(self.dialect):
                    return
                is_own = level.owner is not None and level.owner.text.lower() == key
                sure = sure and not is_own and key not in level.queries
            sure = sure and key not in self._own
        self.names.setdefault(Read(name, sure))

    def _call(self, name: Name, place: int, behind: int) -> None:
        """A call of a function, which may read whatever it is given the name of."""
        depth, end = 0, behind
        for end in range(behind, len(self.tokens)):
            depth += (self.tokens[end].text == "(") - (self.tokens[end].text == ")")
            if not depth:
                break
        written = self.text[self.tokens[place].start : self.tokens[end].start + 1]
        self.calls.setdefault(Call(written, name))
        self.every_word(self.tokens[behind : end + 1], texts=True)

    def every_name(self) -> None:
        """Every name of several parts, wherever it stands, but of a column of what was seen."""
        end = 0
        for place, token in enumerate(self.tokens[:-1]):
            is_dotted = self.tokens[place + 1].text == "." or token.text[:1] == "`"
            named = name_at(self.tokens, place) if is_dotted and place >= end else None
            if named is not None:
                name, end = named
                is_alias = len(name) < 2 or name[0].text.lower() in self._aliases
                if not is_alias and Read(name) not in self.names:
                    self.names.setdefault(Read(name, False))

    def every_word(self, found: list[Token], *, texts: bool = False) -> None:
        """Every word that may be a name, within texts that are queries too, or within any."""
        place = 0
        while (token := found[place]) is not found[-1]:
            if token.kind == STRING:
                inner = token.text[1:-1].replace("''", "'")
                within = tokens(inner, self.dialect)
                if texts or _is_query(inner, within):
                    self.every_word(within)
            named = name_at(found, place)
            if named is None or token.word in _NO_NAMES:
                place += 1
                continue
            name, place = named
            if found[place].text != "(":
                self.names.setdefault(Read(name, False))
            elif is_reader(name[-1].text):
                self.calls.setdefault(Call(f"{name[-1].text}(…)", name))


def _defined(found: list[Token]) -> Iterator[Part]:
    """The names of queries: ``name AS [[NOT] MATERIALIZED] (``."""
    plain = [token for token in found if token.word not in {"NOT", "MATERIALIZED"}]
    for token, behind, opener in zip(plain, plain[1:], plain[2:], strict=False):
        if behind.word == "AS" and opener.text == "(" and token.kind in (WORD, QUOTED):
            yield part_of(token)


def _named_by(text: str) -> Name:
    """The relation that a text in the place of a name means; a file where it is none."""
    found = name_at(tokens(text), 0)
    return found[0] if found is not None else (Part(text, True),)

"""The relations that a plain text reads, without a parser.

A project of a thousand models is a thousand texts, and nearly all of them are plain: FROM and JOIN,
a name or a query behind each. Those are read here, at a tenth of the parser's time. Whatever is not
plain makes the answer None: then the parser reads the text. So nothing rests on what is not said
here, and a test compares the two readers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from policy_engine.dbt.lexing import (
    QUOTED,
    READERS,
    STRING,
    WORD,
    Token,
    name_at,
    part_of,
    tokens,
    words,
)
from policy_engine.dbt.naming import Name

# Signs that some engine reads as a quote, a comment or a parameter; a number with a word behind it.
_ODD_TEXT = re.compile(
    r"[\\#@{]|//|\$\w*\$|\|>|\[\[|/\*[^*]*/\*"
    r"|(?<![\w$])\d+(?:\.\d*)?(?:e[+-]?\d+)?[a-z_]",
    re.IGNORECASE,
)
_STRINGS_IN_DOUBLE_QUOTES = frozenset({"bigquery", "databricks", "mariadb", "mysql", "spark"})
_PATHS = frozenset({"bigquery", "redshift"})
"""Engines where a name behind FROM may be a list within a row."""

_ODD = words("""
    ALTER APPLY ARRAYJOIN ATTACH BEGIN CALL CHANGES COPY CREATE DECLARE DELETE DESC DESCRIBE DO EXEC
    EXECUTE EXPORT EXPLAIN FINAL FOR GRANT IMPORT INSERT INSTALL INTO LATERAL LOAD MATCH_RECOGNIZE
    MERGE MODEL ONLY OUTFILE PIVOT POSITIONAL PRAGMA PUT ROWS SET SHOW STRAIGHT_JOIN SUMMARIZE TABLE
    TRUNCATE UNLOAD UNPIVOT UPDATE USE VALUES
""")
_MAY_BE_COLUMNS = frozenset({"DESC", "FOR", "ROWS", "SET"})
_ENDS_FROM = words("""
    CLUSTER CONNECT DISTRIBUTE EXCEPT FETCH GROUP HAVING INTERSECT LIMIT MINUS OFFSET ORDER QUALIFY
    SELECT SORT START UNION WHERE WINDOW
""")
_BEHIND_RELATION = _ENDS_FROM | words("""
    ANTI ANY ASOF CROSS FULL GLOBAL INNER JOIN LEFT NATURAL ON OUTER RIGHT SAMPLE SEMI TABLESAMPLE
    USING WITH
""")
_NO_ALIAS_OF_WITH = frozenset({"TIME", "TIES", "ORDINALITY", "OFFSET", "ROLLUP", "CUBE", "NO"})
_HAVE_FROM = words("EXTRACT TRIM BTRIM SUBSTRING SUBSTR OVERLAY POSITION")
_KEYWORDS = _ODD | _ENDS_FROM | {"FROM", "JOIN", "WITH", "IN"} | {r.upper() for r in READERS}
"""Words that mean something here; all others are columns, functions and operators."""


@dataclass
class _Level:
    """What stands between a pair of parentheses."""

    opener: str = ""
    in_from: bool = False
    expects: bool = False
    selects: bool = False
    queries: dict[str, str] = field(default_factory=dict)
    owner: Name | None = None


class _NotPlain(Exception):
    """The parser must read it."""


def plain_reads(text: str, dialect: str) -> tuple[Name, ...] | None:
    """The relations that a query reads, or None where the text is not plain.

    >>> [shown[-1].text for shown in plain_reads("select * from a join (select 1 from b) c", "")]
    ['a', 'b']
    >>> plain_reads("select * from a, lateral f(a.x)", "")
    """
    if _ODD_TEXT.search(text) is not None:
        return None
    if dialect in _STRINGS_IN_DOUBLE_QUOTES and ('"' in text or "'''" in text):
        return None
    try:
        return _Reader(tokens(text), dialect).read()
    except _NotPlain:
        return None


class _Reader:
    def __init__(self, found: list[Token], dialect: str) -> None:
        self.tokens = found
        self.dialect = dialect
        self.place = 0
        self.levels = [_Level()]
        self.names: list[Name] = []

    def read(self) -> tuple[Name, ...]:
        if self.tokens and self.tokens[-1].text == ";":
            self.tokens.pop()
        while self.place < len(self.tokens):
            token = self.tokens[self.place]
            if token.kind != WORD or token.word in _KEYWORDS or self.levels[-1].expects:
                self._step(token)
            self.place += 1
        if len(self.levels) != 1 or self.levels[0].expects:
            raise _NotPlain
        return tuple(self.names)

    def _word(self, offset: int) -> str:
        place = self.place + offset
        return self.tokens[place].word if 0 <= place < len(self.tokens) else ""

    def _text(self, offset: int) -> str:
        place = self.place + offset
        return self.tokens[place].text if 0 <= place < len(self.tokens) else ""

    def _step(self, token: Token) -> None:
        level = self.levels[-1]
        if level.expects:
            self._relation(token, level)
        elif token.kind == WORD:
            self._keyword(token.word, level)
        elif token.text == "(":
            self.levels.append(_Level(self._word(-1)))
        elif token.text == ")":
            self._close()
        elif token.text == "," and level.in_from:
            level.expects = True
        elif token.kind == QUOTED:
            if self._text(1) == "(" and token.text.strip('"`').lower() in READERS:
                raise _NotPlain
        elif token.text in {";", "["} or (token.kind == STRING and self._text(-1) == "U"):
            raise _NotPlain

    def _close(self) -> None:
        closed = self.levels.pop()
        if not self.levels or closed.expects:
            raise _NotPlain
        if closed.owner is not None:
            part = closed.owner[0]
            self.levels[-1].queries[part.text.lower()] = part.folded(self.dialect)
            if self._text(1) == ",":
                self.place += 2
                self._query_name()

    def _keyword(self, word: str, level: _Level) -> None:
        if word.lower() in READERS and self._text(1) == "(":
            raise _NotPlain
        if self._text(-1) == "." or self._text(1) == ".":
            return
        if word in _ODD and not (word in _MAY_BE_COLUMNS and not level.in_from):
            raise _NotPlain
        if word == "SELECT":
            level.selects, level.in_from = True, False
        elif word == "FROM":
            self._from(level)
        elif word == "JOIN" and level.in_from:
            if self._word(-1) == "ARRAY":
                raise _NotPlain
            level.expects = True
        elif word == "WITH":
            self._with(level)
        elif word == "IN" and self._text(1) != "(":
            raise _NotPlain
        elif word in _ENDS_FROM:
            level.in_from = False

    def _from(self, level: _Level) -> None:
        if self._word(-1) == "DISTINCT" and self._word(-2) in {"IS", "NOT"}:
            return
        if level.selects:
            level.in_from = level.expects = True
        elif level.opener not in _HAVE_FROM:
            raise _NotPlain  # FROM before SELECT, or without one

    def _with(self, level: _Level) -> None:
        if level.in_from and self._word(1) not in {"ORDINALITY", "OFFSET"}:
            raise _NotPlain
        if self._text(1) == "(" or self._word(1) in _NO_ALIAS_OF_WITH:
            return
        self.place += 1
        if self._word(0) == "RECURSIVE" and self._word(1) not in {"AS", ""}:
            self.place += 1
        self._query_name()

    def _query_name(self) -> None:
        """``name [(columns)] AS [[NOT] MATERIALIZED] (``: the place stays on the parenthesis."""
        part = part_of(self.tokens[self.place]) if self.place < len(self.tokens) else None
        if part is None:
            raise _NotPlain
        self.place += 1
        if self._text(0) == "(":
            while self.place < len(self.tokens) and self._text(0) != ")":
                self.place += 1
            self.place += 1
        if self._word(0) != "AS":
            raise _NotPlain
        self.place += 1
        while self._word(0) in {"NOT", "MATERIALIZED"}:
            self.place += 1
        if self._text(0) != "(":
            raise _NotPlain
        self.levels.append(_Level(owner=(part,)))

    def _relation(self, token: Token, level: _Level) -> None:
        level.expects = False
        if token.text == "(":
            inner = _Level()
            self.levels.append(inner)
            if self._word(1) not in {"SELECT", "WITH"} and self._text(1) != "(":
                inner.in_from = inner.expects = True
            return
        if token.kind not in {WORD, QUOTED} or token.word in _KEYWORDS | _BEHIND_RELATION:
            raise _NotPlain
        found = name_at(self.tokens, self.place)
        if found is None or token.word in {"UNNEST", "FLATTEN"}:
            raise _NotPlain
        name, behind = found
        is_path = len(name) > 1 and not name[0].quoted
        if is_path and (self._text(-1) == "," or self.dialect in _PATHS):
            raise _NotPlain  # perhaps a list within a row: FROM people p, p.visits
        self.place = behind - 1
        self._alias()
        self._note(name)

    def _alias(self) -> None:
        """``[AS] alias``, and then nothing but what may stand behind a relation."""
        if self._text(1) in {"(", ".", "-", ":", "*", "!"}:
            raise _NotPlain
        if self._word(1) == "AS":
            self.place += 1
        token = self.tokens[self.place + 1] if self.place + 1 < len(self.tokens) else None
        if token is None or token.word in _BEHIND_RELATION:
            return
        if token.kind in {WORD, QUOTED}:
            self.place += 1
        if self._text(1) not in {"", ",", ")", "(", ";"} and self._word(1) not in _BEHIND_RELATION:
            raise _NotPlain

    def _note(self, name: Name) -> None:
        if len(name) == 1:
            key = name[0].text.lower()
            for level in reversed(self.levels):
                if level.owner is not None and level.owner[0].text.lower() == key:
                    raise _NotPlain  # it reads itself, or a table of its own name
                if key in level.queries:
                    if level.queries[key] != name[0].folded(self.dialect):
                        raise _NotPlain
                    return
        self.names.append(name)

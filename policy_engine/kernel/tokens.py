"""Texts compared token by token: white space and plain comments are free, all else is not.

Two texts of equal tokens are read alike by an engine, for what is free is only what every engine
skips: blank, tab, line feed, carriage return; ``-- `` up to the end of its line, without a
backslash, by which Spark goes on in the next; ``/* … */`` that starts with a blank and holds
neither a comment nor a sign of quoting, at which DuckDB begins a text. What touches what must touch
in both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from policy_engine.engines import ENGINES
from policy_engine.engines.base import Engine
from policy_engine.kernel.mechanisms.common import STEPS
from policy_engine.kernel.sources import OURS

_LINE = r"--(?:[ \t][^\r\n\0\\]*)?(?:\r?\n|\Z)"
_BLOCK = r"/\*(?=[ \n])(?:(?!\*/|/\*|--)[^\0\\'\"`$])*\*/"
_SKIPPED = rf"(?:[ \t\n]|\r\n|{_LINE}|{_BLOCK})+"
_NAMES = STEPS | {"unit", "salt", "release_id", "rowid", "file_row_number"}
"""Names that a template writes without quotes: of another case it is another's on some engines."""
SPACE = "space"
_LOOSE = frozenset("(),")
_STRINGS = {
    "plain": r"'(?:[^'\0]|'')*'",
    "refused": r"'(?:[^'\\\0]|'')*'",
    "escapes": r"'(?:[^'\\\0]|\\[\\'nr])*'",
    "prefixed": r"E'(?:[^'\\\0]|''|\\\\)*'|'(?:[^'\\\0]|'')*'",
}


class Unreadable(ValueError):
    """A sign that no printed text has outside quotes."""


@lru_cache(maxsize=4)
def tokens(text: str, engine: str) -> tuple[str, ...]:
    """The tokens of a text; one that touches the token before it says so where that could matter.

    Raises:
        Unreadable: it has a sign that no printed text has.

    >>> tokens("select 1 -- one", "duckdb") == tokens("SELECT\\n1", "duckdb")
    True
    >>> tokens("SELECT 'a'", "duckdb") == tokens("SELECT 'A'", "duckdb")
    False
    """
    form = ENGINES[engine]
    found, touches, last = [], False, ""
    for kind, piece in pieces(text, engine):
        if kind == SPACE:
            touches = False
            continue
        folds = kind == "word" and form.case != "exact" and not _is_name(piece.lower())
        token = piece.upper() if folds else piece
        matters = not {last, token} & _LOOSE or (token == "(" and last[-1:].isalnum())
        found.append(f"{'+' if touches and matters else ' '}{token}")
        last, touches = token, True
    return tuple(found)


def pieces(text: str, engine: str) -> Iterator[tuple[str | None, str]]:
    """All of a text, piece by piece, each with its kind.

    Raises:
        Unreadable: it has a sign that no printed text has.

    >>> list(pieces("1 -- one", "duckdb"))
    [('number', '1'), ('space', ' -- one')]
    """
    read, place = _pattern(ENGINES[engine]), 0
    while place < len(text):
        match = read.match(text, place)
        if match is None:
            raise Unreadable(f"the character {text[place]!r} at {place}")
        yield match.lastgroup, match[0]
        place = match.end()


def _is_name(word: str) -> bool:
    return word in _NAMES or word.startswith(OURS)


@lru_cache
def _pattern(engine: Engine) -> re.Pattern[str]:
    first, last = re.escape(engine.quote), re.escape(engine.closing or engine.quote)
    secret = rf"(?P<secret>{re.escape(engine.secret)}(?![A-Za-z0-9_]))|" if engine.secret else ""
    return re.compile(
        rf"(?P<space>{_SKIPPED})|(?P<string>{_STRINGS[engine.backslash]})"
        rf"|(?P<name>{first}(?:[^{last}\0]|{last}{last})+{last})|{secret}"
        r"(?P<word>[A-Za-z_][A-Za-z0-9_]*)|(?P<number>[0-9]+(?:\.[0-9]+)?(?![A-Za-z0-9_.]))"
        r"|(?P<sign><=|>=|<>|\|\||[-+*/%<>=.,:()])",
        re.DOTALL,
    )

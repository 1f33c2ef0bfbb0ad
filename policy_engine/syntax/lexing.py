"""A lexical guard: the text must mean the same to every reader of it.

The proof parses with sqlglot, DuckDB with its own parser. Where the two could cut a
text into different tokens (nested comments, escape strings, dollar quotes, odd white space),
a proof about one reading says nothing about the other, so such a text is refused before it
is parsed, and the tokens of both readings are compared.
"""

from __future__ import annotations

import re

from sqlglot.dialects.duckdb import DuckDB
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token

from policy_engine.syntax.findings import Position, place_of

_TOKEN = re.compile(
    r"""
    (?P<string>'(?:[^']|'')*')
  | (?P<name>"(?:[^"]|"")+")
  | (?P<line>--[^\r\n]*(?:\r?\n|$))
  | (?P<block>/\*.*?\*/)
  | (?P<word>[^\W\d]\w*)
  | (?P<number>[0-9]+(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?(?![\w.]))
  | (?P<space>(?:[ \t\n]|\r\n)+)
  | (?P<sign>[(),.:;?\[\]]|\$(?=[A-Za-z0-9_]+(?!\w|\$)))
  | (?P<operator>(?:(?!--|/\*)[-+*/%<>=!|~@&^\#])+)
    """,
    re.VERBOSE | re.DOTALL,
)
# A minus may follow directly, as in x=-1; a longer operator is one that parsers disagree on.
_OPERATORS = frozenset(
    {"+", "-", "*", "/", "//", "%", "<", ">", "=", "==", "<>", "!=", "<=", ">=", "||", "~", "!~"}
)
# The parser's time grows with the square of a chain of them.
_MOST_BRACKETS = 200
# A quote that follows one of these directly opens an escape, bit, hex or national string.
_STRING_PREFIXES = frozenset({"e", "b", "x", "n", "u"})

# A name in the first place of these is a column to the engine, and a unit to the parser.
_OF_A_UNIT = frozenset({"date_trunc", "datetrunc", "date_diff", "datediff"})


def without_hints(text: str) -> str:
    """``text``, of the same length, its hints plain comments, which they are to the engine.

    >>> without_hints("select /*+ fast */ '/*+' from t")
    "select /*  fast */ '/*+' from t"
    """
    return _TOKEN.sub(
        lambda m: m[0].replace("/*+", "/* ") if m.lastgroup == "block" else m[0], text
    )


def tokens_of(text: str) -> list[Token]:
    """The parser's own tokens of a text; none where it finds no end of one."""
    try:
        return DuckDB().tokenizer().tokenize(text)
    except SqlglotError:
        return []


def lexical_oddity(text: str, tokens: list[Token]) -> tuple[str, Position] | None:
    """The first place where readers of ``text`` could disagree, and what stands there.

    ``tokens`` are the parser's: they must cut the text as the kernel does.
    """
    spoken: list[str] = []
    offset, touching = 0, ""
    while offset < len(text):
        match = _TOKEN.match(text, offset)
        if match is None:
            return f"the character {text[offset]!r} outside quotes", place_of(offset, text)
        kind, token = match.lastgroup or "", match.group()
        odd = _oddity(kind, token, touching, spoken[-2:]) if kind != "space" else None
        if odd:
            return odd, place_of(offset, text)
        offset, touching = match.end(), token
        if kind not in {"line", "block", "space"}:
            spoken.append(token)
    if spoken.count("[") > _MOST_BRACKETS:
        return f"more than {_MOST_BRACKETS} brackets", (1, 1)
    # What the parser's own tokenizer leaves of a text: all but comments and white space, which
    # GROUP BY, one token, has in it.
    pieces = (text[token.start : token.end + 1] for token in tokens)
    cut = (piece if piece[:1] in {"'", '"'} else "".join(piece.split()) for piece in pieces)
    differs = "".join(spoken) != "".join(cut)
    return ("text that two parsers cut differently", (1, 1)) if differs else None


def _oddity(kind: str, token: str, touching: str, before: list[str]) -> str | None:
    """What is odd about a token, given the text it touches and the two tokens before."""
    if kind == "block" and "/*" in token[2:]:
        return "a nested comment"
    if kind == "string" and touching.lower() in _STRING_PREFIXES:
        return "a string with a prefix"
    last = before[-1] if before else ""
    if kind == "string" and (last == "." or last.startswith("'")):
        return "a string that stands for a name, or behind another"
    if last == "," and token in {",", ")"}:
        return "a comma without anything behind it"
    if kind == "string" and last.lower() == "as":
        return "a string that stands for a name"
    if token.lower() == "as" and last.lower() in {"select", ",", "("}:
        return "a name for nothing"
    if token == "." and last.lower() in {"from", "join", ","}:
        return "a name without its first part"
    if kind == "operator" and not {token, token.removesuffix("-")} & _OPERATORS:
        return f"the operator {token}"
    called = before[0].strip('"').lower() if last == "(" else ""
    if called in _OF_A_UNIT and kind not in {"string", "space", "line", "block"}:
        return f"{called} of a unit that is no text"
    return "a NUL character" if "\x00" in token else None

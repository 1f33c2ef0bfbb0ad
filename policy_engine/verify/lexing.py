"""A lexical guard: the text must mean the same to every reader of it.

The kernel parses with sqlglot, the engine with its own parser. Where the two could cut a
text into different tokens (nested comments, escape strings, dollar quotes, odd white space),
a proof about one reading says nothing about the other, so such a text is refused before it
is parsed, and the quoted tokens of both readings are compared.
"""

from __future__ import annotations

import re

from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token, TokenType
from sqlglot.tokens import Tokenizer as SqlglotTokenizer

from policy_engine.verify.findings import Findings
from policy_engine.verify.positions import Position

_TOKEN = re.compile(
    r"""
    (?P<string>'(?:[^']|'')*')
  | (?P<name>"(?:[^"]|"")+")
  | (?P<line>--[^\r\n]*(?:\r?\n|$))
  | (?P<block>/\*.*?\*/)
  | (?P<word>[^\W\d]\w*)
  | (?P<number>[0-9][A-Za-z0-9_.]*)
  | (?P<space>(?:[ \t\n]|\r\n)+)
  | (?P<sign>[-!%()*+,./:;<=>?@|~\[\]]|\$(?=[A-Za-z0-9_]+(?!\w|\$)))
    """,
    re.VERBOSE | re.DOTALL,
)
# A quote that follows one of these directly opens an escape, bit, hex or national string.
_STRING_PREFIXES = frozenset({"e", "b", "x", "n", "u"})


def _place(text: str, offset: int) -> Position:
    return (text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset))


def lexical_findings(text: str, tokenizer: SqlglotTokenizer, findings: Findings) -> None:
    """Add a V02 finding for every place where readers of ``text`` could disagree."""
    quoted: list[str] = []
    offset, previous = 0, ""
    while offset < len(text):
        match = _TOKEN.match(text, offset)
        if match is None:
            findings.add(
                "V02", f"the character {text[offset]!r} outside quotes", _place(text, offset)
            )
            return
        kind, token = match.lastgroup or "", match.group()
        if kind == "block" and ("/*" in token[2:] or token.startswith("/*+")):
            findings.add("V02", "a nested comment or a hint", _place(text, offset))
            return
        if kind == "string" and previous.lower() in _STRING_PREFIXES:
            findings.add("V02", "a string with a prefix", _place(text, offset))
            return
        if kind in {"string", "name"}:
            quoted.append(token)
        if "\x00" in token:
            findings.add("V02", "a NUL character", _place(text, offset))
            return
        offset, previous = match.end(), token if kind in {"word", "number"} else ""
    if not findings and quoted != _quoted_tokens(text, tokenizer):
        findings.add("V02", "quotes that two parsers read differently", (1, 1))


def _quoted_tokens(text: str, tokenizer: SqlglotTokenizer) -> list[str] | None:
    try:
        tokens = tokenizer.tokenize(text)
    except SqlglotError:
        return None
    return [text[t.start : t.end + 1] for t in tokens if _is_quoted(t, text)]


def _is_quoted(token: Token, text: str) -> bool:
    if token.token_type == TokenType.STRING:
        return True
    return token.token_type == TokenType.IDENTIFIER and text[token.start] == '"'

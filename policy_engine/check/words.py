"""The tokens of a printed text, taken apart by what a printer puts where."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal, InvalidOperation
from typing import TypeVar

from policy_engine.engines import ENGINES
from policy_engine.kernel.tokens import Unreadable, tokens

Words = tuple[str, ...]
T = TypeVar("T")

_DEEPER, _HIGHER = frozenset({"(", "CASE"}), frozenset({")", "END"})
_ESCAPES = {"n": "\n", "r": "\r"}


def words_of(text: str, engine: str) -> Words:
    """The tokens of a text without what they touch; none where it has a sign that is not printed.

    >>> words_of("select 1 -- one", "duckdb")
    ('SELECT', '1')
    """
    try:
        return tuple(token[1:] for token in tokens(text, engine))
    except Unreadable:
        return ()


def level(words: Sequence[str]) -> Iterator[tuple[int, str]]:
    """The places of words that stand in no parentheses and in no CASE."""
    depth = 0
    for place, word in enumerate(words):
        depth -= word.upper() in _HIGHER
        if depth == 0:
            yield place, word
        depth += word.upper() in _DEEPER


def split(words: Words, at: str) -> list[Words]:
    """The parts between words ``at`` that stand in no parentheses.

    >>> split(("a", ",", "(", "b", ",", "c", ")"), ",")
    [('a',), ('(', 'b', ',', 'c', ')')]
    """
    places = [place for place, word in level(words) if word == at]
    return [
        words[start:end]
        for start, end in zip([0, *(p + 1 for p in places)], [*places, len(words)], strict=True)
    ]


def until(words: Words, *stops: str) -> tuple[Words, Words]:
    """What stands before the first of ``stops``, and the rest with it."""
    place = next((place for place, word in level(words) if word in stops), len(words))
    return words[:place], words[place:]


def first_of(words: Words, terms: Iterable[tuple[T, Words]]) -> tuple[list[T], Words]:
    """What the longest of the terms that are the first of a list are of; and the rest of it."""
    fitting = [
        (each, len(term))
        for each, term in terms
        if words[: len(term)] == term and words[len(term) :][:1] in ((), (",",))
    ]
    longest = max(length for _, length in fitting)
    return [each for each, length in fitting if length == longest], words[longest + 1 :]


def closes(words: Words, opens: int) -> int:
    """The place of the parenthesis that closes the one at ``opens``; past the end without one."""
    depth = 0
    for place in range(opens, len(words)):
        depth += (words[place] == "(") - (words[place] == ")")
        if depth == 0:
            return place
    return len(words)


def name_in(word: str, engine: str) -> str | None:
    """The name in quotes that a word is.

    >>> name_in('"it""s"', "duckdb"), name_in("it", "duckdb")
    ('it"s', None)
    """
    form = ENGINES[engine]
    last = form.closing or form.quote
    if len(word) < 3 or not (word.startswith(form.quote) and word.endswith(last)):
        return None
    return word[1:-1].replace(last + last, last)


def names_in_turn(words: Words, engine: str) -> tuple[str, ...]:
    """The names in quotes among words, in their order."""
    return tuple(name for word in words if (name := name_in(word, engine)) is not None)


def names_in(words: Words, engine: str) -> tuple[str, ...]:
    """The names in quotes among words, each once."""
    return tuple(dict.fromkeys(names_in_turn(words, engine)))


def text_in(word: str, engine: str) -> str | None:
    """The text in quotes that a word is.

    >>> text_in("'it''s'", "duckdb"), text_in("it", "duckdb")
    ("it's", None)
    """
    if not word.endswith("'") or not word.startswith(("'", "E'")):
        return None
    bare = word[word.index("'") + 1 : -1].replace("''", "'")
    if ENGINES[engine].backslash == "escapes":
        return re.sub(r"\\(.)", lambda m: _ESCAPES.get(m[1], m[1]), bare, flags=re.DOTALL)
    return bare.replace("\\\\", "\\") if word.startswith("E") else bare


def texts_in(words: Words, engine: str) -> tuple[str, ...]:
    """The texts in quotes among words."""
    found = (text_in(word, engine) for word in words)
    return tuple(text for text in found if text is not None)


def numbers_in(words: Words) -> tuple[str, ...]:
    """The numbers among words, each with its sign.

    >>> numbers_in(("<", "-", "5", ",", "2.5"))
    ('-5', '2.5')
    """
    return tuple(
        ("-" if place and words[place - 1] == "-" else "") + word
        for place, word in enumerate(words)
        if word[0].isdigit()
    )


_MOST_DIGITS = 100
"""No engine holds a number of so many digits: 1e999999 would have a million of them."""


def number_of(text: str) -> Decimal | None:
    """The number that a text is, if an engine could hold one like it.

    >>> number_of("-2.50"), number_of("1e999999"), number_of("ten"), number_of("NaN")
    (Decimal('-2.50'), None, None, None)
    """
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    if not number.is_finite() or abs(number.adjusted()) > _MOST_DIGITS:
        return None
    return number if len(number.as_tuple().digits) <= _MOST_DIGITS else None

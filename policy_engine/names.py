"""Names as the engine compares them: by ASCII letters without case, all else exactly."""

from __future__ import annotations

import re
from collections.abc import Iterable
from string import ascii_lowercase, ascii_uppercase

_FOLDING = str.maketrans(ascii_uppercase, ascii_lowercase)


def fold(name: str) -> str:
    """``name`` in the form in which the engine compares names.

    Python's ``lower`` would make one name of several: KELVIN SIGN becomes a plain k.

    >>> fold("Zip"), fold("\\u212a") == fold("k")
    ('zip', False)
    """
    return name.translate(_FOLDING)


def parts_of(written: str, quote: str = '"', closing: str = "") -> tuple[str, ...]:
    """The parts of a relation's name as it is written: plain, or in an engine's quotes.

    A quote stands at a part's beginning and end, or is a sign like any other.

    >>> parts_of("main.people"), parts_of('"a.b"."c d"'), parts_of("`it``s`.t", "`")
    (('main', 'people'), ('a.b', 'c d'), ('it`s', 't'))
    >>> parts_of('"main.people')
    ('"main', 'people')
    """
    last = closing or quote
    start, end = re.escape(quote), re.escape(last)
    part = re.compile(rf"{start}((?:[^{end}]|{end}{end})+){end}(?=\.|$)|([^.]*)(?=\.|$)")
    found, place = [], 0
    while place <= len(written):
        match = part.match(written, place)
        assert match is not None  # what stands before the next dot always fits
        quoted, plain = match.groups()
        found.append(plain if quoted is None else quoted.replace(last + last, last))
        place = match.end() + 1
    return tuple(found)


def dotted(parts: Iterable[str]) -> str:
    """The name of a relation; a part that holds a dot or quote is quoted.

    >>> dotted(["main", "a.b"])
    'main."a.b"'
    """
    return ".".join(
        '"' + part.replace('"', '""') + '"' if set(part) & set('."') else part for part in parts
    )

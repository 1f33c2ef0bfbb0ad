"""Names as the engine compares them: by ASCII letters without case, all else exactly."""

from __future__ import annotations

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


def dotted(parts: Iterable[str]) -> str:
    """The name of a relation; a part that holds a dot or quote is quoted.

    >>> dotted(["main", "a.b"])
    'main."a.b"'
    """
    return ".".join(
        '"' + part.replace('"', '""') + '"' if set(part) & set('."') else part for part in parts
    )

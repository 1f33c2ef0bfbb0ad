"""Names as the engine compares them: by ASCII letters without case, all else exactly."""

from __future__ import annotations

from string import ascii_lowercase, ascii_uppercase

from sqlglot import exp

_FOLDING = str.maketrans(ascii_uppercase, ascii_lowercase)


def fold(name: str) -> str:
    """``name`` in the form in which the engine compares names.

    Python's ``lower`` would make one name of several: KELVIN SIGN becomes a plain k.

    >>> fold("Zip"), fold("\\u212a") == fold("k")
    ('zip', False)
    """
    return name.translate(_FOLDING)


def dotted(parts: list[exp.Expr]) -> str:
    """The name of a relation; a part that holds a dot or quote is quoted.

    >>> dotted([exp.to_identifier("main"), exp.to_identifier("a.b")])
    'main."a.b"'
    """
    return ".".join(_shown(part.name) for part in parts)


def _shown(name: str) -> str:
    if not set(name) & set('."'):
        return name
    return '"' + name.replace('"', '""') + '"'

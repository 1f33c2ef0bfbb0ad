"""The text of a model, alike for the engine and for the macros of the package."""

from __future__ import annotations

import hashlib
import re

_PART = r"(?:\"[^\"]+\"|`[^`]+`|\[[^\]]+\]|[^\s.\"`\[\]()',;]+)"
_SECRETS = re.compile(
    rf"select\s+[\"`\[]?salt[\"`\]]?\s+from\s+({_PART}(?:\.{_PART})*)", re.IGNORECASE
)


def plain(text: str) -> str:
    """A text without what does not matter around it, its lines ended as on Unix.

    >>> plain(" select 1\\r\\n")
    'select 1'
    """
    return text.strip().replace("\r\n", "\n")


def text_md5(text: str) -> str:
    """The digest by which dbt notices that a text was changed, as its ``local_md5`` gives it.

    It proves nothing.

    >>> text_md5("select 1\\r\\n") == text_md5(" select 1")
    True
    """
    return hashlib.md5(plain(text).encode(), usedforsecurity=False).hexdigest()


def secrets_read(text: str) -> str:
    """The secrets relation that a text reads, as it writes it; empty where it reads none.

    >>> secrets_read("… < (SELECT salt FROM main.salts WHERE release_id = 'towns_v1')")
    'main.salts'
    """
    found = _SECRETS.search(text)
    return found[1] if found is not None else ""

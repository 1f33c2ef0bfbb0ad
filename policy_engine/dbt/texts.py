"""The text of a model, alike for the engine and for the macros of the package."""

from __future__ import annotations

import hashlib


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

"""Texts of models, alike for the engine and for the macros of the package.

dbt renders SQL and YAML: they are templates to it, and a label is not.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

_OPENS = re.compile(r"\{(?=[{%#])")
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


def on_one_line(text: str) -> str:
    """A text with one blank in the place of each of its gaps.

    >>> on_one_line(" a\\n  b")
    'a b'
    """
    return " ".join(text.split())


def read(file: Path) -> str:
    """The text of a file; empty where it cannot be read."""
    try:
        return file.read_text("utf-8", errors="replace")
    except OSError:
        return ""


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


def escaped(text: str) -> str:
    """``text`` as a template that renders to it, in dbt 1 (Jinja) and 2 (minijinja) alike.

    >>> escaped("{{ x }} {% if %} {")
    '{{ "{" }}{ x }} {{ "{" }}% if %} {'
    """
    return _OPENS.sub('{{ "{" }}', text)


def opens(text: str) -> bool:
    """Whether some of a text would be taken for a template."""
    return _OPENS.search(text) is not None


def spaced(text: str) -> str:
    """A text for readers in which nothing can be taken for a template.

    The versions of dbt render a description once, twice or never: escapes would show in some.

    >>> spaced("{{ x }}")
    '{ { x }}'
    """
    return _OPENS.sub("{ ", text)

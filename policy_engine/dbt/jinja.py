"""Text that dbt renders: SQL and YAML are templates to it, and a label is not."""

from __future__ import annotations

import re

_OPENS = re.compile(r"\{(?=[{%#])")


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

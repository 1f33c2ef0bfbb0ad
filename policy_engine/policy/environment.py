"""Values from the environment: ``{{ env_var('X') }}``, or ``{{ env_var('X', 'default') }}``."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from urllib.parse import quote

Told = Callable[[str, str], None]

_BRACES = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)
_ENV_VAR = re.compile(
    r"""\s*env_var\(\s*(?P<q>['"])(?P<name>[^'"]+)(?P=q)"""
    r"""(\s*,\s*(?P<r>['"])(?P<default>[^'"]*)(?P=r))?\s*\)\s*"""
)


def filled(text: str, environ: Mapping[str, str], refuse: Told, lacks: Told | None = None) -> str:
    """``text`` with the environment's values in it; ``refuse`` is told what is wrong and mends it.

    Where ``lacks`` is given, it is told of a variable that is not set, whose place stays as it is.
    A user or a password in a URL is a part of it, whatever it holds, and never its syntax.

    >>> filled("{{ env_var('USER') }}@db", {"USER": "ada"}, print)
    'ada@db'
    >>> filled("postgresql://ada:{{ env_var('P') }}@db", {"P": "a@b/c"}, print)
    'postgresql://ada:a%40b%2Fc@db'
    """

    def value(found: re.Match[str]) -> str:
        call = _ENV_VAR.fullmatch(found[1])
        if call is None:
            refuse("holds {{ … }} that is not env_var('NAME')", "")
            return "unread"
        given = environ.get(call["name"], call["default"])
        if given is None:
            remedy = f"set it, or give a default: env_var('{call['name']}', '…')"
            (lacks or refuse)(f"needs the environment variable {call['name']}", remedy)
            return found[0] if lacks is not None else "unread"
        is_login = "://" in text[: found.start()] and "@" in text[found.end() :]
        return quote(given, safe="") if is_login else given

    return _BRACES.sub(value, text)

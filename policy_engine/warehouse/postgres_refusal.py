"""Why PostgreSQL does not connect, or lets the role do something: its words are looked through.

Told are our words, and of the URL the place, the database and the role; a password, or what could
be a part of one, is not.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import psycopg
from psycopg.conninfo import conninfo_to_dict

from policy_engine.errors import WarehouseError

_REASONS: Mapping[str, str] = {
    "password authentication failed": "the role or its password is wrong",
    "no password supplied": "the role needs a password: write it into the url as"
    " {{ env_var('…') }}, or set PGPASSWORD",
    "role .* does not exist": "there is no such role",
    "not permitted to log in": "the role may not log in",
    "no pg_hba.conf entry": "the server lets no such role in from here, or only with"
    " ?sslmode=require; see its pg_hba.conf",
    "authentication failed": "the server does not let the role in",
    "database .* does not exist": "there is no such database",
    "permission denied for database": "the role may not connect to this database",
    "too many connections|remaining connection slots": "the server has no connection left",
    "starting up|shutting down": "the server is starting or stopping; try again",
    "server does not support SSL": "the server has no TLS, which sslmode asks for",
    "certificate|SSL|TLS": "TLS failed; see sslmode and sslrootcert in the url",
    "resolve host|translate host|Name or service not known": "there is no such host",
    "Connection refused|No such file or directory": "nothing listens there",
    "timeout expired|timed out|unreachable|No route": "the server does not answer",
}
"""What may be said, by what the driver or the server said."""
_DENIED = re.compile(
    r"permission denied for (schema|table|view|materialized view|relation|database|function) (.+)"
)
_NEEDS = {
    "schema": "USAGE on it, and CREATE to release into it",
    "database": "CONNECT",
    "function": "EXECUTE",
}
# Of a URL that holds a sign of its syntax in a password, a part could be one.
_PLAIN = re.compile(r"[\w.,:/ \[\]-]*")


def refused(name: str, url: str, error: psycopg.Error) -> WarehouseError:
    """The error of a connection that failed."""
    said = str(error)
    error.args = ()
    why = next((told for words, told in _REASONS.items() if re.search(words, said)), None)
    why = why or "PostgreSQL does not answer, or refuses the role"
    return WarehouseError(f"warehouse {name}: {why}{_place(url)}")


def denied(error: psycopg.Error, role: str) -> WarehouseError | None:
    """The error of a right that a role lacks, with what the server names, of its catalog."""
    found = _DENIED.fullmatch(error.diag.message_primary or "")
    if found is None:
        return None
    kind, name = found.groups()
    needs = _NEEDS.get(kind, "SELECT on the columns that the policy reads")
    error.args = ()
    return WarehouseError(f"the role{role} may not use the {kind} {name}; it needs {needs}")


def _place(url: str) -> str:
    """Where a URL leads, as whom; empty where a part of it could be one of a password."""
    try:
        given = {key: str(value) for key, value in conninfo_to_dict(url).items()}
    except psycopg.Error:
        return ""
    named = {
        "host": given.get("host") or given.get("hostaddr"),
        "port": given.get("port"),
        "database": given.get("dbname"),
        "role": given.get("user"),
    }
    if not all(_PLAIN.fullmatch(value) for value in named.values() if value):
        return "; in its url a sign that is no letter or digit is written as %40"
    told = ", ".join(f"{key} {value}" for key, value in named.items() if value)
    return f" ({told})" if told else ""

"""A session of MariaDB: its URL, what it is pinned to, and what may be said of its errors.

The session is pinned before anything is asked of it: texts by their bytes, one time zone, sorting
to the last byte, and no strict mode: there a warning about one row ends a statement that makes a
table, which would tell that the row exists (measured: 1292 for a zero date).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import pymysql  # type: ignore[import-untyped]  # it has none
from pymysql import converters

from policy_engine.errors import WarehouseError
from policy_engine.warehouse import failures

PINNED = (
    "SET NAMES utf8mb4 COLLATE utf8mb4_nopad_bin",
    "SET SESSION sql_mode = 'ONLY_FULL_GROUP_BY,NO_ENGINE_SUBSTITUTION'",
    "SET SESSION time_zone = '+00:00'",
    # Without it texts that are alike in 1,024 bytes have no order.
    "SET SESSION max_sort_length = 8388608",
    "SET SESSION sql_select_limit = DEFAULT",
    "SET SESSION sql_auto_is_null = 0",
    "SET SESSION system_versioning_asof = DEFAULT",
    "SET SESSION slow_query_log = 0",  # it would have the secret
    "SET SESSION max_statement_time = 0",
    "SET SESSION lock_wait_timeout = 30",
    "SET SESSION innodb_lock_wait_timeout = 30",
    "SET SESSION default_storage_engine = InnoDB",
    "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ",
)
HOLDING = (
    "SET SESSION idle_transaction_timeout = 0",
    "SET SESSION idle_readonly_transaction_timeout = 0",
    "SET SESSION wait_timeout = 31536000",
    "START TRANSACTION",
)
"""How a session begins to hold what it reads as it is, however long it waits."""
_SCHEMES = ("mariadb", "mysql")
_OPTIONS = {"socket": "unix_socket", "ssl_ca": "ssl_ca"}
WRITES = ("SELECT", "INSERT", "CREATE", "ALTER", "DROP")
"""What a role may do in the schema that it releases into."""
_DENIED = (
    "the role may not do this; it needs SELECT on the source, and in the schema of a table that is"
    f" released {', '.join(WRITES)}"
)
_LOST = "the connection to the server was lost; nothing was published, and what stood stands"
_FULL = "the server's disk is full; nothing was published"
_LOCKED = "another session holds a lock; try again later"
READ_ONLY = "the server is read-only; release to a file, or from a server that can be written"
_TOLD = {
    **dict.fromkeys((1044, 1142, 1143, 1227, 1370), _DENIED),
    **dict.fromkeys((2003, 2006, 2013, 2014, 2055, 1053, 1927), _LOST),
    **dict.fromkeys((1021, 1114, 1041), _FULL),
    **dict.fromkeys((1205, 1213), _LOCKED),
    **dict.fromkeys((1290, 1792, 1836), READ_ONLY),
    **dict.fromkeys((1317, 1969, 3024), "the server cancelled the query"),
    1050: "the target has come to be meanwhile; nothing was published: use --replace to release"
    " anew, at a new price",
    1166: "a released column has a name that the server refuses; give it another",
}
"""What may be said of an error by its number: none of these quotes a row."""
_AWAY = "nothing listens there, or it does not answer"
_UNCONNECTED = {
    **dict.fromkeys((1045, 1698), "the user or its password is wrong"),
    **dict.fromkeys((2002, 2003, 2013), _AWAY),
    1044: "the user may not use this database",
    1049: "there is no such database",
    1040: "the server has no connection left",
    1130: "the server lets no user in from here",
    2026: "TLS failed; see ssl_ca in the url",
}
"""Why a server does not connect, by the number of its error or the driver's."""
_KINDS = {code: type(f"Error{code}", (pymysql.Error,), {}) for code in _TOLD}
_MACHINE = tuple((kind, _TOLD[code]) for code, kind in _KINDS.items())


@contextmanager
def withheld() -> Iterator[None]:
    """Turn an error of the driver or the server into one that quotes nothing.

    Raises:
        WarehouseError: in place of it.
    """
    with failures.withheld(engine=(pymysql.Error,), machine=_MACHINE):
        try:
            yield
        except pymysql.Error as error:
            kind = _KINDS.get(error.args[0] if error.args else 0)
            if kind is None:
                raise
            raise kind() from error


def arguments(name: str, url: str) -> dict[str, Any]:
    """What a URL says to the driver.

    Raises:
        WarehouseError: it is no such URL.

    >>> arguments("db", "mariadb://ann@localhost/work?socket=/run/s")["unix_socket"]
    '/run/s'
    """
    try:
        parts = urlsplit(url)
        options = {_OPTIONS[key]: value for key, value in parse_qsl(parts.query)}
        port = parts.port or 3306
    except (KeyError, ValueError):
        parts = None
    if parts is None or parts.scheme not in _SCHEMES or not parts.hostname or not parts.username:
        raise WarehouseError(
            f"warehouse {name}: the url must be as mariadb://user@host:3306/database, with"
            " socket or ssl_ca behind it where they are needed"
        )
    return {
        "host": parts.hostname,
        "port": port,
        "user": unquote(parts.username),
        "password": unquote(parts.password or ""),
        "database": unquote(parts.path.lstrip("/")) or None,
        **options,
    }


def _why(error: Exception) -> str:
    """Why the server does not connect, in our words."""
    told = _UNCONNECTED.get(error.args[0] if error.args else 0)
    if told is _AWAY and re.search("Name or service|resolve|getaddrinfo", str(error)):
        return "there is no such host"
    return told or "MariaDB does not answer at its url, or refuses the role"


def connect(name: str, url: str) -> pymysql.Connection[Any]:
    """A pinned session, its values as the texts that the server sends.

    Raises:
        WarehouseError: the server does not answer, refuses the role, or is none of MariaDB's.
    """
    given = arguments(name, url)
    encoders = dict(converters.encoders)
    try:
        connection = pymysql.connect(
            **given, charset="utf8mb4", autocommit=True, connect_timeout=10, conv=encoders
        )
    except (pymysql.Error, OSError, RuntimeError) as error:
        why = _why(error)
        error.args = ()
        keys = ("host", "port", "database", "user")
        place = ", ".join(f"{key} {given[key]}" for key in keys if given[key])
        raise WarehouseError(f"warehouse {name}: {why} ({place})") from None
    try:
        _check_version(name, str(connection.get_server_info()))
        with withheld(), connection.cursor() as cursor:
            for statement in PINNED:
                cursor.execute(statement)
    except BaseException:
        connection.close()
        raise
    return connection


def _check_version(name: str, version: str) -> None:
    numbers = version.removeprefix("5.5.5-").split("-")[0].split(".")
    if "mariadb" not in version.lower():
        raise WarehouseError(
            f"warehouse {name}: the server must be MariaDB, found {version}; for MySQL,"
            " 'policy-engine compile --dialect mysql' writes the text"
        )
    if tuple(map(int, numbers[:2])) < (10, 6):
        raise WarehouseError(f"warehouse {name}: MariaDB {version} is older than 10.6")

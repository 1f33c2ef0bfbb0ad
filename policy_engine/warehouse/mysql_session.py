"""A session of MariaDB: its URL, what it is pinned to, and what may be said of it and its errors.

The session is pinned before anything is asked of it: texts by their bytes, one time zone, sorting
to the last byte, and no strict mode: there a warning about one row ends a statement that makes a
table, which would tell that the row exists (measured: 1292 for a zero date).

The secret of a sample is in the text of the statement that sets it, and no log may have it: the
slow log is off in every session of ours, and the others are seen to.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from datetime import date, datetime
from decimal import Decimal
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import pyarrow as pa
import pymysql  # type: ignore[import-untyped]  # it has none
from pymysql import converters
from pymysql.constants import FIELD_TYPE  # type: ignore[import-untyped]  # it has none

from policy_engine.errors import WarehouseError
from policy_engine.values import frozen
from policy_engine.warehouse import failures

PINNED = (
    "SET NAMES utf8mb4 COLLATE utf8mb4_nopad_bin",
    "SET SESSION sql_mode = 'ONLY_FULL_GROUP_BY,NO_ENGINE_SUBSTITUTION'",
    "SET SESSION time_zone = '+00:00'",
    # Without it texts that are alike in 1,024 bytes have no order.
    "SET SESSION max_sort_length = 8388608",
    "SET SESSION sql_select_limit = DEFAULT",
    "SET SESSION sql_auto_is_null = 0",
    "SET SESSION default_regex_flags = ''",
    "SET SESSION system_versioning_asof = DEFAULT",
    "SET SESSION slow_query_log = 0",  # it would have the secret
    "SET SESSION max_statement_time = 0",
    "SET SESSION lock_wait_timeout = 30",
    "SET SESSION innodb_lock_wait_timeout = 30",
    "SET SESSION default_storage_engine = InnoDB",
    "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ",
)
TRIED_SORT = (
    "SELECT n FROM (SELECT 1 AS n UNION ALL SELECT 2) AS tried ORDER BY"
    " CAST(REPEAT('x', n) AS CHAR CHARACTER SET utf8mb4)"
)
"""A sort of two texts that may have any length, for which a session must have room."""
HOLDING = (
    "SET SESSION idle_transaction_timeout = 0",
    "SET SESSION idle_readonly_transaction_timeout = 0",
    "SET SESSION wait_timeout = 31536000",
    "START TRANSACTION",
)
"""How a session begins to hold what it reads as it is, however long it waits."""
_LONGEST_KEY = 8388608
"""What max_sort_length can be at most."""
_LEAST_ROOM = 2097152
"""The default of sort_buffer_size."""
_OPTIONS = {"socket": "unix_socket", "ssl_ca": "ssl_ca"}
_WRITES = ("SELECT", "INSERT", "CREATE", "ALTER", "DROP")
"""What a role may do in the schema that it releases into."""
_DENIED = failures.Cause(
    "the role may not do this; it needs SELECT on the source, and in the schema of a table that is"
    f" released {', '.join(_WRITES)}",
    of_setup=True,
    code="no_right",
)
_LOST = failures.Cause(f"{failures.LOST.message}; nothing was published, and what stood stands")
_FORBIDDEN = failures.Cause(
    "an option of the server forbids this, as read_only does, or max_session_mem_used where a query"
    " needs more memory; release to a file, or from a server that can be written"
)
_LOCKED = failures.Cause(
    "another session holds a lock on the source or the target for 30 s: SHOW FULL PROCESSLIST shows"
    " the sessions, and information_schema.METADATA_LOCK_INFO whose it is, where that plugin is"
    " loaded; end it there with KILL, or try again when it has ended",
    of_setup=True,
    code="warehouse_locked",
)
_USED_UP = failures.Cause(
    "the user has used up what its account may have, as max_queries_per_hour; see SHOW GRANTS",
    of_setup=True,
    code="limit_reached",
)
# By the rows: without innodb_strict_mode a table is made, and one long row is refused.
_WIDE = failures.Cause(
    "the released columns are wider together than a row of a table may be; release to a file",
)
_NAME = failures.Cause(
    "a released column has a name that the server refuses; give it another", of_setup=True
)
_TOLD = {
    **dict.fromkeys((1044, 1142, 1143, 1227, 1370), _DENIED),
    **dict.fromkeys((1054, 1146, 1305, 1193, 1049), failures.ABSENT),
    **dict.fromkeys((2003, 2006, 2013, 2014, 2055, 1053, 1927), _LOST),
    **dict.fromkeys((3, 20, 1021, 1026, 1114, 1878), failures.NO_SPACE),
    **dict.fromkeys((5, 1037, 1041), failures.OUT_OF_MEMORY),
    **dict.fromkeys((1792, 1836), failures.READ_ONLY),
    **dict.fromkeys((1317, 1969, 3024), failures.CANCELLED),
    **dict.fromkeys((1203, 1226), _USED_UP),
    1038: failures.NO_SORT,
    1050: failures.TAKEN,
    1118: _WIDE,
    1166: _NAME,
    1205: _LOCKED,
    1213: failures.DEADLOCK,
    1290: _FORBIDDEN,
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
_AUDIT = """
    SHOW GLOBAL VARIABLES WHERE Variable_name IN
    ('server_audit_logging', 'server_audit_events', 'server_audit_excl_users')
"""

_RIGHTS = """
    SELECT PRIVILEGE_TYPE FROM information_schema.USER_PRIVILEGES WHERE GRANTEE = %s
    UNION SELECT PRIVILEGE_TYPE FROM information_schema.SCHEMA_PRIVILEGES
    WHERE GRANTEE = %s AND %s LIKE TABLE_SCHEMA
"""


def withheld() -> AbstractContextManager[None]:
    """Turn an error of the driver or the server into one that quotes nothing."""
    return failures.withheld(
        engine=(pymysql.Error,),
        told=lambda error: _TOLD.get(error.args[0] if error.args else 0),
    )


def asked(
    session: pymysql.Connection[Any], sql: str, values: tuple[Any, ...] = ()
) -> list[tuple[Any, ...]]:
    """The rows of a query of ours, each value as a text."""
    with withheld(), session.cursor() as cursor:
        cursor.execute(sql, values or None)
        return list(cursor.fetchall())


@frozen
class Memory:
    """What a session may hold in memory, in bytes: a sort at least, and a temporary table.

    A temporary table goes to the disk where it is larger, which takes a grouping of a million rows
    three times as long; the server's own 16 MB are for many small queries at once.
    """

    sort: int = 0
    table: int = 256 << 20
    is_asked: bool = False

    @classmethod
    def of(cls, settings: tuple[tuple[str, str], ...]) -> Memory:
        """As a project sets it.

        >>> Memory.of((("sort_buffer_size", "64MB"),)).sort
        67108864
        """
        given = {name: in_bytes(value) for name, value in settings}
        table = given.get("tmp_memory_table_size")
        sort = given.get("sort_buffer_size", 0)
        return cls(sort) if table is None else cls(sort, table, is_asked=True)


def in_bytes(size: str) -> int:
    """A size as a project file writes it.

    >>> in_bytes("2GB")
    2147483648
    """
    shift = {"MB": 20, "GB": 30, "TB": 40}[size[-2:]]
    return int(size[:-2]) << shift


def settled(session: pymysql.Connection[Any], memory: Memory) -> tuple[tuple[str, str], ...]:
    """Give a session its memory, and tell what it has.

    Where nothing is asked for, a server that gives more keeps its own.
    """
    sizes = "SELECT LEAST(@@tmp_memory_table_size, @@max_heap_table_size)"
    [(table,)] = asked(session, sizes)
    if memory.is_asked or int(table) < memory.table:
        for variable in ("tmp_memory_table_size", "max_heap_table_size"):
            asked(session, f"SET SESSION {variable} = {memory.table}")
        [(table,)] = asked(session, sizes)
    found = {"tmp_memory_table_size": table}
    if memory.sort:
        found["sort_buffer_size"] = str(memory.sort)
    return tuple(sorted(found.items()))


def sorting(longest: int, keys: int, least: int = 0) -> tuple[str, ...]:
    """What lets a session sort by ``keys`` columns whose longest text has so many characters.

    A sort compares ``max_sort_length`` bytes of a text, and wants room for fifteen keys at least,
    each of the full length that its type can have: else it fails with error 1038, whatever the rows
    hold (measured on 10.11). A character has three bytes in a key; four are taken.
    ``least`` bytes are room for more rows at once.

    >>> sorting(100, 2)[0]
    'SET SESSION max_sort_length = 1024'
    """
    length = min(max(4 * longest, 1024), _LONGEST_KEY)
    room = max(16 * (keys + 1) * (length + 64), _LEAST_ROOM, least)
    return (
        f"SET SESSION max_sort_length = {length}",
        f"SET SESSION sort_buffer_size = {room}",
    )


def arguments(name: str, url: str) -> dict[str, object]:
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
        is_ours = parts.scheme in {"mariadb", "mysql"} and parts.hostname is not None
    except (KeyError, ValueError):
        is_ours = False
    if not is_ours or not parts.username:
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


def connect(name: str, url: str) -> pymysql.Connection[Any]:
    """A pinned session, its values as the texts that the server sends.

    Raises:
        WarehouseError: the server does not answer, refuses the role, or is none of MariaDB's.
    """
    given = arguments(name, url)
    texts = dict(converters.encoders)
    try:
        connection = pymysql.connect(
            **given, charset="utf8mb4", autocommit=True, connect_timeout=10, conv=texts
        )
    except (pymysql.Error, OSError, RuntimeError) as error:
        why = _UNCONNECTED.get(error.args[0] if error.args else 0)
        if why is _AWAY and re.search("Name or service|resolve|getaddrinfo", str(error)):
            why = "there is no such host"
        why = why or "MariaDB does not answer at its url, or refuses the role"
        error.args = ()
        keys = ("host", "port", "database", "user")
        place = ", ".join(f"{key} {given[key]}" for key in keys if given[key])
        raise WarehouseError(f"warehouse {name}: {why} ({place})", of_setup=True) from None
    try:
        _check_version(name, str(connection.get_server_info()))
        for statement in PINNED:
            asked(connection, statement)
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


def keep_from_logs(session: pymysql.Connection[Any]) -> None:
    """Keep this session's statements out of the general log.

    Raises:
        WarehouseError: the role may not, or an audit log has them.
    """
    with suppress(WarehouseError):
        asked(session, "SET SESSION sql_log_off = 1")
    [(logs, is_off)] = asked(session, "SELECT @@global.general_log, @@sql_log_off")
    if logs != "0" and is_off == "0":
        raise WarehouseError(
            "the server's general log would have the secret of the sample in clear, and the role"
            " may not keep its session out of it; set general_log = OFF, or grant SUPER",
            of_setup=True,
        )
    audit: dict[str, str] = dict(asked(session, _AUDIT))
    [(role,)] = asked(session, "SELECT SUBSTRING_INDEX(USER(), '@', 1)")
    events, excluded = (
        audit.get(f"server_audit_{name}", "").split(",") for name in ("events", "excl_users")
    )
    is_told = not any(events) or "QUERY" in (event.upper() for event in events)
    if audit.get("server_audit_logging") == "ON" and is_told and role not in excluded:
        raise WarehouseError(
            "the server's audit log would have the secret of the sample in clear; add the role"
            f" {role} to server_audit_excl_users, or take QUERY out of server_audit_events",
            of_setup=True,
        )


def keep_from_binary_log(session: pymysql.Connection[Any]) -> None:
    """A log of statements has the variables that they read: of rows, it has the rows.

    Raises:
        WarehouseError: the server logs statements, and the role may not change that.
    """
    [(logs, form)] = asked(session, "SELECT @@log_bin, @@binlog_format")
    if logs == "0" or form == "ROW":
        return
    try:
        asked(session, "SET SESSION binlog_format = 'ROW'")
    except WarehouseError:
        raise WarehouseError(
            "the server's binary log would hold the secret of the sample, and the role may not"
            " change that; set binlog_format = ROW, grant BINLOG ADMIN, or release to a file",
            of_setup=True,
        ) from None


def check_rights(session: pymysql.Connection[Any], schema: str) -> None:
    """Refuse what would fail when the sample is paid for; what roles may do is not known.

    Raises WarehouseError.
    """
    [(user, is_role, locked)] = asked(
        session, "SELECT CURRENT_USER(), CURRENT_ROLE() IS NOT NULL, @@global.read_only"
    )
    name, _, host = user.rpartition("@")
    grantee = f"'{name}'@'{host}'"
    rights = {right for (right,) in asked(session, _RIGHTS, (grantee, grantee, schema))}
    if is_role == "0" and locked != "0" and not rights & {"SUPER", "READ_ONLY ADMIN"}:
        raise failures.failure(failures.READ_ONLY)
    lacking = [right for right in _WRITES if right not in rights]
    if is_role == "0" and lacking:
        raise WarehouseError(
            f"the role may not make a table in {schema}: grant it {', '.join(lacking)} on"
            f" {schema}.*, or name another schema in release.table"
        )


def fetched(session: pymysql.Connection[Any], sql: str, truths: frozenset[str]) -> pa.Table:
    """What a text selects, as Arrow; ``truths`` are the numbers that are truth values."""
    with session.cursor() as cursor:
        cursor.execute(sql)
        fields = cursor._result.fields if cursor._result is not None else ()
        lines = cursor.fetchall()
    columns = zip(*lines, strict=True) if lines else ((),) * len(fields)
    made = []
    for field, texts in zip(fields, columns, strict=True):
        kind, read = _arrow_type(field, is_truth=field.name in truths)
        values = [None if text is None else read(text) for text in texts]
        made.append(pa.array(values, kind))
    return pa.table(made, names=[field.name for field in fields])


_WHOLE = frozenset(
    {FIELD_TYPE.TINY, FIELD_TYPE.SHORT, FIELD_TYPE.INT24, FIELD_TYPE.LONG, FIELD_TYPE.LONGLONG}
)
_DECIMALS = frozenset({FIELD_TYPE.DECIMAL, FIELD_TYPE.NEWDECIMAL})
_UNSIGNED = 32


def _arrow_type(field: Any, *, is_truth: bool) -> tuple[pa.DataType, Callable[[str], Any]]:
    """What a column is in Arrow, and how its texts are read."""
    kind = field.type_code
    if is_truth:
        return pa.bool_(), lambda text: text != "0"
    if kind in _WHOLE:
        wide = kind == FIELD_TYPE.LONGLONG and field.flags & _UNSIGNED
        return (pa.uint64() if wide else pa.int64()), int
    if kind in _DECIMALS:
        # A sign and, with decimals, a point.
        digits = field.length - (0 if field.flags & _UNSIGNED else 1) - (1 if field.scale else 0)
        return pa.decimal128(digits, field.scale), Decimal
    if kind in {FIELD_TYPE.DATE, FIELD_TYPE.NEWDATE}:
        return pa.date32(), _day
    if kind in {FIELD_TYPE.DATETIME, FIELD_TYPE.TIMESTAMP}:
        return pa.timestamp("us"), _moment
    return pa.string(), str


def _day(text: str) -> date | None:
    """A day; NULL for a zero date, which is none."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _moment(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None

"""What MariaDB logs of a session: no log may have the secret of the sample.

The secret is in the text of the statement that sets it. In every session of ours the slow log is
off.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from policy_engine.errors import WarehouseError

Ask = Callable[..., list[tuple[Any, ...]]]

_AUDIT = """
    SHOW GLOBAL VARIABLES WHERE Variable_name IN
    ('server_audit_logging', 'server_audit_events', 'server_audit_excl_users')
"""


def keep_from_logs(ask: Ask) -> None:
    """Keep this session's statements out of the general log.

    Raises:
        WarehouseError: the role may not, or an audit log has them.
    """
    with suppress(WarehouseError):
        ask("SET SESSION sql_log_off = 1")
    [(logs, is_off)] = ask("SELECT @@global.general_log, @@sql_log_off")
    if logs != "0" and is_off == "0":
        raise WarehouseError(
            "the server's general log would have the secret of the sample in clear, and the role"
            " may not keep its session out of it; set general_log = OFF, or grant SUPER"
        )
    audit: dict[str, str] = dict(ask(_AUDIT))
    [(role,)] = ask("SELECT SUBSTRING_INDEX(USER(), '@', 1)")
    events, excluded = (
        audit.get(f"server_audit_{name}", "").split(",") for name in ("events", "excl_users")
    )
    is_told = not any(events) or "QUERY" in (event.upper() for event in events)
    if audit.get("server_audit_logging") == "ON" and is_told and role not in excluded:
        raise WarehouseError(
            "the server's audit log would have the secret of the sample in clear; add the role"
            f" {role} to server_audit_excl_users, or take QUERY out of server_audit_events"
        )


def keep_from_binary_log(ask: Ask) -> None:
    """A log of statements has the variables that they read: of rows, it has the rows.

    Raises:
        WarehouseError: the server logs statements, and the role may not change that.
    """
    [(logs, form)] = ask("SELECT @@log_bin, @@binlog_format")
    if logs == "0" or form == "ROW":
        return
    try:
        ask("SET SESSION binlog_format = 'ROW'")
    except WarehouseError:
        raise WarehouseError(
            "the server's binary log would hold the secret of the sample, and the role may not"
            " change that; set binlog_format = ROW, grant BINLOG ADMIN, or release to a file"
        ) from None

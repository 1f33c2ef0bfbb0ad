"""How the secret of a sample comes to PostgreSQL: in no statement's text and in no bound value.

Both are in the server's log if it logs statements, slow ones, or a sample of them. The rows of a
COPY are in none, so the secret goes into a temporary table and from there into a setting. Where
none can be made, as on a standby, it is bound to a statement, once no log would show it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import psycopg

from policy_engine.errors import WarehouseError
from policy_engine.warehouse.postgres_session import withheld

Ask = Callable[..., list[tuple[Any, ...]]]

_TABLE = "pg_temp.policy_engine_secret"
_HAS_TABLES = """
    SELECT NOT pg_is_in_recovery() AND current_setting('transaction_read_only') = 'off'
    AND has_database_privilege(current_database(), 'TEMP')
"""
# A setting of an extension is there if the extension is loaded.
_LOGGED = """
    SELECT name, setting FROM pg_settings
    WHERE (name, setting) IN (('log_statement', 'all'), ('debug_print_plan', 'on'),
                              ('pgaudit.log_parameter', 'on'))
    OR name IN ('log_min_duration_statement', 'log_min_duration_sample',
                'auto_explain.log_min_duration') AND setting <> '-1'
    OR name IN ('log_transaction_sample_rate', 'log_parameter_max_length_on_error')
       AND setting <> '0'
    ORDER BY name
"""
_REMEDY = (
    "release as a role that may make temporary tables (GRANT TEMPORARY ON DATABASE), on a server"
    " that is no standby and with default_transaction_read_only off; or have an administrator"
    " switch these off for the role, with ALTER ROLE … SET"
)


def check_unlogged(ask: Ask) -> None:
    """Return if the secret can be sent so that no log of the server has it.

    Raises WarehouseError naming the settings that would log it.
    """
    found = [] if _has_tables(ask) else ask(_LOGGED)
    if found:
        told = ", ".join(f"{name} = {setting}" for name, setting in found)
        raise WarehouseError(
            f"the server's log would have the secret of the sample in clear ({told}): {_REMEDY}"
        )


def send(connection: psycopg.Connection[Any], ask: Ask, name: str, secret: str) -> None:
    """Set ``name`` to the secret, until the transaction ends.

    Raises WarehouseError as ``check_unlogged``.
    """
    if not _has_tables(ask):
        check_unlogged(ask)
        ask("SELECT set_config(%s, %s, true) IS NULL", (name, secret))
        return
    with withheld(connection.info.user):
        connection.execute(f"CREATE TEMPORARY TABLE {_TABLE} (salt text) ON COMMIT DROP".encode())
        with connection.cursor().copy(f"COPY {_TABLE} FROM STDIN".encode()) as copy:
            copy.write_row((secret,))
        # The value itself is not sent back.
        connection.execute(
            f"SELECT set_config('{name}', salt, true) IS NULL FROM {_TABLE}".encode()
        )
        connection.execute(f"DROP TABLE {_TABLE}".encode())


def _has_tables(ask: Ask) -> bool:
    return bool(ask(_HAS_TABLES)[0][0])

"""A session of PostgreSQL: how it begins, how a secret comes to it, what may be said of its errors.

It is pinned before anything is asked of it: names, time zone, texts; and rows that a security
policy would hide are an error instead.

The secret of a sample is in no statement's text and in no bound value, for both are in the server's
log if it logs statements, slow ones, or a sample of them. The rows of a COPY are in none, so the
secret goes into a temporary table and from there into a setting. Where none can be made, as on a
standby, it is bound to a statement, once no log would show it.

Days and times come as the numbers that DuckDB has for them: Python has no infinite day, no year
before 1 or after 9999 and no hour 24. What Arrow has no number for, a NaN among decimals and times
after the year 294246, is NULL: a release does not fail for a value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from decimal import Decimal
from typing import Any

import psycopg
import pyarrow as pa
from psycopg.abc import Buffer
from psycopg.adapt import Loader
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import Format

from policy_engine.errors import PolicyEngineError, WarehouseError
from policy_engine.warehouse import failures

PINNED = (
    "SET search_path = pg_catalog",
    "SET TimeZone = 'UTC'",
    "SET standard_conforming_strings = on",
    "SET row_security = off",
    "SET client_encoding = 'UTF8'",
    "SET DateStyle = 'ISO'",
    "SET quote_all_identifiers = off",
    "SET lock_timeout = '30s'",
    "SET default_table_access_method = heap",
)
# How long a release takes is for nobody else to say; some are of later versions.
_PATIENT = """
    SELECT set_config(name, '0', false) FROM pg_settings WHERE name IN
    ('statement_timeout', 'transaction_timeout', 'idle_session_timeout',
     'idle_in_transaction_session_timeout')
"""
_LEAST_VERSION = 150000
_SET = """
    SELECT name, current_setting(name) FROM pg_settings
    WHERE name IN ('work_mem', 'max_parallel_workers_per_gather') ORDER BY name
"""
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


_TOLD = failures.by_kind({
    psycopg.errors.InsufficientPrivilege: failures.Cause("the role may not do this, or a row-level"
     " security policy would hide rows from it; release with a role that reads the whole source",
     of_setup=True, code="no_right"),
    psycopg.errors.UndefinedColumn: failures.ABSENT,
    psycopg.errors.UndefinedTable: failures.ABSENT,
    psycopg.errors.UndefinedFunction: failures.ABSENT,
    psycopg.errors.UndefinedObject: failures.ABSENT,
    psycopg.errors.InvalidSchemaName: failures.ABSENT,
    psycopg.errors.ReadOnlySqlTransaction: failures.READ_ONLY,
    psycopg.errors.ObjectNotInPrerequisiteState: failures.Cause("a materialized view that is read"
     " was never filled: REFRESH MATERIALIZED VIEW fills it", of_setup=True),
    psycopg.errors.DiskFull: failures.NO_SPACE,
    psycopg.errors.OutOfMemory: failures.OUT_OF_MEMORY,
    psycopg.errors.ConfigurationLimitExceeded: failures.Cause("the query needs more temporary space"
     " than temp_file_limit gives it: an administrator raises it, with ALTER ROLE … SET",
     code="limit_reached"),
    psycopg.errors.LockNotAvailable: failures.LOCKED,
    psycopg.errors.DeadlockDetected: failures.DEADLOCK,
    psycopg.errors.DuplicateTable: failures.TAKEN,
    psycopg.errors.QueryCanceled: failures.CANCELLED,
    psycopg.OperationalError: failures.LOST,
})  # fmt: skip
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


class PinnedConnection:
    """One pinned connection; each statement is a transaction, until its owner wants it otherwise.

    ``schemas`` are those of the role's search path, before it was pinned. ``settings`` are what it
    may use: as they are given, and else as the server has them for its role.
    """

    def __init__(self, name: str, url: str, settings: tuple[tuple[str, str], ...] = ()) -> None:
        try:
            conninfo_to_dict(url)
        except psycopg.Error:
            raise WarehouseError(f"warehouse {name}: the url is no connection string") from None
        try:
            self.connection = psycopg.connect(url, connect_timeout=10, autocommit=True)
        except psycopg.Error as error:
            raise refused(name, url, error) from None
        self.blocked_by: Callable[[], tuple[str, list[str]]] = lambda: ("", [])
        """What a session waits for in vain, and who holds it; asked when that has failed."""
        try:
            self._pin(name)
            self.settings = self._settled(name, settings)
        except BaseException:
            self.connection.close()
            raise

    def _pin(self, name: str) -> None:
        info = self.connection.info
        self._role, self.version = info.user, info.parameter_status("server_version") or ""
        if info.server_version < _LEAST_VERSION:
            raise WarehouseError(f"warehouse {name}: PostgreSQL {self.version} is older than 15")
        begins = "SELECT current_schemas(false), getdatabaseencoding()"
        [(self.schemas, encoding)] = self.ask(begins)
        for statement in PINNED:
            self.do(statement)
        self.ask(_PATIENT)
        if encoding != "UTF8":
            raise WarehouseError(
                f"warehouse {name}: the database's encoding must be UTF8, found {encoding}"
            )

    def _settled(
        self, name: str, settings: tuple[tuple[str, str], ...]
    ) -> tuple[tuple[str, str], ...]:
        for setting, value in settings:
            try:
                self.connection.execute("SELECT set_config(%s, %s, false)", (setting, value))
            except psycopg.Error:
                raise WarehouseError(
                    f"warehouse {name}: the server refuses settings.{setting} = {value}; write"
                    " what SET takes there",
                    of_setup=True,
                ) from None
        return tuple((setting, value) for setting, value in self.ask(_SET))

    def withheld(self) -> AbstractContextManager[None]:
        """Turn an error of the driver or the server into one that quotes no row."""
        return failures.withheld(engine=(psycopg.Error,), told=self._told)

    def _told(self, error: Exception) -> failures.Cause | PolicyEngineError | None:
        # What a function of a view raises has its context, and may be of a row.
        if isinstance(error, psycopg.Error) and error.diag.context:
            return failures.WITHHELD
        if isinstance(error, psycopg.errors.LockNotAvailable):
            return failures.locked(*self.blocked_by())
        if isinstance(error, psycopg.errors.InsufficientPrivilege):
            found = _DENIED.fullmatch(error.diag.message_primary or "")
            if found is not None:  # what the server names is of its catalog
                kind, name = found.groups()
                needs = _NEEDS.get(kind, "SELECT on it")
                denied = f"the role {self._role} may not use the {kind} {name}; it needs {needs}"
                return WarehouseError(denied, of_setup=True, code="no_right")
        return _TOLD(error)

    def ask(self, sql: str, values: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        """The rows of a query of ours."""
        with self.withheld():
            return self.connection.execute(sql, values or None).fetchall()

    def do(self, sql: str) -> None:
        """Run a statement of ours; no mark in it is one of a parameter."""
        with self.withheld():
            self.connection.execute(sql.encode())

    def check_unlogged(self) -> None:
        """Return if a secret can be sent so that no log of the server has it.

        Raises WarehouseError naming the settings that would log it.
        """
        found = [] if self.has_tables() else self.ask(_LOGGED)
        if found:
            told = ", ".join(f"{name} = {setting}" for name, setting in found)
            raise WarehouseError(
                f"the server's log would have the secret of the sample in clear ({told}):"
                f" {_REMEDY}",
                of_setup=True,
            )

    def has_tables(self) -> bool:
        """Whether the role may make a temporary table."""
        return bool(self.ask(_HAS_TABLES)[0][0])

    def send(self, name: str, secret: str) -> None:
        """Set ``name`` to a secret, until the transaction ends.

        Raises WarehouseError as ``check_unlogged``.
        """
        if not self.has_tables():
            self.check_unlogged()
            self.ask("SELECT set_config(%s, %s, true) IS NULL", (name, secret))
            return
        with self.withheld():
            self.do(f"CREATE TEMPORARY TABLE {_TABLE} (salt text) ON COMMIT DROP")
            with self.connection.cursor().copy(f"COPY {_TABLE} FROM STDIN".encode()) as copy:
                copy.write_row((secret,))
            # The value itself is not sent back.
            self.do(f"SELECT set_config('{name}', salt, true) IS NULL FROM {_TABLE}")
            self.do(f"DROP TABLE {_TABLE}")

    def rows(self, sql: str) -> pa.Table:
        """What a text selects, as Arrow. Raises the driver's errors and Arrow's."""
        with self.connection.cursor(binary=True) as cursor:
            for name, loader in _LOADERS.items():
                cursor.adapters.register_loader(name, loader)
            cursor.execute(sql.encode())
            described = cursor.description or ()
            rows = cursor.fetchall()
        columns: Iterable[Any] = zip(*rows, strict=True) if rows else ((),) * len(described)
        arrays = [_array(c, values) for c, values in zip(described, columns, strict=True)]
        return pa.table(arrays, names=[column.name for column in described])


def refused(name: str, url: str, error: psycopg.Error) -> WarehouseError:
    """The error of a connection that failed."""
    said = str(error)
    error.args = ()
    why = next((told for words, told in _REASONS.items() if re.search(words, said)), None)
    why = why or "PostgreSQL does not answer, or refuses the role"
    return WarehouseError(f"warehouse {name}: {why}{_place(url)}", of_setup=True)


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


_DAYS_TO_2000 = 10_957
_MICROS_TO_2000 = _DAYS_TO_2000 * 86_400 * 10**6


class _Moment(Loader):
    """Days or microseconds since 2000, as since 1970; NULL where they are too many."""

    format = Format.BINARY

    def load(self, data: Buffer) -> int | None:
        size, found = len(data), int.from_bytes(data, "big", signed=True)
        # The largest number and the smallest are infinities; those here are alike but for a sign.
        most = (1 << (8 * size - 1)) - 1
        if found in {most, -most - 1}:
            return most if found > 0 else -most
        since = found + (_DAYS_TO_2000 if size == 4 else _MICROS_TO_2000)
        return since if since < most else None


class _Clock(Loader):
    """Microseconds since midnight, of 24 hours at most."""

    format = Format.BINARY

    def load(self, data: Buffer) -> int:
        return int.from_bytes(data, "big", signed=True)


class _Text(Loader):
    """The bytes of a type that the driver does not know, an enumeration: those of its text."""

    format = Format.BINARY

    def load(self, data: Buffer) -> str:
        return bytes(data).decode()


_LOADERS: Mapping[str | int, type[Loader]] = {
    "date": _Moment, "timestamp": _Moment, "time": _Clock, 0: _Text
}  # fmt: skip
_NUMBERS = {"date": pa.int32(), "time": pa.int64(), "timestamp": pa.int64()}
_ARROW = {
    "bool": pa.bool_(),
    **dict.fromkeys(("int2", "int4", "int8"), pa.int64()),
    "date": pa.date32(),
    "time": pa.time64("us"),
    "timestamp": pa.timestamp("us"),
}


def _array(column: psycopg.Column, values: Iterable[Any]) -> pa.Array:
    kind = psycopg.adapters.types.get(column.type_code)
    name = kind.name if kind is not None else ""
    if name == "numeric":
        numbers = [v if isinstance(v, Decimal) and v.is_finite() else None for v in values]
        if column.precision is not None:
            return pa.array(numbers, pa.decimal128(column.precision, column.scale or 0))
        # What a grouping leaves out is NULL, and a CASE with it has no digits of its own.
        scale = max((-int(v.as_tuple().exponent) for v in numbers if v is not None), default=0)
        return pa.array(numbers, pa.decimal128(38, max(scale, 0)))
    if name in _NUMBERS:
        return pa.array(values, _NUMBERS[name]).cast(_ARROW[name])
    return pa.array(values, _ARROW.get(name, pa.string()))

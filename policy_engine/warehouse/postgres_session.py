"""A session of PostgreSQL: what it is pinned to, and what may be said of its errors.

A session is pinned before anything is asked of it: names, time zone, texts, and rows that a
security policy would hide are an error instead.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict

from policy_engine.errors import WarehouseError
from policy_engine.warehouse import failures
from policy_engine.warehouse.postgres_refusal import denied, refused

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
_LEAST_VERSION = 150000
_withheld = partial(
    failures.withheld,
    engine=(psycopg.Error,),
    machine=(
        (psycopg.errors.InsufficientPrivilege, "the role may not do this, or a row-level security"
         " policy would hide rows from it; release with a role that reads the whole source"),
        (psycopg.errors.DiskFull, "the server's disk is full; nothing was published"),
        (psycopg.errors.LockNotAvailable, "another session holds a lock; try again later"),
        (psycopg.errors.DuplicateTable, "the target has come to be meanwhile; nothing was"
         " published: use --replace to release anew, at a new price"),
        (psycopg.errors.QueryCanceled, "the server cancelled the query"),
        (psycopg.OperationalError, "the connection to the server was lost"),
    ),
)  # fmt: skip


@contextmanager
def withheld(role: str = "") -> Iterator[None]:
    """Turn an error of the driver or the server into one that quotes no row; ``role`` asks.

    Raises:
        WarehouseError: in place of it.
    """
    with _withheld():
        try:
            yield
        except psycopg.errors.InsufficientPrivilege as error:
            raise denied(error, role and f" {role}") or error from None


class Session:
    """One pinned connection; each statement is a transaction, until its owner wants it otherwise.

    ``schemas`` are those of the role's search path, before it was pinned.
    """

    def __init__(self, name: str, url: str) -> None:
        try:
            conninfo_to_dict(url)
        except psycopg.Error:
            raise WarehouseError(f"warehouse {name}: the url is no connection string") from None
        try:
            self.connection = psycopg.connect(url, connect_timeout=10, autocommit=True)
        except psycopg.Error as error:
            raise refused(name, url, error) from None
        try:
            self._pin(name)
        except BaseException:
            self.connection.close()
            raise

    def _pin(self, name: str) -> None:
        info = self.connection.info
        self.version = info.parameter_status("server_version") or ""
        if info.server_version < _LEAST_VERSION:
            raise WarehouseError(f"warehouse {name}: PostgreSQL {self.version} is older than 15")
        with withheld():
            [(self.schemas, encoding)] = self.connection.execute(
                "SELECT current_schemas(false), getdatabaseencoding()"
            ).fetchall()
            for statement in PINNED:
                self.connection.execute(statement)
        if encoding != "UTF8":
            raise WarehouseError(
                f"warehouse {name}: the database's encoding must be UTF8, found {encoding}"
            )

    def ask(self, sql: str, values: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        """The rows of a query of ours."""
        with withheld(self.connection.info.user):
            return self.connection.execute(sql, values or None).fetchall()

    def do(self, sql: str) -> None:
        """Run a statement of ours; no mark in it is one of a parameter."""
        with withheld(self.connection.info.user):
            self.connection.execute(sql.encode())

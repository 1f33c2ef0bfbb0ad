"""The secrets relation: where the secret of a sample waits for a run that is not ours, as dbt's.

A table of one row a release: its id, the secret as 32 hexadecimal digits, and the MD5 of the one
text that it is for. It is put there bound, never as a literal, by a connection of its own; nobody
but the role that makes the table may read it; and it is taken away once the release is made.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Protocol

from policy_engine.errors import WarehouseError
from policy_engine.policy.project import Warehouse as Named
from policy_engine.warehouse.base import Warehouse
from policy_engine.warehouse.quoting import quoted

_COLUMNS = '("release_id" VARCHAR(200), "salt" VARCHAR(32), "text_md5" VARCHAR(32))'
KNOWN = ("duckdb", "postgres")
"""The engines in which a secret can be put."""


class _Session(Protocol):
    def execute(self, sql: str, values: tuple[str, ...] = ()) -> Any: ...


class WaitingSecrets:
    """The secrets relation of a warehouse, ``name`` in full."""

    def __init__(self, session: _Session, name: tuple[str, ...]) -> None:
        self._session = session
        self._name = name
        self._schema = quoted(*name[:-1])
        self._table = quoted(*name)

    def put(self, release: str, secret: bytes, text_md5: str) -> None:
        """Let the secret of a release wait, for one text; what waited for it before is gone."""
        self._session.execute(f"CREATE SCHEMA IF NOT EXISTS {self._schema}")
        self._session.execute(f"CREATE TABLE IF NOT EXISTS {self._table} {_COLUMNS}")
        self._keep_to_oneself()
        self._session.execute("BEGIN")
        self._session.execute(f'DELETE FROM {self._table} WHERE "release_id" = $1', (release,))
        self._session.execute(
            f"INSERT INTO {self._table} VALUES ($1, $2, $3)", (release, secret.hex(), text_md5)
        )
        self._session.execute("COMMIT")

    def take(self, release: str) -> None:
        """Take the secret of a release away, if it waits."""
        if self._is_there():
            self._session.execute(f'DELETE FROM {self._table} WHERE "release_id" = $1', (release,))
            self._session.execute(self._clean())

    def number(self, sql: str) -> int:
        """The number that a query of ours gives, on the connection that sees the secret."""
        return int(self._session.execute(sql).fetchone()[0])

    def waits(self, release: str) -> bool:
        """Whether a secret waits for a release."""
        if not self._is_there():
            return False
        text = f'SELECT count(*) FROM {self._table} WHERE "release_id" = $1'
        return bool(self._session.execute(text, (release,)).fetchone()[0])

    def _clean(self) -> str:
        return f"CHECKPOINT {quoted(self._name[0])}"

    def _is_there(self) -> bool:
        found = self._session.execute(
            "SELECT count(*) FROM duckdb_tables() WHERE (lower(database_name), lower(schema_name),"
            " lower(table_name)) = ($1, $2, $3)",
            tuple(part.lower() for part in self._name),
        )
        return bool(found.fetchone()[0])

    def _keep_to_oneself(self) -> None:
        """Nothing to do: an embedded database has one user."""


class _OfPostgres(WaitingSecrets):
    def _clean(self) -> str:
        return f"VACUUM {self._table}"  # what was deleted would stay readable in the table's file

    def _is_there(self) -> bool:
        found = self._session.execute("SELECT to_regclass($1)", (self._table,))
        return found.fetchone()[0] is not None

    def _keep_to_oneself(self) -> None:
        grantees = self._session.execute(
            "SELECT DISTINCT CASE grantee WHEN 0 THEN 'PUBLIC' ELSE"
            " quote_ident(pg_get_userbyid(grantee)) END FROM pg_class, aclexplode(relacl)"
            " WHERE oid = to_regclass($1) AND grantee <> relowner",
            (self._table,),
        ).fetchall()
        for (grantee,) in grantees:
            self._session.execute(f"REVOKE ALL ON {self._table} FROM {grantee}")


def waiting_secrets(
    named: Named, warehouse: Warehouse, name: tuple[str, ...]
) -> AbstractContextManager[WaitingSecrets]:
    """The secrets relation of a warehouse that is connected to.

    Raises:
        WarehouseError: the warehouse is of a kind in which no secret can be put, does not answer,
            or refuses.
    """
    session = getattr(warehouse, "session", None)
    if named.type == "duckdb" and session is not None:
        return _duckdb(named, session, name)
    if named.type == "postgres":
        return _postgres(named, name)
    raise WarehouseError(
        f"warehouse {named.name}: no secret can be put into {named.type}; known: {', '.join(KNOWN)}"
    )


@contextmanager
def _duckdb(named: Named, session: _Session, name: tuple[str, ...]) -> Iterator[WaitingSecrets]:
    import duckdb

    try:
        yield WaitingSecrets(session, name)
    except duckdb.Error:
        raise WarehouseError(
            f"warehouse {named.name}: the secrets relation {'.'.join(name)} cannot be written:"
            f" {named.database} is locked by another process, or read-only"
        ) from None


@contextmanager
def _postgres(named: Named, name: tuple[str, ...]) -> Iterator[WaitingSecrets]:
    import psycopg

    try:
        with psycopg.connect(
            named.url, autocommit=True, connect_timeout=10, cursor_factory=psycopg.RawCursor
        ) as connection:
            yield _OfPostgres(connection, name[-2:])
    except psycopg.Error:
        raise WarehouseError(
            f"warehouse {named.name}: the secrets relation {'.'.join(name)} cannot be written: the"
            " server does not answer, or the role may not make a table in that schema"
        ) from None

"""The secrets relation: where the secret of a sample waits for a run that is not ours, as dbt's.

A table of one row a release: its id, the secret as 32 hexadecimal digits, the MD5 of the one text
that it is for, and whether a sample was drawn with it: a secret serves one draw. It is never part
of a statement; nobody but the role that makes the table may read it; and it is taken away once the
release is made.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Protocol

from policy_engine.errors import WarehouseError
from policy_engine.policy.project import Warehouse as Named
from policy_engine.warehouse.base import Warehouse
from policy_engine.warehouse.quoting import quoted

_COLUMNS = (
    '("release_id" VARCHAR(200), "salt" VARCHAR(32), "text_md5" VARCHAR(32), "is_drawn" BOOLEAN)'
)
KNOWN = ("duckdb", "postgres")
"""The engines in which a secret can be put."""


class _Session(Protocol):
    def execute(self, sql: str, values: tuple[str, ...] = ()) -> Any: ...
    def cursor(self) -> Any: ...


class WaitingSecrets:
    """The secrets relation of a warehouse, ``name`` in full."""

    def __init__(self, session: _Session, name: tuple[str, ...]) -> None:
        self._session = session
        self._name = name
        self._schema = quoted(*name[:-1])
        self._table = quoted(*name)

    def put(self, release: str, secret: bytes, text_md5: str) -> None:
        """Let the secret of a release wait, for one text; what waited for it before is gone."""
        self._make()
        with self._transaction("COMMIT"):
            self._replace(release, secret, text_md5)

    def number(self, sql: str, release: str, secret: bytes) -> int:
        """The number that a query of ours gives that reads the secret of a release.

        The secret is there for that query alone: nobody else ever sees it, and no crash leaves it.
        """
        self._make()
        with self._transaction("ROLLBACK"):
            self._replace(release, secret, "")
            return int(self._session.execute(sql).fetchone()[0])

    def take(self, release: str) -> None:
        """Take the secret of a release away, if it waits."""
        if self._is_there():
            self._session.execute(f'DELETE FROM {self._table} WHERE "release_id" = $1', (release,))
            self._session.execute(self._clean())

    def waits(self, release: str) -> bool:
        """Whether a secret waits for a release, and no sample was drawn with it."""
        if not self._is_there():
            return False
        text = f'SELECT count(*) FROM {self._table} WHERE "release_id" = $1 AND NOT "is_drawn"'
        return bool(self._session.execute(text, (release,)).fetchone()[0])

    @contextmanager
    def _transaction(self, end: str) -> Iterator[None]:
        self._session.execute("BEGIN")
        try:
            yield
        except BaseException:
            self._session.execute("ROLLBACK")
            raise
        self._session.execute(end)

    def _make(self) -> None:
        self._session.execute(f"CREATE SCHEMA IF NOT EXISTS {self._schema}")
        self._session.execute(f"CREATE TABLE IF NOT EXISTS {self._table} {_COLUMNS}")
        self._keep_to_oneself()

    def _replace(self, release: str, secret: bytes, text_md5: str) -> None:
        self._session.execute(f'DELETE FROM {self._table} WHERE "release_id" = $1', (release,))
        self._insert((release, secret.hex(), text_md5))

    def _insert(self, row: tuple[str, str, str]) -> None:
        self._session.execute(f"INSERT INTO {self._table} VALUES ($1, $2, $3, FALSE)", row)

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

    def _insert(self, row: tuple[str, str, str]) -> None:
        # The rows of a COPY are in no log of the server; a bound value is, with log_statement.
        with self._session.cursor().copy(f"COPY {self._table} FROM STDIN") as copy:
            copy.write_row((*row, False))

    def _keep_to_oneself(self) -> None:
        self._check_owned()
        for (grantee,) in self._session.execute(_GRANTEES, (self._table,)).fetchall():
            self._session.execute(f"REVOKE ALL ON {self._table} FROM {grantee} CASCADE")
        if self._session.execute(_GRANTEES, (self._table,)).fetchall():
            raise WarehouseError(f"others than its owner may read {self._table}: drop it")

    def _check_owned(self) -> None:
        """That it is a table of the role's own: what another owns, another reads."""
        owner, is_own, is_table = self._session.execute(
            "SELECT pg_get_userbyid(relowner), pg_get_userbyid(relowner) = current_user,"
            " relkind = 'r' AND NOT relhasrules AND NOT relhastriggers"
            " FROM pg_class WHERE oid = to_regclass($1)",
            (self._table,),
        ).fetchone()
        if not is_own or not is_table:
            found = f"owned by {owner}" if not is_own else "no plain table"
            raise WarehouseError(
                f"the secrets relation {self._table} must be a table of the role that releases,"
                f" found one {found}: drop it, or name another in dbt.secrets"
            )


_GRANTEES = """\
SELECT DISTINCT CASE grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END
FROM pg_class AS c, LATERAL (
  SELECT grantee FROM aclexplode(c.relacl)
  UNION ALL
  SELECT x.grantee FROM pg_attribute AS a, aclexplode(a.attacl) AS x WHERE a.attrelid = c.oid
) AS granted
WHERE c.oid = to_regclass($1) AND grantee <> c.relowner
"""


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

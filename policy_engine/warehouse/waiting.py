"""The secrets relation: where the secret of a sample waits for a run that is not ours, as dbt's.

A table of one row a release: its id, the secret in hexadecimal digits, the MD5 of the one text
that it is for, what of that text is an edition's own, and whether a sample was drawn with it: a
secret serves one draw. It is never part
of a statement; nobody but the role that makes the table may read it; and it is taken away once the
release is made.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from policy_engine.errors import WarehouseError
from policy_engine.policy.project import ListedWarehouse as Named
from policy_engine.warehouse.base import Warehouse
from policy_engine.warehouse.quoting import quoted

KNOWN = ("duckdb", "postgres")
"""The engines in which a secret can be put."""
# Texts, and no varchar: an operator that takes varchar, of whoever may make one, would be preferred
# to the engine's own.
_KINDS = {"release_id": "TEXT", "salt": "TEXT", "text_md5": "TEXT", "edition": "TEXT",
          "is_drawn": "BOOLEAN"}  # fmt: skip
_COLUMNS = ", ".join(f'"{name}" {kind}' for name, kind in _KINDS.items())
_OF_A_TABLE = "(lower(database_name), lower(schema_name), lower(table_name)) = ($1, $2, $3)"

Line = tuple[str | None, ...]


class WaitingSecrets:
    """The secrets relation of a warehouse, ``name`` in full; its form is DuckDB's."""

    _begin, _columns = "BEGIN", _COLUMNS
    _has_table = f"SELECT count(*) > 0 FROM duckdb_tables() WHERE {_OF_A_TABLE}"
    _has_schema = (
        "SELECT count(*) > 0 FROM duckdb_schemas()"
        " WHERE (lower(database_name), lower(schema_name)) = ($1, $2)"
    )

    def __init__(self, session: Any, name: tuple[str, ...]) -> None:
        self._session = session
        self._table, self._schema = quoted(*name), quoted(*name[:-1])
        self._called = tuple(part.lower() for part in name)
        self._in = self._called[:-1]
        self._clean = f"CHECKPOINT {quoted(name[0])}"

    def make(self) -> None:
        """Make the relation unless it is there, and see that a secret can be put in it.

        Raises:
            WarehouseError: what stands under its name is none, or others may read it.
        """
        if not self._says(self._has_schema, self._in):
            self._session.execute(f"CREATE SCHEMA {self._schema}")
        self._session.execute(f"CREATE TABLE IF NOT EXISTS {self._table} ({self._columns})")
        with self._alone("ROLLBACK"):
            pass

    def put(
        self, release: str, secret: bytes, text_md5: str, edition: tuple[str, ...] = ()
    ) -> None:
        """Let the secret of a release wait, for one text; what waited for it before is gone.

        ``edition`` is the name of an edition, and what of the text is its own, lines without a
        line feed; empty of a release that is drawn once.
        """
        with self._alone("COMMIT"):
            self._replace(release, secret, text_md5, edition)

    def lines(self, queries: tuple[str, ...], release: str, secret: bytes) -> list[list[Line]]:
        """What queries of ours give, which may read the secret of a release, of one state.

        The secret is there for them alone: nobody else ever sees it, and no crash leaves it.
        """
        self.make()
        with self._alone("ROLLBACK"):
            self._replace(release, secret, "")
            return [self._session.execute(query).fetchall() for query in queries]

    def take(self, release: str) -> None:
        """Take the secret of a release away, if it waits."""
        if self._says(self._has_table, self._called):
            self._delete(release)
            self._session.execute(self._clean)

    def waits(self, release: str, text_md5: str) -> bool:
        """Whether a secret waits for a text of a release, unseen, and no sample was drawn by it."""
        if not self._says(self._has_table, self._called) or self._seen_by():
            return False
        text = f'SELECT "text_md5", "is_drawn" FROM {self._table} WHERE "release_id" = $1'
        found: list[tuple[str, bool]] = self._session.execute(text, (release,)).fetchall()
        return found == [(text_md5, False)]

    @contextmanager
    def _alone(self, end: str) -> Iterator[None]:
        """A transaction in which the relation is looked at, and nobody else changes it."""
        self._session.execute(self._begin)
        try:
            self._check()
            yield
        except BaseException:
            self._session.execute("ROLLBACK")
            raise
        self._session.execute(end)

    def _replace(
        self, release: str, secret: bytes, text_md5: str, edition: tuple[str, ...] = ()
    ) -> None:
        self._delete(release)
        self._insert((release, secret.hex(), text_md5, "\n".join(edition), False))

    def _delete(self, release: str) -> None:
        self._session.execute(f'DELETE FROM {self._table} WHERE "release_id" = $1', (release,))

    def _insert(self, row: tuple[str | bool, ...]) -> None:
        self._session.execute(f"INSERT INTO {self._table} VALUES ($1, $2, $3, $4, $5)", row)

    def _says(self, sql: str, names: tuple[str, ...]) -> bool:
        return bool(self._session.execute(sql, names).fetchone()[0])

    def _check(self) -> None:
        sql = f"SELECT column_name FROM duckdb_columns() WHERE {_OF_A_TABLE} ORDER BY column_index"
        found = self._session.execute(sql, self._called).fetchall()
        if tuple(name for (name,) in found) != tuple(_KINDS):
            raise self._refused("is another table")

    def _seen_by(self) -> list[tuple[str]]:
        """Who else may read it: nobody, for an embedded database has one user."""
        return []

    def _refused(self, why: str) -> WarehouseError:
        return WarehouseError(
            f"the secrets relation {self._table} must be a plain table that the role that releases"
            f" has made, found one that {why}: drop it, or name another in dbt.secrets"
        )


class _OfPostgres(WaitingSecrets):
    _begin = "BEGIN ISOLATION LEVEL REPEATABLE READ"
    _columns = f'{_COLUMNS}, PRIMARY KEY ("release_id")'
    _has_table = "SELECT to_regclass($1) IS NOT NULL"
    _has_schema = "SELECT to_regnamespace($1) IS NOT NULL"

    def __init__(self, session: Any, name: tuple[str, ...]) -> None:
        super().__init__(session, name)
        self._called, self._in = (self._table,), (self._schema,)
        self._clean = f"VACUUM {self._table}"  # what was deleted would stay readable in its file

    def _insert(self, row: tuple[str | bool, ...]) -> None:
        # The rows of a COPY are in no log of the server; a bound value is, with log_statement.
        with self._session.cursor().copy(f"COPY {self._table} FROM STDIN") as copy:
            copy.write_row(row)

    def _check(self) -> None:
        """That it is the role's own and nobody else's, and stays so until the end."""
        self._session.execute(f"LOCK TABLE {self._table} IN ACCESS EXCLUSIVE MODE")
        found = self._session.execute(_OWN, (self._table,)).fetchone()
        if found is None:
            raise self._refused("has rules, triggers, checks, children or policies, or is a view")
        owner, is_own = found
        if not is_own:
            raise self._refused(f"is owned by {owner}")
        columns = self._session.execute(_COLUMNS_OF, (self._table,)).fetchall()
        if columns != [(name, kind.lower()) for name, kind in _KINDS.items()]:
            raise self._refused("has other columns")
        for (grantee,) in self._seen_by():
            self._session.execute(f"REVOKE ALL ON {self._table} FROM {grantee} CASCADE")
        if self._seen_by():
            raise self._refused("others may read")

    def _seen_by(self) -> list[tuple[str]]:
        return self._session.execute(_GRANTEES, (self._table,)).fetchall()  # type: ignore[no-any-return]


_OWN = """\
SELECT pg_get_userbyid(relowner), pg_get_userbyid(relowner) = current_user
FROM pg_class AS c
WHERE oid = to_regclass($1) AND relkind = 'r' AND relchecks = 0 AND NOT relhasrules
  AND NOT relhastriggers AND NOT relrowsecurity AND NOT relhassubclass
  AND NOT EXISTS (SELECT FROM pg_inherits AS i WHERE i.inhrelid = c.oid)
"""
_COLUMNS_OF = """\
SELECT attname::text, format_type(atttypid, atttypmod) FROM pg_attribute
WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped AND NOT atthasdef
ORDER BY attnum
"""
_GRANTEES = """\
SELECT DISTINCT CASE grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END
FROM pg_class AS c, LATERAL (
  SELECT grantee FROM aclexplode(c.relacl)
  UNION ALL
  SELECT x.grantee FROM pg_attribute AS a, aclexplode(a.attacl) AS x WHERE a.attrelid = c.oid
) AS granted
WHERE c.oid = to_regclass($1) AND grantee <> c.relowner
"""


@contextmanager
def waiting_secrets(
    named: Named, warehouse: Warehouse, name: tuple[str, ...]
) -> Iterator[WaitingSecrets]:
    """The secrets relation of a warehouse that is connected to.

    Raises:
        WarehouseError: the warehouse is of a kind in which no secret can be put, does not answer,
            or refuses.
    """
    session = getattr(warehouse, "session", None)
    if named.type not in KNOWN or (named.type == "duckdb" and session is None):
        raise WarehouseError(
            f"warehouse {named.name}: no secret can be put into {named.type}; known:"
            f" {', '.join(KNOWN)}"
        )
    if named.type == "duckdb":
        import duckdb

        with _told(named, name, duckdb.Error):
            yield WaitingSecrets(session, name)
        return
    import psycopg

    from policy_engine.warehouse.postgres_session import PINNED

    with (
        _told(named, name, psycopg.Error),
        psycopg.connect(named.url, autocommit=True, connect_timeout=10) as connection,
    ):
        connection.cursor_factory = psycopg.RawCursor
        for statement in PINNED:
            connection.execute(statement)
        yield _OfPostgres(connection, name[-2:])


@contextmanager
def _told(named: Named, name: tuple[str, ...], errors: type[Exception]) -> Iterator[None]:
    """Tell an error of the engine's by its kind: its own text may quote rows."""
    try:
        yield
    except errors as error:
        raise WarehouseError(
            f"warehouse {named.name}: what reads or writes the secrets relation {'.'.join(name)}"
            f" failed ({type(error).__name__}): the warehouse does not answer, the role may not"
            " make or change the table, or what a release reads is gone or of other types"
        ) from None

"""PostgreSQL: one session that reads a snapshot, and one that asks the catalog.

What is fingerprinted is what is read, and what is published stands or falls as a whole: that is one
transaction of isolation REPEATABLE READ. Its snapshot is of rows only: a query is planned by what
the catalog says at that moment. So the catalog is asked in a session of its own, as it is now, and
once more when the first query has taken its locks on the source and on all that it reads: no view,
table or column can be exchanged from then on. What such locks let through, as a partition that is
attached, is looked at before the release leaves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace as replace_field
from typing import Any

import psycopg
import pyarrow as pa

from policy_engine.compile.catalog import Column, Table
from policy_engine.compile.rendering import created
from policy_engine.dialects import dialect_named
from policy_engine.engines.types import type_of
from policy_engine.errors import WarehouseError
from policy_engine.policy.resolve import Policy
from policy_engine.warehouse import postgres_replacing, postgres_secret
from policy_engine.warehouse.nearby import missing
from policy_engine.warehouse.postgres_session import Session, withheld
from policy_engine.warehouse.postgres_values import rows_of
from policy_engine.warehouse.quoting import literal, quoted
from policy_engine.warehouse.server import Row, ServerWarehouse
from policy_engine.warehouse.views import behind

SALT = "policy_engine.salt"
"""The setting that holds the secret, as 32 hexadecimal digits."""

_RELATION = """
    SELECT c.oid, c.relkind, c.relrowsecurity AND row_security_active(c.oid),
           CASE WHEN c.relkind IN ('v', 'm') THEN pg_get_viewdef(c.oid) END
    FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE (n.nspname, c.relname) = (%s, %s) AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
"""
_COLUMNS = """
    SELECT a.attname, format_type(a.atttypid, a.atttypmod), a.attgenerated, t.typtype,
           CASE WHEN NOT l.collisdeterministic THEN l.collname END,
           (SELECT string_agg(quote_literal(e.enumlabel), ', ' ORDER BY e.enumsortorder)
            FROM pg_enum AS e WHERE e.enumtypid = a.atttypid)
    FROM pg_attribute AS a JOIN pg_type AS t ON t.oid = a.atttypid
    LEFT JOIN pg_collation AS l ON l.oid = a.attcollation
    WHERE a.attrelid = %s AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
"""
_NAMES = """
    SELECT n.nspname, c.relname FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p', 'v', 'm') AND n.nspname NOT IN ('pg_catalog', 'pg_toast')
"""
# A table, its partitions and the tables that inherit from it, however deep: it reads them all.
_FAMILY = """
    WITH RECURSIVE family (oid) AS (
        SELECT c.oid FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
        WHERE (n.nspname, c.relname) = (%s, %s)
        UNION SELECT i.inhrelid FROM pg_inherits AS i JOIN family AS f ON f.oid = i.inhparent
    )
    SELECT c.oid, c.relkind, c.relname, EXISTS (
        SELECT FROM pg_attribute AS a WHERE a.attrelid = c.oid AND a.attgenerated = 'v'
    ) FROM family JOIN pg_class AS c USING (oid) ORDER BY c.oid
"""
# The columns that tell apart the rows of a table, and those of its partitions; a table that others
# inherit from shows their rows too, of which its own index knows nothing.
_UNIQUE = """
    SELECT a.attname FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indrelid
    JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum = i.indkey[0]
    WHERE c.oid = %s AND i.indisunique AND i.indisvalid AND i.indimmediate AND i.indnkeyatts = 1
        AND i.indpred IS NULL AND (c.relkind = 'p' OR c.relkind = 'r' AND NOT c.relhassubclass)
"""
# What a relation is, where it can be no source.
_NO_SOURCE = {"f": "a foreign table, whose rows are another server's to change"}


class PostgresWarehouse(ServerWarehouse):
    """A PostgreSQL server, by a URL or a connection string of libpq."""

    dialect = dialect_named("postgres")

    def __init__(self, name: str, url: str) -> None:
        super().__init__(name)
        session = Session(name, url)
        self._connection, self._schemas = session.connection, session.schemas
        self._ask, self._do, self.engine_version = session.ask, session.do, session.version
        try:
            self._catalog = Session(name, url)
        except BaseException:
            self._connection.close()
            raise
        self._connection.autocommit = False
        self._connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ

    def close(self) -> None:
        """End the connections; what was not published is rolled back."""
        self._connection.close()
        self._catalog.connection.close()

    def ask(self, sql: str, values: tuple[Any, ...] = ()) -> list[Row]:
        """The rows of a query of ours, in the transaction that reads."""
        return self._ask(sql, values)

    def _look(self, sql: str, values: tuple[Any, ...] = ()) -> list[Row]:
        """The rows of a query of ours of the catalog, as it is now."""
        return self._catalog.ask(sql, values)

    def full_name(self, relation: str) -> tuple[str, ...]:
        """schema.name; without a schema, the one in which the role's search path finds it."""
        parts = relation.split(".")
        if len(parts) == 3 and parts[0] == self._connection.info.dbname:
            parts = parts[1:]
        if len(parts) == 1:
            found = (schema for schema in self._schemas if self.exists((schema, relation)))
            parts = [next(found, next(iter(self._schemas), "public")), relation]
        if len(parts) != 2:
            raise WarehouseError(
                f"the relation {relation} is not in the warehouse {self._name}; write schema.table"
            )
        return tuple(parts)

    def described(self, parts: tuple[str, ...]) -> Table:
        """A table, materialised view or view, with what its catalog says of its columns."""
        table = self._behind(parts)
        if self._look(_RELATION, parts)[0][2]:
            raise WarehouseError(
                f"{table.name} has row-level security, and the role would not see every row;"
                " release with the role that owns it, or one with BYPASSRLS"
            )
        if table.view is None:
            return table
        related = behind(table.view, self._others(parts), self._behind)
        return replace_field(table, related=tuple(related))

    def _others(self, parts: tuple[str, ...]) -> list[Row]:
        """The other relations of a schema."""
        return self._look(
            "SELECT n.nspname, c.relname FROM pg_class AS c"
            " JOIN pg_namespace AS n ON n.oid = c.relnamespace"
            " WHERE n.nspname = %s AND c.relkind IN ('r', 'p', 'm', 'v') AND c.relname <> %s",
            parts,
        )

    def _behind(self, parts: tuple[str, ...]) -> Table:
        """A relation by itself; WarehouseError where it, or a part of it, is no source."""
        found, name = self._look(_RELATION, parts), ".".join(parts)
        if not found:
            raise missing(parts, self._look(_NAMES))
        for oid, kind, member, is_computed in self._look(_FAMILY, parts):
            is_part = oid != found[0][0]
            told = f"{member}, a part of {name}," if is_part else name
            if kind in _NO_SOURCE:
                raise WarehouseError(f"{told} is {_NO_SOURCE[kind]}; copy it into a table")
            if is_part and is_computed:
                raise WarehouseError(
                    f"{told} has a column that is computed when it is read, and could fail on one"
                    " row; store it"
                )
        columns = (self._column(name, row) for row in self._look(_COLUMNS, (found[0][0],)))
        unique = frozenset(name for (name,) in self._look(_UNIQUE, (found[0][0],)))
        return Table(tuple(columns), parts=parts, view=found[0][3], unique=unique)

    def facts(self, table: Table) -> object:
        """The relations that are read, each with its partitions."""
        read = [each.parts for each in (table, *table.related)]
        return [self._look(_FAMILY, parts) for parts in read]

    def _column(self, table: str, row: Row) -> Column:
        name, kind, generated, type_kind, collation, labels = row
        if generated == "v":
            raise WarehouseError(
                f"{table}: the column {name!r} is computed when it is read, and could fail on one"
                " row; store it"
            )
        if type_kind == "e":
            return Column(name, f"ENUM({labels})")
        meaning = type_of("postgres", kind)
        return Column(name, meaning + (f" COLLATE {collation}" if collation else ""))

    @contextmanager
    def bound(self, salt: str) -> Iterator[None]:
        """The secret as a setting of this transaction, which comes there past every log."""
        postgres_secret.send(self._connection, self.ask, SALT, salt)
        try:
            yield
        finally:
            # A transaction that failed has forgotten it.
            with suppress(WarehouseError):
                self.ask("SELECT set_config(%s, '', true)", (SALT,))

    def fingerprint(self, policy: Policy, table: Table, salt: bytes) -> bytes:
        """What a release reads of the source; first, that a secret could be sent for it."""
        if policy.method == "keyed":
            postgres_secret.check_unlogged(self.ask)
        return super().fingerprint(policy, table, salt)

    def numbers(self, count: int) -> str:
        """``generate_series``."""
        return f"(SELECT generate_series(0, {count - 1}) AS n) AS known"

    def state(self, parts: tuple[str, ...], columns: tuple[str, ...], seed: bytes) -> bytes:
        """Two seeded sums of a hash of each row, by the engine's own hash of its types."""
        row = f"ROW({', '.join(quoted(name) for name in columns)})"
        seeds = (seed[:8], seed[8:16])
        values = tuple(int.from_bytes(half, "big", signed=True) for half in seeds)
        sums = ", ".join(f"sum(hash_record_extended({row}, %s))" for _ in values)
        return repr(self.ask(f"SELECT count(*), {sums} FROM {quoted(*parts)}", values)).encode()

    def unchanged(self, policy: Policy, table: Table) -> Callable[[], None]:
        """The rows are those of one snapshot, so that only the catalog is looked at."""
        return lambda: self.check_certified(table)

    def target(self, relation: str) -> tuple[str, ...]:
        """The full name of a table to write."""
        parts = self.full_name(relation)
        self.check_length(parts)
        found = self._look(
            "SELECT has_schema_privilege(oid, 'CREATE') FROM pg_namespace WHERE nspname = %s"
            " AND NOT starts_with(nspname, 'pg_')",
            (parts[0],),
        )
        if not found or not found[0][0]:
            raise WarehouseError(
                f"the warehouse has no schema {parts[0]} in which the role may create tables; make"
                " it, or name another in release.relation"
            )
        return parts

    def exists(self, target: tuple[str, ...]) -> bool:
        """Whether a relation of that name is there, of any kind."""
        return bool(self._look("SELECT to_regclass(%s) IS NOT NULL", (quoted(*target),))[0][0])

    def comment(self, target: tuple[str, ...]) -> str:
        """The comment of a table; empty where it has none, or where the name is no table's."""
        found = self._look(
            "SELECT obj_description(c.oid, 'pg_class') FROM pg_class AS c"
            " WHERE c.oid = to_regclass(%s) AND c.relkind = 'r'",
            (quoted(*target),),
        )
        return str(found[0][0] or "") if found else ""

    def check_replaceable(self, target: tuple[str, ...]) -> None:
        """Refuse a table that has more than its rows and rights, or is depended on."""
        super().check_replaceable(target)
        postgres_replacing.check(self._look, target)

    def rows(self, sql: str) -> pa.Table:
        """Run a certified text that selects, and fetch what it releases."""
        with withheld():
            return rows_of(self._connection, sql)

    def publish(
        self,
        query: str,
        target: tuple[str, ...],
        comment: str,
        attest: Callable[[], None],
        *,
        replace: bool,
    ) -> None:
        """Create ``target``, comment it and call ``attest``, in the one transaction."""
        with withheld():
            try:
                granted = self._dropped(target) if replace else []
                self._do(created(query, quoted(*target)))
                self._keep_to_oneself(target, granted)
                self._do(f"COMMENT ON TABLE {quoted(*target)} IS {literal(comment)}")
                attest()
                self._connection.commit()
            except BaseException:
                with suppress(psycopg.Error):
                    self._connection.rollback()
                raise

    def _dropped(self, target: tuple[str, ...]) -> list[Row]:
        """Drop the table that is replaced; who may do what with it, as it stands at that moment."""
        if not self.exists(target):
            return []
        self._do(f"LOCK TABLE {quoted(*target)} IN ACCESS EXCLUSIVE MODE")
        self.check_replaceable(target)
        granted = postgres_replacing.granted(self._look, target)
        self._do(f"DROP TABLE {quoted(*target)}")
        return granted

    def _keep_to_oneself(self, target: tuple[str, ...], granted: list[Row]) -> None:
        """The rights of the table before, and no others: default privileges could give more."""
        name = quoted(*target)
        for grantee in dict.fromkeys(
            row[0] for row in postgres_replacing.granted(self.ask, target)
        ):
            self._do(f"REVOKE ALL ON {name} FROM {grantee}")
        for grantee, privilege, is_grantable in granted:
            more = " WITH GRANT OPTION" if is_grantable else ""
            self._do(f"GRANT {privilege} ON {name} TO {grantee}{more}")

    def release_lines(self, target: tuple[str, ...]) -> Iterator[Row]:
        """The rows of a published table, in their order, each value as the engine writes it."""
        columns = self.ask(
            "SELECT attname FROM pg_attribute WHERE attrelid = to_regclass(%s) AND attnum > 0"
            " AND NOT attisdropped ORDER BY attnum",
            (quoted(*target),),
        )
        shown = ", ".join(f'{quoted(name)}::text COLLATE "C"' for (name,) in columns)
        order = ", ".join(str(place) for place in range(1, len(columns) + 1))
        with withheld(), self._connection.cursor("policy_engine_release") as cursor:
            cursor.execute(f"SELECT {shown} FROM {quoted(*target)} ORDER BY {order}".encode())
            yield from cursor

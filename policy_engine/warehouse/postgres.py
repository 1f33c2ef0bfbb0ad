"""PostgreSQL: one session that reads a snapshot, and one that asks the catalog.

What is certified is what is read, and what is published stands or falls as a whole: that is one
transaction of isolation REPEATABLE READ. Its snapshot is of rows only: a query is planned by what
the catalog says at that moment. So the catalog is asked in a session of its own, as it is now, and
once more when the first query has taken its locks on the source and on all that it reads: no view,
table or column can be exchanged from then on. What such locks let through, as a partition that is
attached, is looked at before the release leaves.

A release is replaced by a new table of its name. Rights that its owner granted to roles on the
whole table are given anew; everything else would be lost, which can widen what a role sees, or the
table could not be dropped at all. So it is refused before a charge, with what to do.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Any

import psycopg
import pyarrow as pa

from policy_engine.compile.catalog import Field, Table
from policy_engine.compile.rendering import created
from policy_engine.dialects import dialect_named
from policy_engine.engines.types import type_of
from policy_engine.errors import WarehouseError
from policy_engine.names import dotted
from policy_engine.policy.resolve import Policy
from policy_engine.warehouse.base import Columns, Make, Row, Texts, Transactional
from policy_engine.warehouse.catalogs import Name, check_columns, missing, no_schema
from policy_engine.warehouse.postgres_session import PinnedConnection
from policy_engine.warehouse.quoting import literal

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
           (WITH RECURSIVE base (oid, beneath, kind, input) AS (
                SELECT t.oid, t.typbasetype, t.typtype, t.typinput UNION ALL
                SELECT b.oid, b.typbasetype, b.typtype, b.typinput
                FROM base JOIN pg_type AS b ON b.oid = base.beneath WHERE base.kind = 'd'
            ) SELECT CASE WHEN oid IN ('text'::regtype, 'varchar'::regtype, 'bpchar'::regtype)
                          THEN 'text' WHEN input::text ~ '(^|[.])citextin$'
                          THEN 'citext' END
              FROM base WHERE kind <> 'd'),
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
# Of a constraint that is not valid yet older rows may lack a value.
_FILLED = """
    SELECT a.attname FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid
    WHERE c.oid = %s AND a.attnum > 0 AND NOT a.attisdropped AND a.attnotnull
        AND (c.relkind = 'p' OR c.relkind = 'r' AND NOT c.relhassubclass)
        AND NOT EXISTS (SELECT FROM pg_constraint AS n WHERE n.conrelid = c.oid
            AND n.contype = 'n' AND NOT n.convalidated AND a.attnum = ANY (n.conkey))
"""
_OTHERS = """
    SELECT n.nspname, c.relname FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE n.nspname = %s AND c.relkind IN ('r', 'p', 'm', 'v') AND c.relname <> %s
"""
_HAS = """
    SELECT pg_get_userbyid(c.relowner), c.relowner = (SELECT oid FROM pg_roles
           WHERE rolname = current_user),
           c.relrowsecurity OR EXISTS (SELECT FROM pg_policy WHERE polrelid = c.oid),
           EXISTS (SELECT FROM pg_rewrite WHERE ev_class = c.oid),
           EXISTS (SELECT FROM pg_trigger WHERE tgrelid = c.oid AND NOT tgisinternal),
           EXISTS (SELECT FROM pg_attribute WHERE attrelid = c.oid AND attacl IS NOT NULL),
           EXISTS (SELECT FROM aclexplode(c.relacl) WHERE grantor <> c.relowner),
           EXISTS (SELECT FROM pg_inherits WHERE c.oid IN (inhrelid, inhparent)),
           EXISTS (SELECT FROM pg_seclabel WHERE objoid = c.oid
                   AND classoid = 'pg_class'::regclass)
    FROM pg_class AS c WHERE c.oid = to_regclass(%s)
"""
_LOST = (
    "row-level security or policies",
    "rules",
    "triggers",
    "rights on single columns",
    "rights that another role than its owner granted",
    "a table that inherits from it, or from which it does",
    "security labels",
)
_DEPENDS = """
    SELECT pg_describe_object(d.classid, d.objid, 0)
    FROM pg_class AS c LEFT JOIN pg_type AS t ON t.oid = c.reltype
    JOIN pg_depend AS d ON d.deptype = 'n'
         AND ((d.refclassid = 'pg_class'::regclass AND d.refobjid = c.oid)
              OR (d.refclassid = 'pg_type'::regclass AND d.refobjid IN (t.oid, t.typarray)))
    WHERE c.oid = to_regclass(%s) AND NOT (d.classid = 'pg_class'::regclass AND d.objid = c.oid)
    ORDER BY 1 LIMIT 1
"""
# Who holds what a reader, or a release in its place, waits for.
_HOLDERS = """
    SELECT n.nspname || '.' || c.relname,
           format('session %%s of the role %%s%%s', a.pid, a.usename,
                  CASE WHEN a.application_name <> '' THEN ' (' || a.application_name || ')' END)
    FROM pg_locks AS l JOIN pg_class AS c ON c.oid = l.relation
    JOIN pg_namespace AS n ON n.oid = c.relnamespace JOIN pg_stat_activity AS a ON a.pid = l.pid
    WHERE l.granted AND l.mode = 'AccessExclusiveLock' AND c.oid IN
          (SELECT to_regclass(name) FROM unnest(%s::text[]) AS name) AND a.pid <> ALL (%s)
    ORDER BY a.pid
"""
# A collation that is not its type's own is a part of how a column is declared.
_DECLARED = """
    SELECT a.attname, format_type(a.atttypid, a.atttypmod) || coalesce((
        SELECT ' COLLATE ' || quote_ident(n.nspname) || '.' || quote_ident(l.collname)
        FROM pg_collation AS l JOIN pg_namespace AS n ON n.oid = l.collnamespace
        WHERE l.oid = a.attcollation AND a.attcollation <> t.typcollation), '')
    FROM pg_attribute AS a JOIN pg_type AS t ON t.oid = a.atttypid
    WHERE a.attrelid = to_regclass(%s) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
"""
# Who may do what with a table, and whether that role may grant it on.
_GRANTED = """
    SELECT CASE grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END,
           privilege_type, is_grantable
    FROM pg_class, aclexplode(relacl) WHERE oid = to_regclass(%s)
"""


class PostgresWarehouse(Transactional):
    """A PostgreSQL server, by a URL or a connection string of libpq."""

    dialect = dialect_named("postgres")
    _error = psycopg.Error
    _text = '{}::text COLLATE "C"'
    _edition_type = "text"

    def __init__(self, name: str, url: str, settings: tuple[tuple[str, str], ...] = ()) -> None:
        super().__init__(name)
        self._session = PinnedConnection(name, url, settings)
        self.settings = self._session.settings
        self._connection, self.engine_version = self._session.connection, self._session.version
        try:
            self._catalog = PinnedConnection(name, url)
        except BaseException:
            self._connection.close()
            raise
        self._session.blocked_by = self._holders
        self._connection.autocommit = False
        self._connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ

    def close(self) -> None:
        """End the connections; what was not published is rolled back."""
        self._connection.close()
        self._catalog.connection.close()

    def _holders(self) -> tuple[str, list[str]]:
        """The relations of a release that others lock, and those sessions."""
        read = {
            each.parts for table, _ in self._certified.values() for each in (table, *table.related)
        }
        names = [self.quoted(*parts) for parts in {*read, *self._aside}]
        own = [self._connection.info.backend_pid, self._catalog.connection.info.backend_pid]
        with suppress(WarehouseError):
            found = self._look(_HOLDERS, (names, own))
            held = ", ".join(dict.fromkeys(row[0] for row in found))
            return held, list(dict.fromkeys(row[1] for row in found))
        return "", []

    def _withheld(self) -> AbstractContextManager[None]:
        return self._session.withheld()

    def ask(self, sql: str, values: tuple[Any, ...] = ()) -> list[Row]:
        """The rows of a query of ours, in the transaction that reads."""
        return self._session.ask(sql, values)

    def _look(self, sql: str, values: tuple[Any, ...] = ()) -> list[Row]:
        """The rows of a query of ours of the catalog, as it is now."""
        return self._catalog.ask(sql, values)

    def _full_name(self, relation: str) -> Name:
        parts = self._parts(relation)
        if len(parts) == 3 and parts[0] == self._connection.info.dbname:
            parts = parts[1:]
        schemas = self._session.schemas or ["public"]
        if len(parts) > 1:
            return self._in_full(relation if len(parts) != 2 else dotted(parts), schemas[0])
        # The one in which the role's search path finds it.
        found = (schema for schema in schemas if self.exists((schema, *parts)))
        return (next(found, schemas[0]), *parts)

    def _described(self, parts: Name) -> Table:
        table = super()._described(parts)
        if self._look(_RELATION, parts)[0][2]:
            raise WarehouseError(
                f"{table.name} has row-level security, and the role would not see every row;"
                " release with the role that owns it, or one with BYPASSRLS"
            )
        return table

    def _beside(self, parts: Name) -> list[Name]:
        return self._look(_OTHERS, parts)

    def _by_itself(self, parts: Name) -> Table:
        """A table or view; WarehouseError where it, or a part of it, is no source."""
        found, name = self._look(_RELATION, parts), ".".join(parts)
        if not found:
            raise missing(parts, self._look(_NAMES))
        [(number, _, _, view)] = found
        for oid, kind, member, is_computed in self._look(_FAMILY, parts):
            is_part = oid != number
            told = f"{member}, a part of {name}," if is_part else name
            if kind == "f":
                raise WarehouseError(
                    f"{told} is a foreign table, whose rows are another server's to change; copy"
                    " it into a table"
                )
            if is_part and is_computed:
                raise WarehouseError(
                    f"{told} has a column that is computed when it is read, and could fail on one"
                    " row; store it"
                )
        rows = self._look(_COLUMNS, (number,))
        check_columns(name, (), (row[0] for row in rows if row[2] == "v"))
        unique = frozenset(name for (name,) in self._look(_UNIQUE, (number,)))
        filled = frozenset(name for (name,) in self._look(_FILLED, (number,)))
        columns = tuple(map(_column, rows))
        return Table(columns, parts=parts, view=view, unique=unique, filled=filled)

    def _facts(self, table: Table) -> object:
        """The relations that are read, each with its partitions."""
        return [self._look(_FAMILY, each.parts) for each in (table, *table.related)]

    @contextmanager
    def bound(self, salt: str) -> Iterator[None]:
        """The secret as a setting of this transaction, which comes there past every log."""
        self._session.send(SALT, salt)
        try:
            yield
        finally:
            # A transaction that failed has forgotten it.
            with suppress(WarehouseError):
                self.ask("SELECT set_config(%s, '', true)", (SALT,))

    def _take_hold(self, policy: Policy, table: Table) -> None:
        if policy.method == "keyed":
            self._session.check_unlogged()
        # The snapshot begins here, and the locks on the source and on all that it reads.
        for each in table.relations:
            self.ask(f"SELECT 1 FROM {self.quoted(*each.parts)} LIMIT 0")

    def _check_place(self, target: Name) -> None:
        if target[0].startswith("pg_"):
            raise WarehouseError(f"{target[0]} is the server's own; name another in release.table")
        found = self._look(
            "SELECT has_schema_privilege(oid, 'CREATE') FROM pg_namespace WHERE nspname = %s",
            target[:1],
        )
        if not found:
            raise no_schema(target[0])
        if not found[0][0]:
            raise WarehouseError(
                f"the role may not create tables in the schema {target[0]}: GRANT CREATE ON SCHEMA"
                f" {self.quoted(target[0])} to it, or name another in release.table",
                of_setup=True,
                code="no_right",
            )

    def _comment(self, target: Name) -> str | None:
        found = self._look(
            "SELECT CASE relkind WHEN 'r' THEN obj_description(oid, 'pg_class') END FROM pg_class"
            " WHERE oid = to_regclass(%s)",
            (self.quoted(*target),),
        )
        return str(found[0][0] or "") if found else None

    def check_replaceable(self, target: Name) -> None:
        """Refuse a table that has more than its rows and rights, or is depended on."""
        super().check_replaceable(target)
        name = ".".join(target)
        for owner, is_own, *has in self._look(_HAS, (self.quoted(*target),)):
            if not is_own:
                raise WarehouseError(
                    f"{name} belongs to {owner}, and only its owner replaces a table: release as"
                    f" {owner}, or drop it first"
                )
            for what, is_there in zip(_LOST, has, strict=True):
                if is_there:
                    raise WarehouseError(
                        f"{name} has {what}, which a table in its place would not have; nothing was"
                        " replaced: remove them, or drop the table, or name another in"
                        " release.table"
                    )
        for (depending,) in self._look(_DEPENDS, (self.quoted(*target),)):
            raise WarehouseError(
                f"{name} cannot be replaced, for {depending} depends on it: drop that first, and"
                " make it again after the release, or name another table in release.table"
            )

    def _plan(self, query: str) -> None:
        # Its rights are checked and its plan is made ready, and no node of it runs.
        self._connection.execute(b"EXPLAIN " + query.encode())

    def check_dbt_builds(self, policy: Policy, table: Table | None, query: str) -> None:
        """As of every engine; dbt's incremental models also need a temporary table."""
        sql = "SELECT current_database(), has_database_privilege(current_database(), 'TEMP')"
        [(database, has_tables)] = self._look(sql)
        if not has_tables:
            raise WarehouseError(
                f"the role may not make temporary tables in the database {database}, and dbt makes"
                " one for each build of a release after the first: GRANT TEMPORARY ON DATABASE"
                f" {self.quoted(database)} to it",
                of_setup=True,
                code="no_right",
            )
        if table is not None:
            # Taken back, for its locks would keep the secret out of the table that the text reads.
            with self._taken_back():
                self.check_reads(policy, table, query)

    def _unreadable(self, table: Table, columns: tuple[str, ...]) -> tuple[str, ...]:
        sql = "SELECT has_column_privilege(to_regclass(%s), %s, 'SELECT')"
        name = self.quoted(*table.parts)
        return tuple(column for column in columns if not self._look(sql, (name, column))[0][0])

    def _emptied(self, query: str) -> str:
        return f"{query}\nWITH NO DATA"

    def _fetched(self, sql: str) -> pa.Table:
        return self._session.rows(sql)

    def _made(self, make: Make, place: Name, comment: str, *, replace: bool) -> None:
        """Make and comment the table, with the rights of the one before and no others."""
        name, granted = self.quoted(*place), []
        if replace and self.exists(place):
            self._session.do(f"LOCK TABLE {name} IN ACCESS EXCLUSIVE MODE")
            self.check_replaceable(place)
            granted = self._look(_GRANTED, (name,))
            self._session.do(f"DROP TABLE {name}")
        make(place)
        # Default privileges could give more.
        for grantee in dict.fromkeys(row[0] for row in self.ask(_GRANTED, (name,))):
            self._session.do(f"REVOKE ALL ON {name} FROM {grantee}")
        for grantee, privilege, is_grantable in granted:
            more = " WITH GRANT OPTION" if is_grantable else ""
            self._session.do(f"GRANT {privilege} ON {name} TO {grantee}{more}")
        self._session.do(f"COMMENT ON TABLE {name} IS {literal(comment)}")

    def _do(self, sql: str) -> None:
        self._session.do(sql)

    def _create(self, query: str, place: Name) -> None:
        self._session.do(created(query, self.quoted(*place)))

    def _types(self, place: Name) -> Columns:
        found = self.ask(_DECLARED, (self.quoted(*place),))
        return tuple((str(name), str(kind)) for name, kind in found)

    def _fill(self, columns: Columns, rows: Iterator[Texts], place: Name) -> None:
        name = self.quoted(*place)
        declared = ", ".join(f"{self.quoted(column)} {kind}" for column, kind in columns)
        self._session.do(f"CREATE TABLE {name} ({declared})")
        with (
            self._withheld(),
            self._connection.cursor() as cursor,
            cursor.copy(f"COPY {name} FROM STDIN".encode()) as copy,
        ):
            for row in rows:
                copy.write_row(row)

    def _columns_of(self, target: Name) -> list[str]:
        return [name for name, _ in self._types(target)]

    def _streamed(self, sql: str) -> Iterator[Row]:
        with self._connection.cursor("policy_engine_release") as cursor:
            cursor.execute(sql.encode())
            yield from cursor


def _column(row: Row) -> Field:
    name, kind, _, type_kind, collation, base, labels = row
    if type_kind == "e":
        return Field(name, f"ENUM({labels})")
    meaning = type_of("postgres", kind)
    # A cast to text of a citext, or of a domain of texts, cannot fail; each text is cast to one.
    if base == "citext":
        return Field(name, "VARCHAR COLLATE citext")
    if base == "text":
        meaning = "VARCHAR"
    return Field(name, meaning + (f" COLLATE {collation}" if collation else ""))

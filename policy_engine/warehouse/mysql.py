"""MariaDB: one session; a table is made aside, and takes its place in one step.

Every statement that makes a table ends the transaction before it. So a release into a file reads
the snapshot that the session began, and a release into a table that of its one statement. The new
table is made under another name in the same schema, and RENAME TABLE swaps it in: rights are
granted by name here, so the swap changes nobody's (measured).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from itertools import islice
from typing import Any

import pyarrow as pa
import pymysql  # type: ignore[import-untyped]  # it has none
from pymysql.cursors import SSCursor  # type: ignore[import-untyped]  # it has none

from policy_engine.compile.catalog import Field, Kind, Table
from policy_engine.compile.rendering import created
from policy_engine.dialects import dialect_named
from policy_engine.engines.types import told, type_of
from policy_engine.errors import WarehouseError
from policy_engine.policy.resolve import Policy
from policy_engine.warehouse import mysql_session
from policy_engine.warehouse.base import EDITION, Columns, Make, Row, Texts, Warehouse
from policy_engine.warehouse.catalogs import Name, missing, no_schema, points_to

SALT = "policy_engine_salt"
"""The variable that holds the secret, as 32 hexadecimal digits."""

_ENGINES = frozenset({"InnoDB", "Aria", "MyISAM", "MEMORY"})
# Every text in these is one of UTF-8 too, and no two are the same there.
_CHARSETS = frozenset({"utf8mb4", "utf8mb3", "utf8", "latin1", "ascii"})
_NAMES = """
    SELECT TABLE_SCHEMA, TABLE_NAME FROM information_schema.TABLES
    WHERE TABLE_SCHEMA NOT IN ('information_schema', 'performance_schema', 'mysql', 'sys')
"""
_TABLE = """
    SELECT TABLE_SCHEMA, TABLE_NAME, TABLE_TYPE, ENGINE, TABLE_COMMENT
    FROM information_schema.TABLES WHERE TABLE_SCHEMA = %s AND TABLE_NAME = %s
"""
_MADE = _TABLE.replace("TABLE_COMMENT", "CREATE_TIME")
_VIEW = """
    SELECT TABLE_SCHEMA, TABLE_NAME, VIEW_DEFINITION FROM information_schema.VIEWS
    WHERE TABLE_SCHEMA = %s AND TABLE_NAME = %s
"""
_BASE_TABLES = """
    SELECT TABLE_SCHEMA, TABLE_NAME FROM information_schema.TABLES
    WHERE TABLE_SCHEMA = %s AND TABLE_TYPE = 'BASE TABLE'
"""
_POINTING = """
    SELECT CONSTRAINT_SCHEMA, TABLE_NAME FROM information_schema.REFERENTIAL_CONSTRAINTS
    WHERE UNIQUE_CONSTRAINT_SCHEMA = %s AND REFERENCED_TABLE_NAME = %s
"""
_HAS_TRIGGERS = """
    SELECT TRIGGER_NAME FROM information_schema.TRIGGERS
    WHERE EVENT_OBJECT_SCHEMA = %s AND EVENT_OBJECT_TABLE = %s
"""
_COLUMNS = """
    SELECT TABLE_SCHEMA, TABLE_NAME, COLUMN_NAME, COLUMN_TYPE, DATA_TYPE, CHARACTER_SET_NAME,
           COLLATION_NAME, EXTRA
    FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = %s AND TABLE_NAME = %s
    ORDER BY ORDINAL_POSITION
"""
_NAMED = re.compile(r"`(?:[^`]|``)+`")
_OF_A_COLUMN = """
    SELECT TABLE_SCHEMA, TABLE_NAME, COLUMN_NAME, {}
    FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = %s AND TABLE_NAME = %s
"""
_LENGTHS = _OF_A_COLUMN.format("CHARACTER_MAXIMUM_LENGTH")
_MAY = _OF_A_COLUMN.format("PRIVILEGES")
_NULLS = _OF_A_COLUMN.format("IS_NULLABLE")
# A key of one column. Of UNIQUE it is not asked: unique_checks = 0 lets repeated values in.
_UNIQUE = """
    SELECT TABLE_SCHEMA, TABLE_NAME, MAX(COLUMN_NAME) FROM information_schema.STATISTICS
    WHERE TABLE_SCHEMA = %s AND TABLE_NAME = %s AND INDEX_NAME = 'PRIMARY'
    GROUP BY TABLE_SCHEMA, TABLE_NAME HAVING COUNT(*) = 1
"""


class MariaDBWarehouse(Warehouse):
    """A MariaDB server, by a URL as ``mariadb://user@host/database``."""

    dialect = dialect_named("mariadb")
    appends = True
    _edition_type = "varchar(40) CHARACTER SET ascii COLLATE ascii_bin"
    _text = "CAST({} AS CHAR CHARACTER SET utf8mb4) COLLATE utf8mb4_nopad_bin"

    def __init__(self, name: str, url: str, settings: tuple[tuple[str, str], ...] = ()) -> None:
        super().__init__(name)
        self._url = url
        self._connection = mysql_session.connect(name, url)
        self._memory = mysql_session.Memory.of(settings)
        try:
            self.settings = mysql_session.settled(self._connection, self._memory)
        except BaseException:
            self._connection.close()
            raise
        self.engine_version = str(self._connection.get_server_info()).removeprefix("5.5.5-")
        [(self._schema, folds)] = self.ask("SELECT DATABASE(), @@lower_case_table_names")
        self._folds = folds != "0"
        self._truths: frozenset[str] = frozenset()

    def close(self) -> None:
        """End the connection; what was not published is not there."""
        with suppress(pymysql.Error, OSError):
            self._connection.close()

    def ask(self, sql: str, values: tuple[Any, ...] = ()) -> list[Row]:
        """The rows of a query of ours, each value as a text."""
        return mysql_session.asked(self._connection, sql, values)

    def _withheld(self) -> AbstractContextManager[None]:
        return mysql_session.withheld()

    # The catalog

    def _full_name(self, relation: str) -> Name:
        home = [self._schema] if self._schema else []
        return self._in_full(relation.lower() if self._folds else relation, *home)

    def _catalog(self, sql: str, parts: Name) -> list[Row]:
        """Rows of the catalog about just this name: its own comparison folds letters."""
        return [row[2:] for row in self.ask(sql, parts) if row[:2] == parts]

    def _beside(self, parts: Name) -> list[Name]:
        return self.ask(_BASE_TABLES, parts[:1])

    def _by_itself(self, parts: Name) -> Table:
        """A table or view, with what the catalog says of its columns."""
        name = ".".join(parts)
        found = self._catalog(_TABLE, parts)
        if not found:
            raise missing(parts, self.ask(_NAMES), ", or may not read it")
        kind, engine, _ = found[0]
        columns = tuple(_column(name, row) for row in self._catalog(_COLUMNS, parts))
        if kind == "VIEW":
            view = next((text for (text,) in self._catalog(_VIEW, parts)), None)
            if not view:
                raise WarehouseError(
                    f"{name} is a view whose definition the role may not see; grant it SHOW VIEW,"
                    " or release from a table"
                )
            return Table(columns, parts=parts, view=view, hides=self._hides(parts))
        if kind not in {"BASE TABLE", "SYSTEM VERSIONED"}:
            raise WarehouseError(f"{name} is a {kind.lower()}; copy it into a table")
        if engine not in _ENGINES:
            raise WarehouseError(
                f"{name} is stored by {engine}, whose rows may be another server's or change while"
                " they are read; copy it into a table of InnoDB"
            )
        unique = frozenset(column for (column,) in self._catalog(_UNIQUE, parts))
        filled = frozenset(name for name, null in self._catalog(_NULLS, parts) if null == "NO")
        hides = self._hides(parts)
        return Table(columns, parts=parts, unique=unique, filled=filled, hides=hides)

    def _hides(self, parts: Name) -> bool:
        """Whether the catalog leaves out columns, of which the role has no right at all."""
        every = f"SELECT * FROM {self.quoted(*parts)}"
        try:
            self.ask("PREPARE policy_engine_try FROM %s", (every,))
        except WarehouseError as error:
            return error.code == "no_right"
        self.ask("DEALLOCATE PREPARE policy_engine_try")
        return False

    def _facts(self, table: Table) -> object:
        """How what is read is stored, and since when."""
        return [self._catalog(_MADE, each.parts) for each in (table, *table.related)]

    # The run: a snapshot, the secret, the rows

    def _take_hold(self, policy: Policy, table: Table) -> None:
        if policy.method == "keyed":
            # What cannot be is refused before it is charged.
            mysql_session.keep_from_logs(self._connection)
        self.ask("START TRANSACTION WITH CONSISTENT SNAPSHOT")

    @contextmanager
    def sampled(self, policy: Policy, table: Table, secret: bytes) -> Iterator[Callable[[], None]]:
        """Bind the secret while the body runs; the body gets the check that nothing has changed."""
        kept = ((name, table.find(name)) for name in policy.kept)
        self._truths = frozenset(name for name, c in kept if c and c.kind is Kind.BOOLEAN)
        with self._held(table) as hold, super().sampled(policy, table, secret) as unchanged:

            def check() -> None:
                hold()
                unchanged()

            yield check

    @contextmanager
    def _held(self, table: Table) -> Iterator[Callable[[], None]]:
        """Keep everybody from altering what is read, while the body runs.

        A statement that makes a table ends the transaction before it, and its locks; so they are
        another session's. The body gets a function that raises WarehouseError if that is lost.
        """
        holder = mysql_session.connect(self._name, self._url)

        def hold() -> None:
            for each in table.relations:
                mysql_session.asked(holder, f"SELECT 1 FROM {self.quoted(*each.parts)} LIMIT 0")

        try:
            for statement in mysql_session.HOLDING:
                mysql_session.asked(holder, statement)
            hold()
            yield hold
        finally:
            with suppress(pymysql.Error, OSError):
                holder.close()

    @contextmanager
    def bound(self, salt: str) -> Iterator[None]:
        """The secret as a user variable of this session, whose statements are in no log."""
        mysql_session.keep_from_logs(self._connection)
        self.ask(f"SET @{SALT} = %s", (salt,))
        try:
            yield
        finally:
            # A connection that is lost has forgotten it.
            with suppress(WarehouseError):
                self.ask(f"SET @{SALT} = NULL")

    def _plan(self, query: str) -> None:
        self._make_room(query)
        self.ask("PREPARE policy_engine_try FROM %s", (query,))
        self.ask("DEALLOCATE PREPARE policy_engine_try")
        self.ask(mysql_session.TRIED_SORT)

    def _unreadable(self, table: Table, columns: tuple[str, ...]) -> tuple[str, ...]:
        rights: dict[str, str] = dict(self._catalog(_MAY, table.parts))
        return tuple(name for name in columns if "select" not in str(rights.get(name)).split(","))

    def _emptied(self, query: str) -> str:
        return f"SELECT * FROM (\n{query}\n) AS tried WHERE FALSE"

    def _make_room(self, query: str) -> None:
        """Let a sort of a text hold what it reads and writes, to the last character."""
        names = set(_NAMED.findall(query))
        longest = max(map(len, query.splitlines()))  # a label is in a line
        for parts in self._certified:
            sizes = self._catalog(_LENGTHS, parts)
            read = [int(size or 0) for name, size in sizes if self.quoted(name) in names]
            longest = max([longest, *read])
        self._sort_by(longest, len(names))

    def _sort_by(self, longest: int, keys: int) -> None:
        for statement in mysql_session.sorting(longest, keys, self._memory.sort):
            self.ask(statement)

    def release_lines(self, target: Name, edition: str = "") -> Iterator[Row]:
        """The rows of a published table, in their order, each value as the engine writes it."""
        place = self._aside.get(target, target)
        columns = self._columns_of(place)
        sizes = ", ".join(f"MAX(CHAR_LENGTH({self.quoted(name)}))" for name in columns)
        [found] = self.ask(f"SELECT {sizes} FROM {self.quoted(*place)}")
        longest = max(int(size or 0) for size in found)
        self._sort_by(longest, len(columns))
        yield from super().release_lines(target, edition)

    def _fetched(self, sql: str) -> pa.Table:
        self._make_room(sql)
        return mysql_session.fetched(self._connection, sql, self._truths)

    # The table that is released

    def _check_length(self, parts: Name) -> None:
        """Its names have so many characters."""
        if len(parts[1]) > self.dialect.longest_name:
            raise WarehouseError(
                f"the name {parts[1]} has more than {self.dialect.longest_name} characters; name"
                " another in release.table"
            )

    def _check_place(self, target: Name) -> None:
        schema = target[0]
        if (schema,) not in self.ask("SELECT SCHEMA_NAME FROM information_schema.SCHEMATA"):
            raise no_schema(schema, ", or the role has no right in it")
        mysql_session.check_rights(self._connection, schema)

    def check_replaceable(self, target: Name) -> None:
        """Refuse what would stay with the table before: triggers, and keys that point to it."""
        super().check_replaceable(target)
        for child in self.ask(_POINTING, target):
            raise points_to(target, ".".join(child))
        if self.ask(_HAS_TRIGGERS, target):
            raise WarehouseError(
                f"{'.'.join(target)} has triggers, which a table in its place would not have;"
                " nothing was replaced: remove them, or drop the table, or name another in"
                " release.table"
            )

    def _comment(self, target: Name) -> str | None:
        for kind, _, text in self._catalog(_TABLE, target):
            return "" if kind == "VIEW" else str(text)
        return None

    @contextmanager
    def _alone(self, target: Name) -> Iterator[None]:
        lock = f"policy_engine_{_mark(target)}"
        # A lost connection lets go.
        if self.ask("SELECT GET_LOCK(%s, 30)", (lock,)) != [("1",)]:
            [(holder,)] = self.ask("SELECT IS_USED_LOCK(%s)", (lock,))
            of_whom = f", in the session {holder}" if holder else ""
            raise WarehouseError(
                f"another release into the same table runs{of_whom}; try again later", of_setup=True
            )
        try:
            yield
        finally:
            with suppress(WarehouseError):
                self.ask("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ")
                self.ask("SELECT RELEASE_LOCK(%s)", (lock,))

    def _place(self, target: Name) -> Name:
        return (target[0], f"policy_engine_new_{_mark(target)}")

    def _made(self, make: Make, place: Name, comment: str, *, replace: bool) -> None:
        # It ends here in any case: each step below begins with a commit of the one before.
        self.ask("COMMIT")
        mysql_session.keep_from_binary_log(self._connection)
        for leftover in (place, _before(place)):
            self._drop(leftover)
        # Reads a snapshot of its own, and locks no row of the source.
        self.ask("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")
        make(place)
        self.ask(f"ALTER TABLE {self.quoted(*place)} COMMENT = %s", (comment,))

    def _stands(self, place: Name, target: Name, *, replace: bool) -> None:
        moves, before = [(place, target)], _before(place)
        if replace and self.exists(target):
            moves.insert(0, (target, before))
        renamed = (f"{self.quoted(*one)} TO {self.quoted(*other)}" for one, other in moves)
        self.ask(f"RENAME TABLE {', '.join(renamed)}")
        # The release stands; what it replaced goes, at the latest when it is replaced itself.
        with suppress(WarehouseError):
            self._drop(before)

    def _undone(self, place: Name) -> None:
        """Remove what was made aside, with another connection where this one is lost."""
        with suppress(WarehouseError):
            try:
                self._drop(place)
            except WarehouseError:
                self.close()
                self._connection = mysql_session.connect(self._name, self._url)
                self._drop(place)

    def _add(
        self,
        make: Make,
        target: Name,
        comment: str,
        check: Callable[[], None],
        *,
        replace: bool,
        edition: str,
    ) -> None:
        """In a transaction of its own, once the rows stand aside: to make a table ends one."""
        part = self._place(target)
        try:
            self._made(make, part, "", replace=False)
            if not self.exists(target):
                declared = ((EDITION, self._edition_type), *self._types(part))
                self._fill(declared, iter(()), target)
                self.ask(f"ALTER TABLE {self.quoted(*target)} COMMENT = %s", (comment,))
            self.ask("START TRANSACTION")
            try:
                self._into(part, target, comment, edition, replace=replace)
                with Warehouse._withheld(self):
                    check()
                self.ask("COMMIT")
            except BaseException:
                with suppress(WarehouseError):
                    self.ask("ROLLBACK")
                raise
        finally:
            self._undone(part)

    def _do(self, sql: str) -> None:
        self.ask(sql)

    def _drop(self, table: Name) -> None:
        if self._catalog(_TABLE, table):
            self.ask(f"DROP TABLE IF EXISTS {self.quoted(*table)}")

    def _create(self, query: str, place: Name) -> None:
        self._make_room(query)
        self.ask(created(query, self.quoted(*place)))

    def _types(self, place: Name) -> Columns:
        rows = self._catalog(_COLUMNS, place)
        return tuple((name, _declared(kind, *text)) for name, kind, _, *text, _ in rows)

    def _fill(self, columns: Columns, rows: Iterator[Texts], place: Name) -> None:
        declared = ", ".join(f"{self.quoted(column)} {kind}" for column, kind in columns)
        self.ask(f"CREATE TABLE {self.quoted(*place)} ({declared})")
        values = ", ".join("%s" for _ in columns)
        sql = f"INSERT INTO {self.quoted(*place)} VALUES ({values})"
        with self._withheld(), self._connection.cursor() as cursor:
            while batch := list(islice(rows, 1000)):
                cursor.executemany(sql, batch)
        self.ask("COMMIT")

    def _columns_of(self, target: Name) -> list[str]:
        return [row[0] for row in self._catalog(_COLUMNS, target)]

    def _streamed(self, sql: str) -> Iterator[Row]:
        with self._connection.cursor(SSCursor) as cursor:
            cursor.execute(sql)
            yield from cursor.fetchall_unbuffered()


def _declared(kind: str, charset: str | None, collation: str | None) -> str:
    """A column's type as it is declared; a text's has its character set and collation."""
    return f"{kind} CHARACTER SET {charset} COLLATE {collation}" if charset else kind


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _mark(target: Name) -> str:
    return _digest(".".join(target))[:24]


def _before(place: Name) -> Name:
    """Where the table that is replaced stands meanwhile."""
    return (place[0], place[1].replace("_new_", "_old_"))


def _column(table: str, row: Row) -> Field:
    name, kind, data_type, charset, collation, extra = row
    if "VIRTUAL" in str(extra).upper():
        raise WarehouseError(f"{table}: the column {name!r} is computed when it is read; store it")
    if charset is not None and charset not in _CHARSETS:
        return Field(name, f"OTHER {kind.upper()} OF {charset.upper()}")
    if data_type == "enum":
        return Field(name, "ENUM" + kind[len("enum") :])
    meaning = type_of("mariadb", kind)
    return Field(name, told("mariadb", f"{meaning} COLLATE {collation}" if collation else meaning))

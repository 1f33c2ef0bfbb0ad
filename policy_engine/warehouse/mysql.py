"""MariaDB: one session; a table is made aside, and takes its place in one step.

Every statement that makes a table ends the transaction before it. So a release into a file reads
one snapshot, and a release into a table compares what the source holds before and after. The new
table is made under another name in the same schema, and RENAME TABLE swaps it in: rights are
granted by name here, so the swap changes nobody's (measured).

A comment has at most 2,048 characters, and the facts of a certificate are longer. They stand in a
table ``policy_engine_facts`` of the schema, by their SHA-256, which is what the comment holds: the
facts are there before the table is, and no two statements have to stand or fall together.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import date, datetime
from decimal import Decimal
from functools import partial
from typing import Any

import pyarrow as pa
import pymysql  # type: ignore[import-untyped]  # it has none
from pymysql.constants import FIELD_TYPE  # type: ignore[import-untyped]  # it has none
from pymysql.cursors import SSCursor  # type: ignore[import-untyped]  # it has none

from policy_engine.compile.catalog import Column, Kind, Table
from policy_engine.compile.rendering import created
from policy_engine.dialects import dialect_named
from policy_engine.engines.types import told, type_of
from policy_engine.errors import WarehouseError
from policy_engine.policy.recodings import Keep
from policy_engine.policy.resolve import Policy
from policy_engine.warehouse.mysql_logs import keep_from_binary_log, keep_from_logs
from policy_engine.warehouse.mysql_session import HOLDING, READ_ONLY, WRITES, connect, withheld
from policy_engine.warehouse.nearby import missing
from policy_engine.warehouse.quoting import quoted
from policy_engine.warehouse.server import Row, ServerWarehouse
from policy_engine.warehouse.views import behind

SALT = "policy_engine_salt"
"""The variable that holds the secret, as 32 hexadecimal digits."""

FACTS = "policy_engine_facts"
"""The table of the facts of certificates."""
_COMMENT = re.compile(r"policy-engine release; facts sha256:([0-9a-f]{64})")
_SEED = "policy_engine_seed"
"""The variable of the seed of a fingerprint, which is the same in every run."""
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
_MADE = """
    SELECT TABLE_SCHEMA, TABLE_NAME, TABLE_TYPE, ENGINE, CREATE_TIME
    FROM information_schema.TABLES WHERE TABLE_SCHEMA = %s AND TABLE_NAME = %s
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
# A key of one column. Of UNIQUE it is not asked: unique_checks = 0 lets repeated values in.
_UNIQUE = """
    SELECT TABLE_SCHEMA, TABLE_NAME, MAX(COLUMN_NAME) FROM information_schema.STATISTICS
    WHERE TABLE_SCHEMA = %s AND TABLE_NAME = %s AND INDEX_NAME = 'PRIMARY'
    GROUP BY TABLE_SCHEMA, TABLE_NAME HAVING COUNT(*) = 1
"""


class MariaDBWarehouse(ServerWarehouse):
    """A MariaDB server, by a URL as ``mariadb://user@host/database``."""

    dialect = dialect_named("mariadb")

    def __init__(self, name: str, url: str) -> None:
        super().__init__(name)
        self._url = url
        self._connection = connect(name, url)
        self.engine_version = str(self._connection.get_server_info()).removeprefix("5.5.5-")
        [(self._schema, folds)] = self.ask("SELECT DATABASE(), @@lower_case_table_names")
        self._folds = folds != "0"
        self._reads_snapshot = False
        self._truths: frozenset[str] = frozenset()
        self._aside: tuple[tuple[str, ...], tuple[str, ...]] | None = None

    def close(self) -> None:
        """End the connection; what was not published is not there."""
        with suppress(pymysql.Error, OSError):
            self._connection.close()

    def ask(self, sql: str, values: tuple[Any, ...] = ()) -> list[Row]:
        """The rows of a query of ours, each value as a text."""
        with withheld(), self._connection.cursor() as cursor:
            cursor.execute(sql, values or None)
            return list(cursor.fetchall())

    # The catalog

    def full_name(self, relation: str) -> tuple[str, ...]:
        """schema.name; without a schema, the one of the URL."""
        parts = (relation.lower() if self._folds else relation).split(".")
        if len(parts) == 1 and self._schema:
            parts = [self._schema, *parts]
        if len(parts) != 2:
            raise WarehouseError(
                f"the relation {relation} is not in the warehouse {self._name}; write schema.table"
            )
        return tuple(parts)

    def _catalog(self, sql: str, parts: tuple[str, ...]) -> list[Row]:
        """Rows of the catalog about just this name: its own comparison folds letters."""
        return [row[2:] for row in self.ask(sql, parts) if row[:2] == parts]

    def described(self, parts: tuple[str, ...]) -> Table:
        """A table or view, with what the catalog says of its columns."""
        name = ".".join(parts)
        found = self._catalog(_TABLE, parts)
        if not found:
            raise missing(parts, self.ask(_NAMES), ", or may not read it")
        kind, engine, _ = found[0]
        if kind != "VIEW":
            _check_kind(name, kind, engine)
            unique = {column for (column,) in self._catalog(_UNIQUE, parts)}
            return Table(self._columns(parts), parts=parts, unique=frozenset(unique))
        view = self._view(parts)
        names = self.ask(
            "SELECT TABLE_SCHEMA, TABLE_NAME FROM information_schema.TABLES"
            " WHERE TABLE_SCHEMA = %s AND TABLE_TYPE = 'BASE TABLE'",
            parts[:1],
        )
        related = behind(view, names, self.described)
        return Table(self._columns(parts), parts=parts, view=view, related=tuple(related))

    def facts(self, table: Table) -> object:
        """How what is read is stored, and since when."""
        read = [each.parts for each in (table, *table.related)]
        return [self._catalog(_MADE, parts) for parts in read]

    def _view(self, parts: tuple[str, ...]) -> str:
        sql = (
            "SELECT TABLE_SCHEMA, TABLE_NAME, VIEW_DEFINITION FROM information_schema.VIEWS"
            " WHERE TABLE_SCHEMA = %s AND TABLE_NAME = %s"
        )
        found = self._catalog(sql, parts)
        if not found or not found[0][0]:
            raise WarehouseError(
                f"{'.'.join(parts)} is a view whose definition the role may not see; grant it SHOW"
                " VIEW, or release from a table"
            )
        return str(found[0][0])

    def _columns(self, parts: tuple[str, ...]) -> tuple[Column, ...]:
        return tuple(_column(".".join(parts), row) for row in self._catalog(_COLUMNS, parts))

    # The run: a snapshot, the secret, the rows

    def fingerprint(self, policy: Policy, table: Table, salt: bytes) -> bytes:
        """What a release reads of the source, in a snapshot that begins here."""
        if policy.method == "keyed":
            keep_from_logs(self.ask)  # what cannot be is refused before it is charged
        self.ask("START TRANSACTION WITH CONSISTENT SNAPSHOT")
        engines = self._catalog(_TABLE, table.parts)
        self._reads_snapshot = bool(engines) and engines[0][1] == "InnoDB"
        return super().fingerprint(policy, table, salt)

    @contextmanager
    def sampled(self, policy: Policy, table: Table, secret: bytes) -> Iterator[Callable[[], None]]:
        """Bind the secret while the body runs; the body gets the check that nothing has changed."""
        kept = [name for name, recoding in policy.recodings if recoding == Keep()]
        found = {name: table.find(name) for name in kept}
        self._truths = frozenset(n for n, c in found.items() if c and c.kind is Kind.BOOLEAN)
        with self._held(table) as hold, super().sampled(policy, table, secret) as unchanged:

            def check() -> None:
                hold()
                unchanged()

            yield check

    def unchanged(self, policy: Policy, table: Table) -> Callable[[], None]:
        """A check that the source is as it was; its rows are, where one snapshot is read."""
        if self._reads_snapshot and policy.release.relation is None:
            return lambda: self.check_certified(table)
        return super().unchanged(policy, table)

    @contextmanager
    def _held(self, table: Table) -> Iterator[Callable[[], None]]:
        """Keep everybody from altering what is read, while the body runs.

        A statement that makes a table ends the transaction before it, and its locks; so they are
        another session's. The body gets a function that raises WarehouseError if that is lost.
        """
        holder = connect(self._name, self._url)

        def hold() -> None:
            with withheld(), holder.cursor() as cursor:
                cursor.execute(f"SELECT 1 FROM {_quoted(*table.parts)} LIMIT 0")

        try:
            with withheld(), holder.cursor() as cursor:
                for statement in HOLDING:
                    cursor.execute(statement)
            hold()
            yield hold
        finally:
            with suppress(pymysql.Error, OSError):
                holder.close()

    @contextmanager
    def bound(self, salt: str) -> Iterator[None]:
        """The secret as a user variable of this session, whose statements are in no log."""
        keep_from_logs(self.ask)
        with self._set(SALT, salt):
            yield

    @contextmanager
    def _set(self, name: str, value: str) -> Iterator[None]:
        """A user variable, which is in no text of what reads it, and forgotten afterwards."""
        self.ask(f"SET @{name} = %s", (value,))
        try:
            yield
        finally:
            # A connection that is lost has forgotten it.
            with suppress(WarehouseError):
                self.ask(f"SET @{name} = NULL")

    def numbers(self, count: int) -> str:
        """The sums of three digits."""
        digits = " UNION ALL ".join(f"SELECT {digit} AS d" for digit in range(10))
        tables = " CROSS JOIN ".join(f"({digits}) AS t{place}" for place in range(3))
        n = "t0.d + 10 * t1.d + 100 * t2.d"
        return f"(SELECT {n} AS n FROM {tables} WHERE {n} < {count}) AS known"

    def state(self, parts: tuple[str, ...], columns: tuple[str, ...], seed: bytes) -> bytes:
        """The sums of two halves of a seeded SHA-256 of each row, and the types of its columns."""
        types = {column.name: column.type for column in self._columns(parts)}
        values = [_exactly(name, types.get(name, "")) for name in columns]
        row = ", ',', ".join(f"QUOTE({value})" for value in values) or "''"
        hashed = f"SHA2(CONCAT(CAST(@{_SEED} AS BINARY), {row}), 256) AS h"
        halves = (f"SUM(CAST(CONV(SUBSTR(h, {at}, 15), 16, 10) AS UNSIGNED))" for at in (1, 16))
        inner = f"(SELECT {hashed} FROM {_quoted(*parts)}) AS hashed"
        with self._set(_SEED, seed.hex()):
            found = self.ask(f"SELECT COUNT(*), {', '.join(halves)} FROM {inner}")
        return repr((found, [types.get(name) for name in columns])).encode()

    def rows(self, sql: str) -> pa.Table:
        """Run a certified text that selects, and fetch what it releases."""
        with withheld(), self._connection.cursor() as cursor:
            cursor.execute(sql)
            fields = cursor._result.fields if cursor._result is not None else ()
            lines = cursor.fetchall()
            columns = zip(*lines, strict=True) if lines else ((),) * len(fields)
            made = [
                _array(field, values, is_truth=field.name in self._truths)
                for field, values in zip(fields, columns, strict=True)
            ]
        return pa.table(made, names=[field.name for field in fields])

    # The table that is released

    def target(self, relation: str) -> tuple[str, ...]:
        """The full name of a table to write."""
        parts = self.full_name(relation)
        if len(parts[1]) > self.dialect.longest_name:
            raise WarehouseError(
                f"the name {parts[1]} has more than {self.dialect.longest_name} characters; name"
                " another in release.relation"
            )
        schemas = self.ask("SELECT SCHEMA_NAME FROM information_schema.SCHEMATA")
        if (parts[0],) not in schemas:
            raise WarehouseError(
                f"the warehouse has no schema {parts[0]}, or the role has no right in it; make it,"
                " or name another in release.relation"
            )
        self._check_rights(parts[0])
        return parts

    def _check_rights(self, schema: str) -> None:
        """Refuse what would fail when the sample is paid for; what roles may do is not known."""
        [(user, is_role, locked)] = self.ask(
            "SELECT CURRENT_USER(), CURRENT_ROLE() IS NOT NULL, @@global.read_only"
        )
        name, _, host = user.rpartition("@")
        granted = self.ask(
            "SELECT PRIVILEGE_TYPE FROM information_schema.USER_PRIVILEGES WHERE GRANTEE = %s"
            " UNION SELECT PRIVILEGE_TYPE FROM information_schema.SCHEMA_PRIVILEGES"
            " WHERE GRANTEE = %s AND %s LIKE TABLE_SCHEMA",
            (f"'{name}'@'{host}'", f"'{name}'@'{host}'", schema),
        )
        rights = {right for (right,) in granted}
        if is_role == "0" and locked != "0" and not rights & {"SUPER", "READ_ONLY ADMIN"}:
            raise WarehouseError(READ_ONLY)
        missing = [right for right in WRITES if right not in rights]
        if is_role == "0" and missing:
            raise WarehouseError(
                f"the role may not make a table in {schema}: grant it {', '.join(missing)} on"
                f" {schema}.*, or name another schema in release.relation"
            )

    def check_replaceable(self, target: tuple[str, ...]) -> None:
        """Refuse what would stay with the table before: triggers, and keys that point to it."""
        super().check_replaceable(target)
        name = ".".join(target)
        for child in self.ask(_POINTING, target):
            raise WarehouseError(
                f"{name} cannot be replaced, for a foreign key of {'.'.join(child)} points to it:"
                " drop that first, or name another table in release.relation"
            )
        if self.ask(_HAS_TRIGGERS, target):
            raise WarehouseError(
                f"{name} has triggers, which a table in its place would not have; nothing was"
                " replaced: remove them, or drop the table, or name another in release.relation"
            )

    def exists(self, target: tuple[str, ...]) -> bool:
        """Whether a relation of that name is there, of any kind."""
        return bool(self._catalog(_TABLE, target))

    def comment(self, target: tuple[str, ...]) -> str:
        """The facts that the comment of a table names; else the comment; empty where is none."""
        found = self._catalog(_TABLE, target)
        if not found or found[0][0] == "VIEW":
            return ""
        named = _COMMENT.fullmatch(found[0][2])
        if named is None:
            return str(found[0][2])
        facts = (target[0], FACTS)
        rows = (
            self.ask(f"SELECT facts FROM {_quoted(*facts)} WHERE digest = %s", (named[1],))
            if self.exists(facts)
            else []
        )
        return next((str(text) for (text,) in rows if _digest(text) == named[1]), "")

    def publish(
        self,
        query: str,
        target: tuple[str, ...],
        comment: str,
        attest: Callable[[], None],
        *,
        replace: bool,
    ) -> None:
        """Make the table aside, comment it, call ``attest`` and swap it in."""
        mark = _digest(".".join(target))[:24]
        aside, before = ((target[0], f"policy_engine_{way}_{mark}") for way in ("new", "old"))
        with self._alone(mark):
            # It ends here in any case: each step below begins with a commit of the one before.
            self.ask("COMMIT")
            keep_from_binary_log(self.ask)
            for leftover in (aside, before):
                self._drop(leftover)
            try:
                self._write_facts(target[0], comment)
                # Reads a snapshot of its own, and locks no row of the source.
                self.ask("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")
                self.ask(created(query, _quoted(*aside)))
                about = f"policy-engine release; facts sha256:{_digest(comment)}"
                self.ask(f"ALTER TABLE {_quoted(*aside)} COMMENT = '{about}'")
                self._aside = (target, aside)
                attest()
                self._swap(target, aside, before, replaces=replace and self.exists(target))
            except BaseException:
                self._forget(aside)
                raise
            finally:
                self._aside = None
            # The release stands; what it replaced goes, at the latest when it is replaced itself.
            with suppress(WarehouseError):
                self._drop(before)

    def _swap(
        self,
        target: tuple[str, ...],
        aside: tuple[str, ...],
        before: tuple[str, ...],
        *,
        replaces: bool,
    ) -> None:
        moves = [(target, before)] if replaces else []
        moves.append((aside, target))
        renamed = ", ".join(f"{_quoted(*one)} TO {_quoted(*other)}" for one, other in moves)
        self.ask(f"RENAME TABLE {renamed}")

    @contextmanager
    def _alone(self, mark: str) -> Iterator[None]:
        """Keep other releases into the same place out; a lost connection lets go."""
        name = f"policy_engine_{mark}"
        if self.ask("SELECT GET_LOCK(%s, 30)", (name,)) != [("1",)]:
            raise WarehouseError("another release into the same table runs; try again later")
        try:
            yield
        finally:
            with suppress(WarehouseError):
                self.ask("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ")
                self.ask("SELECT RELEASE_LOCK(%s)", (name,))

    def _write_facts(self, schema: str, facts: str) -> None:
        name = _quoted(schema, FACTS)
        if not self.exists((schema, FACTS)):
            self.ask(
                f"CREATE TABLE IF NOT EXISTS {name} (digest CHAR(64) CHARACTER SET ascii NOT NULL"
                " PRIMARY KEY, facts LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin"
                " NOT NULL) ENGINE = InnoDB"
            )
        self.ask(f"INSERT IGNORE INTO {name} VALUES (%s, %s)", (_digest(facts), facts))
        self.ask("COMMIT")

    def _drop(self, table: tuple[str, ...]) -> None:
        if self.exists(table):
            self.ask(f"DROP TABLE IF EXISTS {_quoted(*table)}")

    def _forget(self, aside: tuple[str, ...]) -> None:
        """Remove what was made aside, with another connection where this one is lost."""
        with suppress(WarehouseError):
            try:
                self._drop(aside)
            except WarehouseError:
                self.close()
                self._connection = connect(self._name, self._url)
                self._drop(aside)

    def release_lines(self, target: tuple[str, ...]) -> Iterator[Row]:
        """The rows of a published table, in their order, each value as the engine writes it."""
        if self._aside is not None and self._aside[0] == target:
            target = self._aside[1]
        columns = [row[0] for row in self._catalog(_COLUMNS, target)]
        told = f"AS CHAR CHARACTER SET utf8mb4) COLLATE {_BYTEWISE}"
        shown = ", ".join(f"CAST({_quoted(name)} {told}" for name in columns)
        order = ", ".join(str(place) for place in range(1, len(columns) + 1))
        with withheld(), self._connection.cursor(SSCursor) as cursor:
            cursor.execute(f"SELECT {shown} FROM {_quoted(*target)} ORDER BY {order}")
            yield from cursor.fetchall_unbuffered()


_BYTEWISE = "utf8mb4_nopad_bin"


_quoted = partial(quoted, sign="`")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _exactly(name: str, kind: str) -> str:
    """A column so that other values have other texts: a FLOAT shows six digits."""
    return f"CAST({_quoted(name)} AS DOUBLE)" if kind == "FLOAT" else _quoted(name)


def _check_kind(name: str, kind: str, engine: str) -> None:
    if kind not in {"BASE TABLE", "SYSTEM VERSIONED"}:
        raise WarehouseError(f"{name} is a {kind.lower()}; copy it into a table")
    if engine not in _ENGINES:
        raise WarehouseError(
            f"{name} is stored by {engine}, whose rows may be another server's or change while"
            " they are read; copy it into a table of InnoDB"
        )


def _column(table: str, row: Row) -> Column:
    name, kind, data_type, charset, collation, extra = row
    if "VIRTUAL" in str(extra).upper():
        raise WarehouseError(f"{table}: the column {name!r} is computed when it is read; store it")
    if charset is not None and charset not in _CHARSETS:
        return Column(name, f"OTHER {kind.upper()} OF {charset.upper()}")
    if data_type == "enum":
        return Column(name, "ENUM" + kind[len("enum") :])
    meaning = type_of("mariadb", kind)
    return Column(name, told("mariadb", f"{meaning} COLLATE {collation}" if collation else meaning))


_WHOLE = frozenset(
    {FIELD_TYPE.TINY, FIELD_TYPE.SHORT, FIELD_TYPE.INT24, FIELD_TYPE.LONG, FIELD_TYPE.LONGLONG}
)
_DECIMALS = frozenset({FIELD_TYPE.DECIMAL, FIELD_TYPE.NEWDECIMAL})
_UNSIGNED = 32


def _array(field: Any, values: tuple[Any, ...], *, is_truth: bool) -> pa.Array:
    """The texts of one column as Arrow; a zero date, which is no day, is NULL."""
    kind, read = _arrow_type(field, is_truth=is_truth)
    return pa.array([None if value is None else read(value) for value in values], kind)


def _arrow_type(field: Any, *, is_truth: bool) -> tuple[pa.DataType, Callable[[str], Any]]:
    kind = field.type_code
    if is_truth:
        return pa.bool_(), lambda text: text != "0"
    if kind in _WHOLE:
        wide = kind == FIELD_TYPE.LONGLONG and field.flags & _UNSIGNED
        return (pa.uint64() if wide else pa.int64()), int
    if kind in _DECIMALS:
        # A sign and, with decimals, a point.
        digits = field.length - (0 if field.flags & _UNSIGNED else 1) - (1 if field.scale else 0)
        return pa.decimal128(digits, field.scale), Decimal
    if kind in {FIELD_TYPE.DATE, FIELD_TYPE.NEWDATE}:
        return pa.date32(), _day
    if kind in {FIELD_TYPE.DATETIME, FIELD_TYPE.TIMESTAMP}:
        return pa.timestamp("us"), _moment
    return pa.string(), str


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _moment(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None

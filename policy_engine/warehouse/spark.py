"""Spark: one pinned session, without transactions.

A release is made aside, with its comment
and properties, and renamed at the end; what it replaces is renamed first, and comes back where that
fails. The secret is the one row of a temporary view: plans and event logs show its columns only
(measured on 4.3.0).

``local[N]``, ``local-cluster[…]`` and ``spark://…`` are masters of a driver in a process beside
this one; its output goes nowhere, for it would quote rows. ``sc://…`` is a server of Spark Connect.
What else a site configures (the catalog, its metastore, memory) stands in its spark-defaults.conf.
"""

from __future__ import annotations

import logging
import subprocess
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from secrets import token_hex
from typing import Any

import pyarrow as pa
from py4j.protocol import Py4JError, Py4JNetworkError  # type: ignore[import-untyped]
from pyspark.errors import AnalysisException, PySparkException

from policy_engine.compile.catalog import INSTEAD_OF_A_VIEW, NO_VIEW, Field, Table
from policy_engine.compile.rendering import created
from policy_engine.dialects import spark_of
from policy_engine.engines.types import type_of
from policy_engine.errors import WarehouseError
from policy_engine.values import frozen
from policy_engine.warehouse import failures
from policy_engine.warehouse.arrow import portable
from policy_engine.warehouse.base import Columns, Make, Row, Texts, Warehouse
from policy_engine.warehouse.catalogs import Name

RELATION, RELEASE = "policy_engine_salts", "next"
"""The secrets relation, and the row of the release that is made next."""
_STORED = ("parquet", "orc", "delta", "iceberg")
"""Formats whose values are read as they are; a text file's are parsed, which can fail on a row."""
_ENGINE = (PySparkException, Py4JError)
_LOST = failures.Cause("the connection to Spark was lost")
_ABSENT = ("TABLE_OR_VIEW_NOT_FOUND", "SCHEMA_NOT_FOUND", "UNRESOLVED_")
"""How the conditions of a text begin that names what is not there."""
_PINNED = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.caseSensitive": "false",
    # It would replace ${x} inside the quotes of a text.
    "spark.sql.variable.substitute": "false",
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.ansi.doubleQuotedIdentifiers": "false",
    "spark.sql.preserveCharVarcharTypeInfo": "false",
    "spark.sql.timestampType": "TIMESTAMP_LTZ",
    "spark.sql.groupByAliases": "true",
    "spark.sql.groupByOrdinal": "true",
    "spark.sql.orderByOrdinal": "true",
    "spark.sql.runSQLOnFiles": "false",
    # A file that cannot be read is an error, and a day before 1900 is none.
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
    "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.int96RebaseModeInRead": "CORRECTED",
    # CREATE TABLE makes a table of the default format, not one of Hive's texts.
    "spark.sql.legacy.createHiveTableByDefault": "false",
}


class SparkWarehouse(Warehouse):
    """The catalog of a Spark session, by the URL of its master or server."""

    _full, _text, _nulls = "catalog.schema.table", "CAST({} AS STRING)", " NULLS LAST"

    def __init__(self, name: str, url: str) -> None:
        super().__init__(name)
        self._session = opened(name, url)
        self._spark = self._session.spark
        self.engine_version = str(self._spark.version)
        self.dialect = spark_of(self.engine_version)

    def close(self) -> None:
        """End the session, and the driver where this program has started it."""
        with quiet(), suppress(*_ENGINE, OSError):
            self._session.end()

    @contextmanager
    def _withheld(self, known: WarehouseError | None = None) -> Iterator[None]:
        """Errors without data in them, nor in their logs; an interrupt cancels what runs."""
        causes: list[failures.Cause | None] = []
        with failures.withheld(known, engine=_ENGINE, told=lambda _: causes[-1]), quiet():
            try:
                yield
            except KeyboardInterrupt:
                with suppress(*_ENGINE, OSError):
                    self._session.cancel()
                raise
            except _ENGINE as error:
                causes.append(_cause(error))
                # They keep their messages beside their arguments.
                error.__dict__.clear()
                raise

    def ask(self, sql: str, values: tuple[Any, ...] = ()) -> list[Row]:
        """The rows of a query of ours; a parameter would be a literal of its plan."""
        assert not values
        with self._withheld():
            return [tuple(row) for row in self._spark.sql(sql).collect()]

    def _full_name(self, relation: str) -> Name:
        [(catalog, schema)] = self.ask("SELECT current_catalog(), current_schema()")
        parts = self._in_full(relation, str(catalog), str(schema))
        # The session's catalog has lower-case names only.
        return tuple(part.lower() if parts[0] == "spark_catalog" else part for part in parts)

    def _by_itself(self, parts: Name) -> Table:
        """A table of a format that stores values, with the types of its columns."""
        name = ".".join(parts)
        if not self._is_there(parts):
            raise WarehouseError(
                f"the warehouse {self._name} has no table {name}; a catalog in memory starts empty:"
                " spark-defaults.conf names a lasting one"
            )
        details = self._details(parts)
        if "VIEW" in details.get("Type", "VIEW"):
            # Its text is read under settings of its own.
            raise WarehouseError(f"{name} {NO_VIEW}; {INSTEAD_OF_A_VIEW}")
        stored = details.get("Provider", "").lower(), details.get("Serde Library", "").lower()
        if stored[0] not in _STORED and not any(each in stored[1] for each in _STORED):
            raise WarehouseError(
                f"{name} must be stored as {', '.join(_STORED)}, found {stored[0] or 'nothing'}:"
                " reading it could fail on one row; make such a table of it"
            )
        with self._withheld():
            self._spark.sql(f"REFRESH TABLE {self.quoted(*parts)}")
            fields = self._spark.table(self.quoted(*parts)).schema.fields
        return Table(tuple(_column(field) for field in fields), parts=parts)

    def _facts(self, table: Table) -> object:
        """Where and since when a table is stored."""
        details = self._details(table.parts)
        return [details.get(key) for key in ("Created Time", "Location", "Provider", "Type")]

    def _is_there(self, parts: Name) -> bool:
        with self._withheld():
            return bool(self._spark.catalog.tableExists(self.quoted(*parts)))

    def _details(self, parts: Name) -> dict[str, str]:
        """What the catalog says of a table, by its own words."""
        rows = self.ask(f"DESCRIBE TABLE EXTENDED {self.quoted(*parts)}")
        place = max(i for i, row in enumerate(rows) if row[0] == "# Detailed Table Information")
        return {str(row[0]): str(row[1]) for row in rows[place + 1 :]}

    @contextmanager
    def bound(self, salt: str) -> Iterator[None]:
        """The secret as the one row of a temporary view of this session."""
        with self._relation(RELATION, {RELEASE: salt}):
            yield

    @contextmanager
    def _relation(self, name: str, salts: dict[str, str]) -> Iterator[None]:
        with self._withheld():
            self._view_of(salts, name)
        try:
            yield
        finally:
            with suppress(WarehouseError), self._withheld():
                self._spark.catalog.dropTempView(name)

    def _view_of(self, salts: dict[str, str], name: str) -> None:
        if self._session.is_remote:
            rows = self._spark.createDataFrame(
                list(salts.items()), "release_id string, salt string"
            )
            rows.createOrReplaceTempView(name)
            return
        # PySpark's own way would write the rows to a file first.
        gateway = self._spark.sparkContext._gateway
        java, types = gateway.jvm, gateway.jvm.org.apache.spark.sql.types
        rows = java.java.util.ArrayList()
        for pair in salts.items():
            values = gateway.new_array(java.java.lang.Object, 2)
            values[0], values[1] = pair
            rows.add(java.org.apache.spark.sql.RowFactory.create(values))
        kind = types.StructType().add("release_id", "string").add("salt", "string")
        self._spark._jsparkSession.createDataFrame(rows, kind).createOrReplaceTempView(name)

    def _check_length(self, parts: Name) -> None:
        """The name where it stands while it is replaced must be one, too."""
        super()._check_length(_old(parts))

    def _check_place(self, target: Name) -> None:
        with self._withheld():
            there = self._spark.catalog.databaseExists(self.quoted(*target[:2]))
        if not there:
            raise WarehouseError(
                f"the warehouse {self._name} has no schema {'.'.join(target[:2])}; make it, or name"
                " another in release.table"
            )

    def _comment(self, target: Name) -> str | None:
        """The comment of a table; one that a crash left renamed comes back."""
        if not self._is_there(target) and self._is_there(_old(target)):
            self._rename(_old(target), target)
        if not self._is_there(target):
            return None
        details = self._details(target)
        return "" if "VIEW" in details.get("Type", "VIEW") else details.get("Comment", "")

    def _plan(self, query: str) -> None:
        # The first is an error where the second would be a text that says so.
        self._spark.sql(query).schema  # noqa: B018
        self._spark.sql(f"EXPLAIN\n{query}").collect()

    def _fetched(self, sql: str) -> pa.Table:
        return portable(self._spark.sql(sql).toArrow())

    def _place(self, target: Name) -> Name:
        return (*target[:-1], f"policy_engine_{token_hex(8)}")

    def _made(self, make: Make, place: Name, comment: str, *, replace: bool) -> None:
        name, text = self.quoted(*place), comment.replace("\\", "\\\\").replace("'", "\\'")
        released = next(target for target, aside in self._aside.items() if aside == place)
        known = WarehouseError(
            f"the warehouse {self._name} could not write {'.'.join(released)}; nothing was"
            " published: see the rights and the space of its schema. The engine's message is"
            " withheld because it may quote data"
        )
        with self._withheld(known):
            make(place)
            self._spark.sql(f"COMMENT ON TABLE {name} IS '{text}'").collect()
            facts = "('policy_engine.release' = 'true')"
            self._spark.sql(f"ALTER TABLE {name} SET TBLPROPERTIES {facts}").collect()

    def _stands(self, place: Name, target: Name, *, replace: bool) -> None:
        """Give what was made its name: two renames of the catalog where one stands."""
        old = _old(target)
        if not replace or not self._is_there(target):
            self._rename(place, target)
            return
        self.ask(f"DROP TABLE IF EXISTS {self.quoted(*old)}")
        self._rename(target, old)
        try:
            self._rename(place, target)
        except BaseException:
            self._rename(old, target)
            raise
        self._undone(old)

    def _undone(self, place: Name) -> None:
        with suppress(WarehouseError):
            self.ask(f"DROP TABLE IF EXISTS {self.quoted(*place)}")

    def _rename(self, before: Name, after: Name) -> None:
        known = WarehouseError(
            f"{'.'.join(after)} has come to be meanwhile, or the catalog does not let tables be"
            " renamed; nothing was published"
        )
        with self._withheld(known):
            # Not its full name: the session's catalog takes no third part here.
            name = self.quoted(after[-1])
            self._spark.sql(f"ALTER TABLE {self.quoted(*before)} RENAME TO {name}").collect()

    def _create(self, query: str, place: Name) -> None:
        self._spark.sql(created(query, self.quoted(*place))).collect()

    def _types(self, place: Name) -> Columns:
        fields = self._spark.table(self.quoted(*place)).schema.fields
        kinds = (
            field.metadata.get("__CHAR_VARCHAR_TYPE_STRING") or field.dataType.simpleString()
            for field in fields
        )
        return tuple((field.name, kind) for field, kind in zip(fields, kinds, strict=True))

    def _fill(self, columns: Columns, rows: Iterator[Texts], place: Name) -> None:
        name = self.quoted(*place)
        declared = ", ".join(f"{self.quoted(column)} {kind}" for column, kind in columns)
        self._spark.sql(f"CREATE TABLE {name} ({declared})").collect()
        while batch := list(islice(rows, 500)):
            values = ", ".join(f"({', '.join(map(_text, row))})" for row in batch)
            shown = ", ".join(f"CAST(col{at} AS {k})" for at, (_, k) in enumerate(columns, 1))
            self._spark.sql(f"INSERT INTO {name} SELECT {shown} FROM VALUES {values}").collect()

    def _columns_of(self, target: Name) -> list[str]:
        with self._withheld():
            return list(self._spark.table(self.quoted(*target)).columns)

    def _streamed(self, sql: str) -> Iterator[Row]:
        for row in self._spark.sql(sql).toLocalIterator():
            yield tuple(row)


def _text(value: str | None) -> str:
    """A text, or NULL, as a literal."""
    if value is None:
        return "CAST(NULL AS STRING)"
    return "'{}'".format(value.replace("\\", "\\\\").replace("'", "\\'"))


def _cause(error: BaseException) -> failures.Cause | None:
    """What may be said of an error: by its kind, or its condition, which has no data."""
    if isinstance(error, Py4JNetworkError):
        return _LOST
    if not isinstance(error, AnalysisException):
        return None
    condition = error.getCondition() or ""
    if condition == "TABLE_OR_VIEW_ALREADY_EXISTS":
        return failures.TAKEN
    return failures.ABSENT if condition.startswith(_ABSENT) else None


def _old(target: tuple[str, ...]) -> tuple[str, ...]:
    """Where the table that is replaced stands meanwhile."""
    return (*target[:-1], f"{target[-1]}_policy_engine_old")


def _column(field: Any) -> Field:
    native = field.metadata.get("__CHAR_VARCHAR_TYPE_STRING") or field.dataType.simpleString()
    bare, _, collation = native.partition(" collate ")
    kind = type_of("spark", bare)
    if not collation or kind != "VARCHAR":
        return Field(field.name, type_of("spark", native) if collation else kind)
    return Field(field.name, f"{kind} COLLATE {collation}")


@frozen
class SparkJobs:
    """A session of its own, with what ends it and what cancels its jobs."""

    spark: Any
    is_remote: bool
    end: Callable[[], None]
    cancel: Callable[[], object]


def opened(name: str, url: str) -> SparkJobs:
    """A session at ``url``, pinned.

    Raises:
        WarehouseError: Spark does not start or answer there, is too old, or cannot be pinned.
    """
    if not url.startswith(("local", "spark://", "yarn", "k8s://", "sc://")):
        raise WarehouseError(
            f"warehouse {name}: the url must be a master of Spark, as in local[2] or"
            " spark://host:7077, or sc://host of Spark Connect"
        )
    with quiet():
        session = _remote(name, url) if url.startswith("sc://") else _driver(name, url)
        try:
            version = session.spark.version
            if tuple(int(part) for part in version.split(".")[:2]) < (4, 0):
                raise WarehouseError(f"warehouse {name}: Spark {version} is older than 4.0")
            for setting, value in _PINNED.items():
                try:
                    session.spark.conf.set(setting, value)
                except Exception:
                    raise WarehouseError(
                        f"warehouse {name}: Spark does not let its session be set, as in {setting}"
                        f" = {value}"
                    ) from None
        except BaseException:
            session.end()
            raise
    return session


@contextmanager
def quiet() -> Iterator[None]:
    """No word from PySpark: neither its errors' log, nor its warnings about other packages."""
    # PySpark writes every error to it as JSON, with the values that it quotes.
    logger = logging.getLogger("SQLQueryContextLogger")
    before, logger.disabled = logger.disabled, True
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.disabled = before


def _driver(name: str, url: str) -> SparkJobs:
    """The driver of this process: Spark has one."""
    from pyspark import SparkConf, SparkContext, java_gateway
    from pyspark.sql import SparkSession

    active = SparkContext._active_spark_context
    if active is not None and active.master != url:
        raise WarehouseError(
            f"warehouse {name}: this process runs Spark at {active.master}, and has one at a time;"
            " stop it first"
        )
    try:
        context = active
        if context is None:
            quietly = dict.fromkeys(("stdout", "stderr"), subprocess.DEVNULL)
            launch: Any = java_gateway.launch_gateway
            gateway = SparkContext._gateway or launch(popen_kwargs=quietly)
            conf = SparkConf(_jvm=gateway.jvm).setMaster(url)
            conf.setIfMissing("spark.app.name", "policy-engine")
            conf.setIfMissing("spark.ui.enabled", "false")
            conf.setIfMissing("spark.ui.showConsoleProgress", "false")
            conf.setIfMissing("spark.log.level", "OFF")
            context = SparkContext(gateway=gateway, conf=conf)
        spark = SparkSession(context).newSession()
    except Exception:
        raise WarehouseError(
            f"warehouse {name}: Spark does not start at {url}; it needs Java 17 or later, and a"
            " cluster that answers"
        ) from None
    # A driver that this program has not started goes on.
    end = context.stop if active is None else lambda: None
    return SparkJobs(spark, False, end, context.cancelAllJobs)


def _remote(name: str, url: str) -> SparkJobs:
    try:
        from pyspark.sql import SparkSession

        spark = SparkSession.builder.remote(url).create()
        spark.version  # noqa: B018  # the first call tells whether the server answers
    except ImportError:
        raise WarehouseError(
            f"warehouse {name}: Spark Connect needs more packages; run"
            " pip install 'pyspark[connect]'"
        ) from None
    except Exception:
        raise WarehouseError(
            f"warehouse {name}: Spark Connect does not answer at its url"
        ) from None
    return SparkJobs(spark, True, spark.stop, spark.interruptAll)

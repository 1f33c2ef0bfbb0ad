"""DuckDB, embedded: files and database files.

The connection is a fresh database in memory. A database file is attached by its warehouse's
name, read-only unless the release goes there, so that macros and settings of that file
cannot change what a certified text means.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from policy_engine.compile.catalog import INSTEAD_OF_A_VIEW, Column, Kind, Table
from policy_engine.compile.rendering import created
from policy_engine.dialects import dialect_named
from policy_engine.errors import FileError, WarehouseError
from policy_engine.kernel.fragments import threshold
from policy_engine.policy.csv_models import is_csv
from policy_engine.policy.reading import meant
from policy_engine.policy.resolve import Policy, Source
from policy_engine.policy.source_models import A_SOURCE_FILE, SAVED_AS, SOURCE_FILES
from policy_engine.warehouse.arrow import portable
from policy_engine.warehouse.drawing import sample_relation
from policy_engine.warehouse.duckdb_sample import DrawnSample
from policy_engine.warehouse.failures import withheld
from policy_engine.warehouse.fingerprints import Files, FilesState, digest_of, files_at
from policy_engine.warehouse.nearby import missing
from policy_engine.warehouse.parquet_folder import (
    DELTA_LOG,
    check_alike,
    check_not_logged,
    files_in,
    partitions_of,
)
from policy_engine.warehouse.quoting import literal, quoted
from policy_engine.warehouse.settings import connect
from policy_engine.warehouse.settling import settle
from policy_engine.warehouse.spill import Spill

if TYPE_CHECKING:
    import pyarrow as pa


class DuckDBWarehouse:
    """One connection; use it in one thread, and close it."""

    dialect = dialect_named("duckdb")
    engine_version = str(duckdb.__version__)

    def __init__(
        self,
        name: str = "",
        database: Path | None = None,
        *,
        writable: bool = False,
        memory_limit: str | None = None,
        threads: int | None = None,
    ) -> None:
        self._spill = Spill()
        self._name = name if database is not None else ""
        self._written = database if writable else None
        self._before: FilesState | None = None
        self._snapshot: Files | None = None
        self._secret = b""
        self._asks: dict[str, bool] = {}
        try:
            self._connection = connect(self._spill.path, memory_limit, threads)
            self._sample = DrawnSample(self._connection)
            if database is not None:
                self._attach(name, database, writable)
        except BaseException:
            self._spill.remove()
            raise

    def _attach(self, name: str, database: Path, writable: bool) -> None:
        if not database.is_file():
            raise WarehouseError(f"warehouse {name}: there is no database file {database}")
        mode = "" if writable else " (READ_ONLY)"
        reason = "it is locked by another process, read-only, or no DuckDB database"
        try:
            self._connection.execute(f"ATTACH {literal(str(database))} AS {quoted(name)}{mode}")
        except duckdb.Error:
            raise WarehouseError(
                f"warehouse {name}: {database} cannot be opened; {reason}"
            ) from None

    @property
    def session(self) -> duckdb.DuckDBPyConnection:
        """The connection itself: one process opens a database's file once."""
        return self._connection

    def close(self) -> None:
        """End the connection, remove what it spilled, and settle the file it wrote to."""
        self._connection.close()
        self._spill.remove()
        if self._written is not None:
            settle(self._written)

    def table(self, source: Source, directory: Path) -> Table:
        """The columns of a file or relation.

        Raises:
            FileError: the file is missing, a directory, empty or of an unknown kind.
            WarehouseError: the relation is not there.
        """
        if source.path is None:
            return self._relation(self._qualified(source.relation or ""))
        path = directory / source.path
        check_file(path, source.path)
        if (path / DELTA_LOG).is_dir():
            return self._delta(path, source.path)
        if is_csv(source.path):
            return self._csv(path, source)
        if not path.is_dir():
            check_not_logged([path], source.path)
        self._search(directory, source.path)
        # Described now: what is fingerprinted must be what was certified.
        self._before = files_at(path).state()
        files = files_in(path, source.path) if path.is_dir() else []
        if files:
            check_alike(self._connection, path, files)
        with withheld(FileError(f"{path} is not a Parquet file that can be read")):
            described = self._connection.execute(
                "DESCRIBE SELECT * FROM read_parquet(?, hive_partitioning = false)",
                [_files(path, source.path)],
            ).fetchall()
        columns = tuple(Column(row[0], row[1]) for row in described)
        partitions = partitions_of(path, files)
        return Table(columns, path=source.path, is_folder=bool(files), partitions=partitions)

    def _search(self, directory: Path, path: str) -> None:
        """Make the engine find the relative ``path`` in ``directory``, and nowhere else."""
        # It looks in the working directory first, and then in a list that commas separate.
        found, folder = directory / path, directory.resolve()
        is_here = Path(path).exists()
        if is_here and not Path(path).samefile(found):
            raise FileError(
                f"the source {path} is in the policy's folder, but another file of that name is"
                f" in the working directory; run the command in {folder}"
            )
        if "," in str(folder) and not is_here:
            raise FileError(
                f"{folder} has a comma in its name, which the warehouse cannot look through;"
                " run the command in it, or rename it"
            )
        self._connection.execute("SET file_search_path = ?", [str(folder)])

    def _csv(self, path: Path, source: Source) -> Table:
        """A CSV file as a temporary table of texts: sniffed types would depend on the data."""
        # Loaded now, and not read again: what is fingerprinted must be what was loaded.
        self._before = files_at(path).state()
        from policy_engine.warehouse.csv_files import load

        load(self._connection, path, source)
        return self._loaded(str(source.path))

    def _delta(self, folder: Path, name: str) -> Table:
        """A Delta table as a temporary view of the files of its last version."""
        if name.lower().startswith(_OURS):
            raise FileError(f"the source {name} is called as the sample is: rename the folder")
        from policy_engine.warehouse.delta import make_view, snapshot_of

        found = snapshot_of(folder, name)
        self._snapshot, self._before = found.files, found.files.state()
        make_view(self._connection, found, name)
        return replace(self._loaded(name), is_folder=True)

    def _loaded(self, name: str) -> Table:
        """What the connection itself holds of a file."""
        columns = self._connection.execute(f"DESCRIBE {quoted(name)}").fetchall()
        return Table(
            tuple(Column(row[0], row[1]) for row in columns),
            path=name,
            parts=("temp", "main", name),
        )

    def _qualified(self, relation: str) -> tuple[str, ...]:
        """database.schema.name; what is missing is the warehouse's database and ``main``."""
        parts = relation.split(".")
        if not self._name:
            raise WarehouseError(
                f"the relation {relation} needs a database; name one under 'warehouses:' in"
                " policy-engine.yaml, as in {type: duckdb, database: people.duckdb}"
            )
        full = {1: [self._name, "main"], 2: [self._name]}.get(len(parts), []) + parts
        if len(full) != 3 or full[0].lower() != self._name.lower():
            raise WarehouseError(
                f"the relation {relation} is not in the warehouse {self._name}; write"
                f" {self._name}.schema.table"
            )
        return tuple(full)

    def _relation(self, parts: tuple[str, ...]) -> Table:
        row = self._one(
            "SELECT sql, NULL FROM duckdb_tables() WHERE (lower(database_name),"
            " lower(schema_name), lower(table_name)) = (?, ?, ?) UNION ALL"
            " SELECT sql, sql FROM duckdb_views() WHERE (lower(database_name),"
            " lower(schema_name), lower(view_name)) = (?, ?, ?)",
            [part.lower() for part in (*parts, *parts)],
        )
        if row is None:
            with withheld():
                names = self._connection.execute(_NAMES).fetchall()
            raise missing(parts, names)
        collations = column_collations(row[0])
        broken = f"{'.'.join(parts)} has a definition that does not work; mend it"
        with withheld(WarehouseError(broken)):
            described = self._connection.execute(f"DESCRIBE {quoted(*parts)}").fetchall()
        columns = tuple(
            Column(name, kind + collations.get(name.lower(), "")) for name, kind, *_ in described
        )
        if row[1] is None:
            return Table(columns, parts=parts, unique=self._unique(parts))
        self._check_macros(parts)
        return Table(columns, parts=parts, view=row[1], related=self._database(parts[0]))

    def _unique(self, parts: tuple[str, ...]) -> frozenset[str]:
        with withheld():
            found = self._connection.execute(_UNIQUE, [part.lower() for part in parts]).fetchall()
        return frozenset(name for (name,) in found)

    def _check_macros(self, view: tuple[str, ...]) -> None:
        """Refuse a view where a macro could stand for what its text seems to call."""
        with withheld():
            found = self._connection.execute(
                "SELECT schema_name || '.' || function_name FROM duckdb_functions()"
                " WHERE NOT internal AND database_name IN ($1, 'temp') ORDER BY 1 LIMIT 1",
                [view[0]],
            ).fetchone()
        if found is not None:
            raise WarehouseError(
                f"{'.'.join(view)} is a view in a database with macros, found {found[0]}: what its"
                f" text calls may be that; {INSTEAD_OF_A_VIEW}"
            )

    def _database(self, name: str) -> tuple[Table, ...]:
        """Every table and view of a database, as its catalog describes them."""
        with withheld():
            made = self._connection.execute(
                "SELECT database_name, schema_name, table_name, sql, NULL FROM duckdb_tables()"
                " WHERE database_name = $1 UNION ALL"
                " SELECT database_name, schema_name, view_name, sql, sql FROM duckdb_views()"
                " WHERE database_name = $1 AND NOT internal",
                [name],
            ).fetchall()
            described = self._connection.execute(
                "SELECT schema_name, table_name, column_name, data_type FROM duckdb_columns()"
                " WHERE database_name = $1 ORDER BY column_index",
                [name],
            ).fetchall()
        columns: dict[tuple[str, str], list[tuple[str, str]]] = {}
        for schema, table, column, kind in described:
            columns.setdefault((schema, table), []).append((column, kind))
        found = (_related(row, columns.get((row[1], row[2]), [])) for row in made)
        return tuple(table for table in found if table is not None)

    def _one(self, sql: str, values: list[Any] | None = None) -> tuple[Any, ...] | None:
        # Fetched to the end: an unread result would block the connection's next statement.
        with withheld():
            rows = self._connection.execute(sql, values or []).fetchall()
        return tuple(rows[0]) if rows else None

    def target(self, relation: str) -> tuple[str, ...]:
        """The full name of a table to write.

        Raises:
            WarehouseError: its database or schema is not there, which is known before a charge.
        """
        parts = self._qualified(relation)
        found = self._one(
            "SELECT count(*) FROM information_schema.schemata WHERE (lower(catalog_name),"
            " lower(schema_name)) = (?, ?)",
            [part.lower() for part in parts[:2]],
        )
        if not found or not found[0]:
            raise WarehouseError(
                f"the warehouse has no schema {parts[0]}.{parts[1]}; make it, or name another"
                " in release.relation"
            )
        return parts

    def exists(self, target: tuple[str, ...]) -> bool:
        """Whether a table or view of that name is there."""
        found = self._one(
            "SELECT count(*) FROM information_schema.tables WHERE (lower(table_catalog),"
            " lower(table_schema), lower(table_name)) = (?, ?, ?)",
            [part.lower() for part in target],
        )
        return bool(found and found[0])

    def check_replaceable(self, target: tuple[str, ...]) -> None:
        """Refuse a table that a key of another points to: the engine does not drop it."""
        found = self._one(
            "SELECT table_name FROM duckdb_constraints() WHERE constraint_type = 'FOREIGN KEY'"
            " AND (lower(database_name), lower(schema_name), lower(referenced_table)) = (?, ?, ?)",
            [part.lower() for part in target],
        )
        if found:
            raise WarehouseError(
                f"{'.'.join(target)} cannot be replaced, for a foreign key of {found[0]} points to"
                " it: drop that first, or name another table in release.relation"
            )

    def comment(self, target: tuple[str, ...]) -> str:
        """The comment of a table; empty where it has none, or where the name is no table's."""
        found = self._one(
            "SELECT comment FROM duckdb_tables() WHERE (lower(database_name),"
            " lower(schema_name), lower(table_name)) = (?, ?, ?)",
            [part.lower() for part in target],
        )
        return str(found[0] or "") if found else ""

    def fingerprint(self, policy: Policy, table: Table, salt: bytes) -> bytes:
        """What a release reads of the source, as bytes: the same data has the same, other others.

        It is a digest of data, and must not leave without a key (theory.md); ``salt`` is secret.

        Raises:
            FileError, WarehouseError: the source cannot be read, or has changed since it was looked
                at first.
        """
        before = self._before = self._before or self._state(policy, table)
        if table.path is not None:
            path = policy.directory / table.path
            with withheld(FileError(f"{path} cannot be read")):
                found = self._files(policy, table).digest()
            if self._state(policy, table) != before:
                raise _changed(table.name)
            return found
        read = {name.lower() for name, _ in (*policy.recodings, *policy.source.order_by)}
        read |= {name.lower() for name in policy.reads_beside}
        read.add((policy.source.key or "").lower())
        columns = [_hashable(c) for c in table.columns if c.name.lower() in read]
        # The rows of a table stand in the order of their numbers; those of a view in none.
        order = " ORDER BY ALL" if table.view is not None else ""
        if not order:
            columns.append("rowid")
        query = f"SELECT {', '.join(columns)} FROM {quoted(*table.parts)}{order}"
        with withheld():
            return digest_of(self._connection.sql(query).to_arrow_reader(1 << 16), salt)

    @contextmanager
    def sampled(self, policy: Policy, table: Table, secret: bytes) -> Iterator[Callable[[], None]]:
        """Draw the sample and hold it, as a relation of units, while the body runs.

        The body gets a function to call before it publishes: it raises WarehouseError if the
        source has changed since the draw, for rows would then have other numbers.

        Raises:
            WarehouseError: the known-answer test failed, or the draw did.
        """
        name = sample_relation(policy.rate)
        before = self._state(policy, table) if self._before is None else self._before
        if policy.method == "keyed":
            with withheld():
                if policy.source.key is None and policy.noise is None:
                    self._sample.check_known_rows()
                else:
                    self._sample.check_known_keys()
                if policy.noise is None:
                    self._draw(name, policy, table, secret)
        self._secret = secret

        def unchanged() -> None:
            if self._state(policy, table) != before:
                raise _changed(table.name)

        try:
            yield unchanged
        finally:
            # A connection that is beyond use has no sample; the first error is told.
            with suppress(duckdb.Error):
                self._sample.drop(name)

    def _state(self, policy: Policy, table: Table) -> FilesState | None:
        return None if table.path is None else self._files(policy, table).state()

    def _files(self, policy: Policy, table: Table) -> Files:
        # Of a Delta table those of the version that was described; a later one is not read.
        return self._snapshot or files_at(policy.directory / str(table.path))

    def _draw(self, name: str, policy: Policy, table: Table, secret: bytes) -> None:
        bound = threshold(policy.rate)
        if policy.source.key is None:
            self._sample.of_rows(name, secret, self._row_count(policy, table), bound)
            return
        source = "read_parquet(?, hive_partitioning = false)"
        values = (
            [] if table.parts else [_files(policy.directory / str(table.path), str(table.path))]
        )
        source = quoted(*table.parts) if table.parts else source
        key = quoted(policy.source.key)
        query = f"SELECT DISTINCT {key} AS unit FROM {source} WHERE {key} IS NOT NULL"
        self._sample.of_keys(name, secret, query, values, bound)

    def _row_count(self, policy: Policy, table: Table) -> int:
        if table.parts:
            found = self._one(f"SELECT coalesce(max(rowid) + 1, 0) FROM {quoted(*table.parts)}")
        else:
            path = str(policy.directory / str(table.path))
            found = self._one("SELECT num_rows FROM parquet_file_metadata(?)", [path])
        return int(found[0]) if found else 0

    def progress(self) -> float | None:
        """As the engine estimates it."""
        found = float(self._connection.query_progress())
        return found if 0 <= found <= 100 else None

    def rows(self, sql: str) -> pa.Table:
        """Run a certified text that selects, and fetch what it releases."""
        with withheld():
            return portable(self._connection.sql(sql, params=self._bound(sql)).to_arrow_table())

    def _bound(self, sql: str) -> dict[str, str] | None:
        """The sample's secret, where the text asks for it: to draw one of a person's rows."""
        if sql not in self._asks:
            named = self._connection.extract_statements(sql)[0].named_parameters
            self._asks[sql] = bool(named)
        return {"salt": self._secret.hex()} if self._asks[sql] else None

    def publish(
        self,
        query: str,
        target: tuple[str, ...],
        comment: str,
        attest: Callable[[], None],
        *,
        replace: bool = False,
    ) -> None:
        """Create ``target``, comment it and call ``attest``, in one transaction."""
        with withheld():
            self._connection.execute("BEGIN")
            try:
                text = created(query, quoted(*target), replaces=replace)
                self._connection.execute(text, self._bound(text))
                self._connection.execute(
                    f"COMMENT ON TABLE {quoted(*target)} IS {literal(comment)}"
                )
                attest()
                self._connection.execute("COMMIT")
            except BaseException:
                # A COMMIT that failed has rolled back already; the first error is told.
                with suppress(duckdb.Error):
                    self._connection.execute("ROLLBACK")
                raise

    def release_lines(self, target: tuple[str, ...]) -> Iterator[tuple[Any, ...]]:
        """The rows of a published table, in their order."""
        with withheld():
            # As the engine writes them: Python has no infinite date and no year before 1.
            found = self._connection.execute(f"SELECT COLUMNS(*)::VARCHAR FROM {quoted(*target)}")
            while batch := found.fetchmany(10_000):
                yield from batch


_UNIQUE = """
    SELECT constraint_column_names[1] FROM duckdb_constraints()
    WHERE (lower(database_name), lower(schema_name), lower(table_name)) = (?, ?, ?)
        AND constraint_type IN ('PRIMARY KEY', 'UNIQUE') AND len(constraint_column_names) = 1
"""
_OURS = "policy_engine_"  # how every temporary table of ours begins
_NAMES = (
    "SELECT table_catalog, table_schema, table_name FROM information_schema.tables"
    " WHERE table_schema <> 'information_schema'"
)


def _files(path: Path, name: str) -> str:
    """A file, or all the Parquet files of a folder, as the certified text names them.

    A pattern is looked for where the engine searches, and nowhere else, wherever the command runs.
    """
    return f"{name}/**/*.parquet" if path.is_dir() else str(path)


def _changed(name: str) -> WarehouseError:
    return WarehouseError(
        f"{name} changed while it was read; nothing was published. Release from a copy that stays"
        " as it is"
    )


def _hashable(column: Column) -> str:
    """A column as a whole number, a floating-point number or a text."""
    name = quoted(column.name)
    return name if column.kind in {Kind.INTEGER, Kind.DOUBLE} else f"{name}::VARCHAR"


def _related(row: tuple[Any, ...], columns: list[tuple[str, str]]) -> Table | None:
    """A table or view of the catalog; None for a table whose definition cannot be read."""
    *parts, ddl, view = row
    try:
        collations = {} if view else column_collations(ddl)
    except WarehouseError:
        return None
    named = (Column(name, kind + collations.get(name.lower(), "")) for name, kind in columns)
    return Table(tuple(named), parts=tuple(parts), view=view)


def column_collations(ddl: str) -> dict[str, str]:
    """The columns of a table's definition that have a collation of their own.

    Raises:
        WarehouseError: the definition cannot be read, or a column is computed from others: it
            could take its collation from them, or fail on one row.

    >>> column_collations("CREATE TABLE t(a VARCHAR COLLATE nocase, b INTEGER)")
    {'a': ' COLLATE nocase'}
    """
    import sqlglot
    from sqlglot import exp
    from sqlglot.errors import SqlglotError

    try:
        definition = sqlglot.parse_one(ddl, dialect="duckdb")
    except SqlglotError:
        raise WarehouseError(
            "the source's definition uses SQL that cannot be read here, and its collations with"
            f" it; {_PLAIN_TABLE}"
        ) from None
    found: dict[str, str] = {}
    # The columns of the table itself: a STRUCT has others.
    for column in definition.this.expressions:
        if not isinstance(column, exp.ColumnDef):
            continue
        if any(type(made.args.get("kind")).__name__ not in _STORED for made in column.constraints):
            raise WarehouseError(
                f"the source's column {column.name!r} is computed from others, and could fail on"
                f" one row; {_PLAIN_TABLE}"
            )
        collation = column.find(exp.CollateColumnConstraint)
        if collation is not None:
            found[column.name.lower()] = f" COLLATE {collation.this.name}"
    return found


_PLAIN_TABLE = "make a plain table of it (CREATE TABLE … AS SELECT)"
# What a definition may say of a column that is stored as it is written.
_STORED = frozenset(
    f"{name}ColumnConstraint"
    for name in ("Collate", "Default", "NotNull", "PrimaryKey", "Unique", "Check")
) | {"Reference"}


def check_file(path: Path, name: str) -> None:
    """Refuse, by FileError, a source that is not there, empty or of an unknown kind."""
    try:
        size = path.stat().st_size
    except FileNotFoundError:
        hint = meant(path)
        raise FileError(
            f"the source {name} is not there; looked for {path.absolute()}"
            + (f"; {hint}" if hint else "")
        ) from None
    except OSError as error:
        raise FileError(f"the source {name[:100]} cannot be read: {error.strerror}") from None
    if path.is_dir():
        return
    if not os.access(path, os.R_OK):
        raise FileError(f"the source {name} cannot be read: permission is denied")
    if size == 0:
        raise FileError(f"the source {name} is empty")
    if not name.lower().endswith(SOURCE_FILES):
        raise FileError(f"the source {name} must end in {A_SOURCE_FILE}; {SAVED_AS}")

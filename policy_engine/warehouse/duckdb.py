"""DuckDB, embedded: files and database files.

The connection is a fresh database in memory. A database file is attached by its warehouse's
name, read-only unless the release goes there, so that macros and settings of that file
cannot change what a certified text means.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace as replace_field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from policy_engine.compile.catalog import Field, Table
from policy_engine.compile.claims import keys_of
from policy_engine.compile.rendering import created
from policy_engine.dialects import dialect_named
from policy_engine.errors import FileError, WarehouseError
from policy_engine.kernel.fragments import unit_text
from policy_engine.kernel.mechanisms.sampled_suppression.rate import threshold
from policy_engine.policy.csv_models import in_folder, is_csv
from policy_engine.policy.project_models import connections
from policy_engine.policy.resolve import Policy, Source
from policy_engine.warehouse import duckdb_catalog as catalog
from policy_engine.warehouse import files
from policy_engine.warehouse import known_answers as known
from policy_engine.warehouse.arrow import portable
from policy_engine.warehouse.base import EDITION, Columns, Make, Row, Texts, Transactional
from policy_engine.warehouse.catalogs import Name, no_schema, points_to
from policy_engine.warehouse.drawing import DrawnSample, sample_relation
from policy_engine.warehouse.failures import withheld
from policy_engine.warehouse.quoting import literal, quoted
from policy_engine.warehouse.settings import Spill, connect, settle

if TYPE_CHECKING:
    import pyarrow as pa

PATIENCE = 30
"""The seconds to wait for a database file that another process has open."""
_LOCKED = "Could not set lock on file"
_OURS = "policy_engine_"  # how every temporary table of ours begins
_ROWS = f"{_OURS}rows"


class DuckDBWarehouse(Transactional):
    """A connection that reads files, and the database file that is attached to it."""

    _edition_type = "VARCHAR"
    dialect = dialect_named("duckdb")
    _error = duckdb.Error
    engine_version = str(duckdb.__version__)
    _connection: duckdb.DuckDBPyConnection

    def __init__(
        self,
        name: str = "",
        database: Path | None = None,
        *,
        writable: bool = False,
        memory_limit: str | None = None,
        threads: int | None = None,
    ) -> None:
        super().__init__(name if database is not None else "")
        self._spill = Spill()
        self._written = database if writable else None
        self._watched: dict[Path, tuple[files.SourceFiles | None, files.FilesState]] = {}
        self._asks: dict[str, bool] = {}
        self._in_transaction = False
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
        text = f"ATTACH {literal(str(database))} AS {quoted(name)}{mode}"
        end = time.monotonic() + PATIENCE
        while True:
            try:
                self._connection.execute(text)
            except duckdb.Error as error:
                # Of two releases at the same moment the second waits, as on a server. DuckDB has no
                # code for it: by its words alone a lock is told from a damaged file.
                if _LOCKED in str(error) and time.monotonic() < end:
                    time.sleep(0.1)
                    continue
                raise WarehouseError(
                    f"warehouse {name}: {database} cannot be opened; another process has locked it"
                    f" for {PATIENCE} s, it is read-only, or it is no DuckDB database"
                ) from None
            return

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

    def ask(self, sql: str, values: tuple[Any, ...] = ()) -> list[Row]:
        """The rows of a query of ours."""
        return catalog.asked(self._connection, sql, values)

    # The source

    def _one_table(self, source: Source, directory: Path) -> Table:
        """The columns of a file or relation.

        Raises:
            FileError: the file is missing, a directory, empty or of an unknown kind.
            WarehouseError: the relation is not there.
        """
        if source.path is None:
            return self._described(self._full_name(source.relation or ""))
        path = directory / source.path
        files.check_file(path, source.path)
        if (path / files.DELTA_LOG).is_dir():
            return self._delta(path, source.path)
        if is_csv(source.path) and path in self._watched:
            return self._loaded(source.path)
        if is_csv(source.path):
            # A temporary relation of texts, for sniffed types would depend on the data.
            self._watch(path)
            from policy_engine.warehouse.csv_files import load

            load(self._connection, path, source)
            return self._loaded(source.path)
        if not path.is_dir():
            files.check_not_logged([path], source.path)
        self._search(directory, source.path)
        self._watch(path)
        inside = files.files_in(path, source.path) if path.is_dir() else []
        if inside:
            files.check_alike(self._connection, path, inside)
        with withheld(FileError(f"{path} is not a Parquet file that can be read")):
            described = self._connection.execute(
                "DESCRIBE SELECT * FROM read_parquet(?, hive_partitioning = false)",
                [_pattern(path, source.path)],
            ).fetchall()
        own = files.names_in(self._connection, inside[0] if inside else path)
        called = files.names_of(own, [row[0] for row in described], path)
        columns = tuple(Field(n, row[1]) for n, row in zip(called, described, strict=True))
        partitions = files.partitions_of(path, inside)
        return Table(columns, path=source.path, is_folder=bool(inside), partitions=partitions)

    def _watch(self, path: Path, snapshot: files.SourceFiles | None = None) -> None:
        """Look at the files of a source: those that are read must be those that were certified.

        Of a Delta table those of one version are a ``snapshot``; a later one is not read.
        """
        self._watched[path] = snapshot, (snapshot or files.files_at(path)).state()

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

    def _delta(self, folder: Path, name: str) -> Table:
        """A Delta table as a temporary view of the files of its last version."""
        if name.lower().startswith(_OURS):
            raise FileError(f"the source {name} is called as the sample is: rename the folder")
        from policy_engine.warehouse.delta import make_view, snapshot_of

        found = snapshot_of(folder, name)
        self._watch(folder, found.files)
        make_view(self._connection, found, name)
        return replace_field(self._loaded(name), is_folder=True)

    def _loaded(self, name: str) -> Table:
        """What the connection itself holds of a file."""
        columns = self._connection.execute(f"DESCRIBE {quoted(name)}").fetchall()
        described = tuple(Field(row[0], row[1]) for row in columns)
        return Table(described, path=name, parts=("temp", "main", name))

    def _full_name(self, relation: str) -> Name:
        """database.schema.name; what is missing is the warehouse's database and ``main``."""
        if not self._name:
            raise WarehouseError(
                f"the relation {relation} needs a warehouse; name one under 'warehouses:' in"
                f" policy-engine.yaml: {' or '.join(connections())}"
            )
        parts = self._parts(relation)
        full = [*{1: [self._name, "main"], 2: [self._name]}.get(len(parts), []), *parts]
        if len(full) != 3 or full[0].lower() != self._name.lower():
            raise WarehouseError(
                f"the relation {relation} is not in the warehouse {self._name}; write"
                f" {self._name}.schema.table"
            )
        return tuple(full)

    def _by_itself(self, parts: Name) -> Table:
        return catalog.relation(self._connection, parts)

    def _beside(self, parts: Name) -> list[Name]:
        return [name for name in self.ask(catalog.NAMES) if name[0] == parts[0]]

    def _check_certified(self, table: Table) -> None:
        """A database file is this process's alone; files are those that were looked at."""
        for path, (snapshot, before) in self._watched.items():
            if before and (snapshot or files.files_at(path)).state() != before:
                told = f"{table.name}, or what is joined to it," if table.beside else table.name
                raise WarehouseError(
                    f"{told} was written while it was read; nothing was published. Release from"
                    " a copy that stays as it is",
                    of_setup=True,
                )

    def _take_hold(self, policy: Policy, table: Table) -> None:
        for each in table.relations:
            if each.path is not None and policy.directory / each.path not in self._watched:
                self._watch(policy.directory / each.path)

    @contextmanager
    def sampled(self, policy: Policy, table: Table, secret: bytes) -> Iterator[Callable[[], None]]:
        """Draw the sample and hold it, as a relation of units, while the body runs.

        The body gets a function to call before it publishes: it raises WarehouseError if the
        source has changed since it was looked at, for rows would then have other numbers.

        Raises:
            WarehouseError: the known-answer test failed, or the draw did.
        """
        self._take_hold(policy, table)
        name = sample_relation(policy.rate)
        if policy.method == "keyed":
            with withheld():
                if policy.source.key is None and policy.noise is None:
                    self._sample.check_known_rows()
                else:
                    self._sample.check_known_keys()
                if policy.noise is None:
                    self._number(policy, table)
                    self._draw(name, policy, table, secret)
        try:
            with self.bound(secret.hex()):
                yield lambda: self._check_certified(table)
        finally:
            # A connection that is beyond use has no sample; the first error is told.
            with suppress(duckdb.Error):
                self._sample.drop(name)

    @contextmanager
    def trying(self, policy: Policy, table: Table) -> Iterator[None]:
        """The sample of nobody, for a text that reads it."""
        name = sample_relation(policy.rate)
        if policy.method == "keyed" and policy.noise is None:
            self._number(policy, table)
            self._draw_nobody(name, policy, table)
        try:
            with super().trying(policy, table):
                yield
        finally:
            self._sample.drop(name)

    def _plan(self, query: str) -> None:
        self._connection.execute(f"EXPLAIN {query}", self._bound(query)).fetchall()

    def _typed(self, query: str) -> str:
        return f"{query}\nWITH NO DATA"

    @contextmanager
    def _taken_back(self) -> Iterator[None]:
        """Take back what the body did, which has begun a transaction."""
        try:
            yield
        finally:
            self._undone(())

    def _number(self, policy: Policy, table: Table) -> None:
        """Have rows that are drawn by their numbers in a table, which numbers them."""
        if policy.source.key is None and table.path is not None and is_csv(table.path):
            from policy_engine.warehouse.csv_files import numbered

            numbered(self._connection, table.path)

    def _draw_nobody(self, name: str, policy: Policy, table: Table) -> None:
        """The sample in which nobody is: of the key's type, and no row is read for it."""
        if policy.source.key is None:
            self._sample.of_rows(name, known.SECRET, 0, threshold(policy.rate))
            return
        query, values = self._keys(policy, table)
        self._sample.of_keys(name, known.SECRET, f"{query} AND FALSE", values, 0)

    def _draw(self, name: str, policy: Policy, table: Table, secret: bytes) -> None:
        bound = threshold(policy.rate)
        if policy.source.key is None:
            self._sample.of_rows(name, secret, self._row_count(policy, table), bound)
            return
        query, values = self._keys(policy, table)
        self._sample.of_keys(name, secret, query, values, bound)

    def _keys(self, policy: Policy, table: Table) -> tuple[str, list[str]]:
        """The query of the source's units, and its values."""
        source, values = quoted(*table.parts), []
        if not table.parts:
            source = "read_parquet(?, hive_partitioning = false)"
            values = [_pattern(policy.directory / str(table.path), str(table.path))]
        keys = keys_of(policy, table)
        key = quoted(keys[0].name) if len(keys) == 1 else unit_text("duckdb", keys)
        there = " AND ".join(f"{quoted(each.name)} IS NOT NULL" for each in keys)
        query = f"SELECT DISTINCT {key} AS unit FROM {source} WHERE {there}"
        return query, values

    def _row_count(self, policy: Policy, table: Table) -> int:
        if table.parts:
            found = self.ask(f"SELECT coalesce(max(rowid) + 1, 0) FROM {quoted(*table.parts)}")
        else:
            path = str(policy.directory / str(table.path))
            found = self.ask("SELECT num_rows FROM parquet_file_metadata(?)", (path,))
        return int(found[0][0])

    def progress(self) -> float | None:
        """As the engine estimates it."""
        found = float(self._connection.query_progress())
        return found if 0 <= found <= 100 else None

    # The release

    def _fetched(self, sql: str) -> pa.Table:
        return portable(self._connection.sql(sql, params=self._bound(sql)).to_arrow_table())

    def _bound(self, sql: str) -> dict[str, str] | None:
        """The sample's secret, where the text asks for it: to draw one of a person's rows."""
        if sql not in self._asks:
            named = self._connection.extract_statements(sql)[0].named_parameters
            self._asks[sql] = bool(named)
        return self._parameters if self._asks[sql] else None

    def _check_place(self, target: Name) -> None:
        if not self.ask(catalog.SCHEMA, catalog.folded(target[:2])):
            raise no_schema(".".join(target[:2]))

    def _comment(self, target: Name) -> str | None:
        found = self.ask(catalog.COMMENT, catalog.folded(target, target))
        return str(found[0][0] or "") if found else None

    def check_replaceable(self, target: Name) -> None:
        """Refuse a table that a key of another points to: the engine does not drop it."""
        for (child,) in self.ask(catalog.POINTING, catalog.folded(target)):
            raise points_to(target, child)

    def _made(self, make: Make, place: Name, comment: str, *, replace: bool) -> None:
        with withheld():
            if not self._in_transaction:
                self._connection.execute("BEGIN")
                self._in_transaction = True
            if replace:
                self._connection.execute(f"DROP TABLE IF EXISTS {quoted(*place)}")
            make(place)
            self._connection.execute(f"COMMENT ON TABLE {quoted(*place)} IS {literal(comment)}")

    def _stands(self, place: Name, target: Name, *, replace: bool) -> None:
        super()._stands(place, target, replace=replace)
        self._in_transaction = False

    def _undone(self, place: Name) -> None:
        super()._undone(place)
        self._in_transaction = False

    def together(self, statements: Sequence[str], check: Callable[[], None]) -> None:
        """The same, in a transaction that is begun: reading begins none here."""
        self._connection.execute("BEGIN")
        super().together(statements, check)

    def _do(self, sql: str) -> None:
        self._connection.execute(sql)

    def _create(self, query: str, place: Name) -> None:
        text = created(query, quoted(*place))
        self._connection.execute(text, self._bound(text))

    def _types(self, place: Name) -> Columns:
        found = self._connection.execute(f"DESCRIBE {quoted(*place)}").fetchall()
        return tuple((str(row[0]), str(row[1])) for row in found)

    def _fill(self, columns: Columns, rows: Iterator[Texts], place: Name) -> None:
        declared = ", ".join(f"{quoted(name)} {kind}" for name, kind in columns)
        self._connection.execute(f"CREATE TABLE {quoted(*place)} ({declared})")
        import pyarrow as pa

        while batch := list(islice(rows, 10_000)):
            texts = [pa.array(column, pa.string()) for column in zip(*batch, strict=True)]
            self._connection.register(_ROWS, pa.table(texts, [name for name, _ in columns]))
            self._connection.execute(f"INSERT INTO {quoted(*place)} SELECT * FROM {_ROWS}")
            self._connection.unregister(_ROWS)

    def release_lines(self, target: Name, edition: str = "") -> Iterator[Row]:
        """The rows of a published table, in their order; of a table of several editions one's."""
        shown = f"* EXCLUDE ({quoted(EDITION)})" if edition else "*"
        where = self._of_edition(edition)
        with withheld():
            # As the engine writes them: Python has no infinite date and no year before 1.
            found = self._connection.execute(
                f"SELECT COLUMNS({shown})::VARCHAR FROM {quoted(*target)} {where}"
            )
            while batch := found.fetchmany(10_000):
                yield from batch


def _pattern(path: Path, name: str) -> str:
    """A file, or all the Parquet files of a folder, as the certified text names them.

    A pattern is looked for where the engine searches, and nowhere else, wherever the command runs.
    """
    return in_folder(name) if path.is_dir() else str(path)

"""The process that side-channel tests watch: ``policy-engine release``, and leaky variants.

A *leak* reopens one closed channel; the tests must notice each.
"""

from __future__ import annotations

import os
import resource
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute
import pyarrow.parquet as pq
from watched_process import command, fix, job, serve

from policy_engine.releasing import placing
from policy_engine.warehouse import duckdb as warehouse
from policy_engine.warehouse import settings

Warehouse = warehouse.DuckDBWarehouse


def unsorted() -> None:
    real = Warehouse.rows
    Warehouse.rows = lambda self, sql: real(self, sql[: sql.rindex("ORDER BY")])


def pages_by_batch() -> None:
    """Row groups as the engine's threads made them."""

    def write(rows: pa.Table, path: Path, metadata: Any) -> None:
        with pq.ParquetWriter(path, rows.schema) as writer:
            for batch in rows.to_batches():
                writer.write_batch(batch)

    job.write_parquet = write


def a_dictionary_of_the_source() -> None:
    """A dictionary page as of a column that was encoded before the rare were suppressed."""
    real = job.write_parquet

    def write(rows: pa.Table, path: Path, metadata: Any) -> None:
        source = path.parents[3] / "source.parquet"
        every = pq.read_table(source).column("city").unique().drop_null()
        places = pa.compute.index_in(rows.column("city"), every).combine_chunks()
        column = pa.DictionaryArray.from_arrays(places, every)
        real(rows.set_column(0, "city", column), path, metadata)

    job.write_parquet = write


def statistics_of_the_source() -> None:
    """A footer that counts the rows that were not released."""
    real = job.write_parquet

    def write(rows: pa.Table, path: Path, metadata: Any) -> None:
        count = pq.read_metadata(path.parents[3] / "source.parquet").num_rows
        real(rows, path, {**metadata, "source_rows": str(count)})

    job.write_parquet = write


def a_comment_on_the_source() -> None:
    real = Warehouse.publish

    def commented(self: Any, sql: str, target: Any, comment: str, attest: Any, **more: Any) -> None:
        rows = self._connection.execute("SELECT count(*) FROM 'source.parquet'").fetchall()
        real(self, sql, target, f"{comment} {rows}", attest, **more)

    Warehouse.publish = commented


def blocks_by_this_process() -> None:
    settings._SESSION = settings._SESSION[:-1]


def blocks_before_the_commit() -> None:
    blocks_by_this_process()
    settings._CONFIG = {**settings._CONFIG, "enable_optimistic_write": "true"}


def times_of_the_run() -> None:
    placing.moment = lambda *_: None


def spill_left_behind() -> None:
    settings.Spill.remove = lambda self: None


def spill_for_all_to_read() -> None:
    real = Warehouse.rows

    def rows(self: Any, sql: str) -> pa.Table:
        self._spill.path.chmod(0o755)
        return real(self, sql)

    Warehouse.rows = rows


def a_log_of_queries() -> None:
    real = settings.connect

    def connect(path: Path, *limits: Any) -> Any:
        connection = real(path, *limits)
        connection.execute(f"CALL enable_logging(storage = 'file', storage_path = '{Path.home()}')")
        return connection

    warehouse.connect = connect


def a_profile() -> None:
    settings._SESSION = (
        *settings._SESSION,
        "SET enable_profiling = 'json'",
        f"SET profiling_output = '{Path.home() / 'profile.json'}'",
    )


def the_secret_in_a_file() -> None:
    real = Warehouse.sampled

    def sampled(self: Any, policy: Any, table: Any, secret: bytes) -> Any:
        (policy.directory / "note.txt").write_text(secret.hex())
        return real(self, policy, table, secret)

    Warehouse.sampled = sampled


def progress_on_stdout() -> None:
    real = Warehouse.rows

    def rows(self: Any, sql: str) -> pa.Table:
        print(self._connection.execute("SELECT count(*) FROM 'source.parquet'").fetchall())
        return real(self, sql)

    Warehouse.rows = rows


def messages_of_the_engine() -> None:
    from policy_engine.errors import WarehouseError
    from policy_engine.warehouse import failures

    def scrub(error: Exception) -> None:
        raise WarehouseError(str(error))

    failures._scrub = scrub


def errors_of_the_engine() -> None:
    """Nothing stands between the engine and the command line."""
    warehouse.withheld = lambda known=None: nullcontext()
    warehouse.DuckDBWarehouse._withheld = lambda self: nullcontext()


def early_decoding() -> None:
    """The head of a CSV file is decoded by itself, and fails by itself."""
    from policy_engine.errors import FileError
    from policy_engine.warehouse import csv_files

    def names(path: Path, name: str, spec: object) -> tuple[str, ...]:
        try:
            with path.open(encoding="utf-8") as file:
                return tuple(file.readline().strip().split(","))
        except UnicodeDecodeError:
            raise FileError(f"{path} is not CSV in UTF-8") from None

    csv_files.names_in = names


LEAKS: dict[str, Callable[[], None]] = {
    leak.__name__: leak
    for leak in (
        unsorted,
        pages_by_batch,
        a_dictionary_of_the_source,
        statistics_of_the_source,
        a_comment_on_the_source,
        blocks_by_this_process,
        blocks_before_the_commit,
        times_of_the_run,
        spill_left_behind,
        spill_for_all_to_read,
        a_log_of_queries,
        a_profile,
        the_secret_in_a_file,
        progress_on_stdout,
        messages_of_the_engine,
        errors_of_the_engine,
        early_decoding,
    )
}


def _signalled(number: int) -> None:
    """A signal while the sample is held: before the query, or within the transaction."""
    for name in ("rows", "release_lines"):
        real = getattr(Warehouse, name)

        def signalled(self: Any, what: Any, real: Any = real) -> Any:
            os.kill(os.getpid(), number)
            return real(self, what)

        setattr(Warehouse, name, signalled)


def _fixed(given: dict[str, Any]) -> None:
    fix(lambda: bytes.fromhex(given["secret"]))
    limits = {"threads": str(given["threads"]), **given.get("settings", {})}
    settings._CONFIG = {**settings._CONFIG, **limits}


def _limited(bytes_of_a_file: int) -> None:
    """Files cannot grow past this: the real error of a full disk, without filling one."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_of_a_file, bytes_of_a_file))

    real = Warehouse.sampled

    def sampled(self: Any, *words: Any) -> Any:
        limit()
        return real(self, *words)

    Warehouse.sampled = sampled


def release(given: dict[str, Any]) -> None:
    """One release, in this process."""
    _fixed(given)
    if "signal" in given:
        _signalled(given["signal"])
    if "file_limit" in given:
        _limited(given["file_limit"])
    for leak in given.get("leaks", ()):
        LEAKS[leak]()
    command(["release", "../project/policy.yaml", "--format", "json"])


if __name__ == "__main__":
    serve(release, ("policy_engine.cli.releases", "policy_engine.releasing.validation"))

"""A synthetic table on the real engine: the certified text, drawn again and again.

Thousands of runs of many mechanisms are made on every processor.

Everything is in a temporary folder. The source has there the name that the policy gives it, so
the text that runs is the policy's own, letter by letter.
"""

from __future__ import annotations

import csv
import gzip
import os
import re
import shutil
import tempfile
import warnings
from collections.abc import Callable, Hashable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from dataclasses import replace
from functools import cache
from itertools import count, islice, product
from math import prod
from pathlib import Path
from threading import Event as StopEvent
from threading import Lock
from typing import TypeVar

import duckdb
import pyarrow as pa

from policy_engine.attest.enforcing import filtered
from policy_engine.audit.events import FAILED, Features, features
from policy_engine.audit.people import People, Value, keys
from policy_engine.compile.catalog import Field, Table
from policy_engine.errors import EnvironmentFailed, InternalError
from policy_engine.kernel.certificate import Certificate
from policy_engine.policy.csv_models import default_delimiter, is_csv
from policy_engine.policy.resolve import Policy
from policy_engine.values import frozen
from policy_engine.warehouse.arrow import portable
from policy_engine.warehouse.drawing import new_secret
from policy_engine.warehouse.duckdb import DuckDBWarehouse
from policy_engine.warehouse.failures import withheld
from policy_engine.warehouse.quoting import literal, quoted

_DATABASE = "source.duckdb"
_AT_ONCE = 49
_ASKED = "policy_engine_asked"
_SECRET = re.compile(r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|\$salt""")


class BenchWarehouse(DuckDBWarehouse):
    """The warehouse of a release, for thousands of them on one connection."""

    def __init__(self, name: str = "", database: Path | None = None, *, writes: bool = False):
        super().__init__(name, database, writable=writes)
        # The sampler's known-answer test runs once a connection instead of before every draw.
        for check in ("check_known_rows", "check_known_keys"):
            setattr(self._sample, check, cache(getattr(self._sample, check)))
        # Tables this small are read by one thread anyway; the processors run tables side by side.
        self._connection.execute("SET threads = 1")
        self._counts: dict[tuple[Path, Table], int] = {}

    def rows(self, sql: str) -> pa.Table:
        """As a release's; the text is bound once and not twice, which is a third of the time."""
        with withheld():
            return portable(self._connection.execute(sql, self._bound(sql)).to_arrow_table())

    def rows_of_many(self, sql: str, more: int) -> list[pa.Table]:
        """The rows of a text under the secret that is bound, and under so many fresh ones.

        A text says what it does for one secret; here it is asked for each row of a table of them,
        and sorted as printed texts are: by its columns from the left, NULL last.
        """
        secrets = [self._salt, *(new_secret().hex() for _ in range(more))]
        numbered = ", ".join(f"({number}, '{each}')" for number, each in enumerate(secrets))
        # The secret of the row that is asked for; what is quoted stays.
        asked = _SECRET.sub(lambda m: f"{_ASKED}.salt" if m[0] == "$salt" else m[0], sql)
        with withheld():
            found: pa.Table = self._connection.execute(
                f"SELECT {_ASKED}.number AS {_ASKED}, released.* FROM (VALUES {numbered})"
                f" AS {_ASKED} (number, salt), LATERAL ({asked}) AS released"
                " ORDER BY ALL NULLS LAST"
            ).to_arrow_table()
        rows, at = portable(found.drop_columns(_ASKED)), found.column(_ASKED).to_numpy()
        return [rows.filter(at == number) for number in range(len(secrets))]

    def _row_count(self, policy: Policy, table: Table) -> int:
        """Counted once: nobody changes the table."""
        known = policy.directory, table
        if known not in self._counts:
            self._counts[known] = super()._row_count(policy, table)
        return self._counts[known]


@frozen
class BenchPlace:
    """Where synthetic tables of a policy are built: the policy, its source, the database's name.

    ``policy`` names its source by a relative path or by a relation; ``table`` is what is there.
    """

    policy: Policy
    table: Table
    warehouse: str

    def fits(self, people: People) -> bool:
        """Whether the key's types have a value for every person."""
        most = _numbered(people)
        return not self.policy.source.keys or len(self._keys_of(most)) == most

    def _keys_of(self, most: int) -> list[tuple[str, ...]]:
        """Different keys of so many people, or as many as there are: a value for each column.

        Of several columns each has few values, so that none tells people apart by itself: whoever
        reads one alone takes many people for one.
        """
        columns = self._key_columns
        if not columns:
            return []
        few = most if len(columns) == 1 else 2
        known = [keys(column, few) for column in columns]
        while prod(map(len, known)) < most and few < most:
            few *= 2
            known = [keys(column, few) for column in columns]
        return list(islice(product(*known), most))

    @property
    def _key_columns(self) -> list[Field]:
        columns = [self.table.find(name) for name in self.policy.source.keys]
        found = [column for column in columns if column is not None]
        if len(found) < len(columns):
            raise InternalError("the key of a certified policy is no column of its source")
        return found

    @contextmanager
    def build(self, people: People) -> Iterator[tuple[Policy, BenchWarehouse]]:
        """The table of ``people``, on a connection of its own, while the body runs."""
        folder = Path(tempfile.mkdtemp(prefix="audit-of-policy-"))
        try:
            policy = replace(self.policy, directory=folder.joinpath(*self.depth))
            database = self._furnish(folder, policy, people)
            writes = policy.release.relation is not None
            with closing(BenchWarehouse(self.warehouse, database, writes=writes)) as warehouse:
                yield policy, warehouse
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    @property
    def depth(self) -> list[str]:
        """So many folders that no '..' of the source leaves the temporary one."""
        return ["d"] * Path(self.policy.source.path or "").parts.count("..")

    def _furnish(self, folder: Path, policy: Policy, people: People) -> Path | None:
        source, release = policy.source, policy.release
        relations = [name for name in (source.relation, release.relation) if name]
        database = folder / _DATABASE if relations else None
        rows = self._rows(people)
        path = policy.source_path
        if path is not None and is_csv(path.name):
            self._write_csv(path, rows)
        with duckdb.connect(str(database or ":memory:")) as connection:
            for name in relations:
                schema, _ = _parts(name)
                connection.execute(f"CREATE SCHEMA IF NOT EXISTS {quoted(schema)}")
            if source.relation:
                self._insert(connection, quoted(*_parts(source.relation)), rows)
            elif path is not None and not is_csv(path.name):
                self._insert(connection, "made", rows)
                self._write(connection, path)
        return database

    def _write(self, connection: duckdb.DuckDBPyConnection, path: Path) -> None:
        """Write the table ``made`` as what the source is."""
        if self.table.is_folder and self.table.parts:
            from deltalake import write_deltalake

            write_deltalake(path, connection.sql("FROM made").to_arrow_table())
            return
        file = path / "made.parquet" if self.table.is_folder else path
        file.parent.mkdir(parents=True, exist_ok=True)
        connection.execute(f"COPY made TO {literal(str(file))} (FORMAT parquet)")

    def _rows(self, people: People) -> list[list[Value]]:
        """The rows as texts in the order of the columns."""
        names = [column.name for column in self.table.columns]
        columns = [column.name for column in self._key_columns]
        known = self._keys_of(_numbered(people))
        rows = []
        for person in people:
            for row in person.rows:
                values = dict(row)
                if person.number is None:  # a key with a part that is NULL is nobody's
                    own = (*known[0][:-1], None) if known else ()
                else:
                    own = known[person.number] if known else ()
                values |= dict(zip(columns, own, strict=True))
                rows.append([values.get(name) for name in names])
        return rows

    def _insert(
        self, connection: duckdb.DuckDBPyConnection, table: str, rows: list[list[Value]]
    ) -> None:
        types = ", ".join(f"{quoted(column.name)} {column.type}" for column in self.table.columns)
        connection.execute(f"CREATE TABLE {table} ({types})")
        texts = list(zip(*rows, strict=True)) or [()] * len(self.table.columns)
        arrays = [pa.array(column, pa.string()) for column in texts]
        names = [f"c{i}" for i in range(len(self.table.columns))]
        connection.register("rows", pa.table(arrays, names=names))
        values = (
            f"TRY_CAST({name} AS {column.type.partition(' COLLATE ')[0]})"
            for name, column in zip(names, self.table.columns, strict=True)
        )
        connection.execute(f"INSERT INTO {table} SELECT {', '.join(values)} FROM rows")
        connection.unregister("rows")

    def _write_csv(self, path: Path, rows: list[list[Value]]) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        opener = gzip.open if path.suffix.lower() == ".gz" else open
        with opener(path, "wt", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, delimiter=default_delimiter(path.name))
            writer.writerow([column.name for column in self.table.columns])
            writer.writerows(rows)


def _numbered(people: People) -> int:
    """How many keys a table of these people needs."""
    numbers = [person.number for person in people if person.number is not None]
    return max(numbers, default=0) + 1


def _parts(relation: str) -> tuple[str, str]:
    """The schema and the name of a relation of the warehouse's one database."""
    schema, name = ["main", *relation.split(".")][-2:]
    return schema, name


Draw = Callable[[], Features]
"""One run of a mechanism, under a fresh secret: what it let out."""


class _Undone(Exception):
    """Takes a published table back."""


@contextmanager
def drawing(place: BenchPlace, people: People, certificate: Certificate) -> Iterator[Draw]:
    """The certified text over a table of ``people``, ready to be run again and again.

    A run is a release but for its target and its charge: a sample under a secret of its own, the
    very text, and what it released. A table that it publishes is taken back. Where the secret is
    all that differs, one run is by the text, and some more are by one statement that asks it for
    each of their secrets: most of a run is planning. Should that give other rows than the text
    does, every run is by the text.
    """
    with place.build(people) as (policy, warehouse):
        table = warehouse.table(policy.source, policy.directory)
        names, sql = list(certificate.columns), certificate.query
        at_once = _AT_ONCE if policy.noise is not None and policy.release.path is not None else 0
        waiting: list[pa.Table] = []

        def draw() -> Features:
            nonlocal at_once
            if not waiting:
                try:
                    with warehouse.sampled(policy, table, new_secret()) as unchanged:
                        rows = _released(policy, warehouse, sql)
                        same, *more = warehouse.rows_of_many(sql, at_once) if at_once else (rows,)
                        unchanged()
                except EnvironmentFailed:
                    return FAILED
                if not same.equals(rows):
                    at_once = 0
                waiting.extend([rows, *more] if at_once else [rows])
            is_file = policy.release.path is not None
            left = filtered(waiting.pop(), len(names), certificate.count, policy.models)
            return features([left], names, certificate.count, file=is_file)

        yield draw


def _released(policy: Policy, warehouse: BenchWarehouse, sql: str) -> pa.Table:
    """The rows that the text releases, whether it selects them or makes a table of them."""
    if policy.release.relation is None:
        return warehouse.rows(sql)
    target = warehouse.target(policy.release.relation)
    found: list[pa.Table] = []

    def take() -> None:
        found.append(warehouse.rows(f"FROM {quoted(*target)}"))
        raise _Undone

    with suppress(_Undone):
        warehouse.publish(sql, target, "", take)
    return found[0]


_CHUNK = 400
"""Runs on one connection: it is opened in the time of about thirty."""

Name = TypeVar("Name", bound=Hashable)
Opener = Callable[[], AbstractContextManager[Draw]]
"""Builds a table with its mechanism on a connection of its own."""
Tick = Callable[[int, int], None]
"""Told how many runs are done, and of how many."""
Runs = tuple[Opener, int]
"""So many runs of one mechanism on one table."""


def observe(
    wanted: Mapping[Name, Runs], tick: Tick = lambda done, total: None
) -> dict[Name, list[Features]]:
    """The runs of each mechanism. An error or an interrupt stops them all."""
    stop, lock, done = StopEvent(), Lock(), count(1)
    total = sum(number for _, number in wanted.values())

    def chunk(opener: Opener, runs: int) -> list[Features]:
        found: list[Features] = []
        if stop.is_set():
            return found
        with opener() as draw:
            while len(found) < runs and not stop.is_set():
                found.append(draw())
                with lock:
                    so_many = next(done)
                    if so_many % 50 == 0 or so_many == total:
                        tick(so_many, total)
        return found

    # The engine works outside the interpreter's lock. What it warns of is a copy of a few rows; the
    # filter is the process's, so that one thread alone sets it.
    with warnings.catch_warnings(), ThreadPoolExecutor(os.cpu_count()) as pool:
        warnings.filterwarnings("ignore", "Arrow output on a DB-API result")
        futures: dict[Name, list[Future[list[Features]]]] = {
            name: [
                pool.submit(chunk, opener, min(_CHUNK, number - start))
                for start in range(0, number, _CHUNK)
            ]
            for name, (opener, number) in wanted.items()
        }
        try:
            return {
                name: [run for chunk in chunks for run in chunk.result()]
                for name, chunks in futures.items()
            }
        finally:
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)

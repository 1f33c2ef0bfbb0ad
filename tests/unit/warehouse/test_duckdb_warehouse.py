"""The DuckDB connection: what it opens, what it says, and what it never says."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import traceback
from contextlib import closing
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from policy_engine.dialects import dialect_named
from policy_engine.errors import FileError, WarehouseError
from policy_engine.kernel.fragments import rows_in_sample
from policy_engine.policy.loading import load_policy_text
from policy_engine.policy.resolve import Source
from policy_engine.warehouse import failures
from policy_engine.warehouse.drawing import sample_relation
from policy_engine.warehouse.duckdb import DuckDBWarehouse
from policy_engine.warehouse.duckdb_catalog import column_collations
from policy_engine.warehouse.failures import WITHHELD, withheld
from policy_engine.warehouse.quoting import quoted


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "db.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE people (id INTEGER, name VARCHAR COLLATE nocase)")
        connection.execute("CREATE SCHEMA other")
        connection.execute('CREATE TABLE other."People 2" (id INTEGER)')
    return path


def warehouse(database: Path, **options: bool) -> DuckDBWarehouse:
    return DuckDBWarehouse("db", database, **options)


def test_closing_removes_what_was_spilled(database):
    opened = warehouse(database)
    spill = opened._spill.path
    assert spill.is_dir()
    opened.close()
    assert not spill.exists()


def test_a_database_that_cannot_be_opened_leaves_nothing_behind(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / "text.duckdb").write_text("no database")
    for name, message in (("gone", "there is no database file"), ("text", "cannot be opened")):
        with pytest.raises(WarehouseError, match=message):
            warehouse(tmp_path / f"{name}.duckdb")
    assert [file.name for file in tmp_path.iterdir()] == ["text.duckdb"]


def test_a_database_that_another_process_has_open_is_waited_for(database, monkeypatch):
    """Two runners at midnight: the second one failed."""
    code = "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print(1, flush=True); input()"
    command = [sys.executable, "-c", code, str(database)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout.readline() == "1\n"
        monkeypatch.setattr("policy_engine.warehouse.duckdb.PATIENCE", 0)
        with pytest.raises(WarehouseError, match="another process has locked it for 0 s"):
            warehouse(database)
        monkeypatch.undo()
        threading.Timer(0.5, other.stdin.write, ["\n"]).start()
        threading.Timer(0.6, other.stdin.flush).start()
        with closing(warehouse(database)) as opened:
            assert opened.exists(("db", "main", "people"))


def test_a_database_is_read_only_unless_it_is_written_to(database):
    opened = warehouse(database)
    with pytest.raises(WarehouseError):
        opened.publish("SELECT 1 AS a", ("db", "main", "t"), "", bool)
    assert not opened.exists(("db", "main", "t"))
    opened.close()
    opened = warehouse(database, writable=True)
    opened.publish("SELECT 1 AS a", ("db", "main", "t"), "it's", bool)
    assert opened.exists(("DB", "main", "T"))
    assert list(opened.release_lines(("db", "main", "t"))) == [("1",)]
    opened.close()


@pytest.mark.parametrize("relation", ["people", "PEOPLE", "main.people", "db.main.People"])
def test_a_relation_is_found_in_any_case_and_with_its_collations(database, relation):
    opened = warehouse(database)
    table = opened.table(Source(None, relation), database.parent)
    assert [(c.name, c.is_collated) for c in table.columns] == [("id", False), ("name", True)]
    assert table.view is None
    opened.close()


def test_a_relation_of_another_schema_is_found(database):
    opened = warehouse(database)
    table = opened.table(Source(None, "other.People 2"), database.parent)
    assert table.parts == ("db", "other", "People 2")
    opened.close()


def test_a_source_that_is_not_there_or_not_to_be_read_says_so(database, monkeypatch):
    opened, folder = DuckDBWarehouse(), database.parent
    (folder / "people.parquet").write_bytes(b"x")
    with pytest.raises(FileError, match=r"not there; looked for .*; did you mean 'people.parquet'"):
        opened.table(Source("peple.parquet", None), folder)
    monkeypatch.setattr("os.access", lambda path, mode: False)
    with pytest.raises(FileError, match=r"people.parquet cannot be read: permission is denied"):
        opened.table(Source("people.parquet", None), folder)
    opened.close()


@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Kathmandu"])
def test_the_session_is_in_utc(monkeypatch, zone):
    monkeypatch.setitem(os.environ, "TZ", zone)
    opened = DuckDBWarehouse()
    found = opened.rows("SELECT '2020-01-01 00:00:00+00'::TIMESTAMPTZ::VARCHAR AS moment")
    assert found.to_pylist() == [{"moment": "2020-01-01 00:00:00+00"}]
    opened.close()


def test_a_relation_without_a_database_says_what_to_write():
    opened = DuckDBWarehouse()
    with pytest.raises(WarehouseError, match="name one under 'warehouses:'"):
        opened.table(Source(None, "people"), Path())
    opened.close()


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (duckdb.ConversionException("'VERY-SECRET'"), WITHHELD.message),
        (duckdb.InvalidInputException("'VERY-SECRET'"), WITHHELD.message),
        (duckdb.OutOfRangeException("'VERY-SECRET'"), WITHHELD.message),
        (pa.ArrowInvalid("'VERY-SECRET'"), WITHHELD.message),
        (RuntimeError("'VERY-SECRET'"), WITHHELD.message),
        (ValueError("'VERY-SECRET'"), WITHHELD.message),
        (OverflowError("'VERY-SECRET'"), WITHHELD.message),
        (UnicodeDecodeError("utf-8", b"VERY-SECRET\xff", 11, 12, "invalid"), WITHHELD.message),
        (MemoryError("'VERY-SECRET'"), "the warehouse ran out of memory"),
        (duckdb.OutOfMemoryException("'VERY-SECRET'"), "the warehouse ran out of memory"),
        (pa.ArrowMemoryError("'VERY-SECRET'"), "the warehouse ran out of memory"),
        (duckdb.IOException("'VERY-SECRET'"), "the warehouse could not read or write a file"),
        (duckdb.TransactionException("'VERY-SECRET'"), "the warehouse could not read or write"),
        (duckdb.PermissionException("'VERY-SECRET'"), "the warehouse refused access"),
    ],
)
def test_an_engines_message_is_never_passed_on(error, told):
    with pytest.raises(WarehouseError) as caught, withheld():
        raise error
    assert str(caught.value).startswith(told)
    assert caught.value.of_setup is isinstance(error, duckdb.PermissionException)
    assert "SECRET" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__
    # A logger may show the context all the same.
    assert "SECRET" not in "".join(traceback.format_exception(error)) + repr(error)


def test_what_came_before_an_engines_error_is_emptied_too(monkeypatch):
    def fail() -> None:
        try:
            raise ValueError("'VERY-SECRET'")
        except ValueError as first:
            raise duckdb.ConversionException("'VERY-SECRET'") from first

    def told() -> str:
        with pytest.raises(WarehouseError) as caught, withheld():
            fail()
        found = caught.value.__context__
        assert found is not None
        return repr(found) + repr(found.__context__)

    assert "SECRET" not in told()
    monkeypatch.setattr(failures, "_scrub", lambda error, engine: None)
    assert told().count("SECRET") == 2


def test_a_known_cause_is_told_unless_the_machine_failed():
    known = FileError("the file is malformed")
    with pytest.raises(FileError, match="the file is malformed"), withheld(known):
        raise duckdb.InvalidInputException("'VERY-SECRET'")
    with pytest.raises(WarehouseError, match="ran out of memory"), withheld(known):
        raise duckdb.OutOfMemoryException("'VERY-SECRET'")
    with pytest.raises(KeyboardInterrupt), withheld(known):
        raise duckdb.InterruptException("Interrupted!")
    with pytest.raises(FileError, match="ours"), withheld(known):
        raise FileError("ours")


def test_an_interrupt_stays_one():
    warehouse = DuckDBWarehouse()
    stop = threading.Event()

    def interrupt():
        while not stop.wait(0.05):
            warehouse._connection.interrupt()

    thread = threading.Thread(target=interrupt)
    thread.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            warehouse.rows("SELECT count(*) FROM range(1_000_000) a, range(1_000_000) b")
        with pytest.raises(KeyboardInterrupt), withheld():
            warehouse._connection.execute(
                "SELECT count(*) FROM range(1_000_000) a, range(1_000_000) b"
            )
    finally:
        stop.set()
        thread.join()
        warehouse.close()


@pytest.mark.parametrize(
    ("ddl", "found"),
    [
        ("CREATE TABLE t(a VARCHAR COLLATE nocase NOT NULL, b INT)", {"a": " COLLATE nocase"}),
        ('CREATE TABLE t("A b" VARCHAR COLLATE de)', {"a b": " COLLATE de"}),
        ("CREATE TABLE t(a VARCHAR COLLATE nocase, s STRUCT(a INT))", {"a": " COLLATE nocase"}),
        ("CREATE TABLE t(a INT PRIMARY KEY, b INT DEFAULT(1) UNIQUE REFERENCES t(a))", {}),
        ("CREATE TABLE t(s STRUCT(a INT), CHECK((s.a > 1)), u UNION(a INT, b VARCHAR))", {}),
        ("CREATE TABLE t(a VARCHAR DEFAULT('COLLATE nocase'))", {}),
    ],
)
def test_collations_are_read_from_the_definition(ddl, found):
    assert column_collations(ddl) == found


def test_a_definition_that_cannot_be_read_is_refused():
    with pytest.raises(WarehouseError, match="make a plain table of it"):
        column_collations("CREATE TABLE ((")


def test_quoted_names_are_one_identifier():
    for name in ('"; drop table x; --', "a.b", 'a"b""c', "select"):
        with duckdb.connect() as connection:
            connection.execute(f"CREATE TABLE {quoted('memory', 'main', name)} (a INTEGER)")
            assert connection.execute("SHOW TABLES").fetchall() == [(name,)]


def test_a_csv_file_that_is_replaced_while_it_is_loaded_is_not_taken_for_the_new_one(tmp_path):
    (tmp_path / "s.csv").write_text("a\n1\n")
    policy = load_policy_text(CSV_POLICY, tmp_path / "p.yaml", tmp_path)
    with closing(DuckDBWarehouse()) as opened:
        table = opened.table(policy.source, tmp_path)
        (tmp_path / "new.csv").write_text("a\n2\n")
        (tmp_path / "new.csv").replace(tmp_path / "s.csv")
        with pytest.raises(WarehouseError, match=r"s\.csv was written while it was read"):
            opened.hold(policy, table)


CSV_POLICY = """\
version: 1
name: p
source: {file: s.csv}
privacy_unit: row
recode: {a: keep}
sample: {rate: 0.5}
k: 2
guarantee: {epsilon: 1, delta: 0.9}
release: {file: out.parquet}
"""


def test_the_engine_tells_how_far_a_query_of_numbered_rows_is(tmp_path):
    rows = 3_000_000
    pq.write_table(pa.table({"a": np.arange(rows) % 7}), tmp_path / "s.parquet")
    policy = load_policy_text(
        CSV_POLICY.replace("s.csv", "s.parquet"), tmp_path / "policy.yaml", tmp_path
    )
    told: set[float | None] = set()
    with closing(DuckDBWarehouse()) as opened:
        table = opened.table(policy.source, tmp_path)
        over = threading.Event()

        def ask() -> None:
            while not over.is_set():
                told.add(opened.progress())

        with opened.sampled(policy, table, bytes(16)):
            asking = threading.Thread(target=ask)
            asking.start()
            try:
                lines, is_drawn = rows_in_sample(
                    "duckdb", "file_row_number", sample_relation(policy.rate)
                )
                opened.rows(
                    "SELECT count(*) FROM read_parquet('s.parquet', file_row_number = true)"
                    f"{lines} WHERE {is_drawn}"
                )
            finally:
                over.set()
                asking.join()
    assert any(found is not None and 0 < found < 100 for found in told)


def test_of_names_that_differ_by_case_duckdb_takes_ascii_ones_for_one():
    """The refusal speaks of these: it is of all names that differ by case, and says no more."""
    with duckdb.connect() as connection:
        with pytest.raises(duckdb.CatalogException, match="already exists"):
            connection.execute('CREATE TABLE plain ("a" INTEGER, "A" INTEGER)')
        connection.execute('CREATE TABLE other ("é" INTEGER, "É" INTEGER)')
    reason, _ = dialect_named("duckdb").lacks["names_by_case"]
    assert reason.startswith("it reads a and A in a name as the same letter")

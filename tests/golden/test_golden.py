"""The compiled text of every case is the reviewed one, and runs."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest
from cases import (
    CASES,
    COLUMNS,
    DUCKDB,
    FOLDERS,
    REFUSED,
    cases_of,
    policy_of,
    reasons_of,
    table_of,
    text_of,
)

from policy_engine.dialects import ENGINES
from policy_engine.warehouse.duckdb import DuckDBWarehouse

ROW = ["7", "34", "1.10", "70.5", "10115", "Ada", "f", "true", "1815-12-10",
       "2020-01-01 10:30:00", "2020-01-01 10:30:00+00", "x"]  # fmt: skip


ALL = [(dialect, case) for dialect in ENGINES for case in cases_of(dialect)]
WRITTEN = [(d, case) for d, case in ALL if (FOLDERS / d / f"{case}.sql").exists()]


def reviewed(case: str, dialect: str = DUCKDB) -> str:
    return (FOLDERS / dialect / f"{case}.sql").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("golden")


@pytest.mark.parametrize("dialect", ENGINES)
def test_every_text_has_its_case(dialect):
    files = {file.stem for file in (FOLDERS / dialect).glob("*.sql")}
    assert files == {case for each, case in WRITTEN if each == dialect}


@pytest.mark.parametrize("dialect", ENGINES)
def test_what_a_dialect_refuses_is_said_with_the_reason(dialect, folder):
    file = FOLDERS / dialect / REFUSED
    assert reasons_of(dialect, folder) == (file.read_text("utf-8") if file.exists() else "")


def test_duckdb_refuses_nothing():
    assert {case for dialect, case in WRITTEN if dialect == DUCKDB} == set(CASES)


@pytest.mark.parametrize(("dialect", "case"), WRITTEN)
def test_the_text_is_the_reviewed_one(folder, dialect, case):
    assert text_of(case, folder, dialect) == reviewed(case, dialect)


PURE = {"answers", "tuples"}
LISTED = {"public_keys", "public_keys_of_rows"}


@pytest.fixture
def source(tmp_path: Path) -> Path:
    database = tmp_path / "db.duckdb"
    with duckdb.connect(str(database)) as connection:
        names = ['"' + name.replace('"', '""') + '"' for name in COLUMNS]
        kinds = ", ".join(f"{n} {kind}" for n, kind in zip(names, COLUMNS.values(), strict=True))
        connection.execute(f"CREATE TABLE people ({kinds})")
        connection.execute(f"INSERT INTO people VALUES ({', '.join('?' * len(ROW))})", ROW)
        # A hundred people, each with a number of their own.
        others = "INSERT INTO people SELECT * REPLACE (range AS person) FROM people, range(1, 100)"
        connection.execute(others.replace("SELECT *", "SELECT people.*"))
        connection.execute(f"COPY people TO '{tmp_path / 'people.parquet'}' (FORMAT parquet)")
    return database


@pytest.mark.parametrize("case", CASES)
def test_the_text_runs(tmp_path, source, case):
    policy = policy_of(case, tmp_path)
    warehouse = DuckDBWarehouse("db", source, writable=True)
    try:
        table = warehouse.table(policy.source, tmp_path)
        assert table == table_of(policy)
        with warehouse.sampled(policy, table, bytes(range(16))) as unchanged:
            if policy.release.relation is None:
                rows = warehouse.rows(reviewed(case)).num_rows
            else:
                target = ("db", "main", "out")
                query = reviewed(case).partition(" AS\n")[2]
                warehouse.publish(query, target, "", unchanged)
                rows = len(list(warehouse.release_lines(target)))
        groups = max(1, len(policy.groupings))
        if case in PURE | LISTED:
            assert rows > 1
            return
        assert rows >= 5 if policy.release.form == "rows" else rows == groups
    finally:
        warehouse.close()

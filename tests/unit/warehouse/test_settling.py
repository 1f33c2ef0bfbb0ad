"""The blocks of a database file are written by a process that knows only the release."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import duckdb
import pytest

from policy_engine.warehouse import settings
from policy_engine.warehouse.duckdb import DuckDBWarehouse
from policy_engine.warehouse.settings import settle

TARGET = ("db", "main", "t")


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "db.duckdb"
    duckdb.connect(str(path)).close()
    return path


def publish(database: Path) -> DuckDBWarehouse:
    opened = DuckDBWarehouse("db", database, writable=True)
    rows = "SELECT range AS a, 'text ' || range AS b FROM range(300000) ORDER BY a"
    opened.publish(rows, TARGET, "said", bool)
    return opened


def count(database: Path) -> tuple:
    with duckdb.connect(str(database), read_only=True) as connection:
        return connection.execute("SELECT count(*), max(b) FROM t").fetchall()[0]


def test_a_connection_writes_its_log_and_no_block(database, monkeypatch):
    monkeypatch.setattr("policy_engine.warehouse.duckdb.settle", lambda _: None)
    before = database.read_bytes()
    opened = publish(database)
    assert database.read_bytes() == before
    opened.close()
    assert database.read_bytes() == before
    assert Path(f"{database}.wal").stat().st_size > 1_000_000
    settle(database)
    assert not Path(f"{database}.wal").exists()
    assert count(database) == (300_000, "text 99999")


def test_a_closed_warehouse_is_settled(database):
    publish(database).close()
    assert [path.name for path in database.parent.iterdir()] == ["db.duckdb"]
    assert count(database) == (300_000, "text 99999")


def test_a_warehouse_that_wrote_nothing_starts_no_process(database, monkeypatch):
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: pytest.fail("a process"))
    DuckDBWarehouse("db", database, writable=True).close()
    DuckDBWarehouse("db", database).close()


@pytest.mark.parametrize("python", ["/nowhere/python", shutil.which("false")])
def test_a_log_that_cannot_be_settled_stays_and_is_whole(database, monkeypatch, python):
    monkeypatch.setattr(settings.sys, "executable", python)
    publish(database).close()
    assert Path(f"{database}.wal").exists()
    assert count(database) == (300_000, "text 99999")


def test_the_process_gets_no_secret_and_says_nothing(database, monkeypatch, capfd):
    monkeypatch.setenv("POLICY_ENGINE_SIGNING_KEY", "the key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "another")
    real, seen = subprocess.run, []

    def run(words, **named):
        seen.append((words, named["env"]))
        return real(words, **named)

    monkeypatch.setattr(subprocess, "run", run)
    publish(database).close()
    [(words, environment)] = seen
    assert words[1:] == ["-P", "-B", "-c", settings._SETTLE, str(database)]
    assert set(environment) <= {*settings._KEPT, *settings._ZEROS}
    (database.parent / "db.duckdb").write_text("no database")
    (database.parent / "db.duckdb.wal").write_text("no log")
    settle(database)
    assert capfd.readouterr() == ("", "")

"""An engine that is told nothing writes, prints and fetches nothing."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from policy_engine.warehouse.settings import connect

WANTED = {
    "TimeZone": "UTC",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "allow_unsigned_extensions": "false",
    "allow_persistent_secrets": "false",
    "python_enable_replacements": "false",
    "enable_optimistic_write": "false",
    "enable_progress_bar_print": "false",
    "enable_logging": "0",
    "enable_profiling": None,
    "log_query_path": None,
}


def test_a_connection_does_nothing_unasked(tmp_path):
    with connect(tmp_path) as connection:
        settings = connection.execute("SELECT name, value FROM duckdb_settings()").fetchall()
    found = {name: value or None for name, value in settings}
    assert {name: found[name] for name in WANTED} == WANTED
    assert found["temp_directory"] == str(tmp_path)


def test_a_variable_of_the_program_is_no_relation(tmp_path):
    import pyarrow as pa

    people = pa.table({"a": [1]})
    assert duckdb.sql("SELECT * FROM people").fetchall() == [(people.num_rows,)]
    with connect(tmp_path) as connection, pytest.raises(duckdb.CatalogException):
        connection.execute("SELECT * FROM people")


def test_a_home_is_neither_read_nor_written(tmp_path, monkeypatch):
    home = tmp_path / "home"
    (home / ".duckdb").mkdir(parents=True)
    (home / ".duckdbrc").write_text("SELECT nonsense;")
    monkeypatch.setenv("HOME", str(home))
    with connect(tmp_path / "spill") as connection:
        assert connection.execute("SELECT 1").fetchall() == [(1,)]
    assert sorted(path.name for path in home.rglob("*")) == [".duckdb", ".duckdbrc"]
    assert not Path(tmp_path / "spill").exists()

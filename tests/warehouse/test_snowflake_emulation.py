"""Snowflake's texts in fakesnow: an emulation on DuckDB, never Snowflake itself.

What it shows: that the texts are of Snowflake's grammar as a second reader has it, and release what
DuckDB releases. What it cannot show: how Snowflake compares, hashes and truncates.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import duckdb
import pytest
from alike import COLUMNS, POLICIES, ROWS, SECRET, _database, expected, policy_of
from environments import FAKESNOW, environment

from policy_engine.compile.catalog import Field, Table
from policy_engine.compile.compiler import compiled
from policy_engine.dialects import dialect_named

NATIVE = {"VARCHAR": "varchar", "DOUBLE": "double", "TIMESTAMP": "timestamp_ntz"}


@pytest.fixture(scope="session")
def emulated(tmp_path_factory) -> dict[str, object]:
    """What the emulation releases, or its error, by the policy's name."""
    file = tmp_path_factory.mktemp("people") / "people.parquet"
    with duckdb.connect(str(_database(len(ROWS))), read_only=True) as connection:
        connection.execute(f"COPY people TO '{file}' (FORMAT parquet)")
    asked = {
        "file": str(file),
        "columns": {name: NATIVE.get(kind, kind) for name, kind in COLUMNS.items()},
        "salt": SECRET.hex(),
        "texts": [text_of(name) for name in POLICIES],
    }
    runner = Path(__file__).parent / "fakesnow_run.py"
    done = subprocess.run(
        [environment("fakesnow", FAKESNOW) / "bin" / "python", "-W", "ignore", runner],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        check=True,
    )
    return dict(zip(POLICIES, json.loads(done.stdout), strict=True))


def table() -> Table:
    return Table(tuple(Field(*each) for each in COLUMNS.items()), parts=("main", "people"))


def text_of(name: str) -> str:
    return compiled(policy_of(name), table(), dialect_named("snowflake"))[1]


@pytest.mark.parametrize("name", POLICIES)
def test_the_emulation_releases_what_duckdb_releases(emulated, name):
    wanted = [
        [None if v is None else str(v) for v in row.values()] for row in expected(name).to_pylist()
    ]
    assert emulated[name] == wanted
    assert len(wanted) > 1

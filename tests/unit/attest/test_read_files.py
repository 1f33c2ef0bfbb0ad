"""Files are read in the thread that asks: one of Arrow's may outlive Python, which then aborts."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

READ = """
import os, sys
from pathlib import Path

import pyarrow.parquet
from policy_engine.attest import parquet_file

path = Path(sys.argv[1])
before = len(os.listdir("/proc/self/task"))
read = {reading}
print(read.num_rows, len(os.listdir("/proc/self/task")) - before, flush=True)
os._exit(0)
"""
READINGS = {
    "bytes": "parquet_file.read_parquet(path.read_bytes())",
    "path": "parquet_file.read_parquet(path)",
}


def run(reading: str, path: Path) -> str:
    command = [sys.executable, "-c", READ.format(reading=reading), str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.fixture
def path(tmp_path: Path) -> Path:
    found = tmp_path / "year=2020" / "rows.parquet"
    found.parent.mkdir()
    rows = pa.table({"band": ["20-39", "40-59"] * 50_000, "n": list(range(100_000))})
    pq.write_table(rows, found, row_group_size=10_000)
    return found


@pytest.mark.parametrize("reading", READINGS.values(), ids=READINGS)
def test_a_reading_starts_no_thread(path: Path, reading: str) -> None:
    assert run(reading, path).split() == ["100000", "0"]


def test_arrow_on_its_own_starts_threads_so_that_the_test_above_can_fail(path: Path) -> None:
    alone = "pyarrow.parquet.read_table(pyarrow.BufferReader(path.read_bytes()))"
    assert int(run(alone, path).split()[1]) > 0

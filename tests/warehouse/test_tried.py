"""What is tried before a charge: it meets what a run would meet, reads no row, leaves nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from engines import ENGINES, opened_engines

from policy_engine.compile.compiler import compiled
from policy_engine.errors import WarehouseError
from policy_engine.policy.loading import load_policy_text
from policy_engine.policy.resolve import Policy
from policy_engine.warehouse.duckdb import DuckDBWarehouse

POLICY = """\
version: 1
name: tried
source: {table: people}
privacy_unit: {column: id, rows: any}
recode: {town: keep}
sample: {rate: 0.5}
k: 2
guarantee: {epsilon: 1, delta: 0.9}
release: {table: out}
"""
ROWS = pa.table({"id": list(range(5000)), "town": [f"town{i % 7}" for i in range(5000)]})


@pytest.fixture(scope="module", params=ENGINES)
def engine(request):
    with opened_engines([request.param]) as engines:
        yield engines[request.param]


@pytest.fixture
def warehouse(engine):
    engine.load(ROWS)
    with closing(engine.writer()) as opened:
        yield opened


def asked(warehouse, folder: Path) -> tuple[Policy, object, str]:
    policy = load_policy_text(POLICY, folder / "policy.yaml", folder)
    table = warehouse.table(policy.source, folder)
    return policy, table, compiled(policy, table, warehouse.dialect)[1]


def test_it_finds_nothing_wrong_and_leaves_nothing(warehouse, tmp_path):
    policy, table, query = asked(warehouse, tmp_path)
    target = warehouse.target("out")
    warehouse.check_reads(policy, table, query)
    warehouse.check_writes(target, query)
    assert not warehouse.exists(target)
    with warehouse.sampled(policy, table, bytes(16)) as unchanged:
        assert warehouse.rows(query).num_rows == 7
        warehouse.publish(query, target, "c", unchanged)
    assert len(list(warehouse.release_lines(target))) == 7
    warehouse.check_writes(target, query)
    assert len(list(warehouse.release_lines(target))) == 7


# No row is read


def pages(engine) -> Iterator[Path]:
    """The files that hold the rows, of an engine that keeps them in files."""
    folder = engine.rows_folder
    yield from folder.rglob("people.parquet")
    yield from folder.rglob("people/*.parquet")
    yield from folder.rglob("data*.bin")


def spoil(path: Path) -> None:
    """Leave what describes the rows, at the end of the file, and nothing of the rows."""
    data = bytearray(path.read_bytes())
    data[4 : len(data) // 2] = b"\xff" * (len(data) // 2 - 4)
    path.write_bytes(data)


@pytest.mark.parametrize("engine", ["datafusion", "clickhouse", "spark"], indirect=True)
def test_rows_that_cannot_be_read_fail_the_run_and_not_what_is_tried(engine, warehouse, tmp_path):
    policy, table, query = asked(warehouse, tmp_path)
    spoiled = [spoil(path) for path in pages(engine)]
    warehouse.check_reads(policy, table, query)
    warehouse.check_writes(warehouse.target("tried"), query)
    with warehouse.bound("00" * 16), pytest.raises(WarehouseError):
        warehouse.rows(query)
    assert spoiled


def test_rows_of_a_file_that_cannot_be_read_are_not_read_by_duckdb(tmp_path):
    pq.write_table(ROWS, tmp_path / "people.parquet")
    spoil(tmp_path / "people.parquet")
    source = "{file: people.parquet}\nprivacy_unit: {column: id, rows: any}"
    text = POLICY.replace("{table: people}\nprivacy_unit: {column: id, rows: any}", source)
    policy = load_policy_text(
        text.replace("table: out", "file: o.parquet"), tmp_path / "policy.yaml", tmp_path
    )
    with closing(DuckDBWarehouse()) as warehouse:
        table = warehouse.table(policy.source, tmp_path)
        query = compiled(policy, table, warehouse.dialect)[1]
        warehouse.check_reads(policy, table, query)
        with pytest.raises(WarehouseError), warehouse.sampled(policy, table, bytes(16)):
            warehouse.rows(query)


def read_by_postgres(warehouse) -> int:
    sql = "SELECT seq_tup_read + coalesce(idx_tup_fetch, 0) FROM pg_stat_xact_user_tables"
    return sum(int(row[0]) for row in warehouse.ask(f"{sql} WHERE relname = 'people'"))


def read_by_mariadb(warehouse) -> int:
    return sum(int(n) for _, n in warehouse.ask("SHOW SESSION STATUS LIKE 'Handler_read%'"))


def steps_of_sqlite(warehouse) -> int:
    """How many steps of its machine ran since it was asked last."""
    found = getattr(warehouse, "steps", 0)

    def step() -> int:
        warehouse.steps += 1
        return 0

    warehouse.steps = 0
    warehouse._connection.set_progress_handler(step, 1)
    return found


COUNTERS = {"postgres": read_by_postgres, "mariadb": read_by_mariadb, "sqlite": steps_of_sqlite}


@pytest.mark.parametrize("engine", COUNTERS, indirect=True)
def test_an_engine_does_the_same_whatever_the_rows_are(engine, request, tmp_path):
    count, found = COUNTERS[request.node.callspec.params["engine"]], {}
    for rows in (ROWS, ROWS.slice(0, 0)):
        engine.load(rows)
        with closing(engine.writer()) as warehouse:
            policy, table, query = asked(warehouse, tmp_path)
            counts = [count(warehouse)]
            warehouse.check_reads(policy, table, query)
            counts.append(count(warehouse))
            with warehouse.trying(policy, table):
                warehouse.check_writes(warehouse.target("tried"), query, added=warehouse.appends)
            counts.append(count(warehouse))
            with warehouse.bound("00" * 16):
                warehouse.rows(query)
            found[rows.num_rows] = [*counts, count(warehouse)]
    assert found[0][:2] == found[5000][:2]
    assert found[5000][2] - found[5000][1] < ROWS.num_rows / 10  # what a catalog takes differs
    assert found[5000][3] >= found[0][3] + ROWS.num_rows

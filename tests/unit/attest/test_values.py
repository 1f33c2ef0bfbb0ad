"""Released values that Python's own dates cannot be: as DuckDB writes them, and back."""

from __future__ import annotations

from random import Random

import duckdb
import pyarrow as pa
import pytest

from policy_engine.attest.values import comparable_values, plain_values, restored

RANDOM = Random(2)
DAYS = [None, 0, 2932896, 2932897, -719162, -719163, -719529, 2**31 - 1, 1 - 2**31]
DAYS += [RANDOM.randrange(-(2 * 10**9), 2 * 10**9) // part for part in (1, 50, 1000) * 300]
MOMENTS = [None, 0, -1, 500_000, 253402300800000000, 2**63 - 1, 1 - 2**63]
MOMENTS += [RANDOM.randrange(-(10**17), 9 * 10**18) // part for part in (1, 50, 10**6) * 300]
TIMES = [None, 0, 500_000, 86_400_000_000]
TIMES += [RANDOM.randrange(86_400_000_000) for _ in range(300)]


def as_duckdb(column: pa.ChunkedArray) -> list[str | None]:
    with duckdb.connect(config={"autoinstall_known_extensions": "false"}) as engine:
        engine.execute("SET TimeZone = 'UTC'")
        engine.register("t", pa.table({"v": column}))
        return [text for (text,) in engine.execute("SELECT v::VARCHAR FROM t").fetchall()]


def column_of(numbers: list[int | None], storage: pa.DataType, kind: pa.DataType):
    return pa.chunked_array([pa.array(numbers, storage).cast(kind)])


def test_a_date_is_written_as_duckdb_writes_it():
    column = column_of(DAYS, pa.int32(), pa.date32())
    assert plain_values(column) == as_duckdb(column)
    assert restored(plain_values(column), column).cast(pa.int32()).to_pylist() == DAYS


@pytest.mark.parametrize("zone", [None, "UTC"])
def test_a_moment_is_written_as_duckdb_writes_it(zone):
    column = column_of(MOMENTS, pa.int64(), pa.timestamp("us", zone))
    assert plain_values(column) == as_duckdb(column)
    assert restored(plain_values(column), column).cast(pa.int64()).to_pylist() == MOMENTS


def test_a_time_of_day_is_written_as_duckdb_writes_it():
    column = column_of(TIMES, pa.int64(), pa.time64("us"))
    assert plain_values(column) == as_duckdb(column)


def test_any_other_value_is_as_it_is():
    column = pa.chunked_array([pa.array(["10000-01-01", None])])
    assert plain_values(column) == comparable_values(column) == ["10000-01-01", None]


def test_a_date_that_python_lacks_equals_no_value_of_a_claim():
    [day] = comparable_values(column_of([0], pa.int32(), pa.date32()))
    assert str(day) == "1970-01-01"
    assert not isinstance(day, str)
    assert comparable_values(column_of([0, 2932897], pa.int32(), pa.date32())) == [
        "1970-01-01", "10000-01-01",
    ]  # fmt: skip

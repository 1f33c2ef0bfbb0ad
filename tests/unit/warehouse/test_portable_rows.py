"""Rows have the same types from every engine, and small ones need nothing that computes."""

from __future__ import annotations

import subprocess
import sys

import pyarrow as pa
import pytest

from policy_engine.warehouse.arrow import portable

NARROW = [pa.int8(), pa.int16(), pa.int32(), pa.uint8(), pa.uint16(), pa.uint32()]


@pytest.mark.parametrize("kind", NARROW, ids=str)
def test_whole_numbers_have_64_bits_and_are_the_same(kind: pa.DataType) -> None:
    largest = 2 ** (kind.bit_width - pa.types.is_signed_integer(kind)) - 1
    many = pa.array([None, *range(20), None, largest], kind)
    chunks = [many, many[:0], many[3:11], many[20:], many[:1]]
    rows = portable(pa.table({"n": pa.chunked_array(chunks, kind), "t": ["x"] * 35}))
    rows.validate(full=True)
    assert rows.schema.field("n").type == pa.int64()
    assert rows["n"].to_pylist() == [value for chunk in chunks for value in chunk.to_pylist()]
    assert portable(pa.table({"n": many[:0]}))["n"].type == pa.int64()


_SMALL = """
import sys
import duckdb
from policy_engine.releasing.standing import numbered
from policy_engine.warehouse.arrow import portable
found = duckdb.sql("VALUES (1::INTEGER, 'f'), (NULL, 'm')").to_arrow_table()
assert [*numbered(portable(found), None)] == [(1, "f"), (None, "m")]
print("pyarrow.compute" in sys.modules)
"""


def test_numbers_and_texts_need_nothing_that_computes() -> None:
    ran = subprocess.run([sys.executable, "-c", _SMALL], capture_output=True, text=True, check=True)
    assert ran.stdout == "False\n"

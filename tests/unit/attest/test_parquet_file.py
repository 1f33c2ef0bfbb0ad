"""A file of a release comes out again byte for byte, or it is refused."""

from __future__ import annotations

import datetime
import json
import random
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from forged_parquet import BINARY, I32, I64, LIST, STRUCT, Parts, forged, plain_file

from policy_engine.attest.parquet_file import (
    METADATA_KEY,
    check_bytes,
    predicate_digest,
    read_parquet,
    record_of_editions,
    record_of_file,
    record_text,
    write_parquet,
)

ROWS = pa.table({"sex": ["F", "M", None], "age": [30, 40, 50], "n": [20, 30, 25]})
FACTS = {"k": 20, "columns": ("sex",), "policy": {"name": "a"}, "mechanism": "noisy-counts"}
RECORD = record_of_file(FACTS, "r.parquet")
HELD = "it holds its rows and nothing else"


def created_by(data: bytes) -> str:
    return pq.ParquetFile(pa.BufferReader(data)).metadata.created_by or ""


def written(tmp_path, rows=ROWS, facts=FACTS) -> bytes:
    path = tmp_path / "r.parquet"
    write_parquet(rows, path, {METADATA_KEY: record_of_file(facts, "r.parquet")})
    return path.read_bytes()


def checked(data: bytes, facts=FACTS):
    return check_bytes(
        "r.parquet", data, read_parquet(data), created_by(data), record_of_file(facts, "r.parquet")
    )


def is_refused(data: bytes, facts=FACTS) -> str:
    [reason] = checked(data, facts).reasons
    return reason


@pytest.fixture
def file(tmp_path) -> bytes:
    return written(tmp_path)


CHOICE = random.Random(4)
KINDS = {
    "text": [CHOICE.choice(["a", "ä", None, "x" * 50]) for _ in range(3000)],
    "all different text": [f"{CHOICE.random()}" * 9 for _ in range(30_000)],
    "booleans": [CHOICE.choice([True, False, None]) for _ in range(3001)],
    "integers": [CHOICE.randrange(10**12) for _ in range(3000)],
    "decimals": [Decimal(CHOICE.randrange(10**9)) / 100 for _ in range(3000)],
    "dates": [datetime.date(2000, 1, 1) + datetime.timedelta(i % 999) for i in range(3000)],
    "times": [datetime.time(i % 24) for i in range(3000)],
    "moments": [datetime.datetime(2000, 1, 1 + i % 28) for i in range(3000)],
    "moments in UTC": pa.array([0, 1], pa.timestamp("us", "UTC")),
    "seconds and nanoseconds": pa.array([0, 1], pa.timestamp("ns")),
    "large text": pa.array(["a", None], pa.large_string()),
    "nothing but NULL": pa.array([None] * 3000, pa.string()),
    "no type": pa.array([None] * 3, pa.null()),
    "small integers": pa.array(range(100), pa.int8()),
}


@pytest.mark.parametrize("values", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("rows", [None, 1, 0])
def test_every_type_and_size_comes_out_again(tmp_path, values, rows):
    table = pa.table({"a": values}).slice(0, rows)
    assert checked(written(tmp_path, table)).checked == (HELD,)


def test_more_rows_than_a_row_group_holds(tmp_path):
    table = pa.table({"n": range((1 << 20) + 5)})
    assert checked(written(tmp_path, table)).checked == (HELD,)


def test_what_an_engine_noted_of_a_column_is_not_written(tmp_path):
    field = pa.field("sex", pa.string(), nullable=False, metadata={"suppressed": "17"})
    table = pa.table({"sex": ["F"]}, schema=pa.schema([field], {"source_rows": "48842"}))
    data = written(tmp_path, table)
    assert b"suppressed" not in data and b"48842" not in data
    assert checked(data).checked == (HELD,)


@pytest.mark.parametrize(
    "options",
    [
        {"row_group_size": 2},
        {"write_page_index": True},
        {"compression": "zstd"},
        {"compression": "none"},
        {"data_page_version": "2.0"},
        {"use_dictionary": False},
        {"use_dictionary": False, "column_encoding": {"age": "DELTA_BINARY_PACKED"}},
        {"sorting_columns": [pq.SortingColumn(0)]},
        {"store_schema": False},
        {"write_statistics": False},
        {"bloom_filter_options": {"age": True}},
    ],
    ids=str,
)
def test_another_way_of_writing_is_refused(options):
    table = ROWS.replace_schema_metadata({METADATA_KEY: RECORD})
    assert checked(plain_file(table)).checked == (HELD,)
    assert "from byte " in is_refused(plain_file(table, **options))


@pytest.mark.parametrize(
    "metadata",
    [
        {METADATA_KEY: record_of_file({**FACTS, "k": 19}, "r.parquet")},
        {METADATA_KEY: RECORD, "sampled": "49834"},
        {METADATA_KEY: RECORD + " "},
        {METADATA_KEY: record_of_file(FACTS, "other.parquet")},
    ],
)
def test_other_facts_than_the_certificates_are_refused(metadata):
    assert is_refused(plain_file(ROWS.replace_schema_metadata(metadata)))


def test_a_record_is_short_whatever_the_certificate_says():
    noise = {**FACTS, "claim": {"entries": list(range(100_000))}, "epsilon": "1", "delta": "1E-6"}
    record = record_text(noise, "out/r.certificate.json")
    assert len(record) < 300 and json.loads(record)["facts"] == predicate_digest(noise)
    assert json.loads(record)["certificate"] == "out/r.certificate.json"
    # MariaDB's comments have 2,048 characters.
    deep = record_text(noise, "deep/" * 999 + "r.certificate.json")
    assert json.loads(deep)["certificate"] == "r.certificate.json"


def test_a_file_without_facts_hides_none():
    assert checked(plain_file(ROWS)).checked == (HELD,)
    assert is_refused(plain_file(ROWS.replace_schema_metadata({"sampled": "49834"})))


def test_a_dictionary_of_the_source_is_refused(tmp_path):
    words = pa.DictionaryArray.from_arrays(pa.array([0, 1, 1], pa.int32()), ["F", "M", "Smith"])
    data = written(tmp_path, pa.table({"sex": words, "n": [20, 20, 20]}))
    rows = pa.table({"sex": pa.array(["F", "M", "M"]), "n": [20, 20, 20]})
    assert b"Smith" in data
    assert check_bytes("r.parquet", data, rows, created_by(data), RECORD).reasons


def test_a_zone_that_tells_is_refused(tmp_path):
    data = written(tmp_path, pa.table({"a": pa.array([0], pa.timestamp("us", "49834 rows"))}))
    assert "moments in a zone" in is_refused(data)


def stats(parts: Parts):
    return parts.column()[12][1]


def first_data(parts: Parts):
    return parts.chunks[0][1][1]


def append(page, more: bytes) -> None:
    page.body += more


def add_entry(parts: Parts) -> None:
    page = parts.chunks[0][1][0]
    page.body += (99).to_bytes(8, "little")
    page.header[7][1][1] = (I32, 4)


FORGERIES = {
    "a name of the root schema": lambda p: p.element(0).update({4: (BINARY, b"secret" * 5000)}),
    "bytes between columns": lambda p: setattr(p, "between", b"secret"),
    "bytes behind the footer's fields": lambda p: setattr(p, "in_footer", b"secret"),
    "an unknown field of the footer": lambda p: p.footer.update({15: (BINARY, b"secret")}),
    "an unknown field of a row group": lambda p: p.group().update({15: (BINARY, b"secret")}),
    "a file's name in a column": lambda p: p.chunk().update({1: (BINARY, b"secret")}),
    "a path of a column": lambda p: p.column().update({3: (LIST, (BINARY, [b"secret"]))}),
    "another encoding listed": lambda p: p.column().update({2: (LIST, (I32, [0, 3, 8, 5]))}),
    "metadata of a column chunk": lambda p: p.column().update(
        {8: (LIST, (STRUCT, [{1: (BINARY, b"a"), 2: (BINARY, b"secret")}]))}
    ),
    "a number of a column": lambda p: p.element().update({9: (I32, 49834)}),
    "a largest value that no row has": lambda p: stats(p).update({5: (BINARY, b"Smith")}),
    "a count of NULLs of the source": lambda p: stats(p).update({3: (I64, 1201)}),
    "bounds of a page": lambda p: (
        first_data(p).header[5][1].update({5: (STRUCT, {5: (BINARY, b"Smith")})})
    ),
    "an unknown field of a page": lambda p: first_data(p).header.update({14: (BINARY, b"secret")}),
    "a dictionary entry more": add_entry,
    "bytes behind the values of a page": lambda p: append(first_data(p), b"secret"),
    "padding that is not zero": lambda p: setattr(
        first_data(p), "body", first_data(p).body[:-1] + b"\x40"
    ),
}


@pytest.mark.parametrize("change", FORGERIES.values(), ids=FORGERIES)
def test_what_no_reader_of_the_rows_sees_is_refused(file, change):
    data = forged(file, change)
    assert forged(file, lambda parts: None) == file != data
    reason = check_bytes("r.parquet", data, read_parquet(file), created_by(file), RECORD).reasons
    assert len(reason) == 1 and "holds more than its rows" in reason[0]


def test_a_file_that_is_longer_or_shorter_is_refused(file):
    for data in (file + b"x", b"", file[:-1], b"x" + file):
        assert check_bytes("r.parquet", data, read_parquet(file), created_by(file), RECORD).reasons
    place = len(file) // 2
    other = file[:place] + bytes([file[place] ^ 1]) + file[place + 1 :]
    [reason] = check_bytes("r.parquet", other, read_parquet(file), created_by(file), RECORD).reasons
    assert reason.endswith(f"it is another file from byte {place} on")


def test_no_byte_of_a_file_may_change(file):
    for place in range(len(file)):
        data = bytearray(file)
        data[place] ^= 1 << place % 8
        assert check_bytes(
            "r.parquet", bytes(data), read_parquet(file), created_by(file), RECORD
        ).reasons


def test_what_another_version_wrote_is_not_checked_and_that_is_said(file):
    other = b"parquet-cpp-arrow version 25.0.0"
    data = forged(file, lambda parts: parts.footer.update({6: (BINARY, other)}))
    found = checked(data)
    assert (found.checked, found.reasons) == ((), ())
    [said] = found.unchecked
    assert "parquet-cpp-arrow version 25.0.0 wrote it" in said and pa.__version__ in said


@pytest.mark.parametrize("name", [b"DuckDB", b"parquet-cpp-arrow version 26.0.1 (17 rows)", b""])
def test_what_no_version_of_the_writer_wrote_is_refused(file, name):
    data = forged(file, lambda parts: parts.footer.update({6: (BINARY, name)}))
    assert "was not written by the engine's Parquet library" in is_refused(data)
    without = forged(file, lambda parts: parts.footer.pop(6))
    assert "was not written by the engine's Parquet library" in is_refused(without)


def test_a_table_of_editions_says_where_their_epsilon_and_delta_are():
    """One number would be false of an edition that another one follows from a changed policy."""
    record = json.loads(record_of_editions("visits"))
    assert "epsilon" not in record
    assert record["guarantee"] == (
        "each edition has an ε and a δ of its own: its certificate states them"
    )

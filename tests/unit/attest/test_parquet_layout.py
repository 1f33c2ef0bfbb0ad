"""What a signer could hide in a Parquet file: each thing alone is refused, by name."""

from __future__ import annotations

import base64
import datetime
import json
import random
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from forged_parquet import (
    BINARY,
    I32,
    I64,
    LIST,
    STRUCT,
    TRUE,
    Page,
    Parts,
    file_of,
    forged,
    parts_of,
    plain_file,
)

from policy_engine.attest.parquet_layout import hidden
from policy_engine.publish import METADATA_KEY

ROWS = pa.table({"sex": ["F", "M", None], "age": [30, 40, 50], "n": [20, 30, 25]})
FACTS = {"k": 20, "columns": ["sex"], "policy": {"name": "a"}}
TEXT = json.dumps(FACTS, sort_keys=True, ensure_ascii=False)
WITH_FACTS = ROWS.replace_schema_metadata({METADATA_KEY: TEXT})
FILE = plain_file(WITH_FACTS)


def test_a_file_of_the_engine_holds_nothing_else():
    assert hidden(FILE, FACTS) == ""
    assert hidden(plain_file(ROWS), FACTS) == ""
    frozen = {"k": 20, "columns": ("sex",), "policy": {"name": "a"}}
    assert hidden(FILE, frozen) == ""


def test_taken_apart_and_put_together_it_is_the_same_file():
    assert file_of(parts_of(FILE)) == FILE


RANDOM = random.Random(4)
KINDS = {
    "text": [RANDOM.choice(["a", "ä", None, "x" * 50]) for _ in range(3000)],
    "all different text": [f"{RANDOM.random()}" * 9 for _ in range(30_000)],
    "booleans": [RANDOM.choice([True, False, None]) for _ in range(3001)],
    "integers": [RANDOM.randrange(10**12) for _ in range(3000)],
    "few integers": [RANDOM.randrange(3) for _ in range(3000)],
    "one integer": [7] * 3000,
    "decimals": [Decimal(RANDOM.randrange(10**9)) / 100 for _ in range(3000)],
    "dates": [datetime.date(2000, 1, 1) + datetime.timedelta(i % 999) for i in range(3000)],
    "times": [datetime.time(i % 24) for i in range(3000)],
    "moments": [datetime.datetime(2000, 1, 1 + i % 28) for i in range(3000)],
    "nothing but NULL": pa.array([None] * 3000, pa.string()),
    "small integers": pa.array(range(100), pa.int8()),
}


@pytest.mark.parametrize("values", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("rows", [None, 1, 0])
def test_every_type_and_size_is_read_to_its_last_byte(values, rows):
    table = pa.table({"a": values}).slice(0, rows)
    assert hidden(plain_file(table), {}) == ""


def test_a_column_that_is_never_null():
    schema = pa.schema([pa.field("a", pa.int64(), nullable=False)])
    assert hidden(plain_file(pa.table({"a": [1, 2]}, schema=schema)), {}) == ""


@pytest.mark.slow
def test_more_rows_than_a_row_group_holds():
    table = pa.table({"n": range((1 << 20) + 5)})
    assert hidden(plain_file(table), {}) == ""


# What a writer could be told to write


@pytest.mark.parametrize(
    ("reason", "options"),
    [
        ("its row groups are of odd sizes", {"row_group_size": 2}),
        ("it has metadata that the engine does not write", {"write_page_index": True}),
        ("a compression that the engine does not use", {"compression": "zstd"}),
        ("a page of a kind that the engine does not write", {"data_page_version": "2.0"}),
        (
            "an encoding that the engine does not write",
            {"use_dictionary": False, "column_encoding": {"age": "DELTA_BINARY_PACKED"}},
        ),
        (
            "it has metadata that the engine does not write",
            {"sorting_columns": [pq.SortingColumn(0)]},
        ),
    ],
)
def test_another_way_of_writing(reason, options):
    assert hidden(plain_file(ROWS, **options), FACTS) == reason


def test_a_file_without_an_arrow_schema_hides_nothing():
    assert hidden(plain_file(WITH_FACTS, store_schema=False), FACTS) == ""


def test_an_uncompressed_file_or_one_without_dictionaries_hides_nothing():
    assert hidden(plain_file(ROWS, compression="none"), FACTS) == ""
    assert hidden(plain_file(ROWS, use_dictionary=False), FACTS) == ""


def test_a_dictionary_with_a_suppressed_value():
    words = pa.DictionaryArray.from_arrays(pa.array([0, 1, 1], pa.int32()), ["F", "M", "Smith"])
    data = plain_file(pa.table({"sex": words, "n": [20, 20, 20]}))
    assert b"Smith" in data
    assert hidden(data, {}) == "a dictionary with values that no row has"


def test_metadata_beside_the_certificate():
    data = plain_file(ROWS.replace_schema_metadata({METADATA_KEY: TEXT, "sampled": "49834"}))
    assert hidden(data, FACTS) == "it has metadata that the engine does not write"


def test_the_metadata_of_another_certificate():
    told = "its metadata states another certificate than the signed one"
    assert hidden(FILE, {**FACTS, "k": 19}) == told
    spaced = json.dumps(FACTS, sort_keys=True, indent=1)
    assert hidden(plain_file(ROWS.replace_schema_metadata({METADATA_KEY: spaced})), FACTS) == told


def test_the_metadata_of_a_column():
    field = pa.field("sex", pa.string(), metadata={"suppressed": "17"})
    schema = pa.schema([field, pa.field("n", pa.int64())])
    table = pa.table({"sex": ["F"], "n": [20]}, schema=schema)
    told = "its Arrow schema has metadata that the engine does not write"
    assert hidden(plain_file(table), {}) == told
    named = pa.field("sex", pa.string(), metadata={"PARQUET:field_id": "17"})
    table = pa.table({"sex": ["F"]}, schema=pa.schema([named]))
    assert "metadata that the engine does not write" in hidden(plain_file(table), {})


@pytest.mark.parametrize(
    "values",
    [
        pa.array([["F"]]),
        pa.array([{"a": "F"}]),
    ],
)
def test_a_nested_column(values):
    found = hidden(plain_file(pa.table({"sex": values, "n": [20]})), {})
    assert found


# What only a forger writes


def pairs(parts: Parts) -> list[dict[int, tuple[int, object]]]:
    return parts.footer[5][1][1]


def stats(parts: Parts, place: int = 0) -> dict[int, tuple[int, object]]:
    return parts.column(place)[12][1]


def data_header(page: Page) -> dict[int, tuple[int, object]]:
    return page.header[5][1]


def change_arrow(parts: Parts, change) -> None:
    [pair] = [pair for pair in pairs(parts) if pair[1][1] == b"ARROW:schema"]
    blob = change(base64.b64decode(pair[2][1]))
    pair[2] = (BINARY, blob if blob.startswith(b"!") else base64.b64encode(blob))


def other_schema(_blob: bytes) -> bytes:
    field = pa.field("sex", pa.string(), metadata={"a": "b"})
    return pa.schema([field]).serialize().to_pybytes()


def append(page: Page, more: bytes) -> None:
    page.body += more


def first_dictionary(parts: Parts) -> Page:
    return parts.chunks[0][1][0]


def first_data(parts: Parts) -> Page:
    return parts.chunks[0][1][1]


def add_entry(parts: Parts) -> None:
    page = first_dictionary(parts)
    page.body += (99).to_bytes(8, "little")
    page.header[7][1][1] = (I32, 4)


def repeat_entry(parts: Parts) -> None:
    page = first_dictionary(parts)
    page.body = page.body[:16] + page.body[8:16]


LEVELS = b"\x02\0\0\0\x06\x01"  # three rows that are not NULL, in a run of equal levels
INDICES = b"\x02\x03\x24\x00"  # eight indices of two bits: 0, 1, 2 and five of padding


def set_body(body: bytes):
    return lambda parts: setattr(first_data(parts), "body", body)


FORGERIES = {
    # bytes without a place
    "bytes between columns": (
        "there are bytes that belong to no column",
        lambda parts: setattr(parts, "between", b"secret"),
    ),
    "bytes behind the footer's fields": (
        "there are bytes behind its footer",
        lambda parts: setattr(parts, "in_footer", b"secret"),
    ),
    "a trailing byte": (
        "its footer is not at its end",
        lambda parts: setattr(parts, "behind", b"x"),
    ),
    # the footer
    "an unknown field of the footer": (
        "it has metadata that the engine does not write",
        lambda parts: parts.footer.update({15: (BINARY, b"secret")}),
    ),
    "an unknown field of a row group": (
        "it has metadata that the engine does not write",
        lambda parts: parts.group().update({15: (BINARY, b"secret")}),
    ),
    "a file's name in a column": (
        "it has metadata that the engine does not write",
        lambda parts: parts.chunk().update({1: (BINARY, b"secret")}),
    ),
    "metadata of a column chunk": (
        "it has metadata that the engine does not write",
        lambda parts: parts.column().update(
            {8: (LIST, (STRUCT, [{1: (BINARY, b"a"), 2: (BINARY, b"secret")}]))}
        ),
    ),
    "a field number of a column": (
        "it has metadata that the engine does not write",
        lambda parts: parts.element().update({9: (I32, 49834)}),
    ),
    "an unknown field of a pair": (
        "it has metadata that the engine does not write",
        lambda parts: pairs(parts)[0].update({3: (BINARY, b"secret")}),
    ),
    "a pair that stands twice": (
        "it has metadata that the engine does not write",
        lambda parts: pairs(parts).append(pairs(parts)[0]),
    ),
    "a writer's name that tells": (
        "it was not written by the engine's Parquet library",
        lambda parts: parts.footer.update(
            {6: (BINARY, b"parquet-cpp-arrow version 26.0.1 (17 rows suppressed)")}
        ),
    ),
    "another writer": (
        "it was not written by the engine's Parquet library",
        lambda parts: parts.footer.update({6: (BINARY, b"DuckDB")}),
    ),
    "rows that do not add up": (
        "its row groups do not add up to its rows",
        lambda parts: parts.footer.update({3: (I64, 2)}),
    ),
    "a row group without rows": (
        "its row groups are of odd sizes",
        lambda parts: parts.group().update({3: (I64, 0)}),
    ),
    "another number of values": (
        "a column that is not plain",
        lambda parts: parts.column().update({5: (I64, 2)}),
    ),
    "another type than the schema's": (
        "a column that is not plain",
        lambda parts: parts.column().update({1: (I32, 1)}),
    ),
    "a column that repeats": (
        "a column that is not plain",
        lambda parts: parts.element().update({3: (I32, 2)}),
    ),
    "a type that no value has": (
        "a type that the engine does not write",
        lambda parts: [part.update({1: (I32, 3)}) for part in (parts.element(2), parts.column(1))],
    ),
    # the Arrow schema
    "an Arrow schema that is none": (
        "its Arrow schema cannot be read",
        lambda parts: change_arrow(parts, lambda _: b"!"),
    ),
    "an Arrow schema of other bytes": (
        "its Arrow schema cannot be read",
        lambda parts: change_arrow(parts, lambda _: b"\x05\0\0\0"),
    ),
    "an Arrow schema with metadata": (
        "its Arrow schema has metadata that the engine does not write",
        lambda parts: change_arrow(parts, other_schema),
    ),
    "bytes behind the Arrow schema": (
        "its Arrow schema holds more than its columns",
        lambda parts: change_arrow(parts, lambda blob: blob + b"secret"),
    ),
    # statistics
    "a largest value that no row has": (
        "statistics with a value that no row has",
        lambda parts: stats(parts).update({5: (BINARY, b"Smith")}),
    ),
    "a least value that no row has": (
        "statistics with a value that no row has",
        lambda parts: stats(parts).update({6: (BINARY, b"Adams")}),
    ),
    "an old largest value that no row has": (
        "statistics with a value that no row has",
        lambda parts: stats(parts).update({1: (BINARY, b"Smith")}),
    ),
    "an old least value that no row has": (
        "statistics with a value that no row has",
        lambda parts: stats(parts).update({2: (BINARY, b"Adams")}),
    ),
    "a count of NULLs of the source": (
        "statistics with counts that are not its rows'",
        lambda parts: stats(parts).update({3: (I64, 1201)}),
    ),
    "a count of values of the source": (
        "statistics with counts that are not its rows'",
        lambda parts: stats(parts).update({4: (I64, 1201)}),
    ),
    "statistics of a new kind": (
        "statistics of an unknown kind",
        lambda parts: stats(parts).update({9: (I64, 1201)}),
    ),
    "bounds of a page": (
        "statistics with a value that no row has",
        lambda parts: data_header(first_data(parts)).update({5: (STRUCT, {5: (BINARY, b"Smith")})}),
    ),
    # pages
    "a dictionary entry more": ("a dictionary with values that no row has", add_entry),
    "a dictionary that repeats a value": ("a dictionary that repeats a value", repeat_entry),
    "bytes behind a dictionary": (
        "bytes behind its last row",
        lambda parts: append(first_dictionary(parts), b"secret"),
    ),
    "two dictionaries": (
        "a dictionary in the wrong place",
        lambda parts: parts.chunks[0][1].insert(0, first_dictionary(parts)),
    ),
    "a dictionary behind its rows": (
        "a row points outside its dictionary",
        lambda parts: parts.chunks[0].__setitem__(
            0, [Page({**page.header}, page.body) for page in parts.chunks[0][0]][::-1]
        ),
    ),
    "a dictionary in another encoding": (
        "a dictionary in an encoding that the engine does not write",
        lambda parts: first_dictionary(parts).header[7][1].update({2: (I32, 5)}),
    ),
    "an unknown field of a dictionary": (
        "a page header with unknown or missing fields",
        lambda parts: first_dictionary(parts).header[7][1].update({9: (I32, 5)}),
    ),
    "an unknown field of a data page": (
        "a page header with unknown or missing fields",
        lambda parts: data_header(first_data(parts)).update({9: (I32, 5)}),
    ),
    "a data page without its header": (
        "a page header with unknown or missing fields",
        lambda parts: first_data(parts).header.update({5: (TRUE, None)}),
    ),
    "an index page": (
        "a page of a kind that the engine does not write",
        lambda parts: first_data(parts).header.update({1: (I32, 1)}),
    ),
    "an unknown field of a page": (
        "a page of a kind that the engine does not write",
        lambda parts: first_data(parts).header.update({14: (BINARY, b"secret")}),
    ),
    "a page more": (
        "pages with more or fewer rows than the file says",
        lambda parts: parts.chunks[0][1].append(first_data(parts)),
    ),
    "a page less": (
        "pages with more or fewer rows than the file says",
        lambda parts: parts.chunks[0][2].pop(),
    ),
    "bytes behind the values of a page": (
        "bytes behind its last row",
        lambda parts: append(first_data(parts), b"secret"),
    ),
    "padding that is not zero": (
        "numbers behind its last row",
        set_body(LEVELS + INDICES[:-1] + b"\x40"),
    ),
    "a page of vast runs": (
        "numbers behind its last row",
        set_body(LEVELS + b"\x00" + b"\xff" * 8 + b"\x01"),
    ),
    "a page of more rows than are left": (
        "pages with more or fewer rows than the file says",
        lambda parts: data_header(first_data(parts)).update({1: (I32, 2**31 - 1)}),
    ),
    "more runs of padding than needed": (
        "numbers behind its last row",
        set_body(LEVELS + b"\x02\x05\x24\x00\x00\x00"),
    ),
    "a run that is longer than the rows": (
        "numbers behind its last row",
        set_body(b"\x02\0\0\0\x08\x01" + INDICES),
    ),
    "a run of nothing": (
        "numbers behind its last row",
        set_body(LEVELS + b"\x02\x00\x00" + INDICES),
    ),
    "an index outside the dictionary": (
        "a row points outside its dictionary",
        set_body(LEVELS + b"\x02\x03\x3c\x00"),
    ),
    "indices that are too wide": ("indices that are too wide", set_body(LEVELS + b"\x21\x06\x00")),
    "a page without indices": ("a page that ends too early", set_body(LEVELS)),
    "a page that is cut short": ("it ends too early", set_body(LEVELS + b"\x02\x03")),
    "levels of two bits": (
        "NULLs in an encoding that the engine does not write",
        set_body(b"\x02\0\0\0\x06\x02" + INDICES),
    ),
    "levels in another encoding": (
        "NULLs in an encoding that the engine does not write",
        lambda parts: data_header(first_data(parts)).update({3: (I32, 4)}),
    ),
}  # fmt: skip


def test_what_the_forgeries_start_from_is_sound():
    assert hidden(forged(FILE, set_body(LEVELS + INDICES)), FACTS) == ""


@pytest.mark.parametrize(("reason", "change"), FORGERIES.values(), ids=FORGERIES)
def test_a_forgery_is_refused(reason, change):
    data = forged(FILE, change)
    assert data != FILE
    assert hidden(data, FACTS) == reason


UNSEEN = (
    "bytes between columns",
    "an unknown field of the footer",
    "a largest value that no row has",
    "a dictionary entry more",
    "bytes behind the values of a page",
    "bounds of a page",
)


@pytest.mark.parametrize("name", UNSEEN)
def test_a_reader_of_the_rows_would_not_have_seen_it(name):
    data = forged(FILE, FORGERIES[name][1])
    assert pq.read_table(pa.BufferReader(data)).equals(WITH_FACTS)


def own_sizes(change):
    def changed(parts: Parts) -> None:
        file_of(parts)
        parts.own_sizes = False
        change(parts)

    return changed


SIZES = {
    "a page that does not end within its column": {3: (I32, 10**6)},
    "a page of a negative size": {3: (I32, -1)},
    "a page of a vast size": {2: (I32, 2**31 - 1)},
    "a page that cannot be decompressed": {2: (I32, 1)},
}


@pytest.mark.parametrize(("reason", "change"), SIZES.items(), ids=SIZES)
def test_a_page_that_misstates_its_size(reason, change):
    data = forged(FILE, own_sizes(lambda parts: parts.chunks[0][2][-1].header.update(change)))
    assert hidden(data, FACTS) in (reason, "a page that does not end within its column")


def test_an_uncompressed_page_that_misstates_its_size():
    data = plain_file(ROWS, compression="none")
    change = {2: (I32, 10**6)}
    data = forged(data, own_sizes(lambda parts: parts.chunks[0][2][-1].header.update(change)))
    assert hidden(data, FACTS) == "a page that does not end within its column"
    data = plain_file(ROWS, compression="none")
    change = {2: (I32, 1)}
    data = forged(data, own_sizes(lambda parts: parts.chunks[0][2][-1].header.update(change)))
    assert hidden(data, FACTS) == "a page of another size than it says"


def test_a_column_that_ends_elsewhere():
    reason = "its parts are not of the form that the engine writes"
    data = forged(
        FILE, lambda parts: parts.footer[4][1][1][0][1][1][1].pop() and parts.chunks[0].pop()
    )
    assert hidden(data, FACTS) == reason


def test_a_dictionary_behind_plain_rows():
    plain = plain_file(ROWS, use_dictionary=["age"])

    def change(parts: Parts) -> None:
        page = first_dictionary(parts)
        parts.chunks[0][2].append(Page({**page.header}, page.body))

    assert hidden(plain, FACTS) == ""
    assert hidden(forged(plain, change), FACTS) == "a dictionary in the wrong place"


def test_booleans_with_bits_behind_them():
    data = plain_file(pa.table({"a": [True, False, True], "n": [20, 20, 20]}))
    assert hidden(data, {}) == ""

    def change(parts: Parts) -> None:
        page = parts.chunks[0][0][-1]
        page.body = page.body[:-1] + bytes([page.body[-1] | 0x80])

    assert hidden(forged(data, change), {}) == "bytes behind its last row"


def test_row_groups_in_another_order():
    table = pa.table({"n": range((1 << 20) + 5)})
    data = plain_file(table.slice(0, 20), row_group_size=10)

    def swap(parts: Parts) -> None:
        parts.footer[4][1][1].reverse()

    assert hidden(forged(data, swap), {}) == "its row groups are of odd sizes"


def test_odd_offsets():
    def change(parts: Parts) -> None:
        file_of(parts)
        for page in parts.chunks[0][0]:
            page.header[1] = (I32, 0 if page.header[1][1] == 2 else 2)

    assert hidden(forged(FILE, change), FACTS)


@pytest.mark.parametrize("size", range(0, len(FILE), 37))
def test_a_file_that_is_cut_short(size):
    assert hidden(FILE[:size], FACTS)


def test_no_byte_of_a_file_may_change():
    """Whatever single byte is changed: it is noticed, or the rows or the layout are the same."""
    choice = random.Random(11)
    unnoticed = 0
    for place in choice.sample(range(len(FILE)), 400):
        data = bytearray(FILE)
        data[place] ^= 1 << choice.randrange(8)
        unnoticed += hidden(bytes(data), FACTS) == ""
    # What is left is redundant: sizes, encodings, orders and names of columns, and the values.
    assert unnoticed < 120

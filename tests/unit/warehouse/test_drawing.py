"""Drawing a sample is its plain definition, bit for bit."""

from __future__ import annotations

import hashlib
from decimal import Decimal
from fractions import Fraction

import duckdb
import pyarrow as pa
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from hypothesis import given, settings
from hypothesis import strategies as st

from policy_engine.accounting.noise import WHOLE
from policy_engine.kernel.mechanisms.sampled_suppression.rate import threshold
from policy_engine.warehouse import drawing
from policy_engine.warehouse.drawing import (
    DrawnSample,
    draw_rows,
    key_in_sample,
    new_secret,
    row_in_sample,
    sample_relation,
)

SECRETS = [bytes(16), bytes(range(16)), b"\xff" * 16]
# Rate extremes, exact multiples of 2^52 (no tie can win), and their neighbours.
BOUNDS = [
    1, (1 << 52) - 1, 1 << 52, (1 << 52) + 1, 1 << 59, (1 << 59) - 1, (1 << 60) // 3,
    255 << 52, (255 << 52) - 1, (1 << 60) - (1 << 40), (1 << 60) - 1,
]  # fmt: skip


def aes(secret: bytes, block: int) -> int:
    """AES-128 of one block, written anew: the tests' own definition."""
    encryptor = Cipher(algorithms.AES(secret), modes.ECB()).encryptor()
    return int.from_bytes(encryptor.update(block.to_bytes(16, "big")), "big")


def row_bits(secret: bytes, row: int) -> int:
    """The 60 bits of a row: a byte of the CTR key stream, and 52 bits of a block of its own."""
    first = aes(secret, row // 16).to_bytes(16, "big")[row % 16]
    return (first << 52) + (aes(secret, (1 << 127) + row) >> 76)


def drawn(secret: bytes, count: int, bound: int) -> list[int]:
    return [int(row) for rows in draw_rows(secret, count, bound) for row in rows]


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize("bound", BOUNDS)
def test_drawn_rows_are_those_whose_bits_are_below_the_threshold(secret, bound):
    wanted = [row for row in range(2000) if row_bits(secret, row) < bound]
    assert drawn(secret, 2000, bound) == wanted
    assert [row for row in range(2000) if row_in_sample(secret, row, bound)] == wanted


def test_a_row_whose_bits_equal_the_threshold_is_out():
    for row in range(300):
        bits = row_bits(SECRETS[1], row)
        assert row not in drawn(SECRETS[1], 300, bits)
        assert row in drawn(SECRETS[1], 300, bits + 1)
        assert not row_in_sample(SECRETS[1], row, bits)
        assert row_in_sample(SECRETS[1], row, bits + 1)


@pytest.mark.parametrize("block", [16, 48, 1024])
@pytest.mark.parametrize("count", [0, 1, 15, 16, 17, 47, 48, 49, 999, 1000, 1024])
def test_blocks_change_nothing(monkeypatch, block, count):
    whole = drawn(SECRETS[1], count, BOUNDS[6])
    monkeypatch.setattr(drawing, "BLOCK_ROWS", block)
    assert drawn(SECRETS[1], count, BOUNDS[6]) == whole
    assert whole == [row for row in range(count) if row_bits(SECRETS[1], row) < BOUNDS[6]]


def test_a_block_of_rows_is_whole_cipher_blocks():
    assert drawing.BLOCK_ROWS % 16 == 0


@given(st.binary(min_size=16, max_size=16), st.integers(1, (1 << 60) - 1))
@settings(max_examples=30, deadline=None)
def test_any_secret_and_threshold(secret, bound):
    wanted = [row for row in range(100) if row_bits(secret, row) < bound]
    assert drawn(secret, 100, bound) == wanted


def key_bits(secret: bytes, key: str) -> int:
    """The first 15 digits of a SHA-256, written anew: the tests' own definition."""
    return int(hashlib.sha256(f"{secret.hex()}:u:{key}".encode()).hexdigest()[:15], 16)


KEYS = ["0", "-1", str(2**63 - 1), "", " ", "a", "A", "שלום", "👩‍👩‍👧", "a\0b", "it's"]


@pytest.mark.parametrize("bound", BOUNDS)
def test_a_key_is_drawn_if_its_bits_are_below_the_threshold(bound):
    for key in [*KEYS, *map(str, range(200))]:
        assert key_in_sample(SECRETS[1], key, bound) is (key_bits(SECRETS[1], key) < bound)


def test_a_key_whose_bits_equal_the_threshold_is_out():
    for key in KEYS:
        bits = key_bits(SECRETS[1], key)
        assert not key_in_sample(SECRETS[1], key, bits)
        assert key_in_sample(SECRETS[1], key, bits + 1)


# The engine's side: the text of every kind of key.

UUIDS = [f"a0eebc99-9c0b-4ef8-bb6d-6bb9bd38{i:04x}" for i in range(300)]
TEXTS = [
    "",
    " ",
    "a",
    "A",
    "a ",
    "á",
    "שלום",
    "👩‍👩‍👧",
    "it's",
    "-1",
    "NULL",
    *map(str, range(300)),
]
COLUMNS: dict[str, list[int] | list[str]] = {
    "TINYINT": list(range(-128, 128)),
    "UTINYINT": list(range(256)),
    "SMALLINT": [-(2**15), -1, 0, *range(300)],
    "INTEGER": [-(2**31), 2**31 - 1, -1, *range(300)],
    "UINTEGER": [2**32 - 1, *range(300)],
    "BIGINT": [-(2**63), 2**63 - 1, -1, *range(300)],
    "UBIGINT": [2**64 - 1, 2**63, *range(300)],
    "HUGEINT": [-(2**127), 2**127 - 1, 2**64, -1, *range(300)],
    "UHUGEINT": [2**128 - 1, 2**64, *range(300)],
    "UUID": UUIDS,
    "VARCHAR": TEXTS,
    "ENUM('a', 'INT', 'BIGINT', 'it''s')": ["a", "INT", "BIGINT", "it's"],
}


@pytest.mark.parametrize("kind", COLUMNS)
@pytest.mark.parametrize("bound", [1 << 59, (1 << 60) // 3, (1 << 60) - 1])
def test_keys_of_every_kind_are_drawn_by_their_definition(kind, bound):
    keys = COLUMNS[kind]
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE source (id {kind})")
        twice = pa.table({"id": [str(key) for key in [*keys, *keys]]})
        connection.register("twice", twice)
        connection.execute("INSERT INTO source FROM twice")
        connection.unregister("twice")
        connection.execute("INSERT INTO source VALUES (NULL), (NULL)")
        sample = DrawnSample(connection)
        query = "SELECT DISTINCT id AS unit FROM source WHERE id IS NOT NULL"
        sample.of_keys("drawn", SECRETS[1], query, [], bound)
        found = connection.execute(
            "SELECT DISTINCT id::VARCHAR FROM source WHERE id IN (SELECT unit FROM drawn)"
        ).fetchall()
        wanted = {str(key) for key in keys if key_in_sample(SECRETS[1], str(key), bound)}
        assert {row[0] for row in found} == wanted
        count = connection.execute("SELECT count(*), count(unit) FROM drawn").fetchall()
        assert count == [(len(wanted), len(wanted))]
        sample.drop("drawn")
        assert connection.execute("SHOW TABLES").fetchall() == [("source",)]


@pytest.mark.parametrize("kind", COLUMNS)
def test_nobody_is_drawn_from_an_empty_source(kind):
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE source (id {kind})")
        sample = DrawnSample(connection)
        sample.of_keys("drawn", SECRETS[1], "SELECT id AS unit FROM source", [], 1 << 59)
        assert connection.execute("SELECT * FROM drawn").fetchall() == []
        sample.of_rows("rows", SECRETS[1], 0, 1 << 59)
        assert connection.execute("SELECT * FROM rows").fetchall() == []


# The rate, as the text states it.


@given(st.decimals("1e-18", "0.999999999999999999", places=40, allow_nan=False))
def test_the_threshold_is_the_largest_below_the_rate(rate):
    exact = Fraction(rate) * WHOLE
    assert threshold(rate) <= exact < threshold(rate) + 1


@pytest.mark.parametrize("nines", [17, 18, 19, 29, 60])
def test_no_rate_below_one_keeps_everybody(nines):
    rate = Decimal("0." + "9" * nines)
    assert threshold(rate) < WHOLE
    assert len(sample_relation(rate)) == len("policy_engine_sample_") + 15
    assert drawn(SECRETS[1], 100, threshold(rate)) == list(range(100))


def test_secrets_are_128_bits_and_new():
    made = {new_secret() for _ in range(100)}
    assert len(made) == 100
    assert {len(secret) for secret in made} == {16}

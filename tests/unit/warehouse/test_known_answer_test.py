"""The known-answer test refuses a sampler that is broken in any one way."""

from __future__ import annotations

import duckdb
import numpy as np
import pytest

from policy_engine.errors import WarehouseError
from policy_engine.kernel.mechanisms.sampled_suppression.rate import threshold
from policy_engine.warehouse import drawing, known_answers
from policy_engine.warehouse.drawing import DrawnSample, key_in_sample, row_in_sample

REAL_ROWS = drawing.draw_rows


@pytest.fixture
def sample():
    with duckdb.connect() as connection:
        yield DrawnSample(connection)


def check(sample: DrawnSample) -> None:
    sample.check_known_rows()
    sample.check_known_keys()


def test_a_sound_sampler_passes_and_leaves_nothing_behind(sample):
    check(sample)
    assert sample._connection.execute("SHOW TABLES").fetchall() == []


def test_the_known_answers_are_the_definition():
    units = range(known_answers.UNITS)
    secret, bound = known_answers.SECRET, known_answers.THRESHOLD
    first = known_answers.FIRST_ROW
    by_row = {unit for unit in units if row_in_sample(secret, first + unit, bound)}
    assert first % drawing.ROWS_TOGETHER + known_answers.UNITS > drawing.ROWS_TOGETHER
    by_key = {unit for unit in units if key_in_sample(secret, str(unit), bound)}
    assert known_answers.expected(known_answers.ROWS) == by_row
    assert known_answers.expected(known_answers.KEYS) == by_key
    assert min(len(by_row), len(by_key)) > 250
    assert by_row != by_key
    assert threshold(known_answers.RATE) == bound


def refused(sample: DrawnSample) -> None:
    with pytest.raises(WarehouseError, match="known-answer test of the sampler failed"):
        check(sample)


def little_endian(cipher: bytes) -> np.ndarray:
    return np.frombuffer(cipher, dtype="<u8")[::2].astype(np.uint64)


def second_half(cipher: bytes) -> np.ndarray:
    return np.frombuffer(cipher, dtype=">u8")[1::2].astype(np.uint64)


@pytest.mark.parametrize("words", [little_endian, second_half])
def test_other_bytes_of_the_cipher_are_noticed(sample, monkeypatch, words):
    monkeypatch.setattr(drawing, "_words", words)
    refused(sample)


@pytest.mark.parametrize(
    "draw",
    [
        lambda s, n, b: (rows + 1 for rows in REAL_ROWS(s, n, b)),
        lambda s, n, b: (rows - 1 for rows in REAL_ROWS(s, n, b)),
        lambda s, n, b: (rows[:-1] for rows in REAL_ROWS(s, n, b)),
        lambda s, n, b: REAL_ROWS(s, n - 16, b),
        lambda s, n, b: REAL_ROWS(s, n, b - (b >> 6)),
        lambda s, n, b: REAL_ROWS(bytes(16), n, b),
        lambda s, n, b: iter([np.arange(n)]),
        lambda s, n, b: iter([np.arange(0)]),
    ],
    ids=["later", "earlier", "one less", "short", "rate", "secret", "everybody", "nobody"],
)
def test_other_rows_are_noticed(sample, monkeypatch, draw):
    monkeypatch.setattr(drawing, "draw_rows", draw)
    refused(sample)


@pytest.mark.parametrize("kept", [np.zeros, np.ones], ids=["all in", "all out"])
def test_ties_that_are_not_settled_are_noticed(sample, monkeypatch, kept):
    def rest(secret, rows):
        return kept(len(rows), np.uint64) * np.uint64((1 << 52) - 1)

    monkeypatch.setattr(drawing, "_rest_of_rows", rest)
    refused(sample)


class Rewriting:
    """A connection whose engine does something else than the statement says."""

    def __init__(self, connection, old: str, new: str) -> None:
        self._connection, self._old, self._new, self.hits = connection, old, new, 0

    def execute(self, sql, *arguments):
        self.hits += self._old in sql
        return self._connection.execute(sql.replace(self._old, self._new), *arguments)

    def __getattr__(self, name):
        return getattr(self._connection, name)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('GET_BIT(policy_engine_bits, CAST("range" % 4096 AS INTEGER)) = 1', "true"),
        ('"range" >> 12', "0"),
        ('"range" >> 12', '("range" + 100) >> 12'),
        ('"range" >> 12', '"range" >> 13'),
        ('policy_engine_block = "range" >> 12', "TRUE"),
        ("% 4096", "% 2048"),
        ("bits::BIT", "reverse(bits::BIT::VARCHAR)::BIT"),
        ("range IN (SELECT unit FROM policy_engine_known)", "true"),
        ("sha256(", "md5("),
        ("sha256(?", "sha256(upper(?)"),
        ("sha256(?", "sha256('' || ? || ' '"),
        ("':u:'", "':'"),
        (") < ?", ") > ?"),
        ("WHERE sha256(? || ':u:' || unit::VARCHAR) < ?", "WHERE ? <> ?"),
        ("|| unit::VARCHAR", "|| (unit::BIGINT + 1)::VARCHAR"),
    ],
)
def test_an_engine_that_answers_otherwise_is_noticed(sample, old, new):
    sample._connection = Rewriting(sample._connection, old, new)
    refused(sample)
    assert sample._connection.hits

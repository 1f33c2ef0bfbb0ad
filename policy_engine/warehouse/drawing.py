"""Drawing the sample: a pseudorandom function of every unit, vectorised.

A unit is in iff its 60 pseudorandom bits, under a fresh 128-bit secret, are below T = ⌊rate·2⁶⁰⌋
(docs/explanation/mechanism.md). Nothing but the secret, the unit and T decides: no thread, no
optimiser and no retry can change who is in.

* Rows are numbered from 0. The top 8 bits of row i are byte i of the AES-128-CTR key stream
  that starts at counter 0; they settle all but one row in 256. The other 52 bits are those
  of AES(2¹²⁷ + i). The two inputs never meet, so the 60 bits of different rows are
  independent as far as AES is a pseudorandom function.
* The drawn rows are held as bits, one a row and ``ROWS_TOGETHER`` a line: a text looks up the line
  of a row's number, and its bit. 100 million rows are 12.5 MB, whatever the rate.
* Keys are texts: the bits are the top 60 of SHA-256(secret in hex ‖ ``:u:`` ‖ key), on every
  engine alike, so that one secret draws the same people wherever the data lies.

``row_in_sample`` and ``key_in_sample`` say so one unit at a time; the known-answer test compares
with them, bit for bit, through the very connection that runs the release.
"""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Iterator
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from policy_engine.errors import WarehouseError
from policy_engine.kernel.fragments import rows_in_sample
from policy_engine.kernel.mechanisms.sampled_suppression.law import DRAWN
from policy_engine.kernel.mechanisms.sampled_suppression.rate import threshold
from policy_engine.warehouse import known_answers as known
from policy_engine.warehouse.quoting import quoted

if TYPE_CHECKING:
    import duckdb
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    Words = NDArray[np.uint64]
    Rows = NDArray[np.int64]

SECRET_BYTES = 16
BLOCK_ROWS = 1 << 20
"""Rows drawn at a time, by one thread: a multiple of 16, the bytes of a cipher block."""
ROWS_TOGETHER = 1 << 12
"""Rows whose bits stand in one line of a sample, as the printed text reads them."""
_REST_BITS = 52
_ROW_DOMAIN = 1 << 127
_KNOWN = "policy_engine_known"
_DRAWN = "policy_engine_drawn"


def new_secret() -> bytes:
    """128 bits from the operating system."""
    return secrets.token_bytes(SECRET_BYTES)


def _ecb(secret: bytes, blocks: bytes) -> bytes:
    encryptor = Cipher(algorithms.AES(secret), modes.ECB()).encryptor()
    return encryptor.update(blocks) + encryptor.finalize()


def draw_rows(secret: bytes, count: int, threshold: int) -> Iterator[Rows]:
    """The numbers of the sampled rows among ``count``, ascending, in blocks.

    >>> rows = list(draw_rows(bytes(16), 1000, 1 << 59))
    >>> all(row_in_sample(bytes(16), int(row), 1 << 59) for row in rows[0])
    True
    """

    draw = partial(_draw_block, secret, count, threshold)
    starts = range(0, count, BLOCK_ROWS)
    if len(starts) <= 1:
        yield from map(draw, starts)
        return
    from concurrent.futures import ThreadPoolExecutor

    workers = os.cpu_count() or 1
    # Blocks are independent: the cipher and numpy work outside the interpreter's lock. Those of
    # one turn alone are held, whatever the number of rows.
    with ThreadPoolExecutor(workers) as pool:
        for first in range(0, len(starts), workers):
            yield from pool.map(draw, starts[first : first + workers])


def _draw_block(secret: bytes, count: int, threshold: int, start: int) -> Rows:
    import numpy as np

    size = min(BLOCK_ROWS, count - start)
    counter = (start // 16).to_bytes(16, "big")
    stream = Cipher(algorithms.AES(secret), modes.CTR(counter)).encryptor()
    top = np.frombuffer(stream.update(bytes(size)), dtype=np.uint8)
    # The rate is below 1, so the first byte of the threshold is one.
    first, rest = divmod(threshold, 1 << _REST_BITS)
    rows = np.flatnonzero(top <= np.uint8(first))
    ties = np.flatnonzero(top[rows] == np.uint8(first))
    out = _rest_of_rows(secret, rows[ties] + start) >= np.uint64(rest)
    return np.delete(rows, ties[out]) + start


def _rest_of_rows(secret: bytes, rows: Rows) -> Words:
    import numpy as np

    blocks = np.zeros((len(rows), 2), dtype=">u8")
    blocks[:, 0] = _ROW_DOMAIN >> 64
    blocks[:, 1] = rows
    return _words(_ecb(secret, blocks.tobytes())) >> np.uint64(64 - _REST_BITS)


def _words(cipher: bytes) -> Words:
    import numpy as np

    return np.frombuffer(cipher, dtype=">u8")[::2].astype(np.uint64)


def _bits_of(rows: Rows, start: int) -> pa.Table:
    """The bits of a block of rows, of which ``rows`` are drawn; a row that is not there is not."""
    import numpy as np
    import pyarrow as pa

    drawn = np.zeros(BLOCK_ROWS, dtype=np.bool_)
    drawn[rows - start] = True
    size = ROWS_TOGETHER // 8
    lines = BLOCK_ROWS // ROWS_TOGETHER
    first = start // ROWS_TOGETHER
    numbers = np.arange(first, first + lines, dtype=np.int64)
    ends = np.arange(0, (lines + 1) * size, size, dtype=np.int32)
    # By their bytes: pa.array would import pandas, to see whether they are its own.
    blocks = pa.Array.from_buffers(pa.int64(), lines, [None, pa.py_buffer(numbers)])
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(np.packbits(drawn))]
    return pa.table({"block": blocks, "bits": pa.Array.from_buffers(pa.binary(), lines, buffers)})


def row_in_sample(secret: bytes, row: int, threshold: int) -> bool:
    """Whether one row is in the sample, by plain integers."""
    block, place = divmod(row, 16)
    first = _ecb(secret, block.to_bytes(16, "big"))[place]
    rest = _ecb(secret, (_ROW_DOMAIN | row).to_bytes(16, "big"))
    bits = first << _REST_BITS | int.from_bytes(rest[:8], "big") >> (64 - _REST_BITS)
    return bits < threshold


def key_in_sample(secret: bytes, key: str, threshold: int) -> bool:
    """Whether a key is in the sample, by plain integers; a number is its digits.

    >>> key_in_sample(bytes(16), "7", 1 << 60)
    True
    """
    hashed = hashlib.sha256(f"{secret.hex()}:u:{key}".encode()).digest()
    return int.from_bytes(hashed[:8], "big") >> 4 < threshold


def sample_relation(rate: Decimal) -> str:
    """The name of the relation of drawn units: it carries T, so the text states its rate.

    >>> sample_relation(Decimal("0.1"))
    'policy_engine_sample_199999999999999'
    """
    return DRAWN.format(threshold(rate))


class DrawnSample:
    """Draws units into a temporary table of a connection to DuckDB, and takes them away again.

    Numbered rows come from ``draw_rows``. Of keys, those are taken whose hash under the secret is
    low enough; the secret is bound, and stands in no text.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection

    def of_rows(self, name: str, secret: bytes, count: int, bound: int) -> None:
        """Make ``name`` the bits of ``count`` rows, by their numbers: 1 for a row that is drawn."""
        # A table of the engine's own: of a query that reads Arrow's it tells no progress.
        self._connection.execute(
            f"CREATE OR REPLACE TEMP TABLE {quoted(name)}"
            " (policy_engine_block BIGINT, policy_engine_bits BIT)"
        )
        starts = range(0, count, BLOCK_ROWS)
        for start, rows in zip(starts, draw_rows(secret, count, bound), strict=True):
            self._connection.register(_DRAWN, _bits_of(rows, start))
            self._connection.execute(
                f"INSERT INTO {quoted(name)} SELECT block, bits::BIT FROM {_DRAWN}"
            )
            self._connection.unregister(_DRAWN)

    def of_keys(self, name: str, secret: bytes, query: str, values: list[str], bound: int) -> None:
        """Make ``name`` the drawn ones among the keys that ``query`` selects as ``unit``."""
        self._connection.execute(
            f"CREATE OR REPLACE TEMP TABLE {quoted(name)} AS SELECT unit FROM ({query})"
            " WHERE sha256(? || ':u:' || unit::VARCHAR) < ?",
            [*values, secret.hex(), f"{bound:015x}"],
        )

    def drop(self, name: str) -> None:
        """Remove a drawn table."""
        self._connection.execute(f"DROP TABLE IF EXISTS temp.{quoted(name)}")

    def check_known_rows(self) -> None:
        """Compare the sampler with the known answers for 1,000 row numbers.

        They are looked up as a release looks its rows up, on both sides of the end of a line.

        Raises:
            WarehouseError: they differ; nothing was drawn from the source.
        """
        end = known.FIRST_ROW + known.UNITS
        self.of_rows(_KNOWN, known.SECRET, end, known.THRESHOLD)
        lines, is_drawn = rows_in_sample("duckdb", "range", _KNOWN)
        self._compare(
            f"SELECT range - {known.FIRST_ROW} FROM range({known.FIRST_ROW}, {end}){lines}"
            f" WHERE {is_drawn}",
            known.ROWS,
        )

    def check_known_keys(self) -> None:
        """Compare the sampler with the known answers for 1,000 numbers and 1,000 texts.

        Raises:
            WarehouseError: they differ; nothing was drawn from the source.
        """
        for unit in ("range", "range::VARCHAR"):
            query = f"SELECT {unit} AS unit FROM range({known.UNITS})"
            self.of_keys(_KNOWN, known.SECRET, query, [], known.THRESHOLD)
            self._compare(
                f"SELECT range FROM range({known.UNITS})"
                f" WHERE {unit} IN (SELECT unit FROM {_KNOWN})",
                known.KEYS,
            )

    def _compare(self, read_back: str, answer: int) -> None:
        rows = self._connection.execute(read_back).fetchall()
        self.drop(_KNOWN)
        if {row[0] for row in rows} != known.expected(answer):
            raise WarehouseError(known.OTHERS, of_setup=True)

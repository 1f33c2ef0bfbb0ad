"""The pages of one column chunk, decoded to the last byte.

A reader of the rows never sees what else a page holds: a dictionary entry that no row uses, bytes
behind the values, bounds that are no row's. Here every byte is accounted for, and the values come
out as the bytes that are stored, so that nothing depends on how a library shows them.

Known are the pages that the engine's writer makes: data pages of version 1, plain or by a
dictionary, uncompressed or Snappy. Anything else is refused: it is not of this engine.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from policy_engine.attest.thrift import Malformed, Struct, ThriftReader

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_DATA_PAGE, _DICTIONARY_PAGE = 0, 2
_PLAIN, _PLAIN_DICTIONARY, _RLE, _RLE_DICTIONARY = 0, 2, 3, 8
_DICTIONARY = (_PLAIN_DICTIONARY, _RLE_DICTIONARY)
_UNCOMPRESSED, _SNAPPY = 0, 1
_BOOLEAN, _BYTE_ARRAY, _FIXED = 0, 6, 7
_WIDTHS = {1: 4, 2: 8, 4: 4, 5: 8}
_LARGEST_RATIO = 64  # Snappy makes at most 64 bytes of 3
_HEADER = {1, 2, 3, 4}
_DATA_HEADER = {1, 2, 3, 4, 5}
_DICTIONARY_HEADER = {1, 2, 3}
STATISTICS = {1, 2, 3, 4, 5, 6, 7, 8}


@dataclass(frozen=True)
class Kind:
    """How a column is stored: its physical type, the length of fixed ones, whether NULL is known,
    its codec."""

    physical: int
    length: int
    optional: bool
    codec: int


def check_chunk(chunk: bytes, kind: Kind, rows: int, statistics: Struct) -> None:
    """See that a column chunk holds its rows and nothing else, bounds included.

    Raises:
        Malformed: with what it holds besides, or what is not of this engine.
    """
    dictionary: list[bytes] | None = None
    used: set[int] = set()
    seen: set[bytes] = set()
    left, nulls = rows, 0
    for header, page in _pages(chunk, kind):
        if header[1] == _DICTIONARY_PAGE:
            if dictionary is not None or left != rows:
                raise Malformed("a dictionary in the wrong place")
            dictionary = _dictionary(header, page, kind)
            continue
        data = _fields(header.get(5), _DATA_HEADER)
        count = data[1]
        if not 0 <= count <= left:
            raise Malformed("pages with more or fewer rows than the file says")
        present, body = _presence(data, page, kind, count)
        if data[2] in _DICTIONARY:
            indices = set(_indices(body, present))
            if dictionary is None or any(index >= len(dictionary) for index in indices):
                raise Malformed("a row points outside its dictionary")
            used |= indices
            values = {dictionary[index] for index in indices}
        elif data[2] == _PLAIN:
            values = set(_plain(body, present, kind))
        else:
            raise Malformed("an encoding that the engine does not write")
        check_statistics(data.get(5, {}), values, count - present)
        seen |= values
        left, nulls = left - count, nulls + count - present
    if left:
        raise Malformed("pages with more or fewer rows than the file says")
    if dictionary is not None and len(used) != len(dictionary):
        raise Malformed("a dictionary with values that no row has")
    check_statistics(statistics, seen, nulls)


def check_statistics(found: Struct, values: set[bytes], nulls: int) -> None:
    """See that bounds and counts are those of the rows. Raises Malformed."""
    if not found.keys() <= STATISTICS:
        raise Malformed("statistics of an unknown kind")
    if any(found[name] not in values for name in (1, 2, 5, 6) if name in found):
        raise Malformed("statistics with a value that no row has")
    if found.get(3, nulls) != nulls or found.get(4, len(values)) != len(values):
        raise Malformed("statistics with counts that are not its rows'")


def _fields(struct: Any, allowed: set[int]) -> Struct:
    if not isinstance(struct, dict) or not struct.keys() <= allowed or not {1, 2} <= struct.keys():
        raise Malformed("a page header with unknown or missing fields")
    return struct


def _pages(chunk: bytes, kind: Kind) -> Iterator[tuple[Struct, bytes]]:
    """Each page's header and its bytes, decompressed."""
    import pyarrow as pa

    reader = ThriftReader(chunk)
    while reader.place < len(chunk):
        header = reader.struct()
        body = {_DATA_PAGE: 5, _DICTIONARY_PAGE: 7}.get(header.get(1, -1))
        if body is None or not {1, 2, 3, body} <= header.keys() <= _HEADER | {body}:
            raise Malformed("a page of a kind that the engine does not write")
        size, stored = header[2], header[3]
        page = chunk[reader.place : reader.place + stored]
        if stored < 0 or len(page) != stored or size > _LARGEST_RATIO * (stored + 1):
            raise Malformed("a page that does not end within its column")
        reader.place += stored
        if kind.codec == _SNAPPY:
            try:
                page = pa.Codec("snappy").decompress(page, size, asbytes=True)
            except (pa.ArrowException, OSError, ValueError, OverflowError):
                raise Malformed("a page that cannot be decompressed") from None
        elif kind.codec != _UNCOMPRESSED:
            raise Malformed("a compression that the engine does not use")
        if len(page) != size:
            raise Malformed("a page of another size than it says")
        yield header, page


def _dictionary(header: Struct, page: bytes, kind: Kind) -> list[bytes]:
    fields = _fields(header[7], _DICTIONARY_HEADER)
    if fields[2] not in (_PLAIN, _PLAIN_DICTIONARY):
        raise Malformed("a dictionary in an encoding that the engine does not write")
    entries = list(_plain(page, fields[1], kind))
    if len(set(entries)) != len(entries):
        raise Malformed("a dictionary that repeats a value")
    return entries


def _presence(data: Struct, page: bytes, kind: Kind, count: int) -> tuple[int, bytes]:
    """How many of the page's rows are not NULL, and the bytes of their values."""
    if not kind.optional:
        return count, page
    size = int.from_bytes(page[:4], "little")
    levels = _runs(page[4 : 4 + size], 1, count)
    if data.get(3) != _RLE or (len(levels) and int(levels.max()) > 1):
        raise Malformed("NULLs in an encoding that the engine does not write")
    return int(levels.sum()), page[4 + size :]


def _indices(body: bytes, count: int) -> list[int]:
    if not body:
        raise Malformed("a page that ends too early")
    if body[0] > 32:
        raise Malformed("indices that are too wide")
    import numpy as np

    return [int(index) for index in np.unique(_runs(body[1:], body[0], count))]


def _runs(data: bytes, width: int, count: int) -> NDArray[np.int64]:
    """``count`` numbers of ``width`` bits in Parquet's mix of runs, which they fill exactly."""
    import numpy as np

    parts: list[NDArray[np.int64]] = []
    reader, left, stride = ThriftReader(data), count, (width + 7) // 8
    while left > 0:
        head = reader.unsigned()
        if head & 1:
            size = (head >> 1) * 8
            if size - left >= 8:
                raise Malformed("numbers behind its last row")
            packed = np.frombuffer(reader.take(size * width // 8), np.uint8)
            bits = np.unpackbits(packed, bitorder="little").reshape(size, width)
            numbers = bits.astype(np.int64) @ (1 << np.arange(width, dtype=np.int64))
            if numbers[left:].any():
                raise Malformed("numbers behind its last row")
        else:
            number = int.from_bytes(reader.take(stride), "little")
            if head >> 1 > left or not head:
                raise Malformed("numbers behind its last row")
            numbers = np.full(head >> 1, number, np.int64)
        parts.append(numbers[:left])
        left -= len(numbers)
    if reader.place != len(data):
        raise Malformed("bytes behind its last row")
    return np.concatenate(parts) if parts else np.zeros(0, np.int64)


def _plain(body: bytes, count: int, kind: Kind) -> Iterator[bytes]:
    """``count`` values stored one behind the other, which fill ``body`` exactly."""
    reader = ThriftReader(body)
    if kind.physical == _BOOLEAN:
        bits = int.from_bytes(body, "little")
        if len(body) != (count + 7) // 8 or bits >> count:
            raise Malformed("bytes behind its last row")
        yield from {bytes([bits >> place & 1]) for place in range(count)}
        return
    width = kind.length if kind.physical == _FIXED else _WIDTHS.get(kind.physical)
    if (width is None and kind.physical != _BYTE_ARRAY) or width == 0:
        raise Malformed("a type that the engine does not write")
    for _value in range(count):
        size = int.from_bytes(reader.take(4), "little") if width is None else width
        yield reader.take(size)
    if reader.place != len(body):
        raise Malformed("bytes behind its last row")

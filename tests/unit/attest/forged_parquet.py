"""Parquet files taken apart and put together again, with something changed on the way.

What a signer with a bug, or with a purpose, could write: the files are whole, and readers of the
rows see nothing of the change.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

Field = tuple[int, Any]  # a Thrift type and a value
TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, STRUCT = 1, 2, 3, 4, 5, 6, 7, 8, 9, 12


class Reading:
    """Thrift's compact protocol, with the types kept so that it can be written again."""

    def __init__(self, data: bytes, place: int = 0) -> None:
        self.data, self.place = data, place

    def take(self, size: int) -> bytes:
        self.place += size
        return self.data[self.place - size : self.place]

    def number(self) -> int:
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def struct(self) -> dict[int, Field]:
        found: dict[int, Field] = {}
        name = 0
        while head := self.take(1)[0]:
            name += head >> 4
            assert head >> 4
            found[name] = (head & 15, self.value(head & 15))
        return found

    def value(self, kind: int, *, listed: bool = False) -> Any:
        if kind in (TRUE, FALSE):
            return self.take(1) if listed else None
        if kind in (I16, I32, I64):
            number = self.number()
            return (number >> 1) ^ -(number & 1)
        if kind == BINARY:
            return self.take(self.number())
        if kind == LIST:
            head = self.take(1)[0]
            size = head >> 4 if head >> 4 != 15 else self.number()
            return (head & 15, [self.value(head & 15, listed=True) for _ in range(size)])
        assert kind == STRUCT
        return self.struct()


def number(value: int) -> bytes:
    data = b""
    while value > 127:
        data, value = data + bytes([value & 127 | 128]), value >> 7
    return data + bytes([value])


def written(kind: int, value: Any) -> bytes:
    if kind in (TRUE, FALSE):
        return value or b""
    if kind in (I16, I32, I64):
        return number(value << 1 if value >= 0 else (-value << 1) - 1)
    if kind == BINARY:
        return number(len(value)) + value
    if kind == LIST:
        inner, items = value
        head = bytes([len(items) << 4 | inner]) if len(items) < 15 else bytes([0xF0 | inner])
        size = b"" if len(items) < 15 else number(len(items))
        return head + size + b"".join(written(inner, item) for item in items)
    data, last = b"", 0
    for name, (inner, item) in sorted(value.items()):
        data += bytes([(name - last) << 4 | inner]) + written(inner, item)
        last = name
    return data + b"\0"


@dataclass
class Page:
    header: dict[int, Field]
    body: bytes


@dataclass
class Parts:
    """The footer, the pages of each column chunk of each row group, and what has no place."""

    footer: dict[int, Field]
    chunks: list[list[list[Page]]]
    between: bytes = b""
    behind: bytes = b""
    in_footer: bytes = b""
    own_sizes: bool = field(default=True)

    def column(self, place: int = 0, group: int = 0) -> dict[int, Field]:
        """The metadata of a column chunk."""
        chunk = self.footer[4][1][1][group][1][1][1][place]
        return chunk[3][1]

    def chunk(self, place: int = 0, group: int = 0) -> dict[int, Field]:
        return self.footer[4][1][1][group][1][1][1][place]

    def group(self, place: int = 0) -> dict[int, Field]:
        return self.footer[4][1][1][place]

    def element(self, place: int = 1) -> dict[int, Field]:
        return self.footer[2][1][1][place]


def parts_of(data: bytes) -> Parts:
    size = int.from_bytes(data[-8:-4], "little")
    footer = Reading(data, len(data) - 8 - size).struct()
    parts = Parts(footer, [])
    for group in footer[4][1][1]:
        parts.chunks.append([_pages(data, chunk[3][1]) for chunk in group[1][1][1]])
    return parts


def _pages(data: bytes, column: dict[int, Field]) -> list[Page]:
    start = column[11][1] if 11 in column else column[9][1]
    reading, pages = Reading(data, start), []
    while reading.place < start + column[7][1]:
        header = reading.struct()
        stored = reading.take(header[3][1])
        if column[4][1] == 1:
            stored = pa.Codec("snappy").decompress(stored, header[2][1], asbytes=True)
        pages.append(Page(header, stored))
    return pages


def file_of(parts: Parts) -> bytes:
    data = b"PAR1"
    for group, chunks in zip(parts.footer[4][1][1], parts.chunks, strict=True):
        for chunk, pages in zip(group[1][1][1], chunks, strict=True):
            column, start = chunk[3][1], len(data)
            for page in pages:
                stored = page.body
                if column[4][1] == 1:
                    stored = pa.Codec("snappy").compress(stored, asbytes=True)
                if parts.own_sizes:
                    page.header[2], page.header[3] = (I32, len(page.body)), (I32, len(stored))
                dictionary = page.header[1][1] == 2
                column[11 if dictionary else 9] = (I64, len(data))
                data += written(STRUCT, page.header) + stored
            if 11 in column:  # a dictionary comes first, or so it says
                column[11] = (I64, start)
            column[7] = (I64, len(data) - start)
            data += parts.between
    footer = written(STRUCT, parts.footer) + parts.in_footer
    return data + footer + len(footer).to_bytes(4, "little") + b"PAR1" + parts.behind


def plain_file(table: pa.Table, **options: Any) -> bytes:
    sink = io.BytesIO()
    pq.write_table(table, sink, **options)
    return sink.getvalue()


def forged(data: bytes, change: Callable[[Parts], object]) -> bytes:
    """The file after a change of its parts."""
    parts = parts_of(data)
    change(parts)
    return file_of(parts)

"""Thrift's compact protocol, as far as a Parquet file uses it: bytes in, plain values out.

A struct is a dictionary from field ids to values, so that no field goes unseen, also one that
the Parquet library skips because it does not know it.
"""

from __future__ import annotations

from typing import Any

_TRUE, _FALSE, _BYTE, _BINARY, _LIST, _STRUCT = 1, 2, 3, 8, 9, 12
_INTEGERS = (4, 5, 6)
_DEEPEST = 20

Struct = dict[int, Any]


class Malformed(ValueError):
    """The bytes are not what they claim to be."""


class ThriftReader:
    """Reads values one after another; ``place`` is where the next one starts.

    >>> reader = ThriftReader(bytes([0x15, 4, 0x18, 1, 65, 0]))
    >>> reader.struct(), reader.place
    ({1: 2, 2: b'A'}, 6)
    """

    def __init__(self, data: bytes, place: int = 0) -> None:
        self.data = data
        self.place = place

    def struct(self, depth: int = 0) -> Struct:
        """A struct. Raises Malformed where the bytes end too early or are of another form."""
        found: Struct = {}
        name = 0
        while head := self._byte():
            delta, kind = head >> 4, head & 15
            name = name + delta if delta else self._signed()
            if name in found:
                raise Malformed("a field stands twice")
            found[name] = kind == _TRUE if kind in (_TRUE, _FALSE) else self._value(kind, depth)
        return found

    def _value(self, kind: int, depth: int) -> Any:
        if depth > _DEEPEST:
            raise Malformed("its metadata is nested too deeply")
        if kind in _INTEGERS:
            return self._signed()
        if kind == _BINARY:
            return self.take(self.unsigned())
        if kind == _LIST:
            return self._list(depth)
        if kind == _STRUCT:
            return self.struct(depth + 1)
        if kind in (_TRUE, _FALSE, _BYTE):
            return self._byte()
        raise Malformed("a field of a type that Parquet does not use")

    def _list(self, depth: int) -> list[Any]:
        head = self._byte()
        size, kind = head >> 4, head & 15
        if size == 15:
            size = self.unsigned()
        if size > len(self.data):
            raise Malformed("a list is longer than the file")
        return [self._value(kind, depth + 1) for _ in range(size)]

    def _signed(self) -> int:
        value = self.unsigned()
        return (value >> 1) ^ -(value & 1)

    def unsigned(self) -> int:
        """A number of up to 64 bits, seven in a byte. Raises Malformed."""
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7
            if shift > 63:
                raise Malformed("a number is too long")

    def _byte(self) -> int:
        return self.take(1)[0]

    def take(self, size: int) -> bytes:
        """The next ``size`` bytes. Raises Malformed where there are fewer."""
        found = self.data[self.place : self.place + size]
        if len(found) != size:
            raise Malformed("it ends too early")
        self.place += size
        return found

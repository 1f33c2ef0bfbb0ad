"""What PostgreSQL sends, as Arrow: days and times as the numbers that DuckDB has for them.

Python has no infinite day, no year before 1 or after 9999 and no hour 24, so they are read as
numbers. What Arrow has no number for, a NaN among decimals and times after the year 294246, is
NULL: a release does not fail for a value.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

import psycopg
import pyarrow as pa
from psycopg.abc import Buffer
from psycopg.adapt import Loader
from psycopg.pq import Format

_SECOND = 10**6
_DAYS_TO_2000 = 10_957
_MICROS_TO_2000 = _DAYS_TO_2000 * 86_400 * _SECOND
_MOST = {4: (1 << 31) - 1, 8: (1 << 63) - 1}
"""The largest number of so many bytes: an infinity, on both sides; the smallest is less by two."""


class _Moment(Loader):
    """Days or microseconds since 2000, as since 1970; NULL where they are too many."""

    format = Format.BINARY

    def load(self, data: Buffer) -> int | None:
        size = len(data)
        most = _MOST[size]
        (found,) = struct.unpack("!i" if size == 4 else "!q", data)
        if found == most or found == -most - 1:
            return most if found > 0 else -most
        since = int(found) + (_DAYS_TO_2000 if size == 4 else _MICROS_TO_2000)
        return since if since < most else None


class _Clock(Loader):
    """Microseconds since midnight, of 24 hours at most."""

    format = Format.BINARY

    def load(self, data: Buffer) -> int:
        return int(struct.unpack("!q", data)[0])


class _Text(Loader):
    """The bytes of a type that the driver does not know, an enumeration: those of its text."""

    format = Format.BINARY

    def load(self, data: Buffer) -> str:
        return bytes(data).decode()


_NUMBERS = {"date": pa.int32(), "time": pa.int64(), "timestamp": pa.int64()}
_DIGITS = 38
_ARROW = {
    "bool": pa.bool_(),
    **dict.fromkeys(("int2", "int4", "int8"), pa.int64()),
    "date": pa.date32(),
    "time": pa.time64("us"),
    "timestamp": pa.timestamp("us"),
}


def rows_of(connection: psycopg.Connection[Any], sql: str) -> pa.Table:
    """What a text selects."""
    with connection.cursor(binary=True) as cursor:
        for name in ("date", "timestamp"):
            cursor.adapters.register_loader(name, _Moment)
        cursor.adapters.register_loader("time", _Clock)
        cursor.adapters.register_loader(0, _Text)
        cursor.execute(sql.encode())
        described = cursor.description or ()
        rows = cursor.fetchall()
    columns: Iterable[Any] = zip(*rows, strict=True) if rows else ((),) * len(described)
    arrays = [_array(c, values) for c, values in zip(described, columns, strict=True)]
    return pa.table(arrays, names=[column.name for column in described])


def _array(column: psycopg.Column, values: Iterable[Any]) -> pa.Array:
    kind = psycopg.adapters.types.get(column.type_code)
    name = kind.name if kind is not None else ""
    if name == "numeric":
        numbers = [v if isinstance(v, Decimal) and v.is_finite() else None for v in values]
        if column.precision is not None:
            return pa.array(numbers, pa.decimal128(column.precision, column.scale or 0))
        # What a grouping leaves out is NULL, and a CASE with it has no digits of its own.
        scale = max((-int(v.as_tuple().exponent) for v in numbers if v is not None), default=0)
        return pa.array(numbers, pa.decimal128(_DIGITS, max(scale, 0)))
    if name in _NUMBERS:
        return pa.array(values, _NUMBERS[name]).cast(_ARROW[name])
    return pa.array(values, _ARROW.get(name, pa.string()))

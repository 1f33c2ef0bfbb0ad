"""Released values as Python holds them: dates and times as texts.

Python's own know no year before 1 or after 9999, no infinity and no 24:00:00, and a release may
show all of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

_CYCLE_DAYS, _CYCLE_YEARS = 146_097, 400  # the calendar repeats itself
_FIRST_DAY = date(1970, 1, 1).toordinal() - 1
_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_SECONDS_A_DAY = 86_400
_FEW = 1 << 14


def plain_values(column: pa.ChunkedArray) -> list[Any]:
    """The values of a column, in order: dates and times as texts, all others as Arrow gives them.

    A date is written as DuckDB writes it; the infinite ones, with which DuckDB and PostgreSQL end
    their calendars, by that name.

    >>> import pyarrow as pa
    >>> days = pa.array([0, 2932897, -1000000, 2**31 - 1, None], pa.int32())
    >>> plain_values(pa.chunked_array([days.cast(pa.date32())]))
    ['1970-01-01', '10000-01-01', '0769-02-04 (BC)', 'infinity', None]
    """
    import pyarrow as pa

    kind = column.type
    if pa.types.is_date32(kind):
        return [None if n is None else _infinite(n, 32) or _day(n) for n in _numbers(column)]
    if pa.types.is_timestamp(kind):
        zone = "" if kind.tz is None else "+00"
        return [
            None if n is None else _infinite(n, 64) or _moment(n, _PER_SECOND[kind.unit], zone)
            for n in _numbers(column)
        ]
    if pa.types.is_time(kind):
        per_second = _PER_SECOND[kind.unit]
        return [None if n is None else _clock(n, per_second) for n in _numbers(column)]
    return column.to_pylist()  # type: ignore[no-any-return]


def plain_lines(table: pa.Table) -> Iterator[tuple[Any, ...]]:
    """The rows of a table, each value as ``plain_values`` gives it."""
    return zip(*map(plain_values, table.columns), strict=True)


def comparable_values(column: pa.ChunkedArray) -> list[Any]:
    """The values of a column to be compared with a claim's, which Python holds.

    Where a date is none of Python's, all are texts: no claim has that date, so no comparison holds.
    """
    try:
        return column.to_pylist()  # type: ignore[no-any-return]
    except (OverflowError, ValueError):
        return plain_values(column)


def each_once(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column for what holds of every value: of many, each once.

    Few are as soon looked at: what finds those that differ takes Arrow 40 ms to load.

    >>> import pyarrow as pa
    >>> [len(each_once(pa.chunked_array([pa.array([7] * many)]))) for many in (5, 100_000)]
    [5, 1]
    """
    return column.unique() if len(column) > _FEW else column


def restored(texts: list[Any], like: pa.ChunkedArray) -> pa.Array:
    """A column of the type of ``like`` of texts that ``plain_values`` gave for its values.

    >>> import pyarrow as pa
    >>> days = pa.chunked_array([pa.array([7, 9], pa.int32()).cast(pa.date32())])
    >>> restored(["1970-01-10", None], days).cast(pa.int32()).to_pylist()
    [9, None]
    """
    import pyarrow as pa

    values = dict(zip(plain_values(like), _numbers(like), strict=True))
    numbers = [None if text is None else values[text] for text in texts]
    return pa.array(numbers, _number_type(like.type)).cast(like.type)


def is_moment(kind: pa.DataType) -> bool:
    """Whether values of a type are given as texts though they are none.

    >>> import pyarrow as pa
    >>> is_moment(pa.date32()), is_moment(pa.int64())
    (True, False)
    """
    import pyarrow as pa

    return bool(pa.types.is_date32(kind) or pa.types.is_timestamp(kind) or pa.types.is_time(kind))


def _number_type(kind: pa.DataType) -> pa.DataType:
    import pyarrow as pa

    return pa.int32() if kind.bit_width == 32 else pa.int64()


def _numbers(column: pa.ChunkedArray) -> list[int | None]:
    return column.cast(_number_type(column.type)).to_pylist()  # type: ignore[no-any-return]


def _infinite(number: int, bits: int) -> str:
    most = 2 ** (bits - 1) - 1
    return {most: "infinity", -most: "-infinity"}.get(number, "")


def _day(days: int) -> str:
    cycles, day = divmod(days + _FIRST_DAY, _CYCLE_DAYS)
    found = date.fromordinal(day + 1)
    year = found.year + cycles * _CYCLE_YEARS
    text = f"{year if year > 0 else 1 - year:04d}-{found:%m-%d}"
    return text if year > 0 else f"{text} (BC)"


def _clock(number: int, per_second: int) -> str:
    seconds, part = divmod(number, per_second)
    minutes, second = divmod(seconds, 60)
    text = f"{minutes // 60:02d}:{minutes % 60:02d}:{second:02d}"
    digits = len(str(per_second)) - 1
    return f"{text}.{part:0{digits}d}".rstrip("0") if part else text


def _moment(number: int, per_second: int, zone: str) -> str:
    days, rest = divmod(number, per_second * _SECONDS_A_DAY)
    return f"{_day(days)} {_clock(rest, per_second)}{zone}"

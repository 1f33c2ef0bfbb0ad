"""Release rows as Arrow, in types that do not depend on the engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa


def portable(rows: pa.Table) -> pa.Table:
    """The same rows with whole numbers of 64 bits, plain texts, days and microseconds.

    >>> import pyarrow as pa
    >>> portable(pa.table({"n": pa.array([1], pa.int8())})).schema.field("n").type
    DataType(int64)
    """
    import pyarrow as pa

    wanted = pa.schema([pa.field(field.name, _portable(field.type)) for field in rows.schema])
    if rows.schema.equals(wanted, check_metadata=True):
        return rows
    columns = [
        _with_64_bits(column, field.type) if pa.types.is_integer(field.type) else column
        for column, field in zip(rows.columns, wanted, strict=True)
    ]
    whole = pa.table(columns, names=rows.column_names)
    # To cast is to import what computes, which takes longer than a small release.
    return whole if whole.schema.equals(wanted, check_metadata=True) else whole.cast(wanted)


def _with_64_bits(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    """Whole numbers, each as it is."""
    import numpy as np
    import pyarrow as pa

    given, wanted = column.type.to_pandas_dtype(), kind.to_pandas_dtype()
    chunks = []
    for chunk in filter(len, column.chunks):
        missing, values = chunk.buffers()
        numbers = np.frombuffer(values, given, chunk.offset + len(chunk)).astype(wanted)
        buffers = [missing, pa.py_buffer(numbers)]
        chunks.append(pa.Array.from_buffers(kind, len(chunk), buffers, offset=chunk.offset))
    return pa.chunked_array(chunks, kind)


def _portable(kind: pa.DataType) -> pa.DataType:
    import pyarrow as pa

    if pa.types.is_integer(kind):
        return pa.uint64() if kind == pa.uint64() else pa.int64()
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us", tz=kind.tz)
    if pa.types.is_date(kind):
        return pa.date32()
    if pa.types.is_decimal(kind) and kind.precision <= 38:
        return pa.decimal128(kind.precision, kind.scale)
    is_text = pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    if is_text or (pa.types.is_dictionary(kind) and pa.types.is_string(kind.value_type)):
        return pa.string()
    return kind

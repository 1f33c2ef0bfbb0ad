"""Release rows as Arrow, in types that do not depend on the engine, and the digest of values."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
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
    # To cast is to import what computes, which takes longer than a small release.
    return rows if rows.schema.equals(wanted, check_metadata=True) else rows.cast(wanted)


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


def digest_of(batches: Iterable[pa.RecordBatch], salt: bytes) -> bytes:
    """SHA-256 of the columns of ``batches``, whole numbers, floating-point numbers or texts.

    Which values of a column are there, how long they are and their bytes go each into a hash of
    their own, so that neither the engine's batches nor its threads change the digest. It is a
    digest of data, and must not leave without a key (theory.md).

    >>> import pyarrow as pa
    >>> one = pa.record_batch({"a": [1, None], "b": ["x", ""]})
    >>> digest_of([one], b"salt") == digest_of([one.slice(0, 1), one.slice(1)], b"salt")
    True
    """
    hashes: dict[tuple[int, int], hashlib._Hash] = {}
    rows = 0
    for batch in batches:
        for place, column in enumerate(batch.columns):
            for kind, part in enumerate(_parts(column)):
                hashes.setdefault((place, kind), hashlib.sha256(salt)).update(part)
        rows += batch.num_rows
    whole = b"".join(hashes[key].digest() for key in sorted(hashes) if rows)
    return hashlib.sha256(salt + rows.to_bytes(8, "big") + whole).digest()


def _parts(column: pa.Array) -> Iterable[bytes | memoryview]:
    """What is hashed of a column's values: which are there, how long they are, and their bytes."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    yield column.is_valid().to_numpy(zero_copy_only=False).tobytes()
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        yield column.fill_null(0).to_numpy(zero_copy_only=False).tobytes()
        return
    texts = column.fill_null("").cast(pa.large_string())
    yield pc.binary_length(texts).to_numpy(zero_copy_only=False).tobytes()
    _, offsets, data = texts.buffers()
    ends = np.frombuffer(offsets, np.int64)[[texts.offset, texts.offset + len(texts)]]
    yield memoryview(data or b"")[int(ends[0]) : int(ends[1])]

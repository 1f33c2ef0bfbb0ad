"""The state of a source: a keyed digest of the values that a release reads, row by row.

Which values of a column are there, how long they are and their bytes go each into a hash of their
own, so that neither the engine's batches nor its threads change the digest. It is a digest of data,
and must not leave without a key (theory.md).
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa


def digest_of(batches: Iterable[pa.RecordBatch], salt: bytes) -> bytes:
    """SHA-256 of the columns of ``batches``, whole numbers, floating-point numbers or texts.

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


FilesState = tuple[tuple[object, ...], ...]
"""Name, inode, size and times of each file; nothing where there is none."""


@dataclass(frozen=True)
class Files:
    """The files that a source consists of, in order; ``folder`` is theirs, None for a single file.

    ``told`` is what a table's log says of them and they do not hold themselves.
    """

    paths: tuple[Path, ...]
    folder: Path | None = None
    told: bytes = b""

    def state(self) -> FilesState:
        """What tells, without reading them, that one has changed."""
        found = []
        for file in self.paths:
            try:
                status = file.stat()
            except OSError:
                return ()
            times = (status.st_mtime_ns, status.st_ctime_ns)  # who can set one cannot set the other
            found.append((str(file), status.st_ino, status.st_size, *times))
        return tuple(found)

    def digest(self) -> bytes:
        """SHA-256 of a file's bytes; of a folder, of the names and digests of its files.

        Raises OSError.
        """
        found = []
        for file in self.paths:
            with file.open("rb") as opened:
                found.append((file, hashlib.file_digest(opened, "sha256").digest()))
        if self.folder is None:
            return found[0][1]
        # Each part is as long as any other, so that no name can be read as two.
        parts = [_digest(os.fsencode(file.relative_to(self.folder))) + d for file, d in found]
        return _digest(b"".join([*parts, _digest(self.told)]))


def _digest(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


def files_at(path: Path) -> Files:
    """A file, or the Parquet files of a folder and those below it, in the order of their names."""
    if not path.is_dir():
        return Files((path,))
    return Files(tuple(sorted(path.rglob("*.parquet"))), path)

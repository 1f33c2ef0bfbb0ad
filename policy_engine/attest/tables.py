"""Parquet and CSV files as Arrow tables.

One of Arrow's own threads may still hold a buffer of Python's when Python ends: it then waits for
an interpreter that is gone, and the process aborts with everything done (apache/arrow#34314). So
Parquet is read in the thread that asks; CSV is read from its path, and holds nothing of Python's.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from policy_engine.errors import FileError

if TYPE_CHECKING:
    import pyarrow as pa


def read_parquet(source: Path | bytes) -> pa.Table:
    """The rows of one Parquet file: its path, or its bytes.

    A folder's name says nothing: ``year=2020/rows.parquet`` has no column ``year``.
    Raises Arrow's errors and OSError.

    >>> import io, pyarrow as pa, pyarrow.parquet as pq
    >>> held = io.BytesIO()
    >>> pq.write_table(pa.table({"band": ["20-39"], "n": [25]}), held)
    >>> read_parquet(held.getvalue()).to_pylist()
    [{'band': '20-39', 'n': 25}]
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    opened = pa.BufferReader(source) if isinstance(source, bytes) else source
    with pq.ParquetFile(opened, pre_buffer=False) as file:
        return file.read(use_threads=False)


def created_by(data: bytes) -> str:
    """Who wrote a Parquet file, by its own word; empty where it does not say.

    Raises Arrow's errors and OSError.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    with pq.ParquetFile(pa.BufferReader(data), pre_buffer=False) as file:
        return file.metadata.created_by or ""


def read_signed(release: Path, sha256: str) -> tuple[bytes, pa.Table, str] | str:
    """The bytes of a signed Parquet file, its rows and its writer; else why it is not the one.

    Raises FileError where it cannot be read.
    """
    import pyarrow as pa

    try:
        data = release.read_bytes()
    except OSError as error:
        raise FileError(f"{release} could not be read: {error.strerror}") from None
    digest = hashlib.sha256(data).hexdigest()
    if digest != sha256:
        return f"{release.name} is not the release: its SHA-256 is {digest}"
    try:
        return data, read_parquet(data), created_by(data)
    except (pa.ArrowException, OSError, UnicodeDecodeError):
        return f"{release.name} is no Parquet file"


def read_csv_texts(path: Path) -> pa.Table:
    """The rows of a CSV file, every value a text; an empty field without quotes is NULL.

    Raises Arrow's errors and OSError.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "rows.csv"
    ...     _ = path.write_text('band,n\\n"",25\\n,30\\n', encoding="utf-8")
    ...     read_csv_texts(path).to_pylist()
    [{'band': '', 'n': '25'}, {'band': None, 'n': '30'}]
    """
    import pyarrow as pa
    from pyarrow import csv

    here = csv.ReadOptions(use_threads=False)
    fields = csv.ParseOptions(newlines_in_values=True)
    names = csv.read_csv(path, read_options=here, parse_options=fields).column_names
    as_they_are = csv.ConvertOptions(
        column_types=dict.fromkeys(names, pa.string()),
        null_values=[""],
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
    )
    return csv.read_csv(path, read_options=here, parse_options=fields, convert_options=as_they_are)

"""A release's file: written here, read, and written again by whoever verifies.

One version of the writer makes one file of the same rows and certificate. So a file that comes out
again byte for byte holds its rows and nothing else, wherever in it something could hide: no reader
has to know what those places are.

One of Arrow's own threads may still hold a buffer of Python's when Python ends: it then waits for
an interpreter that is gone, and the process aborts with everything done (apache/arrow#34314). So
Parquet is read in the thread that asks; CSV is read from its path, and holds nothing of Python's.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from policy_engine.attest.results import Results
from policy_engine.errors import FileError
from policy_engine.kernel.claim import digest_of
from policy_engine.kernel.editions import PART
from policy_engine.opening import bytes_in

if TYPE_CHECKING:
    import pyarrow as pa

METADATA_KEY = "policy_engine.certificate"
"""Under which a Parquet file carries the record of its certificate."""
ADDED = "INSERT INTO "
"""What begins how a query is published whose rows are added to a table, as those of an edition."""
CERTIFICATE_SUFFIX = ".certificate.json"
_LONGEST_PATH = 1000  # characters: MariaDB's comments have 2,048
# Row groups of a fixed size: the file's layout and statistics tell only what its rows tell.
_ROW_GROUP = 1 << 20
# A column of one piece never needs 64-bit offsets: 2¹⁶ texts of 32 KB are its 2 GB.
_PIECE = 1 << 16
_WRITER = re.compile(r"parquet-cpp-arrow version \d{1,4}\.\d{1,4}\.\d{1,4}")

UNCHECKED = (
    "whether {} holds anything beside its rows: it says that {} wrote it, and only the same version"
    " can write it again to compare; here is {}"
)


def is_added(published_as: str) -> bool:
    """Whether what is published so are rows of a table that has those of other editions too."""
    return published_as == PART or published_as.startswith(ADDED)


def write_parquet(rows: pa.Table, where: Path | io.RawIOBase, metadata: Mapping[str, str]) -> None:
    """Write rows and ``metadata``, and no other, as a release is written; always the same bytes."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    plain = pa.schema([pa.field(f.name, f.type, f.nullable) for f in rows.schema], metadata or None)
    # An engine hands rows over in batches whose sizes depend on its threads and on what it read,
    # and the writer ends a page only where a batch ends: so they are cut by their number alone.
    starts = range(0, max(rows.num_rows, 1), _PIECE)
    table = pa.concat_tables(rows.slice(start, _PIECE).combine_chunks() for start in starts)
    table = pa.Table.from_arrays(table.columns, schema=plain)
    pq.write_table(table, where, row_group_size=_ROW_GROUP)


def certificate_path(release: Path) -> Path:
    """Where the certificate of a release file stands.

    >>> certificate_path(Path("out/adult.parquet")).as_posix()
    'out/adult.certificate.json'
    """
    return release.with_name(f"{release.stem}{CERTIFICATE_SUFFIX}")


def predicate_digest(predicate: Mapping[str, object]) -> str:
    """SHA-256 of the facts of a certificate.

    >>> predicate_digest({})[:14]
    'sha256:44136fa'
    """
    return digest_of(plain(predicate))


def record_text(predicate: Mapping[str, Any], certificate: str) -> str:
    """What a release carries of its certificate, which stands at the path ``certificate``.

    It is short whatever the certificate says: the certificate's facts are there by their digest.

    >>> facts = {"policy": {"name": "a"}, "mechanism": "noisy-counts", "epsilon": "1"}
    >>> sorted(json.loads(record_text(facts, "out/a.certificate.json")))
    ['certificate', 'delta', 'epsilon', 'facts', 'mechanism', 'policy']
    """
    if len(certificate) > _LONGEST_PATH:
        certificate = certificate.rpartition("/")[2]
    record = {
        "certificate": certificate,
        "delta": predicate.get("delta"),
        "epsilon": predicate.get("epsilon"),
        "facts": predicate_digest(predicate),
        "mechanism": predicate["mechanism"],
        "policy": predicate["policy"]["name"],
    }
    return json.dumps(record, sort_keys=True, ensure_ascii=False)


def record_of_editions(policy: str) -> str:
    """What a table carries that has the rows of several editions: each has its own certificate.

    It has no ε and δ: another edition may have others, and the table's comment stays.

    >>> record = json.loads(record_of_editions("visits"))
    >>> record["certificate"]
    'visits.{edition}.certificate.json'
    >>> record["guarantee"]
    'each edition has an ε and a δ of its own: its certificate states them'
    """
    certificate = f"{policy}.{{edition}}{CERTIFICATE_SUFFIX}"
    own = "each edition has an ε and a δ of its own: its certificate states them"
    record = {"certificate": certificate, "facts": "", "guarantee": own, "policy": policy}
    return json.dumps(record, sort_keys=True, ensure_ascii=False)


def record_of_file(predicate: Mapping[str, object], subject: str) -> str:
    """What a release's file, released as ``subject``, carries of the certificate beside it."""
    return record_text(predicate, certificate_path(Path(subject)).name)


def check_bytes(name: str, data: bytes, rows: pa.Table, writer: str, record: str) -> Results:
    """Whether the file of those bytes is what the writer makes of its rows and its certificate.

    ``writer`` is who wrote it, by its own word; ``record`` is its certificate's. Nothing is held in
    memory but what is there.
    """
    import pyarrow as pa

    here = f"parquet-cpp-arrow version {pa.__version__}"
    if not _WRITER.fullmatch(writer):
        return Results.refused(f"{name} was not written by the engine's Parquet library")
    if writer != here:
        return Results((), (), (UNCHECKED.format(name, writer, here),))
    if any(getattr(kind, "tz", None) not in (None, "UTC") for kind in rows.schema.types):
        return Results.refused(f"{name} has moments in a zone that the engine does not write")
    carries = METADATA_KEY.encode() in (rows.schema.metadata or {})
    again = _Compared(data)
    write_parquet(rows, again, {METADATA_KEY: record} if carries else {})
    if not again.same == again.tell() == len(data):
        return Results.refused(
            f"{name} holds more than its rows: written again from them and its certificate, by"
            f" {here}, it is another file from byte {again.same} on"
        )
    return Results.held("it holds its rows and nothing else")


class _Compared(io.RawIOBase):
    """A file to write into, which keeps nothing but how far it is the same as another."""

    def __init__(self, data: bytes) -> None:
        self._data = memoryview(data)
        self._place = 0
        self.same = 0

    def writable(self) -> bool:
        """It is."""
        return True

    def tell(self) -> int:
        """How much was written."""
        return self._place

    def write(self, piece: Any) -> int:
        """Compare a piece with what stands in its place."""
        size = len(piece)
        if self.same == self._place:
            own = self._data[self._place : self._place + size]
            pairs = zip(own, memoryview(piece), strict=False)
            differs = (n for n, (a, b) in enumerate(pairs) if a != b)
            self.same += size if own == piece else next(differs, len(own))
        self._place += size
        return size


def plain(value: Any) -> Any:
    """Lists and dictionaries again, where a statement was frozen."""
    if value is None or isinstance(value, (str, int)):
        return value
    if isinstance(value, Mapping):
        return {name: plain(item) for name, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list | tuple) else value


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


def read_signed(release: Path, sha256: str) -> tuple[bytes, pa.Table, str] | str:
    """The bytes, rows and writer of a signed Parquet file; else why it is not the one."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        data = bytes_in(release)
    except OSError as error:
        from policy_engine.policy.reading import unread

        raise FileError(unread(release, error, lost=True)) from None
    digest = hashlib.sha256(data).hexdigest()
    if digest != sha256:
        return f"{release.name} is not the release: its SHA-256 is {digest}"
    try:
        with pq.ParquetFile(pa.BufferReader(data), pre_buffer=False) as file:
            return data, file.read(use_threads=False), file.metadata.created_by or ""
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

"""The bytes of releases, by digest: drawn where nobody else reads, and kept once they are public.

What was drawn is private until the ledger has its digest. Then it is published, and a copy of what
was published stands in a folder beside its certificate: a release that is lost is put back from
there, and never drawn again. A file's copy is the file; a table's has its rows as texts, as they
are digested, with the types of its columns.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING

from policy_engine.attest.attestation import LARGEST_ENVELOPE
from policy_engine.attest.keys import explained, make_folder
from policy_engine.attest.parquet_file import CERTIFICATE_SUFFIX, METADATA_KEY, read_parquet
from policy_engine.opening import text_in
from policy_engine.policy.places import KEPT
from policy_engine.policy.project import Project
from policy_engine.releasing import publish
from policy_engine.releasing.publish import file_digest
from policy_engine.releasing.reviewing import line_of
from policy_engine.values import frozen
from policy_engine.warehouse.base import Columns, Texts

if TYPE_CHECKING:
    import pyarrow as pa

_TYPES = "policy_engine_types"
_BATCH = 10_000
_ENDS = ".parquet"
_LOCK = ".lock"


@frozen
class Copy:
    """A copy of a release: of a table if ``is_table``, else of a file."""

    path: Path
    is_table: bool

    @property
    def columns(self) -> Columns:
        """The columns of a table, with their types."""
        import pyarrow.parquet as pq

        found = json.loads((pq.read_schema(self.path).metadata or {})[_TYPES.encode()])
        return tuple((str(name), str(kind)) for name, kind in found)

    def rows(self) -> Iterator[Texts]:
        """The rows of a table, as texts, in their order."""
        import pyarrow.parquet as pq

        with pq.ParquetFile(self.path) as file:
            for batch in file.iter_batches(_BATCH):
                yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)

    def table(self) -> pa.Table:
        """All rows, in the types of the file."""
        return read_parquet(self.path)

    def digest(self) -> str:
        """The digest of the release that it is a copy of."""
        if not self.is_table:
            return file_digest(self.path)
        digest = hashlib.sha256()
        for row in self.rows():
            digest.update(line_of(row).encode() + b"\n")
        return digest.hexdigest()

    def is_of(self, digest: str) -> bool:
        """Whether it is a whole copy of the release of this digest."""
        import pyarrow as pa

        try:
            return self.path.is_file() and self.digest() == digest
        except (OSError, KeyError, ValueError, pa.ArrowException):
            return False


def drawn_folder(project: Project, place: str) -> Path:
    """Where what was drawn for a place is until it is placed; its owner alone may enter."""
    return project.directory / KEPT / "drawn" / place[:16]


def make_drawn_folder(project: Project, place: str) -> Path:
    """Make that folder; FileError where nothing can be written there."""
    folder = drawn_folder(project, place)
    with explained(f"{folder}: cannot be written"):
        for each in (folder.parent.parent, folder.parent, folder):
            make_folder(each)
        probe = folder / f".{token_hex(8)}"
        probe.touch(0o600)
        probe.unlink()
    return folder


def is_drawn(path: Path, project: Project) -> bool:
    """Whether a file is what was drawn and is not published yet."""
    return path.resolve().parent.parent == (project.directory / KEPT / "drawn").resolve()


@contextmanager
def alone(project: Project, place: str) -> Iterator[None]:
    """Keep other releases of one place on this machine out while the body runs."""
    lock = make_drawn_folder(project, place) / _LOCK
    with explained(f"{lock}: cannot be written"):
        handle = os.open(lock, os.O_WRONLY | os.O_CREAT, 0o600)
    try:
        with suppress(OSError):  # some network file systems cannot; the ledger decides all the same
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def tidy(project: Project, place: str, recorded: Collection[str]) -> None:
    """Remove what runs that are no more have left in the folder of a place.

    What the ledger has the digest of stays. It is called while no other run is ``alone`` there.
    """
    for path in drawn_folder(project, place).iterdir():
        if path.name != _LOCK and path.stem not in recorded:
            path.unlink(missing_ok=True)


def tidy_left(project: Project, place: str, recorded: Collection[str]) -> None:
    """The same where no run is ``alone`` there now: one that is does it itself."""
    lock = drawn_folder(project, place) / _LOCK
    with suppress(OSError):  # there is none, or another run has it
        handle = os.open(lock, os.O_WRONLY)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            tidy(project, place, recorded)
        finally:
            os.close(handle)


def drawn(project: Project, place: str, write: Callable[[Path], object], *, is_table: bool) -> Copy:
    """Write what was drawn, and name it by its digest.

    Raises FileError: it cannot be written; nothing of it is left.
    """
    folder = drawn_folder(project, place)
    aside = folder / f".{token_hex(8)}"
    with publish.explained(folder):
        try:
            os.close(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
            write(aside)
            _sync(aside)
            copy = Copy(aside, is_table)
            named = private_copy(project, place, copy.digest(), is_table=is_table)
            aside.rename(named.path)
            _sync(folder)
            return named
        finally:
            aside.unlink(missing_ok=True)


def private_copy(project: Project, place: str, digest: str, *, is_table: bool) -> Copy:
    """What was drawn of this digest, there or not."""
    return Copy(drawn_folder(project, place) / f"{digest}{_ENDS}", is_table)


def public_copy(certificate: Path, digest: str, *, is_table: bool) -> Copy:
    """The copy of a release of this digest, there or not.

    Its name has no ending of a file of rows: no source whose folder it may be in has it as a part.
    """
    return Copy(certificate.parent / publish.COPIES / digest, is_table)


def certificate_copy(certificate: Path, digest: str) -> Path:
    """Where the certificate of a release of this digest is kept."""
    return certificate.parent / publish.COPIES / f"{digest}{CERTIFICATE_SUFFIX}"


def copy_of(
    project: Project, place: str, certificate: Path, digest: str, *, is_table: bool
) -> Copy | None:
    """A whole copy of the release of this digest, public or private; None where there is none."""
    found = (
        public_copy(certificate, digest, is_table=is_table),
        private_copy(project, place, digest, is_table=is_table),
    )
    return next((copy for copy in found if copy.is_of(digest)), None)


def kept_certificate(certificate: Path, digest: str) -> str:
    """The kept certificate of a release, unverified; empty where there is none."""
    path = certificate_copy(certificate, digest)
    with suppress(OSError, UnicodeDecodeError):
        if path.stat().st_size <= LARGEST_ENVELOPE:
            return text_in(path)
    return ""


def keep(copy: Copy, certificate: Path, digest: str, most: int) -> None:
    """Keep a copy of a release that stands, and its certificate, unless it has ``most`` bytes.

    Raises FileError.
    """
    public = public_copy(certificate, digest, is_table=copy.is_table).path
    with explained(f"{public}: the copy of the release cannot be kept"):
        if copy.path.stat().st_size > most:
            return
        public.parent.mkdir(exist_ok=True)
        if copy.path != public:
            _put(copy.path, public, certificate)
        _put(certificate, certificate_copy(certificate, digest), certificate)


def discard(project: Project, place: str, digest: str) -> None:
    """Remove what was drawn of this digest, once its release stands."""
    with suppress(OSError):
        private_copy(project, place, digest, is_table=False).path.unlink(missing_ok=True)


def write_rows(
    path: Path, columns: Columns, rows: Iterable[tuple[object, ...]], record: str
) -> None:
    """Write the rows of a table as its copy has them; ``record`` is its certificate's."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    names, rows = [name for name, _ in columns], iter(rows)
    metadata = {METADATA_KEY: record, _TYPES: json.dumps(columns)}
    schema = pa.schema([pa.field(name, pa.string()) for name in names], metadata)
    with pq.ParquetWriter(path, schema) as writer:
        while batch := list(islice(rows, _BATCH)):
            texts = (
                [None if v is None else str(v) for v in column]
                for column in zip(*batch, strict=True)
            )
            arrays = [pa.array(column, pa.string()) for column in texts]
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))


def _put(source: Path, target: Path, like: Path) -> None:
    """Put a copy in its place, readable by who may read the certificate."""
    aside = target.with_name(f".{target.name}.{token_hex(4)}")
    try:
        shutil.copyfile(source, aside)
        shutil.copymode(like, aside)
        _sync(aside)
        aside.replace(target)
    finally:
        aside.unlink(missing_ok=True)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)

"""A release and its certificate in the file system: both, or neither.

Everything is written aside and synced first. The certificate is put in place before the
release, so that a release that stands always has one; a certificate without a release
promises nothing to anybody. Without ``replace`` a file is never overwritten, whatever
another process does meanwhile.
"""

from __future__ import annotations

import errno
import fcntl
import glob
import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path

from policy_engine.attest.attestation import LARGEST_ENVELOPE, stated_subject
from policy_engine.attest.parquet_file import METADATA_KEY, certificate_path
from policy_engine.errors import FileError
from policy_engine.opening import opened, text_in

COPIES = ".released"
"""The folder of what is kept of releases, beside their certificates."""
_PROBE = "probe".ljust(len(f"{'':16}.{'':8}"), "-")


def exists(name: Path | str, paid: int | None) -> FileError:
    """The error of what stands in the way; ``paid`` is the entry that has paid for what is new."""
    remedy = "use --replace to release anew, at a new price"
    if paid is not None:
        remedy = f"entry {paid} has paid for this release: --replace puts it there at no cost"
    return FileError(f"{name} exists; {remedy}", code="place_taken")


def check_certificate(path: Path, name: str, *, replace: bool, paid: int | None = None) -> None:
    """FileError where a certificate of ``name`` would go over another's, or unasked over one."""
    if path.is_dir():
        raise FileError(f"{path} is a directory; name a file")
    if not os.path.lexists(path):
        return
    if not replace:
        raise exists(path, paid)
    if (other := stated_subject(content_of(path))) not in ("", name):
        raise FileError(
            f"{path} is the certificate of {other}, and {name} would write its own over it; give"
            " the policy another name, or move that certificate away"
        )


def content_of(path: Path) -> bytes:
    """What a file holds; nothing where it cannot be read, or is no certificate by its size."""
    with suppress(OSError), opened(path) as file:
        return file.read(LARGEST_ENVELOPE + 1)
    return b""


def check_target(release: Path, *, replace: bool, paid: int | None = None) -> None:
    """Refuse a target that cannot be written, before anything is charged.

    ``paid`` is the entry that has paid for the release already. Raises FileError: it exists and
    ``replace`` is off, is no release, is a directory, or cannot be written.
    """
    for path in (release, certificate_path(release)):
        if path.is_dir():
            raise FileError(f"{path} is a directory; name a file")
    if os.path.lexists(release) and not is_release(release):
        raise not_a_release(str(release))
    for path in (release, certificate_path(release)):
        if os.path.lexists(path) and not replace:
            raise exists(path, paid)
    if not os.path.lexists(release):
        check_certificate(certificate_path(release), release.name, replace=replace, paid=paid)
    folder = next(above for above in release.absolute().parents if above.exists())
    with explained(release):
        # A file of the longest name that will be written. One that a crash has left is taken again.
        probe = folder / _aside(certificate_path(release), _PROBE).name
        try:
            probe.touch()
        finally:
            probe.unlink(missing_ok=True)


def not_a_release(name: str) -> FileError:
    """The error of what would be replaced, and is not the engine's to replace."""
    return FileError(
        f"{name} is no release, and only a release is replaced; move it away, or name another"
        " place",
        code="place_taken",
    )


def is_release(path: Path) -> bool:
    """Whether a file says that it is a release: by what it carries, or else what stands beside."""
    import pyarrow as pa

    if not path.is_file():  # a pipe would never end
        return False
    try:
        return _carried(path) is not None
    except (OSError, pa.ArrowException):
        # A damaged one is known by the certificate that stands beside it.
        return stated_subject(content_of(certificate_path(path))) == path.name


def record_of(path: Path) -> dict[str, object]:
    """The record that a release's file carries of its certificate; empty of another file."""
    import pyarrow as pa

    try:
        return record_in(_carried(path) or b"")
    except (OSError, pa.ArrowException):
        return {}


def _carried(path: Path) -> bytes | None:
    import pyarrow.parquet as pq

    with opened(path) as file:
        found: bytes | None = (pq.read_schema(file).metadata or {}).get(METADATA_KEY.encode())
    return found


def other_bytes(name: str) -> FileError:
    """The error of a draw that another run of the same entry was faster than."""
    return FileError(
        f"{name}: another run drew this release first; what came out here was seen by nobody and is"
        " gone. Run the same command again"
    )


def record_in(text: str | bytes) -> dict[str, object]:
    """The record of a certificate that a table's comment or a file's metadata is; else empty."""
    try:
        record = json.loads(text)
    except ValueError:
        return {}
    is_one = isinstance(record, dict) and {"certificate", "facts", "policy"} <= record.keys()
    return record if is_one else {}


def file_digest(path: Path) -> str:
    """SHA-256 of a file, in hex."""
    with opened(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def publish_file(
    copy: Path, release: Path, envelope: str, *, at: datetime | None, replace: bool, mark: str
) -> None:
    """Put the bytes of ``copy`` at ``release``, with the certificate beside them.

    ``mark`` names what is written aside, so that ``recover`` finds it after a crash. Both files get
    the time ``at``, which was taken before the data was touched: their own would tell how long the
    run took, and go where the files go.

    Raises FileError: the disk is full, the target read-only or, meanwhile, taken.
    """
    certificate = certificate_path(release)

    def put() -> None:
        own = f"{mark}.{secrets.token_hex(4)}"
        with _taken_away(own, release, certificate) as (aside, certificate_aside):
            shutil.copyfile(copy, aside)
            certificate_aside.write_text(envelope, encoding="utf-8")
            _sync(aside, certificate_aside)
            for path in (aside, certificate_aside):
                if at is not None:
                    os.utime(path, (at.timestamp(), at.timestamp()))
            moves = ((certificate_aside, certificate), (aside, release))
            _put_in_place(moves, replace=replace, mark=mark)

    with explained(release):
        release.parent.mkdir(parents=True, exist_ok=True)
        try:
            put()
        except FileNotFoundError:
            # A run of the same release on another machine has taken away what was written aside, as
            # if its writer were dead: see ``recover``. It does so once.
            put()


def write_certificate(text: str, path: Path, *, replace: bool) -> None:
    """Put a certificate in place by itself: for a release that is a table.

    Raises FileError: it exists and ``replace`` is off, or it cannot be written.
    """
    mark = secrets.token_hex(8)
    with explained(path), _taken_away(mark, path) as (aside,):
        aside.write_text(text, encoding="utf-8")
        _sync(aside)
        _put_in_place(((aside, path),), replace=replace, mark=mark)


@contextmanager
def _taken_away(mark: str, *paths: Path) -> Iterator[list[Path]]:
    """Names to write aside to: nothing is left there when the body ends."""
    asides = [_aside(path, mark) for path in paths]
    try:
        yield asides
    finally:
        for aside in asides:
            aside.unlink(missing_ok=True)


@contextmanager
def certificate_of_table(path: Path, mark: str) -> Iterator[Callable[[str], None]]:
    """Put a certificate at ``path`` for the table that the body publishes.

    The body gets the function that takes its text, to be called before the table stands. Where
    nothing stood at ``path`` the certificate is put there at once, so that no table stands without
    one; else it takes the place of the other when the body has ended well.
    """
    aside = _aside(path, mark)
    first = not path.exists()

    def put(text: str) -> None:
        aside.write_text(text, encoding="utf-8")
        _sync(aside)
        if first:
            _put_in_place(((aside, path),), replace=False, mark=mark)

    with explained(path):
        try:
            yield put
        except BaseException:
            _forget(path, aside)
            raise
    try:
        _take_place(aside, path)
    except OSError as error:
        raise FileError(
            f"{path} could not be written: {error.strerror}; the table stands all the same: mend"
            " that, and run 'policy-engine ledger reconcile', which puts its certificate there"
        ) from None


def recover(release: Path, mark: str) -> None:
    """Finish or undo what a run that is no more left in the place of a release file.

    Whatever stood there before stands there again, unless the new pair does; nothing that was
    written aside is left.
    """
    certificate = certificate_path(release)
    if not release.parent.is_dir():
        return
    with explained(release), _alone(release.parent):
        old, old_certificate = (_aside(path, f"old-{mark}") for path in (release, certificate))
        if not release.exists():
            for aside in _asides(certificate, mark):
                _forget(certificate, aside)
            for path, kept in ((certificate, old_certificate), (release, old)):
                if kept.exists():
                    kept.replace(path)
        asides = (*_asides(release, mark), *_asides(certificate, mark))
        for path in (old, old_certificate, *asides, _aside(certificate, _PROBE)):
            path.unlink(missing_ok=True)


def recover_table(certificate: Path, mark: str, *, stands: bool) -> None:
    """The same for a release that is a table, which ``stands`` or does not."""
    aside = _aside(certificate, mark)
    with explained(certificate):
        if stands:
            _take_place(aside, certificate)
        else:
            _forget(certificate, aside)


def aside_text(certificate: Path, mark: str) -> str:
    """The certificate that a run wrote aside or put in place; empty where there is none."""
    for path in (_aside(certificate, mark), certificate):
        with suppress(OSError, UnicodeError):
            return text_in(path)
    return ""


def _take_place(aside: Path, target: Path) -> None:
    if aside.exists():
        aside.replace(target)
    aside.unlink(missing_ok=True)  # two links to one file are left as they are by a rename


def _forget(target: Path, aside: Path) -> None:
    """Remove what was written aside, and its link in the target's place if it was put there."""
    with suppress(OSError):
        if target.samefile(aside):
            target.unlink()
    aside.unlink(missing_ok=True)


def _aside(path: Path, mark: str) -> Path:
    return path.with_name(f".{path.name}.{mark}")


def _asides(path: Path, mark: str) -> list[Path]:
    """What runs of one mark have written aside for a file."""
    return list(path.parent.glob(glob.escape(f".{path.name}.{mark}") + "*"))


def _sync(*paths: Path) -> None:
    for path in paths:
        with opened(path) as file:
            os.fsync(file.fileno())


def _put_in_place(moves: tuple[tuple[Path, Path], ...], *, replace: bool, mark: str) -> None:
    done: list[Path] = []
    kept: dict[Path, Path] = {}
    with _alone(moves[0][1].parent):
        try:
            # The release goes first, so that none stands uncertified.
            for _, target in reversed(moves) if replace else ():
                if target.exists():
                    kept[target] = _aside(target, f"old-{mark}")
                    target.rename(kept[target])
            for aside, target in moves:
                # A link, unlike a rename, fails if the target has come to be meanwhile.
                os.link(aside, target)
                done.append(target)
        except BaseException:
            for target in done:
                target.unlink(missing_ok=True)
            for target, old in kept.items():
                if old.exists():
                    old.replace(target)
            raise
        for old in kept.values():
            old.unlink(missing_ok=True)


@contextmanager
def _alone(directory: Path) -> Iterator[None]:
    """Keep other releases out of a directory while files are put in place, and sync it."""
    handle = os.open(directory, os.O_RDONLY)
    try:
        # Some network file systems can do neither; links are exclusive there all the same.
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
        with suppress(OSError):
            os.fsync(handle)
    finally:
        os.close(handle)


_REASONS = {
    errno.ENOSPC: "the disk is full",
    errno.EFBIG: "no file may be so large here",
    errno.EDQUOT: "the disk quota is used up",
    errno.EROFS: "the file system is read-only",
    errno.EACCES: "permission is denied",
    errno.EPERM: "permission is denied",
    errno.EEXIST: "it has come to be meanwhile; see whose it is, and run the command again",
    errno.ENOTDIR: "a part of its path is a file",
}

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """FileError, with its reason in words, where ``path`` cannot be written."""
    try:
        yield
    except OSError as error:
        reason = _REASONS.get(error.errno or 0, error.strerror or type(error).__name__)
        raise FileError(
            f"{path} could not be written: {reason}; nothing was published",
            code="disk_full" if error.errno in _FULL else None,
        ) from None

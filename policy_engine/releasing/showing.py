"""The first rows of a release and what its certificate says of them: shown, and not checked."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from policy_engine.attest.attestation import Unverified, unverified_release
from policy_engine.attest.certificates import certificate_in
from policy_engine.attest.parquet_file import certificate_path
from policy_engine.attest.values import plain_lines
from policy_engine.compile.column_names import who_is_one
from policy_engine.errors import FileError, UsageError, VerificationFailed
from policy_engine.kernel.certificate import Certificate
from policy_engine.kernel.mechanisms.meaning import Meaning
from policy_engine.kernel.mechanisms.meanings import meaning_of
from policy_engine.kernel.models import Model
from policy_engine.opening import NO_FILE, bytes_in
from policy_engine.policy.project import Project
from policy_engine.policy.reading import unread
from policy_engine.releasing.books import has_ledger, open_ledger
from policy_engine.releasing.copies import is_drawn
from policy_engine.releasing.opened import in_reading_order, lines_of_table, of_groups, rows_of
from policy_engine.releasing.publish import is_release, record_of
from policy_engine.releasing.requests import certificate_of
from policy_engine.releasing.standing import Lines, digest_of_lines, numbered, remarks_read
from policy_engine.values import frozen

Line = tuple[Any, ...]
_TAKES = "show takes a release's Parquet file, or the certificate of a table"
_UNREAD = "its certificate is of a mechanism that this version does not know, or is damaged"
_MISSING = (
    "what its numbers mean is not known: it was released by the policy {} with the certificate {},"
    " which is not at {}"
)
_DAMAGED = "it is damaged: the record of its certificate cannot be read"
_WAITS = "it waits for approvals, confidential until then; its certificate is not signed yet"


@frozen
class FirstRows:
    """The first rows of a release, and what its certificate says of them.

    ``release`` is a file or the name of a table; ``certificate`` is None where none was found.
    ``size`` is how many rows there are; ``remarks`` are of columns that lack values in many;
    ``known`` is what ``meaning`` is said of, None where it is not known.
    """

    release: str
    certificate: Path | None
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    size: int
    meaning: tuple[str, ...]
    remarks: tuple[str, ...] = ()
    known: Meaning[Any] | None = None


def show(named: Path, project: Project, rows: int) -> FirstRows:
    """The first rows of a release: a file, or what a certificate is of, a file or a table.

    Guarantee: nothing is printed but what says that it is a release; a table must have the digest
    of its certificate. Nothing else is checked, neither signature nor rows.

    Raises:
        UsageError: it is no release.
        FileError, WarehouseError: it cannot be read.
        VerificationFailed: the certificate cannot be read, or the table is not its.
    """
    if named.is_dir():
        raise FileError(f"{named} is a directory; name a file")
    if named.suffix.lower() != ".json":
        return _of_file(named, certificate_path(named), project, rows)
    stated = _stated(named)
    if not stated.subject_name.lower().endswith(".parquet"):
        return _of_table(named, stated, project, rows)
    if Path(stated.subject_name).name != stated.subject_name:
        raise VerificationFailed((f"{named} names no file beside it",))
    return _of_file(named.with_name(stated.subject_name), named, project, rows)


def _of_file(path: Path, certificate: Path, project: Project, rows: int) -> FirstRows:
    import pyarrow as pa

    if path.exists() and not path.is_file():
        raise FileError(f"{path} cannot be read: {NO_FILE}")
    if not path.is_file():
        missing = FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        raise FileError(f"{unread(path, missing, lost=certificate.is_file())}; {_TAKES}")
    if not is_release(path):
        facts = "for it does not carry the record of a certificate"
        raise UsageError(f"{path} is no release, {facts}; {_TAKES}")
    table = rows_of(path)
    if any(map(pa.types.is_nested, table.schema.types)):
        raise UsageError(f"{path} is no release: a column of it holds lists or structures")
    lines = list(plain_lines(table))
    first = tuple(lines[:rows])
    found = certificate if certificate.is_file() else None
    known, told, names = None, tuple[str, ...](), tuple(table.column_names)
    try:
        stated = _drawn(path, project) if found is None else certificate_in(_stated(found))
        if stated is None:
            meaning: tuple[str, ...] = (_without_certificate(path, certificate),)
        else:
            known = meaning_of(stated.claim)
            first = tuple(in_reading_order(stated.claim, names, lines)[:rows])
            meaning = (_WAITS,) if found is None else ()
            meaning += _told(stated, names, lines) + _left_out(stated.terms.models)
            told = remarks_read(stated, names, numbered(table, known.count))
            told += tuple(known.doubts(names, lines))
    except VerificationFailed as error:
        meaning = (f"what its numbers mean is not known: {error}",)
    if known is not None:
        names, first = of_groups(known.claim, names, first)
    return FirstRows(str(path), found, names, first, table.num_rows, meaning, told, known)


def _drawn(path: Path, project: Project) -> Certificate | None:
    """The certificate of a file that was drawn and is not published; None of another."""
    if not is_drawn(path, project) or not has_ledger(project):
        return None
    with open_ledger(project) as ledger:
        for entry in ledger.read().budget.entries():
            if entry.only_digest == path.stem:
                return certificate_of(entry.run)
    return None


def _without_certificate(path: Path, certificate: Path) -> str:
    """Where a file says that its certificate is."""
    record = record_of(path)
    if not record:
        return _DAMAGED
    return _MISSING.format(record["policy"], record["certificate"], certificate)


def _of_table(certificate: Path, stated: Unverified, project: Project, rows: int) -> FirstRows:
    name, certified = stated.subject_name, certificate_in(stated)
    lines = lines_of_table(name, certified, project)
    if digest_of_lines(lines)[0] != stated.subject_sha256:
        raise VerificationFailed((f"the table {name} is not the one that {certificate} is of",))
    claim, meaning = certified.claim, meaning_of(certified.claim)
    names = meaning.names
    said, told = _told(certified, names, lines), remarks_read(certified, names, lines)
    told += tuple(meaning.doubts(names, lines))
    names, first = of_groups(claim, names, in_reading_order(claim, names, lines)[:rows])
    return FirstRows(name, certificate, names, first, len(lines), said, told, meaning)


def _told(certificate: Certificate, names: tuple[str, ...], lines: Lines) -> tuple[str, ...]:
    """What the numbers mean."""
    meaning, edition = meaning_of(certificate.claim), certificate.terms.edition
    own = () if edition is None else (f"this is edition {edition.words}",)
    who = filter(None, [who_is_one(certificate.unit)])
    return (*own, *who, *meaning.told(certificate), *meaning.found(names, lines))


def _left_out(models: Iterable[Model]) -> tuple[str, ...]:
    """What else a group may be missing for."""
    return tuple(
        f"groups were left out whose class, by the numbers here, does not have {model}: another"
        " cause why one may be missing"
        for model in models
    )


def _stated(path: Path) -> Unverified:
    """What a certificate's file says."""
    try:
        return unverified_release(bytes_in(path))
    except OSError as error:
        raise FileError(unread(path, error)) from None
    except VerificationFailed as error:
        raise VerificationFailed((f"{path} is no certificate of a release: {error}",)) from None

"""What a release holds and what its numbers mean, by its certificate: shown, and not checked."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from policy_engine.attest.attestation import Json, Unverified, unverified
from policy_engine.attest.tables import read_parquet
from policy_engine.errors import FileError, UsageError, VerificationFailed
from policy_engine.kernel.certificate import MECHANISM
from policy_engine.policy.project import Project
from policy_engine.publish import certificate_path, is_release
from policy_engine.release import digest_of_lines
from policy_engine.remarks import lacking, numbered
from policy_engine.warehouse.connecting import connected

_UNREAD = "its certificate is of a mechanism that this version does not know, or is damaged"
_MISSING = "what its numbers mean is not known: there is no certificate {}"


@dataclass(frozen=True)
class Meaning:
    """What the numbers of a release are, as its certificate says.

    ``rate`` is that at which people of the source were sampled; where the source is itself a
    sample, ``of_population`` is that at which people of its population were. ``count`` is the
    column of the counts, None where every row is one person.
    """

    k: int
    rate: Decimal
    of_population: Decimal
    count: str | None

    @classmethod
    def of(cls, facts: Mapping[str, Json]) -> Meaning | None:
        """What the facts of a certificate say; None where they cannot be read."""
        try:
            rate, of_it = Decimal(str(facts["rate"])), Decimal(str(facts["sampled_at"]))
            k, count, form = int(str(facts["k"])), facts["count"], facts["form"]
        except (KeyError, ValueError, InvalidOperation):
            return None
        known = facts.get("mechanism") == MECHANISM and form in ("counts", "rows")
        if not known or not 0 < rate < of_it <= 1 or (form == "counts") != isinstance(count, str):
            return None
        return cls(k, rate / of_it, rate, str(count) if form == "counts" else None)

    def told(self) -> Iterator[str]:
        """Sentences."""
        rate, k = _number(self.rate), self.k
        error = math.sqrt(k * (1 - self.rate)) / float(self.rate)
        what = f"{self.count} counts people" if self.count else "each row is one person"
        counted = self.count or "the rows of a group"
        yield f"{what} of a sample, which each person of the source was in with probability {rate}"
        yield (
            f"{counted} / {rate} estimates the group in the source: {k} is about"
            f" {k / self.rate:.0f}, give or take {error:.0f} (1 SD)"
        )
        if self.of_population != self.rate:
            yield (
                "the source is a sample itself:"
                f" {counted} / {_number(self.of_population)} estimates the group in its population"
            )
        yield (
            f"a group that is missing had fewer than {k} people in the sample: it need not be empty"
        )
        yield f"of groups near {k} those are shown that the sample favoured: they seem too large"


@dataclass(frozen=True)
class Shown:
    """The first rows of a release, and what its certificate says of them.

    ``release`` is a file or the name of a table; ``certificate`` is None where none was found.
    ``size`` is how many rows there are; ``remarks`` are of columns that lack values in many.
    """

    release: str
    certificate: Path | None
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    size: int
    meaning: tuple[str, ...]
    remarks: tuple[str, ...] = ()


def show(named: Path, project: Project, rows: int) -> Shown:
    """The first rows of a release: a file, or what a certificate is of, a file or a table.

    Guarantee: nothing is printed but what says that it is a release; a table must have the digest
    of its certificate. Nothing else is checked, neither signature nor rows.

    Raises:
        UsageError: it is no release.
        FileError, WarehouseError: it cannot be read.
        VerificationFailed: the certificate cannot be read, or the table is not its.
    """
    if named.suffix.lower() != ".json":
        return _of_file(named, certificate_path(named), rows)
    stated = _stated(named)
    if not stated.subject_name.lower().endswith(".parquet"):
        return _of_table(named, stated, project, rows)
    if Path(stated.subject_name).name != stated.subject_name:
        raise VerificationFailed((f"{named} names no file beside it",))
    return _of_file(named.with_name(stated.subject_name), named, rows)


def _of_file(path: Path, certificate: Path, rows: int) -> Shown:
    import pyarrow as pa

    if not path.is_file():
        remedy = "name a Parquet file, or the certificate of a table"
        raise FileError(f"the release {path} is not there; {remedy}")
    if not is_release(path):
        raise UsageError(
            f"{path} is no release, for it does not carry the facts of a certificate: show prints"
            " nothing else"
        )
    try:
        table = read_parquet(path)
    except (pa.ArrowException, OSError) as error:
        raise FileError(f"{path} is not a Parquet file that can be read") from error
    first = tuple(tuple(row.values()) for row in table.slice(0, rows).to_pylist())
    found = certificate if certificate.is_file() else None
    told: tuple[str, ...] = ()
    names = tuple(table.column_names)
    try:
        if found is None:
            meaning: tuple[str, ...] = (_MISSING.format(certificate),)
        else:
            known = Meaning.of(_stated(found).predicate)
            meaning = _told(known)
            told = _remarks(known, names, numbered(table, None if known is None else known.count))
    except VerificationFailed as error:
        meaning = (f"what its numbers mean is not known: {error}",)
    return Shown(str(path), found, names, first, table.num_rows, meaning, told)


def _of_table(certificate: Path, stated: Unverified, project: Project, rows: int) -> Shown:
    name, columns = stated.subject_name, stated.predicate.get("columns")
    with closing(connected(project.warehouse)) as warehouse:
        target = warehouse.target(name)
        if not warehouse.exists(target):
            raise FileError(
                f"the table {name}, of which {certificate} is the certificate, is not in the"
                f" project's warehouse {project.warehouse.name}"
            )
        lines = list(warehouse.release_lines(target))
    if digest_of_lines(lines)[0] != stated.subject_sha256:
        raise VerificationFailed((f"the table {name} is not the one that {certificate} is of",))
    known = [*columns, stated.predicate.get("count")] if isinstance(columns, tuple) else []
    names = tuple(str(each) for each in known if each is not None)
    meaning = Meaning.of(stated.predicate)
    told = _remarks(meaning, names, lines)
    return Shown(name, certificate, names, tuple(lines[:rows]), len(lines), _told(meaning), told)


def _told(meaning: Meaning | None) -> tuple[str, ...]:
    """What the numbers mean, or why that is not known."""
    return (_UNREAD,) if meaning is None else tuple(meaning.told())


def _remarks(
    meaning: Meaning | None, names: tuple[str, ...], lines: Iterable[tuple[Any, ...]]
) -> tuple[str, ...]:
    """The columns that lack values in many people; nothing where rows are not as they should be."""
    if meaning is None or (meaning.count is not None and names[-1:] != (meaning.count,)):
        return ()
    found, counted = list(lines), meaning.count is not None
    if not all(len(line) == len(names) for line in found):
        return ()
    if counted and not all(str(line[-1]).isdecimal() for line in found):  # a table's are texts
        return ()
    return lacking(names[:-1] if counted else names, found, counted=counted)


def _stated(path: Path) -> Unverified:
    """What a certificate's file says."""
    try:
        return unverified(path.read_bytes())
    except OSError as error:
        raise FileError(f"{path} could not be read: {error.strerror}") from None
    except VerificationFailed as error:
        raise VerificationFailed((f"{path} is no certificate of a release: {error}",)) from None


def _number(value: Decimal) -> str:
    """A rate in at most six digits."""
    return f"{float(value):.6g}"

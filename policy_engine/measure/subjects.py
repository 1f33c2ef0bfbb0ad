"""What is measured: a file, whose columns they are, and whether it is public.

A release is public, and tells of itself which columns it has: its certificate
lies beside it and names just these bytes. Every other file is taken for raw
data, which is confidential, and so is all that is computed from it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import field, replace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from policy_engine.accounting.events import (
    ApproximateDP,
    Event,
)
from policy_engine.attest.attestation import unverified_release
from policy_engine.attest.certificates import certificate_in
from policy_engine.attest.parquet_file import certificate_path
from policy_engine.compile.catalog import NUMBERS, TIMES, Kind, kind_of, meant
from policy_engine.errors import FileError, UsageError, VerificationFailed
from policy_engine.kernel.certificate import Certificate
from policy_engine.kernel.mechanisms.common import GROUPING
from policy_engine.kernel.mechanisms.events import event_of
from policy_engine.kernel.mechanisms.meanings import meaning_of
from policy_engine.kernel.promise import Bounded
from policy_engine.kernel.recodes.meanings import recode_meaning
from policy_engine.measure.statement import Roles, cells
from policy_engine.opening import bytes_in
from policy_engine.policy.scalars import counted
from policy_engine.releasing.publish import file_digest
from policy_engine.values import frozen
from policy_engine.warehouse.failures import withheld
from policy_engine.warehouse.files import check_file, names_in
from policy_engine.warehouse.quoting import literal, quoted
from policy_engine.warehouse.settings import Spill, connect

if TYPE_CHECKING:
    import duckdb


_UTF_8 = "; CSV is read as UTF-8, and Excel writes windows-1252: save it as UTF-8, or as Parquet"
_ORDERED = {*NUMBERS, *TIMES, Kind.BOOLEAN, Kind.DATE, Kind.TIME}


@frozen
class Promise:
    """ε and δ of a release, of which unit, and in which notion of neighbours, as it says itself.

    ``event`` is its mechanism as the accountant knows it; else that it has ε and δ.
    """

    name: str
    epsilon: Decimal
    delta: Decimal
    unit: str
    neighbours: str
    event: Event


@frozen
class Subject:
    """A table that is measured, as DuckDB reads it.

    ``columns`` are those that can be quasi-identifiers or sensitive, each with its type; ``count``
    is the column of the counts, if rows are counted; ``key`` tells whose a row is. ``promise`` is
    what a release says of itself.
    ``orders`` are the columns of which the order of their texts is known. ``groupings``: by which
    columns everybody is counted, each by itself.
    """

    name: str
    relation: str
    columns: dict[str, str]
    is_release: bool
    count: str | None = None
    rate: float | None = None
    promise: Promise | None = None
    orders: dict[str, tuple[str, ...]] = field(default_factory=dict)
    groupings: tuple[tuple[str, ...], ...] = ()
    key: str | None = None
    is_by_chance: bool = False
    groups_a_person: int = 1

    @property
    def takes_rows(self) -> bool:
        """Whether each row is taken for one person, as nothing says whose it is."""
        return not (self.is_release or self.count or self.key)

    def has_order(self, column: str) -> bool:
        """Whether the values of a column have an order of their own."""
        return kind_of(self.columns[column]) in _ORDERED

    def tables(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Each table in it, with its columns: several where there are groupings."""
        if not self.groupings:
            yield self.relation, tuple(self.columns)
        for number, columns in enumerate(self.groupings, 1):
            within = f"(SELECT * FROM {self.relation} WHERE {quoted(GROUPING)} = {number})"
            yield within, columns


@contextmanager
def measuring() -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection to measure with; what it spills is removed."""
    spill = Spill()
    try:
        with closing(connect(spill.path)) as connection:
            yield connection
    finally:
        spill.remove()


def subject_of(
    path: Path,
    connection: duckdb.DuckDBPyConnection,
    count: str | None,
    key: str | None = None,
) -> Subject:
    """The table in a Parquet or CSV file; ``count``: of a raw file's counts, if it has any.

    ``key`` is the column of a raw file that tells its people apart.

    Raises:
        FileError: it is not there, or cannot be read.
        UsageError: its name is a pattern, or it has no such column.
    """
    if {*"*?["} & set(str(path)):
        raise UsageError(f"{path}: a name with *, ? or [ would be read as a pattern; rename it")
    check_file(path, str(path))
    if path.is_dir():
        raise FileError(f"{path} is a directory; name a file")
    is_parquet = path.suffix.lower() in (".parquet", ".pq")
    relation = f"read_{'parquet' if is_parquet else 'csv'}({literal(str(path))})"
    unread = f"{path} is not a Parquet or CSV file that can be read{'' if is_parquet else _UTF_8}"
    with withheld(FileError(unread)):
        described = connection.execute(f"DESCRIBE SELECT * FROM {relation}").fetchall()
        names = names_in(connection, path) if is_parquet else [name for name, *_ in described]
    if alike := next((name for name in names if len(meant(name, names)) > 1), None):
        listed = " and ".join(map(repr, meant(alike, names)))
        why = "and DuckDB reads a and A in a name as the same letter"
        raise FileError(f"{path} has the columns {listed}, {why}; rename one")
    columns = {name: kind for name, kind, *_ in described}
    if certificate := _certificate(path) if is_parquet else None:
        if key is not None:
            raise UsageError(f"{path} is a release, of which nobody has a key: leave --key out")
        return _release(path, relation, columns, certificate)
    if key is not None:
        if count is not None:
            raise UsageError("--count and --key say both what a row stands for: name one")
        check_columns((key,), columns, path)
        _check_key(connection, relation, key, path)
        del columns[key]
    if count is not None:
        check_columns((count,), columns, path)
        if kind_of(columns.pop(count)) not in (Kind.INTEGER, Kind.WIDE_INTEGER):
            raise UsageError(f"the column {count} of {path} does not hold whole numbers")
    return Subject(str(path), relation, columns, is_release=False, count=count, key=key)


def counts_of(
    connection: duckdb.DuckDBPyConnection,
    relation: str,
    columns: Sequence[str],
    count: str | None,
) -> dict[tuple[Any, ...], int]:
    """How many people of a relation have each combination of values, as texts, of some columns."""
    roles = Roles(tuple(columns), None, count)
    keys = ", ".join(f"{place}::VARCHAR" for place in roles.places)
    with withheld():
        text = f"SELECT {keys}, n FROM ({cells(relation, roles)}) ORDER BY ALL"
        rows = connection.execute(text).fetchall()
    return {tuple(key): n for *key, n in rows}


def without_suppressed(
    connection: duckdb.DuckDBPyConnection, subject: Subject, quasi: Sequence[str], mark: str
) -> tuple[Subject, int]:
    """A table without the rows that have ``mark`` in every one of some columns; how many these are.

    Such a row stands for somebody of whom nothing is shown: it is no class of its own.

    Raises UsageError: nothing is suppressed in a release, whose rows are all shown; or no column is
    known of a person.
    """
    if subject.is_release:
        raise UsageError(f"{subject.name} is a release, in which no row is suppressed")
    if not quasi:
        raise UsageError("--suppressed is of the columns that are known, and none is named")
    shown = " OR ".join(f"{quoted(c)}::VARCHAR IS DISTINCT FROM {literal(mark)}" for c in quasi)
    number = "count(*)" if subject.count is None else f"sum({quoted(subject.count)})"
    with withheld():
        text = f"SELECT COALESCE({number}, 0) FROM {subject.relation} WHERE NOT ({shown})"
        left_out = int(connection.execute(text).fetchall()[0][0])
    relation = f"(SELECT * FROM {subject.relation} WHERE {shown})"
    return replace(subject, relation=relation), left_out


def _check_key(connection: duckdb.DuckDBPyConnection, relation: str, key: str, path: Path) -> None:
    """UsageError where a row is nobody's."""
    text = f"SELECT count(*) FROM {relation} WHERE {quoted(key)} IS NULL"
    with withheld():
        nobodys = connection.execute(text).fetchall()[0][0]
    if nobodys:
        raise UsageError(
            f"{counted(nobodys, 'row')} of {path} without a {key}: whose they are is not known;"
            " leave them out of the file, or name another --key"
        )


def check_columns(names: tuple[str, ...], columns: dict[str, str], path: Path | str) -> None:
    """UsageError for the first name that is no column."""
    for name in names:
        if name not in columns:
            raise UsageError(f"{path} has no column {name!r}; it has {', '.join(columns)}")


def _certificate(path: Path) -> Certificate | None:
    """The certificate beside a file, if it is of just these bytes.

    Whose certificate it is, ``verify`` says.
    """
    try:
        stated = unverified_release(bytes_in(certificate_path(path)))
        certificate = certificate_in(stated)
    except (OSError, VerificationFailed):
        return None
    return certificate if stated.subject_sha256 == file_digest(path) else None


def _release(
    path: Path, relation: str, columns: dict[str, str], certificate: Certificate
) -> Subject:
    claim, promise, count = certificate.claim, certificate.promise, certificate.count
    return Subject(
        str(path),
        relation,
        {name: columns[name] for name in claim.released if name in columns},
        is_release=True,
        count=count if count in columns else None,
        rate=float(promise.rate) if promise.rate < 1 else None,
        promise=_promise(path.name, certificate),
        orders={
            # Of labels, from the least to the greatest.
            shown.name: order
            for shown in claim.columns
            if (order := recode_meaning(shown.recode).order)
        },
        groupings=tuple(each.columns for each in claim.law.groupings),
        is_by_chance=meaning_of(claim).by_chance,
        groups_a_person=claim.unit.groups,
    )


def _promise(name: str, certificate: Certificate) -> Promise | None:
    """What a release promises, as it says itself: verify checks it."""
    promise, unit = certificate.promise, certificate.unit
    if not isinstance(promise, Bounded):
        return None
    epsilon, delta, notion = promise.epsilon, promise.delta, promise.neighbours
    # Of a sample of a sample two releases share the first: its rate is of neither alone.
    event: Event = ApproximateDP(epsilon, delta)
    if promise.sampled_at == 1:
        event = event_of(certificate.claim, promise.rate, notion)
    return Promise(name, epsilon, delta, unit, notion, event)

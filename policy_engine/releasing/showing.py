"""What a release holds and what its numbers mean, by its certificate: shown, and not checked."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from policy_engine.accounting.domain import neighbour_notion, nonnegative_epsilon
from policy_engine.attest.attestation import Json, Unverified, unverified_release
from policy_engine.attest.facts import claim_of, models_of
from policy_engine.attest.syntactic import SyntacticMeaning
from policy_engine.attest.tables import read_parquet
from policy_engine.errors import DomainError, FileError, UsageError, VerificationFailed
from policy_engine.kernel.claim import Claim
from policy_engine.kernel.estimated import all_shown, compared, estimated, tuples_there
from policy_engine.kernel.estimates import estimates
from policy_engine.kernel.laws import ClaimError
from policy_engine.kernel.mechanisms import Inserted, Listed, Noisy, NoisyPart, Pure, Randomised
from policy_engine.kernel.mechanisms.noisy_counts import GROUPING
from policy_engine.kernel.mechanisms.sampled_suppression import MECHANISM
from policy_engine.kernel.types import digits_of
from policy_engine.policy.project import Project
from policy_engine.policy.syntactic import NoModel
from policy_engine.releasing.certificates import carried_facts
from policy_engine.releasing.publish import certificate_path, is_release
from policy_engine.releasing.reading_order import in_reading_order
from policy_engine.releasing.remarks import lacking, numbered
from policy_engine.releasing.reviewing import is_waiting
from policy_engine.releasing.sizes import digest_of_lines
from policy_engine.releasing.sums import error_of_sum
from policy_engine.warehouse.connecting import connected

_UNREAD = "its certificate is of a mechanism that this version does not know, or is damaged"
_MISSING = "what its numbers mean is not known: there is no certificate {}"

_WAITS = (
    "it waits for approvals, confidential until then and without a certificate: by its own words"
)


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
    def of(cls, facts: Mapping[str, Json]) -> _Meaning | None:
        """What the facts of a certificate say; None where they cannot be read."""
        if (kind := facts.get("mechanism")) in (Noisy.mechanism, SyntacticMeaning.mechanism):
            return NoisyMeaning.of(facts) if kind == Noisy.mechanism else SyntacticMeaning.of(facts)
        if kind in (Randomised.mechanism, Inserted.mechanism):
            return PureMeaning.of(facts)
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
class NoisyMeaning:
    """What the numbers of noisy counts are, by the claim of its certificate."""

    claim: Claim
    law: Noisy

    @property
    def count(self) -> str | None:
        """The column of the counts, None where every row is one person."""
        return self.claim.count

    @classmethod
    def of(cls, facts: Mapping[str, Json]) -> NoisyMeaning | None:
        """What the facts of a certificate say; None where they cannot be read."""
        try:
            claim = claim_of(facts)
        except ClaimError:
            return None
        return cls(claim, claim.law) if isinstance(claim.law, Noisy) else None

    def told(self) -> Iterator[str]:
        """Sentences."""
        from policy_engine.accounting.noise_laws import around, deviation, shown_half

        law, k, table = self.law, self.law.k, self.law.table
        counted = self.claim.count or "the number of a group's rows"
        low, high = around(table, law.offset)
        if self.claim.count is None:
            yield (
                "a group is repeated as often as its number says: noise adds rows that are"
                " nobody's, and takes others away"
            )
        most = self.claim.unit.groups
        who = "are in the group" if most == 1 else "were counted in the group"
        part = f"part {law.number} of {law.parts} of " if isinstance(law, NoisyPart) else ""
        yield (
            f"{counted} is how many people of {part}the source {who}, with noise: give or take"
            f" {deviation(table):.1f} (1 SD), and for certain there are between {counted} - {-low}"
            f" and {counted} + {high}"
        )
        if most > 1:
            yield (
                f"a person is counted in up to {most} groups; of whoever is in more, {most} were"
                " drawn, so that a group may have more people than were counted"
            )
        if isinstance(law, Listed):
            yield from (all_shown(law, counted), *self._of_sums())
            return
        yield f"every group that is shown has at least {'one person' if k == 1 else f'{k} people'}"
        yield from self._of_sums()
        yield from self._of_groupings()
        half = shown_half(table, k)
        yield (
            f"a group of {half} people is shown half of the time: one that is missing need not be"
            " empty, and of groups near it those are shown that the noise favoured: they seem too"
            " large"
        )

    def _of_sums(self) -> Iterator[str]:
        for each in self.law.aggregates:
            clip, about = each.clip, error_of_sum(each, self.claim.count or "")
            ends = (clip.low, clip.high, clip.absent)
            low, high, absent = (digits_of(end * each.unit) for end in ends)
            yield (
                f"{each.name} is the {'mean' if clip.is_mean else 'sum'} of {each.column.name} over"
                f" the people of the group, each with a value from {low} to {high}, with noise:"
                f" give or take {about} (1 SD); a person without a value counts as {absent}"
            )

    def _of_groupings(self) -> Iterator[str]:
        from policy_engine.accounting.noise_laws import around, deviation, shown_half

        if not self.law.groupings:
            return
        by = [f"{n} by {', '.join(each.columns)}" for n, each in enumerate(self.law.groupings, 1)]
        yield (
            f"everybody is counted once in each {GROUPING}: {'; '.join(by)}; a column that is not"
            " in it is NULL in its rows"
        )
        for number, each in enumerate(self.law.groupings, 1):
            if each.tables:
                own, count = each.tables[0], self.claim.count or ""
                low, high = around(own)
                yield (
                    f"in {GROUPING} {number} it is give or take {deviation(own):.1f} (1 SD),"
                    f" between {count} - {-low} and {count} + {high}, and"
                    f" {shown_half(own, self.law.k)} people are shown half of the time"
                )
                for beside, table in zip(self.law.aggregates, each.tables[1:], strict=True):
                    error = error_of_sum(beside, count, table)
                    yield f"in {GROUPING} {number} {beside.name} is give or take {error} (1 SD)"


@dataclass(frozen=True)
class PureMeaning:
    """What the rows of a mechanism of public values are, by the claim of its certificate."""

    claim: Claim
    epsilon: Decimal
    neighbours: str

    @property
    def count(self) -> str | None:
        """The column of the counts, None where every row is one answer or tuple."""
        return self.claim.count

    @classmethod
    def of(cls, facts: Mapping[str, Json]) -> PureMeaning | None:
        """What the facts of a certificate say; None where they cannot be read."""
        try:
            claim, epsilon = claim_of(facts), nonnegative_epsilon(facts["epsilon"])
            notion = neighbour_notion(facts["neighbours"])
        except (ClaimError, DomainError, KeyError):
            return None
        return cls(claim, epsilon, notion) if isinstance(claim.law, Pure) and epsilon else None

    def told(self) -> Iterator[str]:
        """Sentences."""
        if isinstance(self.claim.law, Randomised):
            yield "a value is a person's own, or one of its public list by chance"
        else:
            yield "a tuple is shown by chance too where nobody has it, and left out by chance"
        yield from estimates(self.claim)
        yield from compared(self.epsilon, self.neighbours)

    def found(self, names: tuple[str, ...], lines: Iterable[tuple[Any, ...]]) -> Iterator[str]:
        """What the rows estimate of the source; nothing where they are not as they should be."""
        lines, count = list(lines), self.claim.count
        wanted = (*(shown.name for shown in self.claim.columns), *([count] if count else []))
        counted = count is None or all(str(line[-1]).isdecimal() for line in lines)
        if names != wanted or not counted or not all(len(line) == len(names) for line in lines):
            return
        if isinstance(self.claim.law, Inserted):
            there, domain = tuples_there(self.claim.law, len(lines)), self.claim.law.domain
            yield f"estimated tuples that are there: {float(there):.1f} of {domain}"
        for name, values in estimated(self.claim, lines):
            listed = (f"{_label(value)} {float(n):,.0f}" for value, n in values.items())
            yield f"estimated people by {name}: {', '.join(listed)}"


_Meaning = Meaning | NoisyMeaning | PureMeaning | SyntacticMeaning


@dataclass(frozen=True)
class Shown:
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
    known: _Meaning | None = None


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
        return _of_file(named, certificate_path(named), project, rows)
    stated = _stated(named)
    if not stated.subject_name.lower().endswith(".parquet"):
        return _of_table(named, stated, project, rows)
    if Path(stated.subject_name).name != stated.subject_name:
        raise VerificationFailed((f"{named} names no file beside it",))
    return _of_file(named.with_name(stated.subject_name), named, project, rows)


def _of_file(path: Path, certificate: Path, project: Project, rows: int) -> Shown:
    import pyarrow as pa

    if not path.is_file():
        raise FileError(f"{path} is not there; name a Parquet file, or the certificate of a table")
    if not is_release(path):
        facts = "for it does not carry the facts of a certificate"
        raise UsageError(f"{path} is no release, {facts}: show prints nothing else")
    try:
        table = read_parquet(path)
    except (pa.ArrowException, OSError) as error:
        raise FileError(f"{path} is not a Parquet file that can be read") from error
    if any(map(pa.types.is_nested, table.schema.types)):
        raise UsageError(f"{path} is no release: a column of it holds lists or structures")
    first = tuple(tuple(row.values()) for row in table.slice(0, rows).to_pylist())
    found = certificate if certificate.is_file() else None
    known, told, names = None, tuple[str, ...](), tuple(table.column_names)
    try:
        if found is None and not is_waiting(path, project):
            meaning: tuple[str, ...] = (_MISSING.format(certificate),)
        else:
            stated = carried_facts(path) if found is None else _stated(found).predicate
            known = Meaning.of(stated)
            lines = list(zip(*(column.to_pylist() for column in table.columns), strict=True))
            first = tuple(in_reading_order(stated, names, lines)[:rows])
            meaning = (_WAITS,) if found is None else ()
            meaning += _told(known, names, lines) + _left_out(stated)
            told = _remarks(known, names, numbered(table, None if known is None else known.count))
    except VerificationFailed as error:
        meaning = (f"what its numbers mean is not known: {error}",)
    return Shown(str(path), found, names, first, table.num_rows, meaning, told, known)


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
    meaning = Meaning.of(stated.predicate)
    beside = meaning.law.beside if isinstance(meaning, NoisyMeaning) else ()
    names = tuple(str(each) for each in (*known, *beside) if each is not None)
    said, told = _told(meaning, names, lines), _remarks(meaning, names, lines)
    first = tuple(in_reading_order(stated.predicate, names, lines)[:rows])
    return Shown(name, certificate, names, first, len(lines), said, told, meaning)


def _told(
    meaning: _Meaning | None, names: tuple[str, ...], lines: Iterable[tuple[Any, ...]]
) -> tuple[str, ...]:
    """What the numbers mean, or why that is not known."""
    if meaning is None:
        return (_UNREAD,)
    found = meaning.found(names, lines) if isinstance(meaning, PureMeaning) else ()
    return (*meaning.told(), *found)


def _left_out(facts: Mapping[str, Json]) -> tuple[str, ...]:
    """What else a group may be missing for."""
    try:
        models = models_of(facts)
    except NoModel:
        return ()
    return tuple(
        f"groups were left out whose class, by the numbers here, does not have {model}: another"
        " cause why one may be missing"
        for model in models
    )


def _label(value: str | None) -> str:
    return "(missing)" if value is None else value


def _remarks(
    meaning: _Meaning | None, names: tuple[str, ...], lines: Iterable[tuple[Any, ...]]
) -> tuple[str, ...]:
    """The columns that lack values in many people; nothing where rows are not as they should be.

    Of public values some are missing by chance.
    """
    if meaning is None or isinstance(meaning, PureMeaning):
        return ()
    if meaning.count is not None and meaning.count not in names:
        return ()
    if isinstance(meaning, NoisyMeaning) and meaning.law.groupings:
        return ()  # what a grouping leaves out is NULL in its rows
    found, counted = list(lines), meaning.count is not None
    place = names.index(meaning.count) if meaning.count is not None else len(names)
    if not all(len(line) == len(names) for line in found):
        return ()
    if counted and not all(str(line[place]).isdecimal() for line in found):  # a table's are texts
        return ()
    return lacking(names[:place], found, counted=counted)


def _stated(path: Path) -> Unverified:
    """What a certificate's file says."""
    try:
        return unverified_release(path.read_bytes())
    except OSError as error:
        raise FileError(f"{path} could not be read: {error.strerror}") from None
    except VerificationFailed as error:
        raise VerificationFailed((f"{path} is no certificate of a release: {error}",)) from None


def _number(value: Decimal) -> str:
    """A rate in at most six digits."""
    return f"{float(value):.6g}"

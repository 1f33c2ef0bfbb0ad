"""What the numbers of a release mean, by its certificate."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from policy_engine.kernel.certificate import Certificate
from policy_engine.kernel.claim import Claim
from policy_engine.kernel.mechanisms import (
    Aggregate,
    Inserted,
    IntegerTable,
    Listed,
    Noisy,
    NoisyPart,
    Pure,
    Randomised,
    WholeClasses,
)
from policy_engine.kernel.mechanisms.common import GROUPING
from policy_engine.kernel.mechanisms.whole_classes.meaning import NO_GUARANTEE, still_works
from policy_engine.kernel.types import digits_of
from policy_engine.kernel.words import all_shown, compared, estimated, estimates, tuples_there

if TYPE_CHECKING:
    from policy_engine.policy.noise import Sum


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
class _OfClaim:
    """What is said by the claim of a certificate."""

    claim: Claim

    @property
    def count(self) -> str | None:
        """The column of the counts, None where every row is one person, answer or tuple."""
        return self.claim.count


@dataclass(frozen=True)
class NoisyMeaning(_OfClaim):
    """What the numbers of noisy counts are, by the claim of its certificate."""

    law: Noisy

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
class PureMeaning(_OfClaim):
    """What the rows of a mechanism of public values are, by the claim of its certificate."""

    epsilon: Decimal
    neighbours: str

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
            named = (("(missing)" if value is None else value, n) for value, n in values.items())
            listed = (f"{value} {float(n):,.0f}" for value, n in named)
            yield f"estimated people by {name}: {', '.join(listed)}"


@dataclass(frozen=True)
class UnpromisedMeaning(_OfClaim):
    """What the numbers of a release without (ε, δ) are."""

    attacks: tuple[tuple[str, str], ...]

    def told(self) -> Iterator[str]:
        """Sentences, first that nothing is promised."""
        yield NO_GUARANTEE
        yield from (f"{name} still works: {why}" for name, why in self.attacks)
        counted = self.count or "the number of a group's rows"
        yield f"{counted} is how many people of the source are in the group, as it is"


AnyMeaning = Meaning | NoisyMeaning | PureMeaning | UnpromisedMeaning


def meaning_of(certificate: Certificate) -> AnyMeaning:
    """What the numbers of a release with this certificate are."""
    claim, promise = certificate.claim, certificate.promise
    if isinstance(claim.law, Noisy):
        return NoisyMeaning(claim, claim.law)
    if isinstance(claim.law, Pure):
        return PureMeaning(claim, promise.epsilon, promise.neighbours)
    if isinstance(claim.law, WholeClasses):
        attacks = still_works(certificate.k, certificate.terms.models)
        return UnpromisedMeaning(claim, tuple(attacks))
    return Meaning(certificate.k, promise.rate / promise.sampled_at, promise.rate, claim.count)


def error_of_sum(each: Aggregate | Sum, count: str, table: IntegerTable | None = None) -> str:
    """The standard deviation of a sum, or of a mean over the number in the column ``count``.

    With the noise of ``table``, where a grouping has its own.
    """
    from policy_engine.accounting.noise_laws import deviation

    error = deviation(table or each.table) * float(each.clip.grain * each.unit)
    return f"{error:.6g} / {count}" if each.clip.is_mean else f"{error:.6g}"


def _number(value: Decimal) -> str:
    """A rate in at most six digits."""
    return f"{float(value):.6g}"

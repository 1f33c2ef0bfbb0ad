"""What a release of a sample says: a shown number is a count of the sample."""

from __future__ import annotations

import math
from collections.abc import Iterator
from decimal import Decimal
from typing import TYPE_CHECKING, ClassVar

from policy_engine.accounting.in_words import in_text
from policy_engine.kernel.assumptions import ROW_UNIT, method_of, unit_of
from policy_engine.kernel.mechanisms.meaning import (
    Curve,
    Meaning,
    RowNumbers,
    ShownNumber,
    any_row,
    left_out,
)
from policy_engine.kernel.mechanisms.sampled_suppression.law import OfSample

if TYPE_CHECKING:
    from policy_engine.accounting.comparison import Candidate
    from policy_engine.kernel.certificate import Certificate

_AES = "AES-128 of each unit under a secret of 128 bits from the operating system"
_SHA = "SHA-256 of a secret of 128 bits and each unit"
_IN_95 = 1.96
"""So many standard deviations are within 95 of 100, of counts of k people and more."""


class SampleMeaning(Meaning[OfSample]):
    """What is said of a sample whose small groups are left out."""

    title: ClassVar[str] = "sampled k-anonymisation"

    def randomness(self, engine: str) -> str:
        """What decides who is in the sample, and with which row."""
        return randomness(method_of(self.claim, engine), unit_of(self.claim)) + any_row(self.claim)

    def said(self, certificate: Certificate) -> Iterator[tuple[str, str]]:
        """What a shown number is: sentences, each with the column of the number that it is of."""
        k, promise = certificate.k, certificate.promise
        chance = promise.rate / promise.sampled_at
        rate, error = _number(chance), math.sqrt(k * (1 - chance)) / float(chance)
        what = f"{self.count} counts people" if self.count else "each row is one person"
        counted = self.count or "the rows of a group"
        own = self.count or ""
        was = f"of a sample, which each person of the source was in with probability {rate}"
        yield own, f"{what} {was}"
        yield (
            own,
            f"{counted} / {rate} estimates the group in the source: {k} is about"
            f" {k / chance:.0f}, give or take {error:.0f} (1 SD)",
        )
        if promise.rate != chance:
            yield (
                own,
                "the source is a sample itself:"
                f" {counted} / {_number(promise.rate)} estimates the group in its population",
            )
        yield (
            "",
            f"a missing group had fewer than {k} people in the sample: it need not be empty",
        )
        near = "tend to be too large, because a group with fewer is missing"
        yield "", f"shown counts near {k} {near}"

    def numbers(self, certificate: Certificate) -> Iterator[ShownNumber]:
        """The count, which estimates the group in the source."""
        if self.count is None:
            return
        name, promise = self.count, certificate.promise
        rate = float(promise.rate / promise.sampled_at)

        def deviation(row: RowNumbers) -> float:
            return math.sqrt(float(row[name]) * (1 - rate)) / rate

        def interval(row: RowNumbers) -> tuple[float, float]:
            away, estimate = _IN_95 * deviation(row), float(row[name]) / rate
            return estimate - away, estimate + away

        words = f"people of the source, estimated by {name} / {rate:.6g}"
        without = left_out(self.claim.unit)
        yield ShownNumber(name, words, 1 / rate, deviation, interval, without)

    @property
    def counted(self) -> str:
        """Of whom the numbers of a release are."""
        return "people of the sample"

    def sampling(self, certificate: Certificate) -> Iterator[tuple[str, str]]:
        """That a sample is drawn first."""
        rate = in_text(certificate.promise.rate / certificate.promise.sampled_at)
        yield "sample", f"each person is in with probability {rate}, drawn in secret"

    def steps(self) -> Iterator[tuple[str, str]]:
        """The steps behind recoding, each with its name."""
        yield "count", "how many people of the sample are in each group"
        yield "suppress", f"groups of fewer than {self.law.k} of the sample are left out"

    def curve(self, certificate: Certificate, neighbours: str) -> Curve:
        """δ at each ε, never below the true one."""
        claim, rate = self.claim, certificate.promise.rate
        return lambda epsilon: claim.delta(rate, epsilon, neighbours)

    def candidates(self, certificate: Certificate) -> Iterator[tuple[str, Candidate]]:
        """What its numbers show of a group."""
        from policy_engine.accounting.comparison import SAMPLED, Candidate
        from policy_engine.accounting.frontier import SamplePair

        rate = certificate.promise.rate / certificate.promise.sampled_at
        yield "", Candidate(SAMPLED, SamplePair(self.law.k, rate))

    def described(self, method: str) -> Iterator[tuple[str, str]]:
        """Its numbers, each with its name."""
        yield "rate", f"{float(self.claim.law.rate):.12g} ({method})"

    def unprotected(self) -> str:
        """What protects the counts that are shown."""
        own = "a shown count is that of the sample, without noise; who is in the sample stays"
        return f"{own} unknown"

    def afterwards(self) -> str:
        """What is computed from protected numbers alone."""
        who = "a shown number is the count of the sample, or a row stands for a person of it."
        return f"Nothing: {who}"

    def why_sampled(self) -> str:
        """Why sampling is private here."""
        return (
            f"groups of fewer than {self.law.k} people of the sample are left out, and ε and"
            " δ are of both steps together: of sampling alone they would not hold"
        )


def randomness(method: str, unit: str) -> str:
    """What decides who is in a sample, in the words of a certificate."""
    if method == "native":
        return "TABLESAMPLE BERNOULLI of the engine"
    return _AES if method == "drawn" and unit == ROW_UNIT else _SHA


def _number(value: Decimal) -> str:
    """A rate in at most six digits."""
    return f"{float(value):.6g}"

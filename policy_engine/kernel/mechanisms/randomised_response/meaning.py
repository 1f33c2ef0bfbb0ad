"""What a release of answers by chance says: a value is a person's own, or a public one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, ClassVar

from policy_engine.kernel.mechanisms.meaning import Chances
from policy_engine.kernel.mechanisms.pure import Values
from policy_engine.kernel.mechanisms.pure_meaning import (
    FINE,
    PublicMeaning,
    deviation,
    part,
    short,
)
from policy_engine.kernel.mechanisms.randomised_response.law import Randomised, Response

if TYPE_CHECKING:
    from policy_engine.kernel.certificate import Certificate


class AnswersMeaning(PublicMeaning[Randomised]):
    """What is said of answers by chance."""

    title: ClassVar[str] = "randomised response"
    first: ClassVar[str] = "a value is a person's own, or one of its public list by chance"
    sentences: ClassVar[Mapping[str, str]] = {
        "size_public": "how many people are in {source} is public"
    }

    def public(self) -> tuple[Values, ...]:
        """The public values of each column."""
        return tuple(each.values for each in self.law.responses)

    def estimates(self) -> tuple[str, ...]:
        """How to estimate how many have a value; the error is that of one that few have."""
        return tuple(
            f"{shown.name}: (n - {short(part(each.share))}·N) / {short(each.truth)} estimates how"
            f" many of N people have a value that n answer, give or take"
            f" {short(answer_error(each))}·√N (1 SD)"
            for shown, each in zip(self.claim.columns, self.law.responses, strict=False)
        )

    def estimated(self, lines: Sequence[tuple[Any, ...]]) -> Iterator[str]:
        """How many people have each value."""
        for name, values in self.people(lines):
            by_name = (("(missing)" if value is None else value, n) for value, n in values.items())
            listed = (f"{value} {float(n):,.0f}" for value, n in by_name)
            yield f"estimated people by {name}: {', '.join(listed)}"

    def people(
        self, lines: Iterable[tuple[object, ...]]
    ) -> Iterator[tuple[str, Mapping[str | None, Decimal]]]:
        """By column how many people have each value, of the rows of a release alone.

        Guarantee: unbiased; an estimate can be below 0.
        """
        claim = self.claim
        counts: list[Counter[str | None]] = [Counter() for _ in claim.columns]
        for *values, last in lines if claim.count is not None else ((*line, 1) for line in lines):
            for answers, value in zip(counts, values, strict=True):
                answers[None if value is None else str(value)] += int(str(last))
        people = counts[0].total()
        for shown, response, answers in zip(claim.columns, self.law.responses, counts, strict=True):
            chance = part(response.share) * people
            yield (
                shown.name,
                {
                    value: FINE.divide(answers[value] - chance, response.truth)
                    for value in response.values
                },
            )

    def steps(self) -> Iterator[tuple[str, str]]:
        """The step behind recoding."""
        yield "randomise", "each value stays, or by chance one of a public list takes its place"

    def chances(self, certificate: Certificate) -> Iterator[Chances]:
        """How often a value is the person's own."""
        drawn = zip(self.claim.columns, self.law.responses, strict=True)
        own = tuple((shown.name, each.truth + part(each.share)) for shown, each in drawn)
        yield Chances("How often a value that is shown is the person's own", own)

    def unprotected(self) -> str:
        """Which quantities are shown without protection."""
        return "so is how many people are in the source: everybody answers"

    def afterwards(self) -> str:
        """What is computed from protected numbers alone."""
        counts = "Equal answers are counted." if self.claim.count else "Rows are sorted."
        return f"{counts} Estimates of how many people have a value are left to the reader."


def answer_error(response: Response) -> Decimal:
    """The standard deviation of one column's estimate over √N, for a value that few people have.

    >>> answer_error(Response(("a", None), 1 << 58))
    Decimal('0.8660254037844386467637231707529361834714')
    """
    return FINE.divide(deviation(part(response.share)), response.truth)

"""What a release of tuples by chance says: which are there, and which were put in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, ClassVar

from policy_engine.accounting.noise import WHOLE
from policy_engine.kernel.mechanisms.ab_insertion.law import Inserted
from policy_engine.kernel.mechanisms.meaning import Chances
from policy_engine.kernel.mechanisms.pure import Values
from policy_engine.kernel.mechanisms.pure_meaning import (
    FINE,
    PublicMeaning,
    deviation,
    part,
    short,
)
from policy_engine.kernel.types import digits_of

if TYPE_CHECKING:
    from policy_engine.kernel.certificate import Certificate

_PRIOR = Decimal("0.01")


class TuplesMeaning(PublicMeaning[Inserted]):
    """What is said of tuples by chance."""

    title: ClassVar[str] = "αβ insertion"
    first: ClassVar[str] = (
        "a tuple is shown by chance too where nobody has it, and left out by chance"
    )

    def public(self) -> tuple[Values, ...]:
        """The public values of each column."""
        return self.law.values

    def estimates(self) -> tuple[str, ...]:
        """How to estimate how many tuples there are."""
        law = self.law
        alpha, beta = part(law.shown - law.inserted), part(law.inserted)
        return (
            f"(n - {short(beta)}·D) / {short(alpha)} estimates how many of D tuples there are,"
            f" where n of them are shown, give or take {short(insertion_error(law))}·√D (1 SD);"
            f" the domain has {law.domain} tuples",
        )

    def estimated(self, lines: Sequence[tuple[Any, ...]]) -> Iterator[str]:
        """How many tuples there are."""
        there = tuples_there(self.law, len(lines))
        yield f"estimated tuples that are there: {float(there):.1f} of {self.law.domain}"

    def compared(self, epsilon: Decimal, neighbours: str) -> Iterator[str]:
        """What who sees it believes afterwards, and what the same ε buys otherwise."""
        belief = believed(self.law, _PRIOR)
        yield (
            f"(d, γ): who believed {digits_of(_PRIOR * 100)} % that a tuple is there,"
            f" believes {float(belief * 100):.3g} % afterwards, at most"
        )
        yield from super().compared(epsilon, neighbours)

    def steps(self) -> Iterator[tuple[str, str]]:
        """The steps behind recoding, each with its name."""
        yield "look", f"which of {self.law.domain} public combinations somebody has"
        yield "randomise", "some are left out, and some that nobody has are put in"

    def chances(self, certificate: Certificate) -> Iterator[Chances]:
        """How likely a combination is shown."""
        law = self.law
        there, absent = part(law.shown), part(law.inserted)
        pair = (("somebody has it", there), ("nobody has it", absent))
        yield Chances("How likely a combination is shown", pair)

    def unprotected(self) -> str:
        """Which quantities are shown without protection."""
        return "so is the list of combinations of which some are shown"

    def afterwards(self) -> str:
        """What is computed from protected numbers alone."""
        return "Nothing: the combinations are shown as they were drawn."


def insertion_error(law: Inserted) -> Decimal:
    """The standard deviation over √D of how many of D tuples there are, where few are."""
    return FINE.divide(deviation(part(law.inserted)), part(law.shown - law.inserted))


def tuples_there(law: Inserted, shown: int) -> Decimal:
    """How many tuples of the domain there are, where so many of it are shown; unbiased.

    >>> tuples_there(Inserted(3 << 58, 1 << 58, (("a", "b", None), ("x", None))), 3)
    Decimal('3.0')
    """
    chance = part(law.inserted) * law.domain
    return FINE.divide(shown - chance, part(law.shown - law.inserted))


def believed(law: Inserted, prior: Decimal) -> Decimal:
    """The least γ for which it is (d, γ)-private, [AB]: d is what was believed before of a tuple.

    At most 1, which says nothing.

    >>> law = Inserted(3 << 58, 1 << 58, (("a", None),))
    >>> believed(law, Decimal("0.01"))
    Decimal('0.04')
    """
    absent = WHOLE - law.shown
    kept = FINE.divide(prior * law.shown, prior * law.shown + (1 - prior) * law.inserted)
    return min(Decimal(1), max(kept, FINE.divide(prior * WHOLE, Decimal(absent))))

"""What mechanisms say that know a public list of values of each released column."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from decimal import Context, Decimal
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from policy_engine.accounting.noise import WHOLE
from policy_engine.errors import DomainError
from policy_engine.kernel.mechanisms.meaning import Curve, Meaning, any_row
from policy_engine.kernel.mechanisms.pure import OfPublicValues, Values
from policy_engine.kernel.wording import MOST_LABELS, named, some_words

if TYPE_CHECKING:
    from policy_engine.kernel.certificate import Certificate

FINE = Context(prec=40)
_SHORT = Context(prec=4)
_CENTRAL_DELTA = Decimal("0.000001")
_ANSWERS = "SHA-256 of a secret of 128 bits and the number of each column and row, or tuple"
P = TypeVar("P", bound=OfPublicValues)


class PublicMeaning(Meaning[P]):
    """What is said of values by chance: what they estimate, and what the same ε buys otherwise."""

    by_chance: ClassVar[bool] = True
    first: ClassVar[str]
    """What a row is."""

    @abstractmethod
    def public(self) -> tuple[Values, ...]:
        """The public values of each column."""

    @abstractmethod
    def estimated(self, lines: Sequence[tuple[Any, ...]]) -> Iterator[str]:
        """What the rows of a release estimate, as they should be."""

    def randomness(self, engine: str) -> str:
        """What is drawn for a release, and how, and what can be estimated of it."""
        return "; ".join((_ANSWERS + any_row(self.claim), *self.estimates()))

    def said(self, certificate: Certificate) -> Iterator[tuple[str, str]]:
        """What a row is: sentences, of no number by itself."""
        yield "", self.first
        more = compared(certificate.promise.epsilon, certificate.promise.neighbours)
        yield from (("", sentence) for sentence in (*self.estimates(), *more))

    def found(self, names: Sequence[str], lines: Iterable[tuple[Any, ...]]) -> Iterator[str]:
        """What the rows estimate of the source; nothing where they are not as they should be."""
        lines, count = list(lines), self.claim.count
        wanted = (*(shown.name for shown in self.claim.columns), *([count] if count else []))
        counted = count is None or all(str(line[-1]).isdecimal() for line in lines)
        if tuple(names) == wanted and counted and all(len(line) == len(names) for line in lines):
            yield from self.estimated(lines)

    def compared(self, epsilon: Decimal, neighbours: str) -> Iterator[str]:
        """What the same ε buys where somebody is trusted to count."""
        return compared(epsilon, neighbours)

    @property
    def why_not_alike(self) -> str:
        """Why its rows do not tell which people are alike."""
        return "values are there by chance too, so that no row tells of a person for certain"

    def curve(self, certificate: Certificate, neighbours: str) -> Curve:
        """δ at each ε, never below the true one."""
        claim = self.claim
        return lambda epsilon: claim.delta(Decimal(1), epsilon, neighbours)

    def lines(self) -> Iterator[str]:
        """Of what public lists it is."""
        for shown, values in zip(self.claim.columns, self.public(), strict=True):
            yield f"public values of {named(shown.name)}: {some_words(values, MOST_LABELS)}"

    def described(self, method: str) -> Iterator[tuple[str, str]]:
        """Its numbers, each with its name."""
        yield from (("chance", text) for text in self.estimates())


def part(share: int) -> Decimal:
    """A share as a probability."""
    return FINE.divide(Decimal(share), Decimal(WHOLE))


def deviation(chance: Decimal) -> Decimal:
    """The standard deviation of what is 1 with this chance, else 0."""
    return FINE.sqrt(FINE.multiply(chance, 1 - chance))


def short(value: Decimal) -> str:
    """A number in four digits."""
    return f"{_SHORT.plus(value):f}"


def central_error(epsilon: Decimal, neighbours: str) -> float | None:
    """The standard deviation of a noisy count, of whoever is trusted to count, at the same ε.

    With a table that costs δ = 10⁻⁶ beside it; None where there is none.

    >>> round(central_error(Decimal(1), "add_remove"), 1)
    1.4
    """
    from policy_engine.accounting.noise_laws import deviation as of_table
    from policy_engine.accounting.tables import Aim, calibrated

    try:
        table = calibrated("truncated_laplace", Aim(epsilon, _CENTRAL_DELTA, neighbours))
    except DomainError:
        return None
    return of_table(table)


def compared(epsilon: Decimal, neighbours: str) -> Iterator[str]:
    """What the same ε buys where somebody is trusted to count."""
    error = central_error(epsilon, neighbours)
    if error is not None:
        yield (
            f"noisy_counts at the same ε, and δ = {_CENTRAL_DELTA}: a count is off by {error:.2g}"
            " (1 SD), however many people there are"
        )

"""What a release of public values says of its source, and how much worse than a noisy count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal

from policy_engine.accounting.noise import WHOLE
from policy_engine.errors import DomainError
from policy_engine.kernel.claim import Claim
from policy_engine.kernel.estimates import FINE, part
from policy_engine.kernel.mechanisms import Inserted, Listed, Randomised

_CENTRAL_DELTA = Decimal("0.000001")


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


def all_shown(law: Listed, count: str) -> str:
    """What a release of public keys shows, with its counts in the column ``count``."""
    keys = f"all {law.size:,} keys of a public list are shown, those of nobody too, and no other"
    return f"{keys} group: {count} can be 0 or less"


def estimated(
    claim: Claim, lines: Iterable[tuple[object, ...]]
) -> Iterator[tuple[str, Mapping[str | None, Decimal]]]:
    """By column how many people have each value, of the rows of a release alone.

    Guarantee: unbiased; an estimate can be below 0. Nothing of other laws.
    """
    if not isinstance(claim.law, Randomised):
        return
    counts: list[Counter[str | None]] = [Counter() for _ in claim.columns]
    for *values, last in lines if claim.count is not None else ((*line, 1) for line in lines):
        for answers, value in zip(counts, values, strict=True):
            answers[None if value is None else str(value)] += int(str(last))
    people = counts[0].total()
    for shown, response, answers in zip(claim.columns, claim.law.responses, counts, strict=True):
        chance = part(response.share) * people
        yield (
            shown.name,
            {
                value: FINE.divide(answers[value] - chance, response.truth)
                for value in response.values
            },
        )


def tuples_there(law: Inserted, shown: int) -> Decimal:
    """How many tuples of the domain there are, where so many of it are shown; unbiased.

    >>> tuples_there(Inserted(3 << 58, 1 << 58, (("a", "b", None), ("x", None))), 3)
    Decimal('3.0')
    """
    chance = part(law.inserted) * law.domain
    return FINE.divide(shown - chance, part(law.shown - law.inserted))


def central_error(epsilon: Decimal, neighbours: str) -> float | None:
    """The standard deviation of a noisy count, of whoever is trusted to count, at the same ε.

    With a table that costs δ = 10⁻⁶ beside it; None where there is none.

    >>> round(central_error(Decimal(1), "add_remove"), 1)
    1.4
    """
    from policy_engine.accounting.noise_laws import deviation
    from policy_engine.accounting.tables import Aim, calibrated

    try:
        table = calibrated("truncated_laplace", Aim(epsilon, _CENTRAL_DELTA, neighbours))
    except DomainError:
        return None
    return deviation(table)


def compared(epsilon: Decimal, neighbours: str) -> Iterator[str]:
    """What the same ε buys where somebody is trusted to count."""
    error = central_error(epsilon, neighbours)
    if error is not None:
        yield (
            f"noisy_counts at the same ε, and δ = {_CENTRAL_DELTA}: a count is off by {error:.2g}"
            " (1 SD), however many people there are"
        )

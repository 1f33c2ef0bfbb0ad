"""What a release of public values estimates and says of its source, and how well.

By the numbers of its law and the rows of the release alone, beside the error of a noisy count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from decimal import Context, Decimal

from policy_engine.accounting.noise import WHOLE
from policy_engine.errors import DomainError
from policy_engine.kernel.claim import Claim
from policy_engine.kernel.mechanisms import Inserted, Listed, Randomised
from policy_engine.kernel.mechanisms.randomised_response import Response

_FINE = Context(prec=40)
_SHORT = Context(prec=4)
_CENTRAL_DELTA = Decimal("0.000001")


def estimates(claim: Claim) -> tuple[str, ...]:
    """How to estimate what is in the source, with its standard deviation; none of other laws.

    Of randomised response the error is that of a value that few people have.
    """
    law = claim.law
    if isinstance(law, Randomised):
        return tuple(
            f"{shown.name}: (n - {_short(part(each.share))}·N) / {_short(each.truth)} estimates how"
            f" many of N people have a value that n answer, give or take"
            f" {_short(answer_error(each))}·√N (1 SD)"
            for shown, each in zip(claim.columns, law.responses, strict=False)
        )
    if isinstance(law, Inserted):
        alpha, beta = part(law.shown - law.inserted), part(law.inserted)
        return (
            f"(n - {_short(beta)}·D) / {_short(alpha)} estimates how many of D tuples there are,"
            f" where n of them are shown, give or take {_short(insertion_error(law))}·√D (1 SD);"
            f" the domain has {law.domain} tuples",
        )
    return ()


def answer_error(response: Response) -> Decimal:
    """The standard deviation of one column's estimate over √N, for a value that few people have.

    >>> answer_error(Response(("a", None), 1 << 58))
    Decimal('0.8660254037844386467637231707529361834714')
    """
    chance = part(response.share)
    return _FINE.divide(_deviation(chance), response.truth)


def insertion_error(law: Inserted) -> Decimal:
    """The standard deviation over √D of how many of D tuples there are, where few are."""
    return _FINE.divide(_deviation(part(law.inserted)), part(law.shown - law.inserted))


def part(share: int) -> Decimal:
    """A share as a probability."""
    return _FINE.divide(Decimal(share), Decimal(WHOLE))


def _deviation(chance: Decimal) -> Decimal:
    return _FINE.sqrt(_FINE.multiply(chance, 1 - chance))


def _short(value: Decimal) -> str:
    return f"{_SHORT.plus(value):f}"


def believed(law: Inserted, prior: Decimal) -> Decimal:
    """The least γ for which it is (d, γ)-private, [AB]: d is what was believed before of a tuple.

    At most 1, which says nothing.

    >>> law = Inserted(3 << 58, 1 << 58, (("a", None),))
    >>> believed(law, Decimal("0.01"))
    Decimal('0.04')
    """
    absent = WHOLE - law.shown
    kept = _FINE.divide(prior * law.shown, prior * law.shown + (1 - prior) * law.inserted)
    return min(Decimal(1), max(kept, _FINE.divide(prior * WHOLE, Decimal(absent))))


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
                value: _FINE.divide(answers[value] - chance, response.truth)
                for value in response.values
            },
        )


def tuples_there(law: Inserted, shown: int) -> Decimal:
    """How many tuples of the domain there are, where so many of it are shown; unbiased.

    >>> tuples_there(Inserted(3 << 58, 1 << 58, (("a", "b", None), ("x", None))), 3)
    Decimal('3.0')
    """
    chance = part(law.inserted) * law.domain
    return _FINE.divide(shown - chance, part(law.shown - law.inserted))


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

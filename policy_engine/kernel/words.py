"""What a certificate says of its source, of what is drawn for a release, and of what it estimates.

No guarantee rests on these words: ``certify`` does not need them. A certificate states them word
for word: a changed word here makes those of before differ from what is proved of them. Estimates
are made of the numbers of a law and of the rows of the release alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from decimal import Context, Decimal

from policy_engine.accounting.noise import WHOLE
from policy_engine.errors import DomainError
from policy_engine.kernel.assumptions import ROW_UNIT, method_of, unit_of
from policy_engine.kernel.claim import Claim
from policy_engine.kernel.mechanisms import (
    Inserted,
    Listed,
    Noisy,
    Pure,
    Randomised,
    WholeClasses,
)
from policy_engine.kernel.mechanisms.randomised_response.law import Response
from policy_engine.kernel.sources import Drawn, Files, Groups, People

_FINE = Context(prec=40)
_SHORT = Context(prec=4)
_CENTRAL_DELTA = Decimal("0.000001")
_OF_THE_ENGINE = {
    "native": "TABLESAMPLE BERNOULLI of the engine",
    "random": "random() of the engine",
}
_AES = "AES-128 of each unit under a secret of 128 bits from the operating system"
_SHA = "SHA-256 of a secret of 128 bits and each unit"
_ANY_ROW = "; of each unit's rows one is kept, drawn by SHA-256 of the secret, the unit and the row"
_NOISE = "SHA-256 of a secret of 128 bits and the number of each group"
_ANSWERS = "SHA-256 of a secret of 128 bits and the number of each column and row, or tuple"
_GROUPS = "; each unit counts in {} of its groups at most, drawn by SHA-256 of the secret and both"


def people_word(groups: int) -> str:
    """What a sum of counts is of, where a person counts in so many groups at most.

    >>> people_word(1), people_word(6)
    ('people', 'person-groups')
    """
    return "people" if groups == 1 else "person-groups"


def source_of(claim: Claim) -> str:
    """The source's path, or the parts of its name."""
    return claim.source.path if isinstance(claim.source, Files) else ".".join(claim.source.parts)


def randomness(method: str, unit: str, *, draws_a_row: bool = False) -> str:
    """What decides who is in a sample, and with which row, in the words of a certificate."""
    keyed = _AES if method == "drawn" and unit == ROW_UNIT else _SHA
    return _OF_THE_ENGINE.get(method, keyed) + (_ANY_ROW if draws_a_row else "")


def randomness_of(claim: Claim, engine: str) -> str:
    """What is drawn for a release, and how, and what can be estimated of it."""
    if isinstance(claim.law, WholeClasses):
        return "nothing is drawn"
    order = claim.unit.order if isinstance(claim.unit, People) else None
    if isinstance(order, Groups):  # of noisy counts alone
        return _NOISE + _GROUPS.format(order.most)
    drawn = randomness(method_of(claim, engine), unit_of(claim))
    if isinstance(claim.law, Noisy | Pure):
        drawn = _NOISE if isinstance(claim.law, Noisy) else _ANSWERS
    drawn += _ANY_ROW if isinstance(order, Drawn) else ""
    return "; ".join((drawn, *estimates(claim)))


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

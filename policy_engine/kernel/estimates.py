"""What a release of public values estimates, and how well: by the numbers of its law alone."""

from __future__ import annotations

from decimal import Context, Decimal

from policy_engine.accounting.noise import WHOLE
from policy_engine.kernel.claim import Claim
from policy_engine.kernel.mechanisms import Inserted, Randomised
from policy_engine.kernel.mechanisms.randomised_response import Response

FINE = Context(prec=40)
_SHORT = Context(prec=4)


def estimates(claim: Claim) -> tuple[str, ...]:
    """How to estimate what is in the source, with its standard deviation; none of other laws.

    Of randomised response the error is that of a value that few people have.
    """
    law = claim.law
    if isinstance(law, Randomised):
        names = (shown.name for shown in claim.columns)
        return tuple(map(_of_answers, names, law.responses))
    if isinstance(law, Inserted):
        alpha, beta = part(law.shown - law.inserted), part(law.inserted)
        return (
            f"(n - {_short(beta)}·D) / {_short(alpha)} estimates how many of D tuples there are,"
            f" where n of them are shown, give or take {_short(insertion_error(law))}·√D (1 SD);"
            f" the domain has {law.domain} tuples",
        )
    return ()


def _of_answers(name: str, response: Response) -> str:
    return (
        f"{name}: (n - {_short(part(response.share))}·N) / {_short(response.truth)} estimates how"
        f" many of N people have a value that n answer, give or take"
        f" {_short(answer_error(response))}·√N (1 SD)"
    )


def answer_error(response: Response) -> Decimal:
    """The standard deviation of one column's estimate over √N, for a value that few people have.

    >>> answer_error(Response(("a", None), 1 << 58))
    Decimal('0.8660254037844386467637231707529361834714')
    """
    chance = part(response.share)
    return FINE.divide(_deviation(chance), response.truth)


def insertion_error(law: Inserted) -> Decimal:
    """The standard deviation over √D of how many of D tuples there are, where few are."""
    return FINE.divide(_deviation(part(law.inserted)), part(law.shown - law.inserted))


def part(share: int) -> Decimal:
    """A share as a probability."""
    return FINE.divide(Decimal(share), Decimal(WHOLE))


def _deviation(chance: Decimal) -> Decimal:
    return FINE.sqrt(FINE.multiply(chance, 1 - chance))


def _short(value: Decimal) -> str:
    return f"{_SHORT.plus(value):f}"

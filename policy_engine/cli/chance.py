"""What plan says of a mechanism of public values: what is estimated, and how well."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from policy_engine.cli.output import shown

if TYPE_CHECKING:
    from policy_engine.attest.predicates import Vouched

_PRIOR = Decimal("0.01")


def chance_document(certificate: Vouched) -> dict[str, Any]:
    """For JSON."""
    from policy_engine.kernel.estimated import central_error
    from policy_engine.kernel.estimates import estimates

    assert certificate.claim is not None
    central = central_error(certificate.epsilon, certificate.neighbours)
    return {"estimates": list(estimates(certificate.claim)), "central_error": central}


def chance_lines(certificate: Vouched) -> Iterator[str]:
    """For people."""
    from policy_engine.kernel.estimated import believed, compared
    from policy_engine.kernel.estimates import estimates
    from policy_engine.kernel.mechanisms import Inserted

    claim = certificate.claim
    assert claim is not None
    head = "estimates  "
    for text in estimates(claim):
        yield head + text
        head = " " * len(head)
    if isinstance(claim.law, Inserted):
        belief = believed(claim.law, _PRIOR)
        yield (
            f"           (d, γ): who believed {shown(_PRIOR * 100)} % that a tuple is there,"
            f" believes {float(belief * 100):.3g} % afterwards, at most"
        )
    for text in compared(certificate.epsilon, certificate.neighbours):
        yield f"           {text}"

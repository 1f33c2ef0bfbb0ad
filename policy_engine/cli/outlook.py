"""What plan says a reader could see of a release, or estimate of one of public values."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from policy_engine.cli.output import shown

if TYPE_CHECKING:
    from policy_engine.accounting.comparison import Candidate
    from policy_engine.attest.predicates import Vouched
    from policy_engine.policy.resolve import Policy


@dataclass(frozen=True)
class Outlook:
    """What a reader could see of a release, from its policy alone.

    ``labels`` says of each column how many values its recoding can give at most, a missing one
    being one of them; None where the policy does not tell. ``own`` is what the policy uses.
    """

    labels: dict[str, int | None]
    own: Candidate

    @classmethod
    def of(cls, policy: Policy) -> Outlook:
        """That of a policy."""
        from policy_engine.policy.recodings import labels

        read_as = {column.casefold(): kind for column, kind in policy.source.columns}
        return cls(
            labels={
                column: labels(recoding, read_as.get(column.casefold()))
                for column, recoding in policy.recodings
            },
            own=_own(policy),
        )

    @property
    def groups(self) -> int:
        """How many groups the columns make at most whose values the policy tells."""
        return math.prod(count for count in self.labels.values() if count is not None)

    @property
    def of_known(self) -> int:
        """So many of them at most miss no value."""
        return math.prod(max(1, count - 1) for count in self.labels.values() if count is not None)

    @property
    def document(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "labels": self.labels,
            "groups": None if self.open else self.groups,
            "half_shown": self.own.half,
            "chances": [{"size": n, "shown": float(chance)} for n, chance in self.own.chances],
            "count_error": float(self.own.error),
        }

    @property
    def open(self) -> list[str]:
        """The columns whose values the policy does not tell."""
        return [column for column, count in self.labels.items() if count is None]


def _own(policy: Policy) -> Candidate:
    """The policy's mechanism with its numbers."""
    from policy_engine.accounting.comparison import SAMPLED, Candidate
    from policy_engine.accounting.frontier import Pair
    from policy_engine.policy.noise import Noise

    if policy.noise is None:
        return Candidate(SAMPLED, Pair(policy.k, policy.rate))
    assert isinstance(policy.noise, Noise)
    noise = policy.noise
    return Candidate(noise.law, noise.table, policy.k, bool(noise.keys))


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

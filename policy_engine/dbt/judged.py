"""What a release's text was found to be: by the print of its policy's claim, or by its proof."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from policy_engine.errors import Finding
from policy_engine.kernel.assumptions import assumptions, method_of, unit_of
from policy_engine.verify.proof import Proof

if TYPE_CHECKING:
    from policy_engine.kernel.claim import Claim
    from policy_engine.policy.resolve import Policy


@dataclass(frozen=True)
class Judged:
    """What a text was found to be; ``why`` it is no release, each as a message says it.

    ``target`` is the table that it makes itself.
    """

    k: int = 0
    rate: Fraction = Fraction(0)
    method: str = ""
    unit: str = ""
    source: str = ""
    target: str | None = None
    assumptions: tuple[str, ...] = ()
    why: tuple[str, ...] = ()

    def facts(self) -> Mapping[str, Any]:
        """What a report says of a release."""
        return {
            "k": self.k,
            "rate": float(self.rate),
            "method": self.method,
            "unit": self.unit,
            "source": self.source,
            "assumptions": list(self.assumptions),
        }


def of_proof(proof: Proof) -> Judged:
    """What a proof found."""
    shape = proof.shape
    if shape is None:
        return Judged(why=tuple(map(said, proof.findings)))
    return Judged(
        k=shape.k,
        rate=Fraction(shape.rate),
        method=shape.method,
        unit=shape.unit,
        source=shape.source,
        target=shape.target,
        assumptions=proof.assumptions,
    )


def of_claim(claim: Claim, engine: str, policy: Policy) -> Judged:
    """What a claim is, which a text is the print of."""
    source = policy.source.text
    return Judged(
        k=claim.law.k,
        rate=Fraction(claim.law.rate),
        method=method_of(claim, engine),
        unit=unit_of(claim),
        source=source,
        assumptions=assumptions(claim, engine, source, policy.source.sampled_at),
    )


def said(found: Finding) -> str:
    """A finding of a proof, as a message says it."""
    return f"line {found.line}: {found.code} {found.message}" if found.line else str(found)
